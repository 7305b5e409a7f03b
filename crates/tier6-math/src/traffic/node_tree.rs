//! The double binary tree as NCCL lays it across nodes: over the nodes, with a chain inside.
//!
//! Of g channels each has another rank of the node as its head. A channel's share goes along the
//! chain to the head, through the trees on the head's rail, and back: latency
//! 2 [(g-1) inside + lg n across], and per NIC 2 M/g (FACTS B.3). A tree over all ranks, which
//! the builders unroll, would cross nodes with only a few of them.

use super::{Send, Step, Traffic};
use crate::parameters::Channels;
use tier6_collective::Schedule;

/// Returns AllReduce over `per_node` ranks per node, given the trees over the nodes.
pub(crate) fn node_tree(trees: &Schedule, per_node: u32, channels: Channels) -> Traffic {
    let g = f64::from(per_node);
    let over_nodes = Traffic::of_schedule(trees);
    let ranks = over_nodes.ranks * per_node;
    let mut steps = vec![chain(ranks, per_node, channels, 1.0 / g)];
    steps.extend(over_nodes.steps.iter().map(|step| {
        let sends = step.sends.iter().flat_map(|send| on_rails(*send, per_node));
        Step::new(step.repeat, sends.collect(), step.reduced / g)
    }));
    steps.push(chain(ranks, per_node, channels, 0.0));
    Traffic {
        reduced: (g - 1.0) / g + over_nodes.reduced / g,
        ..Traffic::new(ranks, steps)
    }
}

/// The steps to the heads or back: every rank passes one channel's share on.
fn chain(ranks: u32, per_node: u32, channels: Channels, reduced: f64) -> Step {
    let peers = match channels {
        Channels::AllPeers => per_node - 1,
        Channels::One | Channels::Rotated => 1,
    };
    let share = 1.0 / f64::from(per_node * peers.max(1));
    let hops = (0..ranks).flat_map(|rank| (1..=peers).map(move |distance| (rank, distance)));
    let sends = hops.map(|(rank, distance)| Send::Pair {
        src: rank,
        dst: rank / per_node * per_node + (rank % per_node + distance) % per_node,
        share,
    });
    Step::new(per_node - 1, sends.collect(), reduced)
}

/// One message between nodes, a share on every rail.
fn on_rails(send: Send, per_node: u32) -> Vec<Send> {
    let Send::Pair { src, dst, share } = send else {
        return Vec::new();
    };
    let rails = (0..per_node).map(|local| Send::Pair {
        src: src * per_node + local,
        dst: dst * per_node + local,
        share: share / f64::from(per_node),
    });
    rails.collect()
}
