//! The formats of a simulation: the same columns as a prediction, what a run is made of beside
//! them, and who waits for whom when one stopped. [`statistics_csv`] has an account per link and
//! rank, [`trace_json`] a timeline to look at.

mod beside;
mod json;
mod remarks;
mod statistics;
mod trace;

pub use beside::{BesideCall, BesideTime};
pub use json::simulation_json;
pub use statistics::{CallStatistics, LinkStatistics, RankStatistics, statistics_csv};
pub use trace::{Trace, trace_json};

use beside::{beside_grid, chip_ranges, slowdown};
use remarks::{bottlenecks, notes, sensitivity_grid};

use crate::analysis::csv::{number, push_row, quoted, text};
use crate::call::{
    AlgorithmChoice, Mark, Refusal, call_chart, evidence, push_refused, push_refused_markdown,
    variant_text,
};
use crate::flow::push_sentence;
use crate::grid::{Align, Columns, Grid, markdown_text, terminal_text};
use crate::naming;
use crate::number::count;
use crate::style::{Detail, Style, Tone};
use std::fmt::Write as _;
use tier6_collective::{Algorithm, Collective, Grain, InNccl, Protocol};
use tier6_g5::{Fidelity, Parts, RunStop, StopReason, Wait};
use tier6_math::Basis;
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

/// Simulated calls of one collective on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationReport {
    /// Name of the system.
    pub system: String,
    /// The collective.
    pub collective: Collective,
    /// N.
    pub ranks: u32,
    /// Nodes that the ranks are on.
    pub nodes: u32,
    /// Which algorithms were asked for.
    pub choice: AlgorithmChoice,
    /// How closely the network is looked at.
    pub fidelity: Fidelity,
    /// What chance follows from.
    pub seed: u64,
    /// The grain of forwarding.
    pub grain: Grain,
    /// Forms of algorithms that were chosen, by name and value.
    pub variant: Vec<(String, String)>,
    /// The chips of the ranks, when they were named.
    pub chips: Option<Vec<u32>>,
    /// Calls that run beside.
    pub beside: Vec<BesideCall>,
    /// Faults, as they were written.
    pub faults: Vec<String>,
    /// Runs that ended, by size; of one size the fastest first.
    pub rows: Vec<SimulatedCall>,
    /// Runs that stopped.
    pub stops: Vec<StoppedCall>,
    /// Algorithms that offer the collective, but not here, with the reason.
    pub refused: Vec<Refusal>,
    /// Why a schedule from a file does not compute its collective, if it does not.
    pub flaw: Option<String>,
}

/// One simulated call.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedCall {
    /// The algorithm; `None` for a schedule from a file that is none of ours.
    pub algorithm: Option<Algorithm>,
    /// The protocol under which it ran; `None` for no protocol in particular.
    pub protocol: Option<Protocol>,
    /// Whether NCCL runs the algorithm; `None` where the library is another one.
    pub in_nccl: Option<InNccl>,
    /// M, in nccl-tests' meaning.
    pub bytes: Bytes,
    /// Rings or trees that share the message.
    pub channels: u32,
    /// Time of the call, software included.
    pub total: SimTime,
    /// Time of the hardware.
    pub hardware: SimTime,
    /// What the time is spent on.
    pub parts: Parts,
    /// M over the time; `None` for a time of zero.
    pub algbw: Option<GbPerSec>,
    /// The bus bandwidth in nccl-tests' definition.
    pub busbw: Option<GbPerSec>,
    /// What limits it.
    pub bottleneck: String,
    /// What the result rests on.
    pub basis: Basis,
    /// Events handled.
    pub events: u64,
    /// Messages that chips sent.
    pub messages: u64,
    /// Packets times links crossed.
    pub packet_hops: u64,
    /// How the time follows the constants, if it was asked for.
    pub sensitivities: Vec<Sensitivity>,
    /// The time with nothing beside it; `None` without calls beside, and when it stops then.
    pub alone: Option<SimTime>,
    /// What the calls beside took, in their order.
    pub beside: Vec<BesideTime>,
}

/// How the time of a call follows a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The constant: `links.nvlink4.rate`.
    pub constant: String,
    /// Percent of time per percent of the constant.
    pub elasticity: f64,
}

/// A run that stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedCall {
    /// The algorithm; `None` for a schedule from a file that is none of ours.
    pub algorithm: Option<Algorithm>,
    /// M.
    pub bytes: Bytes,
    /// Why, when, and who waits for whom.
    pub stop: RunStop,
}

/// Waits that a table shows of one stop; JSON has all.
const WAITS_SHOWN: usize = 12;

/// Returns the simulation as text for a terminal. The short form tells the bottleneck of the
/// fastest algorithm of each size, the wide one of every row.
pub fn simulation_table(report: &SimulationReport, style: Style, detail: Detail) -> String {
    let mut out = terminal_text(&title(report)) + "\n";
    if !report.rows.is_empty() {
        let _ = write!(out, "\n{}\n", grid(report, detail).text(style));
    }
    if let Some(grid) = beside_grid(report) {
        let _ = writeln!(out, "{}", grid.text(style));
    }
    for (head, sentence) in bottlenecks(report, detail) {
        push_sentence(&mut out, (&head, Tone::Dim), &sentence, style);
    }
    for stopped in &report.stops {
        let _ = writeln!(out, "\n{}\n", terminal_text(&stopped.headline()));
        for (who, why) in stopped.waits_shown() {
            push_sentence(&mut out, (&who, Tone::Dim), &why, style);
        }
    }
    if let Some(grid) = sensitivity_grid(report) {
        out += "\npercent of time per percent of the constant\n\n";
        out += &grid.text(style);
    }
    push_refused(&mut out, report.choice, &report.refused, style);
    out.push('\n');
    for note in notes(report) {
        push_sentence(&mut out, ("note", Tone::Caution), &note, style);
    }
    out
}

/// Returns the simulation as Markdown.
pub fn simulation_markdown(report: &SimulationReport) -> String {
    let mut out = format!("# {}\n", markdown_text(&title(report)));
    if !report.rows.is_empty() {
        let grid = grid(report, Detail::Short).markdown();
        let _ = write!(out, "\n{grid}\n");
        if let Some(grid) = beside_grid(report) {
            let _ = write!(out, "## Calls beside\n\n{}\n", grid.markdown());
        }
        out += "## Bottlenecks\n\n";
    }
    for (head, sentence) in bottlenecks(report, Detail::Short) {
        let (head, sentence) = (markdown_text(&head), markdown_text(&sentence));
        let _ = writeln!(out, "- {head}: {sentence}");
    }
    for stopped in &report.stops {
        let _ = writeln!(out, "\n## {}\n", markdown_text(&stopped.headline()));
        for (who, why) in stopped.waits_shown() {
            let _ = writeln!(out, "- {} {}", markdown_text(&who), markdown_text(&why));
        }
    }
    if let Some(grid) = sensitivity_grid(report) {
        out += "\n## Percent of time per percent of the constant\n\n";
        out += &grid.markdown();
    }
    push_refused_markdown(&mut out, report.choice, &report.refused);
    out += "\n## What it rests on\n\n";
    for note in notes(report) {
        let _ = writeln!(out, "- {}", markdown_text(&note));
    }
    out
}

/// Returns one row per run that ended as CSV with a header line: the columns of a prediction, then
/// those of the engine.
pub fn simulation_csv(report: &SimulationReport) -> String {
    let mut out = "engine,system,collective,ranks,bytes,algorithm,protocol,time_us,software_us,\
        latency_us,transfer_us,reduce_us,stall_us,algbw_gbs,busbw_gbs,bottleneck,evidence,in_nccl,\
        fidelity,seed,hardware_us,channels,events,messages,packet_hops,alone_us,slowdown,beside_us\n"
        .to_owned();
    for row in &report.rows {
        let mut fields = vec![
            "g5".to_owned(),
            quoted(&report.system),
            report.collective.to_string(),
            report.ranks.to_string(),
            row.bytes.get().to_string(),
            algorithm_name(row.algorithm).to_owned(),
            row.protocol.map_or("", Protocol::name).to_owned(),
        ];
        fields.extend(row.times().map(|time| number(Some(us(time)))));
        fields.extend([row.algbw, row.busbw].map(|rate| number(rate.map(GbPerSec::get))));
        fields.extend([quoted(&row.bottleneck), row.basis.to_string()]);
        fields.push(row.in_nccl.map_or("", InNccl::name).to_owned());
        fields.extend([report.fidelity.to_string(), report.seed.to_string()]);
        fields.push(number(Some(us(row.hardware))));
        fields.push(row.channels.to_string());
        fields.extend([row.events, row.messages, row.packet_hops].map(|n| text(Some(n))));
        fields.extend([row.alone.map(us), slowdown(row.total, row.alone)].map(number));
        let beside = row.beside.iter().map(|one| number(Some(us(one.total))));
        fields.push(beside.collect::<Vec<_>>().join(";"));
        push_row(&mut out, fields.iter());
    }
    out
}

/// Returns the chart of time and bus bandwidth over size as an SVG file: of runs that ended.
pub fn simulation_svg(report: &SimulationReport) -> String {
    let marks = report.rows.iter().map(|row| Mark {
        line: report.choice.line(algorithm_name(row.algorithm)),
        name: algorithm_name(row.algorithm).to_owned(),
        bytes: row.bytes,
        time: row.total.to_micros(),
        busbw: row.busbw,
    });
    call_chart(&title(report), &marks.collect::<Vec<_>>())
}

/// Name of an algorithm; a schedule from a file may have none.
pub(crate) const fn algorithm_name(algorithm: Option<Algorithm>) -> &'static str {
    match algorithm {
        Some(algorithm) => algorithm.name(),
        None => "custom",
    }
}

/// Microseconds of a simulated time.
pub(crate) fn us(time: SimTime) -> f64 {
    time.to_micros().get()
}

impl SimulatedCall {
    /// The time and its parts, in the order of the contract.
    fn times(&self) -> [SimTime; 6] {
        let parts = &self.parts;
        [
            self.total,
            parts.software,
            parts.latency,
            parts.transfer,
            parts.reduce,
            parts.stall,
        ]
    }

    /// The largest part in one word; the sentence names the link.
    fn limit(&self) -> &'static str {
        let parts = &self.parts;
        let words = [
            (parts.software, "software"),
            (parts.latency, "latency"),
            (parts.transfer, "link"),
            (parts.stall, "stall"),
            (parts.reduce, "reduction"),
        ];
        let mut largest = words[0];
        for part in words {
            if part.0 > largest.0 {
                largest = part;
            }
        }
        largest.1
    }
}

impl StoppedCall {
    /// One line on what stopped.
    pub fn headline(&self) -> String {
        let Self {
            algorithm,
            bytes,
            stop,
        } = self;
        format!("{} of {bytes} stopped: {stop}", algorithm_name(*algorithm))
    }

    /// The way out, where there is one.
    pub fn hint(&self) -> Option<&'static str> {
        let waits = &self.stop.waits;
        if waits.iter().any(|wait| wait.why == "the link has failed") {
            return Some(
                "messages take another route of equal length, where there is one, around a link \
                 that is down from the start; a failure later on is not routed around",
            );
        }
        if waits.iter().any(|wait| wait.why == Wait::UNSENT) {
            return Some("add the send that is missing, or take the receive out");
        }
        match self.stop.reason {
            StopReason::Deadlock if self.algorithm.is_none() => Some(
                "each of these waits for the next one, and the last for the first: take one of the \
                 waits out, or let a transfer leave through another port",
            ),
            StopReason::Events(_) => Some(
                "a higher `--limit-events`, `--fidelity flow`, or smaller messages: packets are \
                 events",
            ),
            StopReason::QueuePairFatal { .. } => {
                Some("fewer losses, or a longer `timeout` or more `retries` in `[g5.rc_link]`")
            }
            StopReason::Deadlock
            | StopReason::Stalled
            | StopReason::Time(_)
            | StopReason::Broken(_) => None,
        }
    }

    fn waits_shown(&self) -> Vec<(String, String)> {
        let waits = &self.stop.waits;
        let shown = waits.iter().take(WAITS_SHOWN).map(|wait| {
            let why = format!("waits for {}: {}", wait.for_whom, wait.why);
            (wait.who.clone(), why)
        });
        let mut shown: Vec<(String, String)> = shown.collect();
        if waits.len() > WAITS_SHOWN {
            let more = format!("{} wait; JSON has all", waits.len() - WAITS_SHOWN);
            shown.push(("more".to_owned(), more));
        }
        shown
    }
}

fn title(report: &SimulationReport) -> String {
    let grain = match report.grain {
        Grain::Message => String::new(),
        Grain::Slices { bytes } => format!(", slices of {}", Bytes::new(bytes)),
    };
    let faults = match report.faults.as_slice() {
        [] => String::new(),
        faults => format!("; {}", faults.join(", ")),
    };
    let variant = variant_text(&report.variant);
    let chips = match &report.chips {
        None => String::new(),
        Some(chips) => format!(" (chips {})", chip_ranges(chips)),
    };
    format!(
        "{} on {}{chips} of {}, {}; g5 engine, {} fidelity, seed {}{grain}{variant}{faults}",
        naming::collective(Some(report.collective)),
        count(report.ranks as usize, "rank"),
        report.system,
        count(report.nodes as usize, "node"),
        report.fidelity,
        report.seed,
    )
}

fn grid(report: &SimulationReport, detail: Detail) -> Grid {
    let part = |time: SimTime| Some(us(time));
    let mut columns = Columns::of(&report.rows)
        .right("size", |row| row.bytes.to_string())
        .left("algorithm", |row| algorithm_name(row.algorithm).to_owned());
    if report.choice == AlgorithmChoice::All && report.rows.iter().any(|r| r.in_nccl.is_some()) {
        columns = columns.left("in NCCL", |row| {
            row.in_nccl.map_or("-", InNccl::name).to_owned()
        });
    }
    let mut columns = columns
        .left("protocol", |row| {
            row.protocol.map_or("-", Protocol::name).to_owned()
        })
        .numbers("time us", 1, |row| part(row.total))
        .numbers("software", 1, |row| part(row.parts.software))
        .numbers("latency", 1, |row| part(row.parts.latency))
        .numbers("transfer", 1, |row| part(row.parts.transfer))
        .numbers("reduce", 1, |row| part(row.parts.reduce))
        .numbers("stall", 1, |row| part(row.parts.stall))
        .numbers("algbw", 2, |row| row.algbw.map(GbPerSec::get))
        .numbers("busbw", 2, |row| row.busbw.map(GbPerSec::get))
        .left("limit", |row| row.limit().to_owned());
    if !report.beside.is_empty() {
        columns = columns
            .numbers("alone us", 1, |row| row.alone.map(us))
            .numbers("slowdown", 2, |row| slowdown(row.total, row.alone));
    }
    let mut columns = columns.cells("evidence", Align::Left, |row| evidence(row.basis));
    if detail == Detail::Wide {
        columns = columns
            .right("channels", |row| row.channels.to_string())
            .right("messages", |row| row.messages.to_string())
            .right("events", |row| row.events.to_string())
            .right("packet hops", |row| row.packet_hops.to_string());
    }
    columns.grid()
}

/// M over a simulated time, and the same in nccl-tests' bus bandwidth.
pub fn bandwidths(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    total: Micros,
) -> (Option<GbPerSec>, Option<GbPerSec>) {
    let algbw = GbPerSec::from_transfer(bytes, total);
    let factor = collective.bus_factor(ranks);
    (algbw, algbw.map(|rate| rate.scaled(factor)))
}
