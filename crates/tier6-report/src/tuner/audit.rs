//! NCCL's predictions beside measured times, and its choices beside measured alternatives.
//!
//! Two tables that must not be mixed up: a wrong time is no wrong choice.

use super::TunerSubject;
use super::json::{CrossoverDto, IntervalDto, PathsDto};
use crate::analysis::csv::{number, quoted, text};
use crate::analysis::json::pretty;
use crate::grid::{Align, Cell, Columns, Grid};
use crate::number::{ABSENT, count, fixed, signed};
use crate::style::{Detail, Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::NcclCollective;
use tier6_stats::Accuracy;
use tier6_study::{ChoiceAudit, ChoiceVerdict, Crossover, PredictedSize, SizeAudit};

/// Predictions and choices of NCCL against measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditReport {
    /// Where predictions come from, as given.
    pub reference: String,
    /// The communicator and release, where the predictions are the model's.
    pub subject: Option<TunerSubject>,
    /// Every measured run.
    pub runs: Vec<AuditedRun>,
    /// Every call with forced runs.
    pub calls: Vec<AuditedCall>,
}

/// One measured run beside its predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedRun {
    /// The name of the run.
    pub label: String,
    /// What was forced: `ring+ll`, `ll`, `default`.
    pub forced: String,
    /// The collective.
    pub collective: NcclCollective,
    /// Ranks, when known.
    pub ranks: Option<u32>,
    /// Nodes, when known.
    pub nodes: Option<u32>,
    /// Every size with a prediction.
    pub sizes: Vec<PredictedSize>,
    /// The errors of all sizes together.
    pub accuracy: Option<Accuracy>,
}

/// The choices of one call beside forced runs.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedCall {
    /// The collective.
    pub collective: NcclCollective,
    /// Ranks, when known.
    pub ranks: Option<u32>,
    /// Nodes, when known.
    pub nodes: Option<u32>,
    /// What the forced runs say.
    pub audit: ChoiceAudit,
}

/// Returns `all_reduce on 4 ranks, 1 node`, as far as it is known.
pub(super) fn call_name(
    collective: NcclCollective,
    ranks: Option<u32>,
    nodes: Option<u32>,
) -> String {
    let part = |n: Option<u32>, word| n.map(|n| count(n as usize, word));
    let parts: Vec<String> = [part(ranks, "rank"), part(nodes, "node")]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() {
        collective.to_string()
    } else {
        format!("{collective} on {}", parts.join(", "))
    }
}

impl AuditReport {
    fn headline(&self) -> String {
        match &self.subject {
            Some(subject) => format!(
                "predictions of NCCL {} for {}",
                subject.version_used, subject.source
            ),
            None => format!("predictions of {}", self.reference),
        }
    }
}

impl AuditedRun {
    fn title(&self) -> String {
        let call = call_name(self.collective, self.ranks, self.nodes);
        format!("{}: {call}, {}", self.label, self.forced)
    }

    /// Returns the errors of all sizes in words.
    fn accuracy_text(&self) -> Option<String> {
        let accuracy = self.accuracy?;
        let worst = self.sizes.get(accuracy.max_at)?;
        Some(format!(
            "{}: mean error {} %, largest {} % at {}",
            count(self.sizes.len(), "size"),
            fixed(accuracy.mape * 100.0, 2),
            signed(worst.error_pct, 2),
            worst.bytes
        ))
    }
}

fn times_grid(run: &AuditedRun) -> Grid {
    Columns::of(&run.sizes)
        .right("size", |size| size.bytes.to_string())
        .left("path", |size| {
            size.candidate
                .map_or_else(|| ABSENT.to_owned(), |candidate| candidate.to_string())
        })
        .numbers("predicted us", 3, |size| Some(size.predicted.get()))
        .numbers("measured us", 3, |size| Some(size.measured.get()))
        .signed("error %", 2, |size| Some(size.error_pct))
        .grid()
}

fn choices_grid(audit: &ChoiceAudit) -> Grid {
    Columns::of(&audit.sizes)
        .right("size", |size| size.bytes.to_string())
        .left("fastest", |size| best(size, |best| best.0))
        .right("us", |size| best(size, |best| fixed(best.1, 2)))
        .right("NCCL us", |size| {
            let chosen = size.chosen;
            chosen.map_or_else(|| ABSENT.to_owned(), |chosen| fixed(chosen.time.get(), 2))
        })
        .left("NCCL ran", |size| {
            let path = size.chosen.and_then(|chosen| chosen.candidate);
            path.map_or_else(|| ABSENT.to_owned(), |path| path.to_string())
        })
        .signed("regret us", 2, |size| {
            size.chosen.map(|chosen| chosen.regret.get())
        })
        .right("regret % [95 %]", regret_text)
        .cells("verdict", Align::Left, |size| {
            let tone = match size.verdict {
                ChoiceVerdict::Best => Tone::Good,
                ChoiceVerdict::WithinNoise => Tone::Plain,
                ChoiceVerdict::Wrong => Tone::Bad,
                ChoiceVerdict::Unknown => Tone::Dim,
            };
            Cell::toned(verdict_words(size.verdict), tone)
        })
        .grid()
}

const fn verdict_words(verdict: ChoiceVerdict) -> &'static str {
    match verdict {
        ChoiceVerdict::Best => "best measured",
        ChoiceVerdict::WithinNoise => "within noise",
        ChoiceVerdict::Wrong => "WRONG CHOICE",
        ChoiceVerdict::Unknown => "not known",
    }
}

fn best(size: &SizeAudit, text: impl Fn((String, f64)) -> String) -> String {
    match size.alternatives.first() {
        Some(best) => text((best.way.to_string(), best.time.get())),
        None => ABSENT.to_owned(),
    }
}

fn regret_text(size: &SizeAudit) -> String {
    let Some(chosen) = size.chosen else {
        return ABSENT.to_owned();
    };
    let interval = chosen.regret_interval_pct;
    format!(
        "{} [{}, {}]",
        signed(chosen.regret_pct, 1),
        signed(interval.low, 1),
        signed(interval.high, 1)
    )
}

/// Returns `ring+ll -> ring+simple at 48 KiB [40 KiB, 56 KiB]`.
pub(super) fn crossover_text(crossover: &Crossover) -> String {
    let Crossover {
        from, to, bytes, ..
    } = crossover;
    let interval = if let Some((low, high)) = crossover.interval {
        format!(" [{low}, {high}]")
    } else {
        let (low, high) = crossover.between;
        format!(" (between {low} and {high}, not narrowed)")
    };
    format!("{from} -> {to} at {bytes}{interval}")
}

fn summary_lines(audit: &ChoiceAudit) -> Vec<String> {
    let mut lines = Vec::new();
    let verdicts = |verdict| {
        let sizes = audit.sizes.iter();
        sizes.filter(|size| size.verdict == verdict).count()
    };
    lines.push(format!(
        "{}: {} best measured, {} within noise, {} wrong, {} not known",
        count(audit.sizes.len(), "size"),
        verdicts(ChoiceVerdict::Best),
        verdicts(ChoiceVerdict::WithinNoise),
        verdicts(ChoiceVerdict::Wrong),
        verdicts(ChoiceVerdict::Unknown)
    ));
    if let Some(mean) = audit.mean_regret_pct {
        lines.push(format!(
            "mean regret of NCCL's choice: {} %",
            signed(mean, 2)
        ));
    }
    let crossovers = audit.crossovers.iter();
    lines.extend(crossovers.map(|c| format!("measured crossover: {}", crossover_text(c))));
    lines
}

/// Returns the audit as text for a terminal. The short form leaves out the predictions of runs
/// that were forced.
pub fn audit_table(report: &AuditReport, style: Style, detail: Detail) -> String {
    let mut out = format!("{}\n", report.headline());
    for run in shown_runs(report, detail) {
        let title = style.paint(Tone::Strong, &run.title());
        let _ = write!(out, "\n{title}\n\n{}", times_grid(run).text(style));
        if let Some(accuracy) = run.accuracy_text() {
            let _ = writeln!(out, "\n{accuracy}");
        }
    }
    for call in &report.calls {
        let name = call_name(call.collective, call.ranks, call.nodes);
        let title = style.paint(Tone::Strong, &format!("choices: {name}"));
        let _ = write!(
            out,
            "\n{title}\n\n{}\n",
            choices_grid(&call.audit).text(style)
        );
        for line in summary_lines(&call.audit) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Returns the audit as Markdown.
pub fn audit_markdown(report: &AuditReport) -> String {
    let mut out = format!("# Audit: {}\n", report.headline());
    for run in shown_runs(report, Detail::Wide) {
        let _ = write!(
            out,
            "\n## {}\n\n{}",
            run.title(),
            times_grid(run).markdown()
        );
        if let Some(accuracy) = run.accuracy_text() {
            let _ = write!(out, "\n{accuracy}.\n");
        }
    }
    for call in &report.calls {
        let name = call_name(call.collective, call.ranks, call.nodes);
        let grid = choices_grid(&call.audit).markdown();
        let _ = write!(out, "\n## Choices: {name}\n\n{grid}");
        for line in summary_lines(&call.audit) {
            let _ = write!(out, "\n{line}.\n");
        }
    }
    out
}

fn shown_runs(report: &AuditReport, detail: Detail) -> impl Iterator<Item = &AuditedRun> {
    let has_default = report.runs.iter().any(|run| run.forced == "default");
    let is_shown = move |run: &&AuditedRun| {
        !run.sizes.is_empty() && (detail == Detail::Wide || !has_default || run.forced == "default")
    };
    report.runs.iter().filter(is_shown)
}

/// Returns the predictions as CSV, one row per run and size.
pub fn audit_csv(report: &AuditReport) -> String {
    let mut out = "run,forced,collective,ranks,nodes,bytes,algorithm,protocol,predicted_us,\
                   measured_us,error_pct\n"
        .to_owned();
    for run in &report.runs {
        for size in &run.sizes {
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{}",
                quoted(&run.label),
                run.forced,
                run.collective,
                text(run.ranks),
                text(run.nodes),
                size.bytes.get(),
                text(size.candidate.map(|candidate| candidate.algorithm)),
                text(size.candidate.map(|candidate| candidate.protocol)),
                number(Some(size.predicted.get())),
                number(Some(size.measured.get())),
                number(Some(size.error_pct))
            );
        }
    }
    out
}

/// Returns the audit as JSON of schema `tier6.tuner_audit/1`.
pub fn audit_json(report: &AuditReport) -> String {
    let subject = report.subject.as_ref();
    pretty(&ReportDto {
        schema: "tier6.tuner_audit/1",
        reference: &report.reference,
        nccl: subject.map(|subject| subject.nccl.to_string()),
        version_used: subject.map(|subject| subject.version_used.to_string()),
        runs: report.runs.iter().map(RunDto::new).collect(),
        calls: report.calls.iter().map(CallDto::new).collect(),
        notes: subject
            .map(|subject| subject.notes.as_slice())
            .unwrap_or_default(),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    reference: &'a str,
    nccl: Option<String>,
    version_used: Option<String>,
    runs: Vec<RunDto<'a>>,
    calls: Vec<CallDto>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct RunDto<'a> {
    run: &'a str,
    forced: &'a str,
    collective: String,
    ranks: Option<u32>,
    nodes: Option<u32>,
    mape_pct: Option<f64>,
    max_error_pct: Option<f64>,
    rmspe_pct: Option<f64>,
    points: Vec<PointDto>,
}

#[derive(Serialize)]
struct PointDto {
    bytes: u64,
    algorithm: Option<String>,
    protocol: Option<String>,
    predicted_us: f64,
    measured_us: f64,
    error_pct: f64,
}

#[derive(Serialize)]
struct CallDto {
    collective: String,
    ranks: Option<u32>,
    nodes: Option<u32>,
    mean_regret_pct: Option<f64>,
    sizes: Vec<SizeDto>,
    crossovers: Vec<CrossoverDto>,
    paths: Vec<PathsDto>,
    follows: Vec<FollowsDto>,
}

#[derive(Serialize)]
struct SizeDto {
    bytes: u64,
    alternatives: Vec<AlternativeDto>,
    chosen: Option<ChosenDto>,
    verdict: &'static str,
}

#[derive(Serialize)]
struct AlternativeDto {
    path: String,
    time_us: f64,
    basis: Option<&'static str>,
}

#[derive(Serialize)]
struct ChosenDto {
    path: Option<String>,
    basis: &'static str,
    time_us: f64,
    regret_us: f64,
    regret_pct: f64,
    regret_interval_pct: IntervalDto,
}

#[derive(Serialize)]
struct FollowsDto {
    run: String,
    first_bytes: u64,
    last_bytes: u64,
    paths: Vec<String>,
}

impl<'a> RunDto<'a> {
    fn new(run: &'a AuditedRun) -> Self {
        let pct = |part: fn(Accuracy) -> f64| run.accuracy.map(|accuracy| part(accuracy) * 100.0);
        let points = run.sizes.iter().map(|size| PointDto {
            bytes: size.bytes.get(),
            algorithm: size
                .candidate
                .map(|candidate| candidate.algorithm.to_string()),
            protocol: size
                .candidate
                .map(|candidate| candidate.protocol.to_string()),
            predicted_us: size.predicted.get(),
            measured_us: size.measured.get(),
            error_pct: size.error_pct,
        });
        Self {
            run: &run.label,
            forced: &run.forced,
            collective: run.collective.to_string(),
            ranks: run.ranks,
            nodes: run.nodes,
            mape_pct: pct(|accuracy| accuracy.mape),
            max_error_pct: pct(|accuracy| accuracy.max_relative),
            rmspe_pct: pct(|accuracy| accuracy.rmspe),
            points: points.collect(),
        }
    }
}

impl CallDto {
    fn new(call: &AuditedCall) -> Self {
        let audit = &call.audit;
        let follows = audit.follows.iter().map(|follows| FollowsDto {
            run: follows.label.clone(),
            first_bytes: follows.first.get(),
            last_bytes: follows.last.get(),
            paths: follows.ways.iter().map(ToString::to_string).collect(),
        });
        Self {
            collective: call.collective.to_string(),
            ranks: call.ranks,
            nodes: call.nodes,
            mean_regret_pct: audit.mean_regret_pct,
            sizes: audit.sizes.iter().map(SizeDto::new).collect(),
            crossovers: audit.crossovers.iter().map(CrossoverDto::new).collect(),
            paths: PathsDto::all(&audit.paths),
            follows: follows.collect(),
        }
    }
}

impl SizeDto {
    fn new(size: &SizeAudit) -> Self {
        let alternatives = size.alternatives.iter().map(|alternative| AlternativeDto {
            path: alternative.way.to_string(),
            time_us: alternative.time.get(),
            basis: alternative.basis.map(tier6_study::AttributionBasis::name),
        });
        Self {
            bytes: size.bytes.get(),
            alternatives: alternatives.collect(),
            chosen: size.chosen.map(|chosen| ChosenDto {
                path: chosen.candidate.map(|candidate| candidate.to_string()),
                basis: chosen.basis.name(),
                time_us: chosen.time.get(),
                regret_us: chosen.regret.get(),
                regret_pct: chosen.regret_pct,
                regret_interval_pct: IntervalDto::new(chosen.regret_interval_pct),
            }),
            verdict: size.verdict.name(),
        }
    }
}
