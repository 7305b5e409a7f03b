//! Sizes that were divided over the ranks and rounded down to nothing.

use super::*;
use tier6_measure::{Correctness, Wrong};

const TABLE: &str = "\
# nThread 1 nGpus 4 minBytes 4 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error
h:1:2 [0] NCCL INFO Launch mode Parallel
           0             0   float    11.25    0.00    0.00    N/A    11.20    0.00    0.00    N/A
           0             0   float    11.26    0.00    0.00    N/A    11.30    0.00    0.00    N/A
          16             1   float    12.03    0.00    0.00    N/A    12.15    0.00    0.00    N/A
          32             2   float    12.36    0.00    0.00    N/A    12.83    0.00    0.00    N/A
          64             4   float    12.94    0.00    0.00    N/A    12.22    0.01    0.00    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.001251
";

#[test]
fn empty_rows_are_kept_as_samples_of_size_zero() {
    let parsed = parse(TABLE);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (5, 10));
    assert_eq!(samples(run, Placement::OutOfPlace, 0).len(), 2);
    let point = &run.series[0].points[1];
    assert_eq!((point.bytes.get(), point.count), (16, Some(1)));
    assert_eq!(point.samples[0].wrong, Wrong::NotChecked);
    assert_eq!(
        (collective(run), run.series[0].ranks.exact()),
        (Some(Collective::AllGather), Some(4))
    );
    assert_eq!(run.series[0].redop, None);
    assert_eq!(run.correctness(), Correctness::NotChecked);
    assert_eq!(lines(&parsed, WarningCode::ZeroSize), [Some(4)]);
    assert_eq!(messages(&parsed, WarningCode::NotChecked).len(), 1);
    assert!(messages(&parsed, WarningCode::SeveralRuns).is_empty());
}

#[test]
fn the_published_log_is_read() {
    let Some(input) = published("08-old-allgather-no-redop-zero-sizes", "input.log") else {
        return;
    };
    let parsed = parse(input);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (34, 68));
    assert_eq!(samples(run, Placement::InPlace, 0).len(), 5);
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 1 << 20),
        (72.95, 14.37, 12.58)
    );
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 8 << 30),
        (33_646.0, 255.31, 223.39)
    );
    assert_eq!(
        numbers(run, Placement::InPlace, 8 << 30),
        (32_669.0, 262.94, 230.07)
    );
    assert_eq!(run.series[0].ranks.exact(), Some(8));
    assert_eq!(run.correctness(), Correctness::NotChecked);
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
    assert!(messages(&parsed, WarningCode::Unfinished).is_empty());
}
