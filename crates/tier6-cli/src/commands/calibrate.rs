//! `tier6 calibrate`.

use crate::args::Format;
use crate::args::calibrate::Calibrate;
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use std::path::Path;
use tier6::{CalibrateRequest, Collective, Detail, Exit, PlanRequest};

pub fn run(options: &Calibrate, terminal: &Terminal) -> Result<Exit, Failure> {
    let (format, report_file, system_file) = outputs(options)?;
    let file = options.output.output.as_deref();
    meaning::inputs(options.files.iter().chain([&options.system]), file)?;
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let form = terminal.form(format, detail, report_file);
    let reading = meaning::reading(&options.reading)?;
    if options.files.is_empty() {
        let plan = tier6::plan_sizes(&PlanRequest {
            system: &options.system,
            collective: reading.collective.unwrap_or(Collective::AllReduce),
            ranks: options.reading.ranks,
            nodes: options.reading.nodes,
            sizes: &meaning::sizes(&options.sizes)?,
            count: options.plan.unwrap_or(1),
        })?;
        terminal.deliver(&tier6::render_plan(&plan, form)?, report_file)?;
        return Ok(Exit::Done);
    }
    let (report, failures) = tier6::calibrate(
        &CalibrateRequest {
            files: &options.files,
            system: &options.system,
            engine: tier6::parse_engine(&options.engine)?,
            method: tier6::parse_method(&options.method)?,
            algorithm: (options.algorithm.as_deref())
                .map(tier6::parse_algorithm)
                .transpose()?,
            protocol: (options.protocol.as_deref())
                .map(tier6::parse_protocol)
                .transpose()?,
            strict: options.strict,
            plan: options.plan,
            reading,
        },
        &mut *terminal.progress(),
    )?;
    for failure in &failures {
        terminal.failure(failure);
    }
    // The report first: a file that cannot be written must not cost the answer.
    let text = tier6::render_calibration(&report, form)?;
    terminal.deliver(&text, report_file)?;
    if let Some(path) = system_file {
        terminal.deliver(&report.calibration.system.to_toml(), Some(path))?;
    }
    Ok(tier6::Error::exit_of(&failures, Exit::Done))
}

/// Where the report goes and in what form, and where the system goes: `-o FILE.toml` is the
/// system's, any other file the report's.
fn outputs(options: &Calibrate) -> Result<(Format, Option<&Path>, Option<&Path>), Failure> {
    let file = options.output.output.as_deref();
    match file {
        Some(path) if path.extension().is_some_and(|suffix| suffix == "toml") => Ok((
            options.output.format.map_or(Format::Table, Format::from),
            None,
            Some(path),
        )),
        _ => Ok((meaning::format(&options.output)?, file, None)),
    }
}
