//! `tier6 compare`.

use crate::args::Compare;
use crate::commands::analyze::loss;
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{CompareOptions, CompareRequest, Detail, Exit};

pub fn run(options: &Compare, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    meaning::inputs([&options.base, &options.new], file)?;
    let request = CompareRequest {
        base: options.base.clone(),
        new: options.new.clone(),
        reading: meaning::reading(&options.reading)?,
        options: meaning::analysis_options(&options.model)?,
        change: CompareOptions {
            min_effect_pct: meaning::percent("--min-effect", &options.min_effect, "3%")?,
            false_discovery_pct: meaning::percent("--fdr", &options.fdr, "5%")?,
            ..CompareOptions::STANDARD
        },
        loss: loss(options.model.loss),
        placement: options.placement.map(meaning::placement),
    };
    let report = tier6::compare(&request, &mut *terminal.progress())?;
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let text = tier6::render_comparison(&report, terminal.form(format, detail, file));
    terminal.deliver(&text, file)?;
    Ok(tier6::comparison_exit(&report))
}
