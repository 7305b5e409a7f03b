//! `tier6 predict`.

use crate::args::predict::Predict;
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{Detail, Exit, PredictRequest, Variant};

pub fn run(options: &Predict, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    meaning::inputs([&options.system], file)?;
    if options.engine != "math" {
        return Err(Failure::Usage {
            message: format!("unknown engine `{}`", options.engine),
            hint: Some("the engine here is `math`".to_owned()),
        });
    }
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let report = tier6::predict(&PredictRequest {
        system: &options.system,
        collective: tier6::parse_collective(&options.collective)?,
        choice: tier6::parse_algorithms(&options.algorithm)?,
        protocols: tier6::parse_protocols(&options.protocol)?,
        variant: &Variant::parse(&options.variants)?,
        grain: meaning::grain(&options.grain)?,
        ranks: options.ranks,
        nodes: options.nodes,
        sizes: &meaning::sizes(&options.sizes)?,
    })?;
    let text = tier6::render_prediction(&report, terminal.form(format, detail, file))?;
    terminal.deliver(&text, file)?;
    Ok(Exit::Done)
}
