//! `tier6 convert`.

use crate::args::{Convert, ConvertFormat};
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use std::path::{Path, PathBuf};
use tier6::{ConvertForm, Exit};

pub fn run(options: &Convert, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(options)?;
    meaning::inputs([&options.file], options.output.as_deref())?;
    let reading = meaning::reading(&options.reading)?;
    let converted = tier6::convert(&options.file, form, &reading, &mut *terminal.progress())?;
    for warning in &converted.warnings {
        terminal.warning(&format!("{}: {warning}", options.file));
    }
    let several = converted.sheets.len() > 1;
    if several && options.output.is_none() {
        return Err(Failure::Usage {
            message: format!(
                "`{}` holds {} tables, a CSV holds one",
                options.file,
                converted.sheets.len()
            ),
            hint: Some(
                "`-o FILE.csv` writes a file for each; `--format jsonl` holds all".to_owned(),
            ),
        });
    }
    for (name, text) in &converted.sheets {
        let file = options.output.as_deref().map(|file| {
            if several {
                beside(file, name)
            } else {
                file.to_owned()
            }
        });
        terminal.deliver(text, file.as_deref())?;
    }
    Ok(Exit::Done)
}

/// `out.csv` for the sheet `all_reduce_8` becomes `out-all_reduce_8.csv`.
fn beside(file: &Path, name: &str) -> PathBuf {
    let stem = file
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    file.with_file_name(format!("{stem}-{name}.csv"))
}

fn form(options: &Convert) -> Result<ConvertForm, Failure> {
    let suffix = options
        .output
        .as_deref()
        .and_then(Path::extension)
        .map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    match (options.format, suffix.as_deref()) {
        (Some(ConvertFormat::Csv), _) | (None, Some("csv")) => Ok(ConvertForm::Csv),
        (Some(ConvertFormat::Txt), _) | (None, Some("txt" | "log") | None) => {
            Ok(ConvertForm::NcclTests)
        }
        (Some(ConvertFormat::Jsonl), _) | (None, Some("jsonl")) => Ok(ConvertForm::JsonLines),
        (None, Some(suffix)) => Err(Failure::Usage {
            message: format!("the suffix `.{suffix}` does not name a format"),
            hint: Some("use .csv, .txt or .jsonl, or add `--format`".to_owned()),
        }),
    }
}
