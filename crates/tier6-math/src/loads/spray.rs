//! Ideal spraying: a flow in equal parts at every branch of its shortest routes.
//!
//! Says what `RouteTree::shares` says, for the many flows of one schedule. What every vertex does
//! with a destination is looked up once and then lies side by side, and equal lists of links share
//! one entry: few lists serve a million of flows, and a flow reads few lines of memory.

use super::tally::{LinkClock, Tally};
use std::collections::HashMap;
use std::num::NonZeroU32;
use tier6_system::{ChipId, LinkId, RouteTree, Topology, VertexId};

/// What vertices do with destinations, and parts of a flow.
pub(super) struct Spray {
    /// By vertex.
    exits: Vec<Exit>,
    n_forks: usize,
    /// By destination chip, then by fork; empty until a flow goes there.
    rows: Vec<Box<[BranchId]>>,
    /// The latest row, before branches were closed.
    last: Vec<BranchId>,
    branches: Vec<Branch>,
    /// For lookup only.
    ids: HashMap<Box<[LinkId]>, BranchId>,
    /// Vertices that a flow has reached, with its share there.
    reached: Vec<(VertexId, f64)>,
    next: Vec<(VertexId, f64)>,
}

/// How flows leave a vertex.
#[derive(Clone, Copy)]
enum Exit {
    /// By its one link, and to where.
    Only(LinkId, VertexId),
    /// As the destination's row says at this place.
    Fork(u32),
}

/// Links on from a vertex, the vertices behind them, and which of these each leads to.
struct Branch {
    links: Box<[(LinkId, u32)]>,
    ends: Box<[VertexId]>,
    closes: Option<Closing>,
}

/// The links of as many vertices as a branch has, one each, when all lead to the same vertex: a
/// leaf, its spines, another leaf.
#[derive(PartialEq)]
struct Closing {
    links: Box<[LinkId]>,
    end: VertexId,
}

/// The number of a branch, from 1 on.
#[derive(Debug, Clone, Copy)]
struct BranchId(NonZeroU32);

impl Spray {
    pub(super) fn new(topology: &Topology) -> Self {
        let mut n_forks = 0;
        let vertices = (0..).zip(topology.vertices());
        let exits = vertices.map(|(vertex, _)| {
            if let [only] = topology.links_from(VertexId::new(vertex)) {
                Exit::Only(*only, topology.link(*only).to)
            } else {
                n_forks += 1;
                Exit::Fork(n_forks - 1)
            }
        });
        Self {
            exits: exits.collect(),
            n_forks: n_forks as usize,
            rows: vec![Box::default(); topology.chips().len()],
            last: Vec::new(),
            branches: Vec::new(),
            ids: HashMap::new(),
            reached: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Routes a share from where it starts to a chip, adds it to the links, and returns the
    /// latency of the first of its routes in microseconds and the outermost tier that it crosses.
    pub(super) fn flow(
        &mut self,
        topology: &Topology,
        to: ChipId,
        clock: &LinkClock,
        start: (VertexId, f64),
        tally: &mut Tally,
    ) -> (f64, u32) {
        if self.rows[to.index()].is_empty() {
            self.rows[to.index()] = self.row(topology, &topology.routes_to(to));
        }
        let row = &self.rows[to.index()];
        let target = topology.chip_vertex(to);
        let (mut latency, mut tier) = (0.0, 0);
        let (reached, next) = (&mut self.reached, &mut self.next);
        reached.clear();
        reached.push(start);
        // Routes of equal cost have equally many links, so all parts arrive together.
        while reached.first().is_some_and(|(at, _)| *at != target) {
            next.clear();
            let whole = match reached.as_slice() {
                [(vertex, part)] => Some((self.exits[vertex.index()], *part)),
                _ => None,
            };
            if let Some((Exit::Fork(at), part)) = whole
                && let branch = &self.branches[row[at as usize].index()]
                && let Some(closing) = &branch.closes
            {
                next.push((closing.end, branch.pass_through(closing, part, tally)));
                for link in [branch.links[0].0, closing.links[0]] {
                    let (flight, crossing) = clock.latency(link);
                    latency += flight;
                    latency += crossing;
                    tier = tier.max(clock.tier(link));
                }
                std::mem::swap(reached, next);
                continue;
            }
            for (index, (vertex, part)) in reached.iter().enumerate() {
                let first = match self.exits[vertex.index()] {
                    Exit::Only(link, to) => {
                        tally.add(link, *part);
                        arrive(next, to, *part);
                        Some(link)
                    }
                    Exit::Fork(at) => {
                        let branch = &self.branches[row[at as usize].index()];
                        branch.pass_on(*part, tally, next);
                        branch.links.first().map(|(link, _)| *link)
                    }
                };
                if index == 0
                    && let Some(link) = first
                {
                    let (flight, crossing) = clock.latency(link);
                    latency += flight;
                    latency += crossing;
                    tier = tier.max(clock.tier(link));
                }
            }
            std::mem::swap(reached, next);
        }
        (latency, tier)
    }

    /// Returns what every fork does with the chip of a tree.
    fn row(&mut self, topology: &Topology, tree: &RouteTree<'_>) -> Box<[BranchId]> {
        let mut row = Vec::with_capacity(self.n_forks);
        let mut links = Vec::new();
        for (vertex, exit) in (0..).zip(&self.exits) {
            if let Exit::Fork(_) = exit {
                links.clear();
                links.extend(tree.next_links(VertexId::new(vertex)));
                // Neighbouring destinations are mostly treated alike.
                let last = self.last.get(row.len()).copied();
                let alike = last.filter(|id| self.branches[id.index()].is_of(&links));
                let known = || self.ids.get(links.as_slice()).copied();
                row.push(alike.or_else(known).unwrap_or_else(|| {
                    let branch = Branch::of(topology, &links, None);
                    new_branch(&mut self.branches, &mut self.ids, &links, branch)
                }));
            }
        }
        self.last.clone_from(&row);
        let plain = &self.last;
        for id in &mut row {
            links.clear();
            let Some(end) = self.close(topology, plain, *id, &mut links) else {
                continue;
            };
            // Links that close leave other vertices, so the key is none of a plain branch.
            let known = self.ids.get(links.as_slice()).copied();
            *id = known.unwrap_or_else(|| {
                let (first, second) = links.split_at(links.len() / 2);
                let closing = Closing {
                    links: second.into(),
                    end,
                };
                let branch = Branch::of(topology, first, Some(closing));
                new_branch(&mut self.branches, &mut self.ids, &links, branch)
            });
        }
        row.into()
    }

    /// Collects the links of a branch and the one link on from each vertex behind them, and returns
    /// the vertex to which all of these lead; `None` when there is no such vertex.
    fn close(
        &self,
        topology: &Topology,
        row: &[BranchId],
        id: BranchId,
        links: &mut Vec<LinkId>,
    ) -> Option<VertexId> {
        let branch = &self.branches[id.index()];
        if branch.links.len() < 2 || branch.links.len() != branch.ends.len() {
            return None;
        }
        links.extend(branch.links.iter().map(|(link, _)| *link));
        let mut common = None;
        for vertex in &branch.ends {
            let (link, end) = match self.exits[vertex.index()] {
                Exit::Only(link, end) => (link, end),
                Exit::Fork(at) => match &*self.branches[row[at as usize].index()].links {
                    [(only, _)] => (*only, topology.link(*only).to),
                    _ => return None,
                },
            };
            if *common.get_or_insert(end) != end {
                return None;
            }
            links.push(link);
        }
        common
    }
}

fn new_branch(
    branches: &mut Vec<Branch>,
    ids: &mut HashMap<Box<[LinkId]>, BranchId>,
    key: &[LinkId],
    branch: Branch,
) -> BranchId {
    branches.push(branch);
    let id = BranchId::of(branches.len());
    ids.insert(key.into(), id);
    id
}

impl Branch {
    fn of(topology: &Topology, links: &[LinkId], closes: Option<Closing>) -> Self {
        let mut ends: Vec<VertexId> = Vec::new();
        let mut place = |link: &LinkId| {
            let to = topology.link(*link).to;
            let known = ends.iter().position(|end| *end == to);
            let at = known.unwrap_or_else(|| {
                ends.push(to);
                ends.len() - 1
            });
            u32::try_from(at).expect("Invariant: vertices fit u32")
        };
        let links = links.iter().map(|link| (*link, place(link))).collect();
        Self {
            links,
            ends: ends.into(),
            closes,
        }
    }

    fn is_of(&self, links: &[LinkId]) -> bool {
        self.links.iter().map(|(link, _)| link).eq(links)
    }

    /// Spreads what has arrived over the links and those that close it, and returns what comes
    /// together again.
    fn pass_through(&self, closing: &Closing, arrived: f64, tally: &mut Tally) -> f64 {
        let part = arrived / self.links.len() as f64;
        let mut together = 0.0;
        for ((link, _), on) in self.links.iter().zip(&closing.links) {
            tally.add(*link, part);
            tally.add(*on, part);
            together += part;
        }
        together
    }

    /// Spreads what has arrived over the links and to the vertices behind them.
    fn pass_on(&self, arrived: f64, tally: &mut Tally, next: &mut Vec<(VertexId, f64)>) {
        let part = arrived / self.links.len() as f64;
        if next.is_empty() {
            // Nothing to look for among what arrived before.
            next.extend(self.ends.iter().map(|end| (*end, 0.0)));
            for (link, end) in &self.links {
                tally.add(*link, part);
                next[*end as usize].1 += part;
            }
        } else {
            for (link, end) in &self.links {
                tally.add(*link, part);
                arrive(next, self.ends[*end as usize], part);
            }
        }
    }
}

impl BranchId {
    fn of(count: usize) -> Self {
        let count = u32::try_from(count).ok().and_then(NonZeroU32::new);
        Self(count.expect("Invariant: there are as many branches as fit memory, and this one"))
    }

    const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Adds a part to what has arrived at a vertex.
fn arrive(next: &mut Vec<(VertexId, f64)>, to: VertexId, part: f64) {
    // Links to one vertex stand side by side, so the last one is the first guess.
    if let Some((known, arrived)) = next.last_mut()
        && *known == to
    {
        *arrived += part;
        return;
    }
    match next.iter_mut().find(|(known, _)| *known == to) {
        Some((_, arrived)) => *arrived += part,
        None => next.push((to, part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tier6_system::preset;

    #[test]
    fn parts_and_latency_are_those_of_the_topology() {
        let system = |name, nodes: Option<u32>| {
            let spec = preset(name).unwrap();
            let spec = match nodes {
                Some(nodes) => spec.with_outer_count(nodes),
                None => spec,
            };
            spec.resolve().unwrap()
        };
        // The second and third have leaves and spines.
        for (name, nodes) in [
            ("h100-x8-ib-ndr", None),
            ("h100-x8-ib-ndr", Some(70)),
            ("h200-x8-roce", Some(70)),
            ("a100-x8-efa", None),
            ("a100-x4-slingshot", None),
            ("dgx1", None),
        ] {
            let topology = system(name, nodes);
            let clock = LinkClock::of(&topology);
            let mut spray = Spray::new(&topology);
            let n = topology.n_chips();
            for (from, to) in [(0, 1), (1, n - 1), (n - 1, 0), (2, n / 2), (n / 2, 2)] {
                let tree = topology.routes_to(ChipId::new(to));
                let chip = ChipId::new(from);
                let mut tally = Tally::new(topology.links().len());
                let start = (topology.chip_vertex(chip), 1.0);
                let (latency, _) =
                    spray.flow(&topology, ChipId::new(to), &clock, start, &mut tally);
                let parts = tally.take();
                let mut expected: BTreeMap<LinkId, f64> = BTreeMap::new();
                for (link, part) in tree.shares(chip) {
                    *expected.entry(link).or_default() += part;
                }
                assert_eq!(parts.len(), expected.len(), "{name} {from} {to}");
                for load in parts {
                    let expected = expected[&load.link];
                    assert!((load.share - expected).abs() < 1e-12, "{name} {from} {to}");
                }
                let route = topology.route_latency(&tree.route(chip, 0));
                assert!((latency - route.get()).abs() < 1e-12, "{name} {from} {to}");
            }
        }
    }
}
