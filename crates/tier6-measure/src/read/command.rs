//! What the command line of a benchmark says of its run.

use super::environment::kept;
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

/// Programs that start others, several at a time.
const LAUNCHERS: [&str; 5] = ["mpirun", "mpiexec", "srun", "orterun", "prterun"];

/// Returns threads x GPUs of a command that starts one process; `None` when a launcher may start
/// more, or when the command does not say.
pub(crate) fn ranks(command: &str, setup: &RunSetup) -> Option<u32> {
    let is_launched = command
        .split_whitespace()
        .any(|word| LAUNCHERS.contains(&word.rsplit('/').next().unwrap_or(word)));
    if is_launched || (setup.threads.is_none() && setup.gpus.is_none()) {
        return None;
    }
    let ranks = setup
        .threads
        .unwrap_or(1)
        .checked_mul(setup.gpus.unwrap_or(1))?;
    Some(ranks).filter(|ranks| *ranks > 0)
}

/// Says which options of a run change what its times mean.
pub(crate) fn timing_notes(setup: &RunSetup) -> Vec<String> {
    let more_than = |value: Option<u32>, usual: u32| value.filter(|value| *value > usual);
    let aggregated = more_than(setup.aggregated_iterations, 1).map(|count| {
        format!(
            "{count} operations were issued per group (-m): a time is 1/{count} of a group, \
             not the latency of a call"
        )
    });
    let graphs = more_than(setup.graph_launches, 0)
        .map(|count| format!("the calls ran from CUDA graphs, launched {count} times (-G)"));
    [aggregated, graphs].into_iter().flatten().collect()
}

/// Sets what nccl-tests' options say: threads, GPUs, iterations, aggregation, graphs, blocking.
///
/// What the set-up holds already came from the program itself and stays. Environment variables on
/// the allow-list, as in `NCCL_ALGO=Ring ./all_reduce_perf` or `-x NCCL_ALGO=Ring`, are added.
pub(crate) fn apply(command: &str, setup: &mut RunSetup) {
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        setup.environment.extend(kept(word));
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
    fn one_process_has_the_ranks_that_its_options_say() {
        let of = |command: &str| {
            let mut setup = RunSetup::default();
            apply(command, &mut setup);
            (ranks(command, &setup), setup.environment.len())
        };
        assert_eq!(
            of("NCCL_ALGO=Ring API_KEY=x ./all_reduce_perf -g 4 -t 2"),
            (Some(8), 1)
        );
        assert_eq!(
            of("/usr/bin/mpirun -np 2 ./all_reduce_perf -g 4"),
            (None, 0)
        );
        assert_eq!(of("./all_reduce_perf -b 8"), (None, 0));
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
