//! Exchanges over distances that double or halve.

use super::{LawError, Wire, at_least_two, levels, phase, phases};
use crate::Parts;
use tier6_collective::Collective;
use tier6_units::Bytes;

/// Returns the time of recursive halving and doubling (Rabenseifner):
/// 2 lg N α + 2(N-1)/N M/B + (N-1)/N M γ, half of it for ReduceScatter and AllGather.
///
/// AllReduce of other than powers of two folds the N - p extra ranks in and out, p the power
/// below: 2 α + 2 M/B + M γ more (the plain form). Source: FACTS B.1.
///
/// Domain: N >= 2, a full crossbar; ReduceScatter and AllGather for powers of two.
///
/// # Errors
///
/// Outside the domain.
pub fn halving_doubling(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    at_least_two(ranks)?;
    let (phases, reducing) = phases("halving-doubling", collective)?;
    if !ranks.is_power_of_two() && collective != Collective::AllReduce {
        return Err(LawError::NeedsPowerOfTwo {
            law: "halving-doubling",
            ranks,
            hint: "use bruck or ring for this collective",
        });
    }
    let core = 1_u32 << ranks.ilog2();
    let moved = phase(f64::from(core), bytes);
    let parts = wire.sum(
        phases * f64::from(core.ilog2()),
        phases * moved,
        reducing * moved,
    );
    Ok(parts.then(folds(ranks, bytes, wire)))
}

/// Returns the time of recursive doubling: AllReduce lg N (α + M/B + M γ), with the folds of
/// [`halving_doubling`] for other than powers of two; AllGather lg N α + (N-1)/N M/B.
/// Source: FACTS B.1.
///
/// Domain: N >= 2, a full crossbar; AllGather for powers of two.
///
/// # Errors
///
/// Outside the domain.
pub fn recursive_doubling(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    match collective {
        Collective::AllReduce => {
            let steps = f64::from(ranks.ilog2());
            let moved = steps * bytes.as_f64();
            let parts = wire.sum(steps, moved, moved);
            Ok(parts.then(folds(ranks, bytes, wire)))
        }
        Collective::AllGather | Collective::HyperCube if ranks.is_power_of_two() => {
            Ok(wire.sum(levels(ranks), phase(n, bytes), 0.0))
        }
        Collective::AllGather | Collective::HyperCube => Err(LawError::NeedsPowerOfTwo {
            law: "recursive doubling",
            ranks,
            hint: "use bruck, which gathers among any number of ranks",
        }),
        Collective::ReduceScatter
        | Collective::AllToAll
        | Collective::AllToAllV
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter => Err(LawError::NotOffered {
            law: "recursive doubling",
            collective,
            hint: "it is for all_reduce and all_gather",
        }),
    }
}

/// What the ranks beyond a power of two cost.
fn folds(ranks: u32, bytes: Bytes, wire: &Wire) -> Parts {
    if ranks.is_power_of_two() {
        return Parts::ZERO;
    }
    let m = bytes.as_f64();
    wire.sum(2.0, 2.0 * m, m)
}
