//! What the command line of a benchmark says of its run.

use crate::RunSetup;
use tier6_collective::Collective;

/// Finds the collective by the name of the program: `./build/all_reduce_perf`.
pub(crate) fn collective(command: &str) -> Option<Collective> {
    command.split_whitespace().find_map(|word| {
        let program = word.rsplit(['/', '\\']).next()?;
        let name = program.strip_suffix(".exe").unwrap_or(program);
        name.strip_suffix("_perf")?.parse().ok()
    })
}

/// Sets what nccl-tests' options say: threads, GPUs, iterations, aggregation, graphs, blocking.
///
/// What the set-up holds already came from the program itself and stays.
pub(crate) fn apply(command: &str, setup: &mut RunSetup) {
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (option, attached) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        let field = match option {
            "-t" | "--nthreads" => &mut setup.threads,
            "-g" | "--ngpus" => &mut setup.gpus,
            "-n" | "--iters" => &mut setup.iterations,
            "-w" | "--warmup_iters" => &mut setup.warmup_iterations,
            "-m" | "--agg_iters" => &mut setup.aggregated_iterations,
            "-N" | "--run_cycles" => &mut setup.cycles,
            "-G" | "--cudagraph" => &mut setup.graph_launches,
            "-z" | "--blocking" => {
                let value = attached.or_else(|| words.peek().copied());
                if setup.blocking.is_none() {
                    setup.blocking = value.map(str::to_owned);
                }
                continue;
            }
            _ => continue,
        };
        let value = attached.or_else(|| words.peek().copied());
        *field = field.or(value.and_then(|value| value.parse().ok()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_name_their_collective() {
        assert_eq!(
            collective("NCCL_ALGO=Ring mpirun ./build/all_reduce_perf -b 8"),
            Some(Collective::AllReduce)
        );
        assert_eq!(collective("alltoall_perf"), Some(Collective::AllToAll));
        assert_eq!(collective("python bench.py all_reduce"), None);
    }

    #[test]
    fn options_set_what_the_program_did_not_print() {
        let mut setup = RunSetup {
            iterations: Some(20),
            ..RunSetup::default()
        };
        apply("x_perf -n 50 -m 100 -G 10 --blocking=2 -w", &mut setup);
        assert_eq!(setup.iterations, Some(20));
        assert_eq!(setup.aggregated_iterations, Some(100));
        assert_eq!(setup.graph_launches, Some(10));
        assert_eq!(setup.blocking.as_deref(), Some("2"));
        assert_eq!(setup.warmup_iterations, None);
    }
}
