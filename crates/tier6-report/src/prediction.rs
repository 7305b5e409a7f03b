//! The formats of a prediction: each time by its parts, what limits it, and what it rests on.
//! Predicted times only: a measured time has another type and another report.

mod json;

pub use json::prediction_json;

use crate::analysis::csv::{number, push_row, quoted};
use crate::call::{
    AlgorithmChoice, Mark, ProtocolChoice, Refusal, call_chart, evidence, push_refused,
    push_refused_markdown, variant_text,
};
use crate::flow::push_sentence;
use crate::grid::{Align, Columns, Grid, markdown_text, terminal_text};
use crate::naming;
use crate::number::count;
use crate::style::{Detail, Style, Tone};
use std::fmt::Write as _;
use tier6_collective::{Algorithm, Collective, InNccl, Protocol};
use tier6_math::{Basis, Bottleneck, Parts, Prediction};
use tier6_units::{Bytes, GbPerSec};

/// Predicted calls of one collective on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionReport {
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
    /// Which protocols were asked for.
    pub protocols: ProtocolChoice,
    /// Forms of algorithms that were chosen, by name and value.
    pub variant: Vec<(String, String)>,
    /// By size; of one size the fastest first.
    pub rows: Vec<PredictedCall>,
    /// Algorithms that offer the collective, but not here, with the reason.
    pub refused: Vec<Refusal>,
    /// Algorithms whose times the grain that was asked for does not change.
    pub unsliced: Vec<Algorithm>,
}

/// One predicted call.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedCall {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Whether NCCL runs it; `None` where the library is another one.
    pub in_nccl: Option<InNccl>,
    /// The protocol, when one is priced.
    pub protocol: Option<Protocol>,
    /// M, in nccl-tests' meaning.
    pub bytes: Bytes,
    /// What the time is spent on.
    pub parts: Parts,
    /// M over the time; `None` for a time of zero.
    pub algbw: Option<GbPerSec>,
    /// The bus bandwidth in nccl-tests' definition.
    pub busbw: Option<GbPerSec>,
    /// What limits it.
    pub bottleneck: Bottleneck,
    /// The same as a sentence.
    pub sentence: String,
    /// What the prediction rests on.
    pub basis: Basis,
}

impl PredictedCall {
    /// Takes what is shown of a prediction; its loads on every link stay behind.
    pub fn new(algorithm: Algorithm, in_nccl: Option<InNccl>, prediction: Prediction) -> Self {
        Self {
            algorithm,
            in_nccl,
            protocol: prediction.protocol,
            bytes: prediction.bytes,
            parts: prediction.parts,
            algbw: prediction.algbw(),
            busbw: prediction.busbw(),
            bottleneck: prediction.bottleneck,
            sentence: prediction.sentence,
            basis: prediction.basis,
        }
    }
}

/// Returns the prediction as text for a terminal. The short form tells the bottleneck once for
/// all sizes that share it, the wide one for every row.
pub fn prediction_table(report: &PredictionReport, style: Style, detail: Detail) -> String {
    let mut out = terminal_text(&title(report)) + "\n\n" + &grid(report).text(style) + "\n";
    for (head, sentence) in bottlenecks(report, detail) {
        push_sentence(&mut out, (&head, Tone::Dim), &sentence, style);
    }
    push_refused(&mut out, report.choice, &report.refused, style);
    out.push('\n');
    for note in notes(report) {
        push_sentence(&mut out, ("note", Tone::Caution), &note, style);
    }
    out
}

/// Returns the prediction as Markdown.
pub fn prediction_markdown(report: &PredictionReport) -> String {
    let title = markdown_text(&title(report));
    let mut out = format!(
        "# {title}\n\n{}\n## Bottlenecks\n\n",
        grid(report).markdown()
    );
    for (head, sentence) in bottlenecks(report, Detail::Short) {
        let _ = writeln!(
            out,
            "- {}: {}",
            markdown_text(&head),
            markdown_text(&sentence)
        );
    }
    push_refused_markdown(&mut out, report.choice, &report.refused);
    out += "\n## What it rests on\n\n";
    for note in notes(report) {
        let _ = writeln!(out, "- {note}");
    }
    out
}

/// Returns one row per prediction as CSV with a header line.
pub fn prediction_csv(report: &PredictionReport) -> String {
    let mut out = "engine,system,collective,ranks,bytes,algorithm,protocol,time_us,software_us,\
        latency_us,transfer_us,reduce_us,stall_us,algbw_gbs,busbw_gbs,bottleneck,evidence,in_nccl\n"
        .to_owned();
    for row in &report.rows {
        let parts = &row.parts;
        let mut fields = vec![
            "math".to_owned(),
            quoted(&report.system),
            report.collective.to_string(),
            report.ranks.to_string(),
            row.bytes.get().to_string(),
            row.algorithm.to_string(),
            row.protocol
                .map_or(String::new(), |protocol| protocol.to_string()),
        ];
        let times = [
            parts.total(),
            parts.software,
            parts.latency,
            parts.transfer,
            parts.reduction,
            parts.stall,
        ];
        fields.extend(times.map(|time| number(Some(time.get()))));
        fields.extend([row.algbw, row.busbw].map(|rate| number(rate.map(GbPerSec::get))));
        fields.extend([quoted(&row.sentence), row.basis.to_string()]);
        fields.push(row.in_nccl.map_or("", InNccl::name).to_owned());
        push_row(&mut out, fields.iter());
    }
    out
}

/// Returns the chart of time and bus bandwidth over size as an SVG file.
pub fn prediction_svg(report: &PredictionReport) -> String {
    let marks = report.rows.iter().map(|row| Mark {
        line: report.choice.line(row.algorithm.name()),
        name: row.algorithm.to_string(),
        bytes: row.bytes,
        time: row.parts.total(),
        busbw: row.busbw,
    });
    call_chart(&title(report), &marks.collect::<Vec<_>>())
}

fn title(report: &PredictionReport) -> String {
    format!(
        "{} on {} of {}, {}; math engine{}",
        naming::collective(Some(report.collective)),
        count(report.ranks as usize, "rank"),
        report.system,
        count(report.nodes as usize, "node"),
        variant_text(&report.variant)
    )
}

fn grid(report: &PredictionReport) -> Grid {
    let mut columns = Columns::of(&report.rows)
        .right("size", |row| row.bytes.to_string())
        .left("algorithm", |row| row.algorithm.to_string());
    if report.choice == AlgorithmChoice::All && report.rows.iter().any(|r| r.in_nccl.is_some()) {
        columns = columns.left("in NCCL", |row| {
            row.in_nccl.map_or("-", InNccl::name).to_owned()
        });
    }
    columns
        .left("protocol", |row| {
            row.protocol.map_or("-", Protocol::name).to_owned()
        })
        .numbers("time us", 1, |row| Some(row.parts.total().get()))
        .numbers("software", 1, |row| Some(row.parts.software.get()))
        .numbers("latency", 1, |row| Some(row.parts.latency.get()))
        .numbers("transfer", 1, |row| Some(row.parts.transfer.get()))
        .numbers("reduce", 1, |row| Some(row.parts.reduction.get()))
        .numbers("stall", 1, |row| Some(row.parts.stall.get()))
        .numbers("algbw", 2, |row| row.algbw.map(GbPerSec::get))
        .numbers("busbw", 2, |row| row.busbw.map(GbPerSec::get))
        .left("limit", |row| limit(row.bottleneck).to_owned())
        .cells("evidence", Align::Left, |row| evidence(row.basis))
        .grid()
}

/// The bottleneck in one word; the sentence names the link.
const fn limit(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::Software => "software",
        Bottleneck::Latency => "latency",
        Bottleneck::Link(_) => "link",
        Bottleneck::Contention(_) => "contention",
        Bottleneck::InSwitch => "in switch",
        Bottleneck::Reduction => "reduction",
    }
}

/// Sizes with the sentence on what limits them. Short: the fastest row of each size, and of
/// neighbours that share algorithm and bottleneck the last.
fn bottlenecks(report: &PredictionReport, detail: Detail) -> Vec<(String, String)> {
    let rows = &report.rows;
    let shown: Vec<&PredictedCall> = match detail {
        Detail::Wide => rows.iter().collect(),
        Detail::Short => {
            let first = |at: usize| at == 0 || rows[at - 1].bytes != rows[at].bytes;
            let rows = rows.iter().enumerate();
            let fastest: Vec<_> = rows
                .filter(|(at, _)| first(*at))
                .map(|(_, row)| row)
                .collect();
            let alike = |a: &PredictedCall, b: &PredictedCall| {
                (a.algorithm, a.protocol, a.bottleneck) == (b.algorithm, b.protocol, b.bottleneck)
            };
            let groups = fastest.chunk_by(|a, b| alike(a, b));
            groups.filter_map(|group| group.last().copied()).collect()
        }
    };
    let line = |row: &PredictedCall| {
        let path = row
            .protocol
            .map_or(String::new(), |protocol| format!(" {protocol}"));
        let sentence = format!("{}{path}: {}", row.algorithm, row.sentence);
        (row.bytes.to_string(), sentence)
    };
    shown.into_iter().map(line).collect()
}

/// What a reader must know before believing the numbers.
/// Algorithms of the rows that the grain does not change, if one was asked for.
fn unsliced(report: &PredictionReport) -> Option<String> {
    let shown = |algorithm: &&Algorithm| report.rows.iter().any(|row| row.algorithm == **algorithm);
    let names = report.unsliced.iter().filter(shown);
    let names: Vec<&str> = names.map(|algorithm| algorithm.name()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "`--grain` changes nothing for {}: slices are for ranks that pass on just what they receive",
            names.join(", ")
        )
    })
}

fn notes(report: &PredictionReport) -> Vec<String> {
    let mut notes: Vec<String> = fixed_notes(report).into_iter().map(str::to_owned).collect();
    notes.extend(unsliced(report));
    notes
}

fn fixed_notes(report: &PredictionReport) -> Vec<&'static str> {
    let mut notes = Vec::new();
    if report.rows.iter().any(|row| row.basis == Basis::Assumed) {
        notes.push(
            "assumed: the system is not calibrated; some constant behind the time is a prior, or none was \
             fitted on measurements (`tier6 systems show` marks them)",
        );
    }
    if report
        .rows
        .iter()
        .any(|row| row.basis == Basis::Extrapolated)
    {
        notes.push("extrapolated: the constants were fitted on other sizes");
    }
    if report.rows.iter().all(|row| row.protocol.is_none()) {
        notes.push(match report.protocols {
            ProtocolChoice::Without => {
                "no protocol (LL, LL128, Simple): steps cost what links cost"
            }
            ProtocolChoice::One(_) | ProtocolChoice::Auto => {
                "the system has no step times of protocols (LL, LL128, Simple): steps cost what \
                 links cost"
            }
        });
    }
    let is_sometimes = |row: &PredictedCall| row.in_nccl == Some(InNccl::Sometimes);
    if report.rows.iter().any(is_sometimes) {
        notes.push(
            "sometimes in NCCL: nvls on several nodes and collnet where the network reduces and \
             that is enabled, pat from 2.23 on",
        );
    }
    let is_other_tree =
        |row: &PredictedCall| row.algorithm == Algorithm::Tree && row.in_nccl == Some(InNccl::No);
    if report.rows.iter().any(is_other_tree) {
        notes.push("in NCCL the tree of one node is a chain, as long as a ring");
    }
    let has_protocols = report.rows.iter().any(|row| row.protocol.is_some());
    match (report.choice, report.protocols) {
        (AlgorithmChoice::Auto, _) => notes.push(
            "auto is the fastest by this model of what NCCL runs, not NCCL's choice \
             (`tier6 tuner choose`)",
        ),
        (_, ProtocolChoice::Auto) if has_protocols => notes.push(
            "the protocol is the fastest by this model, not NCCL's choice (`tier6 tuner choose`)",
        ),
        (AlgorithmChoice::One(_) | AlgorithmChoice::All, _) => {}
    }
    notes
}
