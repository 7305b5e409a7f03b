//! Which path a measured run took at each size, and how that is known.
//!
//! Known for sure is a path column, a log, or a run with both variables forced. NCCL's own
//! model tells as well, when the communicator is given: it is exact. Without either, a run under
//! `NCCL_ALGO=Ring` is held against the runs under `NCCL_PROTO`: where it takes as long as
//! exactly one of them, it is consistent with that protocol, and that run with Ring. Where it
//! equals none of them, the order of protocols may tell: LL, LL128 and Simple have rising
//! latencies and rising bandwidths, so NCCL takes them in this order as sizes grow. And where one
//! protocol was not measured, it is that one by elimination, if the order allows it. All of
//! this may be wrong, for two paths may take equally long; so none of it ever shows LL128, which
//! may corrupt data where NCCL does not use it by itself.

use super::prediction::modelled;
use super::sweep::is_time;
use super::{Noise, Sweep};
use std::collections::BTreeMap;
use tier6_collective::Protocol;
use tier6_nccl::{Candidate, CostTable, NcclAlgorithm, NcclCollective};

/// Two times that differ by less than this never tell paths apart.
const TOLERANCE_MIN: f64 = 0.05;
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
    /// A smaller size took Simple, or a larger one LL.
    Ordered,
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
            Self::Ordered => "ordered",
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
            Self::Assumed | Self::Eliminated | Self::Ordered | Self::Consistent => false,
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
    let open: Vec<(u64, Vec<(Protocol, f64)>)> = times(sweep)
        .into_iter()
        .filter(|(bytes, _)| !known.contains_key(bytes))
        .map(|(bytes, us)| {
            let distances = rivals.iter().filter_map(|(protocol, rival)| {
                Some((*protocol, (us / rival.get(&bytes)?).ln().abs()))
            });
            (bytes, distances.collect())
        })
        .collect();
    let consistent: BTreeMap<u64, Protocol> = open
        .iter()
        .filter_map(|(bytes, distances)| {
            let near = tolerance(noise, *bytes);
            Some((*bytes, nearest_plain(distances, near)?))
        })
        .collect();
    let order = Order::of(&consistent);
    open.iter()
        .filter_map(|(bytes, distances)| {
            let near = tolerance(noise, *bytes);
            let (protocol, basis) = if let Some(protocol) = order.tells(*bytes) {
                let is_equal = consistent.get(bytes) == Some(&protocol);
                let basis = if is_equal {
                    AttributionBasis::Consistent
                } else {
                    AttributionBasis::Ordered
                };
                (protocol, basis)
            } else {
                let protocol = the_unmeasured(distances, near)?;
                (protocol, AttributionBasis::Eliminated)
            };
            let candidate = Candidate {
                algorithm,
                protocol,
            };
            Some((*bytes, Attribution { candidate, basis }))
        })
        .collect()
}

/// What the order of protocols says: LL below some size, Simple above.
struct Order {
    /// The largest size on LL.
    ll_to: Option<u64>,
    /// The smallest size on Simple.
    simple_from: Option<u64>,
}

impl Order {
    /// Drops the fewest sizes that contradict the order, as a time may equal another by chance.
    fn of(protocols: &BTreeMap<u64, Protocol>) -> Self {
        let contradict = |split: u64| {
            let wrong = protocols.iter().filter(|(bytes, protocol)| {
                let wanted = if **bytes < split {
                    Protocol::Ll
                } else {
                    Protocol::Simple
                };
                **protocol != wanted
            });
            wrong.count()
        };
        let splits = protocols.keys().copied().chain([u64::MAX]);
        let split = splits.min_by_key(|split| contradict(*split)).unwrap_or(0);
        let sizes = |wanted| {
            let all = protocols.iter();
            all.filter(move |(_, protocol)| **protocol == wanted)
                .map(|(bytes, _)| *bytes)
        };
        Self {
            ll_to: sizes(Protocol::Ll).filter(|bytes| *bytes < split).max(),
            simple_from: sizes(Protocol::Simple).find(|bytes| *bytes >= split),
        }
    }

    /// Returns the protocol at a size; `None` between the two.
    fn tells(&self, bytes: u64) -> Option<Protocol> {
        if self.ll_to.is_some_and(|to| bytes <= to) {
            Some(Protocol::Ll)
        } else if self.simple_from.is_some_and(|from| bytes >= from) {
            Some(Protocol::Simple)
        } else {
            None
        }
    }
}

/// Returns the nearest protocol other than LL128 within the tolerance.
fn nearest_plain(distances: &[(Protocol, f64)], near: f64) -> Option<Protocol> {
    distances
        .iter()
        .filter(|(protocol, distance)| *protocol != Protocol::Ll128 && *distance <= near)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(protocol, _)| *protocol)
}

/// Returns the one protocol that was not measured, when the time is far from all that were: what
/// is left over must not be a run that was merely slow.
fn the_unmeasured(distances: &[(Protocol, f64)], near: f64) -> Option<Protocol> {
    let mut open = Protocol::ALL
        .into_iter()
        .filter(|protocol| distances.iter().all(|(measured, _)| measured != protocol));
    let only = open.next().filter(|only| *only != Protocol::Ll128)?;
    let equals_none = distances.iter().all(|(_, distance)| *distance > 2.0 * near);
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

/// Returns the times by size, the geometric mean of both placements, which take one path.
fn times(sweep: &Sweep) -> BTreeMap<u64, f64> {
    let points = sweep.by_size().into_iter();
    points
        .map(|(bytes, point)| {
            let us = point.time.get();
            let other = point.other_placement.filter(|other| is_time(*other));
            (bytes, other.map_or(us, |other| (us * other.get()).sqrt()))
        })
        .collect()
}
