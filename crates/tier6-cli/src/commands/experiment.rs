//! `tier6 experiment`.

use crate::args::Format;
use crate::args::experiment::Experiment;
use crate::failure::Failure;
use crate::terminal::Terminal;
use tier6::{Detail, Exit};

pub fn run(options: &Experiment, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut outcomes = Vec::new();
    let mut progress = terminal.progress();
    for experiment in tier6::load_experiments(&options.experiments)? {
        outcomes.push(tier6::run_experiment(experiment, progress.as_mut())?);
    }
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    // With a folder the results are there; a format asks for them on standard output as well.
    if options.output.is_none() || options.format.is_some() {
        let format = options.format.unwrap_or(Format::Table);
        let text = tier6::render_experiments(&outcomes, terminal.form(format, detail, None))?;
        terminal.deliver(&text, None)?;
    }
    if let Some(folder) = &options.output {
        for path in tier6::write_experiments(&outcomes, folder)? {
            terminal.note(&format!("wrote {}", path.display()));
        }
    }
    let exit = tier6::experiments_exit(&outcomes);
    if exit == Exit::Nothing {
        terminal.error("no call of the experiment could run");
        terminal.hint("the result says why; `tier6 systems show` tells what a system has");
    }
    Ok(exit)
}
