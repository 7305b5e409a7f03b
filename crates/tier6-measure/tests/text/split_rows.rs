//! Log lines in the middle of rows.

use super::*;
use tier6_measure::Dialect;

fn info(message: &str) -> String {
    format!("[0] box-7:31:32 [3] NCCL INFO {message}\n")
}

fn choice(bytes: u64) -> String {
    info(&format!("{bytes} Bytes -> Algo 1 proto 0 time 12.500000"))
}

/// A row as it comes when every piece is flushed on its own.
fn split_row(bytes: u64) -> String {
    let start = format!("[0] {bytes:12} {:13}     float     sum      -1", bytes / 4);
    let half = half(bytes);
    format!("{start}{0}{0}{half}{0}{0}{half}\n", choice(bytes))
}

#[test]
fn pieces_that_are_adjacent_make_a_row() {
    let text = format!(
        "{HEADER}{}{}{}",
        split_row(1024),
        split_row(2048),
        row(4096)
    );
    let parsed = parse(text);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (3, 6));
    let expect = (10.02, 0.2, 0.31);
    let (time, _, _) = numbers(run, Placement::InPlace, 2048);
    assert_eq!(time, expect.0);
    let selections = &parsed.value.trace.selections;
    assert_eq!(selections.len(), 2);
    assert_eq!(
        (selections[0].bytes.get(), selections[0].repeats),
        (1024, 4)
    );
    assert!(
        lines(&parsed, WarningCode::Unattached).is_empty(),
        "{:?}",
        parsed.warnings
    );
}

#[test]
fn a_number_may_be_glued_to_the_host() {
    let info = "box-7:31:32 [3] NCCL INFO Launch mode Parallel\n";
    let start = "1048576 262144 float sum -1";
    let half = half(1 << 20);
    let parsed = parse(format!("{HEADER}{start}{info}{half}{info}{half}\n"));
    assert_eq!(measurements(run(&parsed)), 2);
}

#[test]
fn what_follows_the_numbers_may_come_with_them() {
    let info = "box-7:31:32 [3] NCCL INFO Launch mode Parallel\n";
    let (start, half) = ("1048576 262144 float sum -1", half(1 << 20));
    let row = format!("{start}{info}{half}{info}{half}");
    let header = HEADER.replace('\n', " timestamp\n");
    let parsed = parse(format!("{header}{row} 2025-03-04 05:06:07\n"));
    assert_eq!(measurements(run(&parsed)), 2);
    let header = HEADER.replace('\n', " algo proto nchannels\n");
    let parsed = parse(format!("{header}{row} TREE LL128 4\n"));
    let path = run(&parsed).series[0].points[0].path;
    assert_eq!(path.unwrap().to_string(), "tree+ll128");
}

#[test]
fn a_header_that_a_log_line_cut_still_counts() {
    let cut = HEADER.trim_end();
    let text = format!(
        "{cut}box-7:31:32 [3] NCCL INFO Launch mode Parallel\n{}",
        row(8)
    );
    let parsed = parse(text);
    assert_eq!(run(&parsed).first_line, 1);
    assert!(
        !messages(&parsed, WarningCode::Missing)
            .join("")
            .contains("no header")
    );
}

#[test]
fn pieces_of_different_sizes_are_reported_and_not_joined() {
    let start = "[0]          512           128     float     sum      -1";
    let text = format!(
        "{start}{}{}[0]{}\n",
        choice(512),
        choice(65_536),
        half(65_536)
    );
    let parsed = parse(text);
    assert!(parsed.value.runs.is_empty());
    assert_eq!(parsed.value.dialect, Dialect::NcclLog);
    assert_eq!(lines(&parsed, WarningCode::Unattached), [Some(1), Some(3)]);
}

#[test]
fn numbers_that_contradict_the_size_are_not_joined() {
    let start = "[0]      1048576        262144     float     sum      -1";
    let text = format!(
        "{start}{}[0]    3.25    0.02    0.03      0\n",
        choice(1 << 20)
    );
    let parsed = parse(text);
    assert_eq!(lines(&parsed, WarningCode::Unattached), [Some(1), Some(2)]);
}

#[test]
fn the_part_of_a_rank_is_the_size_of_its_row() {
    // The tuner sees 1/4 of an AllGather's size.
    let half = "21.00    0.20    0.15      0";
    let info = "box-7:31:32 [3] NCCL INFO AllGather: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n";
    let row = format!("4096 256 float none -1{info}{half}{info}{half}\n");
    let parsed = parse(format!("{HEADER}{row}"));
    assert_eq!(measurements(run(&parsed)), 2, "{:?}", parsed.warnings);
}

#[test]
fn the_published_pieces_are_reported() {
    let case = "04-tuning-lines-by-version-and-split-rows";
    let Some(input) = published(case, "nccl-2.22-mixed.log") else {
        return;
    };
    let parsed = parse(input);
    assert!(parsed.value.runs.is_empty());
    assert_eq!(messages(&parsed, WarningCode::Unattached).len(), 6);
    let selections = &parsed.value.trace.selections;
    let sizes: Vec<u64> = selections.iter().map(|choice| choice.bytes.get()).collect();
    assert_eq!(sizes, [128, 256, 512, 4096, 8192, 8_589_934_592]);
    let paths: Vec<String> = selections
        .iter()
        .map(|choice| choice.path.to_string())
        .collect();
    assert_eq!(
        paths,
        [
            "tree+ll",
            "tree+ll",
            "tree+ll",
            "tree+ll",
            "tree+ll",
            "ring+simple"
        ]
    );
    assert_eq!(selections[5].time.unwrap().get(), 86_069.968_75);
}
