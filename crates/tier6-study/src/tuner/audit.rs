//! NCCL's choices held against forced runs.
//!
//! A wrong predicted time is no wrong choice (that is `prediction`): only a measured
//! alternative that beats the choice beyond noise makes it wrong.

use super::attribution::{Paths, tolerance};
use super::contender::{Ask, Contender, Level, Way};
use super::crossover::crossover;
use super::measured::{Measured, PathRange};
use super::regions::{Levels, regions};
use super::{AttributionBasis, Crossover, Noise, Sweep};
use std::collections::BTreeMap;
use tier6_fit::Interval;
use tier6_nccl::{Candidate, CostTable};
use tier6_stats::{Decision, benjamini_hochberg, normal_p_value};
use tier6_units::{Bytes, Micros};

/// Standard deviations to each side of a 95 % interval.
const SIGMAS_95: f64 = 1.96;
/// Share of wrong verdicts among those of "wrong choice".
const FALSE_DISCOVERIES: f64 = 0.05;

/// NCCL's choices against forced runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceAudit {
    /// Every size at which something forced was measured, ascending.
    pub sizes: Vec<SizeAudit>,
    /// Where the measured winner changes beyond noise.
    pub crossovers: Vec<Crossover>,
    /// What is known of each sweep's path, by label.
    pub paths: Vec<(String, Vec<PathRange>)>,
    /// Which forced runs the runs without force take as long as.
    pub follows: Vec<Follows>,
    /// The noise that verdicts were held against.
    pub noise: Noise,
    /// Mean regret of NCCL's choice in percent, over the sizes where it is known.
    pub mean_regret_pct: Option<f64>,
}

/// One size of a [`ChoiceAudit`].
#[derive(Debug, Clone, PartialEq)]
pub struct SizeAudit {
    /// Message size.
    pub bytes: Bytes,
    /// Every measured alternative, fastest first.
    pub alternatives: Vec<Alternative>,
    /// NCCL's choice; `None` when no run without force and no model tells it.
    pub chosen: Option<Chosen>,
    /// What may be said of it.
    pub verdict: ChoiceVerdict,
}

/// A measured alternative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// The path, or what was forced where the path is not known.
    pub way: Way,
    /// How the path is known, the weakest reason.
    pub basis: Option<AttributionBasis>,
    /// Measured time, the geometric mean of all runs that took the path.
    pub time: Micros,
}

/// NCCL's choice at one size, with what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// How the choice is known.
    pub basis: ChoiceBasis,
    /// The path; `None` when only its time is known.
    pub candidate: Option<Candidate>,
    /// Its measured time.
    pub time: Micros,
    /// Time over the best alternative's; negative when NCCL's choice is faster.
    pub regret: Micros,
    /// The same in percent of the best alternative.
    pub regret_pct: f64,
    /// Its 95 % interval from the noise of both times, in percent.
    pub regret_interval_pct: Interval,
}

/// How NCCL's choice is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceBasis {
    /// Runs without force took this long.
    DefaultRuns,
    /// The model chooses this path, and a forced run took it.
    Model,
}

impl ChoiceBasis {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DefaultRuns => "default_runs",
            Self::Model => "model",
        }
    }
}

/// What may be said of NCCL's choice at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceVerdict {
    /// Nothing measured is faster.
    Best,
    /// Something is faster, but not beyond noise.
    WithinNoise,
    /// A measured alternative is faster beyond noise.
    Wrong,
    /// The choice is not known, or was not measured.
    Unknown,
}

impl ChoiceVerdict {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::WithinNoise => "within_noise",
            Self::Wrong => "wrong",
            Self::Unknown => "unknown",
        }
    }
}

/// Sizes in a row at which a run without force takes as long as some forced ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Follows {
    /// The label of the run.
    pub label: String,
    /// First measured size.
    pub first: Bytes,
    /// Last measured size.
    pub last: Bytes,
    /// What it is consistent with; more than one when they take equally long, none when it
    /// equals nothing that was forced.
    pub ways: Vec<Way>,
}

/// Audits NCCL's choices with forced sweeps and runs without force, all of one call. The
/// choice is that of the runs without force, else that of `table`.
pub fn audit_choices(sweeps: &[Sweep], table: Option<&CostTable>) -> ChoiceAudit {
    let table = table.filter(|table| sweeps.iter().all(|sweep| sweep.is_of(table)));
    let measured = Measured::new(sweeps, table);
    let mut audited: Vec<(SizeAudit, f64)> = measured
        .sizes()
        .into_iter()
        .map(|bytes| audit_size(bytes, sweeps, &measured, table))
        .collect();
    judge(&mut audited);
    let sizes: Vec<SizeAudit> = audited.into_iter().map(|(size, _)| size).collect();
    let regrets: Vec<f64> = sizes
        .iter()
        .filter_map(|size| Some(size.chosen?.regret_pct))
        .collect();
    ChoiceAudit {
        crossovers: crossovers(&measured),
        follows: follows(sweeps, &measured),
        paths: sweeps
            .iter()
            .enumerate()
            .map(|(index, sweep)| (sweep.label.clone(), measured.path_ranges(sweep, index)))
            .collect(),
        mean_regret_pct: tier6_stats::mean(&regrets).filter(|_| !regrets.is_empty()),
        noise: measured.noise,
        sizes,
    }
}

/// Returns one size and the p-value of "the best alternative is not faster".
fn audit_size(
    bytes: u64,
    sweeps: &[Sweep],
    measured: &Measured,
    table: Option<&CostTable>,
) -> (SizeAudit, f64) {
    let alternatives = alternatives(bytes, measured);
    let chosen = choice(bytes, sweeps, measured, table);
    let mut p_value = 1.0;
    let mut size = SizeAudit {
        bytes: Bytes::new(bytes),
        alternatives: alternatives.iter().map(|(a, _)| *a).collect(),
        chosen: None,
        verdict: ChoiceVerdict::Unknown,
    };
    if let (Some((basis, candidate, own)), Some((first, best))) = (chosen, alternatives.first()) {
        let ln_ratio = own.ln_us - best.ln_us;
        let is_same = candidate.is_some() && first.way.ask().map(|ask| ask.candidate) == candidate;
        let sigma = (own.variance + best.variance).sqrt();
        let pct = |ln: f64| (ln.exp() - 1.0) * 100.0;
        size.verdict = if is_same || ln_ratio <= 0.0 {
            ChoiceVerdict::Best
        } else {
            // The best was picked from several, which noise does alone (Bonferroni).
            let picked = alternatives.len() as f64;
            let one_sided = normal_p_value(ln_ratio / sigma).unwrap_or(1.0) / 2.0;
            p_value = (one_sided * picked).min(1.0);
            ChoiceVerdict::WithinNoise
        };
        size.chosen = Some(Chosen {
            basis,
            candidate,
            time: Micros::new(own.ln_us.exp()),
            regret: Micros::new(own.ln_us.exp() - best.ln_us.exp()),
            regret_pct: pct(ln_ratio),
            regret_interval_pct: Interval {
                low: pct(ln_ratio - SIGMAS_95 * sigma),
                high: pct(ln_ratio + SIGMAS_95 * sigma),
            },
        });
    }
    (size, p_value)
}

/// Calls choices wrong with control over the number of sizes (Benjamini and Hochberg).
fn judge(audited: &mut [(SizeAudit, f64)]) {
    let open: Vec<usize> = (0..audited.len())
        .filter(|&index| audited[index].0.chosen.is_some())
        .collect();
    let p_values: Vec<f64> = open.iter().map(|&index| audited[index].1).collect();
    let decisions = benjamini_hochberg(&p_values, FALSE_DISCOVERIES);
    for (&index, decision) in open.iter().zip(decisions) {
        if decision == Decision::Rejected && audited[index].0.verdict == ChoiceVerdict::WithinNoise
        {
            audited[index].0.verdict = ChoiceVerdict::Wrong;
        }
    }
}

fn alternatives(bytes: u64, measured: &Measured) -> Vec<(Alternative, Level)> {
    let known = measured.contenders.iter().filter_map(|contender| {
        let level = *contender.known.get(&bytes)?;
        let alternative = Alternative {
            way: contender.way,
            basis: contender.basis,
            time: Micros::new(level.ln_us.exp()),
        };
        Some((alternative, level))
    });
    let mut all: Vec<(Alternative, Level)> = known.collect();
    all.sort_by(|a, b| a.1.ln_us.total_cmp(&b.1.ln_us));
    all
}

/// Returns NCCL's choice with its measured level.
fn choice(
    bytes: u64,
    sweeps: &[Sweep],
    measured: &Measured,
    table: Option<&CostTable>,
) -> Option<(ChoiceBasis, Option<Candidate>, Level)> {
    if let Some(level) = measured.own.get(&bytes) {
        let mut runs = sweeps.iter().zip(&measured.paths);
        let path = |(sweep, paths): (&Sweep, &Paths)| {
            let path = paths.get(&bytes).filter(|_| sweep.forced.is_nothing());
            path.map(|path| path.candidate)
        };
        let candidate = runs.find_map(path);
        return Some((ChoiceBasis::DefaultRuns, candidate, *level));
    }
    let table = table?;
    let choice = table.choose(&sweeps.first()?.call(table, bytes)).ok()?;
    let way = Way::Path(Ask {
        candidate: choice.candidate,
        channels: None,
    });
    let contender = measured.contenders.iter().find(|c| c.way == way)?;
    let level = *contender.known.get(&bytes)?;
    Some((ChoiceBasis::Model, Some(choice.candidate), level))
}

/// Returns where the measured winner changes, single sizes within noise left out.
fn crossovers(measured: &Measured) -> Vec<Crossover> {
    let sizes = measured.sizes();
    let contenders: Vec<&Contender> = measured
        .contenders
        .iter()
        .filter(|contender| !contender.known.is_empty())
        .collect();
    let levels = Levels {
        rows: contenders
            .iter()
            .map(|contender| sizes.iter().map(|&bytes| contender.level(bytes)).collect())
            .collect(),
        sizes: sizes.len(),
    };
    regions(&levels, 0.0)
        .windows(2)
        .map(|two| {
            let (below, above) = (contenders[two[0].contender], contenders[two[1].contender]);
            crossover(below, above, &sizes, two[0].last)
        })
        .collect()
}

fn follows(sweeps: &[Sweep], measured: &Measured) -> Vec<Follows> {
    let mut follows: Vec<Follows> = Vec::new();
    for sweep in sweeps.iter().filter(|sweep| sweep.forced.is_nothing()) {
        let mut ranges: BTreeMap<u64, Vec<Way>> = BTreeMap::new();
        for (bytes, point) in sweep.by_size() {
            let near = tolerance(&measured.noise, bytes);
            let known = measured.contenders.iter().filter(|contender| {
                let level = contender.known.get(&bytes);
                level.is_some_and(|level| (point.time.get().ln() - level.ln_us).abs() <= near)
            });
            ranges.insert(bytes, known.map(|contender| contender.way).collect());
        }
        for (bytes, ways) in ranges {
            let bytes = Bytes::new(bytes);
            match follows.last_mut() {
                Some(range) if range.label == sweep.label && range.ways == ways => {
                    range.last = bytes;
                }
                _ => follows.push(Follows {
                    label: sweep.label.clone(),
                    first: bytes,
                    last: bytes,
                    ways,
                }),
            }
        }
    }
    follows
}
