//! What a row gains, with an interval that takes noise for common to the row's sizes.

use super::contender::{Ask, Level};
use tier6_fit::Interval;
use tier6_units::Micros;

/// Standard deviations to each side of a 95 % interval.
const SIGMAS_95: f64 = 1.96;

/// The time that a row saves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// What it is compared with: this path at every size, or, when `None`, NCCL's own choice
    /// in runs without force.
    pub over: Option<Ask>,
    /// Time saved, as a share of what is compared with: the mean over the measured sizes, in
    /// percent.
    pub pct: f64,
    /// Its 95 % interval. What differs from run to run moves all sizes of a row together, so
    /// many sizes do not narrow it.
    pub interval_pct: Interval,
    /// The mean time saved per call over the measured sizes.
    pub saved: Micros,
    /// What may be said.
    pub verdict: GainVerdict,
}

/// What may be said of a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GainVerdict {
    /// The interval is above zero.
    Faster,
    /// The interval holds zero.
    WithinNoise,
    /// The interval is below zero.
    Slower,
}

impl GainVerdict {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::WithinNoise => "within_noise",
            Self::Slower => "slower",
        }
    }
}

/// Compares a row's times (first) with others (second) size by size; `None` without sizes.
pub(crate) fn gain(over: Option<Ask>, pairs: &[(Level, Level)]) -> Option<Gain> {
    if pairs.is_empty() {
        return None;
    }
    let mean = |part: &dyn Fn(&(Level, Level)) -> f64| {
        pairs.iter().map(part).sum::<f64>() / pairs.len() as f64
    };
    let same = pairs.iter().all(|(row, other)| row == other);
    let ln_ratio = mean(&|(row, other)| row.ln_us - other.ln_us);
    let sigma = mean(&|(row, other)| row.variance + other.variance).sqrt();
    let spread = if same { 0.0 } else { SIGMAS_95 * sigma };
    let saved_pct = |ln_ratio: f64| (1.0 - ln_ratio.exp()) * 100.0;
    let interval_pct = Interval {
        low: saved_pct(ln_ratio + spread),
        high: saved_pct(ln_ratio - spread),
    };
    let verdict = if interval_pct.low > 0.0 {
        GainVerdict::Faster
    } else if interval_pct.high < 0.0 {
        GainVerdict::Slower
    } else {
        GainVerdict::WithinNoise
    };
    Some(Gain {
        over,
        pct: saved_pct(ln_ratio),
        interval_pct,
        saved: Micros::new(mean(&|(row, other)| other.ln_us.exp() - row.ln_us.exp())),
        verdict,
    })
}
