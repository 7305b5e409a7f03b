//! Direct forms: every message goes to its destination at once, in one step.
//!
//! AllToAll, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter, and SendRecv, in which
//! each rank sends M to the next. Nothing is queued: ports, queue pairs and incast are left to
//! the topology. Sums wait in scratch, a slot per peer, and are added locally one by one.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, Slot};
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::{Job, pairwise};

pub(super) fn build(job: &Job) -> Schedule {
    let ranks = job.ranks();
    match job.collective {
        Collective::SendRecv => shift(job),
        Collective::AllToAll => {
            let mut draft = job.out_of_place(ranks);
            pairwise::own_blocks(&mut draft, ranks);
            for (src, dst) in pairs(ranks) {
                let piece = Piece {
                    from: draft.memory().send(dst),
                    to: draft.memory().recv(src),
                    count: 1,
                };
                draft.push(Leg::send(src, dst, Op::Copy), &[piece]);
            }
            draft.finish()
        }
        Collective::ReduceScatter => {
            let mut draft = job.in_place_with_scratch(ranks, ranks - 1);
            let members: Vec<u32> = (0..ranks).collect();
            reduce_scatter(&mut draft, &members, 0, |draft, rank| {
                draft.memory().recv(rank)
            });
            draft.finish()
        }
        Collective::AllGather => {
            let mut draft = job.in_place(ranks);
            all_gather(
                &mut draft,
                &(0..ranks).collect::<Vec<_>>(),
                |draft, rank| draft.memory().recv(rank),
            );
            draft.finish()
        }
        _ => rooted(job),
    }
}

/// Builds SendRecv: each rank sends M to the next rank.
pub(super) fn shift(job: &Job) -> Schedule {
    let mut draft = Draft::tracked(job.title(), job.memory(1, Placement::OutOfPlace));
    for rank in 0..job.ranks() {
        let piece = Piece {
            from: draft.memory().send(0),
            to: draft.memory().recv(0),
            count: 1,
        };
        let leg = Leg::send(rank, (rank + 1) % job.ranks(), Op::Copy);
        draft.push(leg.through(PortId(0)), &[piece]);
    }
    draft.finish()
}

/// Adds a ReduceScatter among `members`: each ends with the sum of its slot. The i-th scratch slot
/// from `first_scratch` on takes what comes from the member i + 1 further on.
pub(super) fn reduce_scatter(
    draft: &mut Draft,
    members: &[u32],
    first_scratch: u32,
    slot: impl Fn(&Draft, u32) -> Slot,
) {
    let n = members.len();
    let waiting = |draft: &Draft, distance: usize| {
        let index = u32::try_from(distance - 1).expect("Invariant: a slot per peer");
        draft.memory().scratch(first_scratch + index)
    };
    for distance in 1..n {
        for (position, &dst) in members.iter().enumerate() {
            let piece = Piece {
                from: slot(
                    draft,
                    u32::try_from(position).expect("Invariant: ranks fit u32"),
                ),
                to: waiting(draft, distance),
                count: 1,
            };
            let src = members[(position + distance) % n];
            draft.push(Leg::send(src, dst, Op::Copy), &[piece]);
        }
    }
    for distance in 1..n {
        for (position, &rank) in (0..).zip(members) {
            let piece = Piece {
                from: waiting(draft, distance),
                to: slot(draft, position),
                count: 1,
            };
            draft.push(Leg::local(rank, Op::Reduce), &[piece]);
        }
    }
}

/// Adds an AllGather among `members`: each starts with its slot.
pub(super) fn all_gather(draft: &mut Draft, members: &[u32], slot: impl Fn(&Draft, u32) -> Slot) {
    for distance in 1..members.len() {
        for (position, &src) in (0..).zip(members) {
            let dst = members[(position as usize + distance) % members.len()];
            let piece = Piece::same(slot(draft, position), 1);
            draft.push(Leg::send(src, dst, Op::Copy), &[piece]);
        }
    }
}

fn rooted(job: &Job) -> Schedule {
    let (ranks, root) = (job.ranks(), job.root());
    let others = || (1..ranks).map(|offset| job.after_root(offset));
    let mut draft = match job.collective {
        Collective::Reduce => job.in_place_with_scratch(1, ranks - 1),
        Collective::Broadcast => job.in_place(1),
        _ => job.in_place(ranks),
    };
    for (index, peer) in (0..).zip(others()) {
        let memory = draft.memory();
        let (src, dst, piece) = match job.collective {
            Collective::Reduce => {
                let piece = Piece {
                    from: memory.recv(0),
                    to: memory.scratch(index),
                    count: 1,
                };
                (peer, root, piece)
            }
            Collective::Broadcast => (root, peer, Piece::same(memory.recv(0), 1)),
            Collective::Gather => (peer, root, Piece::same(memory.recv(peer), 1)),
            _ => (root, peer, Piece::same(memory.recv(peer), 1)),
        };
        draft.push(Leg::send(src, dst, Op::Copy), &[piece]);
    }
    if job.collective == Collective::Reduce {
        for index in 0..ranks - 1 {
            let piece = Piece {
                from: draft.memory().scratch(index),
                to: draft.memory().recv(0),
                count: 1,
            };
            draft.push(Leg::local(root, Op::Reduce), &[piece]);
        }
    }
    draft.finish()
}

fn pairs(ranks: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..ranks).flat_map(move |distance| (0..ranks).map(move |r| (r, (r + distance) % ranks)))
}
