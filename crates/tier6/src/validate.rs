//! How well models predict sizes that they were not fitted on.

use crate::analyze::Inputs;
use crate::{Error, Exit, Form, Progress, bundled};
use tier6_fit::{AnalysisOptions, SeriesAnalysis, analyze_run};
use tier6_measure::{Dataset, ReadOptions};
use tier6_report::{validation_csv, validation_json, validation_markdown, validation_table};
use tier6_study::{Holdout, MeasuredSet, ValidationReport};

/// Validates on the given inputs, or on the bundled measurements when there are none.
///
/// # Errors
///
/// When no input can be read, or none holds a measured size.
pub fn validate(
    files: &[String],
    holdout: Holdout,
    reading: &ReadOptions,
    progress: &mut dyn Progress,
) -> Result<(ValidationReport, Vec<Error>), Error> {
    let mut sets = Vec::new();
    let mut failures = Vec::new();
    if files.is_empty() {
        for set in bundled::sets() {
            let parsed = set.read()?;
            sets.extend(sets_of(set.id, &parsed.value));
        }
    } else {
        let inputs = Inputs::read(files, reading, progress)?;
        for (input, parsed) in &inputs.read {
            sets.extend(sets_of(&input.id(), &parsed.value));
        }
        failures = inputs.failures;
    }
    if sets.is_empty() {
        return Err(failures.pop().unwrap_or_else(|| Error::NothingMeasured {
            inputs: files.join(", "),
            instead: None,
        }));
    }
    Ok((tier6_study::validate(&sets, holdout), failures))
}

/// Returns the exit code of a validation: unreadable inputs first, then a scheme that no set has
/// enough sizes for.
pub fn validation_exit(report: &ValidationReport, failures: &[Error]) -> Exit {
    match (failures.is_empty(), report.sets.is_empty()) {
        (false, _) => Exit::Input,
        (true, true) => Exit::Nothing,
        (true, false) => Exit::Done,
    }
}

/// Takes what is fit for scoring of one data set.
fn sets_of(id: &str, dataset: &Dataset) -> Vec<MeasuredSet> {
    let trace = &dataset.trace.selections;
    let runs = dataset.runs.iter().enumerate();
    let analyses: Vec<SeriesAnalysis> = runs
        .flat_map(|(index, run)| analyze_run(run, index, trace, &AnalysisOptions::STANDARD))
        .collect();
    MeasuredSet::of_input(id, &analyses)
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
