//! From a call on a topology to a plan.

use super::basis::BasisRange;
use super::cost::{Cost, Linear, Run};
use super::peers::peers;
use super::{Limit, Plan, PlanError};
use crate::LinkLoads;
use crate::bounds::Adder;
use crate::law::{InSwitch, LawError, Wire, levels, time, us_per_byte};
use crate::loads::{Detail, StepLoad};
use crate::parameters::{Channels, Parameters, Placement, Sharp};
use crate::traffic::{Shape, Traffic, node_tree, pattern};
use tier6_collective::{
    Algorithm, BuildError, BuildOptions, Collective, Grain, RANKS_MAX, Schedule, build, offers,
};
use tier6_system::{ChipId, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

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

impl Plan {
    /// Prepares a call.
    ///
    /// # Errors
    ///
    /// When the algorithm does not offer the collective, the ranks do not fit the system or the
    /// algorithm, the system lacks what the algorithm needs, or a parameter is out of domain.
    pub fn new(
        topology: &Topology,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        parameters: &Parameters,
    ) -> Result<Self, PlanError> {
        let options = BuildOptions::new(ranks, Bytes::new(1));
        if !offers(algorithm, collective) || ranks < 2 {
            build(collective, algorithm, &options)?;
        }
        let job = Job::new(topology, collective, Some(algorithm), ranks, parameters)?;
        job.fits(algorithm)?;
        let traffic = job.traffic(algorithm)?;
        let loads = job.loads(&traffic, Detail::Summary)?;
        let cost = job.cost(algorithm, &traffic, &loads)?;
        if algorithm == Algorithm::Nvls && ranks < 4 {
            // What is measured there is a ring (FACTS B.6), whose links carry no more.
            let (ring, loads) = job.ring()?;
            return job.plan(Cost::Faster(Box::new([cost, ring])), loads);
        }
        job.plan(cost, loads)
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
        let loads = job.loads(&traffic, Detail::ByLink)?;
        let cost = Cost::Sum(job.sum(&loads, |step| step.latency.get()));
        job.plan(cost, loads)
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
            (Algorithm::Nvls, 2..) => {
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
        };
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
        let options = BuildOptions {
            ranks_per_node: Some(self.per_node.unwrap_or(self.topology.chips_per_node())),
            distance: parameters.distance,
            partner: parameters.partner,
            bidir: parameters.bidir,
            torus: parameters.torus.clone(),
            torus_ports: parameters.torus_ports,
            pat_blocks: parameters.pat_blocks,
            ..BuildOptions::new(self.ranks, self.whole_message())
        };
        let schedule = build(self.collective, algorithm, &options)?;
        Ok(Traffic::of_schedule(&schedule))
    }

    /// Returns the ranks per node when a tree is laid over nodes.
    fn heads(&self, algorithm: Algorithm) -> Option<u32> {
        let is_tree = algorithm == Algorithm::Tree && self.collective == Collective::AllReduce;
        let lays_channels = self.parameters.channels != Channels::One;
        let g = self.per_node.filter(|_| is_tree && lays_channels)?;
        (g > 1 && g < self.ranks).then_some(g)
    }

    /// Returns a size that every cut of the builders divides: into N, a power of two up to N,
    /// two halves, and a part per port of a torus.
    fn whole_message(&self) -> Bytes {
        let dimensions = self.parameters.torus.as_ref().map_or(1, Vec::len) as u64;
        let cuts = u64::from(self.ranks) * u64::from(self.ranks.next_power_of_two());
        Bytes::new(64 * cuts * 2 * dimensions)
    }

    fn loads(&self, traffic: &Traffic, detail: Detail) -> Result<LinkLoads, PlanError> {
        let spread = self.parameters.spread;
        Ok(LinkLoads::of_traffic(
            traffic,
            self.topology,
            &self.chips,
            spread,
            detail,
        )?)
    }

    fn cost(
        &self,
        algorithm: Algorithm,
        traffic: &Traffic,
        loads: &LinkLoads,
    ) -> Result<Cost, PlanError> {
        let longest = |step: &StepLoad| step.latency.get();
        // Chunks of a ring pass every hop in turn, so their pace is the mean.
        let mean = |step: &StepLoad| step.mean_latency.get();
        let is_piped = matches!(self.collective, Collective::Broadcast | Collective::Reduce);
        match algorithm {
            Algorithm::Ring | Algorithm::BidirRing if is_piped => Ok(self.pieces(traffic, loads)),
            Algorithm::Tree => Ok(self.pieces(traffic, loads)),
            Algorithm::Ring | Algorithm::BidirRing | Algorithm::TorusBucket => {
                Ok(match self.parameters.grain {
                    Grain::Message => Cost::Sum(self.sum(loads, mean)),
                    Grain::Slices { bytes } => self.stream(loads, bytes),
                })
            }
            // Two flights more: the credit before and the answer after.
            Algorithm::SendRecvRing => Ok(Cost::Sum(self.sum(loads, |step| 3.0 * mean(step)))),
            Algorithm::Hierarchical => Ok(self.stages(traffic, loads)),
            Algorithm::Nvls => self.nvls(loads),
            Algorithm::NvlsTree => self.nvls_tree(loads),
            Algorithm::CollNetDirect | Algorithm::CollNetChain => self.sharp(traffic, loads),
            Algorithm::HalvingDoubling
            | Algorithm::RecursiveDoubling
            | Algorithm::Pairwise
            | Algorithm::Bruck
            | Algorithm::Direct
            | Algorithm::OneShot
            | Algorithm::TwoShot
            | Algorithm::Pat
            | Algorithm::Binomial
            | Algorithm::ScatterAllGather
            | Algorithm::Swing => Ok(Cost::Sum(self.sum(loads, longest))),
        }
    }

    /// Returns a step's time per byte: alone, and with what shares the links.
    fn step_us_per_byte(&self, step: &StepLoad) -> (f64, f64) {
        let is_ring = matches!(
            self.algorithm,
            Some(Algorithm::Ring | Algorithm::SendRecvRing)
        );
        let is_flat_ring = is_ring && self.nodes() > 1 && self.parameters.channels != Channels::One;
        if !is_flat_ring {
            return (step.own_us_per_byte, step.us_per_byte);
        }
        // A channel keeps its pace inside, so links there cannot use what channels that leave
        // the node free: min(B_nvl, R B_nic) of FACTS B.5.
        let inside = self.topology.injection_payload_rate(self.chips[0]).get();
        let inside = 1.0 / (f64::from(self.ranks) * inside * 1e3);
        let own = step.own_us_per_byte.max(inside);
        (own, step.us_per_byte.max(own))
    }

    fn line(&self, step: &StepLoad, latency: f64) -> Linear {
        let (own, chunk) = self.step_us_per_byte(step);
        Linear {
            latency: latency + self.parameters.step.standalone.get(),
            transfer: own,
            stall: chunk - own,
            reduction: step.reduced * self.gamma,
        }
    }

    fn sum(&self, loads: &LinkLoads, latency: impl Fn(&StepLoad) -> f64) -> Linear {
        let mut sum = Linear::default();
        for step in &loads.steps {
            sum.add(f64::from(step.repeat), &self.line(step, latency(step)));
        }
        sum
    }

    fn stream(&self, loads: &LinkLoads, slice: u64) -> Cost {
        let run = |step: &StepLoad| {
            let (own, chunk) = self.step_us_per_byte(step);
            Run {
                repeat: step.repeat.into(),
                chunk,
                own,
                hop: step.mean_latency.get() + self.parameters.step.pipelined.get(),
                reduction: step.reduced * self.gamma,
                message: step.message,
            }
        };
        Cost::Stream {
            runs: loads.steps.iter().map(run).collect(),
            slice: slice as f64,
        }
    }

    fn pieces(&self, traffic: &Traffic, loads: &LinkLoads) -> Cost {
        let first = self.sum(loads, |step| step.latency.get());
        let moved = (first.transfer + first.stall).max(f64::MIN_POSITIVE);
        let floor = loads.floor_us_per_byte;
        let own = floor * (first.transfer / moved);
        let is_chain = self.algorithm != Some(Algorithm::Tree);
        Cost::Pieces {
            first,
            next: Linear {
                latency: self.parameters.step.pipelined.get(),
                transfer: own,
                stall: floor - own,
                reduction: traffic.reduced * self.gamma,
            },
            pieces: match self.parameters.grain {
                Grain::Slices { bytes } if is_chain => crate::Pieces::Of(Bytes::new(bytes)),
                Grain::Slices { .. } | Grain::Message => self.parameters.pieces,
            },
        }
    }

    fn stages(&self, traffic: &Traffic, loads: &LinkLoads) -> Cost {
        let mut stages = [Linear::default(); 3];
        for step in &loads.steps {
            let line = self.line(step, step.mean_latency.get());
            stages[step.stage].add(f64::from(step.repeat), &line);
        }
        let floor = Linear {
            transfer: loads.floor_us_per_byte,
            reduction: traffic.reduced * self.gamma,
            ..Linear::default()
        };
        Cost::Stages {
            stages,
            floor,
            overlap: self.parameters.overlap,
        }
    }

    /// Returns the ring of the same call.
    fn ring(&self) -> Result<(Cost, LinkLoads), PlanError> {
        let ring = Self {
            algorithm: Some(Algorithm::Ring),
            chips: self.chips.clone(),
            ..*self
        };
        let traffic = ring.traffic(Algorithm::Ring)?;
        let loads = ring.loads(&traffic, Detail::Summary)?;
        Ok((ring.cost(Algorithm::Ring, &traffic, &loads)?, loads))
    }

    fn nvls(&self, loads: &LinkLoads) -> Result<Cost, PlanError> {
        let nvls = self.nvls_constants()?;
        let share = match self.collective {
            Collective::AllReduce => 1.0 + 1.0 / f64::from(self.ranks),
            _ => 1.0,
        };
        Ok(Cost::InSwitch {
            alpha: time(nvls.alpha)?,
            latency: loads.least_latency.get(),
            us_per_byte: share * us_per_byte(nvls.rate)?,
            floor_us_per_byte: loads.floor_us_per_byte,
        })
    }

    fn nvls_constants(&self) -> Result<InSwitch, PlanError> {
        let hint = "use ring, or set the constants of `[nvls]` in the system file";
        self.parameters
            .nvls
            .ok_or_else(|| self.lacks("in-switch reduction has no constants", hint))
    }

    fn nvls_tree(&self, loads: &LinkLoads) -> Result<Cost, PlanError> {
        let nvls = self.nvls_constants()?;
        let g = f64::from(self.per_node.unwrap_or(1));
        let longest = loads.steps.iter().map(|step| step.latency.get());
        let across = longest.fold(0.0, f64::max) + self.parameters.step.standalone.get();
        let tree = 2.0 * levels(self.nodes()) * across;
        Ok(Cost::InSwitch {
            alpha: time(nvls.alpha)? + tree,
            latency: loads.least_latency.get() + tree,
            us_per_byte: (1.0 + 1.0 / g) * us_per_byte(nvls.rate)?,
            floor_us_per_byte: loads.floor_us_per_byte,
        })
    }

    fn sharp(&self, traffic: &Traffic, loads: &LinkLoads) -> Result<Cost, PlanError> {
        let hint = "use ring, tree or nvls_tree, or set the constants of `[sharp]`";
        let Some(sharp) = self.parameters.sharp else {
            return Err(self.lacks("aggregation in the network has no constants", hint));
        };
        let Sharp {
            alpha,
            efficiency,
            contexts,
        } = sharp;
        if contexts.is_some_and(|contexts| traffic.groups.len() > contexts as usize) {
            let hint = "use fewer rails, or collnet_chain, which aggregates once";
            return Err(self.lacks("the switches hold too few aggregations", hint));
        }
        let g = self.per_node.unwrap_or(1);
        let rate = self.chips.iter().take(g as usize).map(|chip| {
            let rate = self.topology.network_payload_rate(*chip);
            rate.map_or(0.0, GbPerSec::get)
        });
        let rate = GbPerSec::new(rate.sum::<f64>() * efficiency);
        Ok(Cost::InSwitch {
            alpha: time(alpha)?,
            latency: loads.least_latency.get(),
            us_per_byte: us_per_byte(rate)?,
            floor_us_per_byte: loads.floor_us_per_byte,
        })
    }

    fn lacks(&self, lacks: &'static str, hint: &'static str) -> PlanError {
        PlanError::Lacks {
            algorithm: self.algorithm.unwrap_or(Algorithm::Nvls),
            system: self.topology.name().to_owned(),
            lacks,
            hint,
        }
    }

    fn plan(self, cost: Cost, loads: LinkLoads) -> Result<Plan, PlanError> {
        let is_in_switch = matches!(cost, Cost::InSwitch { .. } | Cost::Faster(_));
        let step = &self.parameters.step;
        let (adder, own) = if is_in_switch {
            (Adder::Network, 0.0)
        } else {
            let own = step.pipelined.get().min(step.standalone.get());
            (Adder::Ranks, own)
        };
        let rate = |chip: &ChipId| {
            let links = self.topology.links_from(self.topology.chip_vertex(*chip));
            let rates = links
                .iter()
                .map(|link| self.topology.link(*link).payload_rate.get());
            rates.sum::<f64>()
        };
        let fastest = self.chips.iter().map(rate).fold(0.0, f64::max);
        let alpha = Micros::new(loads.least_latency.get() + own);
        let mut wire = Wire::new(alpha, GbPerSec::new(fastest))?;
        wire.reduce_us_per_byte = self.gamma;
        Ok(Plan {
            collective: self.collective,
            algorithm: self.algorithm,
            ranks: self.ranks,
            software: self.parameters.software,
            limit: Limit {
                wire,
                ports: loads.ports,
                adder,
            },
            basis: BasisRange::of(self.topology, &loads, self.algorithm),
            cost,
            loads,
        })
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
