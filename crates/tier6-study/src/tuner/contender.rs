//! A path with everything measured on it: what one row of a tuner file can ask for. Forced runs
//! whose path is not known contend as what they were forced to, in audits only.

use super::attribution::{AttributionBasis, Paths};
use super::sweep::is_time;
use super::{Forced, Noise, Sweep, SweepPoint};
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

/// What contends: a path, or a setting under which NCCL took a path that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// A path.
    Path(Ask),
    /// What was forced, where nothing tells the rest of the path.
    Forced(Forced, Option<i32>),
}

impl Way {
    /// Returns the path.
    pub const fn ask(self) -> Option<Ask> {
        match self {
            Self::Path(ask) => Some(ask),
            Self::Forced(..) => None,
        }
    }
}

impl fmt::Display for Way {
    /// Prints `ring+ll x8`, or `NCCL_PROTO=ll128` as it was forced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Path(ask) => ask.to_string(),
            Self::Forced(forced, channels) => {
                let algorithm = forced
                    .algorithm
                    .map(|algorithm| format!("NCCL_ALGO={algorithm}"));
                let protocol = forced.protocol.map(|p| format!("NCCL_PROTO={}", p.name()));
                let channels = channels.map(|channels| format!("x{channels}"));
                let parts = [algorithm, protocol, channels].into_iter().flatten();
                parts.collect::<Vec<String>>().join(" ")
            }
        };
        f.pad(&text)
    }
}

/// One way with its measured times from all sweeps that took it.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) way: Way,
    /// Measured times at sizes where the path is known to have run.
    pub(crate) known: BTreeMap<u64, Level>,
    /// Measured times at sizes where the path is only assumed, ln(us).
    pub(crate) assumed: BTreeMap<u64, f64>,
    /// Times of each placement at all sizes, those of assumed paths included. A row is for
    /// both placements, and each is a witness against disturbed times of the other.
    curves: Vec<Predictor>,
    /// The weakest reason among the known sizes; `None` for what is not a path.
    pub(crate) basis: Option<AttributionBasis>,
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

    /// Returns the geometric means of the two placements.
    fn means(&self) -> [Option<Micros>; 2] {
        [&self.ln_us, &self.ln_other].map(|values| {
            (!values.is_empty())
                .then(|| Micros::new((values.iter().sum::<f64>() / values.len() as f64).exp()))
        })
    }

    fn ln_us(&self) -> f64 {
        self.ln_us.iter().sum::<f64>() / self.ln_us.len() as f64
    }
}

/// Returns the contenders of the sweeps under their attributions: paths in NCCL's order, then
/// settings. Runs without force and without a known path are NCCL's own choice and contend
/// with nobody.
pub(crate) fn contenders(sweeps: &[Sweep], paths: &[Paths], noise: &Noise) -> Vec<Contender> {
    let mut pools: BTreeMap<Way, Pools> = BTreeMap::new();
    for (sweep, paths) in sweeps.iter().zip(paths) {
        let setting = Way::Forced(sweep.forced, sweep.channels);
        for (bytes, point) in sweep.by_size() {
            let path = paths.get(&bytes);
            if let Some(path) = path {
                let way = Way::Path(Ask {
                    candidate: path.candidate,
                    channels: sweep.channels,
                });
                let pools = pools.entry(way).or_default();
                pools.add(bytes, point, Some(path.basis));
            }
            let is_known = path.is_some_and(|path| path.basis != AttributionBasis::Assumed);
            if !is_known && !sweep.is_own_choice() {
                pools.entry(setting).or_default().add(bytes, point, None);
            }
        }
    }
    pools
        .into_iter()
        .map(|(way, pools)| pools.into_contender(way, noise))
        .collect()
}

#[derive(Default)]
struct Pools {
    known: BTreeMap<u64, Pool>,
    assumed: BTreeMap<u64, Pool>,
    basis: Option<AttributionBasis>,
}

impl Pools {
    fn add(&mut self, bytes: u64, point: &SweepPoint, basis: Option<AttributionBasis>) {
        let pools = if basis == Some(AttributionBasis::Assumed) {
            &mut self.assumed
        } else {
            self.basis = match (self.basis, basis) {
                (Some(weakest), Some(new)) => Some(weakest.min(new)),
                (old, new) => old.or(new),
            };
            &mut self.known
        };
        let pool = pools.entry(bytes).or_default();
        pool.add(point.time, point.other_placement);
    }

    fn into_contender(self, way: Way, noise: &Noise) -> Contender {
        let known = self.known.iter().map(|(&bytes, pool)| {
            let level = Level {
                ln_us: pool.ln_us(),
                variance: noise.at(bytes).powi(2) / pool.ln_us.len() as f64,
            };
            (bytes, level)
        });
        let known: BTreeMap<u64, Level> = known.collect();
        let mut assumed = self.assumed;
        assumed.retain(|bytes, _| !known.contains_key(bytes));
        let all: Vec<(u64, [Option<Micros>; 2])> = self
            .known
            .iter()
            .chain(&assumed)
            .map(|(&bytes, pool)| (bytes, pool.means()))
            .collect();
        Contender {
            way,
            curves: [0, 1].iter().filter_map(|&one| curve(&all, one)).collect(),
            known,
            assumed: assumed
                .iter()
                .map(|(&bytes, pool)| (bytes, pool.ln_us()))
                .collect(),
            basis: self.basis,
        }
    }
}

/// Learns one placement, with the other as witness; `None` with fewer than two sizes.
fn curve(times: &[(u64, [Option<Micros>; 2])], one: usize) -> Option<Predictor> {
    let points = times.iter().filter_map(|(bytes, means)| {
        Some(KnownPoint {
            bytes: Bytes::new(*bytes),
            time: means[one]?,
            other_placement: means[1 - one],
        })
    });
    Predictor::fit(&points.collect::<Vec<KnownPoint>>()).ok()
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

    /// Returns ln of the time in us at any size, the mean of both placements, from assumed
    /// paths and beyond the measured sizes where need be; `None` with fewer than two sizes.
    pub(crate) fn rough_ln_us(&self, bytes: u64) -> Option<f64> {
        let ln_us = |curve: &Predictor| curve.predict(Bytes::new(bytes)).time.get().ln();
        let sum: f64 = self.curves.iter().map(ln_us).sum();
        let mean = sum / self.curves.len() as f64;
        mean.is_finite().then_some(mean)
    }
}
