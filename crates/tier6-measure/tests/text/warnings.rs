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
