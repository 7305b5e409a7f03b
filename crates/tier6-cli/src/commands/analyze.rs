//! `tier6 analyze`.

use crate::args::{Analyze, Loss};
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{AnalyzeRequest, Detail, Exit};

pub fn run(options: &Analyze, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    let inputs = || options.files.iter().chain(&options.logs);
    meaning::inputs(inputs(), file)?;
    let predict = options.predict.as_deref().map(meaning::sizes).transpose()?;
    let request = AnalyzeRequest {
        files: options.files.clone(),
        logs: options.logs.clone(),
        reading: meaning::reading(&options.reading)?,
        options: meaning::analysis_options(&options.model)?,
        loss: loss(options.model.loss),
        placement: options.placement.map(meaning::placement),
        range: options
            .range
            .as_deref()
            .map(meaning::size_interval)
            .transpose()?,
        predict,
    };
    let analyzed = tier6::analyze(&request, &mut *terminal.progress())?;
    for failure in &analyzed.failures {
        terminal.failure(failure);
    }
    if !analyzed.ignored.is_empty() {
        terminal.note(&ignored(&analyzed.ignored));
    }
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let text = tier6::render_analysis(&analyzed.report, terminal.form(format, detail, file));
    terminal.deliver(&text, file)?;
    Ok(analyzed.exit())
}

/// The most files that are named one by one.
const NAMED_MAX: usize = 5;

/// Names the files that a folder or a pattern brought along and that are something else.
fn ignored(files: &[String]) -> String {
    let named = files[..files.len().min(NAMED_MAX)].join(", ");
    match files.len() {
        1 => format!("1 file is no measurement: {named}"),
        count @ ..=NAMED_MAX => format!("{count} files are no measurements: {named}"),
        count => format!(
            "{count} files are no measurements: {named} and {} more",
            count - NAMED_MAX
        ),
    }
}

/// Returns the loss as meant.
pub fn loss(loss: Loss) -> tier6::Loss {
    match loss {
        Loss::Relative => tier6::Loss::Relative,
        Loss::Absolute => tier6::Loss::Absolute,
    }
}
