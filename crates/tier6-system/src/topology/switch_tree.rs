//! The tree of links by which a switch serves a group of chips.
//!
//! Its root is the last switch before the group's first chip. Every link of it carries a
//! multicast, or a sum, once, however many chips are behind it.

use super::{ChipId, LinkId, Topology, Vertex, VertexId};
use tier6_units::Micros;

/// Links between a group's chips and the switch that serves them, both ways.
#[derive(Debug, Clone)]
pub struct SwitchTree {
    members: Vec<ChipId>,
    root: VertexId,
    up: Side,
    down: Side,
    latency: Micros,
    tier: u32,
}

/// One direction of a tree.
#[derive(Debug, Clone)]
struct Side {
    /// By member.
    ways: Vec<Vec<LinkId>>,
    /// The links of all ways, each once, each after those that feed it.
    links: Vec<LinkId>,
}

impl SwitchTree {
    /// Returns the tree of two chips or more; `None` when no switch is on all their routes, or
    /// a link of it goes one way only.
    pub fn of(topology: &Topology, members: &[ChipId]) -> Option<Self> {
        let (first, others) = members.split_first()?;
        let routes = topology.routes_from(others, *first);
        let route = routes.route(*others.first()?, 0);
        let at = route
            .iter()
            .rposition(|link| is_switch(topology, topology.link(*link).from))?;
        let root = topology.link(route[at]).from;
        let mut up = vec![reversed(topology, &route[at..])?];
        let mut down = vec![route[at..].to_vec()];
        for member in others {
            let mut route = routes.route(*member, 0);
            let end = route
                .iter()
                .position(|link| topology.link(*link).to == root)?;
            route.truncate(end + 1);
            down.push(reversed(topology, &route)?);
            up.push(route);
        }
        let longest = |ways: &[Vec<LinkId>]| {
            let times = ways.iter().map(|way| topology.route_latency(way).get());
            times.fold(0.0, f64::max)
        };
        let latency = longest(&up) + topology.vertex_latency(root).get() + longest(&down);
        let tiers = up.iter().flatten().map(|link| topology.link(*link).tier);
        Some(Self {
            members: members.to_vec(),
            root,
            latency: Micros::new(latency),
            tier: tiers.max().unwrap_or(0),
            // Counted from the root, so that the longest ways come first.
            up: Side::of(up, |length, at| usize::MAX - (length - at)),
            down: Side::of(down, |_, at| at),
        })
    }

    /// Returns the group.
    pub fn members(&self) -> &[ChipId] {
        &self.members
    }

    /// Returns the switch.
    pub const fn root(&self) -> VertexId {
        self.root
    }

    /// Returns the vertices where ways to the root meet, each once: who adds.
    pub fn adders(&self, topology: &Topology) -> Vec<VertexId> {
        let links = self.up.links.iter();
        let mut ends: Vec<_> = links.map(|link| topology.link(*link).to).collect();
        ends.sort_unstable();
        let meet = ends.chunk_by(|one, other| one == other);
        let meet = meet.filter(|ways| ways.len() > 1);
        meet.map(|ways| ways[0]).collect()
    }

    /// Returns the links that carry data to the root, each after those that feed it: one member's,
    /// or everybody's. `None` when the chip is no member.
    pub fn up(&self, member: Option<ChipId>) -> Option<&[LinkId]> {
        self.links(&self.up, member)
    }

    /// Returns the links that carry data from the root, each after the one that feeds it: to one
    /// member, or to all. `None` when the chip is no member.
    pub fn down(&self, member: Option<ChipId>) -> Option<&[LinkId]> {
        self.links(&self.down, member)
    }

    /// Returns each way to the root: one member's, or everybody's.
    pub fn ways_up(&self, member: Option<ChipId>) -> Option<&[Vec<LinkId>]> {
        self.ways(&self.up, member)
    }

    /// Returns each way from the root: to one member, or to all.
    pub fn ways_down(&self, member: Option<ChipId>) -> Option<&[Vec<LinkId>]> {
        self.ways(&self.down, member)
    }

    /// Returns the longest time up and down again, the root included.
    pub const fn latency(&self) -> Micros {
        self.latency
    }

    /// Returns the outermost tier that it crosses.
    pub const fn tier(&self) -> u32 {
        self.tier
    }

    fn links<'a>(&self, side: &'a Side, member: Option<ChipId>) -> Option<&'a [LinkId]> {
        match member {
            None => Some(&side.links),
            Some(chip) => Some(&side.ways[self.place(chip)?]),
        }
    }

    fn ways<'a>(&self, side: &'a Side, member: Option<ChipId>) -> Option<&'a [Vec<LinkId>]> {
        match member {
            None => Some(&side.ways),
            Some(chip) => {
                let at = self.place(chip)?;
                Some(&side.ways[at..=at])
            }
        }
    }

    fn place(&self, chip: ChipId) -> Option<usize> {
        self.members.iter().position(|other| *other == chip)
    }
}

impl Side {
    /// Sorts the links by a depth that is the same on every way, from a way's length and a link's
    /// place on it.
    fn of(ways: Vec<Vec<LinkId>>, depth: impl Fn(usize, usize) -> usize) -> Self {
        let mut links: Vec<(usize, LinkId)> = Vec::new();
        for way in &ways {
            let deep = way.iter().enumerate();
            links.extend(deep.map(|(at, link)| (depth(way.len(), at), *link)));
        }
        links.sort_unstable();
        links.dedup();
        Self {
            links: links.into_iter().map(|(_, link)| link).collect(),
            ways,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset;

    #[test]
    fn a_link_comes_after_those_that_feed_it_and_once() {
        // Leaves and spines: ways to the root have more than one switch.
        let topology = preset("h100-x8-ib-ndr").unwrap().with_outer_count(70);
        let topology = topology.resolve().unwrap();
        let first_chips = (0..70).map(|node| ChipId::new(node * topology.chips_per_node()));
        let members: Vec<ChipId> = first_chips.collect();
        let tree = SwitchTree::of(&topology, &members).unwrap();
        for (links, ways) in [
            (tree.up(None).unwrap(), tree.ways_up(None).unwrap()),
            (tree.down(None).unwrap(), tree.ways_down(None).unwrap()),
        ] {
            assert_eq!(ways.len(), 70);
            for way in ways {
                let places = way
                    .iter()
                    .map(|link| links.iter().position(|other| other == link).unwrap());
                assert!(places.collect::<Vec<_>>().is_sorted());
            }
            let mut once = links.to_vec();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), links.len());
        }
        assert_eq!(tree.tier(), 1);
        // Three leaves of 32 nodes or fewer, below one spine.
        let adders = tree.adders(&topology);
        assert!(adders.contains(&tree.root()));
        assert_eq!(adders.len(), 4);
        for member in tree.members() {
            let up = tree.up(Some(*member)).unwrap();
            let down = tree.down(Some(*member)).unwrap();
            assert_eq!(topology.link(*up.last().unwrap()).to, tree.root());
            assert_eq!(topology.link(down[0]).from, tree.root());
        }
        assert_eq!(tree.up(Some(ChipId::new(1))), None);
    }

    #[test]
    fn links_alone_serve_nobody() {
        let mesh = preset("dgx1").unwrap().resolve().unwrap();
        let members: Vec<ChipId> = (0..4).map(ChipId::new).collect();
        assert!(SwitchTree::of(&mesh, &members).is_none());
    }
}
