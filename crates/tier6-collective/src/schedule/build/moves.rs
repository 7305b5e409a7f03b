//! An AllGather as a list of moves, and the ReduceScatter and AllReduce that follow from it.
//!
//! When an AllGather brings each block to each rank exactly once, its moves backwards, with sums
//! instead of copies, are a ReduceScatter: what went down a tree from the owner comes up to it.
//! AllReduce is the second and then the first.

use crate::Collective;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::{Leg, Op, Piece};

/// One message of an AllGather.
pub(super) struct Move {
    pub(super) src: u32,
    pub(super) dst: u32,
    /// The port that it leaves through.
    pub(super) port: PortId,
    /// The port that its reverse leaves through.
    pub(super) back: PortId,
    pub(super) pieces: Vec<Piece>,
}

/// Adds the collective's transfers for an AllGather's moves, which are in order of their steps.
pub(super) fn add(draft: &mut Draft, collective: Collective, all_gather: &[Move]) {
    if matches!(
        collective,
        Collective::AllReduce | Collective::ReduceScatter
    ) {
        for step in all_gather.iter().rev() {
            let leg = Leg::send(step.dst, step.src, Op::Reduce).through(step.back);
            draft.push(leg, &step.pieces);
        }
    }
    if collective != Collective::ReduceScatter {
        for step in all_gather {
            let leg = Leg::send(step.src, step.dst, Op::Copy).through(step.port);
            draft.push(leg, &step.pieces);
        }
    }
}
