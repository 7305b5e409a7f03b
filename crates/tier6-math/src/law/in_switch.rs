//! Reduction and multicast in the switches: NVLS, NVLSTree, SHARP.

use super::{LawError, Wire, at_least_two, levels, time, us_per_byte};
use crate::Parts;
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec, Micros};

/// α and rate of an in-switch collective, fitted per platform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InSwitch {
    /// α: all that does not depend on the bytes, software included.
    pub alpha: Micros,
    /// Bytes per second, rank and direction.
    pub rate: GbPerSec,
}

impl InSwitch {
    fn line(&self, bytes: f64) -> Result<Parts, LawError> {
        Ok(Parts {
            latency: Micros::new(time(self.alpha)?),
            transfer: Micros::new(bytes * us_per_byte(self.rate)?),
            ..Parts::ZERO
        })
    }
}

/// Returns the time of NVLS: α + M(1 + 1/N)/`B_nvls` for AllReduce, since a rank serves all M to
/// the switch and stores its M/N besides; α + M/`B_nvls` for AllGather and ReduceScatter, which
/// move M one way and M/N the other. Source: FACTS B.6.
///
/// Domain: one switch that multicasts and reduces, `N >= 4`. Below, the law is slower than a
/// ring, and what is measured is a ring: the engine takes the faster of the two there.
///
/// # Errors
///
/// Outside the domain.
pub fn nvls(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    with: &InSwitch,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let m = bytes.as_f64();
    match collective {
        Collective::AllReduce => with.line(m * (1.0 + 1.0 / n)),
        Collective::AllGather | Collective::ReduceScatter => with.line(m),
        Collective::AllToAll
        | Collective::AllToAllV
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => Err(LawError::NotOffered {
            law: "nvls",
            collective,
            hint: "it is for all_reduce, all_gather and reduce_scatter",
        }),
    }
}

/// Returns `B_nvls` that a large AllReduce's bus bandwidth implies: busbw / (2(N-1)/N) times
/// (1 + 1/N). Source: FACTS B.6.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn nvls_rate(ranks: u32, busbw: GbPerSec) -> Result<GbPerSec, LawError> {
    let n = at_least_two(ranks)?;
    Ok(busbw.scaled((1.0 + 1.0 / n) / (2.0 * (n - 1.0) / n)))
}

/// Returns the time of NVLSTree, AllReduce over n nodes of g ranks: NVLS inside, a double tree
/// across on each rail, all in a pipeline. α + 2 ceil(lg n) `α_e` + the slower of
/// M(1 + 1/g)/`B_nvls` and the tree's 2(M/g)/`B_e`, or (M/g)/`B_e` for two nodes, which exchange.
/// Source: FACTS B.6.
///
/// Domain: n >= 2.
///
/// # Errors
///
/// Outside the domain.
pub fn nvls_tree(
    nodes: u32,
    per_node: u32,
    bytes: Bytes,
    inside: &InSwitch,
    across: &Wire,
) -> Result<Parts, LawError> {
    if nodes < 2 || per_node < 1 {
        return Err(LawError::Nodes {
            nodes,
            per_node,
            hint: "use nvls inside one node",
        });
    }
    let g = f64::from(per_node);
    let m = bytes.as_f64();
    let passes = if nodes == 2 { 1.0 } else { 2.0 };
    let inside = inside.line(m * (1.0 + 1.0 / g))?;
    let tree = across.sum(2.0 * levels(nodes), passes * m / g, 0.0);
    Ok(Parts {
        latency: Micros::new(inside.latency.get() + tree.latency.get()),
        transfer: Micros::new(inside.transfer.get().max(tree.transfer.get())),
        ..Parts::ZERO
    })
}

/// Returns the time of NVLS over several nodes, AllReduce with aggregation in the network between
/// them, all in a pipeline: the two α with one call's software, and the slower of
/// M(1 + 1/g)/`B_nvls` inside and M/(R `B_nic`) across. Source: FACTS B.6 and B.7.
///
/// Domain: n >= 2, and switches that reduce on both levels.
///
/// # Errors
///
/// Outside the domain.
pub fn nvls_sharp(
    per_node: u32,
    bytes: Bytes,
    inside: &InSwitch,
    across: &InSwitch,
    software: Micros,
) -> Result<Parts, LawError> {
    if per_node < 1 {
        return Err(LawError::Nodes {
            nodes: 2,
            per_node,
            hint: "a node has at least 1 rank",
        });
    }
    let m = bytes.as_f64();
    let inside = inside.line(m * (1.0 + 1.0 / f64::from(per_node)))?;
    let across = sharp(bytes, across)?;
    let both = across.latency.get() + (inside.latency.get() - time(software)?).max(0.0);
    Ok(Parts {
        latency: Micros::new(both),
        transfer: Micros::new(inside.transfer.get().max(across.transfer.get())),
        ..Parts::ZERO
    })
}

/// Returns the time of streaming aggregation in the network (SHARP): α + M/(R `B_nic`), whatever
/// the number of nodes; `with.rate` is that of a node's NICs together. Source: FACTS B.7.
///
/// Domain: NICs slower than what feeds them inside the node; contexts free in the switches.
///
/// # Errors
///
/// When the rate is not above 0.
pub fn sharp(bytes: Bytes, with: &InSwitch) -> Result<Parts, LawError> {
    with.line(bytes.as_f64())
}
