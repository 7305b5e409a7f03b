//! Routes the messages of a step and adds up what they put on links.
//!
//! Ways are found once for all steps and kept for all algorithms on a topology.

use super::spray::{self, Spray};
use super::tally::{Latencies, LinkClock, Tally, slowest};
use super::{ClassLoad, LinkLoad, NoSwitchError, StepLoad};
use crate::parameters::Spread;
use crate::traffic::{Send, Step, Traffic};
use tier6_system::{ChipId, LinkId, RouteTree, SwitchTree, Topology};

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
    pub(super) fn step(
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

    pub(super) const fn topology(&self) -> &'t Topology {
        self.topology
    }

    /// Returns the busiest link of each class that carries something.
    pub(super) fn busiest(&self, loads: &[LinkLoad]) -> Vec<ClassLoad> {
        self.clock.busiest(loads, &self.clock.no_time())
    }

    /// Finds the ways of all flows before they are counted, those to one chip together: of the few
    /// neighbours that most algorithms have, or of everybody.
    pub(super) fn prepare(&mut self, traffic: &Traffic, chips: &[ChipId]) {
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

/// Returns the switches of groups; none for a group that sends nothing.
pub(super) fn groups(
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
