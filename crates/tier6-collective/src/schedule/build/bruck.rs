//! Bruck's algorithms: AllToAll, AllGather, ReduceScatter, in ceil(lg N) steps for any N.
//!
//! AllToAll: the block for the rank j further on travels along the set bits of j; in step k rank
//! r sends to r + 2^k all such blocks whose j has bit k, about M/2 in one strided message. Blocks
//! start in the send vector, end in the receive vector and wait between hops in two scratch
//! vectors in turn, which is the textbook's rotation without its local copies.
//!
//! AllGather: in step k rank r sends to r - 2^k the min(2^k, N - 2^k) blocks that it holds.
//! ReduceScatter is that backwards.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::moves::{self, Move};
use super::{Job, pairwise};

const PORT: PortId = PortId(0);

pub(super) fn build(job: &Job) -> Schedule {
    if job.collective == Collective::AllToAll {
        return all_to_all(job);
    }
    let mut draft = job.in_place(job.ranks());
    let list = all_gather(job, &draft);
    moves::add(&mut draft, job.collective, &list);
    draft.finish()
}

/// Returns the moves of the AllGather.
pub(super) fn all_gather(job: &Job, draft: &Draft) -> Vec<Move> {
    let ranks = job.ranks();
    let mut list = Vec::new();
    let mut held = 1;
    while held < ranks {
        for rank in 0..ranks {
            let count = held.min(ranks - held);
            let mut blocks: Vec<u32> = (rank..rank + count).map(|block| block % ranks).collect();
            blocks.sort_unstable();
            list.push(Move {
                src: rank,
                dst: (rank + ranks - held) % ranks,
                port: PORT,
                back: PORT,
                pieces: Piece::runs(blocks.into_iter().map(|block| draft.memory().recv(block))),
            });
        }
        held *= 2;
    }
    list
}

fn all_to_all(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let memory = job.memory(ranks, Placement::OutOfPlace);
    // Scratch slot j of either vector holds the block for j further on, whoever holds it.
    let vector = (0..ranks).map(|j| memory.chunk_bytes(j));
    let scratch = vector.clone().chain(vector).collect();
    let mut draft = Draft::tracked(job.title(), memory.with_scratch(scratch));
    pairwise::own_blocks(&mut draft, ranks);
    for step in 0..ranks.next_power_of_two().ilog2() {
        let distance = 1 << step;
        for rank in 0..ranks {
            let dst = (rank + distance) % ranks;
            let pieces: Vec<Piece> = (1..ranks)
                .filter(|j| j & distance != 0)
                .map(|j| hop(&draft, rank, dst, j, step))
                .collect();
            draft.push(Leg::send(rank, dst, Op::Copy).through(PORT), &pieces);
        }
    }
    draft.finish()
}

/// Returns what moves the block for `j` further on from `rank` to `dst` in this step.
fn hop(draft: &Draft, rank: u32, dst: u32, j: u32, step: u32) -> Piece {
    let (memory, ranks) = (draft.memory(), draft.memory().ranks());
    let hops_before = (j & ((1 << step) - 1)).count_ones();
    let from = match hops_before {
        0 => memory.send((rank + j) % ranks),
        _ => memory.scratch((hops_before - 1) % 2 * ranks + j),
    };
    let to = match j.count_ones() - hops_before {
        1 => memory.recv((dst + ranks - j) % ranks),
        _ => memory.scratch(hops_before % 2 * ranks + j),
    };
    Piece { from, to, count: 1 }
}
