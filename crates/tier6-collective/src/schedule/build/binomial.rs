//! Binomial trees: Broadcast, Reduce, Gather, Scatter; and the Broadcast of Scatter + AllGather.
//!
//! Ranks count from the root. Broadcast: in step k the ranks below 2^k send to the rank 2^k
//! further on; Reduce is that backwards. Scatter starts far: a rank sends the upper half of what
//! it is responsible for; Gather is that backwards. All take ceil(lg N) steps for any N.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, TransferId};
use crate::schedule::transfer::{Leg, Op, Piece, StepIds};

use super::ring::{Pace, Ring};
use super::{GatherForm, Job, bruck, moves};

const PORT: PortId = PortId(0);

pub(super) fn build(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let is_blockwise = matches!(job.collective, Collective::Gather | Collective::Scatter);
    let mut draft = job.in_place(if is_blockwise { ranks } else { 1 });
    let edges = if is_blockwise {
        far_first(ranks)
    } else {
        near_first(ranks)
    };
    let pieces = |draft: &Draft, edge: &Edge| {
        if is_blockwise {
            subtree(job, draft, edge)
        } else {
            vec![Piece::same(draft.memory().recv(0), 1)]
        }
    };
    match job.collective {
        Collective::Reduce | Collective::Gather => {
            let op = match job.collective {
                Collective::Reduce => Op::Reduce,
                _ => Op::Copy,
            };
            let mut received: Vec<Option<TransferId>> = vec![None; ranks as usize];
            for edge in edges.iter().rev() {
                let leg = Leg::send(job.after_root(edge.child), job.after_root(edge.parent), op);
                let pieces = pieces(&draft, edge);
                // A parent takes one child after another.
                let last = &mut received[edge.parent as usize];
                let after: Vec<TransferId> = last.iter().copied().collect();
                *last = Some(draft.push_after(leg.through(PORT), &pieces, &after));
            }
        }
        _ => {
            for edge in &edges {
                let (src, dst) = (job.after_root(edge.parent), job.after_root(edge.child));
                let pieces = pieces(&draft, edge);
                draft.push(Leg::send(src, dst, Op::Copy).through(PORT), &pieces);
            }
        }
    }
    draft.finish()
}

/// Builds the Broadcast that scatters along the tree and gathers around a ring, or by doubling as
/// Bruck does, which serves any N.
pub(super) fn scatter_all_gather(job: &Job) -> Schedule {
    let ranks = job.ranks();
    let mut draft = job.in_place(ranks);
    for edge in far_first(ranks) {
        let (src, dst) = (job.after_root(edge.parent), job.after_root(edge.child));
        let pieces = subtree(job, &draft, &edge);
        draft.push(Leg::send(src, dst, Op::Copy).through(PORT), &pieces);
    }
    if job.options.gather == GatherForm::Doubling {
        let list = bruck::all_gather(job, &draft);
        moves::add(&mut draft, Collective::AllGather, &list);
        return draft.finish();
    }
    let ring = Ring {
        members: (0..ranks).collect(),
        port: PORT,
        pace: Pace::Arrival,
    };
    ring.all_gather(&mut draft, &mut StepIds::new(), |draft, rank| {
        let block = ring.members[rank];
        [Piece::same(draft.memory().recv(block), 1)]
    });
    draft.finish()
}

/// An edge of the tree in ranks from the root, with the size of the child's subtree.
struct Edge {
    parent: u32,
    child: u32,
    size: u32,
}

fn near_first(ranks: u32) -> Vec<Edge> {
    let steps = ranks.next_power_of_two().ilog2();
    let edge = |parent, step: u32| Edge {
        parent,
        child: parent + (1 << step),
        size: 1,
    };
    (0..steps)
        .flat_map(|step| (0..1 << step).map(move |parent| edge(parent, step)))
        .filter(|edge| edge.child < ranks)
        .collect()
}

fn far_first(ranks: u32) -> Vec<Edge> {
    let steps = ranks.next_power_of_two().ilog2();
    let mut edges = Vec::new();
    for step in (0..steps).rev() {
        for parent in (0..ranks).step_by(2 << step) {
            let child = parent + (1 << step);
            if child < ranks {
                let size = (ranks - child).min(1 << step);
                edges.push(Edge {
                    parent,
                    child,
                    size,
                });
            }
        }
    }
    edges
}

/// Returns the blocks of the child's subtree: two runs when they pass rank N - 1.
fn subtree(job: &Job, draft: &Draft, edge: &Edge) -> Vec<Piece> {
    let mut blocks: Vec<u32> = (edge.child..edge.child + edge.size)
        .map(|offset| job.after_root(offset))
        .collect();
    blocks.sort_unstable();
    Piece::runs(blocks.into_iter().map(|block| draft.memory().recv(block)))
}
