//! What NCCL chooses over a range of sizes, with every candidate's time or the reason why it
//! is not weighed, and the latencies and bandwidths behind the times.

use super::TunerSubject;
use super::json::{CandidateDto, CellDto, ChoiceDto, SwitchDto};
use crate::analysis::csv::quoted;
use crate::analysis::json::pretty;
use crate::grid::{Align, Cell, Columns, Grid};
use crate::number::{ABSENT, fixed};
use crate::style::{Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::{Candidate, Choice, Entry, NcclCollective, NoCandidateError, WhyNot};
use tier6_units::Bytes;

/// The tuner's answers for one collective.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerChoices {
    /// The communicator and the release.
    pub subject: TunerSubject,
    /// The collective.
    pub collective: NcclCollective,
    /// Operations that are pipelined.
    pub pipe_ops: u32,
    /// One entry per size, ascending.
    pub calls: Vec<WeighedCall>,
    /// Latency and bandwidth of every candidate, in NCCL's order.
    pub cells: Vec<TableCell>,
}

/// The tuner's answer for one size.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedCall {
    /// The size as the chooser sees it.
    pub bytes: Bytes,
    /// The choice, or how the call fails.
    pub choice: Result<Choice, NoCandidateError>,
    /// Every candidate's entry, in NCCL's order.
    pub entries: Vec<(Candidate, Entry)>,
}

/// One candidate of the tables that NCCL fills once per communicator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableCell {
    /// The candidate.
    pub candidate: Candidate,
    /// Its latency, us.
    pub latency_us: f32,
    /// Its algorithm bandwidth, GB/s; zero where it is not available.
    pub bandwidth_gbs: f32,
    /// The most threads per channel.
    pub threads_max: i32,
    /// Why it is not available, whatever the call.
    pub why_not: Option<WhyNot>,
}

/// How much of the answers is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunerView {
    /// The choices.
    Choices,
    /// The choices and every candidate.
    Candidates,
    /// The same, with latencies and bandwidths.
    Table,
}

/// A size at which another candidate wins.
pub(super) struct Switch {
    pub(super) bytes: Bytes,
    pub(super) from: Candidate,
    pub(super) to: Candidate,
}

impl TunerChoices {
    pub(super) fn switches(&self) -> Vec<Switch> {
        let pairs = self.calls.iter().zip(self.calls.iter().skip(1));
        let switches = pairs.filter_map(|(before, after)| {
            let from = before.choice.ok()?.candidate;
            let to = after.choice.ok()?.candidate;
            let bytes = after.bytes;
            (from != to).then_some(Switch { bytes, from, to })
        });
        switches.collect()
    }

    /// Returns the candidates with a time at some size.
    fn weighed(&self) -> Vec<Candidate> {
        let has_time = |candidate: &Candidate| {
            let all = self.calls.iter().flat_map(|call| &call.entries);
            all.filter(|(other, _)| other == candidate)
                .any(|(_, entry)| !matches!(entry, Entry::Unavailable { .. }))
        };
        Candidate::all().filter(has_time).collect()
    }

    /// Returns the candidates that are not weighed at any size, with the reasons.
    fn not_weighed(&self) -> Vec<(Candidate, String)> {
        let weighed = self.weighed();
        let others = Candidate::all().filter(|candidate| !weighed.contains(candidate));
        let with_reasons = others.map(|candidate| {
            let mut reasons: Vec<String> = Vec::new();
            for (_, entry) in self
                .calls
                .iter()
                .filter_map(|call| entry_of(call, candidate))
            {
                if let Entry::Unavailable { why, .. } = entry {
                    let why = why.to_string();
                    if !reasons.contains(&why) {
                        reasons.push(why);
                    }
                }
            }
            (candidate, reasons.join("; "))
        });
        with_reasons.collect()
    }
}

fn entry_of(call: &WeighedCall, candidate: Candidate) -> Option<&(Candidate, Entry)> {
    call.entries.iter().find(|(other, _)| *other == candidate)
}

/// Returns the answers as text for a terminal.
pub fn tuner_choices_table(report: &TunerChoices, view: TunerView, style: Style) -> String {
    let mut out = format!("{}\n\n", report.subject.headline(report.collective));
    for (index, (title, grid)) in sections(report, view).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if view != TunerView::Choices {
            let _ = writeln!(out, "{title}\n");
        }
        out += &grid.text(style);
    }
    let switches = switch_words(report);
    if !switches.is_empty() {
        let _ = writeln!(out, "\nswitches: {switches}");
    }
    out
}

/// Returns the answers as Markdown.
pub fn tuner_choices_markdown(report: &TunerChoices, view: TunerView) -> String {
    let mut out = format!("# {}\n", report.subject.headline(report.collective));
    for note in &report.subject.notes {
        let _ = write!(out, "\n{}.\n", capitalized(note));
    }
    for (title, grid) in sections(report, view) {
        if view != TunerView::Choices {
            let _ = write!(out, "\n## {}\n", capitalized(title));
        }
        let _ = write!(out, "\n{}", grid.markdown());
    }
    let switches = switch_words(report);
    if !switches.is_empty() {
        let _ = write!(out, "\nSwitches: {switches}.\n");
    }
    out
}

fn sections(report: &TunerChoices, view: TunerView) -> Vec<(&'static str, Grid)> {
    let choices = ("choices", choices_grid(report));
    let candidates = || {
        (
            "times of the candidates in us, * is chosen",
            times_grid(report),
        )
    };
    let not_weighed = || ("not weighed", not_weighed_grid(report));
    match view {
        TunerView::Choices => vec![choices],
        TunerView::Candidates => vec![choices, candidates(), not_weighed()],
        TunerView::Table => vec![
            ("latency and bandwidth", cells_grid(report)),
            candidates(),
            not_weighed(),
        ],
    }
}

fn choices_grid(report: &TunerChoices) -> Grid {
    let of = |call: &WeighedCall, text: fn(&Choice) -> String| match &call.choice {
        Ok(choice) => text(choice),
        Err(_) => ABSENT.to_owned(),
    };
    let mut columns = Columns::of(&report.calls)
        .right("size", |call| call.bytes.to_string())
        .right("bytes", |call| call.bytes.get().to_string())
        .left("algorithm", |call| {
            of(call, |choice| choice.candidate.algorithm.to_string())
        })
        .left("protocol", |call| {
            of(call, |choice| choice.candidate.protocol.to_string())
        })
        .right("time us", |call| {
            of(call, |choice| fixed(f64::from(choice.time_us), 3))
        })
        .right("channels", |call| {
            of(call, |choice| choice.channels_max.to_string())
        })
        .right("warps", |call| of(call, |choice| choice.warps.to_string()));
    if report.calls.iter().any(|call| call.choice.is_err()) {
        columns = columns.cells("", Align::Left, |call| match &call.choice {
            Ok(_) => Cell::new(""),
            Err(error) => Cell::toned(error.to_string(), Tone::Bad),
        });
    }
    columns.grid()
}

fn times_grid(report: &TunerChoices) -> Grid {
    let mut columns = Columns::of(&report.calls).right("size", |call| call.bytes.to_string());
    for candidate in report.weighed() {
        columns = columns.cells(&candidate.to_string(), Align::Right, move |call| {
            let is_chosen = call
                .choice
                .is_ok_and(|choice| choice.candidate == candidate);
            let us = match entry_of(call, candidate) {
                Some((_, Entry::Time(us) | Entry::Backup(us))) => fixed(f64::from(*us), 3),
                Some((_, Entry::Unavailable { .. })) | None => ABSENT.to_owned(),
            };
            if is_chosen {
                Cell::toned(format!("* {us}"), Tone::Good)
            } else {
                Cell::new(us)
            }
        });
    }
    columns.grid()
}

fn not_weighed_grid(report: &TunerChoices) -> Grid {
    let rows = report.not_weighed();
    // The values live as long as this function; the grid owns its text.
    Columns::of(&rows)
        .left("candidate", |(candidate, _)| candidate.to_string())
        .left("why not", |(_, reason)| reason.clone())
        .grid()
}

fn cells_grid(report: &TunerChoices) -> Grid {
    let shown: Vec<&TableCell> = report
        .cells
        .iter()
        .filter(|cell| cell.latency_us != 0.0 || cell.bandwidth_gbs != 0.0)
        .collect();
    Columns::of(&shown)
        .left("candidate", |cell| cell.candidate.to_string())
        .right("latency us", |cell| fixed(f64::from(cell.latency_us), 3))
        .right("algbw GB/s", |cell| fixed(f64::from(cell.bandwidth_gbs), 3))
        .right("threads", |cell| cell.threads_max.to_string())
        .left("why not", |cell| {
            cell.why_not.map_or_else(String::new, |why| why.to_string())
        })
        .grid()
}

fn switch_words(report: &TunerChoices) -> String {
    let words = report.switches().into_iter().map(|switch| {
        let Switch { bytes, from, to } = switch;
        format!("{bytes} {from} -> {to}")
    });
    words.collect::<Vec<_>>().join(", ")
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Returns the answers as JSON of schema `tier6.tuner/1`. Additions to the contract:
/// `version_used`, `source`, `ranks`, `nodes`, `pipe_ops`, `switches`, `notes`, and with the
/// table `cells`.
pub fn tuner_choices_json(report: &TunerChoices, view: TunerView) -> String {
    let candidates = (view != TunerView::Choices).then(|| {
        let all = report.calls.iter().flat_map(|call| {
            let entries = call.entries.iter();
            entries.map(|(candidate, entry)| CandidateDto::new(call.bytes, *candidate, entry))
        });
        all.collect()
    });
    let subject = &report.subject;
    pretty(&ChoicesDto {
        schema: "tier6.tuner/1",
        nccl: subject.nccl.to_string(),
        version_used: subject.version_used.to_string(),
        source: &subject.source,
        collective: report.collective.to_string(),
        ranks: subject.ranks,
        nodes: subject.nodes,
        pipe_ops: report.pipe_ops,
        choices: report.calls.iter().map(ChoiceDto::new).collect(),
        candidates,
        cells: (view == TunerView::Table).then(|| report.cells.iter().map(CellDto::new).collect()),
        switches: report.switches().iter().map(SwitchDto::new).collect(),
        notes: &subject.notes,
    })
}

#[derive(Serialize)]
struct ChoicesDto<'a> {
    schema: &'static str,
    nccl: String,
    version_used: String,
    source: &'a str,
    collective: String,
    ranks: i32,
    nodes: i32,
    pipe_ops: u32,
    choices: Vec<ChoiceDto>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<CandidateDto>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<CellDto>>,
    switches: Vec<SwitchDto>,
    notes: &'a [String],
}

/// Returns the answers as CSV: one row per size, or per size and candidate.
pub fn tuner_choices_csv(report: &TunerChoices, view: TunerView) -> String {
    let subject = &report.subject;
    let (nccl, collective) = (subject.nccl, report.collective);
    if view == TunerView::Choices {
        let mut out =
            "nccl,collective,bytes,algorithm,protocol,time_us,channels,warps\n".to_owned();
        for call in &report.calls {
            let chosen = match &call.choice {
                Ok(choice) => format!(
                    "{},{},{},{},{}",
                    choice.candidate.algorithm,
                    choice.candidate.protocol,
                    choice.time_us,
                    choice.channels_max,
                    choice.warps
                ),
                Err(_) => ",,,,".to_owned(),
            };
            let _ = writeln!(out, "{nccl},{collective},{},{chosen}", call.bytes.get());
        }
        return out;
    }
    let mut out = "nccl,collective,bytes,algorithm,protocol,time_us,chosen,why_not\n".to_owned();
    for call in &report.calls {
        for (candidate, entry) in &call.entries {
            let is_chosen = call
                .choice
                .is_ok_and(|choice| choice.candidate == *candidate);
            let (us, why) = match entry {
                Entry::Time(us) => (us.to_string(), String::new()),
                Entry::Backup(us) => (
                    us.to_string(),
                    WhyNot::Backup(candidate.protocol).to_string(),
                ),
                Entry::Unavailable { why, .. } => (String::new(), why.to_string()),
            };
            let _ = writeln!(
                out,
                "{nccl},{collective},{},{},{},{us},{is_chosen},{}",
                call.bytes.get(),
                candidate.algorithm,
                candidate.protocol,
                quoted(&why)
            );
        }
    }
    out
}
