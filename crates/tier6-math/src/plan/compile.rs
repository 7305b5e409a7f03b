//! From a call on a topology to its [`Outline`]: traffic, routes, loads, and the law that prices
//! them.

mod form;

use super::neighbour::neighbours;
use super::outline::{Form, Outline, Route};
use super::peers::peers;
use super::{Plan, PlanError};
use crate::LinkLoads;
use crate::channels::chain_orders;
use crate::law::{LawError, time, us_per_byte};
use crate::loads::{Detail, Router};
use crate::parameters::{Channels, Parameters, Placement};
use crate::traffic::{Shape, Traffic, chain, node_tree, nvls_sharp, pattern};
use std::fmt;
use std::sync::Arc;
use tier6_collective::{
    Algorithm, BuildError, BuildOptions, Collective, Grain, Protocol, RANKS_MAX, Schedule, Trees,
    build, offers,
};
use tier6_system::{ChipId, LinkClassId, Topology};
use tier6_units::Bytes;

/// What is known while a plan is made.
struct Job<'a> {
    topology: &'a Topology,
    parameters: &'a Parameters,
    collective: Collective,
    /// `None` for a custom schedule.
    algorithm: Option<Algorithm>,
    ranks: u32,
    chips: Vec<ChipId>,
    /// g, when all nodes have as many ranks.
    per_node: Option<u32>,
    /// γ, in microseconds per byte.
    gamma: f64,
}

/// Prepares calls on one system and keeps the routes that it finds, so that the second algorithm
/// takes less than the first.
pub struct Planner<'t> {
    topology: &'t Topology,
    router: Router<'t>,
}

impl fmt::Debug for Planner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topology = self.topology.name();
        f.debug_struct("Planner")
            .field("topology", &topology)
            .finish_non_exhaustive()
    }
}

impl<'t> Planner<'t> {
    /// Starts without routes.
    pub fn new(topology: &'t Topology) -> Self {
        Self {
            topology,
            router: Router::new(topology),
        }
    }

    /// Prepares a call, under the protocol of the parameters if they name one.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn plan(
        &mut self,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Plan, PlanError> {
        let outline = self.outline(collective, algorithm, ranks, parameters)?;
        Plan::of_outline(self.topology, outline.into(), parameters)
    }

    /// Prepares a call under every protocol.
    ///
    /// # Errors
    ///
    /// As [`Plan::by_protocol`].
    pub fn by_protocol(
        &mut self,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Vec<Plan>, PlanError> {
        let outline = Arc::new(self.outline(collective, algorithm, ranks, parameters)?);
        let under = |protocol| {
            let parameters = Parameters {
                protocol,
                ..parameters.clone()
            };
            Plan::of_outline(self.topology, outline.clone(), &parameters)
        };
        let mut plans = Vec::new();
        for protocol in Protocol::ALL {
            if outline.is_run_by(protocol) && outline.has_steps(self.topology, protocol) {
                plans.push(under(Some(protocol))?);
            }
        }
        if plans.is_empty() {
            plans.push(under(None)?);
        }
        Ok(plans)
    }

    fn outline(
        &mut self,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Outline, PlanError> {
        let options = BuildOptions::new(ranks, Bytes::new(1));
        if !offers(algorithm, collective) || ranks < 2 {
            build(collective, algorithm, &options)?;
        }
        let (topology, router) = (self.topology, &mut self.router);
        let job = Job::new(topology, collective, Some(algorithm), ranks, parameters)?;
        job.fits(algorithm)?;
        let mut outline = job.outline(algorithm, router)?;
        if algorithm == Algorithm::Nvls && ranks < 4 && job.nodes() == 1 {
            // What is measured there is a ring (FACTS B.6), whose links carry no more.
            let ring = Job {
                algorithm: Some(Algorithm::Ring),
                ..job
            };
            outline.ring = Some(Box::new(ring.outline(Algorithm::Ring, router)?));
        }
        Ok(outline)
    }
}

impl Plan {
    /// Prepares a call, under the protocol of the parameters if they name one. For several
    /// algorithms on one system a [`Planner`] finds routes once.
    ///
    /// # Errors
    ///
    /// When the algorithm does not offer the collective, the ranks do not fit the system or the
    /// algorithm, the system lacks what the algorithm or the protocol needs, or a parameter is
    /// out of domain.
    pub fn new(
        topology: &Topology,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Self, PlanError> {
        Planner::new(topology).plan(collective, algorithm, ranks, parameters)
    }

    /// Prepares a call under every protocol that the algorithm runs and whose step times the
    /// system has on the tiers in use; without any, the one plan of no protocol. Routes and loads
    /// are computed once. The protocol of the parameters is not looked at.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn by_protocol(
        topology: &Topology,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Vec<Self>, PlanError> {
        Planner::new(topology).by_protocol(collective, algorithm, ranks, parameters)
    }

    /// Prepares a custom schedule: whole messages, step after step.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn of_schedule(
        topology: &Topology,
        schedule: &Schedule,
        parameters: &Parameters,
    ) -> Result<Self, PlanError> {
        let ranks = schedule.ranks();
        if ranks < 2 {
            return Err(LawError::Ranks { ranks }.into());
        }
        let collective = schedule.collective();
        let job = Job::new(
            topology,
            collective,
            schedule.algorithm(),
            ranks,
            parameters,
        )?;
        let traffic = Traffic::of_schedule(schedule);
        let form = Form::Sum {
            route: Route::Longest,
            flights: 0.0,
        };
        let mut router = Router::new(topology);
        let loads = job.loads(&traffic, Detail::ByLink, &mut router)?;
        let outline = job.outlined(form, &traffic, loads);
        Self::of_outline(topology, outline.into(), parameters)
    }
}

impl<'a> Job<'a> {
    fn new(
        topology: &'a Topology,
        collective: Collective,
        algorithm: Option<Algorithm>,
        ranks: u32,
        parameters: &'a Parameters,
    ) -> Result<Self, PlanError> {
        time(parameters.software)?;
        time(parameters.step.pipelined)?;
        time(parameters.step.standalone)?;
        if parameters.grain == (Grain::Slices { bytes: 0 }) {
            return Err(LawError::EmptySlice.into());
        }
        let gamma = parameters.reduce_rate.map_or(Ok(0.0), us_per_byte)?;
        let chips = places(topology, ranks, parameters.placement)?;
        let width = match parameters.placement {
            Placement::Packed => topology.chips_per_node().min(ranks),
            Placement::PerNode(width) => width.get().min(ranks),
        };
        Ok(Self {
            topology,
            parameters,
            collective,
            algorithm,
            ranks,
            chips,
            per_node: ranks.is_multiple_of(width).then_some(width),
            gamma,
        })
    }

    fn nodes(&self) -> u32 {
        self.per_node.map_or(2, |g| self.ranks / g)
    }

    /// Checks that the nodes in use suit the algorithm.
    fn fits(&self, algorithm: Algorithm) -> Result<(), PlanError> {
        match (algorithm, self.nodes()) {
            (Algorithm::Nvls, 2..) if !self.is_nvls_across() => {
                let hint = "use nvls_tree, or collnet_direct where the network reduces";
                Err(self.lacks("the ranks are on several nodes", hint))
            }
            (Algorithm::NvlsTree, 1) => Err(self.lacks("the ranks are on one node", "use nvls")),
            (Algorithm::Hierarchical, 1) => {
                Err(self.lacks("the ranks are on one node", "use ring"))
            }
            _ => Ok(()),
        }
    }

    /// Says whether NVLS goes on between nodes, by aggregation in the network.
    fn is_nvls_across(&self) -> bool {
        let is_across = self.algorithm == Some(Algorithm::Nvls) && self.nodes() > 1;
        is_across
            && self.collective == Collective::AllReduce
            && self.parameters.sharp.is_some()
            && self.per_node.is_some()
    }

    fn traffic(&self, algorithm: Algorithm) -> Result<Traffic, PlanError> {
        let parameters = self.parameters;
        let channels = match self.per_node {
            Some(_) => parameters.channels,
            None => Channels::One,
        };
        let per_node = self.per_node.unwrap_or(1);
        let shape = Shape {
            ranks: self.ranks,
            per_node,
            channels,
            peers: peers(self.topology, &self.chips, per_node, channels),
            bidir: parameters.bidir,
            partner: parameters.partner,
            second_shot: parameters.second_shot,
        };
        if algorithm == Algorithm::Nvls && self.is_nvls_across() {
            return Ok(nvls_sharp(self.ranks, per_node));
        }
        // Uneven nodes are left to the builder, which says what is wrong.
        let is_regular = self.per_node.is_some() || algorithm != Algorithm::Hierarchical;
        if is_regular && let Some(traffic) = pattern(self.collective, algorithm, &shape) {
            return Ok(traffic);
        }
        if let Some(g) = self.heads(algorithm) {
            let bytes = self.whole_message();
            let over_nodes = BuildOptions::new(self.ranks / g, bytes);
            let trees = build(self.collective, algorithm, &over_nodes)?;
            return Ok(node_tree(&trees, g, &shape.peers));
        }
        if self.ranks > RANKS_MAX {
            return Err(BuildError::Ranks { ranks: self.ranks }.into());
        }
        if self.is_chain() {
            let orders = chain_orders(self.topology, &self.chips, per_node, channels);
            return Ok(chain(self.collective, &orders));
        }
        let per_node = self.per_node.unwrap_or(self.topology.chips_per_node());
        let options = parameters.build_options(self.ranks, per_node, self.whole_message());
        let schedule = build(self.collective, algorithm, &options)?;
        Ok(Traffic::of_schedule(&schedule))
    }

    /// Says whether a call is a chain in channels.
    fn is_chain(&self) -> bool {
        self.algorithm == Some(Algorithm::Ring)
            && matches!(self.collective, Collective::Broadcast | Collective::Reduce)
    }

    /// Returns the ranks per node when a tree is laid over nodes.
    fn heads(&self, algorithm: Algorithm) -> Option<u32> {
        let is_tree = algorithm == Algorithm::Tree && self.collective == Collective::AllReduce;
        let g = self.per_node.filter(|g| is_tree && *g < self.ranks)?;
        let options = self.parameters.build_options(self.ranks, g, Bytes::new(1));
        (options.trees == Trees::OverNodes).then_some(g)
    }

    /// Returns a size that every cut of the builders divides: into N, a power of two up to N,
    /// two halves, and a part per port of a torus.
    fn whole_message(&self) -> Bytes {
        let dimensions = self.parameters.torus.as_ref().map_or(1, Vec::len) as u64;
        let cuts = u64::from(self.ranks) * u64::from(self.ranks.next_power_of_two());
        Bytes::new(64 * cuts * 2 * dimensions)
    }

    fn loads(
        &self,
        traffic: &Traffic,
        detail: Detail,
        router: &mut Router<'_>,
    ) -> Result<LinkLoads, PlanError> {
        let spread = self.parameters.spread;
        Ok(LinkLoads::of_traffic(
            traffic,
            router,
            &self.chips,
            spread,
            detail,
        )?)
    }

    /// Returns the least time of a ring's step inside a node. A channel keeps its pace there, so
    /// links inside cannot use what channels that leave the node free: min(`B_nvl`, R `B_nic`) of
    /// FACTS B.5.
    fn inside(&self) -> Option<(LinkClassId, f64)> {
        let is_ring = matches!(
            self.algorithm,
            Some(Algorithm::Ring | Algorithm::SendRecvRing)
        );
        let is_flat_ring = is_ring && self.nodes() > 1 && self.parameters.channels != Channels::One;
        is_flat_ring.then(|| {
            let rate = self.topology.injection_payload_rate(self.chips[0]).get();
            let class = self.topology.tiers()[0].link;
            // What a rank passes on: a chunk of a ring, the whole message in the channels of a chain.
            let share = if self.is_chain() {
                1.0
            } else {
                1.0 / f64::from(self.ranks)
            };
            (class, share / (rate * 1e3))
        })
    }

    fn outline(&self, algorithm: Algorithm, router: &mut Router<'_>) -> Result<Outline, PlanError> {
        let traffic = self.traffic(algorithm)?;
        let loads = self.loads(&traffic, Detail::Summary, router)?;
        let form = self.form(algorithm, &traffic)?;
        Ok(self.outlined(form, &traffic, loads))
    }

    fn outlined(&self, form: Form, traffic: &Traffic, loads: LinkLoads) -> Outline {
        let mut injection: Vec<Vec<(LinkClassId, f64)>> = Vec::new();
        for chip in &self.chips {
            let links = self.topology.links_from(self.topology.chip_vertex(*chip));
            let links = links.iter().map(|link| self.topology.link(*link));
            let rates = links.map(|link| (link.class, link.payload_rate.get()));
            let rates: Vec<_> = rates.collect();
            if !injection.contains(&rates) {
                injection.push(rates);
            }
        }
        let topology = self.topology;
        Outline {
            collective: self.collective,
            algorithm: self.algorithm,
            ranks: self.ranks,
            nodes: self.nodes(),
            per_node: self.per_node.unwrap_or(1),
            system: topology.name().to_owned(),
            tiers: topology.tiers().iter().map(|t| t.name.clone()).collect(),
            form,
            loads,
            reduced: traffic.reduced,
            gamma: self.gamma,
            inside: self.inside(),
            efficiency: topology
                .link_classes()
                .iter()
                .map(|class| class.efficiency.value.get())
                .collect(),
            neighbours: neighbours(topology),
            injection,
            ring: None,
        }
    }

    fn lacks(&self, lacks: &'static str, hint: &'static str) -> PlanError {
        PlanError::Lacks {
            algorithm: self.algorithm.unwrap_or(Algorithm::Nvls),
            system: self.topology.name().to_owned(),
            lacks,
            hint,
        }
    }
}

/// Returns the chip of each rank.
fn places(topology: &Topology, ranks: u32, placement: Placement) -> Result<Vec<ChipId>, PlanError> {
    let mut chips = Vec::new();
    for node in topology.nodes() {
        let width = match placement {
            Placement::Packed => u32::MAX,
            Placement::PerNode(width) => width.get(),
        };
        chips.extend(node.chips.clone().take(width as usize).map(ChipId::new));
    }
    if chips.len() < ranks as usize {
        return Err(PlanError::Places {
            ranks,
            system: topology.name().to_owned(),
            places: u32::try_from(chips.len()).unwrap_or(u32::MAX),
            hint: "give the outermost tier a larger count",
        });
    }
    chips.truncate(ranks as usize);
    Ok(chips)
}
