//! Times for sizes that were not measured, from those that were.
//!
//! A line per segment tells what a curve is made of, but it predicts poorly: where one path gives
//! way to the next lies somewhere between two measured sizes, and most of the error comes
//! from there. So a [`Predictor`] asks of each gap between two sizes what may have happened in it
//! (`curve`): the time grew evenly (T = alpha + n/beta through both ends), or the line from
//! below still holds, or the line from above already does. It takes the number that costs least
//! if any of them is true. Before that it looks for samples that something else disturbed
//! (`spike`). The band of a prediction comes from leaving out each measured size in turn.
//!
//! Everything is relative: a size of 8 B counts as much as one of 8 GiB.
//!
//! Deliberately absent: knowledge of other machines. A model fitted on one machine is off by 10 to
//! 70 % on the next one of its kind; this one knows only the sweep that it was given. And the path that ran: a
//! tuner that switches well switches where two curves meet, so a switch is no jump, and on the public sweep
//! that comes with a trace knowing it makes predictions worse (held out in two folds 2.0 % without, 2.5 to 3.4 % with).

mod curve;
mod spike;

pub use curve::Grounds;

use crate::{PointSummary, SeriesAnalysis};
use curve::{Curve, Estimate, Knot};
pub(crate) use spike::disturbed;
use spike::without_spikes;
use std::fmt;
use std::ops::RangeInclusive;
use tier6_stats::median;
use tier6_units::{Bytes, Micros};

/// What counts as a time, in us; outside is a broken clock, not a measurement.
const TIME_US: RangeInclusive<f64> = 1e-6..=1e15;
/// Natural logarithm of the finest relative difference that two runs of one size can show.
const GRAIN: f64 = 0.02;
/// Share of the measured sizes that the band must have covered when each was left out.
const BAND_COVERAGE: f64 = 0.9;
/// Largest factor between a time and an end of its band; a wider one says nothing more.
const BAND_FACTOR_MAX: f64 = 1000.0;
/// Fewest sizes that can be left out in turn and still make a band.
const BAND_SIZES_MIN: usize = 3;
/// Sizes to each side that the prediction of a left-out size can depend on: two knots for a
/// line, one more to see a spike in them, two more for the usual difference of placements.
const REACH: usize = 5;

/// A measured size, as the predictor takes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownPoint {
    /// Message size.
    pub bytes: Bytes,
    /// Median time.
    pub time: Micros,
    /// Median time of the same size and run with the other placement: a witness against
    /// disturbed samples. `None` when it was not measured.
    pub other_placement: Option<Micros>,
}

impl KnownPoint {
    /// Returns the usable points of `series`; `other` is the same call of the same run with the
    /// other placement, when it was measured.
    pub fn all_of(series: &SeriesAnalysis, other: Option<&SeriesAnalysis>) -> Vec<Self> {
        let time = |point: &PointSummary| point.excluded.is_none().then_some(point.median);
        let time_of_other = |bytes| {
            let points = &other?.points;
            let index = points.binary_search_by_key(&bytes, |point| point.bytes);
            time(&points[index.ok()?])
        };
        let points = series.points.iter();
        points
            .filter_map(|point| {
                Some(Self {
                    bytes: point.bytes,
                    time: time(point)?,
                    other_placement: time_of_other(point.bytes),
                })
            })
            .collect()
    }

    /// Returns a point of which only size and time are known.
    pub const fn new(bytes: Bytes, time: Micros) -> Self {
        Self {
            bytes,
            time,
            other_placement: None,
        }
    }
}

/// Predicts the time of any size from a measured sweep.
///
/// ```
/// use tier6_fit::{Evidence, KnownPoint, Predictor};
/// use tier6_units::{Bytes, Micros};
/// let sweep: Vec<KnownPoint> = [(1 << 20, 30.0), (4 << 20, 60.0), (16 << 20, 180.0)]
///     .map(|(bytes, us)| KnownPoint::new(Bytes::new(bytes), Micros::new(us)))
///     .to_vec();
/// let predictor = Predictor::fit(&sweep)?;
/// let prediction = predictor.predict(Bytes::new(8 << 20));
/// assert!((prediction.time.get() - 100.0).abs() < 1e-9);
/// assert_eq!(prediction.evidence, Evidence::Interpolated);
/// # Ok::<(), tier6_fit::PredictorError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Predictor {
    curve: Curve,
    /// How many times the estimated uncertainty the band is wide; `None` with too few sizes.
    stretch: Option<f64>,
}

/// A predicted time with what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Message size asked for.
    pub bytes: Bytes,
    /// Predicted time.
    pub time: Micros,
    /// Where about nine of ten measured times lie; `None` with fewer than five sizes.
    pub band: Option<Band>,
    /// Within the measured sizes or outside.
    pub evidence: Evidence,
    /// How the prediction was made; prints as a sentence.
    pub grounds: Grounds,
}

/// A range of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Lower end.
    pub low: Micros,
    /// Upper end.
    pub high: Micros,
}

/// Whether measured sizes surround a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Between two measured sizes, or at one.
    Interpolated,
    /// Below the smallest or above the largest measured size.
    Extrapolated,
}

impl Evidence {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interpolated => "interpolated",
            Self::Extrapolated => "extrapolated",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why nothing can be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PredictorError {
    /// One size or none has a usable time.
    #[error("prediction needs two sizes with a time above zero, found {found}")]
    TooFewSizes {
        /// How many there are.
        found: usize,
    },
}

impl Predictor {
    /// Learns a sweep. Points in any order; a size given twice counts once, with the median of its
    /// times. Sizes of zero and times that are not positive numbers are not used.
    ///
    /// # Errors
    ///
    /// [`PredictorError::TooFewSizes`] when fewer than two sizes remain.
    pub fn fit(points: &[KnownPoint]) -> Result<Self, PredictorError> {
        let points = one_per_size(points);
        let curve = Curve::new(without_spikes(&points)).ok_or(PredictorError::TooFewSizes {
            found: points.len(),
        })?;
        Ok(Self {
            curve,
            stretch: stretch(&points),
        })
    }

    /// Returns the time of a message of `bytes`.
    ///
    /// At a measured size it is the measured time, unless that one was taken for disturbed.
    /// Where a larger size took longer, no prediction between them leaves their range.
    pub fn predict(&self, bytes: Bytes) -> Prediction {
        let estimate = self.curve.at(bytes.as_f64());
        let width = |stretch: f64| {
            let factor = (stretch * uncertainty(&estimate)).exp();
            factor.min(BAND_FACTOR_MAX)
        };
        Prediction {
            bytes,
            time: Micros::new(estimate.us),
            band: self.stretch.map(|stretch| Band {
                low: Micros::new(estimate.us / width(stretch)),
                high: Micros::new(estimate.us * width(stretch)),
            }),
            evidence: match estimate.grounds {
                Grounds::Measured { .. } | Grounds::Between { .. } => Evidence::Interpolated,
                Grounds::Above { .. } | Grounds::Below { .. } => Evidence::Extrapolated,
            },
            grounds: estimate.grounds,
        }
    }
}

/// Returns usable points in ascending order, one per size.
fn one_per_size(points: &[KnownPoint]) -> Vec<KnownPoint> {
    let usable = |time: Micros| TIME_US.contains(&time.get());
    let mut sorted: Vec<KnownPoint> = points
        .iter()
        .filter(|point| point.bytes.get() > 0 && usable(point.time))
        .copied()
        .collect();
    sorted.sort_by_key(|point| point.bytes);
    // Sizes above 2^53 that differ by a few bytes are one number in every formula.
    let equal =
        |a: &KnownPoint, b: &KnownPoint| a.bytes.as_f64().total_cmp(&b.bytes.as_f64()).is_eq();
    let merged = sorted.chunk_by(equal).map(|same| {
        let middle = |times: Vec<f64>| median(&times).map(Micros::new);
        let times = same.iter().map(|point| point.time.get()).collect();
        let others = same.iter().filter_map(|point| point.other_placement);
        let first = same[0];
        KnownPoint {
            bytes: first.bytes,
            time: middle(times).expect("Invariant: a chunk has a point, its times are finite"),
            other_placement: middle(others.filter(|t| usable(*t)).map(Micros::get).collect()),
        }
    });
    merged.collect()
}

/// Returns how far off an estimate may be before it is compared with data: a logarithm of a ratio.
fn uncertainty(estimate: &Estimate) -> f64 {
    (estimate.half_spread + GRAIN) * (1.0 + estimate.gaps_outside)
}

/// Leaves out each inner size in turn, predicts it, and returns the multiple of
/// [`uncertainty`] that covers [`BAND_COVERAGE`] of them (split-conformal quantile).
fn stretch(points: &[KnownPoint]) -> Option<f64> {
    let inner = 1..points.len().saturating_sub(1);
    let mut misses: Vec<f64> = inner
        .filter_map(|left_out| {
            let window = left_out.saturating_sub(REACH)..points.len().min(left_out + REACH + 1);
            let others: Vec<KnownPoint> = window
                .filter(|index| *index != left_out)
                .map(|index| points[index])
                .collect();
            let point = &points[left_out];
            let estimate = Curve::new(without_spikes(&others))?.at(point.bytes.as_f64());
            let miss = (point.time.get() / estimate.us).ln().abs();
            Some(miss / uncertainty(&estimate))
        })
        .collect();
    if misses.len() < BAND_SIZES_MIN {
        return None;
    }
    misses.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rounded count of at least one"
    )]
    let rank = ((misses.len() + 1) as f64 * BAND_COVERAGE).ceil() as usize;
    Some(misses[rank.min(misses.len()) - 1])
}

impl From<&KnownPoint> for Knot {
    fn from(point: &KnownPoint) -> Self {
        Self {
            bytes: point.bytes,
            us: point.time.get(),
        }
    }
}
