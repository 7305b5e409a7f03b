//! Validation of small sets whose errors can be worked out by hand.

use tier6_fit::KnownPoint;
use tier6_study::{
    Cause, Engine, Errors, Group, Holdout, MeasuredSet, SetValidation, Tier, validate, validate_by,
};
use tier6_units::{Bytes, Micros};

/// Sizes of 1 KiB, 2 KiB, 4 KiB and so on.
fn set(id: &str, times: &[f64]) -> MeasuredSet {
    let points = times.iter().enumerate();
    MeasuredSet {
        id: id.to_owned(),
        tier: None,
        points: points
            .map(|(power, us)| KnownPoint::new(Bytes::new(1024 << power), Micros::new(*us)))
            .collect(),
        left_out: Vec::new(),
        call: None,
        system: None,
        family: None,
    }
}

fn validated(set: MeasuredSet, scheme: &str) -> SetValidation {
    let mut report = validate(&[set], scheme.parse().unwrap(), &[Engine::Fit]);
    report.sets.remove(0)
}

fn held_out(set: &SetValidation, engine: Engine) -> Errors {
    set.score(engine).unwrap().held_out
}

fn close(got: Option<f64>, want: f64) {
    let got = got.unwrap();
    assert!((got - want).abs() < 1e-9, "{got} is not {want}");
}

/// 10 us + 1 us per KiB.
const LINE: [f64; 7] = [11.0, 12.0, 14.0, 18.0, 26.0, 42.0, 74.0];

#[test]
fn a_line_is_predicted_by_lines_and_missed_by_log_log() {
    let set = validated(set("line", &LINE), "alternate");
    for engine in [Engine::Fit, Engine::OneLine, Engine::SegmentLines] {
        close(held_out(&set, engine).overall, 0.0);
    }
    // Held out are 12, 18 and 42; log-log gives the geometric means of their neighbours.
    let misses = [
        (11.0 * 14.0, 12.0),
        (14.0 * 26.0, 18.0),
        (26.0 * 74.0, 42.0),
    ];
    let squares = misses.map(|(product, truth): (f64, f64)| (product.sqrt() / truth - 1.0).powi(2));
    let want = 100.0 * (squares.iter().sum::<f64>() / 3.0).sqrt();
    close(held_out(&set, Engine::LogLog).overall, want);
    close(held_out(&set, Engine::LogLog).small, want);
    assert_eq!(held_out(&set, Engine::LogLog).medium, None);
    assert_eq!(set.placement_noise_pct, None);
}

#[test]
fn bands_and_the_large_scheme_part_at_their_borders() {
    // 1 KiB to 256 MiB at 1 us per KiB: small to 512 KiB, medium to 64 MiB, two large sizes.
    let times: Vec<f64> = (0..19).map(|power| f64::from(1 << power)).collect();
    let alternate = held_out(&validated(set("a", &times), "alternate"), Engine::Fit);
    assert!(alternate.small.is_some() && alternate.medium.is_some() && alternate.large.is_some());
    let large = held_out(&validated(set("a", &times), "large"), Engine::Fit);
    assert_eq!((large.small, large.medium), (None, None));
    close(large.large, 0.0);
}

#[test]
fn held_out_sizes_do_not_leak_through_the_other_placement() {
    let plain = set("a", &[11.0, 12.0, 14.0, 30.0, 26.0, 42.0, 74.0]);
    let mut witnessed = plain.clone();
    // The other placement of a held-out size says something absurd.
    witnessed.points[3].other_placement = Some(Micros::new(1.0));
    let error = |set| held_out(&validated(set, "alternate"), Engine::Fit);
    assert_eq!(error(witnessed), error(plain));
}

#[test]
fn noise_is_the_difference_of_placements() {
    let mut set = set("a", &LINE);
    for point in &mut set.points {
        point.other_placement = Some(Micros::new(point.time.get() * 1.04));
    }
    close(validated(set, "alternate").placement_noise_pct, 4.0);
}

#[test]
fn known_bad_and_short_sets_are_named_with_their_reason() {
    // The sizes of this set are bad from 512 MiB: one of 20.
    let times: Vec<f64> = (0..20).map(|power| f64::from(1 << power)).collect();
    let sets = vec![
        set("mi350x_ar_8gpu_mpi", &times),
        set("gh200_ar_16gpu_4node_olivia_corrupt", &times),
        set("few", &times[..4]),
    ];
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    assert_eq!(report.sets.len(), 1);
    assert_eq!(report.sets[0].points, 19);
    assert!(report.sets[0].left_out[0].starts_with("sizes from 512 MiB: 1 ("));
    let excluded: Vec<_> = report
        .excluded
        .iter()
        .map(|set| set.reason.as_str())
        .collect();
    assert_eq!(
        excluded,
        [
            "the run moved wrong data",
            "4 sizes: too few for `alternate`"
        ]
    );
    let causes: Vec<Cause> = report.excluded.iter().map(|set| set.cause).collect();
    assert_eq!(causes, [Cause::KnownBad, Cause::Scheme]);
    assert_eq!(report.summary.sets, 1);
}

#[test]
fn tiers_are_summed_up_apart() {
    let of_tier = |tier: Tier, slope: f64| {
        let times: Vec<f64> = (0..16).map(|n| 10.0 + slope * f64::from(1 << n)).collect();
        MeasuredSet {
            tier: Some(tier),
            ..set("a", &times)
        }
    };
    let mut sets = vec![
        of_tier(Tier::Single, 0.0),
        of_tier(Tier::Two, 0.1),
        of_tier(Tier::Two, 0.1),
    ];
    sets.push(set("unknown", &[1.0; 16]));
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    let groups: Vec<(Group, usize)> = report
        .groups
        .iter()
        .map(|one| (one.group, one.summary.sets))
        .collect();
    assert_eq!(
        groups,
        [(Group::Tier(Tier::Single), 1), (Group::Tier(Tier::Two), 2)]
    );
    assert_eq!(report.summary.sets, 4);
    let log_log = |at: usize| {
        let row = report.groups[at].summary.engine(Engine::LogLog).unwrap();
        row.held_out.unwrap()
    };
    let (single, two) = (log_log(0), log_log(1));
    close(
        held_out(&report.sets[0], Engine::LogLog).overall,
        single.median,
    );
    close(held_out(&report.sets[1], Engine::LogLog).overall, two.p90);
    close(Some(single.median), 0.0);
    assert!(two.median > 1.0, "{two:?}");
}

#[test]
fn workers_change_nothing() {
    let sets: Vec<MeasuredSet> = (0_u32..5)
        .map(|at| set(&format!("set {at}"), &LINE.map(|time| time + f64::from(at))))
        .collect();
    let alone = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    let backwards = |count: usize, job: &(dyn Fn(usize) + Sync)| (0..count).rev().for_each(job);
    let report = validate_by(&sets, Holdout::Alternate, &[Engine::Fit], &backwards);
    assert_eq!(report, alone);
}

#[test]
fn nothing_to_validate_is_an_empty_report() {
    let report = validate(&[], Holdout::KFold(5), &[Engine::Fit]);
    assert!(report.sets.is_empty() && report.excluded.is_empty());
    assert_eq!(report.summary.sets, 0);
    assert!(
        report
            .summary
            .engines
            .iter()
            .all(|row| row.held_out.is_none())
    );
}
