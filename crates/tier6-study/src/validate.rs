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
//! Deliberately absent: reading files, choosing series and the system that describes a machine
//! (the facade does), printing (`tier6-report`).

mod document;
mod engine;
mod holdout;
mod known_bad;
mod set;

pub use document::{DocumentBand, DocumentEngine, DocumentFigure, document_figures};
pub use engine::{Engine, Role};
pub use holdout::{Holdout, ParseHoldoutError};
pub use known_bad::{KnownBad, Scope, known_bad};
pub use set::{MeasuredSet, Tier};

use set::Machine;

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
    /// One entry per engine that was asked for and per yardstick, in the order of
    /// [`Engine::ALL`].
    pub scores: Vec<Score>,
    /// Why an engine has no score, as sentences.
    pub unscored: Vec<String>,
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
    /// One entry per engine that was asked for and per yardstick, in the order of
    /// [`Engine::ALL`].
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

/// Validates engines and all yardsticks on every set. [`Engine::Math`] and [`Engine::G5`]
/// score those whose system and call are known.
pub fn validate(sets: &[MeasuredSet], holdout: Holdout, asked: &[Engine]) -> ValidationReport {
    let is_asked = |engine: &Engine| engine.role() == Role::Yardstick || asked.contains(engine);
    let engines: Vec<Engine> = Engine::ALL.into_iter().filter(is_asked).collect();
    let mut scored = Vec::new();
    let mut excluded = Vec::new();
    for set in sets {
        match validate_set(set, holdout, &engines) {
            Ok(validation) => scored.push(validation),
            Err(reason) => excluded.push(ExcludedSet {
                id: set.id.clone(),
                reason,
            }),
        }
    }
    ValidationReport {
        holdout,
        summary: summarise(&scored, &engines),
        sets: scored,
        excluded,
    }
}

/// Returns the validation of a set, or why it cannot be scored.
fn validate_set(
    set: &MeasuredSet,
    holdout: Holdout,
    engines: &[Engine],
) -> Result<SetValidation, String> {
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
    let machine = set.machine();
    let (mut scores, mut unscored) = (Vec::new(), Vec::new());
    for engine in engines {
        match score(*engine, &points, &rounds, machine.as_ref()) {
            Ok(score) => scores.push(score),
            Err(why) => {
                unscored.push(format!("{}: {why}", engine.name()));
                scores.push(Score::none(*engine));
            }
        }
    }
    Ok(SetValidation {
        id: set.id.clone(),
        points: points.len(),
        tier: set.tier,
        left_out,
        scores,
        unscored,
        placement_noise_pct: placement_noise(&points),
        band_coverage_pct: band_coverage(&rounds),
    })
}

/// Scores an engine on all points in sample, and on those of each round held out.
fn score(
    engine: Engine,
    points: &[KnownPoint],
    rounds: &[holdout::Round],
    machine: Option<&Machine>,
) -> Result<Score, String> {
    let mut held_out = Vec::new();
    for round in rounds {
        held_out.extend(predictions(engine, machine, &round.train, &round.test)?);
    }
    Ok(Score {
        engine,
        in_sample: Errors::of(&predictions(engine, machine, points, points)?),
        held_out: Errors::of(&held_out),
    })
}

/// A size, what was measured there and what was predicted, in us.
type Prediction = (Bytes, f64, f64);

fn predictions(
    engine: Engine,
    machine: Option<&Machine>,
    train: &[KnownPoint],
    test: &[KnownPoint],
) -> Result<Vec<Prediction>, String> {
    let model = engine.train(train, machine)?;
    let sizes: Vec<Bytes> = test.iter().map(|point| point.bytes).collect();
    let predicted = test.iter().zip(model.times_us(&sizes)?);
    Ok(predicted
        .map(|(point, predicted)| (point.bytes, point.time.get(), predicted))
        .collect())
}

impl Score {
    /// No error is known.
    const fn none(engine: Engine) -> Self {
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
        }
    }
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

fn summarise(sets: &[SetValidation], engines: &[Engine]) -> Summary {
    let counted: Vec<&SetValidation> = sets
        .iter()
        .filter(|set| set.points >= SUMMARY_SIZES_MIN)
        .collect();
    let over = |error: &dyn Fn(&SetValidation) -> Option<f64>| -> Vec<f64> {
        counted.iter().filter_map(|set| error(set)).collect()
    };
    let engines = engines.iter().enumerate().map(|(at, engine)| {
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
