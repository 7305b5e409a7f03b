//! The 31-point scan of source document 000: every printed digit of its fits, regions and tuner
//! errors, the relative fits of FACTS E.4, and the segmentation without a trace.

#[path = "scan/v100.rs"]
mod v100;

use std::fs;
use std::path::PathBuf;
use tier6_collective::Collective;
use tier6_fit::{
    AnalysisOptions, Basis, Cause, CompareOptions, ComparedRun, ComparisonVerdict, Fit, FitLabel,
    Loss, SeriesAnalysis, SeriesComparison, Verdict, analyze, analyze_run, compare, fit_range,
};
use tier6_measure::{Correctness, ReadOptions, RunEnd, RunSetup, read};
use tier6_units::{Bytes, Micros};
use v100::{Paths, scan, series};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn fit<'a>(analysis: &'a SeriesAnalysis, label: &str, loss: Loss) -> &'a Fit {
    analysis
        .fits
        .iter()
        .find(|fit| fit.label.to_string() == label && fit.loss == loss)
        .unwrap_or_else(|| panic!("no fit {label}"))
}

/// Prints a fit as the document does: alpha, beta, R2, MAPE, largest error.
fn printed(fit: &Fit) -> String {
    let line = fit.line.unwrap();
    format!(
        "{:.3} {:.3} {:.6} {:.2} {:.2}",
        line.alpha.get(),
        line.beta.get(),
        fit.r2.unwrap(),
        fit.mape_pct.unwrap(),
        fit.max_error.unwrap().0
    )
}

#[test]
fn absolute_fits_equal_the_document_to_the_last_digit() {
    let analysis = scan(Paths::FromTrace);
    let check = |label: &str, want: &str| {
        assert_eq!(
            printed(fit(&analysis, label, Loss::Absolute)),
            want,
            "{label}"
        );
    };
    check("global", "27.486 81.209 0.999972 32.87 51.78");
    check("ring+ll", "18.184 37.216 0.969511 1.73 7.86");
    check("ring+simple", "50.929 81.426 0.999996 1.24 4.70");
    let ll128 = fit(&analysis, "ring+ll128", Loss::Absolute);
    assert_eq!(ll128.verdict, Verdict::DescribesOnly);
    let line = ll128.line.unwrap();
    assert_eq!(
        format!("{:.3} {:.3}", line.alpha.get(), line.beta.get()),
        "25.255 43.036"
    );
    let large = fit_range(
        &analysis.points,
        Bytes::new(16 * MIB),
        Bytes::new(1 << 30),
        Loss::Absolute,
    );
    assert_eq!(printed(&large), "50.011 81.417 0.999995 1.19 5.03");
    assert_eq!(
        (large.points, large.label.to_string().as_str()),
        (7, "16 MiB..1 GiB")
    );
}

#[test]
fn relative_fits_equal_the_table_of_facts_e4() {
    let analysis = scan(Paths::FromTrace);
    let check = |label: &str, want: &str| {
        let fit = fit(&analysis, label, Loss::Relative);
        let line = fit.line.unwrap();
        let got = format!(
            "{:.3} {:.3} {:.2} {:.2} {:.2}",
            line.alpha.get(),
            line.beta.get(),
            fit.mape_pct.unwrap(),
            fit.max_error.unwrap().0,
            fit.rmspe_pct.unwrap()
        );
        assert_eq!(got, want, "{label}");
    };
    check("global", "18.846 72.771 7.77 35.58 12.10");
    check("ring+ll", "18.243 40.026 1.58 6.48 2.42");
    check("ring+simple", "54.056 81.434 0.95 3.55 1.40");
}

#[test]
fn verdicts_follow_points_and_held_out_errors() {
    let analysis = scan(Paths::FromTrace);
    for loss in [Loss::Relative, Loss::Absolute] {
        let global = fit(&analysis, "global", loss);
        assert_eq!(global.verdict, Verdict::DescribesOnly);
        assert!(
            global.why.contains("rejected: 3 segments"),
            "{}",
            global.why
        );
        for label in ["ring+ll", "ring+simple"] {
            let fit = fit(&analysis, label, loss);
            assert_eq!(fit.verdict, Verdict::Validated, "{label}: {}", fit.why);
            assert!(
                fit.held_out_rmspe_pct > fit.rmspe_pct,
                "held-out errors are larger"
            );
            assert!(fit.alpha_ci.is_some() && fit.beta_ci.is_some());
        }
    }
}

#[test]
fn switches_regions_and_unstable_sizes_are_those_of_the_document() {
    let analysis = scan(Paths::FromTrace);
    let switches: Vec<String> = analysis
        .switches
        .iter()
        .map(|switch| format!("{} {} -> {}", switch.bytes, switch.from, switch.to))
        .collect();
    assert_eq!(
        switches,
        [
            "1 MiB ring+ll -> ring+ll128",
            "4 MiB ring+ll128 -> ring+simple"
        ]
    );
    let latency = analysis.regions.latency.unwrap();
    assert_eq!(
        (latency.first.get(), latency.last),
        (1, Bytes::new(2 * KIB))
    );
    assert_eq!(
        format!("{:.1} {:.1}", latency.low.get(), latency.high.get()),
        "18.1 18.5"
    );
    let saturation = analysis.regions.saturation.unwrap();
    assert_eq!(saturation.entry, Bytes::new(32 * MIB));
    assert_eq!(format!("{:.2}", saturation.peak_algbw.get()), "81.06");
    let unstable: Vec<u64> = analysis
        .points
        .iter()
        .filter(|point| point.stable == Some(false))
        .map(|point| point.bytes.get())
        .collect();
    assert_eq!(
        unstable,
        [
            128,
            4 * KIB,
            8 * KIB,
            16 * KIB,
            32 * KIB,
            64 * KIB,
            128 * KIB
        ]
    );
}

#[test]
fn tuner_errors_equal_the_document() {
    let errors: Vec<String> = scan(Paths::FromTrace)
        .points
        .iter()
        .filter_map(|point| Some(format!("{:+.2}", point.tuner_error_pct?)))
        .collect();
    assert_eq!(
        errors,
        [
            "-44.67", "-44.14", "-13.29", "-9.40", "-20.10", "-27.16", "-22.72", "-11.54", "+0.31",
            "+1.11", "+1.54"
        ]
    );
}

#[test]
fn findings_say_what_the_document_says() {
    let analysis = scan(Paths::FromTrace);
    let message = |code: &str| {
        let finding = analysis
            .findings
            .iter()
            .find(|finding| finding.code == code);
        finding
            .unwrap_or_else(|| panic!("no {code}"))
            .message
            .clone()
    };
    assert!(
        message("unstable-sizes")
            .starts_with("7 of 31 sizes have a CV above 5 %: 128 B, 4 KiB..128 KiB;")
    );
    let rejected = message("one-line-rejected");
    for number in ["0.999972", "32.9 %", "51.8 % at 128 B", "ring+ll 1.73 %"] {
        assert!(rejected.contains(number), "{number} in {rejected}");
    }
    assert!(message("few-points").contains("ring+ll128 has 2 of the 4 points"));
    assert!(message("latency-region").starts_with("1 B to 2 KiB all take 18.1 to 18.5 us"));
    assert!(message("tuner-error").contains("does not show a wrong choice"));
    assert!(
        analysis
            .findings
            .is_sorted_by_key(|finding| finding.severity)
    );
    assert!(
        !analysis
            .findings
            .iter()
            .any(|finding| finding.code == "cliff")
    );
}

#[test]
fn without_a_trace_the_segments_are_found_within_one_size() {
    let analysis = scan(Paths::Unknown);
    let cuts: Vec<u64> = analysis
        .switches
        .iter()
        .map(|switch| switch.bytes.get())
        .collect();
    assert_eq!(cuts, [512 * KIB, 4 * MIB]);
    let segments: Vec<&Fit> = analysis
        .fits
        .iter()
        .filter(|fit| fit.loss == Loss::Relative && fit.basis == Basis::Detected)
        .collect();
    assert_eq!(segments.len(), 3);
    let (mut squares, mut points) = (0.0, 0.0);
    for fit in &segments {
        squares += f64::from(fit.points) * fit.rmspe_pct.unwrap().powi(2);
        points += f64::from(fit.points);
    }
    assert_eq!(format!("{:.2}", f64::sqrt(squares / points)), "1.29");
    assert_eq!(segments[0].label, FitLabel::Detected(1));
}

#[test]
fn bic_equals_facts_e4() {
    let analysis = scan(Paths::Unknown);
    let column = |value: fn(&tier6_fit::PointSummary) -> f64| -> Vec<f64> {
        analysis.points.iter().map(value).collect()
    };
    let (sizes, times) = (column(|p| p.bytes.as_f64()), column(|p| p.median.get()));
    let rules = tier6_stats::SegmentRules {
        min_points: 3,
        max_segments: 5,
        bic_gain_min: 6.0,
        resolution: 1e-4,
    };
    let bic: Vec<String> = tier6_stats::segment_lines(&sizes, &times, rules)
        .unwrap()
        .bic
        .iter()
        .map(|bic| format!("{bic:.1}"))
        .collect();
    assert_eq!(bic, ["-124.1", "-212.0", "-242.5", "-241.0", "-235.7"]);
}

/// Compares the scan with itself after each time went through `change`, with no more known
/// than the document's table gives: medians, and spreads of an unstated number of samples.
fn against_itself(change: impl Fn(f64, f64) -> f64) -> SeriesComparison {
    let (mut old, selections) = series();
    for stats in old
        .points
        .iter_mut()
        .filter_map(|point| point.published.as_mut())
    {
        stats.samples = None;
    }
    let mut new = old.clone();
    for point in &mut new.points {
        let stats = point.published.as_mut().unwrap();
        let time = change(point.bytes.as_f64(), stats.median.get());
        stats.p95 = stats
            .p95
            .map(|p95| Micros::new(p95.get() * time / stats.median.get()));
        stats.median = Micros::new(time);
    }
    let analysed = [&old, &new].map(|one| analyze(one, 0, &selections, &AnalysisOptions::STANDARD));
    let setup = RunSetup::default();
    let side = |series, index: usize| ComparedRun {
        series,
        analysis: &analysed[index],
        setup: &setup,
        correctness: Correctness::Passed,
        end: &RunEnd::Complete,
    };
    compare(&side(&old, 0), &side(&new, 1), &CompareOptions::STANDARD).unwrap()
}

#[test]
fn the_scan_is_unchanged_against_itself() {
    let same = against_itself(|_, time| time);
    assert_eq!(same.verdict, ComparisonVerdict::Unchanged, "{same:#?}");
}

#[test]
fn changes_of_the_scan_are_attributed() {
    let causes = |comparison: &SeriesComparison| -> Vec<(String, Cause)> {
        let segments = comparison.segments.iter();
        segments
            .filter_map(|s| Some((s.label.to_string(), s.cause?)))
            .collect()
    };
    let later = against_itself(|_, time| time + 3.0);
    assert_eq!(
        causes(&later),
        [("ring+ll".to_owned(), Cause::FixedCost)],
        "{later:#?}"
    );
    let delta = later.segments[0].delta_alpha.unwrap();
    assert!((delta.get() - 3.0).abs() < 1e-6);
    let slower = against_itself(|bytes, time| time + bytes / 81.43e3 / 9.0);
    assert!(
        causes(&slower).contains(&("ring+simple".to_owned(), Cause::Bandwidth)),
        "{slower:#?}"
    );
    assert!((slower.segments[2].delta_beta_pct.unwrap() + 10.0).abs() < 0.1);
}

#[test]
fn the_bundled_file_gives_the_same_analysis() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bundled = folder.join("data/measurements/s0_v100_ar_4gpu_nv2.csv");
    let Ok(text) = fs::read(&bundled) else {
        eprintln!(
            "{} is not here; only the table of this test was used",
            bundled.display()
        );
        return;
    };
    let options = ReadOptions {
        collective: Some(Collective::AllReduce),
        ranks: Some(4),
        ..ReadOptions::default()
    };
    let dataset = read(&mut text.as_slice(), &options).unwrap().value;
    let analysis = &analyze_run(&dataset.runs[0], 0, &[], &AnalysisOptions::STANDARD)[0];
    assert_eq!(analysis.fits, scan(Paths::FromTrace).fits);
    assert_eq!(analysis.regions, scan(Paths::FromTrace).regions);
}
