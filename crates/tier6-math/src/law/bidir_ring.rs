//! Rings that go both ways.

use super::{LawError, Wire, at_least_two, phase, phases};
use crate::Parts;
use tier6_collective::{BidirForm, Collective};
use tier6_units::Bytes;

/// Whether the two directions share a rank's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Egress {
    /// Each direction has a link of the wire's rate.
    OwnLinks,
    /// Both directions share one port of the wire's rate.
    Shared,
}

/// Returns the time of a bidirectional ring by whole messages.
///
/// *Split data*: 2(N-1) α and (N-1)/N M per direction; *short side*: 2 ceil((N-1)/2) α and the
/// same bytes. On a shared port both directions' bytes add up to a ring's: the document 004
/// ratio 1.06 (N = 4) to 1.44 (N = 32) at 16 MiB is then its latency alone. Source: FACTS B.1, B.9.
///
/// Domain: N >= 2; AllReduce, and half of it for ReduceScatter and AllGather.
///
/// # Errors
///
/// Outside the domain.
pub fn bidir_ring(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    form: BidirForm,
    egress: Egress,
) -> Result<Parts, LawError> {
    let n = at_least_two(ranks)?;
    let (phases, reducing) = phases("a bidirectional ring", collective)?;
    let steps = match form {
        BidirForm::SplitData => n - 1.0,
        BidirForm::ShortSide => f64::from(ranks / 2),
    };
    let share = match egress {
        Egress::OwnLinks => 0.5,
        Egress::Shared => 1.0,
    };
    let moved = phase(n, bytes);
    Ok(wire.sum(phases * steps, phases * share * moved, reducing * moved))
}
