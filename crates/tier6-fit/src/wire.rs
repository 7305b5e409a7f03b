//! What the cable really carried when a switch reduced on the way.
//!
//! busbw scales algbw by what a ring would send. With reduction in the switch each rank sends
//! and receives fewer bytes, so busbw may exceed the line rate without anything being wrong:
//! the expected value then is algbw x (1 + 1/N) on the wire (FACTS B.6; NCCL maintainer in
//! NVIDIA/nccl#1506).

use tier6_collective::{Algorithm, Collective, Path};
use tier6_measure::Series;
use tier6_units::GbPerSec;

/// Share of the line rate above which an AllReduce on NVLink is not a ring (FACTS E.7).
pub(crate) const RING_SHARE_MAX: f64 = 0.94;

/// Returns what each rank's link carried per direction in an NVLS AllReduce: every rank serves
/// the switch's reads of all M bytes and writes its own M/N. `ranks` counts those under one switch.
///
/// ```
/// use tier6_fit::nvls_wire;
/// use tier6_units::GbPerSec;
/// // 473.1 GB/s busbw on 8 GPUs are 270.3 GB/s algbw and about 304 GB/s on the wire.
/// assert!((nvls_wire(GbPerSec::new(473.1 / 1.75), 8).get() - 304.1).abs() < 0.1);
/// ```
pub fn nvls_wire(algbw: GbPerSec, ranks: u32) -> GbPerSec {
    algbw.scaled(1.0 + 1.0 / f64::from(ranks.max(1)))
}

/// Returns the wire bandwidth where it differs from busbw and is known: AllReduce on a path
/// that reduces in a switch.
pub(crate) fn wire_bandwidth(
    series: &Series,
    path: Option<Path>,
    algbw: GbPerSec,
) -> Option<GbPerSec> {
    if series.collective != Some(Collective::AllReduce) {
        return None;
    }
    let ranks = series.ranks.exact()?;
    match path?.algorithm {
        Algorithm::Nvls => Some(nvls_wire(algbw, ranks)),
        // NVLS inside the node; the tree across nodes runs on other links.
        Algorithm::NvlsTree => {
            let nodes = series.nodes.filter(|nodes| *nodes > 0)?;
            Some(nvls_wire(algbw, ranks / nodes))
        }
        // Streaming aggregation: each node's links carry M up and M down (FACTS B.7).
        Algorithm::CollNetDirect | Algorithm::CollNetChain => Some(algbw),
        Algorithm::Ring
        | Algorithm::BidirRing
        | Algorithm::Tree
        | Algorithm::HalvingDoubling
        | Algorithm::RecursiveDoubling
        | Algorithm::SendRecvRing
        | Algorithm::Pairwise
        | Algorithm::Bruck
        | Algorithm::Direct
        | Algorithm::OneShot
        | Algorithm::TwoShot
        | Algorithm::Hierarchical
        | Algorithm::Pat
        | Algorithm::Binomial
        | Algorithm::ScatterAllGather
        | Algorithm::TorusBucket
        | Algorithm::Swing => None,
    }
}
