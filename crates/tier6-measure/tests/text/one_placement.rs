//! Tables with one placement only, and rows that lost one.

use super::*;

fn half_row(bytes: u64) -> String {
    let half = half(bytes).replace("      0", "    N/A");
    format!(
        "{bytes:12} {:13}     float     sum      -1 {half}\n",
        bytes / 4
    )
}

#[test]
fn a_table_without_the_second_half_is_whole() {
    let text: String = (20..26).map(|power| half_row(1 << power)).collect();
    let parsed = parse(format!("{HEADER}{text}"));
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (6, 6));
    assert!(series(run, Placement::InPlace).is_none());
    assert_eq!(run.series[0].ranks.exact(), Some(4));
    assert_eq!(
        messages(&parsed, WarningCode::Placement),
        ["no row has the in-place half"]
    );
    assert!(messages(&parsed, WarningCode::CutRow).is_empty());
}

#[test]
fn half_a_row_among_whole_ones_is_cut() {
    for text in [
        format!("{HEADER}{}{}{}", half_row(8), row(16), row(32)),
        format!("{HEADER}{}{}{}", row(16), half_row(32), row(64)),
    ] {
        let parsed = parse(text);
        assert_eq!((run(&parsed).rows, measurements(run(&parsed))), (2, 4));
        assert_eq!(messages(&parsed, WarningCode::CutRow).len(), 1);
    }
}

#[test]
fn a_blank_first_half_is_the_missing_one() {
    let text = format!(
        "{HEADER}{:12} {:13}     float     sum      -1{}{}\n",
        1024,
        256,
        " ".repeat(32),
        half(1024)
    );
    let parsed = parse(text);
    assert!(series(run(&parsed), Placement::OutOfPlace).is_none());
    assert_eq!(numbers(run(&parsed), Placement::InPlace, 1024).0, 10.01);
}

#[test]
fn the_published_table_is_read() {
    let Some(input) = published("10-in-place-half-missing", "input.txt") else {
        return;
    };
    let parsed = parse(input);
    let run = run(&parsed);
    assert_eq!((run.rows, measurements(run)), (12, 12));
    assert!(series(run, Placement::InPlace).is_none());
    assert_eq!(run.series[0].ranks.exact(), Some(4));
    assert_eq!(numbers(run, Placement::OutOfPlace, 262_144).0, 122.3);
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 536_870_912),
        (164_854.0, 3.26, 4.88)
    );
    assert!(messages(&parsed, WarningCode::CutRow).is_empty());
    assert_eq!(messages(&parsed, WarningCode::Placement).len(), 1);
}
