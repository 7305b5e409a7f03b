//! How well a model predicts what it was not fitted on: sizes of a sweep, or sweeps of more ranks.
//!
//! An error on the points of a fit says how well the fit describes them; only held-out points say
//! what it can predict. Both stand side by side here, next to yardsticks that are computed in
//! the same run from the same points. Below them is the floor: two placements of one run differ by
//! some percent, and no model of the one can be closer to the truth than the truth is to itself.
//!
//! Sets that cannot be scored are not skipped in silence: the report lists them with the reason.
//!
//! Deliberately absent: reading files, choosing series and the system that describes a machine
//! (the facade does), printing (`tier6-report`).

mod calibrated;
mod document;
mod engine;
mod holdout;
mod known_bad;
mod ranks;
mod score;
mod set;
mod summary;

pub use document::{DocumentBand, DocumentEngine, DocumentFigure, document_figures};
pub use engine::{Engine, Role};
pub use holdout::{HeldOutRanks, Holdout, ParseHoldoutError};
pub use known_bad::{KnownBad, Scope, known_bad};
pub use ranks::FromRanks;
pub use score::{Coverage, Errors, Score};
pub use set::{MeasuredSet, Tier};
pub use summary::{EngineSummary, Group, GroupSummary, Spread, Summary};

use set::Usable;
use std::sync::OnceLock;
use tier6_fit::KnownPoint;
use tier6_stats::accuracy;
use tier6_units::Bytes;

/// Sizes below are small.
pub const SMALL_BELOW: Bytes = Bytes::new(1 << 20);
/// Sizes above are large.
pub const LARGE_ABOVE: Bytes = Bytes::new(64 << 20);

/// The outcome of a validation.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationReport {
    /// What was held out.
    pub holdout: Holdout,
    /// The sets that were scored, in the order given; by family where whole sweeps are held out.
    pub sets: Vec<SetValidation>,
    /// What was neither scored nor fitted on, and why.
    pub excluded: Vec<ExcludedSet>,
    /// All sets of [`Holdout::summary_sizes_min`] sizes or more together.
    pub summary: Summary,
    /// The same apart, for groups that have such sets.
    pub groups: Vec<GroupSummary>,
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
    /// What it was predicted from, where whole sweeps are held out.
    pub from_ranks: Option<FromRanks>,
}

/// A set that was not scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedSet {
    /// Name of the set.
    pub id: String,
    /// Of which kind the reason is.
    pub cause: Cause,
    /// Why.
    pub reason: String,
}

/// Why a set is not scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Its numbers are known to say nothing about accuracy.
    KnownBad,
    /// The scheme of holding out has no use for it.
    Scheme,
}

/// Runs jobs by number, from 0 up to a count, each once and all before it returns: one after
/// another, or several at once.
pub type Workers<'w> = &'w dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Validates engines and the yardsticks of the scheme on every set. [`Engine::Math`] and
/// [`Engine::G5`] score those whose system and call are known.
pub fn validate(sets: &[MeasuredSet], holdout: Holdout, asked: &[Engine]) -> ValidationReport {
    validate_by(sets, holdout, asked, &|count, job| (0..count).for_each(job))
}

/// The same, the sets given to workers. Who runs what when changes nothing.
pub fn validate_by(
    sets: &[MeasuredSet],
    holdout: Holdout,
    asked: &[Engine],
    workers: Workers<'_>,
) -> ValidationReport {
    let is_asked = |engine: &Engine| match engine.role() {
        Role::Engine => asked.contains(engine),
        Role::Yardstick => holdout.has_yardstick(*engine),
    };
    let engines: Vec<Engine> = Engine::ALL.into_iter().filter(is_asked).collect();
    let mut excluded = Vec::new();
    let mut usable = Vec::new();
    for set in sets {
        match Usable::of(set) {
            Ok(set) => usable.push(set),
            Err(reason) => excluded.push(ExcludedSet {
                id: set.id.clone(),
                cause: Cause::KnownBad,
                reason: reason.to_owned(),
            }),
        }
    }
    let (scored, left) = match holdout {
        Holdout::Ranks(which) => ranks::validate_ranks(usable, which, &engines),
        Holdout::Alternate | Holdout::Large | Holdout::KFold(_) | Holdout::Plan(_) => {
            validate_sizes(&usable, holdout, &engines, workers)
        }
    };
    excluded.extend(left);
    let place = |id: &str| sets.iter().position(|set| set.id == id);
    excluded.sort_by_key(|set| place(&set.id));
    ValidationReport {
        holdout,
        summary: Summary::of(&scored, &engines, holdout),
        groups: Summary::by_group(&scored, &engines, holdout),
        sets: scored,
        excluded,
    }
}

/// Holds sizes out of every set.
fn validate_sizes(
    usable: &[Usable<'_>],
    holdout: Holdout,
    engines: &[Engine],
    workers: Workers<'_>,
) -> (Vec<SetValidation>, Vec<ExcludedSet>) {
    let outcomes: Vec<OnceLock<_>> = usable.iter().map(|_| OnceLock::new()).collect();
    workers(usable.len(), &|at| {
        outcomes[at].get_or_init(|| validate_set(&usable[at], holdout, engines));
    });
    let mut scored = Vec::new();
    let mut excluded = Vec::new();
    for (set, outcome) in usable.iter().zip(outcomes) {
        match outcome.into_inner().expect("Invariant: each job has run") {
            Ok(validation) => scored.push(validation),
            Err(reason) => excluded.push(ExcludedSet::of_scheme(&set.set.id, &reason)),
        }
    }
    (scored, excluded)
}

/// Returns the validation of a set, or why it cannot be scored.
fn validate_set(
    usable: &Usable<'_>,
    holdout: Holdout,
    engines: &[Engine],
) -> Result<SetValidation, String> {
    let Usable {
        set,
        points,
        left_out,
    } = usable;
    let machine = set.machine();
    let rounds = holdout.rounds(points, machine.as_ref())?;
    let (mut scores, mut unscored) = (Vec::new(), Vec::new());
    for engine in engines {
        match Score::of(*engine, points, &rounds, holdout.basis(), machine.as_ref()) {
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
        left_out: left_out.clone(),
        scores,
        unscored,
        placement_noise_pct: placement_noise(points),
        from_ranks: None,
    })
}

impl SetValidation {
    /// Returns the score of an engine that was asked for.
    pub fn score(&self, engine: Engine) -> Option<&Score> {
        self.scores.iter().find(|score| score.engine == engine)
    }
}

impl ExcludedSet {
    fn of_scheme(id: &str, reason: &str) -> Self {
        Self {
            id: id.to_owned(),
            cause: Cause::Scheme,
            reason: reason.to_owned(),
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
