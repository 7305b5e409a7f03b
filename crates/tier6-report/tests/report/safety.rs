//! Rules that hold whatever the input says: no value becomes `NaN`, no text becomes markup, no
//! file asks the network for anything, and sizes stay within bounds.

use crate::scan;
use std::ops::Range;
use tier6_fit::{Finding, FitLabel, Loss, Severity};
use tier6_measure::Correctness;
use tier6_report::{
    AnalysisReport, Charset, Color, Detail, SeriesReport, Status, Style, analysis_csv,
    analysis_html, analysis_json, analysis_markdown, analysis_svg, analysis_table,
};
use tier6_units::{Bytes, GbPerSec, Micros};

const STYLE: Style = Style {
    color: Color::Off,
    charset: Charset::Unicode,
    width: 100,
};

fn every_format(report: &AnalysisReport) -> [(&'static str, String); 7] {
    [
        ("table", analysis_table(report, STYLE, Detail::Short)),
        ("wide", analysis_table(report, STYLE, Detail::Wide)),
        ("json", analysis_json(report)),
        ("csv", analysis_csv(report)),
        ("md", analysis_markdown(report)),
        ("svg", analysis_svg(report)),
        ("html", analysis_html(report)),
    ]
}

/// A report with the points of a range of the scan.
fn cut(range: Range<usize>) -> AnalysisReport {
    let mut report = scan::report();
    let analysis = &mut report.series[0].analysis;
    analysis.points = analysis.points[range].to_vec();
    analysis.fits.clear();
    report
}

/// The SVG parts of an HTML page.
fn inline_svgs(html: &str) -> Vec<String> {
    let parts = html.split("<svg class=\"chart\"").skip(1);
    parts
        .map(|part| {
            let (inside, _) = part.split_once("</svg>\n</div>").unwrap();
            format!("<svg class=\"chart\"{inside}</svg>")
        })
        .collect()
}

#[test]
fn svg_is_well_formed() {
    for report in [scan::report(), cut(0..0), cut(0..1)] {
        let svg = analysis_svg(&report);
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
    }
    let svgs = inline_svgs(&analysis_html(&scan::report()));
    assert_eq!(svgs.len(), 1);
    roxmltree::Document::parse(&svgs[0]).unwrap();
}

#[test]
fn the_page_is_well_formed() {
    let html = analysis_html(&scan::report());
    let body = html.split_once("</head>\n").unwrap().1;
    let body = body.split_once("<script>").unwrap().0.to_owned() + "</body>";
    // The page closes every element, so that its body is XML too.
    roxmltree::Document::parse(&body).unwrap();
}

#[test]
fn nothing_is_fetched() {
    let html = analysis_html(&scan::report());
    let svg = analysis_svg(&scan::report());
    let svg = svg.replacen("xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    for (name, text) in [("html", html), ("svg", svg)] {
        for needle in ["://", "src=", "url(", "@import", "<link", "href="] {
            assert!(!text.contains(needle), "{name} holds `{needle}`");
        }
    }
}

#[test]
fn text_of_the_input_stays_text() {
    let attack = "\"><script>alert('x')</script>|`\x1b[31m\x00\u{7}</svg>";
    let mut report = scan::report();
    report.inputs[0].path = attack.to_owned();
    report.inputs[0].warnings[0].message = attack.to_owned();
    report.inputs[0].runs[0].setup.command = Some(attack.to_owned());
    let analysis = &mut report.series[0].analysis;
    analysis.fits[1].why = attack.to_owned();
    analysis.fits[2].why = attack.to_owned();
    analysis.residuals[0].evidence = attack.to_owned();
    analysis.findings.push(Finding {
        severity: Severity::Failed,
        code: "x",
        message: attack.to_owned(),
    });
    report.series.push(report.series[0].clone());
    for (name, text) in every_format(&report) {
        if name != "json" && name != "csv" && !name.starts_with('t') && name != "wide" {
            assert!(!text.contains("<script>alert"), "{name}");
            assert!(!text.contains("'x'") || name == "md", "{name}");
        }
        if name != "csv" {
            assert!(
                !text.contains('\x1b') && !text.contains('\0'),
                "{name} holds control characters"
            );
        }
    }
    roxmltree::Document::parse(&analysis_svg(&report)).unwrap();
}

#[test]
fn numbers_without_value_are_absent() {
    let mut report = scan::report();
    let analysis = &mut report.series[0].analysis;
    for (point, value) in
        analysis
            .points
            .iter_mut()
            .zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0])
    {
        point.median = Micros::new(value);
        point.p95 = Some(Micros::new(value));
        point.cv_pct = Some(value);
        point.algbw = GbPerSec::new(value);
        point.busbw = Some(GbPerSec::new(value));
        point.tuner = Some(Micros::new(value));
        point.tuner_error_pct = Some(value);
    }
    analysis.points[6].bytes = Bytes::new(0);
    for (fit, value) in analysis.fits.iter_mut().zip([f64::NAN, f64::INFINITY, 0.0]) {
        let line = fit.line.as_mut().unwrap();
        line.alpha = Micros::new(value);
        line.beta = GbPerSec::new(value);
        fit.r2 = Some(value);
        fit.mape_pct = Some(value);
        fit.max_error = Some((value, Bytes::new(1)));
        fit.rmspe_pct = Some(value);
        fit.alpha_ci = fit.alpha_ci.map(|mut ci| {
            ci.low = value;
            ci
        });
        for residual in &mut fit.residuals {
            residual.2 = value;
        }
    }
    for (name, text) in every_format(&report) {
        for word in ["NaN", "nan", "inf"] {
            let bare = text
                .split(|c: char| !c.is_alphanumeric())
                .any(|part| part == word);
            assert!(!bare, "{name} holds `{word}`");
        }
    }
}

#[test]
fn empty_reports_say_so() {
    let mut report = scan::report();
    report.series.clear();
    assert!(analysis_table(&report, STYLE, Detail::Short).contains("no series"));
    assert!(analysis_html(&report).contains("No series"));
    report.inputs.clear();
    for (name, text) in every_format(&report) {
        assert!(!text.is_empty(), "{name}");
    }
}

#[test]
fn few_points_do_not_break_a_format() {
    for range in [0..0, 0..1, 0..2, 30..31] {
        let points = range.len();
        for (name, text) in every_format(&cut(range)) {
            assert!(!text.is_empty(), "{name} with {points} points");
        }
    }
}

#[test]
fn wrong_data_is_said_first() {
    let mut report = scan::report();
    report.status = Status::Failed;
    let aborted = analysis_table(&report, STYLE, Detail::Short);
    assert!(aborted.starts_with("FAILED: at least one run did not end"));
    report.inputs[0].runs[0].correctness = Correctness::Failed;
    for (name, text) in every_format(&report) {
        if name != "csv" {
            let lower = text.to_lowercase();
            assert!(lower.contains("failed"), "{name}");
        }
    }
    assert!(analysis_table(&report, STYLE, Detail::Short).starts_with("FAILED: the data"));
}

#[test]
fn sizes_stay_within_bounds() {
    let one = analysis_html(&scan::report());
    assert!(one.len() < 80_000, "a usual page has {} bytes", one.len());

    let mut many = scan::report();
    many.series = vec![many.series[0].clone(); 60];
    let page = analysis_html(&many);
    assert!(
        page.len() < 2_500_000,
        "60 series have {} bytes",
        page.len()
    );
    let table = analysis_table(&many, STYLE, Detail::Short);
    assert!(
        table.lines().count() < 80,
        "60 series are shown as an overview"
    );

    let page = analysis_html(&thousand_points());
    assert!(
        page.len() < 1_200_000,
        "1000 points have {} bytes",
        page.len()
    );
}

fn thousand_points() -> AnalysisReport {
    let mut report = scan::report();
    let analysis = &mut report.series[0].analysis;
    let sample = analysis.points[24].clone();
    let points = (1..=1000_u64).map(|step| {
        let mut point = sample.clone();
        point.bytes = Bytes::new(step * 65_536);
        point.median = Micros::new(50.0 + step as f64 * 0.81);
        point.algbw = GbPerSec::from_transfer(point.bytes, point.median).unwrap();
        point
    });
    analysis.points = points.collect();
    analysis.fits = vec![scan::fit(
        FitLabel::Detected(1),
        Loss::Relative,
        &analysis.points,
    )];
    report
}

#[test]
fn many_points_are_listed_on_request_only() {
    let report = thousand_points();
    let short = analysis_table(&report, STYLE, Detail::Short);
    assert!(short.contains("`--wide` lists the 1000 points"));
    assert!(analysis_table(&report, STYLE, Detail::Wide).lines().count() > 1000);
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(every_format(&scan::report()), every_format(&scan::report()));
}

#[test]
fn many_series_are_an_overview_that_says_what_is_doubtful() {
    let mut report = scan::report();
    report.inputs = (0..8)
        .map(|nth| scan::input(&format!("runs/{nth}.txt")))
        .collect();
    let series = report.series[0].clone();
    report.series = (0..8)
        .map(|input| SeriesReport::new(input, series.analysis.clone()))
        .collect();
    let finding = |severity, message: &str| Finding {
        severity,
        code: "made-up",
        message: message.to_owned(),
    };
    report.series[1].analysis.findings = vec![finding(Severity::Warning, "doubtful")];
    report.series[2].analysis.findings = vec![finding(Severity::Failed, "wrong")];
    report.findings = vec![finding(Severity::Note, "they agree <b>")];
    report.inputs[2].runs[0].correctness = Correctness::Failed;
    report.status = Status::Failed;
    let table = analysis_table(&report, STYLE, Detail::Short);
    let first = table.lines().next().unwrap();
    assert!(first.starts_with("FAILED: ") && first.ends_with("no number of it is a result: 2.txt"));
    assert!(
        table.contains("NOTE                they agree <b> (made-up)"),
        "{table}"
    );
    assert!(table.contains("inputs in runs/\n"), "{table}");
    let row = |nth: usize| {
        table
            .lines()
            .find(|line| line.ends_with(&format!(" {nth}.txt")))
            .unwrap()
    };
    assert!(row(1).contains("1 warning "), "{}", row(1));
    assert!(table.contains("WRONG DATA  2.txt"), "{table}");
    assert!(analysis_html(&report).contains("they agree &lt;b&gt;"));
    assert!(analysis_markdown(&report).contains("they agree"));
}

#[test]
fn several_inputs_keep_their_own_names() {
    let mut report = scan::report();
    report.inputs.push(scan::input("second.txt"));
    report.series.push(SeriesReport::new(1, scan::analysis()));
    let csv = analysis_csv(&report);
    assert_eq!(
        csv.lines()
            .filter(|line| line.starts_with("second.txt,1,"))
            .count(),
        31
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_measurement_breaks_a_format(
        rows in proptest::collection::vec((proptest::num::u64::ANY, proptest::num::f64::ANY, proptest::num::f64::ANY), 0..20),
        text in ".{0,40}",
    ) {
        let mut report = scan::report();
        report.inputs[0].path = text.clone();
        report.inputs[0].warnings[0].message = text;
        let analysis = &mut report.series[0].analysis;
        let sample = analysis.points[0].clone();
        analysis.points = rows
            .iter()
            .map(|(bytes, time, rate)| {
                let mut point = sample.clone();
                point.bytes = Bytes::new(*bytes);
                point.median = Micros::new(*time);
                point.p95 = Some(Micros::new(*rate));
                point.algbw = GbPerSec::new(*rate);
                point
            })
            .collect();
        analysis.points.sort_by_key(|point| point.bytes);
        if let [first, .., last] = analysis.points.as_slice() {
            let (first, last) = (first.bytes, last.bytes);
            for fit in &mut analysis.fits {
                (fit.first, fit.last) = (first, last);
            }
        }
        roxmltree::Document::parse(&analysis_svg(&report)).unwrap();
        for (name, written) in every_format(&report) {
            proptest::prop_assert!(!written.contains("NaN"), "{name}");
        }
        serde_json::from_str::<serde_json::Value>(&analysis_json(&report)).unwrap();
    }
}
