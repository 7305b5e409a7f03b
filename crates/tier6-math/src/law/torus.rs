//! Direct networks of several dimensions, and Swing.

use super::{LawError, Wire, at_least_two, levels, phase, phases};
use crate::Parts;
use tier6_collective::{Collective, TorusPorts};
use tier6_units::Bytes;

/// Returns the time of the torus bucket: ring phases along the dimensions, `2 Σ(d_i - 1) α` and,
/// with the message split over all 2D ports, 2(N-1)/N M/(2D B); with one port the same bytes
/// through one link. Source: FACTS B.8.
///
/// Domain: dimensions of 2 or more, all equal for the bytes to be exact; B is one link's rate
/// per direction.
///
/// # Errors
///
/// Outside the domain.
pub fn torus_bucket(
    collective: Collective,
    dimensions: &[u32],
    bytes: Bytes,
    wire: &Wire,
    ports: TorusPorts,
) -> Result<Parts, LawError> {
    let ranks = dimensions
        .iter()
        .filter(|d| **d >= 2)
        .try_fold(1_u32, |n, d| n.checked_mul(*d));
    let is_whole = dimensions.iter().all(|d| *d >= 2) && !dimensions.is_empty();
    let (Some(ranks), true) = (ranks, is_whole) else {
        return Err(LawError::Torus(dimensions.to_vec()));
    };
    let (phases, reducing) = phases("a torus bucket", collective)?;
    let steps: f64 = dimensions.iter().map(|d| f64::from(d - 1)).sum();
    let used = match ports {
        TorusPorts::One => 1.0,
        TorusPorts::All => 2.0 * dimensions.len() as f64,
    };
    let moved = phase(f64::from(ranks), bytes);
    Ok(wire.sum(phases * steps, phases * moved / used, reducing * moved))
}

/// Returns the time of Swing on a full crossbar: 2 ceil(lg N) α + 2(N-1)/N M/B + (N-1)/N M γ,
/// for powers of two what halving-doubling takes. Its nearer partners pay on rings and tori, which
/// the engine's link loads see. Source: FACTS B.8; for other even N a block still arrives once.
///
/// Domain: even N.
///
/// # Errors
///
/// Outside the domain.
pub fn swing(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let (phases, reducing) = phases("swing", collective)?;
    if !ranks.is_multiple_of(2) {
        return Err(LawError::NeedsEven {
            law: "swing",
            ranks,
            hint: "use halving_doubling, which folds the other ranks, or ring",
        });
    }
    let moved = phase(n, bytes);
    Ok(wire.sum(phases * levels(ranks), phases * moved, reducing * moved))
}
