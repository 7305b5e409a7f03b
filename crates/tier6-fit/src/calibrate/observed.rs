//! A measured sweep as calibration takes it.

use crate::predict::disturbed;
use crate::{KnownPoint, SeriesAnalysis};
use std::cmp::Ordering;
use tier6_collective::{Algorithm, Collective, Path, Protocol};
use tier6_system::SystemSpec;
use tier6_units::{Bytes, Micros};

/// What ran: the collective, who took part, and what was forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// The algorithm, when it was forced; else the library chose per size.
    pub algorithm: Option<Algorithm>,
    /// The protocol, when it was forced.
    pub protocol: Option<Protocol>,
    /// N.
    pub ranks: u32,
    /// n, in the meaning of the system: what its first tier joins is a node.
    pub nodes: u32,
}

/// A measured sweep of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Name of the data set.
    pub label: String,
    /// What ran.
    pub call: Call,
    /// Usable points, ascending in size.
    pub points: Vec<ObservedPoint>,
    /// Sizes left out because something else disturbed them, ascending.
    pub disturbed: Vec<Bytes>,
}

/// A measured size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedPoint {
    /// Message size.
    pub bytes: Bytes,
    /// Median time.
    pub time: Micros,
    /// The path that ran, where a log or a column says so.
    pub path: Option<Path>,
}

/// Why a series cannot be calibrated on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObservedError {
    /// What ran is not known.
    #[error(
        "`{label}`: the collective is not known; hint: name it, for example `--collective all_reduce`"
    )]
    Collective {
        /// The data set.
        label: String,
    },
    /// Who took part is not known.
    #[error("`{label}`: the number of ranks is not known; hint: give it, for example `--ranks 8`")]
    Ranks {
        /// The data set.
        label: String,
    },
}

impl Call {
    /// Returns the call of a series, with nothing forced, on one node where the series does not
    /// say how many; `None` when the collective or the number of ranks is not known.
    pub fn of_series(series: &SeriesAnalysis) -> Option<Self> {
        Some(Self {
            collective: series.collective?,
            algorithm: None,
            protocol: None,
            ranks: series.ranks.exact()?,
            nodes: series.nodes.unwrap_or(1),
        })
    }

    /// Returns the call with its hosts, which benchmarks count, as nodes of a system.
    pub fn on(self, system: &SystemSpec) -> Self {
        Self {
            nodes: system.nodes_of_hosts(self.nodes),
            ..self
        }
    }
}

impl Observed {
    /// Takes points of a size and a time; sizes of zero and times that are not above zero are
    /// left out, a size given twice counts with the first of its times.
    pub fn new(label: impl Into<String>, call: Call, points: &[(Bytes, Micros)]) -> Self {
        let usable = |time: Micros| time.get().is_finite() && time.get() > 0.0;
        let mut points: Vec<ObservedPoint> = points
            .iter()
            .filter(|(bytes, time)| bytes.get() > 0 && usable(*time))
            .map(|(bytes, time)| ObservedPoint {
                bytes: *bytes,
                time: *time,
                path: None,
            })
            .collect();
        points.sort_by_key(|point| point.bytes);
        points.dedup_by_key(|point| point.bytes);
        Self {
            label: label.into(),
            call,
            points,
            disturbed: Vec::new(),
        }
    }

    /// Takes the usable points of a series; `other` is the same sweep of the same run with the
    /// other placement, which bears witness against disturbed times: those are left out.
    ///
    /// One node is assumed where the series does not say how many.
    ///
    /// # Errors
    ///
    /// When the collective or the number of ranks is not known.
    pub fn of_series(
        label: impl Into<String>,
        series: &SeriesAnalysis,
        other: Option<&SeriesAnalysis>,
    ) -> Result<Self, ObservedError> {
        let label = label.into();
        if series.collective.is_none() {
            return Err(ObservedError::Collective { label });
        }
        let Some(call) = Call::of_series(series) else {
            return Err(ObservedError::Ranks { label });
        };
        let mut observed = Self::of_known(label, call, &KnownPoint::all_of(series, other));
        for point in &mut observed.points {
            let at = series
                .points
                .binary_search_by_key(&point.bytes, |summary| summary.bytes);
            point.path = at.ok().and_then(|at| series.points[at].path);
        }
        Ok(observed)
    }

    /// Takes known points, ascending in size, without those that something disturbed.
    pub fn of_known(label: impl Into<String>, call: Call, known: &[KnownPoint]) -> Self {
        let (disturbed, usable): (Vec<_>, Vec<_>) = known
            .iter()
            .zip(disturbed(known))
            .partition(|(_, is_disturbed)| *is_disturbed);
        let points: Vec<(Bytes, Micros)> = usable
            .iter()
            .map(|(point, _)| (point.bytes, point.time))
            .collect();
        Self {
            disturbed: disturbed.iter().map(|(point, _)| point.bytes).collect(),
            ..Self::new(label, call, &points)
        }
    }

    /// Returns the same with its hosts as nodes of a system: [`Call::on`].
    pub fn on(mut self, system: &SystemSpec) -> Self {
        self.call = self.call.on(system);
        self
    }

    /// Returns the same with an algorithm or a protocol forced, as by `NCCL_ALGO` and
    /// `NCCL_PROTO`.
    pub fn forced(mut self, algorithm: Option<Algorithm>, protocol: Option<Protocol>) -> Self {
        self.call.algorithm = algorithm;
        self.call.protocol = protocol;
        self
    }

    /// Returns the same with the points for which `keep` holds.
    pub fn only(&self, keep: impl Fn(usize, &ObservedPoint) -> bool) -> Self {
        let points = self.points.iter().enumerate();
        Self {
            points: points
                .filter(|(index, point)| keep(*index, point))
                .map(|(_, point)| *point)
                .collect(),
            ..self.clone()
        }
    }

    /// Orders sets by what they are, so that the order in which they were given is not seen.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let key = |set: &Self| (set.call, set.label.clone());
        let points = |set: &Self| -> Vec<(u64, u64)> {
            let key = |point: &ObservedPoint| (point.bytes.get(), point.time.get().to_bits());
            set.points.iter().map(key).collect()
        };
        key(self)
            .cmp(&key(other))
            .then_with(|| points(self).cmp(&points(other)))
    }
}
