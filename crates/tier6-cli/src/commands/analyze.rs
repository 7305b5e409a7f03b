//! `tier6 analyze`.

use crate::args::{Analyze, Loss};
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{AnalyzeRequest, Detail, Exit};

pub fn run(options: &Analyze, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let predict = options.predict.as_deref().map(meaning::sizes).transpose()?;
    let request = AnalyzeRequest {
        files: options.files.clone(),
        logs: options.logs.clone(),
        reading: meaning::reading(&options.reading)?,
        options: meaning::analysis_options(&options.model)?,
        loss: loss(options.model.loss),
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
        terminal.note(&format!(
            "{} files are no measurements: {}",
            analyzed.ignored.len(),
            analyzed.ignored.join(", ")
        ));
    }
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let form = terminal.form(format, detail, options.output.output.as_deref());
    let text = tier6::render_analysis(&analyzed.report, form);
    terminal.deliver(&text, options.output.output.as_deref())?;
    Ok(analyzed.exit())
}

/// Returns the loss as meant.
pub fn loss(loss: Loss) -> tier6::Loss {
    match loss {
        Loss::Relative => tier6::Loss::Relative,
        Loss::Absolute => tier6::Loss::Absolute,
    }
}
