//! Findings about the data: wrong, unstable, missing, contradictory.

use super::{count_sizes, list_bytes, list_sizes, note, usable, warning};
use crate::analyze::AnalysisOptions;
use crate::point::Summary;
use crate::{Exclusion, Finding, PointSummary, SeriesAnalysis, Severity};

pub(super) fn add(
    found: &mut Vec<Finding>,
    analysis: &SeriesAnalysis,
    summary: &Summary,
    options: &AnalysisOptions,
) {
    found.extend(wrong_data(&analysis.points));
    found.extend(unstable(&usable(analysis), options));
    found.extend(unaligned(&usable(analysis)));
    if !summary.without_time.is_empty() {
        found.push(note(
            "no-time",
            format!(
                "{} without a time or a bandwidth that gives one: {}{}",
                count_sizes(summary.without_time.len()),
                list_bytes(&summary.without_time),
                match (analysis.collective, analysis.ranks.exact()) {
                    (Some(_), Some(_)) => "",
                    _ => "; a bus bandwidth alone needs the collective and the number of ranks",
                }
            ),
        ));
    }
    if !summary.ambiguous.is_empty() {
        found.push(warning(
            "ambiguous-selection",
            format!(
                "the trace names more than one path or predicted time for {}; none of them is used",
                list_bytes(&summary.ambiguous)
            ),
        ));
    }
    if !summary.contradicted.is_empty() {
        found.push(warning(
            "contradicted-path",
            format!(
                "the path column and the trace disagree for {}; the column is used",
                list_bytes(&summary.contradicted)
            ),
        ));
    }
    let zero = |point: &&PointSummary| point.excluded == Some(Exclusion::ZeroSize);
    if analysis.points.iter().any(|point| zero(&point)) {
        let message = "the size 0 is kept out of fits and regions".to_owned();
        found.push(note("zero-size", message));
    }
}

fn wrong_data(points: &[PointSummary]) -> Option<Finding> {
    let all: Vec<&PointSummary> = points.iter().collect();
    let wrong = |point: &PointSummary| point.excluded == Some(Exclusion::WrongData);
    let count = points.iter().filter(|point| wrong(point)).count();
    (count > 0).then(|| Finding {
        severity: Severity::Failed,
        code: "wrong-data",
        message: format!(
            "the result is wrong at {count} of {} sizes ({}); these are in no fit, and no speed of \
             this run counts",
            points.len(),
            list_sizes(&all, wrong)
        ),
    })
}

fn unstable(points: &[&PointSummary], options: &AnalysisOptions) -> Option<Finding> {
    let is_unstable = |point: &PointSummary| point.stable == Some(false);
    let count = points.iter().filter(|point| is_unstable(point)).count();
    (count > 0).then(|| {
        warning(
            "unstable-sizes",
            format!(
                "{count} of {} sizes have a CV above {} %: {}; their medians show the curve, but \
                 not small differences",
                points.len(),
                options.cv_limit_pct,
                list_sizes(points, is_unstable)
            ),
        )
    })
}

/// Sizes off NCCL's 16-byte grid may take a slower copy loop.
fn unaligned(points: &[&PointSummary]) -> Option<Finding> {
    let large: Vec<&&PointSummary> = points
        .iter()
        .filter(|point| point.bytes.get() >= 1024)
        .collect();
    let rest = large.first()?.bytes.get() % 16;
    let all_alike = large.iter().all(|point| point.bytes.get() % 16 == rest);
    (rest != 0 && all_alike && large.len() >= 3).then(|| {
        note(
            "unaligned-sizes",
            format!(
                "all sizes are {rest} bytes off a multiple of 16, which may cost a little; start \
                 the sweep at a multiple of 16 to rule it out"
            ),
        )
    })
}
