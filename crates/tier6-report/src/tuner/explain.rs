//! Each candidate's time for one call, term by term, so that a reader can redo it by hand.
//!
//! The terms are written down by the model while it computes, so they cannot differ from its
//! result. All results are singles; a factor that is a double in NCCL is shown as such.

use super::TunerSubject;
use super::choice::capitalized;
use crate::analysis::csv::quoted;
use crate::analysis::json::pretty;
use crate::grid::{Columns, Grid};
use crate::number::{count, fixed};
use crate::style::{Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::{
    CallTerms, Candidate, CellTerms, Choice, Entry, NcclCollective, NoCandidateError, Operation,
    Term, WhyNot,
};
use tier6_units::Bytes;

/// How the times of one call come about.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerExplanation {
    /// The communicator and the release.
    pub subject: TunerSubject,
    /// The collective.
    pub collective: NcclCollective,
    /// The size as the chooser sees it.
    pub bytes: Bytes,
    /// The choice, or how the call fails.
    pub choice: Result<Choice, NoCandidateError>,
    /// Channels of the communicator, from which a call may take some away.
    pub channels: i32,
    /// Every candidate, in NCCL's order.
    pub candidates: Vec<ExplainedCandidate>,
}

/// How the time of one candidate comes about.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedCandidate {
    /// The candidate.
    pub candidate: Candidate,
    /// Its time, or why it has none.
    pub entry: Entry,
    /// The terms of its latency and bandwidth, whatever the call; `None` where the model
    /// computes none, or where the numbers were read from a log.
    pub cell: Option<CellTerms>,
    /// The terms of the call.
    pub call: CallTerms,
    /// The most threads per channel.
    pub threads_max: i32,
    /// Bytes per thread and channel below which channels and threads are taken away.
    pub thread_threshold: i64,
}

/// One term with the quantity that it belongs to.
struct Step<'a> {
    quantity: &'static str,
    term: &'a Term,
}

impl ExplainedCandidate {
    /// Returns all terms in the order in which they are computed. A call that takes a number
    /// of the table as it is has no terms of its own for it.
    fn steps(&self) -> Vec<Step<'_>> {
        let cell = self.cell.as_ref();
        let of_cell = |terms: fn(&CellTerms) -> &Vec<Term>| {
            cell.map(|cell| terms(cell).as_slice()).unwrap_or_default()
        };
        let call = &self.call;
        let lists = [
            ("latency us", of_cell(|cell| &cell.latency_us)),
            ("bandwidth GB/s", of_cell(|cell| &cell.bandwidth_gbs)),
            ("latency of the call us", call.latency_us.as_slice()),
            ("bandwidth of the call GB/s", call.bandwidth_gbs.as_slice()),
            ("time us", call.time_us.as_slice()),
        ];
        let shown = lists.into_iter().enumerate().filter(|(index, (_, terms))| {
            let is_own = matches!(index, 2 | 3);
            !is_own || self.cell.is_none() || terms.len() > 1
        });
        shown
            .flat_map(|(_, (quantity, terms))| {
                terms.iter().map(move |term| Step { quantity, term })
            })
            .collect()
    }

    const fn time_us(&self) -> Option<f32> {
        match self.entry {
            Entry::Time(us) | Entry::Backup(us) => Some(us),
            Entry::Unavailable { .. } => None,
        }
    }

    fn why_not(&self) -> Option<String> {
        match self.entry {
            Entry::Time(_) => None,
            Entry::Backup(_) => Some(WhyNot::Backup(self.candidate.protocol).to_string()),
            Entry::Unavailable { why, .. } => Some(why.to_string()),
        }
    }
}

impl TunerExplanation {
    fn headline(&self) -> String {
        let what = self.subject.headline(self.collective);
        format!("{} ({} bytes), {what}", self.bytes, self.bytes.get())
    }

    fn outcome(&self) -> String {
        match &self.choice {
            Ok(choice) => {
                let (channels, warps) = (choice.channels_max, choice.warps);
                format!(
                    "{} is chosen: {} us, {channels} of {} channels, {warps} warps",
                    choice.candidate,
                    fixed(f64::from(choice.time_us), 3),
                    self.channels
                )
            }
            Err(error) => error.to_string(),
        }
    }

    /// Returns the candidates with a time, the fastest first.
    fn ranked(&self) -> Vec<&ExplainedCandidate> {
        let mut ranked: Vec<_> = self
            .candidates
            .iter()
            .filter(|candidate| candidate.time_us().is_some())
            .collect();
        // A stable sort: NCCL's order among equals.
        ranked.sort_by(|a, b| {
            let key = |candidate: &ExplainedCandidate| candidate.time_us().unwrap_or(f32::MAX);
            key(a).total_cmp(&key(b))
        });
        ranked
    }

    fn is_chosen(&self, candidate: &ExplainedCandidate) -> bool {
        self.choice
            .is_ok_and(|choice| choice.candidate == candidate.candidate)
    }

    /// Returns what stands above the terms of a candidate.
    fn title(&self, candidate: &ExplainedCandidate) -> String {
        let us = fixed(candidate.time_us().map_or(f64::NAN, f64::from), 3);
        let mark = if self.is_chosen(candidate) {
            ", chosen"
        } else {
            ""
        };
        let backup = candidate
            .why_not()
            .map_or_else(String::new, |why| format!(" ({why})"));
        format!("{}: {us} us{mark}{backup}", candidate.candidate)
    }
}

/// Returns what is done with an operand: `+ 6 x 1.9`.
fn operation_text(operation: Operation) -> String {
    match operation {
        Operation::Start(value) => operand(value),
        Operation::Times(factor) => format!("x {}", operand(factor)),
        Operation::Over(divisor) => format!("/ {}", operand(divisor)),
        Operation::Plus { times, each } if times.to_bits() == 1_f64.to_bits() => {
            format!("+ {}", operand(each))
        }
        Operation::Plus { times, each } => format!("+ {} x {}", operand(times), operand(each)),
        Operation::AtMost(limit) => format!("at most {}", operand(limit)),
        Operation::Replace(value) => format!("becomes {}", operand(value)),
    }
}

/// Returns the shortest text of a number: a single's where it is one.
fn operand(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "checked by the comparison")]
    let single = value as f32;
    if f64::from(single).to_bits() == value.to_bits() {
        single.to_string()
    } else {
        value.to_string()
    }
}

fn steps_grid(candidate: &ExplainedCandidate) -> Grid {
    let steps = candidate.steps();
    let rows: Vec<(&'static str, &Term)> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let before = index.checked_sub(1).map(|index| steps[index].quantity);
            let is_new = before != Some(step.quantity);
            (if is_new { step.quantity } else { "" }, step.term)
        })
        .collect();
    Columns::of(&rows)
        .left("quantity", |(quantity, _)| (*quantity).to_owned())
        .left("term", |(_, term)| term.name.to_owned())
        .left("operation", |(_, term)| operation_text(term.operation))
        .right("result", |(_, term)| term.result.to_string())
        .grid()
}

fn not_weighed_grid(report: &TunerExplanation) -> Grid {
    let rows: Vec<(Candidate, String)> = report
        .candidates
        .iter()
        .filter(|candidate| candidate.time_us().is_none())
        .map(|candidate| (candidate.candidate, candidate.why_not().unwrap_or_default()))
        .collect();
    Columns::of(&rows)
        .left("candidate", |(candidate, _)| candidate.to_string())
        .left("why not", |(_, why)| why.clone())
        .grid()
}

/// Returns how channels and warps follow, for the candidate that was chosen.
fn launch_text(report: &TunerExplanation) -> Option<String> {
    let choice = report.choice.ok()?;
    let channels = usize::try_from(choice.channels_max).unwrap_or(0);
    let chosen = (report.candidates.iter()).find(|candidate| report.is_chosen(candidate))?;
    Some(format!(
        "channels, then threads, are taken away while bytes < channels x threads x {}: from {} channels of {} \
         threads to {}; {} warps",
        chosen.thread_threshold,
        report.channels,
        chosen.threads_max,
        count(channels, "channel"),
        choice.warps
    ))
}

/// Returns the explanation as text for a terminal.
pub fn tuner_explanation_table(report: &TunerExplanation, style: Style) -> String {
    let mut out = format!("{}\n\n{}\n", report.headline(), report.outcome());
    if let Some(launch) = launch_text(report) {
        let _ = writeln!(out, "{launch}");
    }
    for candidate in report.ranked() {
        let tone = if report.is_chosen(candidate) {
            Tone::Good
        } else {
            Tone::Strong
        };
        let title = style.paint(tone, &report.title(candidate));
        let _ = write!(out, "\n{title}\n\n{}", steps_grid(candidate).text(style));
    }
    let title = style.paint(Tone::Strong, "not weighed");
    let _ = write!(out, "\n{title}\n\n{}", not_weighed_grid(report).text(style));
    out
}

/// Returns the explanation as Markdown.
pub fn tuner_explanation_markdown(report: &TunerExplanation) -> String {
    let mut out = format!("# {}\n\n{}.\n", report.headline(), report.outcome());
    if let Some(launch) = launch_text(report) {
        let _ = write!(out, "\n{}.\n", capitalized(&launch));
    }
    for note in &report.subject.notes {
        let _ = write!(out, "\n{}.\n", capitalized(note));
    }
    for candidate in report.ranked() {
        let title = report.title(candidate);
        let _ = write!(out, "\n## {title}\n\n{}", steps_grid(candidate).markdown());
    }
    let _ = write!(
        out,
        "\n## Not weighed\n\n{}",
        not_weighed_grid(report).markdown()
    );
    out
}

/// Returns the terms as CSV, one row each.
pub fn tuner_explanation_csv(report: &TunerExplanation) -> String {
    let mut out = "algorithm,protocol,quantity,term,operation,result\n".to_owned();
    for candidate in report.ranked() {
        let Candidate {
            algorithm,
            protocol,
        } = candidate.candidate;
        for Step { quantity, term } in candidate.steps() {
            let _ = writeln!(
                out,
                "{algorithm},{protocol},{quantity},{},{},{}",
                quoted(term.name),
                operation_text(term.operation),
                term.result
            );
        }
    }
    out
}

/// Returns the explanation as JSON of schema `tier6.tuner_explanation/1`.
pub fn tuner_explanation_json(report: &TunerExplanation) -> String {
    let choice = report.choice.ok();
    pretty(&ExplanationDto {
        schema: "tier6.tuner_explanation/1",
        nccl: report.subject.nccl.to_string(),
        version_used: report.subject.version_used.to_string(),
        source: &report.subject.source,
        collective: report.collective.to_string(),
        ranks: report.subject.ranks,
        nodes: report.subject.nodes,
        bytes: report.bytes.get(),
        algorithm: choice.map(|choice| choice.candidate.algorithm.to_string()),
        protocol: choice.map(|choice| choice.candidate.protocol.to_string()),
        time_us: choice.map(|choice| choice.time_us),
        channels: choice.map(|choice| choice.channels_max),
        warps: choice.map(|choice| choice.warps),
        error: report.choice.err().map(|error| error.to_string()),
        candidates: report.candidates.iter().map(CandidateDto::new).collect(),
        notes: &report.subject.notes,
    })
}

#[derive(Serialize)]
struct ExplanationDto<'a> {
    schema: &'static str,
    nccl: String,
    version_used: String,
    source: &'a str,
    collective: String,
    ranks: i32,
    nodes: i32,
    bytes: u64,
    algorithm: Option<String>,
    protocol: Option<String>,
    time_us: Option<f32>,
    channels: Option<i8>,
    warps: Option<i32>,
    error: Option<String>,
    candidates: Vec<CandidateDto>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct CandidateDto {
    algorithm: String,
    protocol: String,
    time_us: Option<f32>,
    why_not: Option<String>,
    threads_max: i32,
    thread_threshold_bytes: i64,
    terms: Vec<TermDto>,
}

#[derive(Serialize)]
struct TermDto {
    quantity: &'static str,
    term: &'static str,
    operation: String,
    result: f32,
}

impl CandidateDto {
    fn new(candidate: &ExplainedCandidate) -> Self {
        let steps = candidate.steps();
        Self {
            algorithm: candidate.candidate.algorithm.to_string(),
            protocol: candidate.candidate.protocol.to_string(),
            time_us: candidate.time_us(),
            why_not: candidate.why_not(),
            threads_max: candidate.threads_max,
            thread_threshold_bytes: candidate.thread_threshold,
            terms: (steps.iter())
                .map(|step| TermDto {
                    quantity: step.quantity,
                    term: step.term.name,
                    operation: operation_text(step.term.operation),
                    result: step.term.result,
                })
                .collect(),
        }
    }
}
