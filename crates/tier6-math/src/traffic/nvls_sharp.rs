//! NVLS in the nodes with aggregation in the network between them: what NCCL's NVLS is on several
//! nodes. Every rank lets its switch add a slice of M/g, the rails aggregate the slices, and every
//! rank stores its own to its node.

use super::{Send, Step, Traffic};
use tier6_collective::RankId;

/// Returns AllReduce over nodes of `per_node` ranks.
pub(crate) fn nvls_sharp(ranks: u32, per_node: u32) -> Traffic {
    let slice = 1.0 / f64::from(per_node);
    let rail = |local: u32| (local..ranks).step_by(per_node as usize).map(RankId);
    let mut groups: Vec<Vec<RankId>> = (0..per_node).map(|local| rail(local).collect()).collect();
    let aggregates = (0..per_node).map(|group| Send::Aggregate {
        group,
        share: slice,
    });
    let mut steps = vec![Step::new(1, aggregates.collect(), 0.0)];
    if per_node > 1 {
        for first in (0..ranks).step_by(per_node as usize) {
            groups.push((first..first + per_node).map(RankId).collect());
        }
        let node = |rank: u32| per_node + rank / per_node;
        let loads = (0..ranks).map(|dst| Send::LoadReduce {
            group: node(dst),
            dst,
            share: slice,
        });
        let stores = (0..ranks).map(|src| Send::Multicast {
            src,
            group: node(src),
            share: slice,
        });
        steps.insert(0, Step::new(1, loads.collect(), 0.0));
        steps.push(Step::new(1, stores.collect(), 0.0));
    }
    Traffic {
        groups,
        ..Traffic::new(ranks, steps)
    }
}
