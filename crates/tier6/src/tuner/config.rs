//! A tuner configuration file from forced sweeps.

use super::choose::no_charts;
use super::sweep::{Sweeps, read_sweeps};
use super::{Tuner, chain, split_hint};
use crate::{Error, Form, Progress};
use tier6_measure::ReadOptions;
use tier6_nccl::{Dialect, LintContext, lint_config, read_config};
use tier6_report::{ConfigReport, config_csv, config_json, config_markdown, config_table};
use tier6_study::{
    ConfigError, ConfigOptions, Ll128, config_from_sweeps, group_sweeps, write_plans,
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
    let Sweeps {
        sweeps, failures, ..
    } = read_sweeps(request.files, &[], request.reading, progress)?;
    let table = request.tuner.map(|tuner| &tuner.table);
    let options = ConfigOptions {
        table,
        margin_pct: request.margin_pct,
        ll128: request.ll128,
    };
    let plans = group_sweeps(sweeps)
        .iter()
        .map(|group| config_from_sweeps(group, &options).map_err(|error| no_rows(&error)))
        .collect::<Result<Vec<_>, _>>()?;
    let text = write_plans(&plans, request.dialect, table).map_err(|error| {
        let (message, hint) = split_hint(&chain(&error));
        Error::Domain { message, hint }
    })?;
    let written = read_config(&text, request.dialect);
    let context = LintContext {
        table,
        variables: Vec::new(),
    };
    let report = ConfigReport {
        dialect: request.dialect,
        findings: lint_config(&written, &context),
        rules: written.rules.len(),
        plans,
        text,
    };
    Ok((report, failures))
}

fn no_rows(error: &ConfigError) -> Error {
    let (message, hint) = split_hint(&chain(error));
    match error {
        ConfigError::NoSweeps | ConfigError::NoPaths | ConfigError::DifferentCalls { .. } => {
            Error::Nothing { message, hint }
        }
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
