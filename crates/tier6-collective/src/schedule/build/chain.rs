//! The pipelined chain: Broadcast and Reduce by `ring`, and by both directions of `bidir_ring`.
//!
//! The message goes from rank to rank in K pieces, all in flight at once: N - 2 + K steps
//! (FACTS B.1). Broadcast starts at the root; Reduce starts at the rank after the root and ends
//! at the root.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, TransferId};
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::Job;
use super::ring::Pace;

/// One chain and the chunks that go along it.
pub(super) struct Chain {
    pub(super) members: Vec<u32>,
    pub(super) port: PortId,
    pub(super) pace: Pace,
    pub(super) op: Op,
}

pub(super) fn build(job: &Job, pace: Pace) -> Schedule {
    let pieces = job.options.pieces;
    let mut draft = draft(job, pieces, 1);
    let chain = Chain {
        members: up(job),
        port: PortId(0),
        pace,
        op: op(job),
    };
    chain.add(&mut draft, 0..pieces);
    draft.finish()
}

/// Builds one chain up and one down, half of the message each.
pub(super) fn build_both_ways(job: &Job) -> Schedule {
    let pieces = job.options.pieces;
    let mut draft = draft(job, 2 * pieces, 2);
    for (port, members, first) in [(0, up(job), 0), (1, down(job), pieces)] {
        let chain = Chain {
            members,
            port: PortId(port),
            pace: Pace::Arrival,
            op: op(job),
        };
        chain.add(&mut draft, first..first + pieces);
    }
    draft.finish()
}

impl Chain {
    /// Adds the transfers of the chunks, which must not be in use yet.
    pub(super) fn add(&self, draft: &mut Draft, chunks: std::ops::Range<u32>) {
        let mut before: Vec<Option<TransferId>> = vec![None; self.members.len()];
        for chunk in chunks {
            let moved = [Piece::same(draft.memory().recv(chunk), 1)];
            let mut arrived = None;
            for (position, pair) in self.members.windows(2).enumerate() {
                let own = before[position].filter(|_| self.pace == Pace::OwnSend);
                let mut after: Vec<TransferId> = arrived.into_iter().chain(own).collect();
                after.sort_unstable();
                let leg = Leg::send(pair[0], pair[1], self.op).through(self.port);
                let id = draft.push_after(leg, &moved, &after);
                before[position] = Some(id);
                arrived = Some(id);
            }
        }
    }
}

fn draft(job: &Job, chunks: u32, n_chains: usize) -> Draft {
    let n_transfers = n_chains * (job.ranks() as usize - 1) * job.options.pieces as usize;
    let memory = job.memory(chunks, Placement::InPlace);
    Draft::plain(job.title(), memory, n_transfers)
}

fn op(job: &Job) -> Op {
    match job.collective {
        Collective::Reduce => Op::Reduce,
        _ => Op::Copy,
    }
}

/// The ranks upwards: from the root, or to it.
fn up(job: &Job) -> Vec<u32> {
    let first = u32::from(job.collective == Collective::Reduce);
    (first..first + job.ranks())
        .map(|offset| job.after_root(offset % job.ranks()))
        .collect()
}

/// The ranks downwards: from the root, or to it.
fn down(job: &Job) -> Vec<u32> {
    let last = u32::from(job.collective == Collective::Broadcast);
    (last..last + job.ranks())
        .rev()
        .map(|offset| job.after_root(offset % job.ranks()))
        .collect()
}
