//! Comparisons of seeded synthetic runs: no false alarms beyond the stated rate, and every kind
//! of change found under its own name.

#[path = "compare/synthetic.rs"]
mod synthetic;

use synthetic::{Change, Synthetic, base};
use tier6_fit::{
    Cause, CompareError, CompareOptions, ComparisonVerdict, SegmentComparison, SeriesComparison,
    compare,
};
use tier6_measure::{Correctness, Ranks, RunEnd};
use tier6_units::Micros;

fn compared(base: &Synthetic, new: &Synthetic) -> SeriesComparison {
    compare(&base.side(), &new.side(), &CompareOptions::STANDARD).expect("comparable")
}

fn segment<'a>(comparison: &'a SeriesComparison, label: &str) -> &'a SegmentComparison {
    let found = comparison
        .segments
        .iter()
        .find(|segment| segment.label.to_string() == label);
    found.unwrap_or_else(|| panic!("no segment {label} in {comparison:#?}"))
}

/// Verdict and cause of every segment, for one aligned look.
fn outcome(comparison: &SeriesComparison) -> Vec<String> {
    let cause = |segment: &SegmentComparison| segment.cause.map_or("-", Cause::name);
    comparison
        .segments
        .iter()
        .map(|segment| format!("{} {} {}", segment.label, segment.verdict, cause(segment)))
        .collect()
}

#[test]
fn noise_raises_no_more_alarms_than_allowed() {
    for (noise, cycles) in [(0.02, 10), (0.10, 10), (0.03, 3), (0.25, 5), (0.03, 1)] {
        let mut alarms = 0;
        for seed in 0..200 {
            let old = base().noise(noise).cycles(cycles).seed(2 * seed);
            let new = base().noise(noise).cycles(cycles).seed(2 * seed + 1);
            let verdict = compared(&old.build(), &new.build()).verdict;
            alarms += u32::from(verdict == ComparisonVerdict::Regressed);
        }
        // Five percent of 200, both directions together; three standard deviations above is 19.
        assert!(
            alarms <= 10,
            "{alarms} alarms at a noise of {noise} with {cycles} cycles"
        );
    }
}

#[test]
fn published_statistics_raise_no_more_alarms_either() {
    let mut alarms = 0;
    for seed in 0..200 {
        let old = base().noise(0.1).published().seed(2 * seed).build();
        let new = base().noise(0.1).published().seed(2 * seed + 1).build();
        alarms += u32::from(compared(&old, &new).verdict == ComparisonVerdict::Regressed);
    }
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn quiet_runs_are_called_unchanged() {
    let mut unchanged = 0;
    for seed in 0..50 {
        let old = base().seed(1000 + seed).build();
        let new = base().seed(2000 + seed).build();
        unchanged += u32::from(compared(&old, &new).verdict == ComparisonVerdict::Unchanged);
    }
    assert!(unchanged >= 45, "{unchanged} of 50");
}

#[test]
fn noisy_runs_are_not_called_unchanged() {
    let mut undecided = 0;
    for seed in 0..50 {
        let old = base().noise(0.4).cycles(3).seed(2 * seed).build();
        let new = base().noise(0.4).cycles(3).seed(2 * seed + 1).build();
        let verdict = compared(&old, &new).verdict;
        assert_ne!(verdict, ComparisonVerdict::Unchanged);
        undecided += u32::from(verdict == ComparisonVerdict::Undecided);
    }
    assert!(undecided >= 45, "{undecided} of 50");
}

#[test]
fn the_same_file_twice_is_unchanged() {
    for cycles in [1, 2, 10] {
        let run = base().cycles(cycles).build();
        let same = compared(&run, &run);
        assert_eq!(
            same.verdict,
            ComparisonVerdict::Unchanged,
            "{cycles}: {same:#?}"
        );
    }
}

#[test]
fn three_microseconds_more_are_a_fixed_cost() {
    for seed in 0..50 {
        let old = base().seed(2 * seed).build();
        let new = base()
            .seed(2 * seed + 1)
            .change(Change::FixedCost(3.0))
            .build();
        let comparison = compared(&old, &new);
        let ll = segment(&comparison, "ring+ll");
        assert_eq!(ll.verdict, ComparisonVerdict::Regressed, "{ll:#?}");
        assert_eq!(ll.cause, Some(Cause::FixedCost), "{ll:#?}");
        assert!((ll.delta_alpha.unwrap().get() - 3.0).abs() < 0.6, "{ll:#?}");
        assert_eq!(comparison.verdict, ComparisonVerdict::Regressed);
    }
}

#[test]
fn ten_percent_less_bandwidth_is_bandwidth() {
    for seed in 0..50 {
        let old = base().seed(2 * seed).build();
        let new = base()
            .seed(2 * seed + 1)
            .change(Change::Bandwidth(0.9))
            .build();
        let comparison = compared(&old, &new);
        let simple = segment(&comparison, "ring+simple");
        assert_eq!(simple.verdict, ComparisonVerdict::Regressed, "{simple:#?}");
        assert_eq!(simple.cause, Some(Cause::Bandwidth), "{simple:#?}");
        assert!(
            (simple.delta_beta_pct.unwrap() + 10.0).abs() < 3.0,
            "{simple:#?}"
        );
    }
}

#[test]
fn an_improvement_is_an_improvement() {
    let old = base().seed(1).build();
    let new = base().seed(2).change(Change::Bandwidth(1.2)).build();
    let comparison = compared(&old, &new);
    let simple = segment(&comparison, "ring+simple");
    assert_eq!(simple.verdict, ComparisonVerdict::Improved);
    assert_eq!(simple.cause, Some(Cause::Bandwidth));
    assert_eq!(comparison.verdict, ComparisonVerdict::Improved);
}

#[test]
fn a_switch_that_comes_later_is_selection() {
    for seed in 0..50 {
        let old = base().seed(2 * seed).build();
        let new = base()
            .seed(2 * seed + 1)
            .change(Change::SimpleFrom(26))
            .build();
        let comparison = compared(&old, &new);
        // Two sizes of LL128 with 2 % noise may leave room for doubt, but not for a regression.
        let outcome = outcome(&comparison);
        assert_eq!(outcome.len(), 4, "{outcome:?}");
        assert_eq!(outcome[0], "ring+ll unchanged -");
        assert_eq!(outcome[2], "ring+simple regressed selection");
        assert!(!outcome[1].contains("regressed") && !outcome[3].contains("regressed"));
        assert!(
            comparison.segments[2]
                .evidence
                .contains("ring+simple to ring+ll128")
        );
    }
}

#[test]
fn without_paths_a_moved_switch_is_found_too() {
    let old = base().seed(1).without_paths().noise(0.003).build();
    let new = base()
        .seed(2)
        .without_paths()
        .noise(0.003)
        .change(Change::SimpleFrom(26))
        .build();
    let comparison = compared(&old, &new);
    assert_eq!(comparison.verdict, ComparisonVerdict::Regressed);
    let causes: Vec<Cause> = comparison.segments.iter().filter_map(|s| s.cause).collect();
    assert_eq!(causes, [Cause::Selection], "{comparison:#?}");
}

#[test]
fn a_longer_tail_over_equal_medians_is_tail() {
    let mut found = 0;
    for seed in 0..15 {
        let old = base().seed(2 * seed).build();
        let new = base()
            .seed(2 * seed + 1)
            .change(Change::Tail {
                share: 0.15,
                factor: 1.8,
            })
            .build();
        let comparison = compared(&old, &new);
        let ll = segment(&comparison, "ring+ll");
        if ll.verdict == ComparisonVerdict::Regressed {
            assert_eq!(ll.cause, Some(Cause::Tail), "{ll:#?}");
            found += 1;
        }
    }
    assert!(found >= 13, "{found} of 15");
}

#[test]
fn published_statistics_show_a_tail() {
    let old = base().published().seed(1).build();
    let new = base()
        .published()
        .seed(2)
        .change(Change::Tail {
            share: 0.15,
            factor: 1.8,
        })
        .build();
    let comparison = compared(&old, &new);
    let tails = comparison
        .segments
        .iter()
        .filter(|s| s.cause == Some(Cause::Tail))
        .count();
    assert!(tails >= 1, "{comparison:#?}");
}

#[test]
fn medians_alone_need_a_shift_far_outside_the_scatter() {
    let run = |seed: u64, us: f64| {
        base()
            .cycles(1)
            .noise(0.03)
            .seed(seed)
            .change(Change::FixedCost(us))
            .build()
    };
    let mut undecided = 0;
    for seed in 0..50 {
        let small = compared(&run(2 * seed, 0.0), &run(2 * seed + 1, 0.6));
        undecided += u32::from(small.verdict == ComparisonVerdict::Undecided);
        assert!(segment(&small, "ring+ll").evidence.contains("only medians"));
        let large = compared(&run(2 * seed, 0.0), &run(2 * seed + 1, 9.0));
        assert_eq!(large.verdict, ComparisonVerdict::Regressed);
        assert_eq!(segment(&large, "ring+ll").cause, Some(Cause::FixedCost));
    }
    assert!(undecided >= 45, "{undecided} of 50");
}

#[test]
fn one_spike_of_one_sample_is_not_a_regression() {
    for seed in 0..20 {
        let quiet = |seed| base().cycles(1).noise(0.01).seed(seed).build();
        let mut spiked = quiet(2 * seed + 1);
        for sample in &mut spiked.series.points[5].samples {
            sample.time = sample.time.map(|time| Micros::new(3.0 * time.get()));
        }
        spiked.refresh();
        let comparison = compared(&quiet(2 * seed), &spiked);
        assert_ne!(
            comparison.verdict,
            ComparisonVerdict::Regressed,
            "seed {seed}"
        );
    }
}

#[test]
fn wrong_data_fails_whatever_the_speed() {
    let good = base().seed(1).build();
    for wrong in [
        base().seed(2).wrong_at(4).build(),
        good.clone().correctness(Correctness::Failed),
    ] {
        assert_eq!(compared(&good, &wrong).verdict, ComparisonVerdict::Failed);
        assert_eq!(compared(&wrong, &good).verdict, ComparisonVerdict::Failed);
    }
}

#[test]
fn a_run_that_aborted_fails_whatever_the_speed() {
    let good = base().seed(1).build();
    let mut aborted = base().seed(2).build();
    aborted.end = RunEnd::Aborted {
        hosts: Vec::new(),
        message: "node7 failed".to_owned(),
    };
    let comparison = compared(&good, &aborted);
    assert_eq!(comparison.verdict, ComparisonVerdict::Failed);
    assert_eq!(comparison.faults, ["the new run aborted: node7 failed"]);
    assert_eq!(
        compared(&aborted, &good).faults,
        ["the baseline aborted: node7 failed"]
    );
}

#[test]
fn what_one_side_lacks_is_named() {
    let run = base().build();
    let mut cut = base().seed(2).build();
    cut.end = RunEnd::Unfinished;
    cut.series.collective = None;
    let sizes = cut.series.points.len();
    cut.series.points.truncate(sizes - 2);
    cut.refresh();
    let comparison = compared(&run, &cut);
    assert_eq!(comparison.unmatched_sizes, 2);
    assert_eq!(
        comparison.warnings,
        [
            "the new run is unfinished, or its end was cut off",
            "the collective is not certain on both sides",
            "2 sizes only in the baseline: 512 MiB, 1 GiB",
        ]
    );
}

#[test]
fn what_differs_in_identity_is_refused_or_named() {
    let run = base().build();
    let compare =
        |other: &Synthetic| compare(&run.side(), &other.side(), &CompareOptions::STANDARD);
    let mut other = run.clone();
    other.series.ranks = Ranks::Stated(8);
    other.refresh();
    assert!(matches!(compare(&other), Err(CompareError::Ranks { .. })));
    let mut other = run.clone();
    other.series.collective = Some(tier6_collective::Collective::AllGather);
    other.refresh();
    assert!(matches!(
        compare(&other),
        Err(CompareError::Collective { .. })
    ));
    let mut other = run.clone();
    other.series.points.clear();
    other.refresh();
    assert_eq!(compare(&other), Err(CompareError::NoCommonSize));
    let mut other = run.clone();
    other.setup.aggregated_iterations = Some(100);
    other.setup.graph_launches = Some(10);
    other.setup.blocking = Some("1".to_owned());
    other.series.datatype = Some(tier6_collective::DataType::Half);
    let mut run_with_header = run.clone();
    run_with_header.setup.header_seen = true;
    run_with_header.setup.blocking = Some("0".to_owned());
    let warnings = tier6_fit::compare(
        &run_with_header.side(),
        &other.side(),
        &CompareOptions::STANDARD,
    )
    .unwrap()
    .warnings;
    for words in [
        "data type",
        "operations per group",
        "graph launches",
        "blocking mode",
    ] {
        assert!(
            warnings.iter().any(|warning| warning.contains(words)),
            "{words}: {warnings:?}"
        );
    }
}
