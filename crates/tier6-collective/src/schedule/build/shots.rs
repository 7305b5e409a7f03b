//! One-shot and two-shot AllReduce, as custom kernels do it.
//!
//! One-shot: every rank sends all M to every peer and each adds up for itself: one step, (N-1) M
//! per rank. Two-shot: a direct ReduceScatter, then a direct AllGather: two steps, 2(N-1)/N M.
//! The second shot may be a multicast by the switch: (N-1)/N M + M/N out of each rank (FACTS B.1).

use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::{Job, SecondShot, direct, nvls};

pub(super) fn one_shot(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let memory = job.memory(1, Placement::OutOfPlace);
    let scratch = vec![memory.bytes(); ranks as usize - 1];
    let mut draft = Draft::tracked(job.title(), memory.with_scratch(scratch));
    let (own, sum) = (draft.memory().send(0), draft.memory().recv(0));
    for distance in 1..ranks {
        for rank in 0..ranks {
            let piece = Piece {
                from: own,
                to: draft.memory().scratch(distance - 1),
                count: 1,
            };
            let src = (rank + distance) % ranks;
            draft.push(Leg::send(src, rank, Op::Copy), &[piece]);
        }
    }
    for rank in 0..ranks {
        let piece = Piece {
            from: own,
            to: sum,
            count: 1,
        };
        draft.push(Leg::local(rank, Op::Copy), &[piece]);
        for index in 0..ranks - 1 {
            let from = draft.memory().scratch(index);
            draft.push(Leg::local(rank, Op::Reduce), &[Piece { from, ..piece }]);
        }
    }
    draft.finish()
}

pub(super) fn two_shot(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let members: Vec<u32> = (0..ranks).collect();
    let mut draft = job.in_place_with_scratch(ranks, ranks - 1);
    direct::reduce_scatter(&mut draft, &members, 0, |draft, rank| {
        draft.memory().recv(rank)
    });
    match job.options.second_shot {
        SecondShot::Direct => direct::all_gather(&mut draft, &members, |draft, rank| {
            draft.memory().recv(rank)
        }),
        SecondShot::Multicast => {
            let all = nvls::everyone(&mut draft);
            nvls::all_gather(&mut draft, all);
        }
    }
    draft.finish()
}
