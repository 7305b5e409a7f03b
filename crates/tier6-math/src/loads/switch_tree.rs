//! The tree of links by which a switch serves a group of chips.
//!
//! Its root is the last switch before the group's first chip. Every link of it carries a
//! multicast, or a sum, once, however many chips are behind it.

use std::collections::BTreeSet;
use tier6_system::{ChipId, LinkId, Topology, Vertex, VertexId};

/// Links between chips and the root, both ways.
#[derive(Debug, Clone)]
pub(super) struct SwitchTree {
    members: Vec<ChipId>,
    /// From each member to the root.
    up: Vec<Vec<LinkId>>,
    /// From the root to each member.
    down: Vec<Vec<LinkId>>,
    all_up: Vec<LinkId>,
    all_down: Vec<LinkId>,
    latency: f64,
    tier: u32,
}

impl SwitchTree {
    /// Returns the tree of two chips or more; `None` when no switch is on all their routes, or
    /// a link of it goes one way only.
    pub(super) fn of(topology: &Topology, members: &[ChipId]) -> Option<Self> {
        let (first, others) = members.split_first()?;
        let routes = topology.routes_to(*first);
        let mut route = routes.route(*others.first()?, 0);
        let at = route
            .iter()
            .rposition(|link| is_switch(topology, topology.link(*link).from))?;
        let root = topology.link(route[at]).from;
        let mut up = vec![reversed(topology, &route[at..])?];
        let mut down = vec![route[at..].to_vec()];
        for member in others {
            route = routes.route(*member, 0);
            let end = route
                .iter()
                .position(|link| topology.link(*link).to == root)?;
            route.truncate(end + 1);
            down.push(reversed(topology, &route)?);
            up.push(route.clone());
        }
        let all = |paths: &[Vec<LinkId>]| -> Vec<LinkId> {
            let links: BTreeSet<LinkId> = paths.iter().flatten().copied().collect();
            links.into_iter().collect()
        };
        let longest = |paths: &[Vec<LinkId>]| {
            let time = |path: &Vec<LinkId>| topology.route_latency(path).get();
            paths.iter().map(time).fold(0.0, f64::max)
        };
        let tiers = up.iter().flatten().map(|link| topology.link(*link).tier);
        let tier = tiers.max().unwrap_or(0);
        let latency = longest(&up) + topology.vertex_latency(root).get() + longest(&down);
        Some(Self {
            members: members.to_vec(),
            all_up: all(&up),
            all_down: all(&down),
            latency,
            tier,
            up,
            down,
        })
    }

    /// Returns the links that carry data to the root: one member's, or everybody's.
    pub(super) fn up(&self, member: Option<ChipId>) -> &[LinkId] {
        self.path(&self.up, &self.all_up, member)
    }

    /// Returns the links that carry data from the root: one member's, or everybody's.
    pub(super) fn down(&self, member: Option<ChipId>) -> &[LinkId] {
        self.path(&self.down, &self.all_down, member)
    }

    /// Returns the time up and down again, in microseconds.
    pub(super) fn latency(&self) -> f64 {
        self.latency
    }

    /// Returns the outermost tier that it crosses.
    pub(super) fn tier(&self) -> u32 {
        self.tier
    }

    fn path<'a>(
        &self,
        paths: &'a [Vec<LinkId>],
        all: &'a [LinkId],
        member: Option<ChipId>,
    ) -> &'a [LinkId] {
        let Some(chip) = member else {
            return all;
        };
        let at = self.members.iter().position(|other| *other == chip);
        at.map_or(&[], |at| paths[at].as_slice())
    }
}

fn is_switch(topology: &Topology, vertex: VertexId) -> bool {
    matches!(topology.vertices()[vertex.index()], Vertex::Switch(_))
}

/// Returns the links of the way back.
fn reversed(topology: &Topology, route: &[LinkId]) -> Option<Vec<LinkId>> {
    let back = route.iter().rev();
    back.map(|link| topology.link(*link).reverse).collect()
}
