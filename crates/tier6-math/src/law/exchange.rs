//! AllToAll, and the AllReduce of custom kernels: few steps, many peers.

use super::{LawError, Wire, at_least_two, levels, phase, phases};
use crate::Parts;
use tier6_collective::Collective;
use tier6_units::Bytes;

/// Returns the time of N - 1 pairwise exchanges: (N-1) α + (N-1)/N M/B. Source: FACTS B.1.
///
/// Domain: a full crossbar; on a ring times [`ring_contention`].
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn pairwise(ranks: u32, bytes: Bytes, wire: &Wire) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    Ok(wire.sum(n - 1.0, phase(n, bytes), 0.0))
}

/// Returns the time of all N - 1 blocks at once: α + (N-1)/N M/B [+ (N-1)/N M γ].
/// Source: FACTS B.1.
///
/// Domain: AllToAll, AllGather and ReduceScatter on a full crossbar with N - 1 messages under
/// way; incast and queue pairs are not in it.
///
/// # Errors
///
/// Outside the domain.
pub fn direct(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let moved = phase(at_least_two(ranks)?, bytes);
    match collective {
        Collective::AllToAll => Ok(wire.sum(1.0, moved, 0.0)),
        Collective::AllReduce => Err(LawError::NotOffered {
            law: "a direct exchange",
            collective,
            hint: "direct reduce-scatter and all-gather together are two_shot",
        }),
        _ => {
            let (_, reducing) = phases("a direct exchange", collective)?;
            Ok(wire.sum(1.0, moved, reducing * moved))
        }
    }
}

/// Returns the time of Bruck's algorithm. AllToAll ceil(lg N) α and, per bit of the distance,
/// the blocks whose distance has the bit (lg N M/2 for powers of two); AllGather
/// ceil(lg N) α + (N-1)/N M/B, ReduceScatter the same backwards. Source: FACTS B.1.
///
/// Domain: any N >= 2, a full crossbar.
///
/// # Errors
///
/// Outside the domain.
pub fn bruck(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let steps = levels(ranks);
    if collective == Collective::AllToAll {
        let blocks: u64 = (1..u64::from(ranks))
            .map(|d| u64::from(d.count_ones()))
            .sum();
        return Ok(wire.sum(steps, blocks as f64 / n * bytes.as_f64(), 0.0));
    }
    gather_in_levels("bruck", collective, ranks, bytes, wire)
}

/// Returns the time of PAT with unlimited aggregation: ceil(lg N) α + (N-1)/N M/B.
/// Source: FACTS B.8.
///
/// Domain: AllGather and ReduceScatter, any N >= 2; NCCL runs it with one rank per node.
///
/// # Errors
///
/// Outside the domain.
pub fn pat(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    gather_in_levels("pat", collective, ranks, bytes, wire)
}

fn gather_in_levels(
    law: &'static str,
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let moved = phase(at_least_two(ranks)?, bytes);
    let (count, reducing) = phases(law, collective)?;
    if count > 1.0 {
        return Err(LawError::NotOffered {
            law,
            collective,
            hint: "use it for reduce_scatter and all_gather one after the other",
        });
    }
    Ok(wire.sum(levels(ranks), moved, reducing * moved))
}

/// Returns the time of one-shot AllReduce: α + (N-1) M/B + (N-1) M γ. Source: FACTS B.1.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn one_shot(ranks: u32, bytes: Bytes, wire: &Wire) -> Result<Parts, LawError> {
    let moved = (at_least_two(ranks)? - 1.0) * bytes.as_f64();
    Ok(wire.sum(1.0, moved, moved))
}

/// Returns the time of two-shot AllReduce: 2 α + 2(N-1)/N M/B + (N-1)/N M γ. Source: FACTS B.1.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn two_shot(ranks: u32, bytes: Bytes, wire: &Wire) -> Result<Parts, LawError> {
    let moved = phase(at_least_two(ranks)?, bytes);
    Ok(wire.sum(2.0, 2.0 * moved, moved))
}

/// Returns `f_contention(N)` of source document 004: by how much a ring of links in both
/// directions stretches the transfer of [`pairwise`] against a crossbar. N^2/(4(N-1)) for even
/// N, (N+1)/4 for odd N. Source: FACTS B.4, and the same sum of shortest distances for odd N.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn ring_contention(ranks: u32) -> Result<f64, LawError> {
    let n = at_least_two(ranks)?;
    Ok(if ranks.is_multiple_of(2) {
        n * n / (4.0 * (n - 1.0))
    } else {
        (n + 1.0) / 4.0
    })
}
