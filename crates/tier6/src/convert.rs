//! Any readable input in a format that other tools read.

use crate::{Error, Input, Progress, input};
use std::path::PathBuf;
use tier6_measure::{
    Dataset, ReadOptions, Warning, to_json_lines, to_nccl_tests_text, to_tier6_csv,
};

/// What to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertForm {
    /// tier6's CSV: one sheet per call signature.
    Csv,
    /// The table of nccl-tests.
    NcclTests,
    /// One JSON object per sample.
    JsonLines,
}

/// A converted input.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The texts with their names; more than one only for CSV of several call signatures.
    pub sheets: Vec<(String, String)>,
    /// What the reader skipped or doubted.
    pub warnings: Vec<Warning>,
}

/// Reads one input and writes it in another format.
///
/// # Errors
///
/// When the input cannot be read or holds no measured size.
pub fn convert(
    file: &str,
    form: ConvertForm,
    reading: &ReadOptions,
    progress: &mut dyn Progress,
) -> Result<Converted, Error> {
    let input = if file == "-" {
        Input::Stdin
    } else {
        Input::File(PathBuf::from(file))
    };
    let parsed = input::read(&input, reading, progress)?;
    if parsed.value.runs.iter().all(|run| run.series.is_empty()) {
        return Err(Error::NothingMeasured {
            inputs: format!("`{file}`"),
            instead: None,
        });
    }
    Ok(Converted {
        sheets: sheets(&parsed.value, form),
        warnings: parsed.warnings,
    })
}

fn sheets(dataset: &Dataset, form: ConvertForm) -> Vec<(String, String)> {
    let single = |text| vec![("measurements".to_owned(), text)];
    match form {
        ConvertForm::Csv => to_tier6_csv(dataset)
            .into_iter()
            .map(|sheet| (sheet.name, sheet.text))
            .collect(),
        ConvertForm::NcclTests => single(to_nccl_tests_text(dataset)),
        ConvertForm::JsonLines => single(to_json_lines(dataset)),
    }
}
