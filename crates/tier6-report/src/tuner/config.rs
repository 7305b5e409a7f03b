//! What speaks for a tuner configuration file that was made from sweeps: rows with their gain,
//! crossovers, what was refused, and how the rows do on sizes that they were not made from.

use super::audit::{call_name, crossover_text};
use super::json::{CrossoverDto, IntervalDto, PathsDto};
use crate::analysis::json::pretty;
use crate::grid::{Align, Cell, Columns, Grid};
use crate::number::{ABSENT, count, fixed, signed};
use crate::style::{Detail, Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::{Dialect, Finding, Severity};
use tier6_study::{ConfigPlan, Gain, GainVerdict, PlannedRow, Regret};

/// A file, and what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigReport {
    /// The dialect.
    pub dialect: Dialect,
    /// The text of the file.
    pub text: String,
    /// Rules of the file as its plug-in reads it.
    pub rules: usize,
    /// The rows from measurements, one plan per call.
    pub plans: Vec<ConfigPlan>,
    /// What the linter says to the file.
    pub findings: Vec<Finding>,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
}

impl ConfigReport {
    fn verdict(&self) -> String {
        let rows: usize = self.plans.iter().map(|plan| plan.rows.len()).sum();
        let others = self.rules.saturating_sub(rows);
        let others = if others > 0 {
            format!(" and {} for other calls", count(others, "rule"))
        } else {
            String::new()
        };
        let findings = match self.findings.len() {
            0 => "read back and checked: nothing found".to_owned(),
            n => format!("read back and checked: {}", count(n, "finding")),
        };
        let rows = format!("{rows} row{}", if rows == 1 { "" } else { "s" });
        format!(
            "{}: {rows} from measurements{others}; {findings}",
            self.dialect
        )
    }
}

fn range_text(row: &PlannedRow) -> String {
    match row.last {
        Some(last) => format!("{} to {last}", row.first),
        None => format!("{} and above", row.first),
    }
}

fn gain_text(gain: Option<Gain>) -> String {
    let Some(gain) = gain else {
        return ABSENT.to_owned();
    };
    let interval = gain.interval_pct;
    format!(
        "{} [{}, {}]",
        signed(gain.pct, 1),
        signed(interval.low, 1),
        signed(interval.high, 1)
    )
}

fn over_text(gain: Option<Gain>) -> String {
    match gain {
        None => ABSENT.to_owned(),
        Some(Gain { over: None, .. }) => "NCCL's own choice".to_owned(),
        Some(Gain {
            over: Some(path), ..
        }) => format!("{path} everywhere"),
    }
}

fn rows_grid(plan: &ConfigPlan) -> Grid {
    Columns::of(&plan.rows)
        .right("sizes", range_text)
        .left("path", |row| row.ask.to_string())
        .right("measured", |row| row.sizes.to_string())
        .left("path known by", |row| row.basis.name().to_owned())
        .right("gain % [95 %]", |row| gain_text(row.gain))
        .left("over", |row| over_text(row.gain))
        .cells("", Align::Left, |row| match row.gain {
            Some(gain) => Cell::toned(
                match gain.verdict {
                    GainVerdict::Faster => "faster",
                    GainVerdict::WithinNoise => "within noise",
                    GainVerdict::Slower => "slower",
                },
                match gain.verdict {
                    GainVerdict::Faster => Tone::Good,
                    GainVerdict::WithinNoise => Tone::Dim,
                    GainVerdict::Slower => Tone::Bad,
                },
            ),
            None => Cell::new(""),
        })
        .grid()
}

/// One line of the table of regrets.
struct RegretRow {
    name: String,
    rows: Option<usize>,
    regret: Regret,
    own: Option<Regret>,
}

fn regrets(plan: &ConfigPlan) -> Vec<RegretRow> {
    let mut rows = vec![RegretRow {
        name: "the sizes used".to_owned(),
        rows: Some(plan.rows.len()),
        regret: plan.in_sample,
        own: plan.own_choice,
    }];
    rows.extend(plan.held_out.iter().map(|held_out| RegretRow {
        name: format!("held out, made from {} sizes", held_out.trained_on.name()),
        rows: Some(held_out.rows),
        regret: held_out.regret,
        own: held_out.own_choice,
    }));
    rows
}

fn regrets_grid(rows: &[RegretRow]) -> Grid {
    let worst = |regret: &Regret| match regret.worst {
        Some((pct, bytes)) => format!("{} at {bytes}", fixed(pct, 1)),
        None => ABSENT.to_owned(),
    };
    Columns::of(rows)
        .left("regret against the fastest measured", |row| {
            row.name.clone()
        })
        .right("rows", |row| {
            row.rows.map_or_else(String::new, |n| n.to_string())
        })
        .right("sizes", |row| row.regret.sizes.to_string())
        .right("mean %", |row| fixed(row.regret.mean_pct, 2))
        .right("worst %", move |row| worst(&row.regret))
        .right("NCCL's own, mean %", |row| {
            let own = row.own.filter(|own| own.sizes > 0);
            own.map_or_else(|| ABSENT.to_owned(), |own| fixed(own.mean_pct, 2))
        })
        .grid()
}

/// Returns crossovers and refusals in words.
fn remarks(plan: &ConfigPlan) -> Vec<String> {
    let crossovers = plan.crossovers.iter();
    let crossovers = crossovers.map(|c| format!("crossover: {}", crossover_text(c)));
    let refused = plan
        .refused
        .iter()
        .map(|refusal| format!("not written: {refusal}"));
    crossovers.chain(refused).collect()
}

/// Returns what speaks for the file as text for a terminal; the wide form holds the file, too.
pub fn config_table(report: &ConfigReport, style: Style, detail: Detail) -> String {
    let mut out = format!("{}\n", report.verdict());
    for plan in &report.plans {
        let name = call_name(plan.collective, plan.ranks, plan.nodes);
        let title = style.paint(Tone::Strong, &name);
        let _ = write!(out, "\n{title}\n\n{}", rows_grid(plan).text(style));
        let _ = write!(out, "\n{}", regrets_grid(&regrets(plan)).text(style));
        let remarks = remarks(plan);
        if !remarks.is_empty() {
            let _ = write!(out, "\n{}\n", remarks.join("\n"));
        }
    }
    if !report.findings.is_empty() {
        out.push('\n');
        for finding in &report.findings {
            let _ = writeln!(out, "line {}: {finding}", finding.line);
        }
    }
    if detail == Detail::Wide {
        let _ = write!(
            out,
            "\n{}\n{}",
            style.paint(Tone::Strong, "file"),
            report.text
        );
    }
    out
}

/// Returns what speaks for the file, and the file, as Markdown.
pub fn config_markdown(report: &ConfigReport) -> String {
    let mut out = format!("# Tuner configuration\n\n{}.\n", report.verdict());
    for plan in &report.plans {
        let name = call_name(plan.collective, plan.ranks, plan.nodes);
        let _ = write!(
            out,
            "\n## {name}\n\n{}\n{}",
            rows_grid(plan).markdown(),
            regrets_grid(&regrets(plan)).markdown()
        );
        for remark in remarks(plan) {
            let _ = write!(out, "\n{remark}.\n");
        }
    }
    let _ = write!(out, "\n## File\n\n```text\n{}```\n", report.text);
    out
}

/// Returns the rows as CSV.
pub fn config_csv(report: &ConfigReport) -> String {
    let mut out = "collective,ranks,nodes,first_bytes,last_bytes,path,sizes,basis,gain_pct,\
                   gain_low_pct,gain_high_pct\n"
        .to_owned();
    let or_empty = |value: Option<u32>| value.map_or_else(String::new, |n| n.to_string());
    for plan in &report.plans {
        for row in &plan.rows {
            let gain = row.gain.map_or_else(
                || ",,".to_owned(),
                |gain| {
                    let interval = gain.interval_pct;
                    format!("{},{},{}", gain.pct, interval.low, interval.high)
                },
            );
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{gain}",
                plan.collective,
                or_empty(plan.ranks),
                or_empty(plan.nodes),
                row.first.get(),
                row.last
                    .map_or_else(String::new, |last| last.get().to_string()),
                row.ask,
                row.sizes,
                row.basis.name()
            );
        }
    }
    out
}

/// Returns what speaks for the file, and the file, as JSON of schema `tier6.tuner_config/1`.
pub fn config_json(report: &ConfigReport) -> String {
    let findings = report.findings.iter().map(|finding| FindingDto {
        line: finding.line,
        code: finding.code.code(),
        severity: finding.severity.name(),
        message: &finding.message,
    });
    let errors = report.findings.iter();
    pretty(&ReportDto {
        schema: "tier6.tuner_config/1",
        dialect: report.dialect.name(),
        rules: report.rules,
        plans: report.plans.iter().map(PlanDto::new).collect(),
        findings: findings.collect(),
        errors: errors
            .filter(|finding| finding.severity == Severity::Error)
            .count(),
        notes: &report.notes,
        text: &report.text,
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    dialect: &'static str,
    rules: usize,
    plans: Vec<PlanDto>,
    findings: Vec<FindingDto<'a>>,
    errors: usize,
    notes: &'a [String],
    text: &'a str,
}

#[derive(Serialize)]
struct FindingDto<'a> {
    line: u64,
    code: &'static str,
    severity: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct PlanDto {
    collective: String,
    ranks: Option<u32>,
    nodes: Option<u32>,
    rows: Vec<RowDto>,
    crossovers: Vec<CrossoverDto>,
    refused: Vec<String>,
    in_sample: RegretDto,
    own_choice: Option<RegretDto>,
    held_out: Vec<HeldOutDto>,
    paths: Vec<PathsDto>,
}

#[derive(Serialize)]
struct RowDto {
    first_bytes: u64,
    last_bytes: Option<u64>,
    path: String,
    sizes: usize,
    basis: &'static str,
    gain: Option<GainDto>,
}

#[derive(Serialize)]
struct GainDto {
    over: Option<String>,
    gain_pct: f64,
    interval_pct: IntervalDto,
    saved_us: f64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct RegretDto {
    sizes: usize,
    not_measured: usize,
    mean_pct: f64,
    worst_pct: Option<f64>,
    worst_bytes: Option<u64>,
}

#[derive(Serialize)]
struct HeldOutDto {
    trained_on: &'static str,
    rows: usize,
    regret: RegretDto,
    own_choice: Option<RegretDto>,
}

impl PlanDto {
    fn new(plan: &ConfigPlan) -> Self {
        let rows = plan.rows.iter().map(|row| RowDto {
            first_bytes: row.first.get(),
            last_bytes: row.last.map(tier6_units::Bytes::get),
            path: row.ask.to_string(),
            sizes: row.sizes,
            basis: row.basis.name(),
            gain: row.gain.map(|gain| GainDto {
                over: gain.over.map(|path| path.to_string()),
                gain_pct: gain.pct,
                interval_pct: IntervalDto::new(gain.interval_pct),
                saved_us: gain.saved.get(),
                verdict: gain.verdict.name(),
            }),
        });
        let held_out = plan.held_out.iter().map(|held_out| HeldOutDto {
            trained_on: held_out.trained_on.name(),
            rows: held_out.rows,
            regret: RegretDto::new(held_out.regret),
            own_choice: held_out.own_choice.map(RegretDto::new),
        });
        Self {
            collective: plan.collective.to_string(),
            ranks: plan.ranks,
            nodes: plan.nodes,
            rows: rows.collect(),
            crossovers: plan.crossovers.iter().map(CrossoverDto::new).collect(),
            refused: plan.refused.iter().map(ToString::to_string).collect(),
            in_sample: RegretDto::new(plan.in_sample),
            own_choice: plan.own_choice.map(RegretDto::new),
            held_out: held_out.collect(),
            paths: PathsDto::all(&plan.paths),
        }
    }
}

impl RegretDto {
    fn new(regret: Regret) -> Self {
        Self {
            sizes: regret.sizes,
            not_measured: regret.not_measured,
            mean_pct: regret.mean_pct,
            worst_pct: regret.worst.map(|(pct, _)| pct),
            worst_bytes: regret.worst.map(|(_, bytes)| bytes.get()),
        }
    }
}
