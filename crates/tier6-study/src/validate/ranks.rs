//! Holding out whole sweeps: a system is calibrated on all sweeps of a family with few ranks
//! together, and asked what many ranks take.
//!
//! A family is what one would measure to find out: one machine, library, set-up and collective, at
//! several numbers of ranks. Held out is the largest of them, since that is the question that people
//! have: what will it cost on more than I can measure? Holding out each in turn would mix in
//! numbers that lie between two measured ones, which is easier, and not asked.

use super::calibrated::Calibrated;
use super::engine::{Basis, Engine, Predicted, Role, Trained, log_log};
use super::holdout::HeldOutRanks;
use super::score::{Prediction, Score};
use super::set::Usable;
use super::{ExcludedSet, SetValidation, placement_noise};
use std::collections::BTreeMap;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_fit::{Call, Observed};
use tier6_system::SystemSpec;
use tier6_units::Bytes;

/// What a held-out sweep was predicted from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromRanks {
    /// Machine, library and set-up that the family shares.
    pub family: String,
    /// What was run.
    pub collective: Collective,
    /// The sets that were calibrated on, by number of ranks.
    pub trained_on: Vec<String>,
    /// Their numbers of ranks, ascending, each once.
    pub trained_ranks: Vec<u32>,
    /// The number of ranks that was predicted.
    pub ranks: u32,
}

impl FromRanks {
    /// Returns how many times as many ranks were predicted as were measured.
    pub fn scale(&self) -> f64 {
        let most = self.trained_ranks.last().copied().unwrap_or(self.ranks);
        f64::from(self.ranks) / f64::from(most)
    }
}

/// What the sweeps of a family share.
type Key = (String, Collective, Option<Algorithm>, Option<Protocol>);

/// A sweep of a family.
struct Member<'s> {
    usable: Usable<'s>,
    call: Call,
}

/// Holds the sweeps of many ranks out of every family.
pub(super) fn validate_ranks(
    usable: Vec<Usable<'_>>,
    which: HeldOutRanks,
    engines: &[Engine],
) -> (Vec<SetValidation>, Vec<ExcludedSet>) {
    let mut families: BTreeMap<Key, Vec<Member<'_>>> = BTreeMap::new();
    let mut excluded = Vec::new();
    for usable in usable {
        let set = usable.set;
        match (set.family.clone(), set.call) {
            (Some(family), Some(call)) if !usable.points.is_empty() => {
                let key = (family, call.collective, call.algorithm, call.protocol);
                families
                    .entry(key)
                    .or_default()
                    .push(Member { usable, call });
            }
            (Some(_), Some(_)) => excluded.push(ExcludedSet::of_scheme(&set.id, "no usable size")),
            (None, _) | (_, None) => {
                let reason = "what was measured is not known well enough to find its family";
                excluded.push(ExcludedSet::of_scheme(&set.id, reason));
            }
        }
    }
    let mut scored = Vec::new();
    for (key, mut members) in families {
        members.sort_by(|a, b| {
            let by = |member: &Member<'_>| (member.call.ranks, member.usable.set.id.clone());
            by(a).cmp(&by(b))
        });
        match Family::of(key, &members, which) {
            Ok(family) => scored.extend(family.validate(engines)),
            Err(reason) => {
                let ids = members.iter().map(|member| &member.usable.set.id);
                excluded.extend(ids.map(|id| ExcludedSet::of_scheme(id, &reason)));
            }
        }
    }
    (scored, excluded)
}

/// A family, parted.
struct Family<'m, 's> {
    key: Key,
    /// The system that describes the machine of the most ranks: it has the network that the
    /// smaller ones may lack.
    system: Option<&'s SystemSpec>,
    small: &'m [Member<'s>],
    large: &'m [Member<'s>],
}

impl<'m, 's> Family<'m, 's> {
    /// Parts members, ascending in ranks.
    fn of(key: Key, members: &'m [Member<'s>], which: HeldOutRanks) -> Result<Self, String> {
        let largest = members.last().ok_or("no set")?;
        let most = match which {
            HeldOutRanks::Largest => largest.call.ranks - 1,
            HeldOutRanks::Above(ranks) => ranks,
        };
        let (small, large) = members.split_at(members.partition_point(|m| m.call.ranks <= most));
        match which {
            HeldOutRanks::Largest if small.is_empty() => {
                return Err("no set of its family has another number of ranks".to_owned());
            }
            HeldOutRanks::Above(ranks) if small.is_empty() || large.is_empty() => {
                return Err(format!(
                    "its family does not reach from below to above {ranks} ranks"
                ));
            }
            HeldOutRanks::Largest | HeldOutRanks::Above(_) => {}
        }
        Ok(Self {
            key,
            system: largest.usable.set.system.as_ref(),
            small,
            large,
        })
    }

    fn validate(&self, engines: &[Engine]) -> Vec<SetValidation> {
        let models: Vec<Result<Models<'s>, String>> = engines
            .iter()
            .map(|engine| Models::of(self, *engine))
            .collect();
        let one = |member: &Member<'_>| {
            let (mut scores, mut unscored) = (Vec::new(), Vec::new());
            for (engine, models) in engines.iter().zip(&models) {
                let models = models.as_ref().map_err(Clone::clone);
                let score = models.and_then(|models| models.score(*engine, member));
                scores.push(score.clone().unwrap_or_else(|_| Score::none(*engine)));
                if let (Err(why), Role::Engine) = (score, engine.role()) {
                    unscored.push(format!("{}: {why}", engine.name()));
                }
            }
            let Usable {
                set,
                points,
                left_out,
            } = &member.usable;
            SetValidation {
                id: set.id.clone(),
                points: points.len(),
                tier: set.tier,
                left_out: left_out.clone(),
                scores,
                unscored,
                placement_noise_pct: placement_noise(points),
                from_ranks: Some(self.origin(member)),
            }
        };
        self.large.iter().map(one).collect()
    }

    fn origin(&self, member: &Member<'_>) -> FromRanks {
        let mut trained_ranks: Vec<u32> = self.small.iter().map(|m| m.call.ranks).collect();
        trained_ranks.dedup();
        FromRanks {
            family: self.key.0.clone(),
            collective: self.key.1,
            trained_on: self.small.iter().map(|m| m.usable.set.id.clone()).collect(),
            trained_ranks,
            ranks: member.call.ranks,
        }
    }
}

impl Member<'_> {
    fn observed(&self, system: &SystemSpec) -> Observed {
        let Usable { set, points, .. } = &self.usable;
        Observed::of_known(set.id.as_str(), self.call.on(system), points)
    }
}

/// What an engine learned from a family.
enum Models<'s> {
    /// The system calibrated on the smaller numbers of ranks, and on all.
    Calibrated {
        system: &'s SystemSpec,
        small: Calibrated,
        all: Calibrated,
    },
    /// The sweeps of the most ranks below, and of the next number of ranks below that.
    Nearest(Sweep, Option<Sweep>),
}

/// ln ranks, and the sweep in log-log.
type Sweep = (f64, Trained);

impl<'s> Models<'s> {
    fn of(family: &Family<'_, 's>, engine: Engine) -> Result<Self, String> {
        match engine {
            Engine::LogLogRanks => return Self::nearest(family),
            Engine::Math | Engine::G5 => {}
            Engine::Fit | Engine::OneLine | Engine::SegmentLines | Engine::LogLog => {
                return Err("knows the sizes of a sweep, not its ranks".to_owned());
            }
        }
        let system = family.system.ok_or("no system describes its machine")?;
        let small: Vec<Observed> = family.small.iter().map(|m| m.observed(system)).collect();
        let large = family.large.iter().map(|m| m.observed(system));
        let all: Vec<Observed> = small.iter().cloned().chain(large).collect();
        Ok(Self::Calibrated {
            small: Calibrated::fit(engine, system, &small)?,
            all: Calibrated::fit(engine, system, &all)?,
            system,
        })
    }

    fn nearest(family: &Family<'_, '_>) -> Result<Self, String> {
        let mut nearest: Vec<&Member<'_>> = family.small.iter().rev().collect();
        nearest.dedup_by_key(|member| member.call.ranks);
        let sweeps = nearest.into_iter().filter_map(|member| {
            let sweep = Engine::LogLog.train(&member.usable.points, None, Basis::Model);
            Some((f64::from(member.call.ranks).ln(), sweep.ok()?))
        });
        let mut sweeps = sweeps.take(2);
        let near = sweeps.next().ok_or("no sweep of two sizes")?;
        Ok(Self::Nearest(near, sweeps.next()))
    }

    fn score(&self, engine: Engine, member: &Member<'_>) -> Result<Score, String> {
        let points = &member.usable.points;
        let sizes: Vec<Bytes> = points.iter().map(|point| point.bytes).collect();
        let (in_sample, held_out) = match self {
            Self::Calibrated { system, small, all } => {
                let call = member.call.on(system);
                (all.predict(&call, &sizes)?, small.predict(&call, &sizes)?)
            }
            Self::Nearest(near, far) => {
                let ranks = f64::from(member.call.ranks).ln();
                (Vec::new(), prolonged(near, far.as_ref(), ranks, &sizes)?)
            }
        };
        let in_sample = Prediction::of(points, in_sample);
        let held_out = Prediction::of(points, held_out);
        Ok(Score::from_predictions(engine, &in_sample, &held_out))
    }
}

/// Prolongs the times of one or two sweeps to more ranks.
fn prolonged(
    (near_ranks, near): &Sweep,
    far: Option<&Sweep>,
    ranks: f64,
    sizes: &[Bytes],
) -> Result<Vec<Predicted>, String> {
    let near = near.predict(sizes)?;
    let Some((far_ranks, far)) = far else {
        return Ok(near);
    };
    let pairs = far.predict(sizes)?.into_iter().zip(near);
    let prolonged = pairs.map(|(far, near)| {
        let time = log_log(
            (*far_ranks, far.us.ln()),
            (*near_ranks, near.us.ln()),
            ranks,
        );
        Predicted::time(time.exp())
    });
    Ok(prolonged.collect())
}
