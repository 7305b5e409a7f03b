//! The text that people paste: identity, verdicts, models, plot, points.

use super::grids;
use super::summary::{
    TOGETHER, facts, failure, has_lines, identity, patterns, reasons, reservations, run_state,
    severity_tone, source, switches,
};
use super::warning_group::warning_groups;
use crate::flow::{flow, push_sentence};
use crate::grid::terminal_text;
use crate::number::count;
use crate::plot::terminal_plot;
use crate::report::{AnalysisReport, SeriesReport};
use crate::style::{Detail, Style, Tone};
use std::fmt::Write as _;
use tier6_fit::Finding;

/// From how many series on the short form shows an overview instead of each series.
const SERIES_MAX: usize = 6;

/// From how many points on the short form leaves the table of points out.
const POINTS_MAX: usize = 64;

/// Returns the report as text for a terminal.
pub fn analysis_table(report: &AnalysisReport, style: Style, detail: Detail) -> String {
    let mut out = String::new();
    if let Some(failure) = failure(report) {
        for line in flow(terminal_text(&failure).split(' '), " ", style.width.max(40)) {
            out += &style.paint(Tone::Bad, &line);
            out.push('\n');
        }
        out.push('\n');
    }
    push_together(&mut out, report, style);
    if detail == Detail::Short && report.series.len() > SERIES_MAX {
        let folder = report.common_folder();
        if !folder.is_empty() {
            let line = format!("inputs in {}", terminal_text(folder));
            out += &style.paint(Tone::Dim, &line);
            out += "\n\n";
        }
        out += &grids::overview(report).text(style);
        let hint = format!(
            "\nhint: `--wide` shows each of the {} series\n",
            report.series.len()
        );
        out += &style.paint(Tone::Dim, &hint);
    } else {
        let parts = report
            .series
            .iter()
            .map(|series| series_text(report, series, style, detail));
        out += &parts.collect::<Vec<_>>().join("\n");
    }
    if report.series.is_empty() {
        out += "no series\n";
    }
    push_warnings(&mut out, report, style);
    out
}

/// Writes what several series say together.
fn push_together(out: &mut String, report: &AnalysisReport, style: Style) {
    if report.findings.is_empty() {
        return;
    }
    *out += &style.paint(Tone::Strong, TOGETHER);
    out.push('\n');
    push_findings(out, &report.findings, style);
    out.push('\n');
}

fn push_findings(out: &mut String, findings: &[Finding], style: Style) {
    for finding in findings {
        let head = finding.severity.name().to_uppercase();
        let text = format!("{} ({})", finding.message, finding.code);
        push_sentence(out, (&head, severity_tone(finding.severity)), &text, style);
    }
}

fn series_text(
    report: &AnalysisReport,
    series: &SeriesReport,
    style: Style,
    detail: Detail,
) -> String {
    let analysis = &series.analysis;
    let mut out = String::new();
    let separator = style.charset.pick(" · ", " | ");
    let title = terminal_text(&identity(report, series).join(separator));
    out += &(style.paint(Tone::Strong, &title) + "\n");
    push_origin(&mut out, report, series, style);
    out.push('\n');
    push_facts(&mut out, report, series, style);
    if has_lines(analysis) || detail == Detail::Wide {
        out.push('\n');
        out += &grids::fits(analysis, report.loss, detail, style.charset).text(style);
    }
    let notes = match detail {
        Detail::Short => reservations(analysis, report.loss),
        Detail::Wide => reasons(analysis),
    };
    push_entries(&mut out, "note", &notes, style);
    push_entries(&mut out, "switch", &switches(analysis), style);
    push_entries(&mut out, "residuals", &patterns(analysis), style);
    let plot = terminal_plot(analysis, report.loss, style);
    if !plot.is_empty() {
        out.push('\n');
        out += &plot;
    }
    push_points(&mut out, report, series, style, detail);
    if !series.predictions.is_empty() {
        out.push('\n');
        out += &grids::predictions(&series.predictions).text(style);
    }
    out
}

fn push_origin(out: &mut String, report: &AnalysisReport, series: &SeriesReport, style: Style) {
    if let Some(source) = source(report, series) {
        *out += &style.paint(Tone::Dim, &terminal_text(&source));
        if let Some(run) = report.run_of(series) {
            let (text, tone) = run_state(run);
            *out += &style.paint(Tone::Dim, ": ");
            *out += &style.paint(tone, &terminal_text(&text));
        }
        out.push('\n');
    }
}

fn push_facts(out: &mut String, report: &AnalysisReport, series: &SeriesReport, style: Style) {
    for fact in facts(&series.analysis, report.loss) {
        let title = style.paint(Tone::Dim, &format!("{:<18}", fact.title));
        let value = style.paint(fact.tone, &format!("{:<18}", fact.value));
        let line = format!(" {title}  {value}  {}", fact.note);
        *out += line.trim_end();
        out.push('\n');
    }
    push_findings(out, &series.analysis.findings, style);
}

fn push_points(
    out: &mut String,
    report: &AnalysisReport,
    series: &SeriesReport,
    style: Style,
    detail: Detail,
) {
    let analysis = &series.analysis;
    if analysis.points.is_empty() {
        return;
    }
    out.push('\n');
    if detail == Detail::Short && analysis.points.len() > POINTS_MAX {
        let points = count(analysis.points.len(), "point");
        *out += &style.paint(Tone::Dim, &format!(" hint: `--wide` lists the {points}\n"));
    } else {
        *out += &grids::points(analysis, report.loss, detail).text(style);
    }
}

fn push_warnings(out: &mut String, report: &AnalysisReport, style: Style) {
    for input in &report.inputs {
        if input.warnings.is_empty() {
            continue;
        }
        let title = format!(
            "{} in {}",
            count(input.warnings.len(), "warning"),
            input.path
        );
        let _ = write!(
            out,
            "\n{}\n",
            style.paint(Tone::Strong, &terminal_text(&title))
        );
        for group in warning_groups(input) {
            let head = format!("{} x{}", group.code, group.count);
            push_sentence(out, (&head, Tone::Caution), &group.text, style);
        }
    }
}

fn push_entries(out: &mut String, head: &str, entries: &[String], style: Style) {
    if !entries.is_empty() {
        out.push('\n');
    }
    for entry in entries {
        push_sentence(out, (head, Tone::Dim), entry, style);
    }
}
