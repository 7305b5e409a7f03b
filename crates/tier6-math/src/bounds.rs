//! Lower bounds: no algorithm, and so no prediction, is faster (FACTS B.0).

use crate::law::{LawError, Wire};
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec, Micros};

/// Who adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adder {
    /// The ranks.
    Ranks,
    /// The switches: ranks inject and eject M once.
    Network,
}

/// The three bounds of a call; each holds by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Dependent messages that information needs to reach every rank.
    pub latency: Micros,
    /// Bytes that a rank must send or receive.
    pub bandwidth: Micros,
    /// Bytes that some rank must add.
    pub compute: Micros,
}

impl Bound {
    /// Returns the largest of the three.
    pub fn time(&self) -> Micros {
        let larger = self.latency.get().max(self.bandwidth.get());
        Micros::new(larger.max(self.compute.get()))
    }
}

/// Returns the bounds of FACTS B.0 for ranks with `ports` simultaneous messages and the rate of
/// the wire over all ports together: ceil(log_{p+1} N) α, the bytes of the table, and
/// (N-1)/N M γ where something is added.
///
/// # Errors
///
/// When there are fewer than 2 ranks.
pub fn lower_bound(
    collective: Collective,
    ranks: u32,
    bytes: Bytes,
    wire: &Wire,
    ports: u32,
    adder: Adder,
) -> Result<Bound, LawError> {
    if ranks < 2 {
        return Err(LawError::Ranks { ranks });
    }
    let (n, m) = (f64::from(ranks), bytes.as_f64());
    let phase = (n - 1.0) / n * m;
    let (moved, added) = match collective {
        Collective::AllReduce => (2.0 * phase, phase),
        Collective::ReduceScatter => (phase, phase),
        Collective::AllGather
        | Collective::AllToAll
        | Collective::AllToAllV
        | Collective::HyperCube
        | Collective::Gather
        | Collective::Scatter => (phase, 0.0),
        Collective::Broadcast | Collective::SendRecv => (m, 0.0),
        Collective::Reduce => (m, phase),
    };
    let steps = match (collective, adder) {
        (Collective::SendRecv, _) | (_, Adder::Network) => 1,
        (_, Adder::Ranks) => dissemination(ranks, ports),
    };
    // The network hands a rank M for the M that it gives.
    let (moved, added) = match adder {
        Adder::Ranks => (moved, added),
        Adder::Network => (moved.min(m), 0.0),
    };
    Ok(Bound {
        latency: Micros::new(f64::from(steps) * wire.alpha_us),
        bandwidth: Micros::new(moved * wire.us_per_byte),
        compute: Micros::new(added * wire.reduce_us_per_byte),
    })
}

/// Returns the least time of AllToAll across a cut of `rate` per direction that halves the
/// ranks: N/4 M. On a ring of links b per direction the cut is 2b, and the bound N M/(8b).
/// Source: FACTS B.0.
///
/// # Errors
///
/// When there are fewer than 2 ranks or the rate is not above 0.
pub fn all_to_all_cut(ranks: u32, bytes: Bytes, rate: GbPerSec) -> Result<Micros, LawError> {
    if ranks < 2 {
        return Err(LawError::Ranks { ranks });
    }
    let lower = f64::from(ranks / 2);
    let pairs = lower * (f64::from(ranks) - lower);
    let across = pairs / f64::from(ranks) * bytes.as_f64();
    Ok(Micros::new(across * crate::law::us_per_byte(rate)?))
}

/// Returns ceil(log_{p+1} N): after each step p + 1 times as many ranks may know.
fn dissemination(ranks: u32, ports: u32) -> u32 {
    let growth = u64::from(ports.max(1)) + 1;
    let mut reached = 1_u64;
    let mut steps = 0;
    while reached < u64::from(ranks) {
        reached *= growth;
        steps += 1;
    }
    steps
}
