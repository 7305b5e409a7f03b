//! The double binary tree as NCCL lays it across nodes: over the nodes, with a chain inside.
//!
//! Of g channels each has another rank of the node as its head. A channel's share goes along the
//! chain to the head, through the trees on the head's rail, and back: latency
//! 2 [(g-1) inside + lg n across], and per NIC 2 M/g (FACTS B.3). A tree over all ranks, which
//! the builders unroll, would cross nodes with only a few of them.

use super::pattern::inside;
use super::{Send, Step, Traffic};
use tier6_collective::Schedule;

/// Returns AllReduce over `per_node` ranks per node, given the trees over the nodes and each
/// rank's peers inside.
pub(crate) fn node_tree(trees: &Schedule, per_node: u32, peers: &[Vec<(u32, f64)>]) -> Traffic {
    let g = f64::from(per_node);
    // To the heads and back every rank passes one channel's share on.
    let chain = |reduced| Step::new(per_node - 1, inside(peers, 1.0 / g), reduced);
    let over_nodes = Traffic::of_schedule(trees);
    let ranks = over_nodes.ranks * per_node;
    let mut steps = vec![chain(1.0 / g)];
    steps.extend(over_nodes.steps.iter().map(|step| {
        let sends = step.sends.iter().flat_map(|send| on_rails(*send, per_node));
        Step::new(step.repeat, sends.collect(), step.reduced / g)
    }));
    steps.push(chain(0.0));
    Traffic {
        reduced: (g - 1.0) / g + over_nodes.reduced / g,
        ..Traffic::new(ranks, steps)
    }
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
