//! Tags, quotes and padding around the lines, and two runs in one paste.

use super::*;
use tier6_measure::{Correctness, Ranks, RunEnd};

const CUT: &str = "       16384          4096     float     sum      -1    10.16    1.61    2.42      0    10.16    1.6\n";

#[test]
fn tags_in_any_order_are_removed() {
    let plain = format!("{}{HEADER}{}{}", parameters(64), row(8), row(16));
    let expect = parse(&plain).value;
    for tag in [
        "[1,0]<stdout>:",
        "        > ",
        "0: ",
        "[0] ",
        "2025-03-04T05:06:07Z stdout F ",
        "pod-3: ",
    ] {
        let text: String = plain
            .lines()
            .map(|line| format!("{tag}{line}   \n"))
            .collect();
        assert_eq!(parse(text).value, expect, "{tag}");
    }
}

#[test]
fn a_cut_row_is_reported_and_the_next_header_starts_a_run() {
    let tag = |text: &str| -> String {
        text.lines()
            .map(|line| format!("    [1,0]<stdout>:{line}\n"))
            .collect()
    };
    let shifted = HEADER.replace("busbw #wrong\n", "busbw  #wrong       \n");
    let text = [
        tag("# Reducing maxBytes to 123456 due to memory limitation\n"),
        tag(&row(4096)),
        tag(&row(8192)),
        tag(CUT),
        format!(">  {}", tag("# Out of bounds values : 0 OK\n").trim_start()),
        format!(
            "> {}",
            tag("# Avg bus bandwidth    : 71.25 \n").trim_start()
        ),
        "\n```\n".to_owned(),
        tag(&shifted),
        tag(&row(8)),
        "```\n".to_owned(),
    ];
    let parsed = parse(text.concat());
    let [first, second] = parsed.value.runs.as_slice() else {
        panic!("not two runs")
    };
    assert_eq!((first.rows, second.rows), (2, 1));
    assert_eq!(first.setup.reduced_max_bytes.unwrap().get(), 123_456);
    assert_eq!(
        (&first.end, &second.end),
        (&RunEnd::Complete, &RunEnd::Unfinished)
    );
    assert_eq!(second.footer, None);
    assert_eq!(lines(&parsed, WarningCode::CutRow), [Some(4)]);
    assert_eq!(messages(&parsed, WarningCode::SeveralRuns).len(), 1);
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
}

#[test]
fn the_published_paste_is_read() {
    let Some(input) = published("05-openmpi-tag-output-padding-quotes", "input.txt") else {
        return;
    };
    let parsed = parse(input);
    let [first, second] = parsed.value.runs.as_slice() else {
        panic!("not two runs")
    };
    assert_eq!((first.rows, measurements(first)), (9, 18));
    let footer = first.footer.as_ref().unwrap();
    assert_eq!((footer.out_of_bounds, footer.passed), (Some(0), Some(true)));
    assert_eq!(footer.average_busbw.unwrap().get(), 92.3405);
    assert_eq!(first.setup.reduced_max_bytes.unwrap().get(), 7_582_078_293);
    assert_eq!(first.correctness(), Correctness::Passed);
    assert_eq!((second.rows, &second.footer), (3, &None));
    assert_eq!(lines(&parsed, WarningCode::CutRow), [Some(11)]);
    let (time, _, busbw) = numbers(first, Placement::OutOfPlace, 8192);
    assert_eq!((time, busbw), (79.06, 0.19));
    assert_eq!(numbers(second, Placement::OutOfPlace, 32).0, 22.25);
    assert_eq!(numbers(second, Placement::InPlace, 32).0, 13.34);
    let Ranks::Estimated { low, high } = first.series[0].ranks else {
        panic!("not an estimate")
    };
    assert!(low < high && (low..=high).contains(&16), "{low}..{high}");
    let notes = messages(&parsed, WarningCode::Note).join("; ");
    assert!(
        notes.contains("cannot be recomputed from the 9 rows"),
        "{notes}"
    );
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
}
