//! One size in both runs: the change of its median, and how likely chance makes such a change.

use super::ComparedRun;
use crate::PointSummary;
use crate::finding::{count_sizes, list_bytes};
use crate::point::sample_times;
use std::collections::BTreeMap;
use tier6_collective::Path;
use tier6_stats::{SampleMoments, mann_whitney, welch};
use tier6_units::{Bytes, Micros};

/// Fewest samples on each side for a test of samples.
const SAMPLES_MIN: usize = 3;
/// Fewest samples on each side for a test of ranks; below, Welch's t.
const RANKS_MIN: usize = 8;
/// Standard error of a median over that of a mean, for normal noise: sqrt(pi / 2).
const MEDIAN_ERROR: f64 = 1.2533;

/// What is decided about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeVerdict {
    /// Believably slower, by an amount that matters.
    Slower,
    /// Believably faster, by an amount that matters.
    Faster,
    /// Neither.
    NotShown,
}

/// One size in both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeComparison {
    /// Message size.
    pub bytes: Bytes,
    /// Median of the baseline.
    pub base: Micros,
    /// Median of the new run.
    pub new: Micros,
    /// new / base - 1 in percent.
    pub change_pct: f64,
    /// Probability of such a change by chance; `None` when nothing shows the noise.
    pub p_value: Option<f64>,
    /// What is decided.
    pub verdict: SizeVerdict,
}

/// One size with all that the tests need.
pub(super) struct Matched {
    pub(super) bytes: Bytes,
    pub(super) base: Side,
    pub(super) new: Side,
    /// Standard error of `change` and its p-value, when both sides show their spread.
    pub(super) spread: Option<Spread>,
}

/// One side of a size.
pub(super) struct Side {
    pub(super) median: f64,
    pub(super) p95: Option<f64>,
    pub(super) path: Option<Path>,
    /// All samples, ascending order not guaranteed.
    pub(super) times: Vec<f64>,
    moments: Option<SampleMoments>,
}

/// What the samples of a size say of a change.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    /// Standard error of the change, as a fraction.
    pub(super) error: f64,
    pub(super) p_value: f64,
    /// Degrees of freedom of both sides together.
    pub(super) freedom: f64,
    /// Samples in the baseline and in the new run.
    pub(super) counts: (f64, f64),
}

impl Matched {
    /// new / base - 1.
    pub(super) fn change(&self) -> f64 {
        self.new.median / self.base.median - 1.0
    }
}

/// Usable sizes that only one of the runs has.
pub(super) struct Alone {
    base: Vec<Bytes>,
    new: Vec<Bytes>,
}

impl Alone {
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.base.len() + self.new.len()).unwrap_or(u32::MAX)
    }

    /// Says for each run which sizes the other one lacks.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let say = |(name, sizes): (&str, &Vec<Bytes>)| {
            let (count, listed) = (count_sizes(sizes.len()), list_bytes(sizes));
            (!sizes.is_empty()).then(|| format!("{count} only in the {name}: {listed}"))
        };
        [("baseline", &self.base), ("new run", &self.new)]
            .into_iter()
            .filter_map(say)
    }
}

/// Pairs the usable points of both runs by size; also returns those without a partner.
pub(super) fn matched(base: &ComparedRun, new: &ComparedRun) -> (Vec<Matched>, Alone) {
    let mut partners = sides(new);
    let mut pairs = Vec::new();
    let mut base_alone = Vec::new();
    for (bytes, base) in sides(base) {
        match partners.remove(&bytes) {
            Some(new) => {
                let spread = spread(&base, &new);
                pairs.push(Matched {
                    bytes,
                    base,
                    new,
                    spread,
                });
            }
            None => base_alone.push(bytes),
        }
    }
    let alone = Alone {
        base: base_alone,
        new: partners.into_keys().collect(),
    };
    (pairs, alone)
}

fn sides(run: &ComparedRun) -> BTreeMap<Bytes, Side> {
    let mut times: BTreeMap<Bytes, Vec<f64>> = run
        .series
        .points
        .iter()
        .map(|point| (point.bytes, sample_times(run.series, point)))
        .collect();
    run.analysis
        .points
        .iter()
        .filter(|point| point.excluded.is_none())
        .map(|point| {
            let times = times.remove(&point.bytes).unwrap_or_default();
            let side = Side {
                median: point.median.get(),
                p95: point.p95.map(Micros::get),
                path: point.path,
                moments: moments(point, &times),
                times,
            };
            (point.bytes, side)
        })
        .collect()
}

/// Returns count, centre and spread of a side, from its samples or as published.
fn moments(point: &PointSummary, times: &[f64]) -> Option<SampleMoments> {
    if times.len() >= SAMPLES_MIN {
        return SampleMoments::of(times);
    }
    let count = f64::from(point.samples);
    let cv = point
        .cv_pct
        .filter(|_| point.samples as usize >= SAMPLES_MIN)?;
    let mean = point.median.get();
    Some(SampleMoments {
        count,
        mean,
        sd: mean * cv / 100.0,
    })
}

fn spread(base: &Side, new: &Side) -> Option<Spread> {
    let (a, b) = (base.moments?, new.moments?);
    // A median is known less well than a mean of as many samples.
    let of_median = |moments: SampleMoments, median: f64| SampleMoments {
        mean: median,
        sd: MEDIAN_ERROR * moments.sd,
        ..moments
    };
    let medians = welch(of_median(a, base.median), of_median(b, new.median))?;
    let p_value = match base.times.len().min(new.times.len()) {
        RANKS_MIN.. => mann_whitney(&base.times, &new.times)?,
        SAMPLES_MIN.. => welch(a, b)?.p_value,
        // Published on at least one side: its centre is a median.
        _ => medians.p_value,
    };
    Some(Spread {
        error: medians.error / base.median,
        p_value,
        freedom: a.count + b.count - 2.0,
        counts: (a.count, b.count),
    })
}
