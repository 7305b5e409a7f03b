//! Link loads: what a schedule puts on the links of a topology.
//!
//! Step-synchronous, a step lasts as long as its busiest link; pipelined, all steps together last
//! at least as long as the link with the most to carry. On a graph where flows share links the
//! two bracket the bandwidth term of any algorithm, so no formula needs a factor of its own per
//! topology (FACTS B.4).

mod spray;
mod switch_tree;
mod tally;

use crate::parameters::Spread;
use crate::traffic::{Send, Step, Traffic};
use spray::Spray;
use std::ops::Range;
use switch_tree::SwitchTree;
pub(crate) use tally::slowest;
use tally::{Latencies, LinkClock, Tally};
use tier6_collective::Schedule;
use tier6_system::{ChipId, LinkClassId, LinkId, RouteTree, Topology};
use tier6_units::Micros;

/// A link and its share of the message size M.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkLoad {
    /// The link.
    pub link: LinkId,
    /// Bytes on it per byte of M.
    pub share: f64,
}

/// What steps that are alike put on the links.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLoad {
    /// How many such steps follow each other.
    pub repeat: u32,
    /// Time of the busiest link, in microseconds per byte of M.
    pub us_per_byte: f64,
    /// The same for the rank with the most to send, were it alone.
    pub own_us_per_byte: f64,
    /// The busiest link.
    pub busiest: Option<LinkId>,
    /// Longest route.
    pub latency: Micros,
    /// Mean route, weighted by bytes: what the chunks of a ring meet on their way round.
    pub mean_latency: Micros,
    /// Largest message, per byte of M.
    pub message: f64,
    /// What the busiest rank reduces, per byte of M.
    pub reduced: f64,
    /// The busiest link of each class in use.
    pub classes: Vec<ClassLoad>,
    /// The routes by the outermost tier that they cross.
    pub tiers: Vec<TierFlight>,
    /// Loads by link; empty in a summary.
    pub links: Vec<LinkLoad>,
    pub(crate) stage: usize,
}

/// The links of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassLoad {
    /// The class.
    pub class: LinkClassId,
    /// Time of its busiest link, in microseconds per byte of M.
    pub us_per_byte: f64,
    /// The same for the rank with the most to send, were it alone.
    pub own_us_per_byte: f64,
    /// The busiest link.
    pub busiest: LinkId,
}

/// The routes of a step that reach as far as one tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierFlight {
    /// The tier.
    pub tier: u32,
    /// Part of the step's bytes.
    pub part: f64,
    /// Longest route.
    pub longest: Micros,
    /// Shortest route.
    pub least: Micros,
    /// Mean route, weighted by bytes.
    pub mean: Micros,
}

/// The loads of a whole schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkLoads {
    /// Step by step, in order.
    pub steps: Vec<StepLoad>,
    /// All steps together, by link.
    pub total: Vec<LinkLoad>,
    /// All steps together, by class.
    pub classes: Vec<ClassLoad>,
    /// Time of the link with the most to carry, in microseconds per byte of M: the pipelined
    /// floor.
    pub floor_us_per_byte: f64,
    /// That link.
    pub busiest: Option<LinkId>,
    /// Shortest route in use.
    pub least_latency: Micros,
    /// The most messages that a rank sends, or receives, at once.
    pub ports: u32,
}

/// No switch serves a group of the schedule: its ranks are joined by links alone, or the switch
/// cannot be reached in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no switch serves group {group}; hint: in-switch algorithms need one switch that all their ranks reach"
)]
pub struct NoSwitchError {
    /// The group.
    pub group: u32,
}

/// Whether each step keeps its loads by link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Summary,
    ByLink,
}

impl LinkLoads {
    /// Returns the loads of a schedule with rank r on `chips[r]`.
    ///
    /// Multicast and in-switch reduction load each link of the group's switch tree once.
    ///
    /// # Errors
    ///
    /// When a group has no switch.
    ///
    /// # Panics
    ///
    /// When there are fewer chips than ranks.
    pub fn of_schedule(
        schedule: &Schedule,
        topology: &Topology,
        chips: &[ChipId],
        spread: Spread,
    ) -> Result<Self, NoSwitchError> {
        let traffic = Traffic::of_schedule(schedule);
        Self::of_traffic(&traffic, topology, chips, spread, Detail::ByLink)
    }

    pub(crate) fn of_traffic(
        traffic: &Traffic,
        topology: &Topology,
        chips: &[ChipId],
        spread: Spread,
        detail: Detail,
    ) -> Result<Self, NoSwitchError> {
        assert!(chips.len() >= traffic.ranks as usize, "a chip per rank");
        let mut router = Router::new(traffic, topology, chips, spread)?;
        let mut steps = Vec::with_capacity(traffic.steps.len());
        for step in &traffic.steps {
            let mut load = router.step(step, traffic.ranks);
            if detail == Detail::Summary {
                load.links = Vec::new();
            }
            steps.push(load);
        }
        let total: Vec<LinkLoad> = router
            .total
            .iter()
            .zip(0_u32..)
            .filter(|(share, _)| **share > 0.0)
            .map(|(share, link)| LinkLoad {
                link: LinkId::new(link),
                share: *share,
            })
            .collect();
        let classes = router.clock.busiest(&total, &router.clock.no_time());
        let slowest = slowest(&classes, |class| class.us_per_byte);
        let least = router.least_latency;
        Ok(Self {
            steps,
            total,
            floor_us_per_byte: slowest.map_or(0.0, |class| class.us_per_byte),
            busiest: slowest.map(|class| class.busiest),
            classes,
            least_latency: Micros::new(if least.is_finite() { least } else { 0.0 }),
            ports: router.ports,
        })
    }

    /// Returns the step-synchronous bandwidth term: the busiest links of all steps in turn, in
    /// microseconds per byte of M.
    pub fn step_us_per_byte(&self) -> f64 {
        let time = |step: &StepLoad| f64::from(step.repeat) * step.us_per_byte;
        self.steps.iter().map(time).sum()
    }
}

/// Routes steps and adds up their loads; the vectors are by link.
struct Router<'t> {
    topology: &'t Topology,
    chips: &'t [ChipId],
    spread: Spread,
    trees: Vec<Option<RouteTree<'t>>>,
    groups: Vec<Option<SwitchTree>>,
    clock: LinkClock,
    step: Tally,
    own: Tally,
    total: Vec<f64>,
    route: Vec<LinkId>,
    spray: Spray,
    least_latency: f64,
    ports: u32,
}

impl<'t> Router<'t> {
    fn new(
        traffic: &Traffic,
        topology: &'t Topology,
        chips: &'t [ChipId],
        spread: Spread,
    ) -> Result<Self, NoSwitchError> {
        let mut groups = Vec::new();
        for (members, group) in traffic.groups.iter().zip(0_u32..) {
            let members: Vec<ChipId> = members.iter().map(|rank| chips[rank.index()]).collect();
            groups.push(match members.len() {
                0 | 1 => None,
                _ => Some(SwitchTree::of(topology, &members).ok_or(NoSwitchError { group })?),
            });
        }
        let n_links = topology.links().len();
        Ok(Self {
            topology,
            chips,
            spread,
            trees: vec![None; chips.len()],
            groups,
            clock: LinkClock::of(topology),
            step: Tally::new(n_links),
            own: Tally::new(n_links),
            total: vec![0.0; n_links],
            route: Vec::new(),
            spray: Spray::default(),
            least_latency: f64::INFINITY,
            ports: 0,
        })
    }

    fn step(&mut self, step: &Step, ranks: u32) -> StepLoad {
        let mut latencies = Latencies::new(self.topology.tiers().len());
        let mut own = self.clock.no_time();
        let mut pairs = pairs(&step.sends, ranks);
        // Stable: the flows of a rank stay in order.
        pairs.sort_by_key(|(src, _, _)| *src);
        for flows in pairs.chunk_by(|a, b| a.0 == b.0) {
            for (src, dst, share) in flows {
                self.send(*src, *dst, *share, &mut latencies);
            }
            self.ports = self.ports.max(count(flows.len()));
            self.own.raise(&self.clock, &mut own);
        }
        pairs.sort_unstable_by_key(|(_, dst, _)| *dst);
        for flows in pairs.chunk_by(|a, b| a.1 == b.1) {
            self.ports = self.ports.max(count(flows.len()));
        }
        let is_switched = self.switched(&step.sends, &mut latencies);
        let links = self.step.take();
        for load in &links {
            self.total[load.link.index()] += f64::from(step.repeat) * load.share;
        }
        if is_switched {
            own.fill(f64::INFINITY);
        }
        let classes = self.clock.busiest(&links, &own);
        let busiest = slowest(&classes, |class| class.us_per_byte);
        let own = classes.iter().map(|class| class.own_us_per_byte);
        StepLoad {
            repeat: step.repeat,
            us_per_byte: busiest.map_or(0.0, |class| class.us_per_byte),
            own_us_per_byte: own.fold(0.0, f64::max),
            busiest: busiest.map(|class| class.busiest),
            latency: latencies.longest(),
            mean_latency: latencies.mean(),
            message: step.message,
            reduced: step.reduced,
            tiers: latencies.by_tier(),
            classes,
            links,
            stage: step.stage,
        }
    }

    fn send(&mut self, src: u32, dst: u32, share: f64, latencies: &mut Latencies) {
        let (topology, chips) = (self.topology, self.chips);
        let (from, to) = (chips[src as usize], chips[dst as usize]);
        let tree = self.trees[dst as usize].get_or_insert_with(|| topology.routes_to(to));
        let (step, own) = (&mut self.step, &mut self.own);
        let mut add = |link, share| {
            step.add(link, share);
            own.add(link, share);
        };
        let (latency, tier) = match self.spread {
            Spread::Preferred => {
                self.route.clear();
                tree.route_into(from, 0, &mut self.route);
                self.route.iter().for_each(|link| add(*link, share));
                let tiers = self.route.iter().map(|link| topology.link(*link).tier);
                let latency = topology.route_latency(&self.route).get();
                (latency, tiers.max().unwrap_or(0))
            }
            Spread::Even => {
                let ends = (topology.chip_vertex(from), dst);
                self.spray.flow(topology, tree, ends, share, add)
            }
        };
        latencies.add(tier, latency, share);
        self.least_latency = self.least_latency.min(latency);
    }

    /// Adds what switches copy and reduce; says whether there was any.
    fn switched(&mut self, sends: &[Send], latencies: &mut Latencies) -> bool {
        let mut is_switched = false;
        for send in sends {
            let (group, up, down, share) = match *send {
                Send::Shift { .. } | Send::Pair { .. } => continue,
                Send::Multicast { src, group, share } => (group, Some(src), None, share),
                Send::LoadReduce { group, dst, share } => (group, None, Some(dst), share),
                Send::Aggregate { group, share } => (group, None, None, share),
            };
            let Some(tree) = self.groups.get(group as usize).and_then(Option::as_ref) else {
                continue;
            };
            let chip = |rank: u32| self.chips[rank as usize];
            for link in tree.up(up.map(chip)) {
                self.step.add(*link, share);
            }
            for link in tree.down(down.map(chip)) {
                self.step.add(*link, share);
            }
            latencies.add(tree.tier(), tree.latency(), share);
            self.least_latency = self.least_latency.min(tree.latency());
            is_switched = true;
        }
        is_switched
    }
}

/// Returns source, destination and share of all flows between ranks.
fn pairs(sends: &[Send], ranks: u32) -> Vec<(u32, u32, f64)> {
    let mut pairs = Vec::new();
    for send in sends {
        match *send {
            Send::Shift { distance, share } => {
                let all: Range<u32> = 0..ranks;
                pairs.extend(all.map(|rank| (rank, (rank + distance) % ranks, share)));
            }
            Send::Pair { src, dst, share } => pairs.push((src, dst, share)),
            Send::Multicast { .. } | Send::LoadReduce { .. } | Send::Aggregate { .. } => {}
        }
    }
    pairs
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
