//! GitHub's Markdown: for issues, pull requests and wikis.

use super::grids;
use super::summary::{
    TOGETHER, facts, failure, has_lines, identity, patterns, reservations, run_state, source,
    switches,
};
use super::warning_group::warning_groups;
use crate::grid::{Columns, markdown_text};
use crate::report::{AnalysisReport, SeriesReport};
use crate::style::{Charset, Detail};
use std::fmt::Write as _;
use tier6_fit::Finding;

/// Returns the report as Markdown: per series a summary, the fits and the points.
pub fn analysis_markdown(report: &AnalysisReport) -> String {
    let mut out = String::new();
    if let Some(failure) = failure(report) {
        let _ = write!(out, "**{}**\n\n", markdown_text(&failure));
    }
    if report.series.len() > 1 {
        out += "## Overview\n\n";
        out += &grids::overview(report).markdown();
        out.push('\n');
    }
    if !report.findings.is_empty() {
        let _ = write!(out, "## {TOGETHER}\n\n");
        push_list(&mut out, "", report.findings.iter().map(finding_text));
    }
    for series in &report.series {
        push_series(&mut out, report, series);
    }
    push_warnings(&mut out, report);
    if out.is_empty() {
        out += "No series.\n";
    }
    out
}

fn push_series(out: &mut String, report: &AnalysisReport, series: &SeriesReport) {
    let analysis = &series.analysis;
    let title = identity(report, series).join(" · ");
    let _ = write!(out, "## {}\n\n", markdown_text(&title));
    let run = report.run_of(series).map(|run| run_state(run).0);
    let origin = source(report, series)
        .into_iter()
        .chain(run)
        .collect::<Vec<_>>();
    if !origin.is_empty() {
        let _ = write!(out, "{}\n\n", markdown_text(&origin.join(", ")));
    }
    let facts = facts(analysis, report.loss);
    if !facts.is_empty() {
        let summary = Columns::of(&facts)
            .left("summary", |fact| fact.title.to_owned())
            .right("value", |fact| fact.value.clone())
            .left("note", |fact| fact.note.clone())
            .grid();
        *out += &(summary.markdown() + "\n");
    }
    push_list(out, "Findings", analysis.findings.iter().map(finding_text));
    if has_lines(analysis) {
        let fits = grids::fits(analysis, report.loss, Detail::Short, Charset::Unicode);
        let _ = write!(
            out,
            "### Fits of T = α + n/β ({} loss)\n\n{}\n",
            report.loss,
            fits.markdown()
        );
    }
    push_list(out, "", reservations(analysis, report.loss).into_iter());
    push_list(out, "Switches", switches(analysis).into_iter());
    push_list(out, "Residuals", patterns(analysis).into_iter());
    if !analysis.points.is_empty() {
        let points = grids::points(analysis, report.loss, Detail::Short);
        let _ = write!(out, "### Points\n\n{}\n", points.markdown());
    }
    if !series.predictions.is_empty() {
        let predictions = grids::predictions(&series.predictions);
        let _ = write!(out, "### Predictions\n\n{}\n", predictions.markdown());
    }
}

fn finding_text(finding: &Finding) -> String {
    format!(
        "{}: {} ({})",
        finding.severity, finding.message, finding.code
    )
}

fn push_list(out: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return;
    }
    if !title.is_empty() {
        let _ = write!(out, "### {title}\n\n");
    }
    for entry in entries {
        let _ = writeln!(out, "- {}", markdown_text(&entry));
    }
    out.push('\n');
}

fn push_warnings(out: &mut String, report: &AnalysisReport) {
    let entries = report.inputs.iter().flat_map(|input| {
        warning_groups(input)
            .into_iter()
            .map(|group| format!("{}: {} ({})", input.path, group.text, group.code))
    });
    push_list(out, "Warnings", entries);
}
