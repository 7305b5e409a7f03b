//! Whole sweeps held out, on made-up sweeps whose growth with the ranks is known.

use tier6_collective::Collective;
use tier6_fit::{Call, KnownPoint};
use tier6_study::{Engine, Group, MeasuredSet, SetValidation, ValidationReport, validate};
use tier6_units::{Bytes, Micros};

/// 1 KiB to 16 KiB at ranks^power us per KiB.
fn sweep(family: &str, ranks: u32, power: f64) -> MeasuredSet {
    let time = |size: u32| f64::from(ranks).powf(power) * f64::from(1 << size);
    MeasuredSet {
        id: format!("{family}_{ranks}"),
        tier: None,
        points: (0..5)
            .map(|size| KnownPoint::new(Bytes::new(1024 << size), Micros::new(time(size))))
            .collect(),
        left_out: Vec::new(),
        call: Some(Call {
            collective: Collective::AllReduce,
            algorithm: None,
            protocol: None,
            ranks,
            nodes: 1,
        }),
        system: None,
        family: Some(family.to_owned()),
    }
}

fn held_out(scheme: &str, sets: &[MeasuredSet]) -> ValidationReport {
    validate(sets, scheme.parse().unwrap(), &[Engine::Math])
}

fn line(set: &SetValidation) -> f64 {
    let score = set.score(Engine::LogLogRanks).unwrap();
    score.held_out.overall.unwrap()
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-9, "{got} is not {want}");
}

/// Scheme, and per held-out set what it comes from.
fn check(scheme: &str, expect: &[(&str, &[u32])]) {
    let sets = [16, 4, 2, 8].map(|ranks| sweep("a", ranks, 1.0));
    let report = held_out(scheme, &sets);
    let got: Vec<(&str, &[u32])> = report
        .sets
        .iter()
        .map(|set| {
            let from = set.from_ranks.as_ref().unwrap();
            (set.id.as_str(), from.trained_ranks.as_slice())
        })
        .collect();
    assert_eq!(got, expect, "{scheme}");
}

#[test]
fn the_largest_or_all_above_a_limit_are_held_out() {
    check("ranks", &[("a_16", &[2, 4, 8])]);
    check("ranks:4", &[("a_8", &[2, 4]), ("a_16", &[2, 4])]);
    check("ranks:15", &[("a_16", &[2, 4, 8])]);
    check("ranks:16", &[]);
}

#[test]
fn a_power_of_the_ranks_is_prolonged_and_one_number_repeated() {
    let sets = [4, 8, 32].map(|ranks| sweep("a", ranks, 1.5));
    let report = held_out("ranks", &sets);
    close(line(&report.sets[0]), 0.0);
    assert!((report.sets[0].from_ranks.as_ref().unwrap().scale() - 4.0).abs() < 1e-12);
    let report = held_out("ranks", &[sweep("a", 4, 0.5), sweep("a", 16, 0.5)]);
    // Twice as long as at 4 ranks.
    close(line(&report.sets[0]), 50.0);
    let groups: Vec<Group> = report.groups.iter().map(|one| one.group).collect();
    assert_eq!(groups, [Group::FromOneNumber]);
}

#[test]
fn families_do_not_mix() {
    let mut other = sweep("a", 8, 0.0);
    other.call.as_mut().unwrap().collective = Collective::AllGather;
    other.id = "gather".to_owned();
    let mut unknown = sweep("a", 4, 0.0);
    unknown.family = None;
    unknown.id = "unknown".to_owned();
    let mut bad = sweep("a", 4, 0.0);
    bad.id = "gh200_ar_16gpu_4node_olivia_corrupt".to_owned();
    let sets = vec![
        sweep("b", 2, 0.0),
        other,
        bad,
        unknown,
        sweep("b", 4, 0.0),
        sweep("a", 4, 0.0),
    ];
    let report = held_out("ranks", &sets);
    let ids: Vec<&str> = report.sets.iter().map(|set| set.id.as_str()).collect();
    assert_eq!(ids, ["b_4"]);
    let alone = "no set of its family has another number of ranks";
    let excluded: Vec<(&str, &str)> = report
        .excluded
        .iter()
        .map(|set| (set.id.as_str(), set.reason.as_str()))
        .collect();
    assert_eq!(
        excluded,
        [
            ("gather", alone),
            (
                "gh200_ar_16gpu_4node_olivia_corrupt",
                "the run moved wrong data"
            ),
            (
                "unknown",
                "what was measured is not known well enough to find its family"
            ),
            ("a_4", alone),
        ]
    );
}

#[test]
fn an_engine_without_a_system_says_so() {
    let report = held_out("ranks", &[sweep("a", 4, 1.0), sweep("a", 8, 1.0)]);
    assert_eq!(
        report.sets[0].unscored,
        ["math: no system describes its machine"]
    );
    assert_eq!(
        report.sets[0].score(Engine::Math).unwrap().held_out.overall,
        None
    );
}
