//! What a reader says, as one text.

use super::*;

fn said(input: &str) -> String {
    let parsed = parse(input);
    let warnings: Vec<String> = parsed.warnings.iter().map(ToString::to_string).collect();
    warnings.join("\n")
}

#[test]
fn a_table_with_many_faults() {
    let text = format!(
        "WARNING: Open MPI accepted a TCP connection\n{}{HEADER}{}\
         h:1:2 [0] misc.cc:4 NCCL WARN Call to connect failed\n\
         16 4 float sum -1 10.00 9.99 0.00 0 10.00 0.00 0.00 0\n\
         32 8 float sum -1 10.00 0.00\n\
         64 16 float sum -1 10.00 0.01 0.01 0 10.00 0.01 0.01 0 1 2\n\
         10.00 0.01 0.01 0\n\
         128 32 odd8 sum -1 10.00 0.01 0.02 0 10.00 0.01 0.02 5\n\
         # Avg bus bandwidth    : 1",
        parameters(128),
        row(8)
    );
    insta::assert_snapshot!(said(&text));
}

#[test]
fn a_bare_table() {
    insta::assert_snapshot!(said(&format!("{}{}", row(1 << 20), row(1 << 21))));
}

#[test]
fn a_whole_run_says_nothing() {
    let device = |n| format!("#  Rank  {n} Group  0 Pid  5 on h device  {n} [0x{n}] X\n");
    let devices: String = (0..4).map(device).collect();
    let text = format!(
        "# Collective test starting: all_reduce_perf\n{}#\n# Using devices\n{devices}{HEADER}{}{}\
         # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.0018 \n#\n",
        parameters(16),
        row(8),
        row(16)
    );
    assert_eq!(said(&text), "");
}

#[test]
fn many_equal_warnings_are_counted() {
    let text = format!(
        "{HEADER}{}{}",
        "32 8 float sum -1 10.00 0.00\n".repeat(200),
        row(64)
    );
    let said = said(&text);
    assert!(said.contains("150 more like that [cut-row]"), "{said}");
}

#[test]
fn a_gap_in_the_count_or_the_type_leaves_a_row() {
    let with = |bytes: u64, count: &str, datatype: &str| {
        format!(
            "{bytes:12} {count:>13} {datatype:>9}     sum      -1 {0} {0}\n",
            half(bytes)
        )
    };
    for gap in ["-", "N/A"] {
        let text = format!(
            "{HEADER}{}{}{}{}",
            row(1 << 20),
            with(1 << 21, gap, "float"),
            with(1 << 22, "1048576", gap),
            with(1 << 23, gap, gap),
        );
        let parsed = parse(&text);
        let run = run(&parsed);
        assert_eq!((run.rows, measurements(run)), (4, 8), "{gap}");
        assert_eq!(
            lines(&parsed, WarningCode::Unknown),
            [Some(4), Some(5)],
            "{gap}"
        );
        assert_eq!(run.series[0].points[1].count, None, "{gap}");
    }
}

#[test]
fn a_row_with_a_gap_that_is_cut_is_told() {
    let text = format!(
        "{HEADER}{}2097152 - float sum -1 30.48\n{}",
        row(1 << 20),
        row(1 << 22)
    );
    let parsed = parse(&text);
    assert_eq!(run(&parsed).rows, 2);
    assert_eq!(lines(&parsed, WarningCode::CutRow), [Some(3)]);
}

#[test]
fn a_sentence_with_a_dash_is_no_row() {
    let text = format!(
        "{HEADER}{}8 - ranks of this job\n{}",
        row(1 << 20),
        row(1 << 21)
    );
    let parsed = parse(&text);
    assert_eq!(run(&parsed).rows, 2);
    assert!(lines(&parsed, WarningCode::CutRow).is_empty());
}
