//! Where one run ends and the next begins.

use super::*;

fn sizes() -> String {
    format!("{}{}", row(8), row(16))
}

fn rows(parsed: &Parsed<Dataset>) -> Vec<u64> {
    parsed.value.runs.iter().map(|run| run.rows).collect()
}

#[test]
fn a_parameter_line_starts_a_run() {
    let text = format!(
        "{}{HEADER}{}{}{HEADER}{}",
        parameters(16),
        sizes(),
        parameters(32),
        sizes()
    );
    let parsed = parse(text);
    assert_eq!(rows(&parsed), [2, 2]);
    assert_eq!(parsed.value.runs[1].first_line, 5);
}

#[test]
fn a_header_that_is_repeated_between_rows_starts_none() {
    let parsed = parse(format!("{HEADER}{}{HEADER}{}", row(8), row(16)));
    assert_eq!(rows(&parsed), [2]);
    let parsed = parse(format!("{HEADER}{}{HEADER}{}", sizes(), sizes()));
    assert_eq!(rows(&parsed), [2, 2]);
}

#[test]
fn sizes_that_start_again_without_a_header_start_a_run() {
    let parsed = parse(format!("{}{}", sizes(), sizes()));
    assert_eq!(rows(&parsed), [2, 2]);
    let parsed = parse(format!("{HEADER}{}{}{}", row(8), row(32), row(16)));
    assert_eq!(rows(&parsed), [2, 1]);
}

#[test]
fn commands_name_the_run_that_follows() {
    let reduce = sizes().replace("sum      -1", "sum       0");
    let text = format!(
        "$ mpirun -n 4 ./build/all_reduce_perf -b 8\n{HEADER}{}$ ./build/reduce_perf -b 8 -m 2\n{HEADER}{reduce}",
        sizes()
    );
    let parsed = parse(text);
    assert_eq!(rows(&parsed), [2, 2]);
    let names: Vec<_> = parsed.value.runs.iter().map(collective).collect();
    assert_eq!(
        names,
        [Some(Collective::AllReduce), Some(Collective::Reduce)]
    );
    assert_eq!(parsed.value.runs[1].setup.aggregated_iterations, Some(2));
    assert_eq!(parsed.value.runs[0].setup.iterations, None);
}

#[test]
fn tables_of_processes_that_ran_alone_are_told_apart() {
    let twice = |line: &str| format!("{line}{line}");
    let slow = |bytes| row(bytes).replace("   10.0", "   10.9");
    let text = format!(
        "{}{}{}{}{}{}{}{}",
        twice(&parameters(16)),
        twice("#  Rank  0 Group  0 Pid  5 on h device  0 [0x1] X\n"),
        twice(HEADER),
        row(8),
        slow(8),
        row(16),
        slow(16),
        twice("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.001\n"),
    );
    let parsed = parse(text);
    assert_eq!(rows(&parsed), [2, 2]);
    assert!(parsed.value.runs.iter().all(|run| run.footer.is_some()));
    assert_eq!(
        samples(&parsed.value.runs[0], Placement::InPlace, 16).len(),
        1
    );
    let text = messages(&parsed, WarningCode::SeveralRuns).join("; ");
    assert!(text.contains("built without MPI"), "{text}");
}

#[test]
fn a_run_that_failed_before_its_first_row_is_kept() {
    let failure = "box1: Test NCCL failure common.cu:5 'remote process exited'\n";
    let text = format!(
        "{}{failure}{}{HEADER}{}",
        parameters(16),
        parameters(16),
        sizes()
    );
    let parsed = parse(text);
    assert_eq!(rows(&parsed), [0, 2]);
}

#[test]
fn an_average_over_all_rows_must_agree() {
    let table = format!("{}{HEADER}{}", parameters(16), sizes());
    let footer = |average: &str| {
        format!("{table}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {average} \n#\n")
    };
    assert!(messages(&parse(footer("0.0018")), WarningCode::Inconsistent).is_empty());
    let text = messages(&parse(footer("7.5")), WarningCode::Inconsistent).join("");
    assert!(text.contains("average busbw of 7.5"), "{text}");
}
