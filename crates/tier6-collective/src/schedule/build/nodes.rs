//! Ranks on nodes: rank r is chip r mod g of node r / g.

use super::{BuildError, Job};

/// n nodes of g ranks.
#[derive(Clone, Copy)]
pub(super) struct Nodes {
    /// g.
    pub(super) ranks_per_node: u32,
    /// n.
    pub(super) count: u32,
}

impl Nodes {
    pub(super) fn of(job: &Job) -> Result<Self, BuildError> {
        let algorithm = job.algorithm;
        let (ranks, per_node) = (job.ranks(), job.options.ranks_per_node);
        let ranks_per_node = per_node.ok_or(BuildError::NeedsNodes { algorithm })?;
        if ranks_per_node == 0 || !ranks.is_multiple_of(ranks_per_node) {
            return Err(BuildError::UnevenNodes {
                ranks,
                ranks_per_node,
            });
        }
        Ok(Self {
            ranks_per_node,
            count: ranks / ranks_per_node,
        })
    }

    /// Returns the ranks of a node.
    pub(super) fn node(self, node: u32) -> Vec<u32> {
        (0..self.ranks_per_node)
            .map(|local| node * self.ranks_per_node + local)
            .collect()
    }

    /// Returns the ranks that are chip `local` of their nodes.
    pub(super) fn rail(self, local: u32) -> Vec<u32> {
        (0..self.count)
            .map(|node| node * self.ranks_per_node + local)
            .collect()
    }
}
