//! How large a change chance makes: from samples where both sides have them, else from the
//! scatter of the fits' residuals; and the mean change of a segment with its interval.

use super::partition::Part;
use super::size::{Matched, Spread};
use crate::Interval;
use tier6_stats::{Weighting, fit_line_non_negative, mean, sample_sd, t_p_value, t_quantile};

/// Errors below this share are the grain of printed times and timers; no size weighs more.
const GRAIN: f64 = 0.005;
/// Degrees of freedom from which a scatter is believed.
const FREEDOM_MIN: f64 = 4.0;

/// The mean change over a segment.
pub(super) struct Pooled {
    pub(super) change: f64,
    pub(super) interval: Option<Interval>,
    pub(super) p_value: Option<f64>,
}

/// The scatter of a change of one median by the residuals of both runs' lines, with its degrees
/// of freedom.
pub(super) type Scatter = Option<(f64, f64)>;

/// Returns the scatter of each part, or of all parts where one has too few points.
pub(super) fn scatters(sizes: &[Matched], parts: &[Part]) -> Vec<Scatter> {
    let sums: Vec<(f64, f64)> = parts
        .iter()
        .map(|part| residual_sums(&sizes[part.range.clone()]))
        .collect();
    let all = sums
        .iter()
        .fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let scatter = |(rss, freedom): (f64, f64)| {
        (freedom >= FREEDOM_MIN).then(|| ((2.0 * rss / freedom).sqrt(), freedom))
    };
    sums.into_iter()
        .map(|own| scatter(own).or_else(|| scatter(all)))
        .collect()
}

/// Returns the relative sum of squares and the degrees of freedom of both runs' lines.
fn residual_sums(sizes: &[Matched]) -> (f64, f64) {
    let bytes: Vec<f64> = sizes.iter().map(|size| size.bytes.as_f64()).collect();
    let base: Vec<f64> = sizes.iter().map(|size| size.base.median).collect();
    let new: Vec<f64> = sizes.iter().map(|size| size.new.median).collect();
    [base, new]
        .iter()
        .filter_map(|times| fit_line_non_negative(&bytes, times, Weighting::Relative))
        .fold((0.0, 0.0), |sum, line| {
            (sum.0 + line.rss, sum.1 + line.freedom() as f64)
        })
}

pub(super) fn p_value(size: &Matched, scatter: Scatter) -> Option<f64> {
    if let Some(spread) = size.spread {
        return Some(spread.p_value);
    }
    let (scatter, freedom) = scatter?;
    let change = size.change();
    if change == 0.0 {
        Some(1.0)
    } else {
        t_p_value(change / scatter, freedom)
    }
}

/// Returns the mean change of a part.
pub(super) fn pool(sizes: &[Matched], part: &Part, parts: &[Part]) -> Pooled {
    let own = &sizes[part.range.clone()];
    let spreads: Option<Vec<_>> = own.iter().map(|size| size.spread).collect();
    match spreads {
        Some(spreads) => pool_samples(own, &spreads),
        None => pool_medians(sizes, own, parts),
    }
}

/// Precise sizes count more; the error follows from the samples.
fn pool_samples(sizes: &[Matched], spreads: &[Spread]) -> Pooled {
    let (mut weights, mut sum, mut variance, mut freedom) = (0.0, 0.0, 0.0, 0.0);
    for (size, spread) in sizes.iter().zip(spreads) {
        let weight = 1.0 / (spread.error.powi(2) + GRAIN.powi(2));
        weights += weight;
        sum += weight * size.change();
        variance += (weight * spread.error).powi(2);
        freedom += spread.freedom;
    }
    let (change, error) = (sum / weights, variance.sqrt() / weights);
    let p_value = if change == 0.0 {
        Some(1.0)
    } else {
        t_p_value(change / error, freedom)
    };
    Pooled {
        change,
        interval: around(change, error, freedom),
        p_value,
    }
}

/// The error follows from how the changes differ among themselves, within this part or, where it
/// has fewer than three sizes, within all parts. No p-value: a shift of a whole run cannot be
/// told from run-to-run variation by medians alone.
fn pool_medians(sizes: &[Matched], own: &[Matched], parts: &[Part]) -> Pooled {
    let changes: Vec<f64> = own.iter().map(Matched::change).collect();
    let change = mean(&changes).unwrap_or(f64::NAN);
    let n = changes.len() as f64;
    let (sd, freedom) = if changes.len() >= 3 {
        (sample_sd(&changes), n - 1.0)
    } else {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for part in parts {
            let changes: Vec<f64> = sizes[part.range.clone()]
                .iter()
                .map(Matched::change)
                .collect();
            if let Some(sd) = sample_sd(&changes) {
                let own_freedom = (changes.len() - 1) as f64;
                squares += own_freedom * sd * sd;
                freedom += own_freedom;
            }
        }
        ((freedom > 0.0).then(|| (squares / freedom).sqrt()), freedom)
    };
    let interval = sd.and_then(|sd| around(change, sd / n.sqrt(), freedom));
    Pooled {
        change,
        interval,
        p_value: None,
    }
}

fn around(centre: f64, error: f64, freedom: f64) -> Option<Interval> {
    let half = t_quantile(0.95, freedom)? * error;
    half.is_finite().then_some(Interval {
        low: centre - half,
        high: centre + half,
    })
}
