//! PAT (parallel aggregated trees): AllGather and ReduceScatter for any N.
//!
//! Every block goes down a binomial tree from its owner, the farthest branch first: before the
//! step of distance d = 2^k rank r holds the blocks of r - o for the multiples o of 2d, and sends
//! them to r + d. All blocks of a step go in one message when the intermediate buffer takes them:
//! ceil(lg N) steps. With room for A blocks a step takes ceil(blocks / A) messages, down to N - 1
//! steps of one block (FACTS B.8). ReduceScatter is that backwards.
//!
//! The model places blocks in the vector at once; the buffer is only the limit A.

use crate::schedule::Schedule;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::Piece;

use super::moves::{self, Move};
use super::{BuildError, Job};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let ranks = job.ranks();
    let limit = job.options.pat_blocks.unwrap_or(ranks) as usize;
    if limit == 0 {
        return Err(BuildError::NoBlocks);
    }
    let mut draft = job.in_place(ranks);
    let mut list = Vec::new();
    for step in (0..ranks.next_power_of_two().ilog2()).rev() {
        let distance = 1 << step;
        let held: Vec<u32> = (0..ranks - distance)
            .step_by(2 * distance as usize)
            .collect();
        for offsets in held.chunks(limit) {
            for rank in 0..ranks {
                let mut blocks: Vec<u32> = offsets
                    .iter()
                    .map(|offset| (rank + ranks - offset) % ranks)
                    .collect();
                blocks.sort_unstable();
                list.push(Move {
                    src: rank,
                    dst: (rank + distance) % ranks,
                    port: PortId(0),
                    back: PortId(0),
                    pieces: Piece::runs(blocks.into_iter().map(|b| draft.memory().recv(b))),
                });
            }
        }
    }
    moves::add(&mut draft, job.collective, &list);
    Ok(draft.finish())
}
