//! Rings and the rings with a rendezvous in each step.

use super::{LawError, Wire, at_least_two, chain, phase, phases};
use crate::Parts;
use crate::pace::{Pace, stream};
use std::num::NonZeroU32;
use tier6_collective::{Collective, Grain};
use tier6_units::{Bytes, Micros};

/// Returns the time of a ring.
///
/// With C = M/(N B) and α = l + o, by whole messages the sum
/// 2(N-1)(α + C) + (N-1)/N M γ; by slices of s bytes the max law
/// 2(N-1) max(C, α + s/B, C B γ) + tail (N - 1 steps for AllGather and ReduceScatter). Broadcast
/// and Reduce are a [`chain`] of as many pieces as there are slices. Source: FACTS B.1, B.2.
///
/// Domain: N >= 2; links between ring neighbours that nobody else uses.
///
/// # Errors
///
/// Outside the domain.
pub fn ring(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    grain: Grain,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    if matches!(collective, Collective::Broadcast | Collective::Reduce) {
        return chain(collective, ranks, bytes, wire, pieces(bytes, grain)?);
    }
    let (phases, reducing) = phases("ring", collective)?;
    let Grain::Slices { bytes: slice } = grain else {
        let moved = phase(n, bytes);
        return Ok(wire.sum(phases * (n - 1.0), phases * moved, reducing * moved));
    };
    if slice == 0 {
        return Err(LawError::EmptySlice);
    }
    let chunk = bytes.as_f64() / n;
    let step = Pace {
        repeat: n - 1.0,
        chunk: chunk * wire.us_per_byte,
        own: chunk * wire.us_per_byte,
        slice: chunk.min(slice as f64) * wire.us_per_byte,
        hop: wire.alpha_us,
        reduction: 0.0,
    };
    let reduce = Pace {
        reduction: chunk * wire.reduce_us_per_byte,
        ..step
    };
    let steps = match collective {
        Collective::AllReduce => vec![reduce, step],
        Collective::ReduceScatter => vec![reduce],
        _ => vec![step],
    };
    Ok(stream(steps.into_iter()))
}

/// Returns the time of a ring that shakes hands in every step: each waits for the receiver's
/// credit and its answer, two more flights. Source: FACTS B.1.
///
/// Domain: as [`ring`], by whole messages; `flight` is the one-way time of a credit.
///
/// # Errors
///
/// Outside the domain.
pub fn send_recv_ring(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    flight: Micros,
) -> Result<Parts, LawError> {
    let slower = Wire {
        alpha_us: wire.alpha_us + 2.0 * super::time(flight)?,
        ..*wire
    };
    ring(collective, ranks, bytes, &slower, Grain::Message)
}

/// Returns how many pieces a message is forwarded in.
fn pieces(bytes: Bytes, grain: Grain) -> Result<NonZeroU32, LawError> {
    match grain {
        Grain::Message => Ok(NonZeroU32::MIN),
        Grain::Slices { bytes: 0 } => Err(LawError::EmptySlice),
        Grain::Slices { bytes: slice } => {
            let pieces = u32::try_from(bytes.get().div_ceil(slice)).unwrap_or(u32::MAX);
            Ok(NonZeroU32::new(pieces).unwrap_or(NonZeroU32::MIN))
        }
    }
}
