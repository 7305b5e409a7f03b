//! How well models predict sizes that they were not fitted on.

use crate::analyze::Inputs;
use crate::bundled::Bundled;
use crate::input::Input;
use crate::systems::LoadedSystem;
use crate::{Error, Exit, Form, Progress, bundled};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tier6_collective::DataType;
use tier6_fit::{AnalysisOptions, SeriesAnalysis, analyze_run};
use tier6_measure::{Correctness, Dataset, ReadOptions, Run, RunSetup};
use tier6_report::{validation_csv, validation_json, validation_markdown, validation_table};
use tier6_study::{Engine, Holdout, MeasuredSet, Role, ValidationReport, validate_by};
use tier6_system::{SystemSpec, preset};

/// What to hold against what.
#[derive(Debug, Clone)]
pub struct ValidateRequest<'a> {
    /// Files, folders, patterns; none for the bundled measurements.
    pub files: &'a [String],
    /// Which sizes are held out.
    pub holdout: Holdout,
    /// The engines, beside the yardsticks.
    pub engines: &'a [Engine],
    /// A preset's name or a file: the machine that all inputs were measured on. The bundled
    /// measurements name theirs.
    pub system: Option<&'a str>,
    /// What the inputs do not say themselves.
    pub reading: &'a ReadOptions,
}

/// Validates on the given inputs, or on the bundled measurements when there are none.
///
/// # Errors
///
/// When no input can be read, none holds a measured size, or Math or G5 is asked for without a system.
pub fn validate(
    request: &ValidateRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<(ValidationReport, Vec<Error>), Error> {
    let files = request.files;
    let named = request.system.map(LoadedSystem::of).transpose()?;
    let named = named.map(|system| system.spec);
    let mut sets = Vec::new();
    let mut failures = Vec::new();
    if files.is_empty() {
        for set in bundled::sets() {
            let dataset = set.read()?.value;
            let analyses = analyses_of(&dataset);
            sets.extend(of_bundled(&set, &dataset, &analyses, named.as_ref()));
        }
    } else {
        let inputs = Inputs::read(files, request.reading, progress)?;
        failures = inputs.failures;
        for (input, parsed) in &inputs.read {
            let dataset = &parsed.value;
            let (analyses, wrong) = right_analyses_of(&input.id(), dataset);
            failures.extend(wrong);
            if let Some(set) = bundled_copy(input, request.reading) {
                needs_system(request, input, named.is_some() || set.system.is_some())?;
                sets.extend(of_bundled(&set, dataset, &analyses, named.as_ref()));
            } else {
                needs_system(request, input, named.is_some())?;
                sets.extend(sets_of(&input.id(), dataset, &analyses, named.as_ref()));
            }
        }
    }
    if sets.is_empty() {
        return Err(failures.pop().unwrap_or_else(|| Error::NothingMeasured {
            inputs: files.join(", "),
            instead: None,
        }));
    }
    let report = validate_by(&sets, request.holdout, request.engines, &on_all_cores);
    Ok((report, failures))
}

/// Returns the sweeps of a bundled set, on the machine that is named, else on its own.
fn of_bundled(
    set: &Bundled,
    dataset: &Dataset,
    analyses: &[SeriesAnalysis],
    named: Option<&SystemSpec>,
) -> Vec<MeasuredSet> {
    let own = set.system.and_then(|name| preset(name).ok());
    let system = named.cloned().or(own);
    let mut found = sets_of(set.id, dataset, analyses, system.as_ref());
    for sweep in &mut found {
        sweep.forced_by(set.flags().split_whitespace());
        sweep.family = set.family();
    }
    found
}

/// Returns the bundled set that an input is a copy of, of which more is known than it says; unless
/// the caller says how to read it.
fn bundled_copy(input: &Input, reading: &ReadOptions) -> Option<Bundled> {
    match input {
        Input::File(path) | Input::Found(path) if *reading == ReadOptions::default() => {
            bundled::copied(path, &input.id())
        }
        Input::Stdin | Input::File(_) | Input::Found(_) => None,
    }
}

/// Runs jobs on as many threads as the machine has cores; the next free one takes the next job.
fn on_all_cores(count: usize, job: &(dyn Fn(usize) + Sync)) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..cores.min(count) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    job(at);
                }
            });
        }
    });
}

/// Refuses what cannot be answered without the system that was measured.
fn needs_system(request: &ValidateRequest<'_>, input: &Input, is_known: bool) -> Result<(), Error> {
    let on_system = |engine: &&Engine| matches!(engine, Engine::Math | Engine::G5);
    let engine = request.engines.iter().find(on_system);
    let message = match (engine, request.holdout) {
        (_, _) if is_known => return Ok(()),
        (Some(engine), _) => {
            let name = engine.name();
            let input = input.name();
            format!("engine `{name}` needs the system that `{input}` was measured on")
        }
        (None, Holdout::Plan(_)) => {
            format!(
                "`--holdout {}` chooses sizes on the system that was measured",
                request.holdout
            )
        }
        (None, Holdout::Alternate | Holdout::Large | Holdout::KFold(_) | Holdout::Ranks(_)) => {
            return Ok(());
        }
    };
    Err(Error::Usage {
        message,
        hint: Some("add `--system NAME`; `tier6 systems` lists them".to_owned()),
    })
}

/// Returns the exit code of a validation: wrong data first, then unreadable inputs, then a scheme
/// that no set has enough sizes for.
pub fn validation_exit(report: &ValidationReport, failures: &[Error]) -> Exit {
    let scored = if report.sets.is_empty() {
        Exit::Nothing
    } else {
        Exit::Done
    };
    Error::exit_of(failures, scored)
}

/// Takes what is fit for scoring of one data set.
fn sets_of(
    id: &str,
    dataset: &Dataset,
    analyses: &[SeriesAnalysis],
    system: Option<&SystemSpec>,
) -> Vec<MeasuredSet> {
    let sweeps = MeasuredSet::pairs(id, analyses).into_iter();
    let set = |(name, scored, other): (String, &SeriesAnalysis, Option<&SeriesAnalysis>)| {
        let setup = &dataset.runs[scored.run].setup;
        let words = words_of(setup);
        let mut set = MeasuredSet::new(name, scored, other);
        set.forced_by(words.iter().map(String::as_str));
        set.family = Some(family_of(setup, scored, &words));
        set.system = system.cloned();
        set
    };
    sweeps.map(set).collect()
}

/// Returns what a run's environment sets, but for what is written to a log.
fn words_of(setup: &RunSetup) -> Vec<String> {
    let matters = |(name, _): &&(String, String)| !name.starts_with("NCCL_DEBUG");
    let environment = setup.environment.iter().filter(matters);
    let mut words: Vec<String> = environment
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    words.sort();
    words
}

/// Returns what sweeps of several numbers of ranks share, when they are measured to be held
/// against each other: the library, the environment and the type of the data.
fn family_of(setup: &RunSetup, series: &SeriesAnalysis, words: &[String]) -> String {
    let version = setup.library_version;
    let library = version.map_or("not stated".to_owned(), |version| version.to_string());
    let environment = match words {
        [] => "default".to_owned(),
        words => words.join(" "),
    };
    let datatype = series.datatype.map_or("no type stated", DataType::name);
    format!("library {library}, {environment}, {datatype}")
}

/// Analyses every series of a data set with the standard limits.
fn analyses_of(dataset: &Dataset) -> Vec<SeriesAnalysis> {
    let trace = &dataset.trace.selections;
    let runs = dataset.runs.iter().enumerate();
    runs.flat_map(|(index, run)| analyze_run(run, index, trace, &AnalysisOptions::STANDARD))
        .collect()
}

/// Analyses the runs of a data set that did not move wrong data, and names the others: what their
/// other sizes took says nothing of the machine.
pub(crate) fn right_analyses_of(id: &str, dataset: &Dataset) -> (Vec<SeriesAnalysis>, Vec<Error>) {
    let is_failed = |run: &Run| run.correctness() == Correctness::Failed;
    let mut analyses = analyses_of(dataset);
    analyses.retain(|analysis| !is_failed(&dataset.runs[analysis.run]));
    let failed = dataset.runs.iter().enumerate();
    let failed = failed.filter(|(_, run)| is_failed(run));
    let wrong = failed.map(|(index, run)| Error::wrong_data(label(id, index, dataset), run));
    (analyses, wrong.collect())
}

/// Names a run: by its input, and by its place where the input holds several.
fn label(id: &str, index: usize, dataset: &Dataset) -> String {
    if dataset.runs.len() > 1 {
        format!("{id}#{}", index + 1)
    } else {
        id.to_owned()
    }
}

/// Reads the name of an engine.
///
/// # Errors
///
/// When it is none, with the names.
pub fn parse_engine(text: &str) -> Result<Engine, Error> {
    let offered = Engine::ALL
        .into_iter()
        .filter(|engine| engine.role() == Role::Engine);
    let mut known = offered.clone();
    known.find(|engine| engine.name() == text).ok_or_else(|| {
        let names: Vec<&str> = offered.map(Engine::name).collect();
        Error::Usage {
            message: format!("unknown engine `{text}`"),
            hint: Some(format!("one of {}", names.join(", "))),
        }
    })
}

/// Renders a validation. It has no charts: SVG and HTML are not among its forms.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_validation(report: &ValidationReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(validation_table(report, style, detail)),
        Form::Json => Ok(validation_json(report)),
        Form::Csv => Ok(validation_csv(report)),
        Form::Markdown => Ok(validation_markdown(report)),
        Form::Svg | Form::Html => Err(Error::Usage {
            message: "a validation has no charts".to_owned(),
            hint: Some("use table, json, csv or md".to_owned()),
        }),
    }
}
