//! Predictions of a calibrated system, with the interval that its own misses suggest.
//!
//! A fitted model misses the calls that it was fitted on by one amount, and calls of more ranks by a
//! larger one: links are shared otherwise, the library chooses otherwise. The second miss is
//! measured: constants fitted on the smaller numbers of ranks predict the larger ones, step after
//! step, and what they miss by doublings of the ranks widens the interval of every prediction
//! beyond the measured ranks.

use super::model::Model;
use super::site::Sites;
use super::solve::{Problem, Starts};
use super::{CalibrateError, Calibration, Call, Observed};
use crate::Band;
use tier6_collective::{Algorithm, Protocol};
use tier6_stats::percentile;
use tier6_system::SystemSpec;
use tier6_units::{Bytes, Micros};

/// Share of measured times that an interval is meant to hold, in percent.
const COVERAGE_PCT: f64 = 90.0;
/// The least miss of a doubling of the ranks, as a logarithm. H100 on 40 GPUs says of 80 so much,
/// whatever the smaller ones say.
const MISS_PER_DOUBLING: f64 = 0.2;
/// The same across nodes where only one number of ranks was measured. Nine of ten of the bundled
/// sweeps miss less: small messages on Slingshot take 4 times as long on 32 ranks as 8 ranks say.
const MISS_PER_DOUBLING_UNSEEN: f64 = 1.0;
/// Logarithm of what two runs of one call differ by at least.
const REPEAT: f64 = 0.02;
/// Largest factor between a time and an end of its interval; a wider one says nothing more.
const FACTOR_MAX: f64 = 1000.0;

/// A time that a system predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Message size.
    pub bytes: Bytes,
    /// The time of the fastest path.
    pub time: Micros,
    /// That path.
    pub path: (Algorithm, Option<Protocol>),
    /// Where about nine of ten measured times lie; `None` for a system that was not calibrated
    /// here.
    pub band: Option<Band>,
}

/// How far predictions of a calibrated system are off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Miss {
    /// Logarithm of the factor at the measured numbers of ranks.
    pub measured: f64,
    /// What the first doubling of the ranks beyond them adds; n doublings add sqrt(n) times as
    /// much, as if each went its own way.
    pub per_root: f64,
    /// The most ranks that were measured.
    pub ranks: u32,
    /// From how many predictions of larger numbers of ranks the growth was measured; 0 when it is
    /// a prior, which is larger for calls across nodes.
    pub evidence: usize,
}

/// Predicts a call on a system, as calibration prices it: the fastest of the algorithms and
/// protocols that the library chooses from.
///
/// # Errors
///
/// When the call does not fit the system or no algorithm prices it.
pub fn forecast(
    system: &SystemSpec,
    call: &Call,
    sizes: &[Bytes],
) -> Result<Vec<Forecast>, CalibrateError> {
    let asked = Observed::new("the call asked for", *call, &[]);
    let sites = Sites::of(system, &[&asked])?;
    let model = Model::new(&[&asked], &sites)?;
    let priced = model.at(model.priors())?;
    Ok(sizes
        .iter()
        .map(|bytes| priced[0].forecast(*bytes))
        .collect())
}

impl Calibration {
    /// Predicts a call on the calibrated system, with an interval.
    ///
    /// # Errors
    ///
    /// As [`forecast`].
    pub fn forecast(&self, call: &Call, sizes: &[Bytes]) -> Result<Vec<Forecast>, CalibrateError> {
        let factor = self.miss.factor(call);
        let mut times = forecast(&self.system, call, sizes)?;
        for time in &mut times {
            time.band = Some(Band {
                low: Micros::new(time.time.get() / factor),
                high: Micros::new(time.time.get() * factor),
            });
        }
        Ok(times)
    }
}

impl Miss {
    /// Returns the factor between a prediction and an end of its interval.
    pub fn factor(&self, call: &Call) -> f64 {
        let doublings = (f64::from(call.ranks) / f64::from(self.ranks))
            .log2()
            .max(0.0);
        let per_root = match (self.evidence, call.nodes) {
            (0, 2..) => self.per_root.max(MISS_PER_DOUBLING_UNSEEN),
            _ => self.per_root,
        };
        let half = self.measured + per_root * doublings.sqrt();
        half.exp().min(FACTOR_MAX)
    }

    /// Says how far a model is off where growth was not measured: `errors` are logarithms of
    /// predicted / measured in sample, `constants` how many were fitted to them.
    pub(super) fn untested(errors: &[f64], constants: usize, observed: &[&Observed]) -> Self {
        let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let n = errors.len() as f64;
        let freedom = (n - constants as f64).max(1.0);
        Self {
            measured: (percentile(&sizes, COVERAGE_PCT).unwrap_or(0.0) * (n / freedom).sqrt())
                .max(REPEAT),
            per_root: MISS_PER_DOUBLING,
            ranks: observed.iter().map(|set| set.call.ranks).max().unwrap_or(1),
            evidence: 0,
        }
    }

    /// The same, with the growth that predictions of larger numbers of ranks show.
    pub(super) fn tested(self, model: &Model, observed: &[&Observed], pull: f64) -> Self {
        let grown: Vec<f64> = forward_misses(model, observed, pull)
            .iter()
            .map(|(doublings, miss)| (miss - self.measured).max(0.0) / doublings.sqrt())
            .collect();
        match percentile(&grown, COVERAGE_PCT) {
            Some(found) => Self {
                per_root: found.max(MISS_PER_DOUBLING),
                evidence: grown.len(),
                ..self
            },
            None => self,
        }
    }
}

/// Fits on the smaller numbers of ranks and predicts the larger ones, for each number but the
/// largest; returns doublings of the ranks and |ln(predicted / measured)| of every point.
fn forward_misses(model: &Model, observed: &[&Observed], pull: f64) -> Vec<(f64, f64)> {
    let mut counts: Vec<u32> = observed.iter().map(|set| set.call.ranks).collect();
    counts.sort_unstable();
    counts.dedup();
    counts.pop();
    let mut misses = Vec::new();
    for most in counts {
        let is_small = |at: &usize| observed[*at].call.ranks <= most;
        let (small, large): (Vec<usize>, Vec<usize>) = (0..observed.len()).partition(is_small);
        let train: Vec<&Observed> = small.iter().map(|at| observed[*at]).collect();
        let known = model.of_calls(&small);
        let (free, _) = super::least_squares::free(&known, &train);
        let problem = Problem {
            model: &known,
            observed: &train,
            free,
            pull,
            starts: Starts::Few,
        };
        let Some(solution) = problem.solve() else {
            continue;
        };
        let Ok(priced) = model.of_calls(&large).at(&solution.constants) else {
            continue;
        };
        for (at, call) in large.iter().zip(&priced) {
            let set = observed[*at];
            let doublings = (f64::from(set.call.ranks) / f64::from(most)).log2();
            for point in &set.points {
                let miss = (call.time(point.bytes) / point.time.get()).ln().abs();
                misses.push((doublings, miss));
            }
        }
    }
    misses
}
