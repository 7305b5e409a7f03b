//! A call on a topology before its prices: all that routes and loads say, and from there, with
//! prices, to a [`Cost`].

mod bounds;

use super::PlanError;
use super::cost::{Cost, Linear, Run};
use super::prices::{Prices, StepTariff, Tariff, step};
use crate::law::{InSwitch, Overlap, levels, time, us_per_byte};
use crate::loads::{StepLoad, slowest};
use crate::parameters::Pieces;
use crate::{LinkLoads, Sharp};
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_system::{LinkClassId, LinkId, Topology};
use tier6_units::{GbPerSec, Micros};

/// What does not depend on prices or bytes.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) collective: Collective,
    /// `None` for a custom schedule.
    pub(super) algorithm: Option<Algorithm>,
    pub(super) ranks: u32,
    /// n.
    pub(super) nodes: u32,
    /// g, when all nodes have as many ranks; else 1.
    pub(super) per_node: u32,
    /// Name of the system.
    pub(super) system: String,
    /// Names of the tiers.
    pub(super) tiers: Vec<String>,
    pub(super) form: Form,
    pub(super) loads: LinkLoads,
    /// What the busiest rank reduces, per byte of M.
    pub(super) reduced: f64,
    /// γ, in microseconds per byte.
    pub(super) gamma: f64,
    /// The class inside a node and the least time of a step there per byte of M, for rings whose
    /// channels keep their pace where they do not leave the node.
    pub(super) inside: Option<(LinkClassId, f64)>,
    /// Payload share of each link class, without protocol.
    pub(super) efficiency: Vec<f64>,
    /// Latency of the route between neighbours, by tier.
    pub(super) neighbours: Vec<f64>,
    /// Class and payload rate of the links of each kind of chip in use.
    pub(super) injection: Vec<Vec<(LinkClassId, f64)>>,
    /// What runs instead of NVLS when it is faster.
    pub(super) ring: Option<Box<Outline>>,
}

/// The law of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// Steps of whole messages; a rendezvous adds flights of the route to each.
    Sum { route: Route, flights: f64 },
    /// Steps that forward slices of so many bytes.
    Stream { slice: f64 },
    /// Pieces through a pipeline, each so many microseconds after the one before.
    Pieces {
        pieces: Pieces,
        next: f64,
        route: Route,
    },
    /// The stages of a hierarchy.
    Stages { overlap: Overlap },
    /// In-switch reduction in a node: bytes per byte of M.
    Nvls { share: f64 },
    /// In-switch reduction in the nodes, trees across.
    NvlsTree,
    /// In-switch reduction in the network, at the payload rate of a node's NICs; with NVLS in the
    /// nodes, its bytes per byte of M.
    Sharp {
        nvls: Option<f64>,
        class: LinkClassId,
        rate: f64,
    },
}

/// Which of a step's routes sets its latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The longest: the step ends when all have arrived.
    Longest,
    /// The mean: chunks of a ring pass every hop in turn.
    Mean,
}

impl Outline {
    /// Returns the prices as they apply to this call.
    pub(super) fn tariff(&self, prices: &Prices) -> Result<Tariff, PlanError> {
        let no_step = |tier: u32| PlanError::NoStep {
            tier: self.tiers[tier as usize].clone(),
            system: self.system.clone(),
            protocol: prices.protocol,
        };
        let mut tariff = Tariff::of(prices, &self.efficiency, &self.tiers_in_use(), no_step)?;
        if !self.shown().takes_channels() {
            tariff.ramp = None;
        }
        Ok(tariff)
    }

    /// Returns the tiers whose steps are priced.
    pub(super) fn tiers_in_use(&self) -> Vec<u32> {
        match self.form {
            Form::Nvls { .. } | Form::Sharp { .. } => match &self.ring {
                Some(ring) => ring.tiers_in_use(),
                None => Vec::new(),
            },
            Form::Sum { .. }
            | Form::Stream { .. }
            | Form::Pieces { .. }
            | Form::Stages { .. }
            | Form::NvlsTree => self.tiers_crossed(),
        }
    }

    /// Returns the outermost tiers of the routes.
    fn tiers_crossed(&self) -> Vec<u32> {
        let flights = self.loads.steps.iter().flat_map(|step| &step.tiers);
        let mut tiers: Vec<u32> = flights.map(|flight| flight.tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        tiers
    }

    /// Returns the law at some prices: rings forward in the grain of the protocol, if it has one.
    fn form_at(&self, prices: &Prices) -> Form {
        let is_sliced = matches!(
            self.algorithm,
            Some(Algorithm::Ring | Algorithm::BidirRing | Algorithm::TorusBucket)
        );
        match (self.form, prices.grain) {
            (
                Form::Sum {
                    route: Route::Mean, ..
                }
                | Form::Stream { .. },
                Some(grain),
            ) if is_sliced => Form::Stream {
                slice: grain.as_f64().max(1.0),
            },
            (form, _) => form,
        }
    }

    /// Returns the cost of a message as a function of its size.
    pub(super) fn cost(&self, prices: &Prices, tariff: &Tariff) -> Result<Cost, PlanError> {
        Ok(match self.form_at(prices) {
            Form::Sum { route, flights } => Cost::Sum(self.sum(route, flights, tariff)),
            Form::Stream { slice } => {
                let run = |step| self.run(step, tariff);
                let runs = self.loads.steps.iter().map(run).collect();
                Cost::Stream { runs, slice }
            }
            Form::Pieces {
                pieces,
                next,
                route,
            } => self.pieces(pieces, next, route, tariff),
            Form::Stages { overlap } => self.stages(overlap, tariff),
            Form::Nvls { share } => {
                let nvls = self.nvls_constants(prices)?;
                let cost = Cost::InSwitch {
                    alpha: time(nvls.alpha)?,
                    latency: self.loads.least_latency.get(),
                    us_per_byte: share * us_per_byte(nvls.rate)?,
                    floor_us_per_byte: self.floor(tariff).0,
                };
                match &self.ring {
                    None => cost,
                    Some(ring) => Cost::Faster(Box::new([cost, ring.cost(prices, tariff)?])),
                }
            }
            Form::NvlsTree => self.nvls_tree(prices, tariff)?,
            Form::Sharp { nvls, class, rate } => {
                let sharp = self.sharp_constants(prices)?;
                let rate = rate / tariff.stretch[class.index()] * sharp.efficiency;
                let mut alpha = time(sharp.alpha)?;
                let mut across = us_per_byte(GbPerSec::new(rate))?;
                if let Some(share) = nvls {
                    // In a pipeline: the longer of the two, and one call's software for both.
                    let inside = self.nvls_constants(prices)?;
                    alpha += (time(inside.alpha)? - tariff.software).max(0.0);
                    across = across.max(share * us_per_byte(inside.rate)?);
                }
                Cost::InSwitch {
                    alpha,
                    latency: self.loads.least_latency.get(),
                    us_per_byte: across,
                    floor_us_per_byte: self.floor(tariff).0,
                }
            }
        })
    }

    /// Returns the latency of a step, whose rank's own cost is `own` where routes set the price,
    /// with so many flights of the route more.
    pub(super) fn hop(
        &self,
        step: &StepLoad,
        route: Route,
        flights: f64,
        own: impl Fn(f64, f64) -> f64,
        tariff: &Tariff,
    ) -> f64 {
        let flight = match route {
            Route::Longest => step.latency.get(),
            Route::Mean => step.mean_latency.get(),
        };
        match &tariff.steps {
            StepTariff::Routes {
                pipelined,
                standalone,
            } => (1.0 + flights) * flight + own(*pipelined, *standalone),
            StepTariff::Neighbours(steps) => {
                let parts = self.neighbour_parts(step, route, steps);
                let hop = parts.iter().map(|(_, part, time)| part * time);
                hop.sum::<f64>() + flights * flight
            }
        }
    }

    /// Returns the tiers that set the latency of a step between neighbours, the part of each, and
    /// its time: all tiers in use for the mean, the slowest for the longest.
    pub(super) fn neighbour_parts(
        &self,
        step: &StepLoad,
        route: Route,
        steps: &[f64],
    ) -> Vec<(u32, f64, f64)> {
        let mut slowest: Option<(u32, f64, f64)> = None;
        let mut all = Vec::with_capacity(step.tiers.len());
        for flight in &step.tiers {
            let at = flight.tier as usize;
            let time = |flight: Micros| steps[at] + self.longer(at, flight.get());
            match route {
                Route::Mean => all.push((flight.tier, flight.part, time(flight.mean))),
                Route::Longest => {
                    let time = time(flight.longest);
                    if slowest.is_none_or(|(_, _, known)| time > known) {
                        slowest = Some((flight.tier, 1.0, time));
                    }
                }
            }
        }
        all.extend(slowest);
        all
    }

    /// Returns how much longer a route is than that between neighbours of the tier.
    pub(super) fn longer(&self, tier: usize, flight: f64) -> f64 {
        (flight - self.neighbours[tier]).max(0.0)
    }

    /// Returns a step's time per byte: alone, and with what shares the links.
    pub(super) fn pace(&self, step: &StepLoad, tariff: &Tariff) -> (f64, f64) {
        let (mut own, mut chunk) = (0.0_f64, 0.0_f64);
        for class in &step.classes {
            let stretch = tariff.stretch[class.class.index()];
            own = own.max(stretch * class.own_us_per_byte);
            chunk = chunk.max(stretch * class.us_per_byte);
        }
        own = own.max(self.least_inside(tariff));
        (own, chunk.max(own))
    }

    /// Returns the least time of a step inside a node; 0 where channels have no pace to keep.
    fn least_inside(&self, tariff: &Tariff) -> f64 {
        let inside = self.inside;
        inside.map_or(0.0, |(class, us)| tariff.stretch[class.index()] * us)
    }

    /// Returns how long the link with the most to carry is busy per byte of M, and the link.
    pub(super) fn floor(&self, tariff: &Tariff) -> (f64, Option<LinkId>) {
        let stretched =
            |class: &crate::ClassLoad| tariff.stretch[class.class.index()] * class.us_per_byte;
        let slowest = slowest(&self.loads.classes, stretched);
        (
            slowest.map_or(0.0, stretched),
            slowest.map(|class| class.busiest),
        )
    }

    fn line(&self, step: &StepLoad, route: Route, flights: f64, tariff: &Tariff) -> Linear {
        let (own, chunk) = self.pace(step, tariff);
        Linear {
            latency: self.hop(step, route, flights, |_, standalone| standalone, tariff),
            transfer: own,
            stall: chunk - own,
            reduction: step.reduced * self.gamma,
        }
    }

    pub(super) fn sum(&self, route: Route, flights: f64, tariff: &Tariff) -> Linear {
        let mut sum = Linear::default();
        for step in &self.loads.steps {
            let line = self.line(step, route, flights, tariff);
            sum.add(f64::from(step.repeat), &line);
        }
        sum
    }

    pub(super) fn run(&self, step: &StepLoad, tariff: &Tariff) -> Run {
        let (own, chunk) = self.pace(step, tariff);
        Run {
            repeat: step.repeat.into(),
            chunk,
            own,
            hop: self.hop(step, Route::Mean, 0.0, |pipelined, _| pipelined, tariff),
            reduction: step.reduced * self.gamma,
            message: step.message,
        }
    }

    fn pieces(&self, pieces: Pieces, next: f64, route: Route, tariff: &Tariff) -> Cost {
        let first = self.sum(route, 0.0, tariff);
        let moved = (first.transfer + first.stall).max(f64::MIN_POSITIVE);
        let floor = self.floor(tariff).0.max(self.least_inside(tariff));
        let own = floor * (first.transfer / moved);
        Cost::Pieces {
            first,
            next: Linear {
                latency: next,
                transfer: own,
                stall: floor - own,
                reduction: self.reduced * self.gamma,
            },
            pieces,
        }
    }

    fn stages(&self, overlap: Overlap, tariff: &Tariff) -> Cost {
        let mut stages = [Linear::default(); 3];
        for step in &self.loads.steps {
            let line = self.line(step, Route::Mean, 0.0, tariff);
            stages[step.stage].add(f64::from(step.repeat), &line);
        }
        let floor = Linear {
            transfer: self.floor(tariff).0,
            reduction: self.reduced * self.gamma,
            ..Linear::default()
        };
        Cost::Stages {
            stages,
            floor,
            overlap,
        }
    }

    fn nvls_tree(&self, prices: &Prices, tariff: &Tariff) -> Result<Cost, PlanError> {
        let nvls = self.nvls_constants(prices)?;
        let tree = self.tree_levels() * self.across(tariff).1;
        Ok(Cost::InSwitch {
            alpha: time(nvls.alpha)? + tree,
            latency: self.loads.least_latency.get() + tree,
            us_per_byte: (1.0 + 1.0 / f64::from(self.per_node)) * us_per_byte(nvls.rate)?,
            floor_us_per_byte: self.floor(tariff).0,
        })
    }

    /// Returns how many steps a tree over the nodes takes, up and down.
    pub(super) fn tree_levels(&self) -> f64 {
        2.0 * levels(self.nodes)
    }

    /// Returns the slowest step and its latency.
    pub(super) fn across(&self, tariff: &Tariff) -> (Option<&StepLoad>, f64) {
        let standalone = |_, standalone| standalone;
        let mut slowest = (None, 0.0);
        for step in &self.loads.steps {
            let hop = self.hop(step, Route::Longest, 0.0, standalone, tariff);
            if hop > slowest.1 {
                slowest = (Some(step), hop);
            }
        }
        slowest
    }

    pub(super) fn nvls_constants(&self, prices: &Prices) -> Result<InSwitch, PlanError> {
        let hint = "use ring, or set the constants of `[nvls]` in the system file";
        let lacks = || self.lacks("in-switch reduction has no constants", hint);
        prices.nvls.ok_or_else(lacks)
    }

    pub(super) fn sharp_constants(&self, prices: &Prices) -> Result<Sharp, PlanError> {
        let hint = "use ring, tree or nvls_tree, or set the constants of `[sharp]`";
        let lacks = || self.lacks("aggregation in the network has no constants", hint);
        prices.sharp.ok_or_else(lacks)
    }

    pub(super) fn lacks(&self, lacks: &'static str, hint: &'static str) -> PlanError {
        PlanError::Lacks {
            algorithm: self.algorithm.unwrap_or(Algorithm::Nvls),
            system: self.system.clone(),
            lacks,
            hint,
        }
    }

    /// Says whether the algorithm runs a protocol: NCCL's in-switch algorithms and PAT know
    /// Simple only [R:nccl tuning.cc].
    pub(super) fn is_run_by(&self, protocol: Protocol) -> bool {
        match self.algorithm {
            Some(
                Algorithm::Nvls
                | Algorithm::NvlsTree
                | Algorithm::CollNetDirect
                | Algorithm::CollNetChain
                | Algorithm::Pat,
            ) => protocol == Protocol::Simple,
            _ => true,
        }
    }

    /// Says whether small messages of the algorithm take fewer channels: NCCL's rings and trees;
    /// in-switch algorithms and PAT keep theirs [R:nccl enqueue.cc].
    fn takes_channels(&self) -> bool {
        matches!(self.algorithm, Some(Algorithm::Ring | Algorithm::Tree))
    }

    /// Says whether the system knows the protocol's step on the tiers in use.
    pub(super) fn has_steps(&self, topology: &Topology, protocol: Protocol) -> bool {
        let tiers = self.shown().tiers_crossed();
        let mut classes = tiers
            .iter()
            .map(|tier| topology.tiers()[*tier as usize].link);
        classes.all(|class| step(&topology.link_classes()[class.index()], protocol).is_some())
    }

    /// Returns the time of a step between neighbours, by tier.
    pub(super) fn neighbour_steps(&self, tariff: &Tariff) -> Vec<Micros> {
        match &tariff.steps {
            StepTariff::Routes { standalone, .. } => {
                let flights = self.neighbours.iter();
                flights.map(|us| Micros::new(us + standalone)).collect()
            }
            StepTariff::Neighbours(steps) => steps.iter().copied().map(Micros::new).collect(),
        }
    }

    /// Returns the loads that a plan shows: those of the ring where NVLS is one.
    pub(super) fn shown_loads(&self) -> &LinkLoads {
        match &self.ring {
            Some(ring) => &ring.loads,
            None => &self.loads,
        }
    }

    /// Returns the outline whose loads a plan shows.
    pub(super) fn shown(&self) -> &Self {
        self.ring.as_deref().unwrap_or(self)
    }
}
