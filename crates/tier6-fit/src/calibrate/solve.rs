//! Least squares of the constants on relative errors.
//!
//! Constants move on a logarithmic scale: none becomes negative, and 10 % of a step weighs as
//! much as 10 % of a rate. What the measurements cannot tell is held near what the system says by
//! a weak pull, as if each constant were known to a factor; the pull is worth much less than one
//! measured point. The model is linear in times and inverse rates between the points where
//! another path becomes the fastest, so a few steps of Levenberg-Marquardt from each of several
//! starts find the least; the best of them counts, the first of equals.

use super::constant::{Key, Quantity};
use super::model::{Known, Model};
use super::observed::Observed;
use tier6_collective::Protocol;
use tier6_stats::{BoundedFit, Residuals, fit_bounded, fit_bounded_smooth, t_quantile};
use tier6_units::Bytes;

/// A logarithm of predicted / measured beyond which a time is no noise of this model: the library
/// chose badly, or something was in the way.
const OUTLIER: f64 = 0.25;
/// A measured time in the units of a fit, relative.
const NOISE: f64 = 0.05;

/// A fit of a model's constants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// In the order of the model's keys.
    pub(super) constants: Vec<f64>,
    /// Logarithms of constant / prior of those that were free.
    pub(super) logs: Vec<f64>,
    /// By constant: relative standard deviation per unit of noise, once the rank was checked.
    pub(super) relative_sd: Vec<Option<f64>>,
    /// Relative noise of a time and the freedom in which it was estimated; `None` without any.
    pub(super) noise: Option<(f64, u32)>,
    /// Sum of squared relative errors of the points, without the pull.
    pub(super) sum_of_squares: f64,
    /// How often the model was priced, over all starts.
    pub(super) evaluations: u32,
}

/// How far from what the system says each constant is believed to be: a factor, as a logarithm.
pub(super) fn belief(key: &Key) -> f64 {
    match key.quantity() {
        Quantity::Time => 1.0,
        Quantity::Share => match key {
            Key::Share(..) => 1.0,
            _ => 0.3,
        },
        Quantity::Rate => 0.3,
    }
}

/// Bounds of the logarithm of constant / prior. Software may take long: a call in which 2,000 ranks
/// each send to each other spends 20 ms before the first byte counts.
fn bounds(key: &Key, prior: f64) -> (f64, f64) {
    match (key, key.quantity()) {
        (Key::Software, _) => (-50.0_f64.ln(), 2000.0_f64.ln()),
        (_, Quantity::Time | Quantity::Rate) => (-50.0_f64.ln(), 50.0_f64.ln()),
        (_, Quantity::Share) => ((0.01 / prior).min(1.0).ln(), (1.0 / prior).ln()),
    }
}

/// The points of all sets with the times of a model.
pub(super) struct Problem<'a> {
    pub(super) model: &'a Model,
    pub(super) observed: &'a [&'a Observed],
    /// Constants that are fitted.
    pub(super) free: Vec<usize>,
    /// How strong the pull is; 1 is one point's worth at the belief's distance.
    pub(super) pull: f64,
    /// How many starts are tried.
    pub(super) starts: Starts,
}

/// How many starts are tried. Where each call has one path there is one least, which any start
/// finds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Starts {
    /// As many as find the least.
    All,
    /// A few, where many fits are compared.
    Few,
    /// These logarithms, near the least of a model with one path per call.
    Near(Vec<f64>),
}

impl Starts {
    /// Returns the same, where many fits are compared.
    pub(super) fn few(&self) -> Self {
        match self {
            Self::All | Self::Few => Self::Few,
            Self::Near(logs) => Self::Near(logs.clone()),
        }
    }
}

impl Problem<'_> {
    pub(super) fn constants(&self, logs: &[f64]) -> Vec<f64> {
        let mut constants = self.model.priors().to_vec();
        for (at, log) in self.free.iter().zip(logs) {
            constants[*at] *= log.exp();
        }
        constants
    }

    /// Relative errors of all points, then the pulls.
    pub(super) fn residuals(&self, logs: &[f64]) -> Residuals {
        self.residuals_by(logs, None)
    }

    /// The same where protocols give way to each other at the sizes of a start.
    fn residuals_by(&self, logs: &[f64], start: Option<&Start>) -> Residuals {
        let constants = self.constants(logs);
        let column = {
            let mut column = vec![None; constants.len()];
            for (index, at) in self.free.iter().enumerate() {
                column[*at] = Some(index);
            }
            column
        };
        let n: usize = self.observed.iter().map(|set| set.points.len()).sum();
        let rows = n + self.free.len();
        let mut residuals = Residuals {
            values: vec![f64::NAN; rows],
            columns: vec![vec![0.0; rows]; self.free.len()],
        };
        let Ok(priced) = self.model.at(&constants) else {
            return residuals;
        };
        let mut row = 0;
        let calls = self.model.calls().iter().zip(&priced);
        for (set, (call, priced)) in self.observed.iter().zip(calls) {
            for point in &set.points {
                let known = match (point.path, start) {
                    (Some(path), _) => Known::Path(path),
                    (None, Some(start)) => start.known(point.bytes),
                    (None, None) => Known::Nothing,
                };
                let slope = call.slope(priced, point.bytes, known, &constants);
                let (value, factor) = robust((slope.time / point.time.get()).ln());
                residuals.values[row] = value;
                for (at, by_log) in slope.by_log {
                    if let Some(index) = column[at] {
                        residuals.columns[index][row] = factor * by_log / slope.time;
                    }
                }
                row += 1;
            }
        }
        for (index, at) in self.free.iter().enumerate() {
            let weight = self.pull * NOISE / belief(&self.model.keys()[*at]);
            residuals.values[row] = weight * logs[index];
            residuals.columns[index][row] = weight;
            row += 1;
        }
        residuals
    }

    /// Sets a constant that no fitted time depends on back to what the system says, unless its
    /// path would then be faster than what was measured; says whether it did.
    pub(super) fn give_back(&self, solution: &mut Solution, at: usize) -> bool {
        let Some(index) = self.free.iter().position(|free| *free == at) else {
            return false;
        };
        let mut logs = solution.logs.clone();
        logs[index] = 0.0;
        let errors = self.residuals(&logs).values;
        let n: usize = self.observed.iter().map(|set| set.points.len()).sum();
        let squares: f64 = errors[..n].iter().map(|error| error * error).sum();
        let is_harmless = squares <= solution.sum_of_squares * (1.0 + 1e-9);
        if is_harmless {
            solution.constants = self.constants(&logs);
            solution.logs = logs;
        }
        is_harmless
    }

    fn start(&self, start: &Start) -> Vec<f64> {
        let log = |at: &usize| match (start, self.model.keys()[*at].quantity()) {
            (Start::Scaled(scale), Quantity::Time) => scale.ln(),
            (Start::Scaled(_) | Start::Cut { .. }, _) => 0.0,
        };
        self.free.iter().map(log).collect()
    }

    /// Fits from several starts.
    pub(super) fn solve(&self) -> Option<Solution> {
        let keys = self.model.keys();
        let bounds: Vec<(f64, f64)> = self
            .free
            .iter()
            .map(|at| bounds(&keys[*at], self.model.priors()[*at]))
            .collect();
        // With one path per call there is nothing to assign: one start finds the least.
        if self.model.is_forced() {
            let from = match &self.starts {
                Starts::Near(logs) => logs.clone(),
                Starts::All | Starts::Few => vec![0.0; self.free.len()],
            };
            let fit = fit_bounded_smooth(&from, &bounds, |logs| self.residuals(logs))?;
            let evaluations = fit.evaluations;
            return Some(self.solution(fit.parameters, evaluations));
        }
        let mut best: Option<BoundedFit> = None;
        let mut evaluations = 0;
        for start in starts(&self.starts) {
            let from = self.start(&start);
            let Some(first) =
                fit_bounded(&from, &bounds, |logs| self.residuals_by(logs, Some(&start)))
            else {
                continue;
            };
            evaluations += first.evaluations;
            let Some(fit) = fit_bounded(&first.parameters, &bounds, |logs| self.residuals(logs))
            else {
                continue;
            };
            evaluations += fit.evaluations;
            let is_better = |best: &BoundedFit| fit.sum_of_squares < best.sum_of_squares;
            if best.as_ref().is_none_or(is_better) {
                best = Some(fit);
            }
        }
        Some(self.solution(best?.parameters, evaluations))
    }

    /// Describes the fit at some logarithms.
    pub(super) fn solution(&self, logs: Vec<f64>, evaluations: u32) -> Solution {
        let n: usize = self.observed.iter().map(|set| set.points.len()).sum();
        let values = self.residuals(&logs).values;
        Solution {
            constants: self.constants(&logs),
            relative_sd: Vec::new(),
            noise: noise(&values[..n], self.free.len()),
            logs,
            sum_of_squares: values[..n].iter().map(|value| value * value).sum(),
            evaluations,
        }
    }
}

/// Where a fit starts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    /// The fastest path by what the system says, its latencies so many times as long.
    Scaled(f64),
    /// Protocols give way to each other at these sizes.
    Cut { ll_last: Bytes, ll128_last: Bytes },
}

impl Start {
    fn known(&self, bytes: Bytes) -> Known {
        match self {
            Self::Scaled(_) => Known::Nothing,
            Self::Cut { ll_last, .. } if bytes <= *ll_last => Known::Protocol(Protocol::Ll),
            Self::Cut { ll128_last, .. } if bytes <= *ll128_last => {
                Known::Protocol(Protocol::Ll128)
            }
            Self::Cut { .. } => Known::Protocol(Protocol::Simple),
        }
    }
}

fn starts(starts: &Starts) -> Vec<Start> {
    const KIB: u64 = 1 << 10;
    let (scales, ll, ll128): (&[f64], &[u64], &[u64]) = match starts {
        Starts::All => (&[1.0, 0.3, 3.0, 10.0], &[4, 32, 128, 512], &[1, 4, 32, 256]),
        Starts::Few | Starts::Near(_) => (&[1.0], &[32, 256], &[4, 64]),
    };
    let mut all: Vec<Start> = scales.iter().map(|scale| Start::Scaled(*scale)).collect();
    for ll in ll {
        for times in ll128 {
            all.push(Start::Cut {
                ll_last: Bytes::new(ll * KIB),
                ll128_last: Bytes::new(ll * times * KIB),
            });
        }
    }
    all
}

/// Returns a residual whose square grows only linearly beyond [`OUTLIER`] (Huber), and its
/// derivative.
pub(super) fn robust(log_ratio: f64) -> (f64, f64) {
    let size = log_ratio.abs();
    if size <= OUTLIER {
        return (log_ratio, 1.0);
    }
    let value = (2.0 * OUTLIER * size - OUTLIER * OUTLIER).sqrt();
    (value.copysign(log_ratio), OUTLIER / value)
}

/// Returns the noise that errors show, and the freedom left by the constants fitted.
fn noise(errors: &[f64], constants: usize) -> Option<(f64, u32)> {
    let freedom = errors
        .len()
        .checked_sub(constants)
        .filter(|freedom| *freedom > 0)?;
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let freedom = u32::try_from(freedom).unwrap_or(u32::MAX);
    Some(((squares / f64::from(freedom)).sqrt(), freedom))
}

impl Solution {
    /// Returns the confidence interval of a constant; `None` where it cannot be told, or wider
    /// than a factor of 100 to both sides.
    pub(super) fn interval(&self, at: usize, level: f64) -> Option<(f64, f64)> {
        let (noise, freedom) = self.noise?;
        let sd = self.relative_sd.get(at).copied().flatten()?;
        let half = t_quantile(level, f64::from(freedom))? * sd * noise;
        let value = self.constants[at];
        (half < 100.0_f64.ln()).then(|| (value * (-half).exp(), value * half.exp()))
    }
}
