//! Halving-doubling (Rabenseifner): AllReduce, ReduceScatter, AllGather.
//!
//! With p = 2^L ranks, step k of the halving exchanges with partner r xor (p >> (k+1)) the half
//! that holds the partner's block (distance halving), or with r xor 2^k the blocks that agree
//! with the partner's low k + 1 bits (distance doubling). The doubling is the halving backwards.
//!
//! For other N, the N - p ranks from p on fold into the first ones before and out after. The plain
//! form is here: for AllReduce the whole vector each way, 2 steps and about 2M/B more (FACTS B.1);
//! for the other two collectives a rank's own block goes one way and all others the other way.
//! Halved folds are in a file of their own.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, Slot};
use crate::schedule::transfer::{Leg, Op, Piece};

use super::moves::{self, Move};
use super::{Distance, Fold, Job, halved_fold};

const PORT: PortId = PortId(0);

pub(super) fn build(job: &Job) -> Schedule {
    let distance = job.options.distance;
    match (job.collective, job.options.fold) {
        (_, Fold::Halves) if !job.ranks().is_power_of_two() => halved_fold::build(job, distance),
        (Collective::AllReduce, _) => all_reduce(job, distance),
        _ => with_blocks(job, distance),
    }
}

fn all_reduce(job: &Job, distance: Distance) -> Schedule {
    let core = core_of(job.ranks());
    let mut draft = job.in_place(core);
    let everything = [Piece::same(draft.memory().recv(0), core)];
    for extra in core..job.ranks() {
        let leg = Leg::send(extra, extra - core, Op::Reduce).through(PORT);
        draft.push(leg, &everything);
    }
    let doubling = doubling(&draft, core, distance, |block| vec![block]);
    moves::add(&mut draft, job.collective, &doubling);
    for extra in core..job.ranks() {
        let leg = Leg::send(extra - core, extra, Op::Copy).through(PORT);
        draft.push(leg, &everything);
    }
    draft.finish()
}

/// Returns the schedule of an AllGather or a ReduceScatter.
pub(super) fn with_blocks(job: &Job, distance: Distance) -> Schedule {
    let (ranks, core) = (job.ranks(), core_of(job.ranks()));
    let mut draft = job.in_place(ranks);
    let fold = |src, dst, pieces| Move {
        src,
        dst,
        port: PORT,
        back: PORT,
        pieces,
    };
    let all_but = |draft: &Draft, own: u32| {
        Piece::runs(
            (0..ranks)
                .filter(|b| *b != own)
                .map(|b| draft.memory().recv(b)),
        )
    };
    let own = |draft: &Draft, own: u32| vec![Piece::same(draft.memory().recv(own), 1)];
    let mut list: Vec<Move> = (core..ranks)
        .map(|extra| fold(extra, extra - core, own(&draft, extra)))
        .collect();
    list.extend(doubling(&draft, core, distance, |block| {
        // A folded rank's block travels with its partner's.
        let folded = (block + core < ranks).then_some(block + core);
        std::iter::once(block).chain(folded).collect()
    }));
    list.extend((core..ranks).map(|extra| fold(extra - core, extra, all_but(&draft, extra))));
    moves::add(&mut draft, job.collective, &list);
    draft.finish()
}

/// Returns 2^floor(lg N).
pub(super) const fn core_of(ranks: u32) -> u32 {
    1 << ranks.ilog2()
}

impl Distance {
    /// Returns the bit in which the partners of a step of the halving differ, and the bits that a
    /// rank shares with all owners of what it holds after it.
    pub(super) const fn step(self, core: u32, step: u32) -> (u32, u32) {
        match self {
            Self::Halving => (core >> (step + 1), !((core >> (step + 1)) - 1)),
            Self::Doubling => (1 << step, (1 << (step + 1)) - 1),
        }
    }
}

/// Returns the moves of the doubling AllGather over `core` ranks; `blocks` tells the blocks that
/// a rank of the core stands for.
fn doubling(
    draft: &Draft,
    core: u32,
    distance: Distance,
    blocks: impl Fn(u32) -> Vec<u32>,
) -> Vec<Move> {
    let levels = core.ilog2();
    let mut list = Vec::new();
    for step in (0..levels).rev() {
        let (bit, shared) = distance.step(core, step);
        for rank in 0..core {
            let held = (0..core).filter(|owner| owner & shared == rank & shared);
            let mut held: Vec<Slot> = held
                .flat_map(&blocks)
                .map(|block| draft.memory().recv(block))
                .collect();
            held.sort_unstable();
            list.push(Move {
                src: rank,
                dst: rank ^ bit,
                port: PORT,
                back: PORT,
                pieces: Piece::runs(held),
            });
        }
    }
    list
}
