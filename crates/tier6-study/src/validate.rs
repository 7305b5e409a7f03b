//! How well a model predicts sizes that it was not fitted on.
//!
//! An error on the points of a fit says how well the fit describes them; only held-out points say
//! what it can predict. Both stand side by side here, next to yardsticks that are computed in
//! the same run from the same points: one line, a line per segment, straight interpolation in
//! log-log. Below them is the floor: two placements of one run differ by some percent, and no
//! model of the one can be closer to the truth than the truth is to itself.
//!
//! Sets that cannot be scored are not skipped in silence: the report lists them with the reason.
//!
//! Deliberately absent: reading files and choosing series (the facade does), printing
//! (`tier6-report`), engines that need a described system.

mod engine;
mod holdout;
mod known_bad;
mod set;

pub use engine::{Engine, Role};
pub use holdout::{Holdout, ParseHoldoutError};
pub use known_bad::{KnownBad, Scope, known_bad};
pub use set::{MeasuredSet, Tier};

use tier6_fit::{KnownPoint, Predictor};
use tier6_stats::{accuracy, percentile};
use tier6_units::Bytes;

/// Sizes below are small.
pub const SMALL_BELOW: Bytes = Bytes::new(1 << 20);
/// Sizes above are large.
pub const LARGE_ABOVE: Bytes = Bytes::new(64 << 20);
/// Fewest sizes of a set that counts in the summary.
pub const SUMMARY_SIZES_MIN: usize = 15;

/// The outcome of a validation.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationReport {
    /// Which sizes were held out.
    pub holdout: Holdout,
    /// The sets, in the order given.
    pub sets: Vec<SetValidation>,
    /// What was not scored, and why.
    pub excluded: Vec<ExcludedSet>,
    /// All sets of [`SUMMARY_SIZES_MIN`] sizes or more together.
    pub summary: Summary,
}

/// One set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetValidation {
    /// Name of the set.
    pub id: String,
    /// Number of sizes that were scored.
    pub points: usize,
    /// One or more nodes, when known.
    pub tier: Option<Tier>,
    /// Sizes left out of the set, as sentences.
    pub left_out: Vec<String>,
    /// One entry per engine and yardstick, in the order of [`Engine::ALL`].
    pub scores: Vec<Score>,
    /// RMSPE in percent between the two placements of the run.
    pub placement_noise_pct: Option<f64>,
    /// Share of the held-out times within the band of [`Engine::Fit`], in percent.
    pub band_coverage_pct: Option<f64>,
}

/// A set that was not scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedSet {
    /// Name of the set.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// The errors of one engine on one set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Which.
    pub engine: Engine,
    /// On the points that it was fitted on: all of them.
    pub in_sample: Errors,
    /// On the held-out points.
    pub held_out: Errors,
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

/// Sets together. A percentile over sets, not over points: each machine counts once per sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of sets.
    pub sets: usize,
    /// One entry per engine and yardstick, in the order of [`Engine::ALL`].
    pub engines: Vec<EngineSummary>,
    /// Difference of placements; `None` when no set has both.
    pub placement_noise: Option<Spread>,
    /// Median over sets of the share of held-out times within the band, in percent.
    pub band_coverage_pct: Option<f64>,
}

/// One engine over all sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineSummary {
    /// Which.
    pub engine: Engine,
    /// Overall in-sample RMSPE.
    pub in_sample: Option<Spread>,
    /// Overall held-out RMSPE.
    pub held_out: Option<Spread>,
}

/// Percentiles over sets, in percent of error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half of the sets are better.
    pub median: f64,
    /// Three quarters are.
    pub p75: f64,
    /// Nine tenths are.
    pub p90: f64,
}

/// Validates every engine on every set.
pub fn validate(sets: &[MeasuredSet], holdout: Holdout) -> ValidationReport {
    let mut scored = Vec::new();
    let mut excluded = Vec::new();
    for set in sets {
        match validate_set(set, holdout) {
            Ok(validation) => scored.push(validation),
            Err(reason) => excluded.push(ExcludedSet {
                id: set.id.clone(),
                reason,
            }),
        }
    }
    ValidationReport {
        holdout,
        summary: summarise(&scored),
        sets: scored,
        excluded,
    }
}

/// Returns the validation of a set, or why it cannot be scored.
fn validate_set(set: &MeasuredSet, holdout: Holdout) -> Result<SetValidation, String> {
    let mut left_out = set.left_out.clone();
    let mut points = set.points.clone();
    for known in known_bad(&set.id) {
        match known.scope {
            Scope::Whole => return Err(known.reason.to_owned()),
            Scope::From(limit) => {
                let before = points.len();
                points.retain(|point| point.bytes < limit);
                let removed = before - points.len();
                if removed > 0 {
                    left_out.push(format!("sizes from {limit}: {removed} ({})", known.reason));
                }
            }
        }
    }
    let rounds = holdout.rounds(&points);
    if rounds.is_empty() {
        return Err(holdout.what_is_missing(points.len()));
    }
    Ok(SetValidation {
        id: set.id.clone(),
        points: points.len(),
        tier: set.tier,
        left_out,
        scores: Engine::ALL
            .iter()
            .map(|engine| Score {
                engine: *engine,
                in_sample: Errors::of(&predictions(*engine, &points, &points)),
                held_out: Errors::of(
                    &rounds
                        .iter()
                        .flat_map(|round| predictions(*engine, &round.train, &round.test))
                        .collect::<Vec<_>>(),
                ),
            })
            .collect(),
        placement_noise_pct: placement_noise(&points),
        band_coverage_pct: band_coverage(&rounds),
    })
}

/// A size, what was measured there and what was predicted, in us.
type Prediction = (Bytes, f64, f64);

fn predictions(engine: Engine, train: &[KnownPoint], test: &[KnownPoint]) -> Vec<Prediction> {
    let Some(model) = engine.train(train) else {
        return Vec::new();
    };
    test.iter()
        .map(|point| (point.bytes, point.time.get(), model.time_us(point.bytes)))
        .collect()
}

impl Errors {
    fn of(predictions: &[Prediction]) -> Self {
        let within = |belongs: &dyn Fn(Bytes) -> bool| {
            let (measured, predicted): (Vec<f64>, Vec<f64>) = predictions
                .iter()
                .filter(|(bytes, _, _)| belongs(*bytes))
                .map(|(_, measured, predicted)| (*measured, *predicted))
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

fn placement_noise(points: &[KnownPoint]) -> Option<f64> {
    let (own, other): (Vec<f64>, Vec<f64>) = points
        .iter()
        .filter_map(|point| Some((point.time.get(), point.other_placement?.get())))
        .unzip();
    Some(accuracy(&own, &other)?.rmspe * 100.0)
}

fn band_coverage(rounds: &[holdout::Round]) -> Option<f64> {
    let inside: Vec<bool> = rounds
        .iter()
        .filter_map(|round| Some((Predictor::fit(&round.train).ok()?, &round.test)))
        .flat_map(|(predictor, test)| {
            let within = move |point: &KnownPoint| {
                let band = predictor.predict(point.bytes).band?;
                Some(band.low <= point.time && point.time <= band.high)
            };
            test.iter().filter_map(within)
        })
        .collect();
    let hits = inside.iter().filter(|hit| **hit).count();
    (!inside.is_empty()).then(|| 100.0 * hits as f64 / inside.len() as f64)
}

fn summarise(sets: &[SetValidation]) -> Summary {
    let counted: Vec<&SetValidation> = sets
        .iter()
        .filter(|set| set.points >= SUMMARY_SIZES_MIN)
        .collect();
    let over = |error: &dyn Fn(&SetValidation) -> Option<f64>| -> Vec<f64> {
        counted.iter().filter_map(|set| error(set)).collect()
    };
    let engines = Engine::ALL.iter().enumerate().map(|(at, engine)| {
        let errors = |held_out: &dyn Fn(&Score) -> Errors| {
            Spread::of(&over(&|set| held_out(&set.scores[at]).overall))
        };
        EngineSummary {
            engine: *engine,
            in_sample: errors(&|score| score.in_sample),
            held_out: errors(&|score| score.held_out),
        }
    });
    Summary {
        sets: counted.len(),
        engines: engines.collect(),
        placement_noise: Spread::of(&over(&|set| set.placement_noise_pct)),
        band_coverage_pct: percentile(&over(&|set| set.band_coverage_pct), 50.0),
    }
}

impl Spread {
    fn of(errors: &[f64]) -> Option<Self> {
        Some(Self {
            median: percentile(errors, 50.0)?,
            p75: percentile(errors, 75.0)?,
            p90: percentile(errors, 90.0)?,
        })
    }
}
