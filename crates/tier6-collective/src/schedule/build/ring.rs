//! Rings: AllReduce, ReduceScatter, AllGather; the chain for Broadcast and Reduce.
//!
//! Aligned form: in step k of the ReduceScatter position p sends block p - k - 1 to p + 1, and
//! ends with block p; in step k of the AllGather it sends block p - k. (FACTS B.1 numbers the
//! blocks one higher, so that p ends with p + 1; the traffic is the same, and this form needs no
//! relabelling to be a ReduceScatter.) AllReduce is one after the other.
//!
//! `send_recv_ring` is the same ring with a rendezvous per step: a rank also finishes its own
//! send before the next step.

use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece, StepIds};
use crate::{Algorithm, Collective};

use super::{Job, chain, direct};

/// When a rank of a ring starts its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// When the block to send has arrived.
    Arrival,
    /// When its own send of the step before is complete as well.
    OwnSend,
}

/// Members in the order of the ring; each sends to the next.
pub(super) struct Ring {
    pub(super) members: Vec<u32>,
    pub(super) port: PortId,
    pub(super) pace: Pace,
}

pub(super) fn build(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let pace = match job.algorithm {
        Algorithm::SendRecvRing => Pace::OwnSend,
        _ => Pace::Arrival,
    };
    if job.collective == Collective::SendRecv {
        return direct::shift(job);
    }
    if matches!(job.collective, Collective::Broadcast | Collective::Reduce) {
        return chain::build(job, pace);
    }
    let ring = Ring {
        members: (0..ranks).collect(),
        port: PortId(0),
        pace,
    };
    let n_phases = 1 + usize::from(job.collective == Collective::AllReduce);
    let n_transfers = n_phases * (ranks as usize - 1) * ranks as usize;
    // Each step waits for the step before only, so nothing needs to be derived.
    let memory = job.memory(ranks, Placement::InPlace);
    let mut draft = Draft::plain(job.title(), memory, n_transfers);
    let block = |draft: &Draft, block: usize| {
        let chunk = u32::try_from(block).expect("Invariant: a block per rank");
        [Piece::same(draft.memory().recv(chunk), 1)]
    };
    let mut last = StepIds::new();
    if job.collective != Collective::AllGather {
        ring.reduce_scatter(&mut draft, &mut last, block);
    }
    if job.collective != Collective::ReduceScatter {
        ring.all_gather(&mut draft, &mut last, block);
    }
    draft.finish()
}

impl Ring {
    /// Adds a ReduceScatter: position p ends with block p, whose pieces `block` tells. `last`
    /// holds the transfers of the step before, if there was one, and then those of the last.
    pub(super) fn reduce_scatter<P: AsRef<[Piece]>>(
        &self,
        draft: &mut Draft,
        last: &mut StepIds,
        block: impl Fn(&Draft, usize) -> P,
    ) {
        self.steps(draft, last, Op::Reduce, 1, block);
    }

    /// Adds an AllGather: position p starts with block p.
    pub(super) fn all_gather<P: AsRef<[Piece]>>(
        &self,
        draft: &mut Draft,
        last: &mut StepIds,
        block: impl Fn(&Draft, usize) -> P,
    ) {
        self.steps(draft, last, Op::Copy, 0, block);
    }

    /// In step k position p sends block p - k - lag.
    fn steps<P: AsRef<[Piece]>>(
        &self,
        draft: &mut Draft,
        last: &mut StepIds,
        op: Op,
        lag: usize,
        block: impl Fn(&Draft, usize) -> P,
    ) {
        let n = self.members.len();
        for step in 0..n - 1 {
            let mut current = StepIds::with_capacity(n);
            for position in 0..n {
                let next = (position + 1) % n;
                let moved = block(draft, (position + 2 * n - step - lag) % n);
                let leg = Leg::send(self.members[position], self.members[next], op);
                let pair;
                let after = if last.is_empty() {
                    &[]
                } else {
                    let (received, own) = (last[(position + n - 1) % n], last[position]);
                    pair = [received.min(own), received.max(own)];
                    match self.pace {
                        Pace::Arrival => std::slice::from_ref(&last[(position + n - 1) % n]),
                        Pace::OwnSend => pair.as_slice(),
                    }
                };
                let id = draft.push_after(leg.through(self.port), moved.as_ref(), after);
                current.push(id);
            }
            *last = current;
        }
    }
}
