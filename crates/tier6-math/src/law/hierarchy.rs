//! Two levels: nodes of ranks, and what crosses between them.

use super::{LawError, Wire, phase, phases, us_per_byte};
use crate::Parts;
use std::num::NonZeroU32;
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec};

/// n nodes of g ranks with a wire inside and a rail per rank across.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hierarchy {
    /// n.
    pub nodes: u32,
    /// g.
    pub per_node: u32,
    /// Inside a node.
    pub inside: Wire,
    /// Across, per rank.
    pub across: Wire,
}

/// How the stages of a hierarchy follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// The whole message finishes a stage before the next one starts.
    Serial,
    /// In K pieces: the stages of different pieces run side by side.
    Chunked(NonZeroU32),
    /// The limit of many pieces: one pass for latency, and the longest stage for bytes.
    Full,
}

/// Returns the time of the hierarchical ring: ReduceScatter inside, AllReduce of M/g across,
/// AllGather inside.
///
/// Serial: 2(g-1) `α_i` + 2(g-1)/g `M/B_i` + 2(n-1) `α_e` + 2(n-1)/n `(M/g)/B_e`. Chunked: the
/// stages of one piece plus (K-1) times the longest. Full: latency once, and the longest stage,
/// the two stages inside counted together since they share the links. Source: FACTS B.5.
///
/// Domain: n >= 2, g >= 1; AllReduce, ReduceScatter and AllGather.
///
/// # Errors
///
/// Outside the domain.
pub fn hierarchical(
    collective: Collective,
    bytes: Bytes,
    of: &Hierarchy,
    overlap: Overlap,
) -> Result<Parts, LawError> {
    let (n, g) = (f64::from(of.nodes), f64::from(of.per_node));
    if of.nodes < 2 || of.per_node < 1 {
        return Err(LawError::Nodes {
            nodes: of.nodes,
            per_node: of.per_node,
            hint: "a hierarchy has at least 2 nodes; use ring inside one node",
        });
    }
    let (_, reducing) = phases("a hierarchical ring", collective)?;
    let inside = phase(g, bytes);
    let across = phase(n, bytes) / g;
    let gathering = f64::from(u8::from(collective != Collective::ReduceScatter));
    let passes = reducing + gathering;
    let stages = [
        of.inside.sum(g - 1.0, inside, inside).repeated(reducing),
        of.across
            .sum(passes * (n - 1.0), passes * across, reducing * across),
        of.inside.sum(g - 1.0, inside, 0.0).repeated(gathering),
    ];
    let floor = [
        of.inside.sum(0.0, passes * inside, reducing * inside),
        of.across.sum(0.0, passes * across, reducing * across),
    ];
    Ok(overlapped(&stages, &floor, overlap))
}

/// Returns stages under an overlap; `floor` holds what each resource must do in all, without
/// latency.
pub(crate) fn overlapped(stages: &[Parts; 3], floor: &[Parts; 2], overlap: Overlap) -> Parts {
    match overlap {
        Overlap::Serial => in_turn(stages),
        Overlap::Full => {
            let latency = Parts {
                latency: in_turn(stages).latency,
                ..Parts::ZERO
            };
            let bytes = stages.map(without_latency);
            latency.then(longer(longest(&bytes), longest(floor)))
        }
        Overlap::Chunked(pieces) => {
            let k = f64::from(pieces.get());
            let piece = |parts: Parts| Parts {
                latency: parts.latency,
                ..parts.repeated(1.0 / k)
            };
            let stages = stages.map(piece);
            // The next piece leaves when the busiest stage, and the busiest resource, is free.
            let next = longer(longest(&stages), longest(&floor.map(piece)));
            in_turn(&stages).then(next.repeated(k - 1.0))
        }
    }
}

fn in_turn(parts: &[Parts]) -> Parts {
    parts.iter().fold(Parts::ZERO, |sum, part| sum.then(*part))
}

fn longest(parts: &[Parts]) -> Parts {
    parts.iter().copied().fold(Parts::ZERO, longer)
}

fn longer(a: Parts, b: Parts) -> Parts {
    if b.total().get() > a.total().get() {
        b
    } else {
        a
    }
}

fn without_latency(parts: Parts) -> Parts {
    Parts {
        latency: Parts::ZERO.latency,
        ..parts
    }
}

/// Returns the bus bandwidth of a flat ring with many channels across nodes,
/// min(`B_nvl`, R `B_nic`): each channel crosses each node once in and once out. Source: FACTS B.5.
///
/// Domain: R NICs per node, at least one; channels spread evenly over them.
///
/// # Errors
///
/// When a rate is not above 0 or there is no NIC.
pub fn flat_ring_rate(
    inside: GbPerSec,
    nic: GbPerSec,
    nics_per_node: u32,
) -> Result<GbPerSec, LawError> {
    us_per_byte(inside)?;
    let out = nic.scaled(f64::from(nics_per_node));
    us_per_byte(out)?;
    Ok(GbPerSec::new(inside.get().min(out.get())))
}

/// Returns the bus bandwidth of AllToAll across nodes,
/// `B_nic` R/g (N-1)/((n-1) g): what leaves a node shares its NICs. Source: FACTS B.5.
///
/// Domain: n >= 2 nodes, and NICs slower than the links inside.
///
/// # Errors
///
/// Outside the domain.
pub fn all_to_all_across(
    nodes: u32,
    per_node: u32,
    nic: GbPerSec,
    nics_per_node: u32,
) -> Result<GbPerSec, LawError> {
    if nodes < 2 || per_node < 1 {
        return Err(LawError::Nodes {
            nodes,
            per_node,
            hint: "use direct inside one node",
        });
    }
    us_per_byte(nic.scaled(f64::from(nics_per_node)))?;
    let (n, g) = (f64::from(nodes), f64::from(per_node));
    let per_rank = f64::from(nics_per_node) / g;
    Ok(nic.scaled(per_rank * (n * g - 1.0) / ((n - 1.0) * g)))
}
