//! `tier6 simulate`.

use crate::args::simulate::{Fidelity, Handshake, Simulate};
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use std::collections::BTreeSet;
use std::path::Path;
use tier6::{
    Detail, Exit, Recording, SimulateRequest, Simulated, SimulatedWork, SizeRange, Variant,
};

/// Sizes when none are asked for.
const SIZES: &str = "1K..1G:x4";

pub fn run(options: &Simulate, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    let written = [file, options.trace.as_deref(), options.stats.as_deref()];
    for path in written.into_iter().flatten() {
        let read = [Some(&options.system), options.schedule.as_ref()];
        meaning::inputs(read.into_iter().flatten(), Some(path))?;
    }
    distinct(&written)?;
    let detail = if options.wide {
        Detail::Wide
    } else {
        Detail::Short
    };
    let recording = |wanted: bool| {
        if wanted {
            Recording::On
        } else {
            Recording::Off
        }
    };
    let variant = Variant::parse(&options.variants)?;
    let sizes = options.sizes.as_deref().map(meaning::sizes).transpose()?;
    let request = SimulateRequest {
        variant: &variant,
        system: &options.system,
        work: work(options, sizes.as_ref())?,
        ranks: options.ranks,
        nodes: options.nodes,
        chips: options.chips.as_deref(),
        beside: &options.beside,
        sizes: match &sizes {
            Some(sizes) => sizes,
            None => &meaning::sizes(SIZES)?,
        },
        fidelity: match options.fidelity {
            Fidelity::Packet => tier6::Fidelity::Packet,
            Fidelity::Flow => tier6::Fidelity::Flow,
        },
        seed: options.seed,
        grain: meaning::grain(&options.grain)?,
        handshake: options.handshake.map(|handshake| match handshake {
            Handshake::Eager => tier6::Handshake::Eager,
            Handshake::Rendezvous => tier6::Handshake::Rendezvous,
        }),
        faults: &options.faults,
        sensitivity: recording(options.sensitivity),
        trace: recording(options.trace.is_some()),
        statistics: recording(options.stats.is_some()),
        limit_events: options.limit_events,
    };
    let simulated = tier6::simulate(&request, &mut *terminal.headway())?;
    let report = &simulated.report;
    let text = tier6::render_simulation(report, terminal.form(format, detail, file))?;
    terminal.deliver(&text, file)?;
    deliver_beside(options, &simulated, terminal)?;
    for stopped in &report.stops {
        terminal.error(&stopped.headline());
    }
    let hints = report.stops.iter().map(tier6::StoppedCall::hint);
    for hint in hints.flatten().collect::<BTreeSet<_>>() {
        terminal.hint(hint);
    }
    Ok(tier6::simulation_exit(report))
}

/// What is asked for: a collective, or a schedule from a file.
fn work<'a>(
    options: &'a Simulate,
    sizes: Option<&'a SizeRange>,
) -> Result<SimulatedWork<'a>, Failure> {
    match (&options.schedule, &options.collective) {
        (Some(file), _) => Ok(SimulatedWork::Schedule { file, sizes }),
        (None, Some(collective)) => Ok(SimulatedWork::Collective {
            collective: tier6::parse_collective(collective)?,
            choice: tier6::parse_algorithms(&options.algorithm)?,
            protocols: tier6::parse_protocols(&options.protocol)?,
        }),
        (None, None) => Err(Failure::usage("no `--collective` and no `--schedule`")),
    }
}

/// Writes the timeline and the accounts.
fn deliver_beside(
    options: &Simulate,
    simulated: &Simulated,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if let Some(path) = &options.stats {
        terminal.deliver(&tier6::render_statistics(simulated), Some(path))?;
        if !simulated.report.stops.is_empty() {
            terminal.note(
                "of a run that stopped the accounts are until then, and `stopped_us` says when",
            );
        }
    }
    match (&options.trace, &simulated.trace) {
        (Some(path), Some(trace)) => {
            terminal.deliver(&tier6::render_trace(trace), Some(path))?;
            terminal.note(&format!(
                "the trace is {}; open it at ui.perfetto.dev",
                trace.title
            ));
        }
        (Some(_), None) => terminal.warning("no trace: nothing ran at the last size"),
        (None, _) => {}
    }
    Ok(())
}

/// Refuses one file for two results.
fn distinct(paths: &[Option<&Path>]) -> Result<(), Failure> {
    let named: Vec<&Path> = paths.iter().copied().flatten().collect();
    for (at, path) in named.iter().enumerate() {
        if named[..at].contains(path) {
            return Err(Failure::usage(format!(
                "`{}` is named for two results",
                path.display()
            )));
        }
    }
    Ok(())
}
