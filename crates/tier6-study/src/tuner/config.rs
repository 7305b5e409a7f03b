//! A tuner file from forced sweeps: few rows, each with what it gains.
//!
//! Forced sweeps say how long each path takes; `regions` finds the fewest rows that use them;
//! a row ends where two curves meet, the last one nowhere. Only paths that NCCL itself would
//! run become rows. In particular LL128 needs proof: a communicator whose model enables it, a log
//! of a run that was not forced to it, or the caller's word, for where NCCL leaves it out it may
//! corrupt data.
//!
//! Every plan is tried on sizes that it did not see: once from every other size, once from
//! the rest.

use super::contender::{Ask, Contender, Level, Way};
use super::crossover::crossover;
use super::gain::{Gain, gain};
use super::measured::{Measured, PathRange};
use super::regions::{Levels, Region, regions};
use super::regret::{Regret, regret};
use super::safety::{Ll128, Refusal, refusal};
use super::sweep::is_same_call;
use super::weak_spot::{WeakSpot, weak_spots};
use super::{AttributionBasis, Crossover, Noise, Sweep};
use tier6_nccl::{CostTable, NcclCollective};
use tier6_units::Bytes;

/// Mean of ln(time of the rows / time of NCCL's own choice) above which nothing is written.
const LOSS_MAX: f64 = 0.05;

/// What a plan may be told.
#[derive(Debug, Clone, Copy)]
pub struct ConfigOptions<'a> {
    /// The communicator that was measured, when known: it tells which path a forced run took
    /// and which paths NCCL enables. A table of other ranks or nodes is not used.
    pub table: Option<&'a CostTable>,
    /// The least gain per size that is worth a further row, in percent.
    pub margin_pct: f64,
    /// Whether LL128 may be written without proof.
    pub ll128: Ll128,
}

impl ConfigOptions<'_> {
    /// No communicator, 1 % per size, LL128 only with proof.
    pub const STANDARD: Self = Self {
        table: None,
        margin_pct: 1.0,
        ll128: Ll128::WhereNcclUsesIt,
    };
}

/// Rows for one collective on one scale, and what speaks for them.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigPlan {
    /// The collective.
    pub collective: NcclCollective,
    /// Ranks, when known.
    pub ranks: Option<u32>,
    /// Nodes, when known.
    pub nodes: Option<u32>,
    /// The rows, ascending in size; together they take every size.
    pub rows: Vec<PlannedRow>,
    /// Where rows meet, one less than rows.
    pub crossovers: Vec<Crossover>,
    /// Paths that were measured and are not written, with the reason.
    pub refused: Vec<Refusal>,
    /// Where something measured is faster than the rows, beyond noise.
    pub weak_spots: Vec<WeakSpot>,
    /// What is known of each sweep's path, by label.
    pub paths: Vec<(String, Vec<PathRange>)>,
    /// The noise that decisions were held against.
    pub noise: Noise,
    /// The rows on all measured sizes.
    pub in_sample: Regret,
    /// NCCL's own choice on the same sizes, from runs without force.
    pub own_choice: Option<Regret>,
    /// Rows made from the sizes at even places on the sizes at odd places, and the reverse.
    pub held_out: Vec<HeldOut>,
}

/// A row of the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRow {
    /// What it asks for.
    pub ask: Ask,
    /// First size.
    pub first: Bytes,
    /// Last size; `None` for the open end.
    pub last: Option<Bytes>,
    /// Number of measured sizes behind it.
    pub sizes: usize,
    /// The weakest reason why the path is known.
    pub basis: AttributionBasis,
    /// What it gains, and over what.
    pub gain: Option<Gain>,
}

/// A plan made from one half of the sizes, on the other.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// Which sizes the rows were made from.
    pub trained_on: Half,
    /// Number of rows.
    pub rows: usize,
    /// The rows on the other half.
    pub regret: Regret,
    /// NCCL's own choice on the other half.
    pub own_choice: Option<Regret>,
}

/// Every other measured size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// The first, third, fifth size.
    Even,
    /// The second, fourth, sixth size.
    Odd,
}

impl Half {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }
}

/// Why no rows can be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// There is nothing.
    #[error("no sweep has a usable time")]
    NoSweeps,
    /// The sweeps are of different calls.
    #[error("`{first}` and `{second}` differ in collective, ranks or nodes")]
    DifferentCalls {
        /// Label of a sweep.
        first: String,
        /// Label of another.
        second: String,
    },
    /// Nothing says which path ran.
    #[error(
        "no sweep tells algorithm and protocol; hint: force both NCCL_ALGO and NCCL_PROTO, add the runs that force the other one, or name the communicator"
    )]
    NoPaths,
    /// Paths are known, but NCCL runs none of them.
    #[error("every measured path is refused, first {0}")]
    AllRefused(String),
    /// Whatever can be written is slower than no file.
    #[error(
        "the paths that are known are {pct:.0} % slower than NCCL's own choice, most at {worst}; hint: force both NCCL_ALGO and NCCL_PROTO there"
    )]
    SlowerThanOwnChoice {
        /// Mean over the measured sizes, in percent.
        pct: f64,
        /// The size with the largest difference.
        worst: Bytes,
    },
}

/// Makes rows from sweeps of one call. Runs without force count as NCCL's own choice.
///
/// # Errors
///
/// Fails when the sweeps are of different calls, or when no path that may be written is known.
pub fn config_from_sweeps(
    sweeps: &[Sweep],
    options: &ConfigOptions<'_>,
) -> Result<ConfigPlan, ConfigError> {
    let first = sweeps.first().ok_or(ConfigError::NoSweeps)?;
    if let Some(other) = sweeps.iter().find(|other| !is_same_call(first, other)) {
        return Err(ConfigError::DifferentCalls {
            first: first.label.clone(),
            second: other.label.clone(),
        });
    }
    let options = ConfigOptions {
        table: options.table.filter(|table| first.is_of(table)),
        ..*options
    };
    let draft = Draft::new(sweeps, &options)?;
    let Draft { measured, .. } = &draft;
    let rows = draft.rows();
    let own = |sizes: &[u64]| {
        (!measured.own.is_empty()).then(|| {
            let ln_us = |bytes| measured.own.get(&bytes).map(|level| level.ln_us);
            regret(measured, sizes.iter().copied(), ln_us)
        })
    };
    let all = measured.sizes();
    draft.check_against_own_choice()?;
    Ok(ConfigPlan {
        collective: first.collective,
        ranks: first.ranks,
        nodes: first.nodes,
        in_sample: draft.regret_on(measured, all.iter().copied()),
        own_choice: own(&all),
        weak_spots: weak_spots(measured, |bytes| draft.ln_us(measured, bytes)),
        held_out: [Half::Even, Half::Odd]
            .into_iter()
            .filter_map(|half| held_out(sweeps, &options, measured, &all, half, own))
            .collect(),
        crossovers: draft.crossovers.clone(),
        refused: draft.refused.clone(),
        paths: sweeps
            .iter()
            .enumerate()
            .map(|(index, sweep)| (sweep.label.clone(), measured.path_ranges(sweep, index)))
            .collect(),
        noise: measured.noise.clone(),
        rows,
    })
}

fn held_out(
    sweeps: &[Sweep],
    options: &ConfigOptions<'_>,
    truth: &Measured,
    all: &[u64],
    half: Half,
    own: impl Fn(&[u64]) -> Option<Regret>,
) -> Option<HeldOut> {
    let is_trained = |index: usize| match half {
        Half::Even => index.is_multiple_of(2),
        Half::Odd => !index.is_multiple_of(2),
    };
    let pick = |trained: bool| -> Vec<u64> {
        let indexed = all.iter().enumerate();
        indexed
            .filter(|(index, _)| is_trained(*index) == trained)
            .map(|(_, &bytes)| bytes)
            .collect()
    };
    let (seen, unseen) = (pick(true), pick(false));
    let thinned: Vec<Sweep> = sweeps
        .iter()
        .map(|sweep| sweep.with_sizes(|bytes| seen.binary_search(&bytes).is_ok()))
        .collect();
    let draft = Draft::new(&thinned, options).ok()?;
    Some(HeldOut {
        trained_on: half,
        rows: draft.regions.len(),
        regret: draft.regret_on(truth, unseen.iter().copied()),
        own_choice: own(&unseen),
    })
}

/// A path that may be written.
struct Usable {
    ask: Ask,
    basis: AttributionBasis,
    contender: Contender,
}

/// Rows before they are judged.
struct Draft {
    measured: Measured,
    refused: Vec<Refusal>,
    usable: Vec<Usable>,
    sizes: Vec<u64>,
    regions: Vec<Region>,
    crossovers: Vec<Crossover>,
}

impl Draft {
    fn new(sweeps: &[Sweep], options: &ConfigOptions<'_>) -> Result<Self, ConfigError> {
        let measured = Measured::new(sweeps, options.table);
        let mut refused = Vec::new();
        let mut usable = Vec::new();
        for contender in measured.contenders.iter().filter(|c| !c.known.is_empty()) {
            let (Some(ask), Some(basis)) = (contender.way.ask(), contender.basis) else {
                continue;
            };
            match refusal(ask, sweeps, options.table, options.ll128) {
                Some(refusal) => refused.push(refusal),
                None => usable.push(Usable {
                    ask,
                    basis,
                    contender: contender.clone(),
                }),
            }
        }
        if usable.is_empty() {
            return Err(match refused.first() {
                Some(first) => ConfigError::AllRefused(first.to_string()),
                None => ConfigError::NoPaths,
            });
        }
        let sizes: std::collections::BTreeSet<u64> = usable
            .iter()
            .flat_map(|usable| usable.contender.known.keys().copied())
            .collect();
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let levels = Levels {
            rows: usable
                .iter()
                .map(|usable| {
                    sizes
                        .iter()
                        .map(|&bytes| usable.contender.level(bytes))
                        .collect()
                })
                .collect(),
            sizes: sizes.len(),
        };
        let regions = regions(&levels, options.margin_pct / 100.0);
        let crossovers = regions.windows(2).map(|two| {
            let [below, above] = [two[0], two[1]].map(|region| &usable[region.contender].contender);
            crossover(below, above, &sizes, two[0].last)
        });
        let crossovers = crossovers.collect();
        Ok(Self {
            measured,
            refused,
            usable,
            sizes,
            regions,
            crossovers,
        })
    }

    /// Returns what the rows ask for at a size.
    fn ask_at(&self, bytes: u64) -> Ask {
        let row = self
            .crossovers
            .iter()
            .take_while(|crossover| crossover.bytes.get() < bytes)
            .count();
        self.usable[self.regions[row].contender].ask
    }

    /// Judges the rows by another set of measurements.
    fn regret_on(&self, truth: &Measured, sizes: impl Iterator<Item = u64>) -> Regret {
        regret(truth, sizes, |bytes| self.ln_us(truth, bytes))
    }

    /// Returns ln of the measured time of the rows at a size, in us.
    fn ln_us(&self, truth: &Measured, bytes: u64) -> Option<f64> {
        let way = Way::Path(self.ask_at(bytes));
        let contender = truth.contenders.iter().find(|c| c.way == way)?;
        contender.measured_ln_us(bytes)
    }

    /// Rows that lose more than [`LOSS_MAX`] against no file are not written.
    fn check_against_own_choice(&self) -> Result<(), ConfigError> {
        let losses = self.measured.own.iter().filter_map(|(&bytes, own)| {
            let loss = self.ln_us(&self.measured, bytes)? - own.ln_us;
            Some((loss, bytes))
        });
        let losses: Vec<(f64, u64)> = losses.collect();
        let Some(&(_, worst)) = losses.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Ok(());
        };
        let mean = losses.iter().map(|(loss, _)| loss).sum::<f64>() / losses.len() as f64;
        if mean <= LOSS_MAX {
            return Ok(());
        }
        Err(ConfigError::SlowerThanOwnChoice {
            pct: (mean.exp() - 1.0) * 100.0,
            worst: Bytes::new(worst),
        })
    }

    fn rows(&self) -> Vec<PlannedRow> {
        let starts = self.crossovers.iter().map(|c| c.bytes.get() + 1);
        let starts = std::iter::once(0).chain(starts);
        let ends = self.crossovers.iter().map(|c| Some(c.bytes));
        let ends = ends.chain([None]);
        self.regions
            .iter()
            .zip(starts.zip(ends))
            .map(|(region, (first, last))| {
                let Usable {
                    ask,
                    basis,
                    contender,
                } = &self.usable[region.contender];
                let sizes = &self.sizes[region.first..=region.last];
                PlannedRow {
                    ask: *ask,
                    first: Bytes::new(first),
                    last,
                    sizes: sizes.len(),
                    basis: *basis,
                    gain: self.gain(contender, sizes),
                }
            })
            .collect()
    }

    /// Compares with NCCL's own choice where runs without force tell it, else with the path
    /// that would be best alone.
    fn gain(&self, contender: &Contender, sizes: &[u64]) -> Option<Gain> {
        let pairs = |other: &dyn Fn(u64) -> Option<Level>| -> Vec<(Level, Level)> {
            sizes
                .iter()
                .filter_map(|bytes| Some((*contender.known.get(bytes)?, other(*bytes)?)))
                .collect()
        };
        let own = pairs(&|bytes| self.measured.own.get(&bytes).copied());
        if !own.is_empty() {
            return gain(None, &own);
        }
        let alone = self.best_alone()?;
        gain(
            Some(alone.ask),
            &pairs(&|bytes| alone.contender.known.get(&bytes).copied()),
        )
    }

    /// Returns the path that costs least when it alone takes every size; one that was not
    /// measured everywhere is none.
    fn best_alone(&self) -> Option<&Usable> {
        let total = |usable: &Usable| -> Option<f64> {
            let levels = self
                .sizes
                .iter()
                .map(|&bytes| usable.contender.level(bytes));
            levels.map(|level| Some(level?.ln_us)).sum()
        };
        let totals = self
            .usable
            .iter()
            .filter_map(|usable| Some((total(usable)?, usable)));
        totals
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, usable)| usable)
    }
}
