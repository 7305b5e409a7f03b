//! One measured run as the tuner's questions need it: a time per size, what was forced, what is
//! known of the path.

use super::Forced;
use std::collections::BTreeMap;
use tier6_collective::{Collective, DataType, Path, RedOp};
use tier6_fit::{KnownPoint, PointSummary, SeriesAnalysis};
use tier6_measure::Placement;
use tier6_nccl::{Call, Candidate, CostTable, NcclCollective, NotTunedError};
use tier6_units::{Bytes, Micros};

/// What counts as a time, in us.
const TIME_US: std::ops::RangeInclusive<f64> = 1e-6..=1e15;

/// One measured run of one collective on one communicator.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// What to call it: the name of its file.
    pub label: String,
    /// The collective.
    pub collective: NcclCollective,
    /// Ranks, when known.
    pub ranks: Option<u32>,
    /// Nodes, when known.
    pub nodes: Option<u32>,
    /// Element type; a float where the input does not say.
    pub datatype: DataType,
    /// Reduction operator; a sum where the input does not say.
    pub redop: RedOp,
    /// What was forced.
    pub forced: Forced,
    /// The number of channels, when that was forced as well.
    pub channels: Option<i32>,
    /// The measured sizes, in any order.
    pub points: Vec<SweepPoint>,
}

/// One size of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// Message size as the chooser counts it, which is nccl-tests' size.
    pub bytes: Bytes,
    /// Median time.
    pub time: Micros,
    /// Median time of the same run with the other placement.
    pub other_placement: Option<Micros>,
    /// Standard deviation of the median over the median, from the cycles.
    pub spread: Option<f64>,
    /// The path that ran, from a column or a log.
    pub path: Option<Candidate>,
    /// NCCL's own predicted time, from a column or a log.
    pub predicted: Option<Micros>,
}

/// Why a series is no sweep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// Nothing says which collective it is.
    #[error("`{label}` does not say which collective it measured")]
    NoCollective {
        /// The label.
        label: String,
    },
    /// NCCL has no choice to make.
    #[error("failed to use `{label}`")]
    NotTuned {
        /// The label.
        label: String,
        /// Why.
        #[source]
        reason: NotTunedError,
    },
}

impl Sweep {
    /// Takes the usable points of an analysed series; `other` is the same call of the same run
    /// with the other placement.
    ///
    /// # Errors
    ///
    /// Fails when the collective is not known or not tuned.
    pub fn from_series(
        label: impl Into<String>,
        forced: Forced,
        series: &SeriesAnalysis,
        other: Option<&SeriesAnalysis>,
    ) -> Result<Self, SweepError> {
        let label = label.into();
        let collective = tuned(series.collective, &label)?;
        let known = KnownPoint::all_of(series, other);
        let summaries: BTreeMap<Bytes, &PointSummary> = series
            .points
            .iter()
            .map(|point| (point.bytes, point))
            .collect();
        let points = known.into_iter().map(|known| {
            let summary = summaries.get(&known.bytes);
            SweepPoint {
                bytes: known.bytes,
                time: known.time,
                other_placement: known.other_placement,
                spread: summary.and_then(|summary| median_spread(summary)),
                path: summary.and_then(|summary| candidate(summary.path?)),
                predicted: summary.and_then(|summary| summary.tuner),
            }
        });
        Ok(Self {
            label,
            collective,
            ranks: series.ranks.exact(),
            nodes: series.nodes,
            datatype: series.datatype.unwrap_or(DataType::Float),
            redop: series.redop.unwrap_or(RedOp::Sum),
            forced,
            channels: None,
            points: points.collect(),
        })
    }

    /// Says whether nothing was forced.
    pub(crate) const fn is_own_choice(&self) -> bool {
        self.forced.is_nothing() && self.channels.is_none()
    }

    /// Returns the call that was measured at a size, on the communicator of `table`.
    pub(crate) fn call(&self, table: &CostTable, bytes: u64) -> Call {
        let communicator = table.communicator();
        Call::new(
            communicator,
            self.collective,
            bytes,
            self.datatype,
            self.redop,
        )
    }

    /// Says whether `table` is of the sweep's ranks and nodes, as far as the sweep knows them.
    pub(crate) fn is_of(&self, table: &CostTable) -> bool {
        let communicator = table.communicator();
        let equal = |known: Option<u32>, theirs: i32| {
            known.is_none_or(|known| i64::from(known) == i64::from(theirs))
        };
        equal(self.ranks, communicator.n_ranks) && equal(self.nodes, communicator.n_nodes)
    }

    /// Returns the usable points by size, a size given twice once (the last wins).
    pub(crate) fn by_size(&self) -> BTreeMap<u64, &SweepPoint> {
        self.points
            .iter()
            .filter(|point| point.bytes.get() > 0 && is_time(point.time))
            .map(|point| (point.bytes.get(), point))
            .collect()
    }

    /// Returns the same sweep with only the sizes that `keep` says.
    pub(crate) fn with_sizes(&self, keep: impl Fn(u64) -> bool) -> Self {
        let mut thinned = self.clone();
        thinned.points.retain(|point| keep(point.bytes.get()));
        thinned
    }
}

/// Takes every call of one run that NCCL's tuner decides about, out of place where both
/// placements were measured.
///
/// A run that holds several paths of one call at one size was not NCCL's own choice: each is
/// then forced to its path.
///
/// # Errors
///
/// Fails when no series is of a collective that the tuner decides about.
pub fn sweeps_of_run(
    label: &str,
    forced: Forced,
    analyses: &[SeriesAnalysis],
) -> Result<Vec<Sweep>, SweepError> {
    let other_of = |series: &SeriesAnalysis| {
        let path = path_of(series);
        analyses
            .iter()
            .find(|other| other.is_other_placement_of(series) && path_of(other) == path)
    };
    let mut sweeps: Vec<Sweep> = Vec::new();
    let mut refused = SweepError::NoCollective {
        label: label.to_owned(),
    };
    for series in analyses {
        let other = other_of(series);
        if series.placement == Placement::InPlace && other.is_some() {
            continue;
        }
        match Sweep::from_series(label, forced, series, other) {
            Ok(sweep) => sweeps.push(sweep),
            Err(error) => refused = error,
        }
    }
    if sweeps.is_empty() {
        return Err(refused);
    }
    if forced.is_nothing() {
        force_rivals(&mut sweeps);
    }
    Ok(sweeps)
}

/// Returns the path of a series that has one only.
fn path_of(series: &SeriesAnalysis) -> Option<Path> {
    let first = series.points.first()?.path?;
    let mut points = series.points.iter();
    points
        .all(|point| point.path == Some(first))
        .then_some(first)
}

fn force_rivals(sweeps: &mut [Sweep]) {
    let paths: Vec<Option<Candidate>> = sweeps
        .iter()
        .map(|sweep| {
            let first = sweep.points.first()?.path?;
            let mut points = sweep.points.iter();
            points
                .all(|point| point.path == Some(first))
                .then_some(first)
        })
        .collect();
    let is_rival = |a: usize, b: usize| {
        let sizes = sweeps[b].by_size();
        is_same_call(&sweeps[a], &sweeps[b])
            && paths[a] != paths[b]
            && sweeps[a]
                .by_size()
                .keys()
                .any(|bytes| sizes.contains_key(bytes))
    };
    let rivals: Vec<bool> = (0..sweeps.len())
        .map(|a| (0..sweeps.len()).any(|b| is_rival(a, b)))
        .collect();
    for ((sweep, path), is_rival) in sweeps.iter_mut().zip(&paths).zip(rivals) {
        if let (Some(path), true) = (path, is_rival) {
            sweep.forced = Forced::path(*path);
            sweep.label = format!("{} {path}", sweep.label);
        }
    }
}

/// Puts sweeps of one collective, ranks and nodes together, groups in the order of their first
/// sweep.
pub fn group_sweeps(sweeps: Vec<Sweep>) -> Vec<Vec<Sweep>> {
    let mut groups: Vec<Vec<Sweep>> = Vec::new();
    for sweep in sweeps {
        match groups
            .iter_mut()
            .find(|group| is_same_call(&group[0], &sweep))
        {
            Some(group) => group.push(sweep),
            None => groups.push(vec![sweep]),
        }
    }
    groups
}

/// Says whether two sweeps measured one collective on one scale.
pub(crate) fn is_same_call(a: &Sweep, b: &Sweep) -> bool {
    (a.collective, a.ranks, a.nodes) == (b.collective, b.ranks, b.nodes)
}

pub(crate) fn is_time(time: Micros) -> bool {
    TIME_US.contains(&time.get())
}

/// Returns the candidate of NCCL's table for a path; `None` for textbook algorithms.
pub(crate) fn candidate(path: Path) -> Option<Candidate> {
    Candidate::all().find(|candidate| Path::from(*candidate) == path)
}

fn tuned(collective: Option<Collective>, label: &str) -> Result<NcclCollective, SweepError> {
    let Some(collective) = collective else {
        return Err(SweepError::NoCollective {
            label: label.to_owned(),
        });
    };
    NcclCollective::try_from(collective).map_err(|reason| SweepError::NotTuned {
        label: label.to_owned(),
        reason,
    })
}

/// The standard deviation of a median of n normal values is 1.2533 sigma / sqrt(n).
fn median_spread(point: &PointSummary) -> Option<f64> {
    let cv = point.cv_pct? / 100.0;
    (point.samples > 0).then(|| 1.2533 * cv / f64::from(point.samples).sqrt())
}
