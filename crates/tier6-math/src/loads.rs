//! Link loads: what a schedule puts on the links of a topology.
//!
//! Step-synchronous, a step lasts as long as its busiest link; pipelined, all steps together last
//! at least as long as the link with the most to carry. On a graph where flows share links the
//! two bracket the bandwidth term of any algorithm, so no formula needs a factor of its own per
//! topology (FACTS B.4).

mod spray;
mod tally;

use crate::parameters::Spread;
use crate::traffic::{Send, Step, Traffic};
use spray::Spray;
pub(crate) use tally::slowest;
use tally::{Latencies, LinkClock, Tally};
use tier6_collective::Schedule;
use tier6_system::{ChipId, LinkClassId, LinkId, RouteTree, SwitchTree, Topology};
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
        let mut router = Router::new(topology);
        Self::of_traffic(&traffic, &mut router, chips, spread, Detail::ByLink)
    }

    pub(crate) fn of_traffic(
        traffic: &Traffic,
        router: &mut Router<'_>,
        chips: &[ChipId],
        spread: Spread,
        detail: Detail,
    ) -> Result<Self, NoSwitchError> {
        assert!(chips.len() >= traffic.ranks as usize, "a chip per rank");
        let chips = &chips[..traffic.ranks as usize];
        let groups = groups(traffic, router.topology, chips)?;
        if spread == Spread::Even {
            router.prepare(traffic, chips);
        }
        let mut total = vec![0.0; router.topology.links().len()];
        let mut ports = 0;
        let mut steps: Vec<StepLoad> = Vec::with_capacity(traffic.steps.len());
        for (index, step) in traffic.steps.iter().enumerate() {
            // Phases repeat what earlier ones sent, whatever is reduced.
            let earlier = index.saturating_sub(STEPS_KEPT)..index;
            let alike = earlier
                .rev()
                .find(|at| traffic.steps[*at].sends == step.sends);
            let load = if let Some(at) = alike {
                StepLoad {
                    repeat: step.repeat,
                    message: step.message,
                    reduced: step.reduced,
                    stage: step.stage,
                    ..steps[at].clone()
                }
            } else {
                let (load, at_once) = router.step(step, chips, &groups, spread);
                ports = ports.max(at_once);
                load
            };
            for of_link in &load.links {
                total[of_link.link.index()] += f64::from(step.repeat) * of_link.share;
            }
            steps.push(load);
            if detail == Detail::Summary && index >= STEPS_KEPT {
                steps[index - STEPS_KEPT].links = Vec::new();
            }
        }
        if detail == Detail::Summary {
            for step in &mut steps {
                step.links = Vec::new();
            }
        }
        let total: Vec<LinkLoad> = total
            .into_iter()
            .zip(0_u32..)
            .filter(|(share, _)| *share > 0.0)
            .map(|(share, link)| LinkLoad {
                link: LinkId::new(link),
                share,
            })
            .collect();
        let classes = router.clock.busiest(&total, &router.clock.no_time());
        let slowest = slowest(&classes, |class| class.us_per_byte);
        let flights = steps.iter().flat_map(|step| &step.tiers);
        let least = flights.map(|flight| flight.least.get());
        let least = least.fold(f64::INFINITY, f64::min);
        Ok(Self {
            floor_us_per_byte: slowest.map_or(0.0, |class| class.us_per_byte),
            busiest: slowest.map(|class| class.busiest),
            steps,
            total,
            classes,
            least_latency: Micros::new(if least.is_finite() { least } else { 0.0 }),
            ports,
        })
    }

    /// Returns the step-synchronous bandwidth term: the busiest links of all steps in turn, in
    /// microseconds per byte of M.
    pub fn step_us_per_byte(&self) -> f64 {
        let time = |step: &StepLoad| f64::from(step.repeat) * step.us_per_byte;
        self.steps.iter().map(time).sum()
    }
}

/// How many steps are kept by link, in case that a later one sends the same.
const STEPS_KEPT: usize = 32;

/// Returns the switches of groups; none for a group that sends nothing.
fn groups(
    traffic: &Traffic,
    topology: &Topology,
    chips: &[ChipId],
) -> Result<Vec<Option<SwitchTree>>, NoSwitchError> {
    let mut groups = Vec::new();
    for (members, group) in traffic.groups.iter().zip(0_u32..) {
        let members: Vec<ChipId> = members.iter().map(|rank| chips[rank.index()]).collect();
        groups.push(match members.len() {
            0 | 1 => None,
            _ => Some(SwitchTree::of(topology, &members).ok_or(NoSwitchError { group })?),
        });
    }
    Ok(groups)
}

/// Routes steps and adds up their loads. It keeps the routes that it has found, which serve all
/// algorithms on a topology.
pub(crate) struct Router<'t> {
    topology: &'t Topology,
    /// By destination chip, where flows take the preferred route.
    trees: Vec<Option<RouteTree<'t>>>,
    spray: Spray,
    clock: LinkClock,
    tally: Tally,
    route: Vec<LinkId>,
}

impl<'t> Router<'t> {
    pub(crate) fn new(topology: &'t Topology) -> Self {
        let n_links = topology.links().len();
        Self {
            topology,
            trees: vec![None; topology.chips().len()],
            spray: Spray::new(topology),
            clock: LinkClock::of(topology),
            tally: Tally::new(n_links),
            route: Vec::new(),
        }
    }

    /// Returns the loads of a step, and the most messages that a rank sends, or receives, at once.
    fn step(
        &mut self,
        step: &Step,
        chips: &[ChipId],
        groups: &[Option<SwitchTree>],
        spread: Spread,
    ) -> (StepLoad, u32) {
        let mut latencies = Latencies::new(self.topology.tiers().len());
        let mut own = self.clock.no_time();
        let (flows, ports) = flows(&step.sends, count(chips.len()));
        for of_rank in flows.chunk_by(|a, b| a.src == b.src) {
            for flow in of_rank {
                self.send(flow, chips, spread, &mut latencies);
            }
            self.tally.raise(&self.clock, &mut own);
        }
        let is_switched = self.switched(&step.sends, chips, groups, &mut latencies);
        if is_switched {
            own.fill(f64::INFINITY);
        }
        let links = self.tally.take();
        let classes = self.clock.busiest(&links, &own);
        let busiest = slowest(&classes, |class| class.us_per_byte);
        let own = classes.iter().map(|class| class.own_us_per_byte);
        let load = StepLoad {
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
        };
        (load, ports)
    }

    /// Finds the ways of all flows before they are counted, those to one chip together: of the few
    /// neighbours that most algorithms have, or of everybody.
    fn prepare(&mut self, traffic: &Traffic, chips: &[ChipId]) {
        let sends = || traffic.steps.iter().flat_map(|step| &step.sends);
        let n_flows: usize = sends().map(|send| send.n_flows(traffic.ranks)).sum();
        let mut is_met = vec![false; chips.len()];
        // Of AllReduce's two phases the second meets the same ranks again.
        let mut ends = Vec::new();
        for step in &traffic.steps {
            each_flow(&step.sends, traffic.ranks, |flow| {
                let (from, to) = (chips[flow.src as usize], chips[flow.dst as usize]);
                if n_flows <= 2 * spray::FEW * chips.len() {
                    ends.push((to, from));
                } else if !std::mem::replace(&mut is_met[flow.dst as usize], true) {
                    self.spray.prepare_all(self.topology, to);
                }
            });
        }
        ends.sort_unstable();
        ends.dedup();
        let mut from = Vec::new();
        for to_one in ends.chunk_by(|a, b| a.0 == b.0) {
            from.clear();
            from.extend(to_one.iter().map(|(_, from)| *from));
            self.spray.prepare(self.topology, to_one[0].0, &from);
        }
    }

    fn send(&mut self, flow: &Flow, chips: &[ChipId], spread: Spread, latencies: &mut Latencies) {
        let topology = self.topology;
        let (from, to) = (chips[flow.src as usize], chips[flow.dst as usize]);
        let (latency, tier) = match spread {
            Spread::Preferred => {
                let tree = &mut self.trees[to.index()];
                let tree = tree.get_or_insert_with(|| topology.routes_to(to));
                self.route.clear();
                tree.route_into(from, 0, &mut self.route);
                for link in &self.route {
                    self.tally.add(*link, flow.share);
                }
                let tiers = self.route.iter().map(|link| topology.link(*link).tier);
                let latency = topology.route_latency(&self.route).get();
                (latency, tiers.max().unwrap_or(0))
            }
            Spread::Even => {
                let start = (topology.chip_vertex(from), flow.share);
                let (clock, tally) = (&self.clock, &mut self.tally);
                self.spray.flow(topology, to, clock, start, tally)
            }
        };
        latencies.add(tier, latency, flow.share);
    }

    /// Adds what switches copy and reduce; says whether there was any.
    fn switched(
        &mut self,
        sends: &[Send],
        chips: &[ChipId],
        groups: &[Option<SwitchTree>],
        latencies: &mut Latencies,
    ) -> bool {
        let mut is_switched = false;
        for send in sends {
            let (group, up, down, share) = match *send {
                Send::Shift { .. } | Send::Pair { .. } => continue,
                Send::Multicast { src, group, share } => (group, Some(src), None, share),
                Send::LoadReduce { group, dst, share } => (group, None, Some(dst), share),
                Send::Aggregate { group, share } => (group, None, None, share),
            };
            let Some(tree) = groups.get(group as usize).and_then(Option::as_ref) else {
                continue;
            };
            let chip = |rank: u32| chips[rank as usize];
            let ways = [tree.up(up.map(chip)), tree.down(down.map(chip))];
            for link in ways.into_iter().flatten().flatten() {
                self.tally.add_to_step(*link, share);
            }
            latencies.add(tree.tier(), tree.latency().get(), share);
            is_switched = true;
        }
        is_switched
    }
}

/// A message from one rank to another.
#[derive(Debug, Clone, Copy)]
struct Flow {
    src: u32,
    dst: u32,
    share: f64,
}

/// Returns all messages between ranks by source, those of one in order, and the most that a rank
/// sends, or receives, at once.
fn flows(sends: &[Send], ranks: u32) -> (Vec<Flow>, u32) {
    let mut sent = vec![0_u32; ranks as usize];
    let mut received = sent.clone();
    each_flow(sends, ranks, |flow| {
        sent[flow.src as usize] += 1;
        received[flow.dst as usize] += 1;
    });
    let mut next: Vec<usize> = Vec::with_capacity(sent.len());
    let mut n_flows = 0;
    for of_rank in &sent {
        next.push(n_flows);
        n_flows += *of_rank as usize;
    }
    let none = Flow {
        src: 0,
        dst: 0,
        share: 0.0,
    };
    let mut flows = vec![none; n_flows];
    each_flow(sends, ranks, |flow| {
        let at = &mut next[flow.src as usize];
        flows[*at] = flow;
        *at += 1;
    });
    let ports = sent.into_iter().chain(received).max();
    (flows, ports.unwrap_or(0))
}

fn each_flow(sends: &[Send], ranks: u32, mut each: impl FnMut(Flow)) {
    for send in sends {
        match *send {
            Send::Shift { distance, share } => {
                for src in 0..ranks {
                    let dst = (src + distance) % ranks;
                    each(Flow { src, dst, share });
                }
            }
            Send::Pair { src, dst, share } => each(Flow { src, dst, share }),
            Send::Multicast { .. } | Send::LoadReduce { .. } | Send::Aggregate { .. } => {}
        }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
