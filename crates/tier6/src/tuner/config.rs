//! A tuner configuration file from forced sweeps.

use super::choose::no_charts;
use super::sweep::{ReadSweeps, read_sweeps};
use super::{Tuner, chain, split_hint};
use crate::{Error, Exit, Form, Progress};
use tier6_measure::ReadOptions;
use tier6_nccl::{Dialect, LintContext, lint_config, read_config};
use tier6_report::{ConfigReport, config_csv, config_json, config_markdown, config_table};
use tier6_study::{
    ConfigError, ConfigOptions, Ll128, Sweep, config_from_sweeps, group_sweeps, write_plans,
};

/// What to make a file of.
#[derive(Debug, Clone)]
pub struct ConfigRequest<'a> {
    /// Measurements, forced and not.
    pub files: &'a [String],
    /// The dialect to write.
    pub dialect: Dialect,
    /// The communicator that was measured, when known.
    pub tuner: Option<&'a Tuner>,
    /// The least gain per size that is worth a further row, in percent.
    pub margin_pct: f64,
    /// Whether LL128 may be written without proof.
    pub ll128: Ll128,
    /// What the measurements do not say.
    pub reading: &'a ReadOptions,
}

/// Makes the rows and the text of a file; writes nothing.
///
/// # Errors
///
/// When no input can be read, when no path that may be written is known, or when the dialect
/// cannot say what the rows say.
pub fn make_config(
    request: &ConfigRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<(ConfigReport, Vec<Error>), Error> {
    let ReadSweeps {
        sweeps,
        mut failures,
        ..
    } = read_sweeps(request.files, &[], request.reading, progress)?;
    match config_of(sweeps, request) {
        Ok(report) => Ok((report, failures)),
        // What is left may be too little only because of the run that was left out.
        Err(error) => {
            let wrong = failures
                .iter()
                .position(|failure| failure.exit() == Exit::No);
            Err(wrong.map_or(error, |at| failures.swap_remove(at)))
        }
    }
}

fn config_of(sweeps: Vec<Sweep>, request: &ConfigRequest<'_>) -> Result<ConfigReport, Error> {
    let table = request.tuner.map(|tuner| &tuner.table);
    let options = ConfigOptions {
        table,
        margin_pct: request.margin_pct,
        ll128: request.ll128,
    };
    // Runs that NCCL chose for alone say nothing of other paths.
    let (forced, own): (Vec<_>, Vec<_>) = group_sweeps(sweeps)
        .into_iter()
        .partition(|group| group.iter().any(|sweep| !sweep.forced.is_nothing()));
    let notes = own.iter().filter(|_| !forced.is_empty()).map(|group| {
        let labels: Vec<&str> = group.iter().map(|sweep| sweep.label.as_str()).collect();
        format!(
            "not used, as nothing is forced in its call: {}",
            labels.join(", ")
        )
    });
    let mut notes: Vec<String> = notes.collect();
    let groups = if forced.is_empty() { own } else { forced };
    let mut plans = Vec::new();
    let mut idle = None;
    for group in &groups {
        match config_from_sweeps(group, &options) {
            Ok(plan) => plans.push(plan),
            // Other calls may still gain.
            Err(error @ ConfigError::SlowerThanOwnChoice { .. }) => {
                notes.push(chain(&error));
                idle = Some(error);
            }
            Err(error) => return Err(no_rows(&error)),
        }
    }
    if let Some(error) = idle.filter(|_| plans.is_empty()) {
        return Err(no_rows(&error));
    }
    let text = write_plans(&plans, request.dialect, table).map_err(|error| {
        let (message, hint) = split_hint(&chain(&error));
        Error::Domain { message, hint }
    })?;
    let written = read_config(&text, request.dialect);
    let context = LintContext {
        table,
        release: None,
        variables: Vec::new(),
    };
    Ok(ConfigReport {
        dialect: request.dialect,
        findings: lint_config(&written, &context),
        rules: written.rules.len(),
        plans,
        text,
        notes,
    })
}

fn no_rows(error: &ConfigError) -> Error {
    let (message, hint) = split_hint(&chain(error));
    match error {
        ConfigError::NoSweeps
        | ConfigError::NoPaths
        | ConfigError::DifferentCalls { .. }
        | ConfigError::SlowerThanOwnChoice { .. } => Error::Nothing { message, hint },
        ConfigError::AllRefused(_) => Error::Domain { message, hint },
    }
}

/// Renders what speaks for a file.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_config(report: &ConfigReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(config_table(report, style, detail)),
        Form::Json => Ok(config_json(report)),
        Form::Csv => Ok(config_csv(report)),
        Form::Markdown => Ok(config_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}
