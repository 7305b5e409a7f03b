//! From files to sweeps: measured runs with what was forced in them.
//!
//! What was forced is taken from the environment that a run states, else from its command, else
//! from the index beside the file, else from the file's name. The sheet of NVIDIA's
//! `optimize_config.py` says it in every row.

use super::{chain, split_hint};
use crate::input::{self, Input, facts_of};
use crate::text::read_text;
use crate::{Error, Progress};
use tier6_fit::{AnalysisOptions, analyze_run};
use tier6_measure::{
    Correctness, Dataset, LibraryVersion, Parsed, ReadError, ReadOptions, Run, Selection,
};
use tier6_study::{Forced, ForcedError, Sweep, read_performance_csv, sweeps_of_run};

/// Sweeps, and the inputs that could not be read.
#[derive(Default)]
pub(super) struct ReadSweeps {
    pub(super) sweeps: Vec<Sweep>,
    /// The version that a run states, the first one.
    pub(super) version: Option<LibraryVersion>,
    pub(super) failures: Vec<Error>,
    /// Labels of runs with the variables that they state beside what is forced: `NAME=VALUE`.
    pub(super) variables: Vec<(String, String)>,
}

/// Reads sweeps; `selections` say which path ran where the inputs do not.
///
/// # Errors
///
/// When no input can be read, none holds a measured size, or an environment forces more than one
/// path.
pub(super) fn read_sweeps(
    files: &[String],
    selections: &[Selection],
    reading: &ReadOptions,
    progress: &mut dyn Progress,
) -> Result<ReadSweeps, Error> {
    let mut found = ReadSweeps::default();
    for file in input::expand(files)? {
        if let Some(sweeps) = performance_sheet(&file) {
            found.sweeps.extend(sweeps);
            continue;
        }
        match (input::read(&file, reading, progress), &file) {
            (Ok(parsed), _) => found.add(&file, &parsed, selections)?,
            // A folder brings other files along.
            (
                Err(Error::Read {
                    source:
                        ReadError::NotRecognised { .. }
                        | ReadError::NotDialect { .. }
                        | ReadError::Packed { .. }
                        | ReadError::Empty,
                    ..
                }),
                Input::Found(_),
            ) => {}
            (Err(error), _) => found.failures.push(error),
        }
    }
    if found.sweeps.is_empty() {
        return Err(found.failures.pop().unwrap_or(Error::NothingMeasured {
            inputs: files.join(", "),
            instead: None,
        }));
    }
    Ok(found)
}

/// Reads the sheet of NVIDIA's script; `None` for any other file.
fn performance_sheet(file: &Input) -> Option<Vec<Sweep>> {
    let (Input::File(path) | Input::Found(path)) = file else {
        return None;
    };
    path.extension().filter(|suffix| *suffix == "csv")?;
    let text = read_text(&file.name()).ok()?;
    read_performance_csv(&text).map(|sheet| sheet.sweeps)
}

impl ReadSweeps {
    fn add(
        &mut self,
        file: &Input,
        parsed: &Parsed<Dataset>,
        selections: &[Selection],
    ) -> Result<(), Error> {
        let dataset = &parsed.value;
        let own = &dataset.trace.selections;
        let trace = if selections.is_empty() {
            own
        } else {
            selections
        };
        let malformed = |error: &dyn std::error::Error| {
            let (message, hint) = split_hint(&chain(error));
            let path = file.name();
            Error::Malformed {
                path,
                message,
                hint,
            }
        };
        for (index, run) in dataset.runs.iter().enumerate() {
            let analyses: Vec<_> = analyze_run(run, index, trace, &AnalysisOptions::STANDARD)
                .into_iter()
                .filter(|analysis| !analysis.points.is_empty())
                .collect();
            if analyses.is_empty() {
                continue;
            }
            let label = label(file, index, dataset.runs.len());
            if run.correctness() == Correctness::Failed {
                // A path that moves wrong data is not fast at any size.
                self.failures.push(Error::wrong_data(label, run));
                continue;
            }
            let forced = forced(file, run).map_err(|error| malformed(&error))?;
            let sweeps =
                sweeps_of_run(&label, forced, &analyses).map_err(|error| malformed(&error))?;
            self.sweeps.extend(sweeps);
            let stated = variables(file, run).into_iter();
            self.variables
                .extend(stated.map(|variable| (label.clone(), variable)));
            self.version = self.version.or(run.setup.library_version);
        }
        Ok(())
    }
}

fn label(file: &Input, run: usize, runs: usize) -> String {
    if runs > 1 {
        format!("{}#{}", file.id(), run + 1)
    } else {
        file.id()
    }
}

/// Returns the variables of NCCL that the run or the index beside its file states, but for the
/// forced algorithm and protocol.
fn variables(file: &Input, run: &Run) -> Vec<String> {
    let environment = run.setup.environment.iter();
    let mut stated: Vec<String> = environment
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if let Input::File(path) | Input::Found(path) = file
        && let Some(facts) = facts_of(path)
    {
        stated.extend(facts.env_flags.split_whitespace().map(str::to_owned));
    }
    stated.retain(|variable| {
        let is_forced = ["NCCL_ALGO=", "NCCL_PROTO="]
            .iter()
            .any(|name| variable.starts_with(name));
        variable.starts_with("NCCL_") && variable.contains('=') && !is_forced
    });
    stated.sort();
    stated.dedup();
    stated
}

fn forced(file: &Input, run: &Run) -> Result<Forced, ForcedError> {
    let pairs = run.setup.environment.iter();
    let pairs = pairs.map(|(name, value)| (name.as_str(), value.as_str()));
    let mut forced = Forced::from_env(pairs)?;
    if let Some(command) = run.setup.command.as_deref().filter(|_| forced.is_nothing()) {
        forced = Forced::from_flags(command)?;
    }
    let (Input::File(path) | Input::Found(path)) = file else {
        return Ok(forced);
    };
    if forced.is_nothing() {
        forced = match facts_of(path) {
            Some(facts) => Forced::from_flags(&facts.env_flags)?,
            None => Forced::from_file_name(&file.id()).unwrap_or(forced),
        };
    }
    Ok(forced)
}
