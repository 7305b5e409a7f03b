//! The double binary tree over nodes, with a chain inside each, as NCCL lays it (FACTS B.3).
//!
//! AllReduce: each rank of a node is the head of one rail, with M/g of the message. A node sums a
//! rail's share along a chain to its head, the heads run both trees, and the share goes back down
//! the chain: 2 [(g-1) inside + lg n across], and no rank puts more than 2M/g on its way across.
//! A tree over all ranks would cross nodes with only a few of them.
//!
//! Broadcast and Reduce have one rail, that of the root, with all of M; as in the double tree, the
//! trees are over the other heads, and the root feeds, or drains, the two tree roots.
//!
//! Ports: six of the trees, then for each rail the chain to its head and the chain from it: rails
//! are channels of their own, and none queues behind another.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::{Leg, Op, Piece};

use super::nodes::Nodes;
use super::tree::{Load, Tree, double_tree};
use super::{BuildError, Job};

/// Ports of the trees: a rank is the head of one rail.
const OF_TREES: u32 = 6;

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let nodes = Nodes::of(job)?;
    let per_rail = 2 * job.options.pieces;
    let rails: Vec<Rail> = match job.collective {
        Collective::AllReduce => (0..nodes.ranks_per_node)
            .map(|head| Rail::new(nodes, head, None))
            .collect(),
        _ => vec![Rail::new(
            nodes,
            job.root() % nodes.ranks_per_node,
            Some(job.root()),
        )],
    };
    let n_rails = u32::try_from(rails.len()).expect("Invariant: a rail per rank of a node");
    let hops = nodes.ranks_per_node as usize - 1;
    let mut draft = job.in_place_with_scratch(n_rails * per_rail, per_rail);
    for first in (0..per_rail).step_by(2) {
        // A chain passes the chunks of both trees on in one message, and all chains keep step.
        let chunks = (0..n_rails).map(|rail| rail * per_rail + first);
        let shares = chunks.map(|chunk| Piece::same(draft.memory().recv(chunk), 2));
        let shares: Vec<Piece> = shares.collect();
        if job.collective != Collective::Broadcast {
            for hop in (0..hops).rev() {
                for (rail, share) in rails.iter().zip(&shares) {
                    rail.up(&mut draft, hop, *share);
                }
            }
        }
        for (index, rail) in (0..).zip(&rails) {
            for (piece, tree) in (first..).zip(rail.trees.iter().flatten()) {
                let load = Load::of(&draft, index * per_rail + piece, piece);
                tree.run(&mut draft, job, load);
            }
        }
        if job.collective != Collective::Reduce {
            for hop in 0..hops {
                for (rail, share) in rails.iter().zip(&shares) {
                    rail.down(&mut draft, hop, *share);
                }
            }
        }
    }
    Ok(draft.finish())
}

/// The heads of the nodes, and the chains to them.
struct Rail {
    /// The chip of its nodes that is the head.
    head: u32,
    /// The ranks of each node, from its head on.
    chains: Vec<Vec<u32>>,
    /// The trees over the heads; none over no head.
    trees: Option<[Tree; 2]>,
}

impl Rail {
    /// Returns the rail of the heads that are chip `head` of their nodes, with trees over all of
    /// them but `root`.
    fn new(nodes: Nodes, head: u32, root: Option<u32>) -> Self {
        let chain = |node| {
            let mut ranks = nodes.node(node);
            ranks.rotate_left(head as usize);
            ranks
        };
        let mut heads = nodes.rail(head);
        heads.retain(|rank| Some(*rank) != root);
        Self {
            head,
            chains: (0..nodes.count).map(chain).collect(),
            trees: (!heads.is_empty()).then(|| double_tree(heads)),
        }
    }

    /// Returns the port of the chain to the head (0) or from it (1). Beyond the ports that there
    /// are, rails share.
    fn port(&self, way: u32) -> PortId {
        let rails = (u32::from(u8::MAX) + 1 - OF_TREES) / 2;
        let port = OF_TREES + 2 * (self.head % rails) + way;
        PortId(u8::try_from(port).expect("Invariant: rails share what ports there are"))
    }

    /// Adds a hop of the sums to the heads.
    fn up(&self, draft: &mut Draft, hop: usize, share: Piece) {
        for chain in &self.chains {
            let leg = Leg::send(chain[hop + 1], chain[hop], Op::Reduce);
            draft.push(leg.through(self.port(0)), &[share]);
        }
    }

    /// Adds a hop of the copies from the heads.
    fn down(&self, draft: &mut Draft, hop: usize, share: Piece) {
        for chain in &self.chains {
            let leg = Leg::send(chain[hop], chain[hop + 1], Op::Copy);
            draft.push(leg.through(self.port(1)), &[share]);
        }
    }
}
