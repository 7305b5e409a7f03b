//! A path with everything measured on it: what one row of a tuner file can ask for.

use super::attribution::{AttributionBasis, Paths};
use super::sweep::is_time;
use super::{Noise, Sweep};
use std::collections::BTreeMap;
use std::fmt;
use tier6_fit::{KnownPoint, Predictor};
use tier6_nccl::Candidate;
use tier6_units::{Bytes, Micros};

/// Between two measured sizes that are further apart than this, nothing is known.
const GAP_MAX: u64 = 16;

/// What a row of a tuner file can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ask {
    /// Algorithm and protocol.
    pub candidate: Candidate,
    /// The number of channels; `None` for NCCL's own.
    pub channels: Option<i32>,
}

impl fmt::Display for Ask {
    /// Prints `ring+ll` or `ring+ll x8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.channels {
            None => self.candidate.fmt(f),
            Some(channels) => f.pad(&format!("{} x{channels}", self.candidate)),
        }
    }
}

/// One path with its measured times from all sweeps that took it.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) ask: Ask,
    /// Measured times at sizes where the path is known to have run.
    pub(crate) known: BTreeMap<u64, Level>,
    /// Measured times at sizes where the path is only assumed, ln(us).
    pub(crate) assumed: BTreeMap<u64, f64>,
    /// Times at all sizes, those of assumed paths included.
    curve: Option<Predictor>,
    /// The weakest reason among the known sizes.
    pub(crate) basis: AttributionBasis,
}

/// A path's time at a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// Natural logarithm of the time in us.
    pub(crate) ln_us: f64,
    /// Variance of `ln_us`.
    pub(crate) variance: f64,
}

/// The times of one size from several sweeps.
#[derive(Default)]
struct Pool {
    ln_us: Vec<f64>,
    ln_other: Vec<f64>,
}

impl Pool {
    fn add(&mut self, time: Micros, other: Option<Micros>) {
        self.ln_us.push(time.get().ln());
        let other = other.filter(|other| is_time(*other));
        self.ln_other.extend(other.map(|other| other.get().ln()));
    }

    fn point(&self, bytes: u64) -> KnownPoint {
        let level = |values: &[f64]| {
            (!values.is_empty())
                .then(|| Micros::new((values.iter().sum::<f64>() / values.len() as f64).exp()))
        };
        KnownPoint {
            bytes: Bytes::new(bytes),
            time: level(&self.ln_us).expect("Invariant: a pool is made for a time"),
            other_placement: level(&self.ln_other),
        }
    }
}

/// Returns the contenders of the sweeps under their attributions, in NCCL's order.
pub(crate) fn contenders(sweeps: &[Sweep], paths: &[Paths], noise: &Noise) -> Vec<Contender> {
    let mut pools: BTreeMap<Ask, Pools> = BTreeMap::new();
    for (sweep, paths) in sweeps.iter().zip(paths) {
        for (bytes, point) in sweep.by_size() {
            let Some(path) = paths.get(&bytes) else {
                continue;
            };
            let ask = Ask {
                candidate: path.candidate,
                channels: sweep.channels,
            };
            let pools = pools.entry(ask).or_insert_with(Pools::new);
            if path.basis == AttributionBasis::Assumed {
                let pool = pools.assumed.entry(bytes).or_default();
                pool.add(point.time, point.other_placement);
            } else {
                pools.basis = pools.basis.min(path.basis);
                let pool = pools.known.entry(bytes).or_default();
                pool.add(point.time, point.other_placement);
            }
        }
    }
    pools
        .into_iter()
        .map(|(ask, pools)| pools.into_contender(ask, noise))
        .collect()
}

struct Pools {
    known: BTreeMap<u64, Pool>,
    assumed: BTreeMap<u64, Pool>,
    basis: AttributionBasis,
}

impl Pools {
    fn new() -> Self {
        Self {
            known: BTreeMap::new(),
            assumed: BTreeMap::new(),
            basis: AttributionBasis::Stated,
        }
    }

    fn into_contender(self, ask: Ask, noise: &Noise) -> Contender {
        let points = |pools: &BTreeMap<u64, Pool>| -> Vec<KnownPoint> {
            let pools = pools.iter();
            pools.map(|(&bytes, pool)| pool.point(bytes)).collect()
        };
        let known = self.known.iter().map(|(&bytes, pool)| {
            let level = Level {
                ln_us: pool.point(bytes).time.get().ln(),
                variance: noise.at(bytes).powi(2) / pool.ln_us.len() as f64,
            };
            (bytes, level)
        });
        let known: BTreeMap<u64, Level> = known.collect();
        let mut assumed = self.assumed;
        assumed.retain(|bytes, _| !known.contains_key(bytes));
        let mut all = points(&self.known);
        all.extend(points(&assumed));
        let assumed = points(&assumed).into_iter();
        Contender {
            ask,
            curve: Predictor::fit(&all).ok(),
            known,
            assumed: assumed
                .map(|point| (point.bytes.get(), point.time.get().ln()))
                .collect(),
            basis: self.basis,
        }
    }
}

impl Contender {
    /// Returns the level at a size that was measured or lies between two that were, with
    /// disturbed times put right: what decisions are made from.
    pub(crate) fn level(&self, bytes: u64) -> Option<Level> {
        if let Some(level) = self.known.get(&bytes) {
            let ln_us = self.rough_ln_us(bytes).unwrap_or(level.ln_us);
            return Some(Level { ln_us, ..*level });
        }
        let (&below, level) = self.known.range(..bytes).next_back()?;
        let (&above, _) = self.known.range(bytes..).next()?;
        if above / below.max(1) > GAP_MAX {
            return None;
        }
        Some(Level {
            ln_us: self.rough_ln_us(bytes)?,
            variance: level.variance,
        })
    }

    /// Returns ln of the time in us as measured, on an assumed path where need be: what
    /// decisions are judged by.
    pub(crate) fn measured_ln_us(&self, bytes: u64) -> Option<f64> {
        let known = self.known.get(&bytes).map(|level| level.ln_us);
        known.or_else(|| self.assumed.get(&bytes).copied())
    }

    /// Returns ln of the time in us at any size, from assumed paths and beyond the measured
    /// sizes where need be; `None` with fewer than two sizes.
    pub(crate) fn rough_ln_us(&self, bytes: u64) -> Option<f64> {
        let curve = self.curve.as_ref()?;
        let ln = curve.predict(Bytes::new(bytes)).time.get().ln();
        ln.is_finite().then_some(ln)
    }
}
