//! How paths are laid: the choice among equal routes, and the trees of in-switch collectives.

use std::collections::BTreeMap;

use tier6_system::{ChipId, LinkId, SwitchTree};
use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::path::{Run, Shape, Trunk};
use super::{Fabric, FabricError, FabricLinkId, PathRequest, Service, TreePath, Use};
use crate::PathChoice;
use crate::network::PathId;
use crate::switch::PathChooser;

/// Equal routes among which a path is chosen; more exist only in huge fabrics.
const ROUTES_MAX: usize = 256;

/// Links of a route through the spines of a fat tree: room for more than most need.
const LINKS: usize = 4;

impl Fabric<'_> {
    /// Returns the path of a request, which is laid when it is asked for the first time.
    ///
    /// The flight of a load-reduce's request is not part of the path: it is what a call costs
    /// once.
    ///
    /// # Errors
    ///
    /// When a chip does not exist or sends to itself, no switch serves the members, or the chip
    /// that asks is none of them.
    pub fn lay(&mut self, request: PathRequest<'_>) -> Result<PathId, FabricError> {
        match request {
            PathRequest::Send { from, to, flow } => self.between(from, to, flow),
            PathRequest::Multicast { from, members, .. } => {
                self.served(members, Service::Multicast(from))
            }
            PathRequest::LoadReduce { members, to, .. } => {
                self.served(members, Service::LoadReduce(to))
            }
            PathRequest::Aggregate { members, .. } => self.served(members, Service::Aggregate),
        }
    }

    /// Makes room for so many more paths.
    pub(crate) fn make_room(&mut self, paths: usize) {
        self.trunks.reserve(paths);
        self.uses_of.reserve(paths);
        self.uses.reserve(LINKS * paths);
        self.routes.reserve(LINKS * paths);
    }

    fn between(&mut self, from: ChipId, to: ChipId, flow: u32) -> Result<PathId, FabricError> {
        let chips = self.topology.n_chips();
        if from == to || from.get().max(to.get()) >= chips {
            let (from, to) = (from.get(), to.get());
            return Err(FabricError::NoPath { from, to, chips });
        }
        let key = (to.get(), flow);
        match self.by_sender[from.index()].find(key) {
            Ok(path) => Ok(path),
            Err(gap) => {
                let path = self.lay_new(from, to, flow);
                self.by_sender[from.index()].insert(gap, key, path);
                Ok(path)
            }
        }
    }

    fn lay_new(&mut self, from: ChipId, to: ChipId, flow: u32) -> PathId {
        match self.choice {
            PathChoice::Preferred => {
                let mut route = std::mem::take(&mut self.route);
                route.clear();
                let (topology, to) = (self.topology, (to, flow));
                self.routes_to.route(topology, from, to, &mut route);
                if !self.is_alive(&route) {
                    let routes = self.routes_between(from, to.0);
                    route.clone_from(&routes[self.choose((from, to.0), flow, 0, routes.len())]);
                }
                let path = self.lay_route(from, &route);
                self.route = route;
                path
            }
            PathChoice::PerFlow => {
                let routes = self.routes_between(from, to);
                let chosen = self.choose((from, to), flow, 0, routes.len());
                self.lay_route(from, &routes[chosen])
            }
            PathChoice::SubFlows(count) => {
                let all = self.routes_between(from, to);
                let sub_flows = (0..count.max(1)).map(|sub_flow| {
                    all[self.choose((from, to), flow, sub_flow, all.len())].clone()
                });
                let routes: Vec<_> = sub_flows.collect();
                self.lay_spread(from, &routes)
            }
            PathChoice::Spray | PathChoice::RoundRobin => {
                let routes = self.routes_between(from, to);
                self.lay_spread(from, &routes)
            }
        }
    }

    /// Returns the shortest routes between chips, without those over links that fail before the
    /// call begins: routing knows of them. Where no other is left, a message waits for ever.
    fn routes_between(&mut self, from: ChipId, to: ChipId) -> Vec<Vec<LinkId>> {
        let tree = self.routes_to.tree(self.topology, to);
        let mut routes = tree.routes(from, ROUTES_MAX);
        if routes.iter().any(|route| self.is_alive(route)) {
            routes.retain(|route| self.is_alive(route));
        }
        routes
    }

    /// Says whether all links of a route carry something when the call begins.
    fn is_alive(&self, route: &[LinkId]) -> bool {
        let mut links = route.iter().map(|link| &self.links[link.index()]);
        links.all(|link| link.fails != Some(SimTime::ZERO))
    }

    fn lay_route(&mut self, from: ChipId, route: &[LinkId]) -> PathId {
        let weights = route.iter().map(|link| plain(*link));
        let uses = self.engines(from).into_iter().chain(weights);
        let latency = self.latency_along(route);
        let run = Run::append(&mut self.routes, route.iter().copied());
        self.add(uses, Shape::Route(run), latency)
    }

    /// A path over several routes, evenly.
    fn lay_spread(&mut self, from: ChipId, routes: &[Vec<LinkId>]) -> PathId {
        let mut times: BTreeMap<LinkId, u32> = BTreeMap::new();
        for link in routes.iter().flatten() {
            *times.entry(*link).or_insert(0) += 1;
        }
        let weights = times.iter().map(|(link, times)| Use {
            link: (*link).into(),
            weight: f64::from(*times) / routes.len() as f64,
        });
        let weights: Vec<Use> = self.engines(from).into_iter().chain(weights).collect();
        let latencies = routes.iter().map(|route| self.latency_along(route));
        let latency = latencies.max().unwrap_or(SimTime::ZERO);
        let runs = routes.iter();
        let runs = runs.map(|route| Run::append(&mut self.routes, route.iter().copied()));
        let shape = Shape::Spread(runs.collect());
        self.add(weights, shape, latency)
    }

    fn served(&mut self, members: &[ChipId], service: Service) -> Result<PathId, FabricError> {
        let tree = self.tree(members)?;
        if let Some(path) = self.tree_paths.get(&(tree, service)) {
            return Ok(*path);
        }
        let path = self.lay_tree(tree, service)?;
        self.tree_paths.insert((tree, service), path);
        Ok(path)
    }

    fn tree(&mut self, members: &[ChipId]) -> Result<usize, FabricError> {
        if let Some(tree) = self.tree_of.get(members) {
            return Ok(*tree);
        }
        let known = members
            .iter()
            .all(|chip| chip.get() < self.topology.n_chips());
        let tree = known.then(|| SwitchTree::of(self.topology, members));
        let tree = tree.flatten().ok_or(FabricError::NoSwitch {
            members: members.len(),
            first: members.first().map_or(0, |chip| chip.get()),
        })?;
        self.trees.push(tree);
        let at = self.trees.len() - 1;
        self.tree_of.insert(members.to_vec(), at);
        Ok(at)
    }

    fn lay_tree(&mut self, tree: usize, service: Service) -> Result<PathId, FabricError> {
        let ends = match service {
            Service::Multicast(from) => (Some(from), None),
            Service::LoadReduce(to) => (None, Some(to)),
            Service::Aggregate => (None, None),
        };
        let tree = &self.trees[tree];
        let (Some(up), Some(down), Some(ways_up), Some(ways_down)) = (
            tree.up(ends.0),
            tree.down(ends.1),
            tree.ways_up(ends.0),
            tree.ways_down(ends.1),
        ) else {
            let asker = ends.0.or(ends.1).map_or(0, ChipId::get);
            return Err(FabricError::NotOfGroup(asker));
        };
        // The latency of the last link up has the root in it.
        let longest = |ways: &[Vec<LinkId>]| {
            let times = ways.iter().map(|way| self.links_latency(way));
            times.max().unwrap_or(SimTime::ZERO)
        };
        let latency = longest(ways_up) + longest(ways_down);
        let (up, down) = (up.to_vec(), down.to_vec());
        let senders = match ends.0.or(ends.1) {
            Some(chip) => vec![chip],
            None => tree.members().to_vec(),
        };
        let engines = senders.into_iter().filter_map(|chip| self.engines(chip));
        let wires = up.iter().chain(&down).map(|link| Use {
            link: (*link).into(),
            weight: self.service_weight(*link, service),
        });
        let uses: Vec<Use> = engines.chain(wires).collect();
        let (root, adders) = (tree.root(), tree.adders(self.topology));
        let shape = Shape::Tree(Box::new(TreePath {
            up,
            root,
            down,
            adders,
        }));
        Ok(self.add(uses, shape, latency + self.end_latency))
    }

    /// Bytes that a link is occupied with per byte of a message that a switch serves.
    ///
    /// NVLS: a rank's link carries `B_nvls` at most, so that T = M(1 + 1/N)/`B_nvls` (FACTS B.6).
    /// SHARP: the NICs' links reach the stated share of their payload rate (FACTS B.7).
    fn service_weight(&self, link: LinkId, service: Service) -> f64 {
        let constants = self.topology.constants();
        let wire = self.topology.link(link);
        match (&constants.nvls, &constants.sharp) {
            (Some(nvls), _) if wire.tier == 0 && service != Service::Aggregate => {
                self.links[link.index()].payload.rate().get() / nvls.rate.value.get()
            }
            (_, Some(sharp)) if service == Service::Aggregate => {
                let efficiency = sharp.efficiency.as_ref();
                efficiency.map_or(1.0, |efficiency| 1.0 / efficiency.value.get())
            }
            _ => 1.0,
        }
    }

    fn engines(&self, chip: ChipId) -> Option<Use> {
        let n_wires = self.topology.links().len();
        let link = u32::try_from(n_wires).expect("Invariant: links have 32-bit numbers");
        self.has_engines.then_some(Use {
            link: FabricLinkId(link + chip.get()),
            weight: 1.0,
        })
    }

    fn latency_along(&self, route: &[LinkId]) -> SimTime {
        self.links_latency(route) + self.end_latency
    }

    fn links_latency(&self, links: &[LinkId]) -> SimTime {
        let latencies = links.iter().map(|link| self.links[link.index()].latency);
        latencies.sum()
    }

    fn add(
        &mut self,
        uses: impl IntoIterator<Item = Use>,
        shape: Shape,
        latency: SimTime,
    ) -> PathId {
        let uses = Run::append(&mut self.uses, uses);
        let byte = self.uses[uses.range()].iter().map(|one| {
            let byte = self.links[one.link.index()].payload;
            slower(byte, one.weight)
        });
        let byte = byte.max().unwrap_or(ByteTime::ZERO);
        let id = u32::try_from(self.trunks.len()).expect("Invariant: paths have 32-bit numbers");
        self.uses_of.push(uses);
        self.trunks.push(Trunk {
            shape,
            latency,
            byte,
        });
        PathId(id)
    }

    fn choose(&self, ends: (ChipId, ChipId), flow: u32, sub_flow: u32, routes: usize) -> usize {
        let ends = (ends.0.get(), ends.1.get());
        PathChooser::new(self.seed).choose(ends, flow, sub_flow, routes)
    }
}

const fn plain(link: LinkId) -> Use {
    Use {
        link: FabricLinkId(link.get()),
        weight: 1.0,
    }
}

/// What a byte of a message takes on a link that carries `weight` bytes for it.
fn slower(byte: ByteTime, weight: f64) -> ByteTime {
    #[expect(
        clippy::float_cmp,
        reason = "a weight of exactly 1 must not round the rate"
    )]
    if weight == 1.0 || byte == ByteTime::ZERO {
        byte
    } else {
        ByteTime::at(GbPerSec::new(byte.rate().get() / weight))
    }
}
