//! Calibration: the constants of a described system from measurements.
//!
//! A system file says what a data sheet says; what a collective costs on it comes from
//! measurements. [`calibrate`] takes a [`SystemSpec`] and any number of measured sweeps
//! ([`Observed`]: sizes, rank counts, collectives, algorithms, protocols) and returns the system
//! with constants that carry their origin: data sets, range, method, error, interval.
//!
//! Before a fit stands the rank check (`identify`): a constant that the measurements cannot tell
//! is refused by name, with the measurement that would. In-sample errors are the fit's own; they
//! promise nothing about other sizes or ranks.
//!
//! Deliberately absent: reading measurements, and choosing which system they were made on.

mod anchored;
mod component;
mod constant;
mod forecast;
mod grain;
mod grid;
mod least_squares;
mod model;
mod observed;
mod ramp;
mod rank;
mod report;
mod simulated;
mod site;
mod sizes;
mod solve;

pub use anchored::Anchored;
pub use forecast::{Forecast, Miss, forecast};
pub use observed::{Call, Observed, ObservedError, ObservedPoint};
pub use report::{Calibration, Fitted, Refused, SetFit};
pub use simulated::{calibrate_simulated, forecast_simulated};
pub use sizes::plan_sizes;

use site::Sites;
use std::fmt;
use std::str::FromStr;
use tier6_math::PlanError;
use tier6_system::{SystemError, SystemSpec};

/// How constants are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// The step from chip components, the rest of the floor is software; the rate from the peak
    /// bus bandwidth (source document 001, method A).
    A,
    /// The step from the hops of a running pipeline, regressed on the number of steps; the rate
    /// from the peak bus bandwidth (source document 001, method B).
    B,
    /// Relative least squares of all constants that the measurements can tell.
    Fit,
    /// The best of a grid (source document 003): slow, kept as a yardstick.
    Grid,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::Fit, Self::Grid];

    /// Returns the name on the command line and in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::Fit => "fit",
            Self::Grid => "grid",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = UnknownMethodError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|method| method.name() == wanted);
        found.ok_or_else(|| UnknownMethodError(text.to_owned()))
    }
}

/// No method of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `a`, `b`, `fit` or `grid`, found `{0}`")]
pub struct UnknownMethodError(String);

/// What to do with constants that the measurements cannot tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Confounded {
    /// Fail, and name them with the measurements that would part them.
    Refuse,
    /// Keep them as near to what the system says as the measurements allow, fit the rest, and
    /// say so.
    HoldAtPrior,
}

/// Whether a fit is also asked to predict what it was not fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeldOut {
    /// Sizes and ranks are held out in turn: they choose between forms of the model, give the
    /// held-out error, and widen intervals. Some ten fits instead of one.
    Tested,
    /// The plainest form, and no held-out error.
    Untested,
}

/// How to calibrate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrateOptions {
    /// How constants are found.
    pub method: Method,
    /// What happens to constants that cannot be told apart.
    pub confounded: Confounded,
    /// Whether what was held out is predicted.
    pub held_out: HeldOut,
    /// Confidence of intervals, above 0 and below 1.
    pub level: f64,
}

impl CalibrateOptions {
    /// Least squares, confounded constants held, 95 % intervals.
    pub const STANDARD: Self = Self {
        method: Method::Fit,
        confounded: Confounded::HoldAtPrior,
        held_out: HeldOut::Tested,
        level: 0.95,
    };
}

/// Why there is no calibration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// Nothing to fit on.
    #[error("no measured time to calibrate on; hint: give a sweep with at least two sizes")]
    NoPoints,
    /// The system cannot be resolved.
    #[error("system `{system}`: {error}")]
    System {
        /// Its name.
        system: String,
        /// Why.
        error: Box<SystemError>,
    },
    /// A measured call does not fit the system.
    #[error("`{label}`: {why}")]
    Misfit {
        /// The measurement.
        label: String,
        /// Why.
        why: String,
    },
    /// No algorithm of the model does the call on this system.
    #[error("`{label}`: no algorithm prices this call: {error}")]
    NoPath {
        /// The measurement.
        label: String,
        /// Why the last one does not.
        error: Box<PlanError>,
    },
    /// The method needs something else.
    #[error("method `{method}` {why}; hint: {hint}")]
    Method {
        /// The method.
        method: Method,
        /// What it lacks.
        why: String,
        /// What would do.
        hint: &'static str,
    },
    /// The measurements cannot tell the constants apart.
    #[error(
        "{} of {constants} constants can be told, but not {}",
        rank,
        said(groups)
    )]
    NotIdentifiable {
        /// How many combinations can be told.
        rank: usize,
        /// How many constants were asked for.
        constants: usize,
        /// What cannot be told, and what would tell it.
        groups: Vec<Refused>,
    },
}

fn said(groups: &[Refused]) -> String {
    let all: Vec<String> = groups.iter().map(Refused::to_string).collect();
    all.join("; ")
}

/// Calibrates a system on measurements.
///
/// The order of the measurements changes nothing.
///
/// # Errors
///
/// When nothing can be fitted, a measurement does not fit the system, or constants cannot be told
/// apart and [`Confounded::Refuse`] is asked for.
pub fn calibrate(
    system: &SystemSpec,
    observed: &[Observed],
    options: &CalibrateOptions,
) -> Result<Calibration, CalibrateError> {
    let sorted = sorted(observed)?;
    let sites = Sites::of(system, &sorted)?;
    match options.method {
        Method::A | Method::B => component::calibrate(system, &sorted, &sites, options),
        Method::Fit | Method::Grid => least_squares::calibrate(system, &sorted, &sites, options),
    }
}

/// Returns the sweeps that have points, in an order of their own: that in which they were given
/// changes nothing.
fn sorted(observed: &[Observed]) -> Result<Vec<&Observed>, CalibrateError> {
    let mut sorted: Vec<&Observed> = observed
        .iter()
        .filter(|set| !set.points.is_empty())
        .collect();
    sorted.sort_by(|a, b| a.order(b));
    if sorted.is_empty() {
        return Err(CalibrateError::NoPoints);
    }
    Ok(sorted)
}
