//! Sets together: percentiles over sets, not over points, so that each machine counts once per
//! sweep; all sets, and groups of them apart.

use super::engine::Engine;
use super::score::{Errors, Score};
use super::set::Tier;
use super::{Holdout, SetValidation};
use tier6_stats::percentile;

/// Sets together.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of sets.
    pub sets: usize,
    /// One entry per engine that was asked for and per yardstick, in the order of
    /// [`Engine::ALL`].
    pub engines: Vec<EngineSummary>,
    /// Difference of placements; `None` when no set has both.
    pub placement_noise: Option<Spread>,
}

/// Sets that have something in common, together.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSummary {
    /// What they have in common.
    pub group: Group,
    /// Its sets.
    pub summary: Summary,
}

/// What sets may have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The levels of network that were crossed.
    Tier(Tier),
    /// Whole sweeps, predicted from one smaller number of ranks: nothing was measured of how the
    /// time grows with the ranks.
    FromOneNumber,
    /// The same, from several.
    FromSeveralNumbers,
}

impl Group {
    /// All.
    pub const ALL: [Self; 4] = [
        Self::Tier(Tier::Single),
        Self::Tier(Tier::Two),
        Self::FromOneNumber,
        Self::FromSeveralNumbers,
    ];

    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tier(tier) => tier.name(),
            Self::FromOneNumber => "one_number",
            Self::FromSeveralNumbers => "several_numbers",
        }
    }

    /// Returns the name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Tier(Tier::Single) => "Within one node",
            Self::Tier(Tier::Two) => "Across nodes",
            Self::FromOneNumber => "From one smaller number of ranks",
            Self::FromSeveralNumbers => "From several smaller numbers of ranks",
        }
    }

    fn holds(self, set: &SetValidation) -> bool {
        let numbers = set.from_ranks.as_ref().map(|from| from.trained_ranks.len());
        match self {
            Self::Tier(tier) => set.tier == Some(tier),
            Self::FromOneNumber => numbers == Some(1),
            Self::FromSeveralNumbers => numbers.is_some_and(|numbers| numbers > 1),
        }
    }
}

/// One engine over all sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineSummary {
    /// Which.
    pub engine: Engine,
    /// Number of sets that it could be scored on.
    pub sets: usize,
    /// Overall in-sample RMSPE.
    pub in_sample: Option<Spread>,
    /// Overall held-out RMSPE.
    pub held_out: Option<Spread>,
    /// Median of the share of held-out times within its interval, in percent.
    pub inside_pct: Option<f64>,
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

impl Summary {
    /// Sums up the sets with enough sizes to count under a scheme.
    pub(super) fn of(sets: &[SetValidation], engines: &[Engine], holdout: Holdout) -> Self {
        let counted = |set: &&SetValidation| set.points >= holdout.summary_sizes_min();
        Self::over(&sets.iter().filter(counted).collect::<Vec<_>>(), engines)
    }

    /// The same for each group that has such sets.
    pub(super) fn by_group(
        sets: &[SetValidation],
        engines: &[Engine],
        holdout: Holdout,
    ) -> Vec<GroupSummary> {
        let of_group = |group: Group| {
            let counts = |set: &&SetValidation| {
                group.holds(set) && set.points >= holdout.summary_sizes_min()
            };
            let sets: Vec<&SetValidation> = sets.iter().filter(counts).collect();
            (!sets.is_empty()).then(|| GroupSummary {
                group,
                summary: Self::over(&sets, engines),
            })
        };
        Group::ALL.into_iter().filter_map(of_group).collect()
    }

    fn over(sets: &[&SetValidation], engines: &[Engine]) -> Self {
        let noise: Vec<f64> = sets
            .iter()
            .filter_map(|set| set.placement_noise_pct)
            .collect();
        let of_engine = |(at, engine): (usize, &Engine)| {
            let scores: Vec<&Score> = sets.iter().map(|set| &set.scores[at]).collect();
            EngineSummary::of(*engine, &scores)
        };
        Self {
            sets: sets.len(),
            engines: engines.iter().enumerate().map(of_engine).collect(),
            placement_noise: Spread::of(&noise),
        }
    }

    /// Returns the row of an engine.
    pub fn engine(&self, engine: Engine) -> Option<&EngineSummary> {
        self.engines.iter().find(|row| row.engine == engine)
    }
}

impl EngineSummary {
    fn of(engine: Engine, scores: &[&Score]) -> Self {
        let overall = |pick: fn(&Score) -> Errors| -> Vec<f64> {
            let errors = scores.iter().filter_map(|score| pick(score).overall);
            errors.collect()
        };
        let held_out = overall(|score| score.held_out);
        let inside: Vec<f64> = scores
            .iter()
            .filter_map(|score| Some(score.interval?.inside_pct))
            .collect();
        Self {
            engine,
            sets: held_out.len(),
            in_sample: Spread::of(&overall(|score| score.in_sample)),
            held_out: Spread::of(&held_out),
            inside_pct: percentile(&inside, 50.0),
        }
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
