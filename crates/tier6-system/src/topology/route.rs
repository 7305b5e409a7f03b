//! Routes: shortest paths towards one chip, with all their equal alternatives.
//!
//! A route uses as few NICs as it can, then (where a fat tree prefers chips to spines) as few
//! spines, then relays through as few chips, then crosses as few links: traffic of a node stays in it, a chip forwards for others only where no switch does
//! (ring, torus). Among equal next links a chip takes the first in port order, so that on a
//! ring of even size all antipodal traffic goes the positive way (FACTS B.4), and a switch
//! spreads by destination (d-mod-k). `flow` turns both choices, for channels that should not
//! share a path.
//!
//! One tree costs O(links) and is kept as long as its caller needs it.

use super::{ChipId, Link, LinkId, Tier, Topology, Vertex, VertexId};
use crate::spec::{CrossRail, FabricSpec};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Cost of a route, compared as one number: NICs that send, avoided spines, chips that relay,
/// links.
const LINK: u64 = 1;
const RELAY: u64 = 1 << 20;
const SPINE: u64 = 1 << 36;
const NIC: u64 = 1 << 48;
const UNREACHED: u64 = u64::MAX;

/// What a link adds to the cost of a route, wherever the route leads.
pub(crate) fn link_weight(link: &Link, vertices: &[Vertex], tiers: &[Tier]) -> u64 {
    let is_switch = |vertex: VertexId| matches!(vertices[vertex.index()], Vertex::Switch(_));
    let avoids_spines = matches!(
        &tiers[link.tier as usize].fabric,
        FabricSpec::FatTree(tree) if tree.cross_rail == CrossRail::Chip
    );
    let spine = if avoids_spines && is_switch(link.from) && is_switch(link.to) {
        SPINE
    } else {
        0
    };
    let nic = match vertices[link.from.index()] {
        Vertex::NicSend(_) => NIC,
        Vertex::Chip(_) | Vertex::Switch(_) | Vertex::NicReceive(_) => 0,
    };
    LINK + spine + nic
}

/// All shortest routes to one chip.
#[derive(Debug, Clone)]
pub struct RouteTree<'t> {
    topology: &'t Topology,
    to: ChipId,
    /// Cost from each vertex to the chip.
    cost: Vec<u64>,
    /// The highest cost that is known to be the lowest of its vertex.
    settled: u64,
}

impl Topology {
    /// Returns the routes to a chip.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn routes_to(&self, to: ChipId) -> RouteTree<'_> {
        self.search(to, None)
    }

    /// Returns the routes from some chips to a chip, which takes less than those from all. Of
    /// other chips the tree may know nothing, or too little.
    ///
    /// # Panics
    ///
    /// Panics when an id is of another topology.
    pub fn routes_from(&self, from: &[ChipId], to: ChipId) -> RouteTree<'_> {
        self.search(to, Some(from))
    }

    /// Settles vertices by ascending cost: all of them, or as far as all of `until`.
    fn search(&self, to: ChipId, until: Option<&[ChipId]>) -> RouteTree<'_> {
        let mut tree = RouteTree {
            topology: self,
            to,
            cost: vec![UNREACHED; self.vertices().len()],
            settled: UNREACHED,
        };
        let target = self.chip_vertex(to);
        tree.cost[target.index()] = 0;
        // Few costs differ, so vertices wait in one heap per cost (Dial 1969).
        let mut waiting = BTreeMap::from([(0, vec![target])]);
        while let Some((cost, vertices)) = waiting.pop_first() {
            let is_settled = |from: &ChipId| tree.cost[from.index()] <= cost;
            if until.is_some_and(|until| until.iter().all(is_settled)) {
                tree.settled = cost;
                break;
            }
            for vertex in vertices {
                if cost > tree.cost[vertex.index()] {
                    continue;
                }
                let cost = cost + tree.relay(vertex);
                for &link in self.links_into(vertex) {
                    let before = self.link(link).from;
                    let longer = cost + self.weights[link.index()];
                    if longer < tree.cost[before.index()] {
                        tree.cost[before.index()] = longer;
                        waiting.entry(longer).or_default().push(before);
                    }
                }
            }
        }
        tree
    }

    /// Returns the route between two chips; empty from a chip to itself. For many sources of
    /// one destination, [`Topology::routes_to`] does the work once.
    ///
    /// ```
    /// use tier6_system::{ChipId, preset};
    /// let h100 = preset("h100-x8").unwrap().resolve().unwrap();
    /// let route = h100.route(ChipId::new(0), ChipId::new(5));
    /// assert_eq!(route.len(), 2); // chip, NVSwitch, chip
    /// ```
    ///
    /// # Panics
    ///
    /// Panics when an id is of another topology.
    pub fn route(&self, from: ChipId, to: ChipId) -> Vec<LinkId> {
        self.search(to, Some(&[from])).route(from, 0)
    }
}

impl RouteTree<'_> {
    /// Returns the destination.
    pub fn to(&self) -> ChipId {
        self.to
    }

    /// Returns whether it is known to have the routes from everywhere.
    pub fn is_whole(&self) -> bool {
        self.cost.iter().all(|cost| *cost <= self.settled)
    }

    /// What the way through a vertex costs, whatever the link by which it is entered.
    fn relay(&self, vertex: VertexId) -> u64 {
        match self.topology.vertices()[vertex.index()] {
            Vertex::Chip(chip) if chip != self.to => RELAY,
            Vertex::Chip(_) | Vertex::Switch(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => 0,
        }
    }

    /// Returns whether a route leads here from `from`.
    pub fn reaches(&self, from: ChipId) -> bool {
        self.cost[from.index()] != UNREACHED
    }

    /// Returns the number of links from a chip, 0 from the destination itself.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn hops(&self, from: ChipId) -> u32 {
        // The lowest part of the cost; a chip always reaches a chip.
        let hops = self.cost[from.index()] % RELAY;
        u32::try_from(hops).expect("Invariant: below 2^20")
    }

    /// Returns the links that start a shortest way on from a vertex, preferred ones first;
    /// none at the destination.
    pub fn next_links(&self, vertex: VertexId) -> impl Iterator<Item = LinkId> + '_ {
        let cost = self.cost[vertex.index()];
        let links = self.topology.links_from(vertex).iter().copied();
        links.filter(move |&link| {
            let next = self.topology.link(link).to;
            let rest = self.cost[next.index()];
            // Most links lead away.
            rest < cost && rest + self.topology.weights[link.index()] + self.relay(next) == cost
        })
    }

    /// Returns one route. Flows 0, 1, .. take the alternatives in turn at every branch.
    pub fn route(&self, from: ChipId, flow: u32) -> Vec<LinkId> {
        let mut route = Vec::new();
        self.route_into(from, flow, &mut route);
        route
    }

    /// Appends one route to a buffer: [`RouteTree::route`] without its allocation.
    pub fn route_into(&self, from: ChipId, flow: u32, route: &mut Vec<LinkId>) {
        let mut vertex = self.topology.chip_vertex(from);
        let target = self.topology.chip_vertex(self.to);
        while vertex != target {
            let link = self.pick(vertex, flow);
            route.push(link);
            vertex = self.topology.link(link).to;
        }
    }

    /// The next link of one flow.
    fn pick(&self, vertex: VertexId, flow: u32) -> LinkId {
        let offset = match self.topology.vertices()[vertex.index()] {
            Vertex::Switch(_) => {
                let key = self.topology.chips()[self.to.index()].spread_key;
                u64::from(key) + u64::from(flow)
            }
            Vertex::Chip(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => flow.into(),
        };
        let n_links = self.next_links(vertex).count() as u64;
        let at = usize::try_from(offset % n_links.max(1)).expect("Invariant: below a length");
        self.next_links(vertex)
            .nth(at)
            .expect("Invariant: a resolved topology leads every chip to every chip")
    }

    /// Returns how many shortest routes there are, at most `u64::MAX`.
    pub fn n_routes(&self, from: ChipId) -> u64 {
        let mut ways = vec![0_u64; self.cost.len()];
        ways[self.topology.chip_vertex(from).index()] = 1;
        for vertex in self.downhill(from) {
            for link in self.next_links(vertex) {
                let next = self.topology.link(link).to.index();
                ways[next] = ways[next].saturating_add(ways[vertex.index()]);
            }
        }
        ways[self.topology.chip_vertex(self.to).index()]
    }

    /// Returns up to `limit` shortest routes, in order of preference: the set over which ECMP
    /// hashes.
    pub fn routes(&self, from: ChipId, limit: usize) -> Vec<Vec<LinkId>> {
        let mut routes = Vec::new();
        let target = self.topology.chip_vertex(self.to);
        let mut unfinished = vec![(self.topology.chip_vertex(from), Vec::new())];
        while let Some((vertex, route)) = unfinished.pop() {
            if routes.len() == limit {
                break;
            }
            if vertex == target {
                routes.push(route);
                continue;
            }
            let next: Vec<LinkId> = self.next_links(vertex).collect();
            for link in next.into_iter().rev() {
                let mut longer = route.clone();
                longer.push(link);
                unfinished.push((self.topology.link(link).to, longer));
            }
        }
        routes
    }

    /// Returns the links that an ideally spread flow uses, with the share that each carries:
    /// equal parts at every branch. Shares into the destination sum to 1.
    pub fn shares(&self, from: ChipId) -> Vec<(LinkId, f64)> {
        let mut shares = Vec::new();
        let mut arriving = BTreeMap::new();
        arriving.insert(self.topology.chip_vertex(from), 1.0);
        for vertex in self.downhill(from) {
            let next: Vec<LinkId> = self.next_links(vertex).collect();
            let share = arriving.get(&vertex).copied().unwrap_or(0.0) / next.len() as f64;
            for link in next {
                shares.push((link, share));
                *arriving.entry(self.topology.link(link).to).or_insert(0.0) += share;
            }
        }
        shares
    }

    /// Vertices on shortest routes from a chip, each before those that follow it; without the
    /// destination.
    fn downhill(&self, from: ChipId) -> Vec<VertexId> {
        let start = self.topology.chip_vertex(from);
        let mut waiting = BinaryHeap::from([(self.cost[start.index()], Reverse(start))]);
        let mut ordered = Vec::new();
        while let Some((cost, Reverse(vertex))) = waiting.pop() {
            if cost == 0 || ordered.last() == Some(&vertex) {
                continue;
            }
            ordered.push(vertex);
            for link in self.next_links(vertex) {
                let next = self.topology.link(link).to;
                waiting.push((self.cost[next.index()], Reverse(next)));
            }
        }
        ordered
    }
}
