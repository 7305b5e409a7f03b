//! The aggregations that switches hold (FACTS B.7).
//!
//! A group has one context in every switch that adds for it, from its first message to when none
//! of its messages is under way. A group that finds a switch full waits in line, and takes the
//! contexts of all its switches at once, so that no group holds one while it waits for another.

use std::collections::BTreeMap;

use tier6_collective::{GroupId, Route};
use tier6_system::VertexId;

use super::{Chips, HeadWait, Held, Node, QueueId};
use crate::FabricError;
use crate::account::Chain;
use crate::network::{Network, PathId};
use crate::run::World;

/// A group of a job.
type Group = (u32, GroupId);

/// Who holds what, and who waits.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// Groups that a switch holds at most; `None` for as many as there are.
    limit: Option<u32>,
    full: BTreeMap<VertexId, u32>,
    holders: BTreeMap<Group, Holder>,
    line: Vec<Held>,
}

#[derive(Debug)]
struct Holder {
    switches: Vec<VertexId>,
    under_way: u32,
}

impl Contexts {
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns who waits, in order.
    pub(super) fn line(&self) -> &[Held] {
        &self.line
    }

    /// Says whether a group can go: it has its contexts, or all its switches have one free.
    fn has_room(&self, group: Group, switches: &[VertexId]) -> bool {
        let count = |switch| self.full.get(switch).copied().unwrap_or(0);
        let is_free = |switch| self.limit.is_none_or(|limit| count(switch) < limit);
        self.holders.contains_key(&group) || switches.iter().all(is_free)
    }

    /// Counts a message of a group that has room.
    fn take(&mut self, group: Group, switches: &[VertexId]) {
        let full = &mut self.full;
        let holder = self.holders.entry(group).or_insert_with(|| {
            for switch in switches {
                *full.entry(*switch).or_default() += 1;
            }
            Holder {
                switches: switches.to_vec(),
                under_way: 0,
            }
        });
        holder.under_way += 1;
    }

    /// Counts a message that is complete; says whether contexts became free with it.
    fn give(&mut self, group: Group) -> bool {
        let holder = self.holders.get_mut(&group);
        let holder = holder.expect("Invariant: who is under way has its contexts");
        holder.under_way -= 1;
        if holder.under_way > 0 {
            return false;
        }
        for switch in &holder.switches {
            *self.full.entry(*switch).or_default() -= 1;
        }
        self.holders.remove(&group);
        true
    }
}

impl Chips<'_> {
    /// Says whether the switches of a message's path may add for its group.
    pub(super) fn may_aggregate<N: Network>(
        &self,
        job: u32,
        route: Route,
        path: Option<PathId>,
        world: &World<'_, '_, N>,
    ) -> bool {
        match (route, path) {
            (Route::Aggregate { group }, Some(path)) if self.contexts.limit.is_some() => {
                self.contexts.has_room((job, group), switches(path, world))
            }
            _ => true,
        }
    }

    /// Lets a slice, or the queue that it is first in, wait for contexts.
    pub(super) fn wait_in_line(&mut self, node: Node, queue: Option<QueueId>) {
        if let Some(queue) = queue {
            self.queues[queue].head = HeadWait::Context;
        }
        let held = queue.map_or(Held::Loose(node), Held::Queue);
        self.contexts.line.push(held);
    }

    /// Counts an aggregation that goes.
    pub(super) fn aggregate<N: Network>(
        &mut self,
        job: u32,
        route: Route,
        path: Option<PathId>,
        world: &World<'_, '_, N>,
    ) {
        if let (Route::Aggregate { group }, Some(path)) = (route, path)
            && self.contexts.limit.is_some()
        {
            self.contexts.take((job, group), switches(path, world));
        }
    }

    /// Counts an aggregation that is complete, and lets those go on who waited for its contexts.
    pub(super) fn aggregated<N: Network>(
        &mut self,
        job: u32,
        route: Route,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let Route::Aggregate { group } = route else {
            return Ok(());
        };
        if self.contexts.limit.is_none() || !self.contexts.give((job, group)) {
            return Ok(());
        }
        // Who still finds no room goes back in line, in the same order.
        for held in std::mem::take(&mut self.contexts.line) {
            match held {
                Held::Queue(queue) => {
                    self.queues[queue].head = HeadWait::Nothing;
                    self.try_queue(queue, chain, world)?;
                }
                Held::Loose(node) => self.try_loose(node.job, node.transfer, chain, world)?,
                Held::Receive(job, transfer) => self.post(job, transfer, chain, world)?,
            }
        }
        Ok(())
    }
}

/// Returns the switches that add on a path.
fn switches<'f, N: Network>(path: PathId, world: &'f World<'_, '_, N>) -> &'f [VertexId] {
    let tree = world.fabric.path(path).tree();
    tree.map_or(&[], |tree| &tree.adders)
}
