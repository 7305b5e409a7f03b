//! CollNet: AllReduce with the sum between nodes done by the network (SHARP).
//!
//! Between nodes each rank that takes part sends its share up once and receives the sum once,
//! whatever the number of nodes (FACTS B.7). *Direct*: a direct ReduceScatter in each node, each
//! chip aggregates its M/g on its own rail, a direct AllGather. *Chain*: the chips of a node pass
//! the sum down to chip 0, which aggregates all M; K pieces are in flight at once.

use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, RankId};
use crate::schedule::transfer::{Leg, Op, Piece, Route};

use super::chain::Chain;
use super::nodes::Nodes;
use super::ring::Pace;
use super::{BuildError, Job, direct};

/// Pieces of which a rank holds what its peers sent.
const PIECES_WAITING: u32 = 4;

pub(super) fn direct(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = several_nodes(job)?;
    let (per_node, pieces) = (nodes.ranks_per_node, job.options.pieces);
    // What arrives for one piece is added up while the next ones arrive.
    let depth = pieces.min(PIECES_WAITING);
    let mut draft = job.in_place_with_scratch(per_node * pieces, depth * (per_node - 1));
    let rails: Vec<_> = (0..per_node)
        .map(|local| draft.add_group(nodes.rail(local).into_iter().map(RankId).collect()))
        .collect();
    for piece in 0..pieces {
        for node in 0..nodes.count {
            let first_scratch = (piece % depth) * (per_node - 1);
            let slot = |draft: &Draft, local| draft.memory().recv(local * pieces + piece);
            direct::reduce_scatter(&mut draft, &nodes.node(node), first_scratch, slot);
        }
        for (local, group) in (0..).zip(&rails) {
            let share = draft.memory().recv(local * pieces + piece);
            let leg = Leg::new(Route::Aggregate { group: *group }, Op::Copy);
            draft.push(leg.through(PortId(1)), &[Piece::same(share, 1)]);
        }
        for node in 0..nodes.count {
            direct::all_gather(&mut draft, &nodes.node(node), |draft, local| {
                draft.memory().recv(local * pieces + piece)
            });
        }
    }
    Ok(draft.finish())
}

pub(super) fn chain(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = several_nodes(job)?;
    let mut draft = job.in_place(job.options.pieces);
    let heads = draft.add_group(nodes.rail(0).into_iter().map(RankId).collect());
    let inside = |node, port, op| {
        let mut members = nodes.node(node);
        if op == Op::Reduce {
            members.reverse();
        }
        Chain {
            members,
            port: PortId(port),
            pace: Pace::Arrival,
            op,
        }
    };
    for piece in 0..job.options.pieces {
        for node in 0..nodes.count {
            inside(node, 0, Op::Reduce).add(&mut draft, piece..piece + 1);
        }
        let whole = [Piece::same(draft.memory().recv(piece), 1)];
        let leg = Leg::new(Route::Aggregate { group: heads }, Op::Copy);
        draft.push(leg.through(PortId(2)), &whole);
        for node in 0..nodes.count {
            inside(node, 1, Op::Copy).add(&mut draft, piece..piece + 1);
        }
    }
    Ok(draft.finish())
}

fn several_nodes(job: &Job) -> Result<Nodes, BuildError> {
    let nodes = Nodes::of(job)?;
    if nodes.count < 2 {
        return Err(BuildError::OneNode {
            algorithm: job.algorithm,
        });
    }
    Ok(nodes)
}
