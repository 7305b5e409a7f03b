//! The event-driven engine, calibrated, on the two machines of source document 003, held against
//! the document's own figures: in sample, since theirs are, with what was held out beside.

use tier6_fit::{AnalysisOptions, analyze_run};
use tier6_measure::{read, read_index};
use tier6_study::{
    Engine, Errors, Holdout, MeasuredSet, SetValidation, document_figures, validate,
};
use tier6_system::preset;

fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/measurements");
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

fn validated(id: &str, system: &str) -> SetValidation {
    let index = read_index(&text("INDEX.tsv")).value;
    let facts = index.iter().find(|facts| facts.id == id).unwrap();
    let mut options = facts.read_options();
    options.columns = vec![("time".to_owned(), "measured_us".to_owned())];
    let file = text(&format!("{id}.csv"));
    let dataset = read(file.as_bytes(), &options).unwrap().value;
    let series = analyze_run(&dataset.runs[0], 0, &[], &AnalysisOptions::STANDARD);
    let mut set = MeasuredSet::new(id, &series[0], None);
    set.system = Some(preset(system).unwrap());
    let mut report = validate(&[set], Holdout::Alternate, &[Engine::G5, Engine::Math]);
    report.sets.remove(0)
}

/// Most RMSPE in sample above 64 MiB and over all sizes, in percent.
fn check(id: &str, system: &str, large_pct: f64, overall_pct: f64) {
    let set = validated(id, system);
    let of = |engine: Engine| set.scores.iter().find(|it| it.engine == engine).unwrap();
    let say = |what: &str, errors: Errors| {
        let percent = |error: Option<f64>| error.map_or("-".to_owned(), |it| format!("{it:.1}"));
        let (large, overall) = (percent(errors.large), percent(errors.overall));
        eprintln!("{id} {what}: above 64 MiB {large} %, overall {overall} %");
    };
    for engine in [Engine::G5, Engine::Math] {
        say(
            &format!("{} in sample", engine.name()),
            of(engine).in_sample,
        );
        say(&format!("{} held out", engine.name()), of(engine).held_out);
    }
    for figure in document_figures(id) {
        eprintln!("{id} document: {figure}");
    }
    assert!(set.unscored.is_empty(), "{:?}", set.unscored);
    let errors = of(Engine::G5).in_sample;
    let (large, overall) = (errors.large.unwrap(), errors.overall.unwrap());
    assert!(
        large <= large_pct,
        "above 64 MiB {large:.2} %, at most {large_pct}"
    );
    assert!(
        overall <= overall_pct,
        "overall {overall:.2} %, at most {overall_pct}"
    );
}

/// With NVLS, which the document leaves out: it has 10.4 % above 64 MiB.
#[test]
fn h200_is_met_with_what_its_switches_do() {
    check("s3_h200_ar_8gpu", "h200-x8", 5.0, 10.0);
}

/// The document has 6.1 % above 64 MiB.
#[test]
fn a100_is_met() {
    check("s3_a100_ar_8gpu", "a100-x8", 4.0, 10.0);
}
