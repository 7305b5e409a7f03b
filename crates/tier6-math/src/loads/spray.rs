//! Ideal spraying: a flow in equal parts at every branch of its shortest routes.
//!
//! Says what `RouteTree::shares` says, for the many flows of one schedule. What every vertex does
//! with a destination is looked up once and then lies side by side, and equal lists of links share
//! one entry: few lists serve a million of flows, and a flow reads few lines of memory.

mod branch;

use super::tally::{LinkClock, Tally};
use branch::{Branch, BranchId, Closing, arrive};
use std::collections::HashMap;
use tier6_system::{ChipId, LinkId, RouteTree, Topology, VertexId};

/// What vertices do with destinations, and parts of a flow.
pub(super) struct Spray {
    /// By vertex.
    exits: Vec<Exit>,
    n_forks: usize,
    /// By destination chip; empty until a flow goes there.
    rows: Vec<Row>,
    /// The latest whole row, before branches were closed.
    last: Vec<Option<BranchId>>,
    branches: Vec<Branch>,
    /// For lookup only.
    ids: HashMap<Box<[LinkId]>, BranchId>,
    /// Vertices that a flow has reached, with its share there.
    reached: Vec<(VertexId, f64)>,
    next: Vec<(VertexId, f64)>,
    /// Links on from a vertex, kept for their room.
    links: Vec<LinkId>,
}

/// From how many chips at most the ways to a chip are looked up alone.
pub(super) const FEW: usize = 16;

/// By fork, the branch that leads to a destination, where it is known.
type Row = Box<[Option<BranchId>]>;

/// How flows leave a vertex.
#[derive(Clone, Copy)]
enum Exit {
    /// By its one link, and to where.
    Only(LinkId, VertexId),
    /// As the destination's row says at this place.
    Fork(u32),
}

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
            links: Vec::new(),
        }
    }

    /// Routes a share from where it starts to a chip, adds it to the links, and returns the
    /// latency of the first of its routes in microseconds and the outermost tier that it crosses.
    /// The way must have been prepared.
    pub(super) fn flow(
        &mut self,
        topology: &Topology,
        to: ChipId,
        clock: &LinkClock,
        start: (VertexId, f64),
        tally: &mut Tally,
    ) -> (f64, u32) {
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
                && let branch = &self.branches[branch_at(row, at)]
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
                        let branch = &self.branches[branch_at(row, at)];
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

    /// Finds out how flows go from some chips to one. Of few chips only what lies on their way is
    /// looked up; who asks for more of the same destination gets all of it.
    pub(super) fn prepare(&mut self, topology: &Topology, to: ChipId, from: &[ChipId]) {
        let target = topology.chip_vertex(to);
        let row = &self.rows[to.index()];
        let starts = || from.iter().map(|chip| topology.chip_vertex(*chip));
        if starts().all(|start| self.is_known(row, start, target)) {
            return;
        }
        if row.is_empty() && from.len() <= FEW {
            let tree = topology.routes_from(from, to);
            self.rows[to.index()] = self.row_of_few(topology, &tree, starts());
        } else {
            self.rows[to.index()] = self.whole_row(topology, &topology.routes_to(to));
        }
    }

    /// Finds out how flows go from any chip to one.
    pub(super) fn prepare_all(&mut self, topology: &Topology, to: ChipId) {
        let row = &self.rows[to.index()];
        if row.is_empty() || row.iter().any(Option::is_none) {
            self.rows[to.index()] = self.whole_row(topology, &topology.routes_to(to));
        }
    }

    /// Says whether a row leads from a vertex to its target: with the first fork on the way all
    /// others are known.
    fn is_known(&self, row: &[Option<BranchId>], start: VertexId, target: VertexId) -> bool {
        let mut vertex = start;
        while vertex != target {
            match self.exits[vertex.index()] {
                Exit::Only(_, to) => vertex = to,
                Exit::Fork(at) => return row.get(at as usize).is_some_and(Option::is_some),
            }
        }
        true
    }

    /// Returns what the forks on the way from some vertices do with the chip of a tree.
    fn row_of_few(
        &mut self,
        topology: &Topology,
        tree: &RouteTree<'_>,
        starts: impl Iterator<Item = VertexId>,
    ) -> Row {
        let target = topology.chip_vertex(tree.to());
        let mut row = vec![None; self.n_forks];
        let mut found = Vec::new();
        let mut waiting: Vec<VertexId> = starts.collect();
        while let Some(vertex) = waiting.pop() {
            match self.exits[vertex.index()] {
                _ if vertex == target => {}
                Exit::Only(_, to) => waiting.push(to),
                Exit::Fork(at) if row[at as usize].is_none() => {
                    let id = self.plain_branch(topology, tree, vertex, None);
                    waiting.extend(&self.branches[id.index()].ends);
                    row[at as usize] = Some(id);
                    found.push(at as usize);
                }
                Exit::Fork(_) => {}
            }
        }
        self.close_branches(topology, &mut row, found.into_iter());
        row.into()
    }

    /// Returns what every fork does with the chip of a tree.
    fn whole_row(&mut self, topology: &Topology, tree: &RouteTree<'_>) -> Row {
        let mut row = Vec::with_capacity(self.n_forks);
        for (vertex, _) in (0..).zip(topology.vertices()) {
            let vertex = VertexId::new(vertex);
            if let Exit::Fork(_) = self.exits[vertex.index()] {
                // Neighbouring destinations are mostly treated alike.
                let last = self.last.get(row.len()).copied().flatten();
                row.push(Some(self.plain_branch(topology, tree, vertex, last)));
            }
        }
        self.last.clone_from(&row);
        self.close_branches(topology, &mut row, 0..self.n_forks);
        row.into()
    }

    /// Returns the branch by which a vertex leads on; the guess is looked at first.
    fn plain_branch(
        &mut self,
        topology: &Topology,
        tree: &RouteTree<'_>,
        vertex: VertexId,
        guess: Option<BranchId>,
    ) -> BranchId {
        let mut links = std::mem::take(&mut self.links);
        links.clear();
        links.extend(tree.next_links(vertex));
        let alike = guess.filter(|id| self.branches[id.index()].is_of(&links));
        let known = || self.ids.get(links.as_slice()).copied();
        let id = alike.or_else(known).unwrap_or_else(|| {
            let branch = Branch::of(topology, &links, None);
            new_branch(&mut self.branches, &mut self.ids, &links, branch)
        });
        self.links = links;
        id
    }

    /// Puts branches that close in the place of plain ones.
    fn close_branches(
        &mut self,
        topology: &Topology,
        row: &mut [Option<BranchId>],
        places: impl Iterator<Item = usize>,
    ) {
        let mut closed = Vec::new();
        let mut links = Vec::new();
        for at in places {
            links.clear();
            let Some(end) = row[at].and_then(|id| self.close(topology, row, id, &mut links)) else {
                continue;
            };
            // Links that close leave other vertices, so the key is none of a plain branch.
            let known = self.ids.get(links.as_slice()).copied();
            let id = known.unwrap_or_else(|| {
                let (first, second) = links.split_at(links.len() / 2);
                let closing = Closing {
                    links: second.into(),
                    end,
                };
                let branch = Branch::of(topology, first, Some(closing));
                new_branch(&mut self.branches, &mut self.ids, &links, branch)
            });
            closed.push((at, id));
        }
        for (at, id) in closed {
            row[at] = Some(id);
        }
    }

    /// Collects the links of a branch and the one link on from each vertex behind them, and returns
    /// the vertex to which all of these lead; `None` when there is no such vertex.
    fn close(
        &self,
        topology: &Topology,
        row: &[Option<BranchId>],
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
                Exit::Fork(at) => match &*self.branches[row[at as usize]?.index()].links {
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

/// Returns the place of a fork's branch.
fn branch_at(row: &[Option<BranchId>], fork: u32) -> usize {
    row[fork as usize]
        .expect("Invariant: the way was prepared")
        .index()
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
                spray.prepare(&topology, ChipId::new(to), &[chip]);
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

    #[test]
    fn ways_of_few_are_those_of_all() {
        for (name, nodes) in [
            ("h200-x8-roce", 70),
            ("a100-x8-efa", 9),
            ("gb200-nvl72-ib-ndr", 3),
        ] {
            let topology = preset(name).unwrap().with_outer_count(nodes);
            let topology = topology.resolve().unwrap();
            let clock = LinkClock::of(&topology);
            let n = topology.n_chips();
            let chips = [0, 1, 7, n / 2, n / 2 + 3, n - 1].map(ChipId::new);
            let flows = |prepare: &dyn Fn(&mut Spray, ChipId, ChipId)| {
                let mut spray = Spray::new(&topology);
                let mut tally = Tally::new(topology.links().len());
                let mut ends = Vec::new();
                for from in chips {
                    for to in chips.into_iter().filter(|to| *to != from) {
                        prepare(&mut spray, from, to);
                        let start = (topology.chip_vertex(from), 1.0 / 3.0);
                        ends.push(spray.flow(&topology, to, &clock, start, &mut tally));
                    }
                }
                (ends, tally.take())
            };
            let all = flows(&|spray, _, to| spray.prepare_all(&topology, to));
            let few = flows(&|spray, from, to| {
                // Once each alone, in a new row.
                spray.rows[to.index()] = Box::default();
                spray.prepare(&topology, to, &[from]);
            });
            let grown = flows(&|spray, from, to| spray.prepare(&topology, to, &[from]));
            assert!(all == few && all == grown, "{name}");
        }
    }
}
