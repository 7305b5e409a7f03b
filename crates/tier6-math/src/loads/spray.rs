//! Ideal spraying: a flow in equal parts at every branch of its shortest routes.
//!
//! Says what `RouteTree::shares` says, for the many flows of one schedule: what a switch does with
//! a destination is looked up once, since a switch may have thousands of ports.

use std::collections::HashMap;
use tier6_system::{LinkId, RouteTree, Topology, Vertex, VertexId};

/// Parts of flows, and what switches do with destinations.
#[derive(Default)]
pub(super) struct Spray {
    /// By destination rank and switch; for lookup only.
    at_switch: HashMap<(u32, VertexId), Box<[LinkId]>>,
    /// Vertices that a flow has reached, with its share there.
    reached: Vec<(VertexId, f64)>,
    next: Vec<(VertexId, f64)>,
    links: Vec<LinkId>,
}

impl Spray {
    /// Calls `add` with every link of the flow and the part on it, and returns the latency of the
    /// first of its routes in microseconds and the outermost tier that it crosses.
    pub(super) fn flow(
        &mut self,
        topology: &Topology,
        tree: &RouteTree<'_>,
        ends: (VertexId, u32),
        share: f64,
        mut add: impl FnMut(LinkId, f64),
    ) -> (f64, u32) {
        let (from, dst) = ends;
        let target = topology.chip_vertex(tree.to());
        let (mut latency, mut tier) = (0.0, 0);
        self.reached.clear();
        self.reached.push((from, share));
        // Routes of equal cost have equally many links, so all parts arrive together.
        while self.reached.first().is_some_and(|(at, _)| *at != target) {
            self.next.clear();
            for index in 0..self.reached.len() {
                let (vertex, part) = self.reached[index];
                self.look_up(topology, tree, vertex, dst);
                let part = part / self.links.len() as f64;
                for link in &self.links {
                    add(*link, part);
                    let to = topology.link(*link).to;
                    match self.next.iter_mut().find(|(known, _)| *known == to) {
                        Some((_, arrived)) => *arrived += part,
                        None => self.next.push((to, part)),
                    }
                }
                if index == 0
                    && let Some(link) = self.links.first()
                {
                    latency += topology.link(*link).latency.get();
                    tier = tier.max(topology.link(*link).tier);
                    latency += topology.vertex_latency(topology.link(*link).to).get();
                }
            }
            std::mem::swap(&mut self.reached, &mut self.next);
        }
        (latency, tier)
    }

    /// Puts the links on from a vertex into `links`.
    fn look_up(&mut self, topology: &Topology, tree: &RouteTree<'_>, vertex: VertexId, dst: u32) {
        self.links.clear();
        if matches!(topology.vertices()[vertex.index()], Vertex::Switch(_)) {
            let known = self.at_switch.entry((dst, vertex));
            let links = known.or_insert_with(|| tree.next_links(vertex).collect());
            self.links.extend_from_slice(links);
        } else {
            self.links.extend(tree.next_links(vertex));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tier6_system::{ChipId, preset};

    #[test]
    fn parts_and_latency_are_those_of_the_topology() {
        for name in ["h100-x8-ib-ndr", "a100-x8-efa", "a100-x4-slingshot", "dgx1"] {
            let topology = preset(name).unwrap().resolve().unwrap();
            let mut spray = Spray::default();
            let n = topology.n_chips();
            for (from, to) in [(0, 1), (1, n - 1), (n - 1, 0), (2, n / 2), (n / 2, 2)] {
                let tree = topology.routes_to(ChipId::new(to));
                let chip = ChipId::new(from);
                let mut parts: BTreeMap<LinkId, f64> = BTreeMap::new();
                let start = (topology.chip_vertex(chip), to);
                let (latency, _) = spray.flow(&topology, &tree, start, 1.0, |link, part| {
                    *parts.entry(link).or_default() += part;
                });
                let mut expected: BTreeMap<LinkId, f64> = BTreeMap::new();
                for (link, part) in tree.shares(chip) {
                    *expected.entry(link).or_default() += part;
                }
                assert_eq!(parts.len(), expected.len(), "{name} {from} {to}");
                for (link, part) in parts {
                    assert!((part - expected[&link]).abs() < 1e-12, "{name} {from} {to}");
                }
                let route = topology.route_latency(&tree.route(chip, 0));
                assert!((latency - route.get()).abs() < 1e-12, "{name} {from} {to}");
            }
        }
    }
}
