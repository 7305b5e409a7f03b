//! What several series say together and none of them alone: steps of a ring over rank counts,
//! the kind of fabric, cliffs that several sweeps narrow, reduction in the switch, AllReduce
//! against its two halves.
//!
//! Only series that may come from one machine and one way of timing are put together; the
//! caller decides which inputs belong together at all. A finding says "likely" where it infers
//! and is left out where the series do not agree.

mod cliffs;
mod composition;
mod fabric;
mod in_switch;
mod ring_latency;
mod timing;

use crate::analyze::AnalysisOptions;
use crate::set_up::{may_be_one_machine, setting_differences, timing_differences};
use crate::{Finding, PointSummary, SeriesAnalysis};
use tier6_measure::{Placement, Ranks, RunSetup};
use tier6_units::Bytes;

/// An analysed series with the set-up of its run.
#[derive(Debug, Clone, Copy)]
pub struct SetSeries<'a> {
    /// The series.
    pub analysis: &'a SeriesAnalysis,
    /// What the header of its run says.
    pub setup: &'a RunSetup,
}

/// Returns what series of one machine say together, most severe first.
pub fn findings_together(series: &[SetSeries<'_>], options: &AnalysisOptions) -> Vec<Finding> {
    if series.len() < 2 {
        return Vec::new();
    }
    let groups = comparable(series);
    let mut found = timing::findings(series);
    for group in &groups {
        found.extend(ring_latency::findings(group));
        found.extend(fabric::findings(group, options));
        found.extend(cliffs::findings(group));
    }
    found.extend(in_switch::findings(series, options));
    found.extend(composition::findings(series));
    found.sort_by_key(|finding| finding.severity);
    found
}

/// Groups series whose runs agree in machine, timing and settings, in the order of appearance.
fn comparable<'a>(series: &[SetSeries<'a>]) -> Vec<Vec<SetSeries<'a>>> {
    let mut groups: Vec<Vec<SetSeries<'a>>> = Vec::new();
    for one in series {
        let fits = |group: &&mut Vec<SetSeries>| {
            let mut members = group.iter();
            members.all(|member| member.agrees_with(one))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(*one),
            None => groups.push(vec![*one]),
        }
    }
    groups
}

impl<'a> SetSeries<'a> {
    /// Says whether nothing that both tell speaks against one machine, one way of timing and
    /// one choice of settings.
    fn agrees_with(&self, other: &Self) -> bool {
        self.may_stand_beside(other) && setting_differences(self.setup, other.setup).is_empty()
    }

    /// The same, with settings that may differ.
    fn may_stand_beside(&self, other: &Self) -> bool {
        may_be_one_machine(self.setup, other.setup)
            && timing_differences(self.setup, other.setup).is_empty()
    }

    /// Says whether both measure the same operation, whatever the number of ranks.
    fn is_same_operation(&self, other: &Self) -> bool {
        let (a, b) = (self.analysis, other.analysis);
        a.collective.is_some()
            && a.collective == b.collective
            && a.placement == b.placement
            && is_one(a.datatype, b.datatype)
            && is_one(a.redop, b.redop)
    }

    /// The points that count.
    fn points(&self) -> impl Iterator<Item = &'a PointSummary> + use<'a> {
        let points = self.analysis.points.iter();
        points.filter(|point| point.excluded.is_none())
    }

    fn at(&self, bytes: Bytes) -> Option<&'a PointSummary> {
        self.points().find(|point| point.bytes == bytes)
    }

    /// The exact number of ranks.
    fn ranks(&self) -> Option<u32> {
        self.analysis.ranks.exact()
    }
}

/// Says whether two facts agree; what is not told is no contradiction.
fn is_one<T: PartialEq + Copy>(a: Option<T>, b: Option<T>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Says whether two rank counts may be the same.
fn may_be_same_ranks(a: Ranks, b: Ranks) -> bool {
    let ends = |ranks| match ranks {
        Ranks::Stated(n) => Some((n, n)),
        Ranks::Estimated { low, high } => Some((low, high)),
        Ranks::Unknown => None,
    };
    match (ends(a), ends(b)) {
        (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
        _ => false,
    }
}

/// Returns the series of one operation in a group, the placement that comes first in the group
/// only, with different exact numbers of ranks, in ascending order of ranks. Where a number of
/// ranks was measured twice, nobody knows which one to take, and the answer is empty.
fn by_ranks<'a>(group: &[SetSeries<'a>]) -> Vec<Vec<(u32, SetSeries<'a>)>> {
    let mut sets: Vec<Vec<(u32, SetSeries<'a>)>> = Vec::new();
    for one in group {
        let Some(ranks) = one.ranks() else { continue };
        match sets.iter_mut().find(|set| set[0].1.is_same_operation(one)) {
            Some(set) => set.push((ranks, *one)),
            None => sets.push(vec![(ranks, *one)]),
        }
    }
    let both = |set: &[(u32, SetSeries)], placement| set[0].1.analysis.placement == placement;
    let is_covered = |set: &[(u32, SetSeries)]| {
        both(set, Placement::InPlace)
            && sets.iter().any(|other| {
                both(other, Placement::OutOfPlace)
                    && other[0].1.analysis.collective == set[0].1.analysis.collective
            })
    };
    let mut kept: Vec<Vec<(u32, SetSeries<'a>)>> = sets
        .iter()
        .filter(|set| !is_covered(set))
        .cloned()
        .collect();
    for set in &mut kept {
        set.sort_by_key(|(ranks, _)| *ranks);
    }
    kept.retain(|set| set.windows(2).all(|pair| pair[0].0 < pair[1].0));
    kept
}

/// Returns the sizes that all series have.
fn shared_sizes<'a>(series: impl Iterator<Item = SetSeries<'a>>) -> Vec<Bytes> {
    let mut series = series;
    let Some(first) = series.next() else {
        return Vec::new();
    };
    let rest: Vec<SetSeries> = series.collect();
    let is_shared = |bytes: &Bytes| rest.iter().all(|other| other.at(*bytes).is_some());
    let sizes = first.points().map(|point| point.bytes);
    sizes.filter(is_shared).collect()
}

/// Returns `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
