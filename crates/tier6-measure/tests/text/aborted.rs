//! Runs that failed.

use super::*;
use tier6_measure::{Correctness, Ranks, RunEnd};

const FAILURES: &str = "box3: Test CUDA failure common.cu:77 'out of memory'\n .. box3 pid 9: Test failure \
                        common.cu:12\nbox1: Test CUDA failure common.cu:77 'out of memory'\n";

#[test]
fn failure_lines_end_the_run_and_keep_its_rows() {
    let cap = "# Reducing maxBytes to 20 due to memory limitation\n";
    let text = format!(
        "{}{cap}{HEADER}{}{}{FAILURES}",
        parameters(64),
        row(8),
        row(16)
    );
    let parsed = parse(text);
    let run = run(&parsed);
    assert_eq!(run.rows, 2);
    let RunEnd::Aborted { hosts, message } = &run.end else {
        panic!("{:?}", run.end)
    };
    assert_eq!(hosts, &["box1", "box3"]);
    assert_eq!(message, "Test CUDA failure common.cu:77 'out of memory'");
    assert_eq!(run.correctness(), Correctness::NotStated);
    let text = messages(&parsed, WarningCode::Aborted).join("");
    assert!(
        text.contains("no row is missing (the next size, 32 B, is above the cap of 20 B"),
        "{text}"
    );
    assert_eq!(lines(&parsed, WarningCode::Aborted), [Some(6)]);
}

#[test]
fn wrong_data_fails_the_run() {
    let bad = row(16).replace("      0\n", "     12\n");
    let footer = "# Out of bounds values : 12 FAILED\n# Avg bus bandwidth    : 0.003\n";
    let parsed = parse(format!("{HEADER}{}{bad}{footer}", row(8)));
    assert_eq!(run(&parsed).correctness(), Correctness::Failed);
    assert_eq!(lines(&parsed, WarningCode::WrongData), [Some(1), Some(3)]);
}

#[test]
fn the_published_abort_is_read() {
    let Some(input) = published("13-abort-after-last-size-1024-ranks", "input.txt") else {
        return;
    };
    let parsed = parse(input);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (5, 10));
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 1 << 30),
        (19_355.0, 55.48, 110.84)
    );
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 16 << 30),
        (93_457.0, 183.83, 367.29)
    );
    let RunEnd::Aborted { hosts, message } = &run.end else {
        panic!("{:?}", run.end)
    };
    assert_eq!(hosts.len(), 3);
    assert!(
        message.contains("common.cu:1204 'unhandled cuda error"),
        "{message}"
    );
    assert_ne!(run.correctness(), Correctness::Passed);
    assert_eq!(run.footer, None);
    let text = messages(&parsed, WarningCode::Aborted).join("");
    assert!(
        text.contains("no row is missing") && text.contains("27951912277"),
        "{text}"
    );
    let Ranks::Estimated { low, high } = run.series[0].ranks else {
        panic!("not an estimate")
    };
    assert!(
        low < 1024 && 1024 < high && low > 900 && high < 1100,
        "{low}..{high}"
    );
}
