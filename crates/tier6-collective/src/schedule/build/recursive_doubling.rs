//! Recursive doubling: AllReduce of the whole vector in lg N steps; AllGather; hypercube.
//!
//! AllReduce exchanges all M with partner r xor 2^k. Both sides read and write the same vector,
//! so a rank receives into scratch and adds once its own send has left; two scratch vectors take
//! turns. Other N than powers of two fold as halving-doubling does. AllGather is the doubling of
//! halving-doubling, nearest partner first; nccl-tests' hypercube is the same for powers of two.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::halving_doubling::{core_of, with_blocks};
use super::{BuildError, Distance, Job};

const PORT: PortId = PortId(0);

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    match job.collective {
        Collective::AllReduce => Ok(all_reduce(job)),
        Collective::HyperCube => {
            job.needs_power_of_two("run all_gather, which folds the other ranks")?;
            Ok(with_blocks(job, Distance::Halving))
        }
        _ => Ok(with_blocks(job, Distance::Halving)),
    }
}

fn all_reduce(job: &Job) -> Schedule {
    let (ranks, core) = (job.ranks(), core_of(job.ranks()));
    let mut draft = job.in_place_with_scratch(1, 2);
    let vector = draft.memory().recv(0);
    let whole = [Piece::same(vector, 1)];
    for extra in core..ranks {
        draft.push(
            Leg::send(extra, extra - core, Op::Reduce).through(PORT),
            &whole,
        );
    }
    for step in 0..core.ilog2() {
        let held = draft.memory().scratch(step % 2);
        for rank in 0..core {
            let arriving = Piece {
                from: vector,
                to: held,
                count: 1,
            };
            let leg = Leg::send(rank, rank ^ (1 << step), Op::Copy).through(PORT);
            draft.push(leg, &[arriving]);
        }
        for rank in 0..core {
            let arrived = Piece {
                from: held,
                to: vector,
                count: 1,
            };
            draft.push(Leg::local(rank, Op::Reduce), &[arrived]);
        }
    }
    for extra in core..ranks {
        draft.push(
            Leg::send(extra - core, extra, Op::Copy).through(PORT),
            &whole,
        );
    }
    draft.finish()
}
