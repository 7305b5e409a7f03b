//! GitHub's Markdown: for the pull request that changed something.

use super::summary::{evidence, faults_and_doubts, inputs, title, verdict_sentence};
use super::{ComparedSeries, ComparisonReport, grids};
use crate::grid::markdown_text;
use crate::style::Charset;
use std::fmt::Write as _;

/// Returns the report as Markdown; the sizes are folded.
pub fn comparison_markdown(report: &ComparisonReport) -> String {
    let verdict = verdict_sentence(report.verdict);
    let mut out = format!("**{verdict}** ({})\n\n", markdown_text(&inputs(report)));
    for series in &report.series {
        push_series(&mut out, report, series);
    }
    push_list(&mut out, &report.not_compared);
    out
}

fn push_series(out: &mut String, report: &ComparisonReport, series: &ComparedSeries) {
    let title = markdown_text(&title(series).join(" · "));
    let sides = markdown_text(&report.sides_of(series));
    let _ = write!(
        out,
        "## {title}: {}\n\n{sides}\n\n",
        series.comparison.verdict
    );
    *out += &grids::segments(series, Charset::Unicode).markdown();
    out.push('\n');
    push_list(out, &evidence(series));
    push_list(out, &faults_and_doubts(series));
    let sizes = grids::sizes(series).markdown();
    let _ = write!(
        out,
        "<details><summary>sizes</summary>\n\n{sizes}\n</details>\n\n"
    );
}

fn push_list(out: &mut String, entries: &[String]) {
    for entry in entries {
        let _ = writeln!(out, "- {}", markdown_text(entry));
    }
    if !entries.is_empty() {
        out.push('\n');
    }
}
