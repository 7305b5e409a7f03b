//! Bidirectional rings: AllReduce, ReduceScatter, AllGather; Broadcast and Reduce both ways.
//!
//! *Split data* runs two rings in opposite directions on half of each block. *Short side* sends
//! each contribution the short way round to the block's owner, and the result the short way back.
//! For even N the rank across from the owner is N/2 away on both sides; its block is split in two
//! halves, one for either way, which keeps the bytes per direction at exactly (N-1)/N M. Sending
//! it whole costs N/(N-1) of the bytes, and then time does not depend on N (FACTS B.9).
//!
//! Port 0 goes up, port 1 down. Chunk 2b + h is half h of block b.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece, StepIds};

use super::ring::{Pace, Ring};
use super::{BidirForm, Job, chain};

pub(super) fn build(job: &Job) -> Schedule {
    match (job.collective, job.options.bidir) {
        (Collective::Broadcast | Collective::Reduce, _) => chain::build_both_ways(job),
        (_, BidirForm::SplitData) => split_data(job),
        (_, BidirForm::ShortSide) => short_side(job),
    }
}

fn split_data(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let n_transfers = 4 * ranks as usize * (ranks as usize - 1);
    let memory = job.memory(2 * ranks, Placement::InPlace);
    let mut draft = Draft::plain(job.title(), memory, n_transfers);
    let up: Vec<u32> = (0..ranks).collect();
    let down: Vec<u32> = (0..ranks).rev().collect();
    for (half, members) in [(0_u8, up), (1, down)] {
        let ring = Ring {
            members,
            port: PortId(half),
            pace: Pace::Arrival,
        };
        let block = |draft: &Draft, position: usize| {
            let chunk = 2 * ring.members[position] + u32::from(half);
            [Piece::same(draft.memory().recv(chunk), 1)]
        };
        let mut last = StepIds::new();
        if job.collective != Collective::AllGather {
            ring.reduce_scatter(&mut draft, &mut last, block);
        }
        if job.collective != Collective::ReduceScatter {
            ring.all_gather(&mut draft, &mut last, block);
        }
    }
    draft.finish()
}

/// The two ways round.
const WAYS: [Way; 2] = [Way::Up, Way::Down];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Way {
    const fn port(self) -> PortId {
        PortId(self as u8)
    }

    /// Returns the rank `hops` further this way.
    const fn walk(self, rank: u32, hops: u32, ranks: u32) -> u32 {
        match self {
            Self::Up => (rank + hops) % ranks,
            Self::Down => (rank + ranks - hops) % ranks,
        }
    }
}

/// How far the owner's block goes, and what of it `distance` hops away.
struct Reach {
    ranks: u32,
    hops_max: u32,
}

impl Reach {
    /// Returns the chunks of `owner`'s block that go `way` between the owner and `distance`.
    fn piece(&self, draft: &Draft, owner: u32, distance: u32, way: Way) -> Piece {
        let first = draft.memory().recv(2 * owner);
        let is_across = 2 * distance == self.ranks;
        match (is_across, way) {
            (false, _) => Piece::same(first, 2),
            (true, Way::Up) => Piece::same(first, 1),
            (true, Way::Down) => Piece::same(first.plus(1), 1),
        }
    }
}

fn short_side(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let reach = Reach {
        ranks,
        hops_max: ranks / 2,
    };
    // The owner sums what arrives from below; what arrives from above waits in scratch.
    let mut draft = job.in_place_with_scratch(2 * ranks, 2);
    if job.collective != Collective::AllGather {
        reduce_scatter(&mut draft, &reach);
    }
    if job.collective != Collective::ReduceScatter {
        all_gather(&mut draft, &reach);
    }
    draft.finish()
}

/// In step k the rank `hops_max` - k away passes its sum on towards the owner.
fn reduce_scatter(draft: &mut Draft, reach: &Reach) {
    let ranks = reach.ranks;
    for distance in (1..=reach.hops_max).rev() {
        for src in 0..ranks {
            for way in WAYS {
                let owner = way.walk(src, distance, ranks);
                let dst = way.walk(src, 1, ranks);
                let piece = reach.piece(draft, owner, distance, way);
                let is_second_arrival = distance == 1 && way == Way::Down;
                let (op, to) = if is_second_arrival {
                    let half = piece.from.0 - draft.memory().recv(2 * owner).0;
                    (Op::Copy, draft.memory().scratch(half))
                } else {
                    (Op::Reduce, piece.to)
                };
                let leg = Leg::send(src, dst, op).through(way.port());
                draft.push(leg, &[Piece { to, ..piece }]);
            }
        }
    }
    for owner in 0..ranks {
        let arrived = reach.piece(draft, owner, 1, Way::Down);
        let half = arrived.from.0 - draft.memory().recv(2 * owner).0;
        let from = draft.memory().scratch(half);
        draft.push(Leg::local(owner, Op::Reduce), &[Piece { from, ..arrived }]);
    }
}

/// In step k the rank k away passes the owner's block on.
fn all_gather(draft: &mut Draft, reach: &Reach) {
    let ranks = reach.ranks;
    for distance in 1..=reach.hops_max {
        for src in 0..ranks {
            for way in WAYS {
                let back = match way {
                    Way::Up => Way::Down,
                    Way::Down => Way::Up,
                };
                let owner = back.walk(src, distance - 1, ranks);
                let dst = way.walk(src, 1, ranks);
                let piece = reach.piece(draft, owner, distance, way);
                draft.push(Leg::send(src, dst, Op::Copy).through(way.port()), &[piece]);
            }
        }
    }
}
