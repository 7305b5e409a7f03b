//! One measured run as the tuner's questions need it: a time per size, what was forced, what is
//! known of the path.

use super::Forced;
use std::collections::BTreeMap;
use tier6_collective::{Collective, Path};
use tier6_fit::{KnownPoint, PointSummary, SeriesAnalysis};
use tier6_nccl::{Candidate, NcclCollective, NotTunedError};
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
            forced,
            channels: None,
            points: points.collect(),
        })
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
