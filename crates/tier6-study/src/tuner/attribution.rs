//! Which path a measured run took at each size, and how that is known.
//!
//! Known for sure is a path column, a log, or a run with both variables forced. NCCL's own
//! model tells as well, when the communicator is given: it is exact. Without either, a run under
//! `NCCL_ALGO=Ring` is held against the runs under `NCCL_PROTO`: where it takes as long as
//! exactly one of them, it is consistent with that protocol, and that run with Ring. And
//! where it equals none of them and one protocol was not measured, it is that one by elimination.
//! Both may be wrong, for two paths may take equally long; so neither ever shows LL128,
//! which may corrupt data where NCCL does not use it by itself.

use super::prediction::modelled;
use super::{Noise, Sweep};
use std::collections::BTreeMap;
use tier6_collective::Protocol;
use tier6_nccl::{Candidate, CostTable, NcclAlgorithm, NcclCollective};

/// Two times that differ by less than this never tell paths apart.
const TOLERANCE_MIN: f64 = 0.03;
/// Nor do times that differ by less than so many standard deviations of a difference.
const TOLERANCE_SIGMAS: f64 = 3.0;

/// A path with the reason for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribution {
    /// The path.
    pub candidate: Candidate,
    /// How it is known.
    pub basis: AttributionBasis,
}

/// How a path is known, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttributionBasis {
    /// The run's algorithm at other sizes; nothing shows it here.
    Assumed,
    /// The only protocol that was not measured, and the time is that of none that was.
    Eliminated,
    /// The time is that of one run under the other variable.
    Consistent,
    /// The model of the communicator chooses it under the forced variables.
    Model,
    /// Both variables were forced, or the collective has one algorithm only.
    Forced,
    /// A path column or a log says so.
    Stated,
}

impl AttributionBasis {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assumed => "assumed",
            Self::Eliminated => "eliminated",
            Self::Consistent => "consistent",
            Self::Model => "model",
            Self::Forced => "forced",
            Self::Stated => "stated",
        }
    }

    /// Says whether more than a comparison of times shows the path.
    pub const fn is_certain(self) -> bool {
        match self {
            Self::Model | Self::Forced | Self::Stated => true,
            Self::Assumed | Self::Eliminated | Self::Consistent => false,
        }
    }
}

/// The attributions of one sweep by size.
pub(crate) type Paths = BTreeMap<u64, Attribution>;

/// Returns the largest |ln| of the ratio of two times of one path at a size.
pub(crate) fn tolerance(noise: &Noise, bytes: u64) -> f64 {
    let sigmas = TOLERANCE_SIGMAS * std::f64::consts::SQRT_2 * noise.at(bytes);
    sigmas.max(TOLERANCE_MIN)
}

/// Attributes every size of every sweep that can be; sweeps are of one call.
pub(crate) fn attribute(sweeps: &[Sweep], noise: &Noise, table: Option<&CostTable>) -> Vec<Paths> {
    let mut paths: Vec<Paths> = sweeps.iter().map(|sweep| certain(sweep, table)).collect();
    for (index, sweep) in sweeps.iter().enumerate() {
        if sweep.forced.algorithm.is_some() && sweep.forced.protocol.is_none() {
            let found = protocols_of(sweep, &paths[index], sweeps, noise);
            paths[index].extend(found);
        }
    }
    let of_algorithms = paths.clone();
    for (index, sweep) in sweeps.iter().enumerate() {
        if let (None, Some(protocol)) = (sweep.forced.algorithm, sweep.forced.protocol) {
            let others: Vec<(&Sweep, &Paths)> = sweeps.iter().zip(&of_algorithms).collect();
            let found = algorithms_of(sweep, protocol, &paths[index], &others, noise);
            paths[index].extend(found);
        }
    }
    paths
}

/// What needs no comparison of times.
fn certain(sweep: &Sweep, table: Option<&CostTable>) -> Paths {
    let table = table.filter(|table| sweep.is_of(table));
    let mut paths = Paths::new();
    for (bytes, point) in sweep.by_size() {
        let found = if let Some(candidate) = point.path {
            Some((candidate, AttributionBasis::Stated))
        } else if let Some(candidate) = forced_path(sweep) {
            Some((candidate, AttributionBasis::Forced))
        } else {
            let chosen = table.and_then(|table| modelled(table, sweep, bytes));
            chosen.map(|(candidate, _)| (candidate, AttributionBasis::Model))
        };
        if let Some((candidate, basis)) = found {
            paths.insert(bytes, Attribution { candidate, basis });
        }
    }
    paths
}

/// Broadcast and Reduce have no algorithm but Ring.
fn forced_path(sweep: &Sweep) -> Option<Candidate> {
    sweep.forced.candidate().or_else(|| {
        let rings_only = matches!(
            sweep.collective,
            NcclCollective::Broadcast | NcclCollective::Reduce
        );
        let protocol = sweep.forced.protocol.filter(|_| rings_only)?;
        Some(Candidate {
            algorithm: NcclAlgorithm::Ring,
            protocol,
        })
    })
}

/// Holds a run with a forced algorithm against the runs with forced protocols.
fn protocols_of(sweep: &Sweep, known: &Paths, sweeps: &[Sweep], noise: &Noise) -> Paths {
    let Some(algorithm) = sweep.forced.algorithm else {
        return Paths::new();
    };
    let rivals: Vec<(Protocol, BTreeMap<u64, f64>)> = sweeps
        .iter()
        .filter(|other| {
            other
                .forced
                .algorithm
                .is_none_or(|other| other == algorithm)
        })
        .filter(|other| other.channels == sweep.channels)
        .filter_map(|other| Some((other.forced.protocol?, times(other))))
        .collect();
    let mut paths = Paths::new();
    for (bytes, us) in times(sweep) {
        if known.contains_key(&bytes) {
            continue;
        }
        let near = tolerance(noise, bytes);
        let distances: Vec<(Protocol, f64)> = rivals
            .iter()
            .filter_map(|(protocol, rival)| Some((*protocol, (us / rival.get(&bytes)?).ln().abs())))
            .collect();
        let found = nearest_plain(&distances, near)
            .map(|protocol| (protocol, AttributionBasis::Consistent))
            .or_else(|| {
                let protocol = the_unmeasured(&distances, near)?;
                Some((protocol, AttributionBasis::Eliminated))
            });
        if let Some((protocol, basis)) = found {
            let candidate = Candidate {
                algorithm,
                protocol,
            };
            paths.insert(bytes, Attribution { candidate, basis });
        }
    }
    paths
}

/// Returns the nearest protocol other than LL128 within the tolerance.
fn nearest_plain(distances: &[(Protocol, f64)], near: f64) -> Option<Protocol> {
    distances
        .iter()
        .filter(|(protocol, distance)| *protocol != Protocol::Ll128 && *distance <= near)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(protocol, _)| *protocol)
}

/// Returns the one protocol that was not measured, when the time is that of none that was.
fn the_unmeasured(distances: &[(Protocol, f64)], near: f64) -> Option<Protocol> {
    let mut open = Protocol::ALL
        .into_iter()
        .filter(|protocol| distances.iter().all(|(measured, _)| measured != protocol));
    let only = open.next().filter(|only| *only != Protocol::Ll128)?;
    let equals_none = distances.iter().all(|(_, distance)| *distance > near);
    (open.next().is_none() && equals_none).then_some(only)
}

/// Holds a run with a forced protocol against the runs with forced algorithms that took it.
fn algorithms_of(
    sweep: &Sweep,
    protocol: Protocol,
    known: &Paths,
    others: &[(&Sweep, &Paths)],
    noise: &Noise,
) -> Paths {
    let own = times(sweep);
    let mut matches: BTreeMap<u64, Vec<NcclAlgorithm>> = BTreeMap::new();
    for (other, paths) in others {
        let Some(algorithm) = other.forced.algorithm else {
            continue;
        };
        let rival = times(other);
        for (&bytes, &us) in own.iter().filter(|(bytes, _)| !known.contains_key(bytes)) {
            let same_protocol = paths
                .get(&bytes)
                .is_some_and(|path| path.candidate.protocol == protocol);
            let is_near = rival
                .get(&bytes)
                .is_some_and(|other| (us / other).ln().abs() <= tolerance(noise, bytes));
            let found = matches.entry(bytes).or_default();
            if same_protocol && is_near && !found.contains(&algorithm) {
                found.push(algorithm);
            }
        }
    }
    let Some(usual) = most_often_alone(&matches) else {
        return Paths::new();
    };
    matches
        .into_iter()
        .map(|(bytes, found)| {
            let (algorithm, basis) = match found[..] {
                [] => (usual, AttributionBasis::Assumed),
                [only] => (only, AttributionBasis::Consistent),
                _ if found.contains(&usual) => (usual, AttributionBasis::Consistent),
                [first, ..] => (first, AttributionBasis::Consistent),
            };
            let candidate = Candidate {
                algorithm,
                protocol,
            };
            (bytes, Attribution { candidate, basis })
        })
        .collect()
}

/// Returns the algorithm that is the only match at most sizes.
fn most_often_alone(matches: &BTreeMap<u64, Vec<NcclAlgorithm>>) -> Option<NcclAlgorithm> {
    let mut alone: BTreeMap<NcclAlgorithm, usize> = BTreeMap::new();
    for found in matches.values() {
        if let [only] = found[..] {
            *alone.entry(only).or_default() += 1;
        }
    }
    // The first of equals, in NCCL's order.
    let most = alone.values().copied().max()?;
    alone
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(algorithm, _)| algorithm)
}

fn times(sweep: &Sweep) -> BTreeMap<u64, f64> {
    let points = sweep.by_size().into_iter();
    points
        .map(|(bytes, point)| (bytes, point.time.get()))
        .collect()
}
