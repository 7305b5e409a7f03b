//! Trees and chains: Broadcast, Reduce, and AllReduce on two binary trees.

use super::{LawError, Wire, at_least_two, levels, phase};
use crate::Parts;
use std::num::NonZeroU32;
use tier6_collective::Collective;
use tier6_units::Bytes;

/// Returns the time of a binomial tree. Broadcast and Reduce ceil(lg N)(α + M/B [+ M γ]); Gather
/// and Scatter ceil(lg N) α + (N-1)/N M/B, the bytes of the root. Source: FACTS B.0, B.1.
///
/// Domain: N >= 2, a full crossbar; Gather and Scatter of powers of two (others end a little
/// higher).
///
/// # Errors
///
/// Outside the domain.
pub fn binomial(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let steps = levels(ranks);
    let m = bytes.as_f64();
    match collective {
        Collective::Broadcast => Ok(wire.sum(steps, steps * m, 0.0)),
        Collective::Reduce => Ok(wire.sum(steps, steps * m, steps * m)),
        Collective::Gather | Collective::Scatter if ranks.is_power_of_two() => {
            Ok(wire.sum(steps, phase(n, bytes), 0.0))
        }
        Collective::Gather | Collective::Scatter => Err(LawError::NeedsPowerOfTwo {
            law: "a binomial tree's gather or scatter",
            ranks,
            hint: "use direct or pairwise, or the engine, which follows the schedule",
        }),
        Collective::AllReduce
        | Collective::AllGather
        | Collective::ReduceScatter
        | Collective::AllToAll
        | Collective::AllToAllV
        | Collective::SendRecv
        | Collective::HyperCube => Err(LawError::NotOffered {
            law: "a binomial tree",
            collective,
            hint: "it is for broadcast, reduce, gather and scatter",
        }),
    }
}

/// Returns the time of a chain in K pieces: (N-2+K)(α + M/(K B) [+ M γ/K]). Source: FACTS B.1.
///
/// Domain: N >= 2; Broadcast and Reduce.
///
/// # Errors
///
/// Outside the domain.
pub fn chain(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    pieces: NonZeroU32,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let k = f64::from(pieces.get());
    let steps = n - 2.0 + k;
    let moved = steps * bytes.as_f64() / k;
    match collective {
        Collective::Broadcast => Ok(wire.sum(steps, moved, 0.0)),
        Collective::Reduce => Ok(wire.sum(steps, moved, moved)),
        Collective::AllReduce
        | Collective::AllGather
        | Collective::ReduceScatter
        | Collective::AllToAll
        | Collective::AllToAllV
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => Err(LawError::NotOffered {
            law: "a chain",
            collective,
            hint: "it is for broadcast and reduce",
        }),
    }
}

/// Returns K* = sqrt((N-2) M/(α B)), the pieces with which a [`chain`] is fastest, rounded to
/// the better neighbour and at most one per byte. Source: FACTS B.1.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn best_pieces(ranks: u32, bytes: Bytes, wire: &Wire) -> Result<NonZeroU32, LawError> {
    let n = at_least_two(ranks)?;
    let most = u32::try_from(bytes.get()).unwrap_or(u32::MAX).max(1);
    let ideal = ((n - 2.0) * bytes.as_f64() * wire.us_per_byte / wire.alpha_us).sqrt();
    // A free step makes the ideal infinite, and a chain of two ranks and free steps 0/0: the
    // cast saturates and takes NaN to 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the number of bytes"
    )]
    let floor = (ideal.floor() as u32).clamp(1, most);
    let time = |k: NonZeroU32| chain(Collective::Broadcast, ranks, bytes, wire, k);
    let floor = NonZeroU32::new(floor).ok_or(LawError::Pieces)?;
    let above = NonZeroU32::new(floor.get().saturating_add(1).min(most)).unwrap_or(floor);
    let is_above_better = time(above)?.total().get() < time(floor)?.total().get();
    Ok(if is_above_better { above } else { floor })
}

/// Returns the time of Broadcast as a binomial Scatter and a ring AllGather:
/// (ceil(lg N) + N - 1) α + 2(N-1)/N M/B. Source: FACTS B.1.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn scatter_all_gather(ranks: u32, bytes: Bytes, wire: &Wire) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    Ok(wire.sum(levels(ranks) + n - 1.0, 2.0 * phase(n, bytes), 0.0))
}

/// Returns the time of AllReduce on the double binary tree with `num_chunks` pieces per tree:
/// 2 ceil(lg N)(α + c/B) + (K-1)/K 2 M/B + (1 + (K-1)/K) M γ / 2, c = M/(2K).
///
/// One piece is source document 004's theory, lg N M/B; many pieces reach 2 M/B, which is NCCL's
/// algorithm, whose injection per rank is 2 M for every N. Source: FACTS B.3.
///
/// Domain: N >= 2, a full crossbar. One piece charges one child per step; a rank that feeds two
/// children at once needs longer, which the engine's link loads see.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn double_binary_tree(
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    pieces: NonZeroU32,
) -> Result<Parts, LawError> {
    at_least_two(ranks)?;
    let (k, m, depth) = (f64::from(pieces.get()), bytes.as_f64(), levels(ranks));
    let piece = m / (2.0 * k);
    let fill = wire.sum(2.0 * depth, 2.0 * depth * piece, depth * piece);
    Ok(fill.then(wire.sum(0.0, (k - 1.0) / k * 2.0 * m, (k - 1.0) / k * m)))
}
