//! What reports of predicted and of simulated calls share: the choices behind them, algorithms
//! that cannot run, and how both are shown.

mod chart;

pub(crate) use chart::{Mark, call_chart};

use crate::flow::push_sentence;
use crate::grid::{Cell, markdown_text};
use crate::style::{Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_collective::{Algorithm, InNccl, Protocol};
use tier6_math::Basis;

/// Which algorithms were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlgorithmChoice {
    /// This one.
    One(Algorithm),
    /// Every one that the system can run, the fastest first.
    All,
    /// Of those that NCCL runs the fastest for each size.
    Auto,
}

impl AlgorithmChoice {
    /// Returns the name of a call's line in a chart: the algorithm, but of `auto` one line.
    pub(crate) fn line(self, algorithm: &str) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::All | Self::One(_) => algorithm.to_owned(),
        }
    }
}

/// Which of NCCL's protocols were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolChoice {
    /// This one.
    One(Protocol),
    /// The fastest for each algorithm and size, where the system has step times of protocols.
    Auto,
    /// None: steps cost what links cost.
    Without,
}

/// An algorithm that cannot run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The reason.
    pub why: String,
}

/// Appends the algorithms that cannot run, as text; nothing unless all were asked for.
pub(crate) fn push_refused(
    out: &mut String,
    choice: AlgorithmChoice,
    refused: &[Refusal],
    style: Style,
) {
    if choice != AlgorithmChoice::All || refused.is_empty() {
        return;
    }
    *out += "\nnot on this system\n\n";
    for refusal in refused {
        let head = (refusal.algorithm.name(), Tone::Dim);
        push_sentence(out, head, &refusal.why, style);
    }
}

/// The same as Markdown.
pub(crate) fn push_refused_markdown(
    out: &mut String,
    choice: AlgorithmChoice,
    refused: &[Refusal],
) {
    if choice != AlgorithmChoice::All || refused.is_empty() {
        return;
    }
    *out += "\n## Not on this system\n\n";
    for refusal in refused {
        let name = markdown_text(refusal.algorithm.name());
        let _ = writeln!(out, "- {name}: {}", markdown_text(&refusal.why));
    }
}

/// Returns what a time rests on as a cell.
pub(crate) fn evidence(basis: Basis) -> Cell {
    let tone = match basis {
        Basis::Interpolated => Tone::Good,
        Basis::Extrapolated => Tone::Plain,
        Basis::Assumed => Tone::Caution,
    };
    Cell::toned(basis.name(), tone)
}

/// Returns chosen forms of algorithms, after what comes before them in a title.
pub(crate) fn variant_text(settings: &[(String, String)]) -> String {
    settings.iter().fold(String::new(), |text, (key, value)| {
        let mark = if text.is_empty() { ';' } else { ',' };
        text + &format!("{mark} {key} = {value}")
    })
}

/// The parts of a time in JSON.
#[derive(Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "names of the contract carry their unit"
)]
pub(crate) struct PartsDto {
    pub(crate) software_us: f64,
    pub(crate) latency_us: f64,
    pub(crate) transfer_us: f64,
    pub(crate) reduce_us: f64,
    pub(crate) stall_us: f64,
}

/// An algorithm that cannot run, in JSON.
#[derive(Serialize)]
pub(crate) struct RefusalDto<'a> {
    algorithm: &'static str,
    why: &'a str,
}

impl<'a> RefusalDto<'a> {
    /// Returns those to show: all of them when all algorithms were asked for.
    pub(crate) fn of(choice: AlgorithmChoice, refused: &'a [Refusal]) -> Option<Vec<Self>> {
        let new = |refusal: &'a Refusal| Self {
            algorithm: refusal.algorithm.name(),
            why: &refusal.why,
        };
        (choice == AlgorithmChoice::All).then(|| refused.iter().map(new).collect())
    }
}

/// Returns whether NCCL runs an algorithm, where that is shown: when all were asked for.
pub(crate) fn in_nccl_name(
    choice: AlgorithmChoice,
    in_nccl: Option<InNccl>,
) -> Option<&'static str> {
    match choice {
        AlgorithmChoice::All => in_nccl.map(InNccl::name),
        AlgorithmChoice::One(_) | AlgorithmChoice::Auto => None,
    }
}
