//! Hierarchical rings: AllReduce, ReduceScatter, AllGather over n nodes of g ranks.
//!
//! ReduceScatter in each node, a ring across the nodes on each rail for the M/g that is left, and
//! AllGather in each node (FACTS B.5). The message may be cut into K pieces whose stages overlap.
//! Ports: 0 in the node on the way in, 1 across, 2 in the node on the way out.
//!
//! Chunk b K + k is piece k of block b, so that the same cut serves all three collectives.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::{Piece, StepIds};

use super::nodes::Nodes;
use super::ring::{Pace, Ring};
use super::{BuildError, Job};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = Nodes::of(job)?;
    let pieces = job.options.pieces;
    let mut draft = job.in_place(job.ranks() * pieces);
    let reduces = job.collective != Collective::AllGather;
    let gathers = job.collective != Collective::ReduceScatter;
    for piece in 0..pieces {
        let chunk = |draft: &Draft, block: u32| draft.memory().recv(block * pieces + piece);
        // What chip `local` of a node is responsible for: the blocks of its rail.
        let share = |draft: &Draft, local: usize| {
            let local = u32::try_from(local).expect("Invariant: ranks fit u32");
            Piece::runs(
                nodes
                    .rail(local)
                    .into_iter()
                    .map(|block| chunk(draft, block)),
            )
        };
        let inside = |port| {
            (0..nodes.count).map(move |node| Ring {
                members: nodes.node(node),
                port: PortId(port),
                pace: Pace::Arrival,
            })
        };
        if reduces {
            for ring in inside(0) {
                ring.reduce_scatter(&mut draft, &mut StepIds::new(), share);
            }
        }
        for local in 0..nodes.ranks_per_node {
            let ring = Ring {
                members: nodes.rail(local),
                port: PortId(1),
                pace: Pace::Arrival,
            };
            let block =
                |draft: &Draft, node: usize| [Piece::same(chunk(draft, ring.members[node]), 1)];
            let mut last = StepIds::new();
            if reduces {
                ring.reduce_scatter(&mut draft, &mut last, block);
            }
            if gathers {
                ring.all_gather(&mut draft, &mut last, block);
            }
        }
        if gathers {
            for ring in inside(2) {
                ring.all_gather(&mut draft, &mut StepIds::new(), share);
            }
        }
    }
    Ok(draft.finish())
}
