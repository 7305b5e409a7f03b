//! The formats of a comparison: the scan against itself with a fixed cost added to small sizes
//! and a fifth of the bandwidth taken from large ones.

use crate::scan;
use tier6_fit::{
    Cause, ComparisonVerdict, FitLabel, Interval, Loss, SegmentComparison, SeriesComparison,
    SizeComparison, SizeVerdict,
};
use tier6_measure::LibraryVersion;
use tier6_report::{
    Charset, Color, ComparedSeries, ComparisonReport, Detail, SeriesReport, Style, comparison_csv,
    comparison_html, comparison_json, comparison_markdown, comparison_svg, comparison_table,
};
use tier6_units::{Bytes, GbPerSec, Micros};

const PLAIN: Style = Style {
    color: Color::Off,
    charset: Charset::Unicode,
    width: 100,
};

/// The report that the tests show; also how slow the new run is.
pub fn report() -> ComparisonReport {
    let baseline = SeriesReport::new(0, scan::analysis());
    let mut new = baseline.clone();
    for point in &mut new.analysis.points {
        point.median = Micros::new(slower(point.bytes, point.median.get()));
        point.algbw = GbPerSec::from_transfer(point.bytes, point.median).unwrap();
    }
    for fit in &mut new.analysis.fits {
        let range = fit.first..=fit.last;
        let points: Vec<_> = new
            .analysis
            .points
            .iter()
            .filter(|p| range.contains(&p.bytes))
            .cloned()
            .collect();
        *fit = scan::fit(fit.label.clone(), fit.loss, &points);
    }
    let mut input = scan::input("after.txt");
    input.runs[0].setup.library_version = Some(LibraryVersion::new(2, 27, 7));
    let comparison = comparison(&baseline, &new);
    ComparisonReport {
        baseline: vec![scan::input("before.txt")],
        new: vec![input],
        verdict: ComparisonVerdict::Regressed,
        loss: Loss::Relative,
        series: vec![ComparedSeries {
            baseline,
            new,
            comparison,
        }],
        not_compared: vec!["all_gather, out of place: only in before.txt".to_owned()],
    }
}

fn slower(bytes: Bytes, us: f64) -> f64 {
    match bytes.get() {
        0..0x10_0000 => us + 2.9,
        0x10_0000..0x40_0000 => us * 1.001,
        _ => us * 1.2,
    }
}

fn comparison(baseline: &SeriesReport, new: &SeriesReport) -> SeriesComparison {
    let pairs = baseline.analysis.points.iter().zip(&new.analysis.points);
    let sizes = pairs.map(|(base, new)| {
        let change_pct = (new.median.get() / base.median.get() - 1.0) * 100.0;
        let shown = change_pct > 3.0 && base.stable == Some(true);
        SizeComparison {
            bytes: base.bytes,
            base: base.median,
            new: new.median,
            change_pct,
            p_value: Some(if shown { 0.0002 } else { 0.31 }),
            verdict: if shown {
                SizeVerdict::Slower
            } else {
                SizeVerdict::NotShown
            },
        }
    });
    let fits = baseline.analysis.fits.iter();
    let segments = fits.filter(|fit| fit.loss == Loss::Relative && fit.label != FitLabel::Global);
    let facts = [
        (
            Some(2.9),
            Some(-0.1),
            13.8,
            ComparisonVerdict::Regressed,
            Some(Cause::FixedCost),
        ),
        (None, None, 0.1, ComparisonVerdict::Unchanged, None),
        (
            Some(0.2),
            Some(-16.7),
            20.0,
            ComparisonVerdict::Regressed,
            Some(Cause::Bandwidth),
        ),
    ];
    SeriesComparison {
        verdict: ComparisonVerdict::Regressed,
        warnings: vec![
            "data type differs: int8 in the baseline, half in the new run".to_owned(),
            "2 sizes only in the new run: 2 GiB, 4 GiB".to_owned(),
        ],
        segments: segments
            .zip(facts)
            .map(
                |(fit, (alpha, beta, mean, verdict, cause))| SegmentComparison {
                    label: fit.label.clone(),
                    first: fit.first,
                    last: fit.last,
                    sizes: fit.points,
                    delta_alpha: alpha.map(Micros::new),
                    delta_alpha_ci: alpha.map(|us| Interval {
                        low: us - 0.3,
                        high: us + 0.3,
                    }),
                    delta_beta_pct: beta,
                    mean_change_pct: mean,
                    mean_change_ci_pct: Some(Interval {
                        low: mean - 0.5,
                        high: mean + 0.5,
                    }),
                    verdict,
                    cause,
                    evidence: format!("{} of {} sizes moved", fit.points / 2, fit.points),
                },
            )
            .collect(),
        sizes: sizes.collect(),
        faults: Vec::new(),
        unmatched_sizes: 2,
    }
}

fn every_format(report: &ComparisonReport) -> [(&'static str, String); 6] {
    [
        ("table", comparison_table(report, PLAIN, Detail::Wide)),
        ("json", comparison_json(report)),
        ("csv", comparison_csv(report)),
        ("md", comparison_markdown(report)),
        ("svg", comparison_svg(report)),
        ("html", comparison_html(report)),
    ]
}

#[test]
fn table() {
    insta::assert_snapshot!(comparison_table(&report(), PLAIN, Detail::Short));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(comparison_markdown(&report()));
}

#[test]
fn csv() {
    insta::assert_snapshot!(comparison_csv(&report()));
}

#[test]
fn json() {
    insta::assert_snapshot!(comparison_json(&report()));
}

#[test]
fn pictures_and_pages_are_well_formed() {
    roxmltree::Document::parse(&comparison_svg(&report())).unwrap();
    let html = comparison_html(&report());
    let body = html.split_once("</head>\n").unwrap().1;
    let body = body.split_once("<script>").unwrap().0.to_owned() + "</body>";
    roxmltree::Document::parse(&body).unwrap();
    for needle in ["://", "src=", "url(", "@import", "<link", "href="] {
        assert!(!html.contains(needle), "the page holds `{needle}`");
    }
    assert!(html.len() < 80_000, "a usual page has {} bytes", html.len());
}

#[test]
fn text_of_the_input_stays_text() {
    let attack = "\"><script>alert('x')</script>|\x1b[31m";
    let mut report = report();
    report.new[0].path = attack.to_owned();
    report.not_compared[0] = attack.to_owned();
    let comparison = &mut report.series[0].comparison;
    comparison.warnings[0] = attack.to_owned();
    comparison.segments[0].evidence = attack.to_owned();
    for (name, text) in every_format(&report) {
        let is_markup = matches!(name, "md" | "svg" | "html");
        assert!(!is_markup || !text.contains("<script>alert"), "{name}");
        assert!(
            name == "csv" || !text.contains('\x1b'),
            "{name} holds control characters"
        );
    }
    roxmltree::Document::parse(&comparison_svg(&report)).unwrap();
}

#[test]
fn numbers_without_value_are_absent() {
    let mut report = report();
    let comparison = &mut report.series[0].comparison;
    for value in [f64::NAN, f64::INFINITY] {
        for size in &mut comparison.sizes[..2] {
            size.base = Micros::new(value);
            size.change_pct = value;
            size.p_value = Some(value);
        }
        let segment = &mut comparison.segments[0];
        segment.delta_alpha = Some(Micros::new(value));
        segment.delta_beta_pct = Some(value);
        segment.mean_change_pct = value;
        segment.mean_change_ci_pct = Some(Interval {
            low: value,
            high: 1.0,
        });
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
fn nothing_in_common_is_still_a_report() {
    let mut report = report();
    report.series.clear();
    for (name, text) in every_format(&report) {
        assert!(!text.is_empty(), "{name}");
    }
}
