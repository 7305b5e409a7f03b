//! The links by which a switch serves a group of chips.
//!
//! The root is the last switch before the group's first chip. Every link carries a multicast, or
//! a sum, once, however many chips are behind it.

use tier6_system::{ChipId, LinkId, Topology, Vertex, VertexId};
use tier6_units::SimTime;

/// Links between chips and the root, both ways.
#[derive(Debug)]
pub(super) struct SwitchTree {
    pub(super) members: Vec<ChipId>,
    pub(super) root: VertexId,
    /// From each member to the root.
    up: Vec<Vec<LinkId>>,
    /// From the root to each member.
    down: Vec<Vec<LinkId>>,
}

impl SwitchTree {
    /// Returns the tree of two chips or more; `None` when no switch is on all their routes, or
    /// a link of it goes one way only.
    pub(super) fn of(topology: &Topology, members: &[ChipId]) -> Option<Self> {
        let (first, others) = members.split_first()?;
        let routes = topology.routes_to(*first);
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
        Some(Self {
            members: members.to_vec(),
            root,
            up,
            down,
        })
    }

    /// Returns the links that carry data to the root, each after those that feed it: one
    /// member's, or everybody's. `None` when the chip is no member.
    pub(super) fn up(&self, member: Option<ChipId>) -> Option<Vec<LinkId>> {
        // Counted from the root, so that the longest ways come first.
        let paths = self.paths(&self.up, member)?;
        Some(by_depth(paths, |length, at| usize::MAX - (length - at)))
    }

    /// Returns the links that carry data from the root, each after the one that feeds it.
    pub(super) fn down(&self, member: Option<ChipId>) -> Option<Vec<LinkId>> {
        let paths = self.paths(&self.down, member)?;
        Some(by_depth(paths, |_, at| at))
    }

    /// Returns the longest way up and down again, by the latency of each link; that of the last
    /// link up has the root in it.
    pub(super) fn latency(
        &self,
        (from, to): (Option<ChipId>, Option<ChipId>),
        of: impl Fn(&[LinkId]) -> SimTime,
    ) -> Option<SimTime> {
        let longest = |paths: &[Vec<LinkId>]| {
            let times = paths.iter().map(|path| of(path));
            times.max().unwrap_or(SimTime::ZERO)
        };
        let up = longest(self.paths(&self.up, from)?);
        let down = longest(self.paths(&self.down, to)?);
        Some(up + down)
    }

    fn paths<'a>(
        &self,
        paths: &'a [Vec<LinkId>],
        member: Option<ChipId>,
    ) -> Option<&'a [Vec<LinkId>]> {
        let Some(chip) = member else {
            return Some(paths);
        };
        let at = self.members.iter().position(|other| *other == chip)?;
        Some(&paths[at..=at])
    }
}

/// Returns the links of all paths, each once, sorted by a depth that is the same on every path.
fn by_depth(paths: &[Vec<LinkId>], depth: impl Fn(usize, usize) -> usize) -> Vec<LinkId> {
    let mut links: Vec<(usize, LinkId)> = Vec::new();
    for path in paths {
        let deep = path.iter().enumerate();
        links.extend(deep.map(|(at, link)| (depth(path.len(), at), *link)));
    }
    links.sort_unstable();
    links.dedup();
    links.into_iter().map(|(_, link)| link).collect()
}

fn is_switch(topology: &Topology, vertex: VertexId) -> bool {
    matches!(topology.vertices()[vertex.index()], Vertex::Switch(_))
}

/// Returns the links of the way back.
fn reversed(topology: &Topology, route: &[LinkId]) -> Option<Vec<LinkId>> {
    let back = route.iter().rev();
    back.map(|link| topology.link(*link).reverse).collect()
}
