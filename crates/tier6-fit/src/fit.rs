//! T = alpha + n / beta through some points, and what may be claimed of it.
//!
//! Slope in us per byte; beta in decimal GB/s = 1 / (1000 slope) (source document 000). The line
//! is fitted with alpha >= 0 and slope >= 0 (FACTS E.4).
//!
//! The verdict's rule: `validated` needs at least [`VALIDATED_POINTS`] points, a bandwidth whose
//! interval is bounded, and a held-out RMSPE (each point in turn left out and predicted) that
//! is in keeping: at most [`HELD_OUT_LIMIT_PCT`], and at most three times the error in sample
//! unless both are below 2 %. Never R2 alone.

use crate::{Basis, Fit, FitLabel, Interval, Line, Loss, PointSummary, Verdict};
use tier6_stats::{Accuracy, Bound, LineFit, Weighting, accuracy, fit_line_non_negative};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Fewest points of a validated fit.
pub(crate) const VALIDATED_POINTS: u32 = 4;
/// Largest held-out error of a validated fit, in percent.
const HELD_OUT_LIMIT_PCT: f64 = 10.0;
/// Confidence of the intervals.
const LEVEL: f64 = 0.95;

/// Fits all usable points from `first` to `last`, both included: the line over a range that the
/// user asks for.
pub fn fit_range(points: &[PointSummary], first: Bytes, last: Bytes, loss: Loss) -> Fit {
    let chosen: Vec<&PointSummary> = points
        .iter()
        .filter(|point| point.excluded.is_none())
        .filter(|point| (first..=last).contains(&point.bytes))
        .collect();
    let ends = match (chosen.first(), chosen.last()) {
        (Some(low), Some(high)) => FitLabel::Range(low.bytes, high.bytes),
        _ => FitLabel::Range(first, last),
    };
    fit_points(ends, Basis::All, loss, &chosen)
}

/// Fits the points given, which are usable and ascending in size.
pub(crate) fn fit_points(
    label: FitLabel,
    basis: Basis,
    loss: Loss,
    points: &[&PointSummary],
) -> Fit {
    let sizes: Vec<f64> = points.iter().map(|point| point.bytes.as_f64()).collect();
    let times: Vec<f64> = points.iter().map(|point| point.median.get()).collect();
    let asked = match &label {
        FitLabel::Range(first, last) => (*first, *last),
        FitLabel::Global | FitLabel::Path(..) | FitLabel::Detected(_) => {
            (Bytes::new(0), Bytes::new(0))
        }
    };
    let mut fit = Fit {
        label,
        basis,
        loss,
        first: points.first().map_or(asked.0, |point| point.bytes),
        last: points.last().map_or(asked.1, |point| point.bytes),
        points: u32::try_from(points.len()).unwrap_or(u32::MAX),
        line: None,
        alpha_ci: None,
        beta_ci: None,
        r2: None,
        mape_pct: None,
        max_error: None,
        rmspe_pct: None,
        held_out_rmspe_pct: None,
        verdict: Verdict::Refused,
        why: String::new(),
        residuals: Vec::new(),
    };
    let weighting = match loss {
        Loss::Absolute => Weighting::Absolute,
        Loss::Relative => Weighting::Relative,
    };
    match fit_line_non_negative(&sizes, &times, weighting) {
        None => fit.why = refusal(points),
        Some(line) if line.slope <= 0.0 => {
            fit.why = format!(
                "time does not grow with size ({:.3} us at {}, {:.3} us at {}): no bandwidth can be \
                 read from it",
                times[0],
                fit.first,
                times[times.len() - 1],
                fit.last
            );
        }
        Some(line) => describe(&mut fit, &line, &sizes, &times, points),
    }
    fit
}

fn refusal(points: &[&PointSummary]) -> String {
    match points.len() {
        0 => "no points: a line needs two".to_owned(),
        1 => "1 point: a line needs two".to_owned(),
        n => format!("{n} points that give no line: one size only, or times out of range"),
    }
}

/// Fills in the numbers of a fit that has a line.
fn describe(fit: &mut Fit, line: &LineFit, sizes: &[f64], times: &[f64], points: &[&PointSummary]) {
    let beta_of = |slope: f64| GbPerSec::from_us_per_byte(slope).get();
    let predicted: Vec<f64> = sizes.iter().map(|size| line.predict(*size)).collect();
    let (Some(errors), true) = (accuracy(times, &predicted), beta_of(line.slope).is_finite())
    else {
        fit.why = String::from("the times leave the range that a line can be computed in");
        return;
    };
    fit.line = Some(Line {
        alpha: Micros::new(line.intercept),
        beta: GbPerSec::new(beta_of(line.slope)),
    });
    fit.alpha_ci = line.intercept_interval(LEVEL).map(|ci| Interval {
        low: ci.low,
        high: ci.high,
    });
    fit.beta_ci = line
        .slope_interval(LEVEL)
        .filter(|slope| slope.low > 0.0)
        .map(|slope| Interval {
            low: beta_of(slope.high),
            high: beta_of(slope.low),
        })
        .filter(|beta| beta.high.is_finite());
    fit.r2 = errors.r2;
    fit.mape_pct = Some(errors.mape * 100.0);
    fit.max_error = Some((errors.max_relative * 100.0, points[errors.max_at].bytes));
    fit.rmspe_pct = Some(errors.rmspe * 100.0);
    fit.held_out_rmspe_pct = held_out(line, sizes, times).map(|error| error * 100.0);
    fit.residuals = points
        .iter()
        .zip(&predicted)
        .map(|(point, predicted)| {
            let measured = point.median.get();
            let residual = Micros::new(measured - predicted);
            (point.bytes, residual, (predicted / measured - 1.0) * 100.0)
        })
        .collect();
    (fit.verdict, fit.why) = judge(fit, line.bound, errors);
}

/// Returns the RMSPE when each point in turn is left out: residual / (1 - leverage), the exact
/// identity of linear regression. `None` when a point alone decides a coefficient.
fn held_out(line: &LineFit, sizes: &[f64], times: &[f64]) -> Option<f64> {
    if line.freedom() == 0 {
        return None;
    }
    let mut squares = 0.0;
    for (size, time) in sizes.iter().zip(times) {
        let rest = 1.0 - line.leverage(*size, *time);
        if rest <= 1e-12 {
            return None;
        }
        squares += ((time - line.predict(*size)) / rest / time).powi(2);
    }
    Some((squares / sizes.len() as f64).sqrt()).filter(|error| error.is_finite())
}

fn judge(fit: &Fit, bound: Bound, errors: Accuracy) -> (Verdict, String) {
    let describes_only = |why: String| (Verdict::DescribesOnly, why);
    let n = fit.points;
    let held_out = match (n, fit.held_out_rmspe_pct) {
        (2, _) => {
            let why = "2 points: any two points define a line, so R2 = 1 shows nothing";
            return describes_only(why.to_owned());
        }
        (n, _) if n < VALIDATED_POINTS => {
            let why = format!("{n} points; at least {VALIDATED_POINTS} are needed to validate");
            return describes_only(why);
        }
        (n, None) => {
            return describes_only(format!(
                "{n} points, but one of them alone decides the line"
            ));
        }
        (_, Some(held_out)) => held_out,
    };
    let in_sample = 100.0 * errors.rmspe;
    let mut reasons = vec![format!(
        "{n} points, held-out error {held_out:.2} % against {in_sample:.2} % in sample"
    )];
    match bound {
        Bound::Free => {}
        Bound::Intercept | Bound::Slope => reasons
            .push("a free line would have a negative alpha, so alpha is held at 0".to_owned()),
    }
    let objection = if held_out > HELD_OUT_LIMIT_PCT {
        Some(format!("above the limit of {HELD_OUT_LIMIT_PCT} %"))
    } else if held_out > (3.0 * in_sample).max(2.0) {
        Some("more than three times as large".to_owned())
    } else if fit.beta_ci.is_none() {
        Some("the slope may be zero, so beta has no upper end".to_owned())
    } else {
        None
    };
    let verdict = match objection {
        Some(_) => Verdict::DescribesOnly,
        None => Verdict::Validated,
    };
    reasons.extend(objection);
    (verdict, reasons.join("; "))
}

/// Marks a line over several segments as rejected when they describe the same points much
/// better: its RMSPE above 3 % and more than twice theirs, pooled over points.
pub(crate) fn reject_if_split(global: &mut Fit, segments: &[&Fit]) {
    let (mut squares, mut points) = (0.0, 0.0);
    for segment in segments {
        let Some(rmspe) = segment.rmspe_pct else {
            continue;
        };
        squares += f64::from(segment.points) * rmspe * rmspe;
        points += f64::from(segment.points);
    }
    let pooled = (squares / points).sqrt();
    let Some(rmspe) = global.rmspe_pct else {
        return;
    };
    if segments.len() >= 2 && points > 0.0 && rmspe > 3.0 && rmspe > 2.0 * pooled {
        global.verdict = Verdict::DescribesOnly;
        global.why = format!(
            "{}; rejected: {} segments describe the same points with an error of {pooled:.2} %",
            global.why,
            segments.len()
        );
    }
}
