//! The sentences that a reader of one series should not miss, most severe first.
//!
//! A finding states numbers and says "likely" where it infers. Findings of a run's set-up and
//! footer are in `run_finding.rs`.

mod bandwidth;
mod model;
mod quality;
mod regime;

use crate::analyze::AnalysisOptions;
use crate::point::Summary;
use crate::{Finding, PointSummary, SeriesAnalysis, Severity};
use tier6_units::Bytes;

/// Collects all findings of a series. `analysis` is complete but for its findings.
pub(crate) fn findings(
    analysis: &SeriesAnalysis,
    summary: &Summary,
    options: &AnalysisOptions,
) -> Vec<Finding> {
    let mut found = Vec::new();
    quality::add(&mut found, analysis, summary, options);
    regime::add(&mut found, analysis);
    model::add(&mut found, analysis);
    bandwidth::add(&mut found, analysis, options);
    found.sort_by_key(|finding| finding.severity);
    found
}

pub(crate) fn warning(code: &'static str, message: String) -> Finding {
    Finding {
        severity: Severity::Warning,
        code,
        message,
    }
}

pub(crate) fn note(code: &'static str, message: String) -> Finding {
    Finding {
        severity: Severity::Note,
        code,
        message,
    }
}

/// Returns the points that fits use.
fn usable(analysis: &SeriesAnalysis) -> Vec<&PointSummary> {
    analysis
        .points
        .iter()
        .filter(|point| point.excluded.is_none())
        .collect()
}

/// Lists the sizes of the chosen points, runs of three or more neighbours as `4 KiB..128 KiB`.
fn list_sizes(points: &[&PointSummary], chosen: impl Fn(&PointSummary) -> bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in points.chunk_by(|a, b| chosen(a) == chosen(b)) {
        if !chosen(run[0]) {
            continue;
        }
        match run {
            [first, _, .., last] => parts.push(format!("{}..{}", first.bytes, last.bytes)),
            few => parts.extend(few.iter().map(|point| point.bytes.to_string())),
        }
    }
    parts.join(", ")
}

/// Lists sizes, at most the first eight.
pub(crate) fn list_bytes(sizes: &[Bytes]) -> String {
    let shown: Vec<String> = sizes.iter().take(8).map(Bytes::to_string).collect();
    match sizes.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Says `1 size` or `7 sizes`.
pub(crate) fn count_sizes(count: usize) -> String {
    if count == 1 {
        "1 size".to_owned()
    } else {
        format!("{count} sizes")
    }
}
