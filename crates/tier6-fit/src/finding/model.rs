//! Findings about the fits: one line for several paths, segments with too few points, NCCL's
//! own prediction.

use super::{count_sizes, note, usable};
use crate::fit::VALIDATED_POINTS;
use crate::residual::{PredictedPoint, PredictionOrigin, residual_shapes};
use crate::{Basis, Finding, Fit, FitLabel, Loss, Pattern, PointSummary, SeriesAnalysis, Verdict};

pub(super) fn add(found: &mut Vec<Finding>, analysis: &SeriesAnalysis) {
    found.extend(one_line_rejected(&analysis.fits));
    found.extend(few_points(&analysis.fits));
    found.extend(unassigned(analysis));
    found.extend(half_performance(&analysis.fits));
    found.extend(tuner(&usable(analysis)));
}

fn one_line_rejected(fits: &[Fit]) -> Option<Finding> {
    let global = fits
        .iter()
        .find(|fit| fit.label == FitLabel::Global && fit.loss == Loss::Absolute)?;
    let parts: Vec<&Fit> = fits
        .iter()
        .filter(|fit| fit.label != FitLabel::Global && fit.loss == Loss::Absolute)
        .collect();
    let (r2, mape, (max, at)) = (global.r2?, global.mape_pct?, global.max_error?);
    (parts.len() >= 2 && mape > 5.0).then(|| {
        let errors: Vec<String> = parts
            .iter()
            .filter(|fit| fit.points > 2)
            .filter_map(|fit| Some(format!("{} {:.2} %", fit.label, fit.mape_pct?)))
            .collect();
        note(
            "one-line-rejected",
            format!(
                "one line over all sizes has R2 = {r2:.6} and is wrong by {mape:.1} % on average, \
                 {max:.1} % at {at}: the largest times rule R2; by segment the average errors are {}",
                errors.join(", ")
            ),
        )
    })
}

fn few_points(fits: &[Fit]) -> Vec<Finding> {
    fits.iter()
        .filter(|fit| fit.loss == Loss::Relative && fit.label != FitLabel::Global)
        .filter(|fit| fit.basis == Basis::Path && fit.points < VALIDATED_POINTS)
        .map(|fit| {
            note(
                "few-points",
                format!(
                    "{} has {} of the {VALIDATED_POINTS} points that a validation needs ({} to {}); \
                     force this path over more sizes to measure it",
                    fit.label, fit.points, fit.first, fit.last
                ),
            )
        })
        .collect()
}

/// Points that no segment covers although the trace names paths.
fn unassigned(analysis: &SeriesAnalysis) -> Option<Finding> {
    let paths: Vec<&Fit> = analysis
        .fits
        .iter()
        .filter(|fit| fit.basis == Basis::Path)
        .collect();
    let count = usable(analysis)
        .iter()
        .filter(|point| {
            !paths
                .iter()
                .any(|fit| (fit.first..=fit.last).contains(&point.bytes))
        })
        .count();
    (!paths.is_empty() && count > 0).then(|| {
        note(
            "path-unknown",
            format!(
                "{} without a known path, only in the global line",
                count_sizes(count)
            ),
        )
    })
}

/// n1/2 = alpha x beta: the size that spends half its time on the fixed part (FACTS E.4), of
/// the line over all sizes where that one holds, else of the one over the largest sizes.
fn half_performance(fits: &[Fit]) -> Option<Finding> {
    let validated = |fit: &&Fit| fit.loss == Loss::Relative && fit.verdict == Verdict::Validated;
    let over_all = fits
        .iter()
        .find(|fit| fit.label == FitLabel::Global)
        .filter(validated);
    let last = fits
        .iter()
        .rfind(|fit| fit.loss == Loss::Relative)
        .filter(validated);
    let fit = over_all.or(last)?;
    // A fixed part that may as well be zero explains nothing (FACTS E.7).
    fit.alpha_ci.filter(|ci| ci.low > 0.0)?;
    let line = fit.line?;
    let half = line.alpha.get() * line.beta.get() * 1e3;
    let fixed = line.alpha.get() / line.predict(fit.first).get();
    (half >= 1.0).then(|| {
        note(
            "half-performance-size",
            format!(
                "on {} ({} to {}) a fixed part of {:.1} us is spread over more bytes as messages grow: it is \
                 {:.0} % of the time at {}, half of it at {:.3} MB, and the rate tends to {:.2} GB/s",
                spoken(&fit.label),
                fit.first,
                fit.last,
                line.alpha.get(),
                100.0 * fixed,
                fit.first,
                half / 1e6,
                line.beta.get()
            ),
        )
    })
}

/// Returns the label as a sentence names it.
fn spoken(label: &FitLabel) -> String {
    match label {
        FitLabel::Global => "one line".to_owned(),
        FitLabel::Path(..) | FitLabel::Detected(_) | FitLabel::Range(..) => label.to_string(),
    }
}

/// Compares NCCL's own predictions with the measurement.
fn tuner(points: &[&PointSummary]) -> Option<Finding> {
    let predicted: Vec<(&PointSummary, f64, PredictedPoint)> = points
        .iter()
        .filter_map(|point| {
            let shape = PredictedPoint {
                bytes: point.bytes,
                measured: point.median,
                predicted: point.tuner?,
            };
            Some((*point, point.tuner_error_pct?, shape))
        })
        .collect();
    let (first, last) = (predicted.first()?, predicted.last()?);
    let worst = predicted
        .iter()
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let shapes: Vec<PredictedPoint> = predicted.iter().map(|(_, _, shape)| *shape).collect();
    let shapes: Vec<String> = residual_shapes(&shapes, PredictionOrigin::Elsewhere)
        .into_iter()
        .filter(|shape| shape.pattern != Pattern::Scatter)
        .map(|shape| format!("{}: {}", shape.pattern, shape.evidence))
        .collect();
    let mut message = format!(
        "NCCL's predicted times differ from the measured by {:+.2} % at {} to {:+.2} % at {}, \
         {:+.2} % at worst ({}); they rank candidates and leave out launch and completion, so this \
         does not show a wrong choice",
        first.1, first.0.bytes, last.1, last.0.bytes, worst.1, worst.0.bytes
    );
    if !shapes.is_empty() {
        message = format!("{message}; shape of what they miss: {}", shapes.join("; "));
    }
    Some(note("tuner-error", message))
}
