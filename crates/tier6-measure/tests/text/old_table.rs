//! Builds before 2.13 print a largest error, not a count of wrong elements.

use super::*;
use tier6_measure::{Correctness, Ranks, RunEnd, Wrong};

const TABLE: &str = "\
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        2048           512     float     sum    40.11    0.05    0.10  2e-07    40.05    0.05    0.10  2e-07
      262144         65536     float     sum    61.02    4.30    8.32  5e-07    61.02    4.30    8.32  5e-07
";

#[test]
fn an_error_magnitude_is_no_count_of_wrong_elements() {
    let parsed = parse(TABLE);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (2, 4));
    let sample = &samples(run, Placement::InPlace, 262_144)[0];
    assert_eq!(sample.wrong, Wrong::LargestError(5e-7));
    assert_eq!(sample.line, 4);
    assert_eq!(run.correctness(), Correctness::NotStated);
    assert_eq!(run.end, RunEnd::Unfinished);
    let missing = messages(&parsed, WarningCode::Missing).join("; ");
    for part in ["device list", "iteration counts", "footer", "NCCL version"] {
        assert!(missing.contains(part), "{missing}");
    }
    assert!(messages(&parsed, WarningCode::WrongData).is_empty());
}

#[test]
fn ranks_are_an_interval_within_the_printed_digits() {
    // 32 ranks: factor 1.9375.
    let parsed = parse(TABLE);
    let Ranks::Estimated { low, high } = run(&parsed).series[0].ranks else {
        panic!("not an estimate")
    };
    assert!(
        low <= 32 && 32 <= high && low >= 30 && high <= 34,
        "{low}..{high}"
    );
    assert_eq!(lines(&parsed, WarningCode::RankCount), [Some(1)]);
}

#[test]
fn the_published_table_is_read() {
    let Some(input) = published("01-old-float-error-column", "input.txt") else {
        return;
    };
    let parsed = parse(input);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (6, 12));
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 131_072),
        (120.9, 1.08, 2.15)
    );
    assert_eq!(
        numbers(run, Placement::InPlace, 131_072),
        (117.4, 1.12, 2.22)
    );
    assert_eq!(
        samples(run, Placement::OutOfPlace, 4096)[0].wrong,
        Wrong::LargestError(1e-6)
    );
    assert_eq!(run.correctness(), Correctness::NotStated);
    let Ranks::Estimated { low, high } = run.series[0].ranks else {
        panic!("not an estimate")
    };
    assert!(
        (93..128).contains(&low) && (129..=163).contains(&high),
        "{low}..{high}"
    );
    assert_eq!(messages(&parsed, WarningCode::Missing).len(), 1);
}

#[test]
fn a_device_list_that_the_digits_refute_is_not_whole() {
    let devices = "# Using devices\n#   Rank  0 Pid  9 on host-a device  0 [0x10] X\n";
    let parsed = parse(format!("{devices}{TABLE}"));
    assert!(matches!(run(&parsed).series[0].ranks, Ranks::Estimated { low, .. } if low >= 30));
    let text = messages(&parsed, WarningCode::RankCount).join("");
    assert!(text.contains("shows 1 and is not whole"), "{text}");
}

#[test]
fn the_published_sweeps_have_sixteen_ranks() {
    let case = "30-p4d-cliff-after-46MB";
    let Some(input) = published(case, "factor2.log") else {
        return;
    };
    let parsed = parse(input);
    let first = run(&parsed);
    assert_eq!((first.rows, measurements(first)), (6, 12));
    assert_eq!(first.series[0].ranks.exact(), Some(16));
    assert_eq!(first.footer.as_ref().unwrap().out_of_bounds, Some(0));
    assert_eq!(
        first.footer.as_ref().unwrap().average_busbw.unwrap().get(),
        25.6327
    );
    assert_eq!(first.correctness(), Correctness::Passed);
    assert_eq!(parsed.value.trace.info_lines, 1);
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
    let parsed = parse(published(case, "step2M.log").unwrap());
    let second = run(&parsed);
    assert_eq!((second.rows, &second.end), (7, &RunEnd::Unfinished));
    assert_eq!(second.series[0].ranks.exact(), Some(16));
}
