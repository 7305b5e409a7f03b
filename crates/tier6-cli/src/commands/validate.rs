//! `tier6 validate`.

use crate::args::Validate;
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{Detail, Engine, Exit, ValidateRequest};

pub fn run(options: &Validate, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    meaning::inputs(&options.files, file)?;
    let engines: Vec<Engine> = options
        .engine
        .iter()
        .map(|name| tier6::parse_engine(name))
        .collect::<Result<_, _>>()?;
    let holdout = options.holdout.parse().map_err(|error| Failure::Usage {
        message: format!("`--holdout {}`: {error}", options.holdout),
        hint: Some("`tier6 validate --help` says what each holds out".to_owned()),
    })?;
    let reading = meaning::reading(&options.reading)?;
    let request = ValidateRequest {
        files: &options.files,
        holdout,
        engines: &engines,
        system: options.system.as_deref(),
        reading: &reading,
    };
    let (report, failures) = tier6::validate(&request, &mut *terminal.progress())?;
    for failure in &failures {
        terminal.failure(failure);
    }
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let text = tier6::render_validation(&report, terminal.form(format, detail, file))?;
    terminal.deliver(&text, file)?;
    Ok(tier6::validation_exit(&report, &failures))
}
