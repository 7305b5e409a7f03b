//! The errors of an engine on a set: in sample, held out, and how well its interval is kept.

use super::engine::{Basis, Engine, Predicted};
use super::holdout::Round;
use super::set::Machine;
use super::{LARGE_ABOVE, SMALL_BELOW};
use tier6_fit::KnownPoint;
use tier6_stats::{accuracy, median};
use tier6_units::Bytes;

/// The errors of one engine on one set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Which.
    pub engine: Engine,
    /// On the points that it was fitted on: all of them.
    pub in_sample: Errors,
    /// On the held-out points.
    pub held_out: Errors,
    /// The intervals of the held-out points; `None` for an engine that gives none.
    pub interval: Option<Coverage>,
}

/// RMSPE in percent by size band; `None` where a band has no points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Below 1 MiB.
    pub small: Option<f64>,
    /// 1 MiB to 64 MiB.
    pub medium: Option<f64>,
    /// Above 64 MiB.
    pub large: Option<f64>,
    /// All sizes.
    pub overall: Option<f64>,
}

/// How well predicted intervals hold the measured times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Share of the times that lie within, in percent.
    pub inside_pct: f64,
    /// Median of the square root of high / low: a factor in each direction; `None` where an
    /// interval reaches down to zero.
    pub factor: Option<f64>,
}

/// A measured size and what was predicted of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prediction {
    bytes: Bytes,
    /// What was measured, in us.
    measured: f64,
    predicted: Predicted,
}

impl Prediction {
    /// Joins points with what was predicted of them, in the same order.
    pub(super) fn of(
        points: &[KnownPoint],
        predicted: impl IntoIterator<Item = Predicted>,
    ) -> Vec<Self> {
        let pairs = points.iter().zip(predicted);
        pairs
            .map(|(point, predicted)| Self {
                bytes: point.bytes,
                measured: point.time.get(),
                predicted,
            })
            .collect()
    }
}

impl Score {
    /// Scores an engine on all points in sample, and on those of each round held out.
    ///
    /// # Errors
    ///
    /// Says why the engine cannot be fitted, or cannot predict.
    pub(super) fn of(
        engine: Engine,
        points: &[KnownPoint],
        rounds: &[Round],
        basis: Basis,
        machine: Option<&Machine>,
    ) -> Result<Self, String> {
        let predictions = |train: &[KnownPoint], test: &[KnownPoint], basis| {
            let model = engine.train(train, machine, basis)?;
            let sizes: Vec<Bytes> = test.iter().map(|point| point.bytes).collect();
            Ok::<_, String>(Prediction::of(test, model.predict(&sizes)?))
        };
        let mut held_out = Vec::new();
        for round in rounds {
            held_out.extend(predictions(&round.train, &round.test, basis)?);
        }
        let in_sample = predictions(points, points, Basis::Model)?;
        Ok(Self::from_predictions(engine, &in_sample, &held_out))
    }

    pub(super) fn from_predictions(
        engine: Engine,
        in_sample: &[Prediction],
        held_out: &[Prediction],
    ) -> Self {
        Self {
            engine,
            in_sample: Errors::of(in_sample),
            held_out: Errors::of(held_out),
            interval: Coverage::of(held_out),
        }
    }

    /// No error is known.
    pub(super) const fn none(engine: Engine) -> Self {
        let none = Errors {
            small: None,
            medium: None,
            large: None,
            overall: None,
        };
        Self {
            engine,
            in_sample: none,
            held_out: none,
            interval: None,
        }
    }
}

impl Errors {
    fn of(predictions: &[Prediction]) -> Self {
        let within = |belongs: &dyn Fn(Bytes) -> bool| {
            let (measured, predicted): (Vec<f64>, Vec<f64>) = predictions
                .iter()
                .filter(|one| belongs(one.bytes))
                .map(|one| (one.measured, one.predicted.us))
                .unzip();
            Some(accuracy(&measured, &predicted)?.rmspe * 100.0)
        };
        Self {
            small: within(&|bytes| bytes < SMALL_BELOW),
            medium: within(&|bytes| (SMALL_BELOW..=LARGE_ABOVE).contains(&bytes)),
            large: within(&|bytes| bytes > LARGE_ABOVE),
            overall: within(&|_| true),
        }
    }
}

impl Coverage {
    fn of(predictions: &[Prediction]) -> Option<Self> {
        let bands = predictions
            .iter()
            .filter_map(|one| Some((one.measured, one.predicted.band_us?)));
        let (inside, factors): (Vec<bool>, Vec<f64>) = bands
            .map(|(measured, (low, high))| {
                (low <= measured && measured <= high, (high / low).sqrt())
            })
            .unzip();
        let hits = inside.iter().filter(|hit| **hit).count();
        (!inside.is_empty()).then(|| Self {
            inside_pct: 100.0 * hits as f64 / inside.len() as f64,
            factor: median(&factors),
        })
    }
}
