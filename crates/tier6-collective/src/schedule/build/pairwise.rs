//! Pairwise exchange: one peer after another, N - 1 steps.
//!
//! AllToAll, AllGather, ReduceScatter: in step k rank r sends to r + k and receives from r - k
//! (or exchanges with r xor k), and goes on when both are complete. Gather and Scatter are the
//! linear forms: the root talks to each rank in turn.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::ids::{PortId, TransferId};
use crate::schedule::transfer::{Leg, Op, Piece, StepIds};

use super::{BuildError, Job, Partner};

const PORT: PortId = PortId(0);

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    match job.collective {
        Collective::Gather | Collective::Scatter => Ok(linear(job)),
        _ => {
            if job.options.partner == Partner::Xor {
                job.needs_power_of_two("exchange by shift")?;
            }
            Ok(exchange(job))
        }
    }
}

fn exchange(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let is_all_to_all = job.collective == Collective::AllToAll;
    let mut draft = if is_all_to_all {
        job.out_of_place(ranks)
    } else {
        job.in_place(ranks)
    };
    if is_all_to_all {
        own_blocks(&mut draft, ranks);
    }
    let peer = |rank: u32, step: u32| match job.options.partner {
        Partner::Shift => (rank + step) % ranks,
        Partner::Xor => rank ^ step,
    };
    let op = match job.collective {
        Collective::ReduceScatter => Op::Reduce,
        _ => Op::Copy,
    };
    let mut sent = StepIds::new();
    let mut received = StepIds::new();
    for step in 1..ranks {
        let mut current = StepIds::with_capacity(ranks as usize);
        for rank in 0..ranks {
            let dst = peer(rank, step);
            let memory = draft.memory();
            let (from, to) = match job.collective {
                Collective::AllToAll => (memory.send(dst), memory.recv(rank)),
                Collective::AllGather => (memory.recv(rank), memory.recv(rank)),
                _ => (memory.recv(dst), memory.recv(dst)),
            };
            let piece = Piece { from, to, count: 1 };
            let before = |list: &StepIds| list.get(rank as usize).copied();
            let after: Vec<TransferId> =
                before(&sent).into_iter().chain(before(&received)).collect();
            let leg = Leg::send(rank, dst, op).through(PORT);
            current.push(draft.push_after(leg, &[piece], &after));
        }
        received.clone_from(&current);
        for rank in 0..ranks {
            received[peer(rank, step) as usize] = current[rank as usize];
        }
        sent = current;
    }
    draft.finish()
}

/// Adds each rank's copy of its block for itself.
pub(super) fn own_blocks(draft: &mut crate::schedule::draft::Draft, ranks: u32) {
    for rank in 0..ranks {
        let piece = Piece {
            from: draft.memory().send(rank),
            to: draft.memory().recv(rank),
            count: 1,
        };
        draft.push(Leg::local(rank, Op::Copy), &[piece]);
    }
}

fn linear(job: &Job) -> Schedule {
    let mut draft = job.in_place(job.ranks());
    let mut before = None;
    for offset in 1..job.ranks() {
        let peer = job.after_root(offset);
        let (src, dst) = match job.collective {
            Collective::Gather => (peer, job.root()),
            _ => (job.root(), peer),
        };
        let piece = Piece::same(draft.memory().recv(peer), 1);
        let after: Vec<TransferId> = before.into_iter().collect();
        let leg = Leg::send(src, dst, Op::Copy).through(PORT);
        before = Some(draft.push_after(leg, &[piece], &after));
    }
    draft.finish()
}
