//! The held-out error over all published measurements, against yardsticks of the same run.
//!
//! The CSV is read here by a few lines of its own, not by `tier6-measure`: a fault of that reader
//! must not pass as an error of the model, nor hide one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tier6_fit::KnownPoint;
use tier6_stats::median;
use tier6_study::{Engine, Holdout, MeasuredSet, Spread, Tier, ValidationReport, validate};
use tier6_units::{Bytes, Micros};

/// Names of the time and wrong columns of the scored placement, then of the other one.
type Columns = [&'static str; 4];

const OUT_OF_PLACE: Columns = ["oop_time_us", "oop_wrong", "ip_time_us", "ip_wrong"];
const IN_PLACE: Columns = ["ip_time_us", "ip_wrong", "oop_time_us", "oop_wrong"];

fn folder() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["data/measurements", "../shared/data"].map(|place| workspace.join(place));
    let found = places
        .iter()
        .find(|place| place.join("INDEX.tsv").is_file());
    let found = found.expect("neither data/measurements nor ../shared/data is there");
    eprintln!("measurements of {}", found.display());
    found.clone()
}

fn sets(columns: Columns) -> Vec<MeasuredSet> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "csv"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            set(path.file_stem().unwrap().to_str().unwrap(), &text, columns)
        })
        .collect()
}

fn set(id: &str, text: &str, columns: Columns) -> MeasuredSet {
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let rows: Vec<Vec<&str>> = rows.collect();
    let [own, own_wrong, other, other_wrong] = columns;
    let named = |name: &str| head.iter().position(|column| *column == name);
    // The tables of the source documents have one time and no check.
    let own = if named("oop_time_us").is_some() {
        own
    } else {
        ["median_us", "measured_us"]
            .into_iter()
            .find(|name| named(name).is_some())
            .unwrap_or(own)
    };
    let times = times(&head, &rows, own, own_wrong);
    let others = self::times(&head, &rows, other, other_wrong);
    let middle = |times: &Vec<f64>| Micros::new(median(times).unwrap());
    MeasuredSet {
        id: id.to_owned(),
        tier: Some(if id.contains("node") {
            Tier::Two
        } else {
            Tier::Single
        }),
        points: times
            .iter()
            .map(|(bytes, times)| KnownPoint {
                other_placement: others.get(bytes).map(middle),
                ..KnownPoint::new(Bytes::new(*bytes), middle(times))
            })
            .collect(),
        left_out: Vec::new(),
        call: None,
        system: None,
        family: None,
    }
}

fn times(head: &[&str], rows: &[Vec<&str>], time: &str, wrong: &str) -> BTreeMap<u64, Vec<f64>> {
    let named = |name: &str| head.iter().position(|column| *column == name);
    let mut found: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let (Some(size), Some(time)) = (named("size_bytes"), named(time)) else {
        return found;
    };
    for row in rows {
        // Old nccl-tests print a rounding error there, which is small.
        let bad = named(wrong)
            .and_then(|column| row[column].parse::<f64>().ok())
            .is_some_and(|wrong| wrong.abs() >= 1e-3);
        let Ok(us) = row[time].parse::<f64>() else {
            continue;
        };
        if !bad && us > 0.0 {
            let bytes = row[size].parse().unwrap();
            found.entry(bytes).or_default().push(us);
        }
    }
    found
}

fn held_out(report: &ValidationReport, engine: Engine) -> Spread {
    let row = report.summary.engine(engine).unwrap();
    row.held_out.unwrap()
}

/// Share of the held-out times inside the band, in percent, in the median set.
fn coverage(report: &ValidationReport) -> f64 {
    let fit = report.summary.engine(Engine::Fit).unwrap();
    fit.inside_pct.unwrap()
}

fn print(title: &str, report: &ValidationReport) {
    let line = |spread: Option<Spread>| {
        spread.map_or("-".to_owned(), |s| {
            format!("{:6.2} {:6.2} {:6.2}", s.median, s.p75, s.p90)
        })
    };
    let summary = &report.summary;
    eprintln!(
        "{title}: {} sets; held out (median, p75, p90) | in sample",
        summary.sets
    );
    for row in &summary.engines {
        eprintln!(
            "  {:24} {} | {}",
            row.engine.title(),
            line(row.held_out),
            line(row.in_sample)
        );
    }
    eprintln!(
        "  {:24} {}",
        "placement noise",
        line(summary.placement_noise)
    );
    eprintln!("  band covers {:.1} % (median set)", coverage(report));
}

/// Every yardstick is worse in the median and at the 75th and 90th percentile.
fn beats_the_yardsticks(report: &ValidationReport) {
    let fit = held_out(report, Engine::Fit);
    for yardstick in [Engine::OneLine, Engine::SegmentLines, Engine::LogLog] {
        let other = held_out(report, yardstick);
        assert!(
            fit.median < other.median,
            "{yardstick:?}: {fit:?} {other:?}"
        );
        assert!(fit.p75 < other.p75, "{yardstick:?}: {fit:?} {other:?}");
        assert!(fit.p90 < other.p90, "{yardstick:?}: {fit:?} {other:?}");
    }
}

#[test]
fn every_second_size_is_predicted_better_than_by_interpolation() {
    let mut sets = sets(OUT_OF_PLACE);
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    print("out of place, alternate", &report);
    beats_the_yardsticks(&report);
    let fit = held_out(&report, Engine::Fit);
    assert!(
        fit.median < 9.2 && fit.p75 < 16.0 && fit.p90 < 25.0,
        "{fit:?}"
    );
    let coverage = coverage(&report);
    assert!(
        (85.0..=100.0).contains(&coverage),
        "band covers {coverage} %"
    );
    assert!(report.summary.sets >= 170, "{}", report.summary.sets);
    assert!(report.excluded.iter().any(|set| set.id.starts_with("xla_")));

    for set in &mut sets {
        set.points.retain({
            let first = set.points.first().map(|point| point.bytes);
            move |point| Some(point.bytes) != first
        });
    }
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    print("out of place, alternate from the second size", &report);
    beats_the_yardsticks(&report);
}

#[test]
fn the_other_placement_is_predicted_as_well() {
    let report = validate(&sets(IN_PLACE), Holdout::Alternate, &[Engine::Fit]);
    print("in place, alternate", &report);
    beats_the_yardsticks(&report);
}

#[test]
fn one_placement_alone_is_enough() {
    let mut sets = sets(OUT_OF_PLACE);
    for point in sets.iter_mut().flat_map(|set| &mut set.points) {
        point.other_placement = None;
    }
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    print("out of place without the other placement", &report);
    beats_the_yardsticks(&report);
}

#[test]
fn folds_and_large_sizes_are_predicted() {
    let sets = sets(OUT_OF_PLACE);
    for scheme in ["kfold:2", "kfold:5", "large"] {
        let holdout: Holdout = scheme.parse().unwrap();
        let report = validate(&sets, holdout, &[Engine::Fit]);
        print(scheme, &report);
        let fit = held_out(&report, Engine::Fit);
        let log_log = held_out(&report, Engine::LogLog);
        assert!(
            fit.median < log_log.median && fit.p90 < log_log.p90,
            "{scheme}: {fit:?} {log_log:?}"
        );
    }
}

#[test]
fn sets_of_few_sizes_are_scored_but_not_counted() {
    let sets = sets(OUT_OF_PLACE);
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    let few = report
        .sets
        .iter()
        .filter(|set| set.points < Holdout::Alternate.summary_sizes_min())
        .count();
    assert!(few > 0);
    assert_eq!(report.sets.len(), report.summary.sets + few);
    assert_eq!(report.sets.len() + report.excluded.len(), sets.len());
}

#[test]
fn short_sweeps_do_no_worse_than_interpolation() {
    let sets = sets(OUT_OF_PLACE);
    let report = validate(&sets, Holdout::Alternate, &[Engine::Fit]);
    let mut errors: Vec<(f64, f64)> = Vec::new();
    for set in report
        .sets
        .iter()
        .filter(|set| set.points < Holdout::Alternate.summary_sizes_min())
    {
        let overall = |engine| {
            let score = set.score(engine).unwrap();
            score.held_out.overall.unwrap()
        };
        errors.push((overall(Engine::Fit), overall(Engine::LogLog)));
    }
    let middle = |errors: Vec<f64>| median(&errors).unwrap();
    let fit = middle(errors.iter().map(|(fit, _)| *fit).collect());
    let log_log = middle(errors.iter().map(|(_, log_log)| *log_log).collect());
    eprintln!(
        "{} short sets: fit {fit:.2}, log-log {log_log:.2}",
        errors.len()
    );
    assert!(fit <= log_log);
}
