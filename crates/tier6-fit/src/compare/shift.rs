//! The shape of a change: d = new - base over the sizes of a segment as c + s n, in weights
//! 1 / base^2, so that every size counts alike.

use super::Cause;
use super::size::Matched;
use crate::Interval;
use tier6_stats::{Weighting, fit_line_non_negative, t_quantile};

/// Share of the change, in squares, that a shape must explain to be named.
const EXPLAINED_MIN: f64 = 0.5;

/// A change resolved into a fixed part and a part per byte.
pub(super) struct Shift {
    /// Change of alpha in us.
    pub(super) alpha_us: f64,
    pub(super) alpha_ci: Option<Interval>,
    /// Change of beta in percent; `None` when the baseline has no slope.
    pub(super) beta_pct: Option<f64>,
    /// The single shape that explains the change.
    pub(super) cause: Option<Cause>,
}

/// Resolves the change over some sizes; `None` for fewer than two different ones.
pub(super) fn resolve(sizes: &[Matched]) -> Option<Shift> {
    let u: Vec<f64> = sizes.iter().map(|size| 1.0 / size.base.median).collect();
    let v: Vec<f64> = sizes
        .iter()
        .map(|size| size.bytes.as_f64() / size.base.median)
        .collect();
    let z: Vec<f64> = sizes.iter().map(Matched::change).collect();
    let (uu, vv, uv) = (dot(&u, &u), dot(&v, &v), dot(&u, &v));
    let (uz, vz, zz) = (dot(&u, &z), dot(&v, &z), dot(&z, &z));
    // The squared sine of the angle between the columns; 0 for one size.
    let apart = 1.0 - uv * uv / (uu * vv);
    if sizes.len() < 2 || apart.is_nan() || apart < 1e-9 {
        return None;
    }
    let alpha = (uz - uv / vv * vz) / (uu * apart);
    let slope = (vz - uv / uu * uz) / (vv * apart);
    let rss = (zz - alpha * uz - slope * vz).max(0.0);
    let freedom = (sizes.len() - 2) as f64;
    let alpha_ci = t_quantile(0.95, freedom).map(|t| {
        let half = t * (rss / freedom / (uu * apart)).sqrt();
        Interval {
            low: alpha - half,
            high: alpha + half,
        }
    });
    let fixed_only = (zz - uz * uz / uu).max(0.0);
    let bytes_only = (zz - vz * vz / vv).max(0.0);
    Some(Shift {
        alpha_us: alpha,
        alpha_ci,
        beta_pct: base_slope(sizes)
            .map(|base| 100.0 * (base / (base + slope) - 1.0))
            .filter(|pct| pct.is_finite() && *pct > -100.0),
        cause: cause(
            [fixed_only, bytes_only, rss],
            zz,
            [alpha * alpha * uu, slope * slope * vv],
        ),
    })
}

/// Names the shape: the better single one when it explains enough, else, when both together do,
/// the one that contributes more.
fn cause(
    [fixed, bytes, both]: [f64; 3],
    total: f64,
    [by_alpha, by_slope]: [f64; 2],
) -> Option<Cause> {
    let enough = |rest: f64| total > 0.0 && rest <= (1.0 - EXPLAINED_MIN) * total;
    let (better, rest) = if fixed <= bytes {
        (Cause::FixedCost, fixed)
    } else {
        (Cause::Bandwidth, bytes)
    };
    if enough(rest) {
        Some(better)
    } else if enough(both) {
        Some(if by_alpha >= by_slope {
            Cause::FixedCost
        } else {
            Cause::Bandwidth
        })
    } else {
        None
    }
}

/// Returns the baseline's slope in us per byte; `None` when time does not grow.
fn base_slope(sizes: &[Matched]) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = sizes
        .iter()
        .map(|size| (size.bytes.as_f64(), size.base.median))
        .unzip();
    let line = fit_line_non_negative(&x, &y, Weighting::Relative)?;
    (line.slope > 0.0).then_some(line.slope)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
