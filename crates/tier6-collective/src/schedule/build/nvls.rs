//! NVLS: the switch reads and adds (load-reduce), the switch multicasts (store).
//!
//! AllReduce: each rank owns M/N; the switch hands it the sum of that slice, it stores the slice
//! to all. Each rank's link carries M (1 + 1/N) per direction (FACTS B.6). In K pieces, a rank has
//! room for some between its loads and its stores, as NCCL's buffers have: loads that ran further
//! ahead would leave stores for the end, when nothing else goes out of the chips. ReduceScatter is
//! the first half, AllGather the second.
//!
//! AllReduce over nodes, where the network adds up: load-reduce of M/g by each rank in its node,
//! an aggregation of each slice on its rail, a store to the node.
//!
//! NVLSTree, over nodes: load-reduce of M/g by each rank of a node, a double binary tree across
//! the nodes on each rail, multicast in the node; K pieces per tree. With one rank per node the
//! tree is all there is.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{GroupId, PortId, RankId, Slot, TransferId};
use crate::schedule::memory::Placement;
use crate::schedule::transfer::{Leg, Op, Piece, Route};

use super::nodes::Nodes;
use super::tree::{Load, double_tree};
use super::{BuildError, Job};

/// Clear of the six ports of the double tree.
const LOADS: PortId = PortId(6);
const STORES: PortId = PortId(7);
/// Bytes between the loads and the stores of a rank, at least: what is under way to a switch and
/// back at the rates of an NVLink. More would let some ranks run ahead of others.
const ROOM: u64 = 1 << 20;
/// The same in pieces.
const ROOM_PIECES: usize = 4;

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    match job.options.ranks_per_node {
        Some(per_node) if per_node < job.ranks() && job.collective == Collective::AllReduce => {
            over_nodes(job)
        }
        Some(_) | None => Ok(in_one_switch(job)),
    }
}

fn in_one_switch(job: &Job) -> Schedule {
    if job.collective == Collective::AllReduce {
        return all_reduce(job);
    }
    let mut draft = job.in_place(job.ranks());
    let all = everyone(&mut draft);
    if job.collective == Collective::ReduceScatter {
        for rank in 0..job.ranks() {
            let slice = draft.memory().recv(rank);
            load_reduce(&mut draft, all, rank, slice, &[]);
        }
    } else {
        all_gather(&mut draft, all);
    }
    draft.finish()
}

/// The only waits are those of a store for its load, and of a load for room.
fn all_reduce(job: &Job) -> Schedule {
    let (n, pieces) = (job.ranks(), job.options.pieces);
    let memory = job.memory(n * pieces, Placement::InPlace);
    let n_transfers = 2 * n as usize * pieces as usize;
    let mut draft = Draft::plain(job.title(), memory, n_transfers);
    let all = everyone(&mut draft);
    let piece = job.options.bytes.get().div_ceil(n_transfers as u64 / 2);
    let room = usize::try_from(ROOM.div_ceil(piece.max(1))).unwrap_or(usize::MAX);
    let room = room.max(ROOM_PIECES);
    // The stores of the pieces so far, of each rank.
    let mut stores = vec![Vec::with_capacity(pieces as usize); n as usize];
    for piece in 0..pieces {
        let slice = |draft: &Draft, rank| draft.memory().recv(rank * pieces + piece);
        let loads: Vec<_> = (0..)
            .zip(&stores)
            .map(|(rank, stores)| {
                let before = stores.iter().rev().nth(room - 1).copied();
                let slice = slice(&draft, rank);
                load_reduce(&mut draft, all, rank, slice, before.as_slice())
            })
            .collect();
        for ((rank, stores), load) in (0..).zip(&mut stores).zip(loads) {
            let slice = slice(&draft, rank);
            stores.push(multicast(&mut draft, all, rank, slice, &[load]));
        }
    }
    draft.finish()
}

fn over_nodes(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = Nodes::of(job)?;
    let mut draft = job.in_place(nodes.ranks_per_node);
    let groups = node_groups(&mut draft, nodes);
    for local in 0..nodes.ranks_per_node {
        let slice = draft.memory().recv(local);
        let rail = nodes.rail(local);
        for (group, rank) in groups.iter().zip(&rail) {
            load_reduce(&mut draft, *group, *rank, slice, &[]);
        }
        let members = draft.add_group(rail.iter().copied().map(RankId).collect());
        let leg = Leg::new(Route::Aggregate { group: members }, Op::Copy);
        draft.push(leg, &[Piece::same(slice, 1)]);
        for (group, rank) in groups.iter().zip(&rail) {
            multicast(&mut draft, *group, *rank, slice, &[]);
        }
    }
    Ok(draft.finish())
}

/// Adds a group for each node that has a switch to share; none where a node is one rank.
fn node_groups(draft: &mut Draft, nodes: Nodes) -> Vec<GroupId> {
    let switched = if nodes.ranks_per_node > 1 {
        nodes.count
    } else {
        0
    };
    (0..switched)
        .map(|node| draft.add_group(nodes.node(node).into_iter().map(RankId).collect()))
        .collect()
}

/// Adds the group of all ranks.
pub(super) fn everyone(draft: &mut Draft) -> GroupId {
    let all = (0..draft.memory().ranks()).map(RankId).collect();
    draft.add_group(all)
}

/// Adds an AllGather: each rank stores its block to all.
pub(super) fn all_gather(draft: &mut Draft, all: GroupId) {
    for rank in 0..draft.memory().ranks() {
        let slice = draft.memory().recv(rank);
        multicast(draft, all, rank, slice, &[]);
    }
}

pub(super) fn build_tree(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = Nodes::of(job)?;
    let per_rail = 2 * job.options.pieces;
    let mut draft = job.in_place_with_scratch(nodes.ranks_per_node * per_rail, per_rail);
    let groups = node_groups(&mut draft, nodes);
    let trees: Vec<_> = (0..nodes.ranks_per_node)
        .map(|local| double_tree(nodes.rail(local)))
        .collect();
    for piece in 0..per_rail {
        for (local, trees) in (0..).zip(&trees) {
            let chunk = local * per_rail + piece;
            let slice = draft.memory().recv(chunk);
            let tree = &trees[(piece % 2) as usize];
            let load = Load::of(&draft, chunk, piece);
            for (group, rank) in groups.iter().zip(nodes.rail(local)) {
                load_reduce(&mut draft, *group, rank, slice, &[]);
            }
            tree.reduce(&mut draft, load);
            tree.broadcast(&mut draft, load);
            for (group, rank) in groups.iter().zip(nodes.rail(local)) {
                multicast(&mut draft, *group, rank, slice, &[]);
            }
        }
    }
    Ok(draft.finish())
}

fn load_reduce(
    draft: &mut Draft,
    group: GroupId,
    rank: u32,
    slice: Slot,
    after: &[TransferId],
) -> TransferId {
    let dst = RankId(rank);
    let leg = Leg::new(Route::LoadReduce { group, dst }, Op::Copy).through(LOADS);
    draft.push_after(leg, &[Piece::same(slice, 1)], after)
}

fn multicast(
    draft: &mut Draft,
    group: GroupId,
    rank: u32,
    slice: Slot,
    after: &[TransferId],
) -> TransferId {
    let src = RankId(rank);
    let leg = Leg::new(Route::Multicast { src, group }, Op::Copy).through(STORES);
    draft.push_after(leg, &[Piece::same(slice, 1)], after)
}
