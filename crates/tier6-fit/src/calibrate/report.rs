//! What a calibration returns.

use super::{Method, Miss, Observed};
use std::fmt;
use tier6_system::SystemSpec;
use tier6_units::{Bytes, Micros};

/// A system with fitted constants, and everything there is to say about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The system; fitted constants carry data sets, range, method, error and interval.
    pub system: SystemSpec,
    /// How it was done.
    pub method: Method,
    /// The fitted constants, in the order of the system file.
    pub parameters: Vec<Fitted>,
    /// What the measurements cannot tell.
    pub refused: Vec<Refused>,
    /// How well each measured sweep is met, in the order of their calls.
    pub sets: Vec<SetFit>,
    /// Root of the mean squared relative error of all points, in percent, in sample.
    pub rmspe_pct: f64,
    /// The same of sizes that were predicted from the others; `None` with too few of them.
    pub held_out_rmspe_pct: Option<f64>,
    /// How far its predictions are off, at the measured numbers of ranks and beyond.
    pub miss: Miss,
    /// What a reader should know, as sentences.
    pub warnings: Vec<String>,
}

/// A fitted constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Where it stands in a system file: `software.call`, `links.nvlink4.efficiency`.
    pub name: String,
    /// The unit of its numbers: `us`, `GB/s`, `x 32 KiB` for channels of 32 KiB, or empty for a
    /// share.
    pub unit: String,
    /// What was fitted.
    pub value: f64,
    /// Its confidence interval; `None` where the points leave no freedom to tell.
    pub interval: Option<(f64, f64)>,
    /// What the system said before.
    pub prior: Option<f64>,
}

/// Constants that the measurements cannot tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The constants, as [`Fitted::name`]; several are confounded with each other.
    pub names: Vec<String>,
    /// Why.
    pub why: String,
    /// What to measure, so that they can be told.
    pub measure: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.names.join(", "), self.why)?;
        if self.measure.is_empty() {
            return Ok(());
        }
        write!(f, "; hint: measure {}", self.measure.join(", and "))
    }
}

/// How well a measured sweep is met.
#[derive(Debug, Clone, PartialEq)]
pub struct SetFit {
    /// Name of the data set.
    pub label: String,
    /// Points fitted on.
    pub points: usize,
    /// Sizes left out because something else disturbed them.
    pub disturbed: Vec<Bytes>,
    /// Root of the mean squared relative error, in percent.
    pub rmspe_pct: f64,
    /// The same of sizes that were predicted from the others; `None` with too few of them.
    pub held_out_rmspe_pct: Option<f64>,
    /// Mean of the absolute relative error, in percent.
    pub mape_pct: f64,
    /// Largest absolute relative error in percent, and where it stands.
    pub max_error: (f64, Bytes),
    /// Per size: measured, predicted.
    pub residuals: Vec<(Bytes, Micros, Micros)>,
}

impl SetFit {
    /// Compares a sweep with what a model says.
    pub fn new(set: &Observed, time: impl Fn(Bytes) -> f64) -> Self {
        let residuals: Vec<(Bytes, Micros, Micros)> = set
            .points
            .iter()
            .map(|point| (point.bytes, point.time, Micros::new(time(point.bytes))))
            .collect();
        let errors = residuals.iter().map(|(bytes, measured, predicted)| {
            let error = 100.0 * (predicted.get() / measured.get() - 1.0);
            (error.abs(), *bytes)
        });
        let n = residuals.len() as f64;
        let mut max_error = (0.0, Bytes::new(0));
        let (mut sum, mut squares) = (0.0, 0.0);
        for (error, bytes) in errors {
            sum += error;
            squares += error * error;
            if error > max_error.0 {
                max_error = (error, bytes);
            }
        }
        Self {
            label: set.label.clone(),
            points: residuals.len(),
            disturbed: set.disturbed.clone(),
            rmspe_pct: (squares / n).sqrt(),
            held_out_rmspe_pct: None,
            mape_pct: sum / n,
            max_error,
            residuals,
        }
    }
}

/// Returns the RMSPE over the points of all sets, in percent.
pub(super) fn rmspe_of(sets: &[SetFit]) -> f64 {
    let squares = sets
        .iter()
        .map(|set| set.points as f64 * set.rmspe_pct.powi(2));
    let points = sets.iter().map(|set| set.points as f64);
    (squares.sum::<f64>() / points.sum::<f64>()).sqrt()
}
