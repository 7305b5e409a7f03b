//! A measured sweep as validation takes it: one placement is scored, the other one stands by.

use super::known_bad::{Scope, known_bad};
use std::fmt;
use tier6_fit::{Call, Exclusion, KnownPoint, SeriesAnalysis};
use tier6_measure::Placement;
use tier6_system::SystemSpec;

/// One sweep to be scored.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredSet {
    /// Name of the set.
    pub id: String,
    /// One or more nodes, when known.
    pub tier: Option<Tier>,
    /// Usable points, ascending in size.
    pub points: Vec<KnownPoint>,
    /// What is not among them and why, as sentences.
    pub left_out: Vec<String>,
    /// What ran, when it is known.
    pub call: Option<Call>,
    /// The system that describes the machine, when there is one.
    pub system: Option<SystemSpec>,
    /// What sweeps of other numbers of ranks must share to be of one family: machine, library,
    /// set-up; `None` when that is not known.
    pub family: Option<String>,
}

/// A set without what is known against it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Usable<'s> {
    pub(super) set: &'s MeasuredSet,
    /// Points that may be used, ascending in size.
    pub(super) points: Vec<KnownPoint>,
    /// What is not among them and why, as sentences.
    pub(super) left_out: Vec<String>,
}

/// The machine that a set was measured on and the call that ran there: what engines need that
/// price a described system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Machine {
    pub(super) system: SystemSpec,
    pub(super) call: Call,
}

/// How many levels of network a sweep crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Within one node.
    Single,
    /// Across nodes.
    Two,
}

impl Tier {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Two => "two",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl MeasuredSet {
    /// Pairs the series of one input: a set for each sweep, as [`MeasuredSet::pairs`].
    pub fn of_input(id: &str, series: &[SeriesAnalysis]) -> Vec<Self> {
        let pairs = Self::pairs(id, series).into_iter();
        pairs
            .map(|(name, scored, other)| Self::new(name, scored, other))
            .collect()
    }

    /// Pairs the series of one input: name, scored placement and the other one for each sweep, out
    /// of place scored where both have usable points. The first is called `id`, further ones
    /// `id#2`, `id#3`.
    pub fn pairs<'s>(
        id: &str,
        series: &'s [SeriesAnalysis],
    ) -> Vec<(String, &'s SeriesAnalysis, Option<&'s SeriesAnalysis>)> {
        let usable = |series: &SeriesAnalysis| series.points.iter().any(|p| p.excluded.is_none());
        let mut pairs = Vec::new();
        for scored in series {
            let other = series
                .iter()
                .find(|other| scored.is_other_placement_of(other));
            let out_of_place_is_scored =
                |out: &SeriesAnalysis, within: &SeriesAnalysis| usable(out) || !usable(within);
            let stands_by = other.is_some_and(|other| match scored.placement {
                Placement::OutOfPlace => !out_of_place_is_scored(scored, other),
                Placement::InPlace => out_of_place_is_scored(other, scored),
            });
            if stands_by {
                continue;
            }
            let name = match pairs.len() {
                0 => id.to_owned(),
                before => format!("{id}#{}", before + 1),
            };
            pairs.push((name, scored, other));
        }
        pairs
    }

    /// Takes the points of `scored` that are fit for use; `other` is the same sweep of the same
    /// run with the other placement, when there is one.
    pub fn new(
        id: impl Into<String>,
        scored: &SeriesAnalysis,
        other: Option<&SeriesAnalysis>,
    ) -> Self {
        Self {
            id: id.into(),
            tier: scored.nodes.map(|nodes| match nodes {
                0 | 1 => Tier::Single,
                2.. => Tier::Two,
            }),
            points: KnownPoint::all_of(scored, other),
            left_out: left_out(scored),
            call: Call::of_series(scored),
            system: None,
            family: None,
        }
    }

    /// Takes over what a set-up forces: `NCCL_ALGO=Ring` and `NCCL_PROTO=LL` among its words, also
    /// as `NCCL_ALGO=allreduce:ring`. A choice of several, or of
    /// all but some (`^Tree`), forces none.
    pub fn forced_by<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let Some(call) = &mut self.call else {
            return;
        };
        let names_some = |(_, value): &(&str, &str)| !value.contains('^');
        let settings = words.filter_map(|word| word.split_once('='));
        for (name, value) in settings.filter(names_some) {
            let value = value.rsplit(':').next().unwrap_or(value);
            match name {
                "NCCL_ALGO" => call.algorithm = value.parse().ok(),
                "NCCL_PROTO" => call.protocol = value.parse().ok(),
                _ => {}
            }
        }
    }

    /// Returns the machine of the set, when both the system and the call are known.
    pub(super) fn machine(&self) -> Option<Machine> {
        let system = self.system.clone()?;
        Some(Machine {
            call: self.call?.on(&system),
            system,
        })
    }
}

impl<'s> Usable<'s> {
    /// Takes out what is known to be bad.
    ///
    /// # Errors
    ///
    /// Says why nothing of the set may be used.
    pub(super) fn of(set: &'s MeasuredSet) -> Result<Self, &'static str> {
        let mut left_out = set.left_out.clone();
        let mut points = set.points.clone();
        for known in known_bad(&set.id) {
            match known.scope {
                Scope::Whole => return Err(known.reason),
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
        Ok(Self {
            set,
            points,
            left_out,
        })
    }
}

fn left_out(series: &SeriesAnalysis) -> Vec<String> {
    let sentence = |exclusion: Exclusion, text: &str| {
        let excluded = series.points.iter().map(|point| point.excluded);
        let count = excluded.filter(|found| *found == Some(exclusion)).count();
        (count > 0).then(|| format!("{text}: {count}"))
    };
    [
        sentence(Exclusion::WrongData, "sizes with wrong data"),
        sentence(Exclusion::ZeroSize, "sizes of zero bytes"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_collective::{Algorithm, Collective, DataType, Protocol};
    use tier6_fit::{AnalysisOptions, analyze};
    use tier6_measure::{Point, Ranks, Sample, Series, Wrong};
    use tier6_units::{Bytes, Micros};

    /// Times of 8 B, 16 B, 32 B..; a negative one stands for wrong data.
    fn series(run: usize, placement: Placement, times: &[f64]) -> SeriesAnalysis {
        let point = |(index, us): (usize, &f64)| Point {
            bytes: Bytes::new(8 << index),
            count: None,
            samples: vec![Sample {
                time: Some(Micros::new(us.abs())),
                algbw: None,
                busbw: None,
                wrong: Wrong::Elements(u64::from(*us < 0.0)),
                line: 0,
            }],
            iterations: Vec::new(),
            published: None,
            path: None,
            tuner: None,
        };
        let series = Series {
            collective: Some(Collective::AllReduce),
            ranks: Ranks::Stated(8),
            nodes: Some(1),
            datatype: Some(DataType::Float),
            redop: None,
            root: None,
            placement,
            points: times.iter().enumerate().map(point).collect(),
        };
        analyze(&series, run, &[], &AnalysisOptions::STANDARD)
    }

    /// Id, own times, times of the other placement.
    type Expected<'a> = (&'a str, &'a [f64], &'a [Option<f64>]);

    fn check(series: &[SeriesAnalysis], expect: &[Expected<'_>]) {
        let sets = MeasuredSet::of_input("run.txt", series);
        let own = |set: &MeasuredSet| set.points.iter().map(|p| p.time.get()).collect::<Vec<_>>();
        let other = |set: &MeasuredSet| {
            let others = set
                .points
                .iter()
                .map(|p| p.other_placement.map(Micros::get));
            others.collect::<Vec<_>>()
        };
        let got: Vec<_> = sets
            .iter()
            .map(|set| (set.id.as_str(), own(set), other(set)))
            .collect();
        let want: Vec<_> = expect
            .iter()
            .map(|(id, own, other)| (*id, own.to_vec(), other.to_vec()))
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn placements_of_a_run_are_one_set() {
        let (out, within) = (Placement::OutOfPlace, Placement::InPlace);
        check(
            &[series(0, out, &[5.0, 6.0]), series(0, within, &[4.0, 5.5])],
            &[("run.txt", &[5.0, 6.0], &[Some(4.0), Some(5.5)])],
        );
        check(
            &[series(0, out, &[5.0]), series(1, within, &[4.0])],
            &[("run.txt", &[5.0], &[None]), ("run.txt#2", &[4.0], &[None])],
        );
        check(
            &[series(0, within, &[4.0])],
            &[("run.txt", &[4.0], &[None])],
        );
        check(
            &[series(0, out, &[-5.0]), series(0, within, &[4.0])],
            &[("run.txt", &[4.0], &[None])],
        );
        check(
            &[series(0, within, &[-4.0]), series(0, out, &[-5.0])],
            &[("run.txt", &[], &[])],
        );
    }

    #[test]
    fn a_set_up_forces_one_algorithm_and_one_protocol() {
        let check = |words: &str, algorithm: Option<Algorithm>, protocol: Option<Protocol>| {
            let series = series(0, Placement::OutOfPlace, &[5.0, 6.0]);
            let mut set = MeasuredSet::new("a", &series, None);
            set.forced_by(words.split_whitespace());
            let call = set.call.unwrap();
            assert_eq!(
                (call.algorithm, call.protocol),
                (algorithm, protocol),
                "{words}"
            );
        };
        check("default -g 2", None, None);
        check("NCCL_ALGO=RING -n 100", Some(Algorithm::Ring), None);
        check("NCCL_PROTO=LL128 -g 4", None, Some(Protocol::Ll128));
        check(
            "NCCL_ALGO=allreduce:nvlstree",
            Some(Algorithm::NvlsTree),
            None,
        );
        check("NCCL_ALGO=^Tree NCCL_PROTO=LL,Simple", None, None);
    }

    #[test]
    fn wrong_data_is_left_out_and_no_witness() {
        let out = series(0, Placement::OutOfPlace, &[5.0, -6.0, 7.0]);
        let within = series(0, Placement::InPlace, &[-4.0, 5.0, 6.0]);
        let sets = MeasuredSet::of_input("a", &[out, within]);
        let points = &sets[0].points;
        assert_eq!(points.len(), 2);
        assert_eq!(points[0].other_placement, None);
        assert_eq!(sets[0].left_out, ["sizes with wrong data: 1"]);
        assert_eq!(sets[0].tier, Some(Tier::Single));
    }
}
