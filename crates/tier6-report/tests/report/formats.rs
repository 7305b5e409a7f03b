//! The text formats of the scan, whole.

use crate::scan;
use tier6_report::{
    Charset, Color, Detail, Style, analysis_csv, analysis_json, analysis_markdown, analysis_table,
    terminal_plot,
};

const PLAIN: Style = Style {
    color: Color::Off,
    charset: Charset::Unicode,
    width: 100,
};

#[test]
fn table_short() {
    insta::assert_snapshot!(analysis_table(&scan::report(), PLAIN, Detail::Short));
}

#[test]
fn table_wide() {
    insta::assert_snapshot!(analysis_table(&scan::report(), PLAIN, Detail::Wide));
}

#[test]
fn plot_in_ascii() {
    let style = Style {
        charset: Charset::Ascii,
        ..PLAIN
    };
    let report = scan::report();
    let plot = terminal_plot(&report.series[0].analysis, report.loss, style);
    assert!(plot.is_ascii());
    insta::assert_snapshot!(plot);
}

#[test]
fn a_narrow_terminal_gets_a_narrow_plot() {
    let style = Style { width: 60, ..PLAIN };
    let report = scan::report();
    let plot = terminal_plot(&report.series[0].analysis, report.loss, style);
    assert!(
        plot.lines().all(|line| line.chars().count() <= 60),
        "{plot}"
    );
}

#[test]
fn markdown() {
    insta::assert_snapshot!(analysis_markdown(&scan::report()));
}

#[test]
fn csv() {
    insta::assert_snapshot!(analysis_csv(&scan::report()));
}

#[test]
fn json() {
    insta::assert_snapshot!(analysis_json(&scan::report()));
}

#[test]
fn ascii_style_writes_ascii_only() {
    let style = Style {
        charset: Charset::Ascii,
        ..PLAIN
    };
    for detail in [Detail::Short, Detail::Wide] {
        assert!(analysis_table(&scan::report(), style, detail).is_ascii());
    }
}

#[test]
fn colour_changes_no_letter() {
    let colored = Style {
        color: Color::On,
        ..PLAIN
    };
    let colored = analysis_table(&scan::report(), colored, Detail::Short);
    assert!(colored.contains("\x1b["));
    let mut plain = String::new();
    for (index, part) in colored.split('\x1b').enumerate() {
        let part = if index == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
        plain.push_str(part);
    }
    let trimmed = |text: &str| {
        text.lines()
            .map(|l| l.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    let expect = analysis_table(&scan::report(), PLAIN, Detail::Short);
    assert_eq!(trimmed(&plain), trimmed(&expect));
}
