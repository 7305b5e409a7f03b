//! Calibrated systems on published sweeps: larger numbers of ranks predicted from smaller ones, and
//! all sizes from five planned ones. The numbers stand in `data/measurements`.

use tier6_fit::{AnalysisOptions, analyze_run};
use tier6_measure::{read, read_index};
use tier6_study::{
    Engine, Group, MeasuredSet, Score, SetValidation, Tier, ValidationReport, validate,
};
use tier6_system::preset;

fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/measurements");
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

/// A published sweep on its system, of a family that the tests name.
fn load(id: &str, family: &str) -> MeasuredSet {
    let index = read_index(&text("INDEX.tsv")).value;
    let facts = index.iter().find(|facts| facts.id == id).unwrap();
    let dataset = read(text(&format!("{id}.csv")).as_bytes(), &facts.read_options()).unwrap();
    let series = analyze_run(&dataset.value.runs[0], 0, &[], &AnalysisOptions::STANDARD);
    let mut set = MeasuredSet::of_input(id, &series).remove(0);
    set.forced_by(facts.env_flags.split_whitespace());
    let systems = text("SYSTEMS.tsv");
    let line = systems.lines().filter_map(|line| line.split_once('\t'));
    let system = line
        .clone()
        .find(|(set, _)| *set == id)
        .map(|(_, name)| name);
    set.system = system.map(|name| preset(name).unwrap());
    set.family = Some(family.to_owned());
    set
}

fn held_out(scheme: &str, sets: &[MeasuredSet], engines: &[Engine]) -> ValidationReport {
    validate(sets, scheme.parse().unwrap(), engines)
}

fn math(set: &SetValidation) -> &Score {
    let score = set.score(Engine::Math).unwrap();
    assert!(score.held_out.overall.is_some(), "{:?}", set.unscored);
    score
}

#[test]
fn the_largest_number_of_ranks_is_predicted_from_the_smaller_ones() {
    let ids = [
        "a100_ag_8gpu_2node_polaris_221_env5",
        "a100_ag_2160gpu_540node_polaris_221_env5",
        "a100_ag_32gpu_8node_polaris_221_env5",
    ];
    let sets: Vec<MeasuredSet> = ids.iter().map(|id| load(id, "one machine")).collect();
    let report = held_out("ranks", &sets, &[Engine::Fit, Engine::Math]);
    let [set] = report.sets.as_slice() else {
        panic!("one set is held out: {:?}", report.sets);
    };
    let from = set.from_ranks.as_ref().unwrap();
    assert_eq!((set.id.as_str(), from.ranks), (ids[1], 2160));
    assert_eq!(
        (from.trained_on.as_slice(), from.trained_ranks.as_slice()),
        (&[ids[0].to_owned(), ids[2].to_owned()][..], &[8, 32][..])
    );
    assert!((from.scale() - 67.5).abs() < 1e-12);
    let score = math(set);
    let (error, interval) = (score.held_out.overall.unwrap(), score.interval.unwrap());
    eprintln!("{error:.1} %, {interval:?}");
    assert!(error < 25.0 && interval.inside_pct >= 50.0, "{score:?}");
    // What knows one sweep alone has no answer, and says so.
    for engine in [Engine::Fit, Engine::OneLine, Engine::LogLog] {
        assert_eq!(
            set.score(engine).unwrap().held_out.overall,
            None,
            "{engine:?}"
        );
    }
    assert_eq!(
        set.unscored,
        ["fit: knows the sizes of a sweep, not its ranks"]
    );
    let groups: Vec<Group> = report.groups.iter().map(|one| one.group).collect();
    assert_eq!(groups, [Group::Tier(Tier::Two), Group::FromSeveralNumbers]);
}

#[test]
fn five_planned_sizes_predict_the_others_better_than_straight_lines() {
    let ids = [
        "h100_ar_16gpu_2node_efa_p5_2024",
        "l40s_ar_2gpu_default1_yumibyte",
        "l40s_ar_4gpu_ring_yumibyte",
        "gh200_ar_4gpu_1node_alps_ofi1130",
        "h200_ar_8gpu_azure",
    ];
    let sets: Vec<MeasuredSet> = ids.iter().map(|id| load(id, "")).collect();
    let report = held_out("plan:5", &sets, &[Engine::Math]);
    assert_eq!(report.sets.len(), ids.len());
    for set in &report.sets {
        let lines = set.score(Engine::LogLog).unwrap().held_out.overall.unwrap();
        let ours = math(set).held_out.overall.unwrap();
        eprintln!("{}: {ours:.1} %, straight lines {lines:.1} %", set.id);
    }
    let median = |engine| {
        report
            .summary
            .engine(engine)
            .unwrap()
            .held_out
            .unwrap()
            .median
    };
    assert!(median(Engine::Math) < median(Engine::LogLog));
}

#[test]
fn sizes_are_planned_on_a_system() {
    let mut set = load("h200_ar_8gpu_azure", "");
    set.system = None;
    let report = held_out("plan:5", &[set], &[Engine::Fit]);
    assert_eq!(
        report.excluded[0].reason,
        "no system describes its machine, so no sizes can be chosen"
    );
}
