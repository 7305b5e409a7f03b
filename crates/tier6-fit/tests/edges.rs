//! Series that leave nothing to fit, or that no machine measured: no panic, no claim.

use proptest::prelude::*;
use tier6_collective::{Algorithm, Collective, Path, Protocol};
use tier6_fit::{
    AnalysisOptions, CompareOptions, ComparedRun, Exclusion, Finding, Loss, SeriesAnalysis,
    Verdict, analyze, analyze_run, compare, fit_range,
};
use tier6_measure::{
    Correctness, Placement, Point, PublishedStats, Ranks, Run, RunEnd, RunSetup, Sample, Selection,
    Series, Wrong,
};
use tier6_units::{Bytes, GbPerSec, Micros};

fn sample(us: f64) -> Sample {
    Sample {
        time: Some(Micros::new(us)),
        algbw: None,
        busbw: None,
        wrong: Wrong::NotChecked,
        line: 1,
    }
}

fn point(bytes: u64, times: &[f64]) -> Point {
    Point {
        bytes: Bytes::new(bytes),
        count: None,
        samples: times.iter().map(|us| sample(*us)).collect(),
        iterations: Vec::new(),
        published: None,
        path: None,
        tuner: None,
    }
}

fn series(points: Vec<Point>) -> Series {
    Series {
        collective: Some(Collective::AllReduce),
        ranks: Ranks::Stated(4),
        nodes: None,
        datatype: None,
        redop: None,
        root: None,
        placement: Placement::OutOfPlace,
        points,
    }
}

fn analysed(points: Vec<Point>) -> SeriesAnalysis {
    analyze(&series(points), 0, &[], &AnalysisOptions::STANDARD)
}

fn powers(times: impl Iterator<Item = f64>) -> Vec<Point> {
    times
        .enumerate()
        .map(|(power, us)| point(1 << power, &[us]))
        .collect()
}

/// Verdict and reason of the global relative fit.
fn global(analysis: &SeriesAnalysis) -> (Verdict, &str) {
    let fit = &analysis.fits[0];
    assert_eq!(fit.loss, Loss::Relative);
    (fit.verdict, &fit.why)
}

#[test]
fn fewer_than_two_points_are_refused() {
    for points in [vec![], vec![point(8, &[5.0])]] {
        let analysis = analysed(points);
        let (verdict, why) = global(&analysis);
        assert_eq!(verdict, Verdict::Refused);
        assert!(why.contains("a line needs two"), "{why}");
        assert!(analysis.fits[0].line.is_none());
    }
}

#[test]
fn two_points_do_not_validate() {
    let analysis = analysed(vec![point(8, &[5.0]), point(1 << 20, &[50.0])]);
    let (verdict, why) = global(&analysis);
    assert_eq!(verdict, Verdict::DescribesOnly);
    assert!(why.contains("R2 = 1 shows nothing"), "{why}");
    assert!(analysis.fits[0].alpha_ci.is_none() && analysis.fits[0].held_out_rmspe_pct.is_none());
}

#[test]
fn three_exact_points_do_not_validate() {
    let analysis = analysed(
        (1..=3)
            .map(|i| point(i << 20, &[10.0 * i as f64]))
            .collect(),
    );
    assert_eq!(global(&analysis).0, Verdict::DescribesOnly);
}

#[test]
fn four_points_on_a_line_validate() {
    let analysis = analysed(
        (1..=4)
            .map(|i| point(i << 20, &[5.0 + 10.0 * i as f64]))
            .collect(),
    );
    assert_eq!(
        global(&analysis).0,
        Verdict::Validated,
        "{}",
        global(&analysis).1
    );
}

#[test]
fn constant_and_falling_times_give_no_bandwidth() {
    let constant = analysed(powers([20.0; 12].into_iter()));
    let falling = analysed(powers((0..12).map(|i| 40.0 - f64::from(i))));
    for analysis in [&constant, &falling] {
        let (verdict, why) = global(analysis);
        assert_eq!(verdict, Verdict::Refused);
        assert!(why.contains("does not grow"), "{why}");
    }
    assert!(
        constant
            .regions
            .latency
            .is_some_and(|region| region.last.get() == 1 << 11)
    );
    let said = |finding: &&Finding| finding.code == "latency-region";
    let said = constant.findings.iter().find(said).unwrap();
    assert!(
        said.message.starts_with("1 B to 2 KiB all take 20.0 us: "),
        "{}",
        said.message
    );
}

#[test]
fn equal_sizes_give_no_line() {
    let analysis = analysed((0..5).map(|i| point(64, &[5.0 + f64::from(i)])).collect());
    assert_eq!(global(&analysis).0, Verdict::Refused);
}

#[test]
fn a_negative_alpha_is_held_at_zero_and_said() {
    // Faster than in proportion: a free line would cut the axis below zero.
    let points = (1..=6)
        .map(|i| point(i << 20, &[10.0 * i as f64 - 4.0]))
        .collect();
    let analysis = analysed(points);
    let fit = &analysis.fits[0];
    assert!(fit.line.unwrap().alpha.get().abs() < 1e-12);
    assert!(fit.why.contains("alpha is held at 0"), "{}", fit.why);
    assert!(fit.alpha_ci.is_none());
}

#[test]
fn wrong_and_empty_points_stay_out() {
    let mut points: Vec<Point> = (0..6)
        .map(|i| point(i << 20, &[5.0 + 10.0 * i as f64]))
        .collect();
    points[3].samples[0] = Sample {
        wrong: Wrong::Elements(7),
        ..sample(1.0)
    };
    let analysis = analysed(points);
    let excluded: Vec<Option<Exclusion>> = analysis.points.iter().map(|p| p.excluded).collect();
    assert_eq!(excluded[0], Some(Exclusion::ZeroSize));
    assert_eq!(excluded[3], Some(Exclusion::WrongData));
    assert_eq!(analysis.points[3].wrong, Some(7));
    assert_eq!(analysis.fits[0].points, 4);
    assert_eq!(analysis.findings[0].code, "wrong-data");
}

#[test]
fn samples_become_median_p95_and_cv() {
    let analysis = analysed(vec![
        point(64, &[10.0, 12.0, 11.0, 13.0, 30.0]),
        point(128, &[9.0]),
    ]);
    let five = &analysis.points[0];
    assert_eq!(
        (five.samples, five.median.get(), five.stable),
        (5, 12.0, Some(false))
    );
    assert!((five.p95.unwrap().get() - 26.6).abs() < 1e-9);
    assert!((five.cv_pct.unwrap() - 54.92).abs() < 0.1);
    let one = &analysis.points[1];
    assert_eq!(
        (one.samples, one.p95, one.cv_pct, one.stable),
        (1, None, None, None)
    );
}

#[test]
fn a_bandwidth_alone_gives_the_time() {
    let mut from_algbw = point(1_000_000, &[1.0]);
    from_algbw.samples[0] = Sample {
        time: None,
        algbw: Some(GbPerSec::new(50.0)),
        ..sample(1.0)
    };
    let mut from_busbw = point(3_000_000, &[1.0]);
    // Four ranks: busbw = 1.5 algbw.
    from_busbw.samples[0] = Sample {
        time: None,
        busbw: Some(GbPerSec::new(75.0)),
        ..sample(1.0)
    };
    let mut nothing = point(4_000_000, &[1.0]);
    nothing.samples[0] = Sample {
        time: None,
        ..sample(1.0)
    };
    let analysis = analysed(vec![from_algbw, from_busbw, nothing]);
    let times: Vec<f64> = analysis
        .points
        .iter()
        .map(|point| point.median.get())
        .collect();
    assert!((times[0] - 20.0).abs() < 1e-9 && (times[1] - 60.0).abs() < 1e-9);
    assert_eq!(times.len(), 2);
    assert!(
        analysis
            .findings
            .iter()
            .any(|finding| finding.code == "no-time")
    );
}

#[test]
fn a_trace_is_joined_by_size_and_collective() {
    let path = |protocol| Path {
        algorithm: Algorithm::Ring,
        protocol,
    };
    let selection = |collective, bytes, protocol| Selection {
        collective,
        bytes: Bytes::new(bytes),
        path: path(protocol),
        time: None,
        channels: None,
        line: 1,
        repeats: 1,
    };
    let trace = [
        selection(None, 1, Protocol::Ll),
        selection(Some(Collective::Broadcast), 2, Protocol::Ll),
        selection(Some(Collective::AllReduce), 4, Protocol::Simple),
        selection(None, 4, Protocol::Ll),
        selection(None, 8, Protocol::Ll),
        selection(None, 8, Protocol::Simple),
    ];
    let series = series(powers([5.0; 5].into_iter()));
    let analysis = analyze(&series, 0, &trace, &AnalysisOptions::STANDARD);
    let paths: Vec<Option<Path>> = analysis.points.iter().map(|point| point.path).collect();
    assert_eq!(
        paths,
        [
            Some(path(Protocol::Ll)),
            None,
            Some(path(Protocol::Simple)),
            None,
            None
        ],
        "another collective's line, and two that disagree, are not used"
    );
    assert!(
        analysis
            .findings
            .iter()
            .any(|finding| finding.code == "ambiguous-selection")
    );
    assert!(
        analysis
            .findings
            .iter()
            .any(|finding| finding.code == "path-unknown")
    );
}

#[test]
fn a_logged_part_of_one_rank_is_joined_at_the_whole_message() {
    let part = Selection {
        collective: Some(Collective::AllGather),
        bytes: Bytes::new(2),
        path: Path {
            algorithm: Algorithm::Ring,
            protocol: Protocol::Ll,
        },
        time: None,
        channels: Some((0, 1)),
        line: 1,
        repeats: 1,
    };
    let mut gathered = series(powers([5.0; 5].into_iter()));
    gathered.collective = Some(Collective::AllGather);
    let analysis = analyze(&gathered, 0, &[part], &AnalysisOptions::STANDARD);
    let with_path: Vec<u64> = analysis
        .points
        .iter()
        .filter(|point| point.path.is_some())
        .map(|point| point.bytes.get())
        .collect();
    assert_eq!(with_path, [8], "2 bytes from each of 4 ranks");
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let number = || {
        prop_oneof![
            3 => 0.1..1e6_f64,
            1 => proptest::num::f64::ANY,
            1 => Just(0.0),
        ]
    };
    let wrong = prop_oneof![
        Just(Wrong::NotChecked),
        any::<u64>().prop_map(Wrong::Elements),
        proptest::num::f64::ANY.prop_map(Wrong::LargestError),
    ];
    let optional = |rate: Option<f64>| rate.map(GbPerSec::new);
    (
        proptest::option::of(number()),
        proptest::option::of(number()),
        proptest::option::of(number()),
        wrong,
    )
        .prop_map(move |(time, algbw, busbw, wrong)| Sample {
            time: time.map(Micros::new),
            algbw: optional(algbw),
            busbw: optional(busbw),
            wrong,
            line: 0,
        })
}

fn any_point() -> impl Strategy<Value = Point> {
    let bytes = prop_oneof![
        (0_u32..35).prop_map(|power| 1_u64 << power),
        any::<u64>(),
        Just(0)
    ];
    let path = proptest::option::of((0_usize..17, 0_usize..3)).prop_map(|path| {
        path.map(|(algorithm, protocol)| Path {
            algorithm: Algorithm::ALL[algorithm],
            protocol: Protocol::ALL[protocol],
        })
    });
    let published = proptest::option::of((proptest::num::f64::ANY, proptest::num::f64::ANY));
    (
        bytes,
        proptest::collection::vec(any_sample(), 0..4),
        path,
        published,
    )
        .prop_map(|(bytes, samples, path, published)| Point {
            bytes: Bytes::new(bytes),
            count: None,
            samples,
            iterations: Vec::new(),
            published: published.map(|(median, cv)| PublishedStats {
                samples: Some(7),
                median: Micros::new(median),
                p95: Some(Micros::new(cv)),
                cv_pct: Some(cv),
            }),
            path,
            tuner: Some(Micros::new(published.map_or(1.0, |(_, tuner)| tuner))),
        })
}

fn any_series() -> impl Strategy<Value = Series> {
    let ranks = prop_oneof![
        any::<u32>().prop_map(Ranks::Stated),
        (any::<u32>(), any::<u32>()).prop_map(|(low, high)| Ranks::Estimated { low, high }),
        Just(Ranks::Unknown),
    ];
    let collective = proptest::option::of((0_usize..11).prop_map(|i| Collective::ALL[i]));
    (
        proptest::collection::vec(any_point(), 0..16),
        ranks,
        collective,
        proptest::option::of(any::<u32>()),
    )
        .prop_map(|(points, ranks, collective, nodes)| Series {
            collective,
            ranks,
            nodes,
            ..series(points)
        })
}

fn run(series: Vec<Series>) -> Run {
    Run {
        setup: RunSetup {
            aggregated_iterations: Some(20),
            ..RunSetup::default()
        },
        series,
        footer: None,
        end: RunEnd::Unfinished,
        rows: 0,
        first_line: 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_series_panics(one in any_series(), other in any_series()) {
        let options = AnalysisOptions { line_rate: Some(GbPerSec::new(450.0)), ..AnalysisOptions::STANDARD };
        let run = run(vec![one.clone(), other.clone()]);
        let analyses = analyze_run(&run, 0, &[], &options);
        for analysis in &analyses {
            for fit in &analysis.fits {
                if let Some(line) = fit.line {
                    prop_assert!(line.alpha.get() >= 0.0 && line.beta.get() > 0.0);
                    prop_assert!(line.alpha.get().is_finite() && line.beta.get().is_finite());
                }
                prop_assert!(fit.verdict != Verdict::Validated || fit.points >= 4);
                prop_assert!(!fit.why.is_empty());
            }
            let _ = fit_range(&analysis.points, Bytes::new(0), Bytes::new(1 << 20), Loss::Absolute);
        }
        let side = |index: usize, series| ComparedRun {
            series,
            analysis: &analyses[index],
            setup: &run.setup,
            correctness: Correctness::NotStated,
            end: &run.end,
        };
        let _ = compare(&side(0, &one), &side(1, &other), &CompareOptions::STANDARD);
        let _ = compare(&side(0, &one), &side(0, &one), &CompareOptions::STANDARD);
    }
}
