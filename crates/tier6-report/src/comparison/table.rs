//! The text that people paste.

use super::summary::{evidence, inputs, title, verdict_sentence, verdict_tone};
use super::{ComparedSeries, ComparisonReport, grids};
use crate::flow::push_sentence;
use crate::grid::terminal_text;
use crate::style::{Detail, Style, Tone};
use tier6_fit::ComparisonVerdict;

/// Returns the report as text for a terminal. `Wide` lists the sizes of series that did not
/// change, too.
pub fn comparison_table(report: &ComparisonReport, style: Style, detail: Detail) -> String {
    let verdict = style.paint(
        verdict_tone(report.verdict),
        verdict_sentence(report.verdict),
    );
    let mut out = format!("{verdict}\n{}\n", terminal_text(&inputs(report)));
    for series in &report.series {
        out.push('\n');
        push_series(&mut out, report, series, style, detail);
    }
    if !report.not_compared.is_empty() {
        out.push('\n');
    }
    for sentence in &report.not_compared {
        push_sentence(&mut out, ("not compared", Tone::Caution), sentence, style);
    }
    out
}

fn push_series(
    out: &mut String,
    report: &ComparisonReport,
    series: &ComparedSeries,
    style: Style,
    detail: Detail,
) {
    let separator = style.charset.pick(" · ", " | ");
    let title = terminal_text(&title(series).join(separator));
    let verdict = series.comparison.verdict;
    *out += &style.paint(Tone::Strong, &title);
    *out += ": ";
    let name = match verdict {
        ComparisonVerdict::Failed => "FAILED",
        ComparisonVerdict::Regressed
        | ComparisonVerdict::Undecided
        | ComparisonVerdict::Improved
        | ComparisonVerdict::Unchanged => verdict.name(),
    };
    *out += &style.paint(verdict_tone(verdict), name);
    out.push('\n');
    *out += &style.paint(Tone::Dim, &terminal_text(&report.sides_of(series)));
    *out += "\n\n";
    for sentence in &series.comparison.faults {
        push_sentence(out, ("FAILED", Tone::Bad), sentence, style);
    }
    let is_failed = verdict == ComparisonVerdict::Failed;
    if !is_failed || detail == Detail::Wide {
        *out += &grids::segments(series, style.charset).text(style);
        out.push('\n');
        for sentence in evidence(series) {
            push_sentence(out, ("evidence", Tone::Dim), &sentence, style);
        }
    }
    for sentence in &series.comparison.warnings {
        push_sentence(out, ("warning", Tone::Caution), sentence, style);
    }
    let changed = verdict != ComparisonVerdict::Unchanged;
    // Of wrong data no speed counts, and none is shown unless asked for.
    if (changed && !is_failed) || detail == Detail::Wide {
        out.push('\n');
        *out += &grids::sizes(series).text(style);
    }
}
