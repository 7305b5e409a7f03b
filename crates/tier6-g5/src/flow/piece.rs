//! Sharing links anew: the pieces of the network that have changed, each solved by itself.
//!
//! Rates rise together until links are full. A flow that has left, or come, changes nothing before
//! the level at which it stopped, or can stop at the earliest: flows that stopped before keep
//! their rates, and nothing is looked for behind them. Of messages that are alike the fastest end
//! first, so this is most of the network most of the time.

use tier6_units::SimTime;

use super::fluid::{Going, Turned, bytes_per_ps};
use super::groups::End;
use super::max_min::MaxMin;
use super::members::Member;
use super::{FlowEvent, FlowNetwork, Solution};
use crate::Fabric;
use crate::network::Context;

/// Rates below the lowest that may change by more than this share of it do not change. It is far
/// above all rounding.
const MARGIN: f64 = 1e-9;

/// Room to work in, kept from one instant to the next.
#[derive(Debug, Default)]
pub(super) struct Solver {
    max_min: MaxMin,
    /// How many searches there have been.
    searches: u32,
    /// Rates below this one stay.
    floor: f64,
    /// Links and flows of the piece that is searched, numbered as for `max_min`.
    links: Vec<u32>,
    flows: Vec<u32>,
    /// Ends of flows whose rate has changed.
    ends: Vec<End>,
}

impl FlowNetwork {
    /// Gives everybody who is touched by a change the rate that is fair.
    pub(super) fn share<E: From<FlowEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        let mut solver = std::mem::take(&mut self.solver);
        solver.searches += 1;
        solver.floor = std::mem::replace(&mut self.floor, f64::INFINITY) * (1.0 - MARGIN);
        while let Some(link) = self.changed.pop() {
            if self.links[link as usize].search == solver.searches {
                continue;
            }
            solver.find(self, link, context.fabric);
            solver.solve(self, now, context);
        }
        self.groups.tidy(&self.flows);
        self.solver = solver;
        self.solution = Solution::Valid;
    }
}

impl Solver {
    /// Finds the links and flows that are connected with a link through flows whose rate may
    /// change.
    fn find(&mut self, network: &mut FlowNetwork, link: u32, fabric: &Fabric<'_>) {
        self.max_min.clear();
        self.links.clear();
        self.flows.clear();
        self.meet(network, link);
        let mut at = 0;
        while let Some(link) = self.links.get(at).copied() {
            let mut members = std::mem::take(&mut network.links[link as usize].members);
            let mut taken = 0.0;
            members.retain(|member| self.visit(network, member, &mut taken, fabric));
            network.links[link as usize].members = members;
            let number = u32::try_from(at).expect("Invariant: 32-bit numbers");
            self.max_min.take(number, taken);
            at += 1;
        }
    }

    /// Returns the number of a link in the piece, which it joins unless it is there.
    fn meet(&mut self, network: &mut FlowNetwork, link: u32) -> u32 {
        let occupied = &mut network.links[link as usize];
        if occupied.search != self.searches {
            occupied.search = self.searches;
            occupied.place = u32::try_from(self.links.len()).expect("Invariant: 32-bit numbers");
            self.links.push(link);
            self.max_min.add_link(occupied.capacity);
        }
        occupied.place
    }

    /// Adds a flow to the piece, or what it takes of the link when its rate stays; says whether it
    /// is on the link at all.
    fn visit(
        &mut self,
        network: &mut FlowNetwork,
        member: Member,
        taken: &mut f64,
        fabric: &Fabric<'_>,
    ) -> bool {
        let flow = &mut network.flows[member.slot as usize];
        if flow.number != member.number || flow.going == Going::Over {
            return false;
        }
        if flow.search == self.searches {
            return true;
        }
        if flow.going == Going::Shared && flow.rate < self.floor {
            *taken += member.weight * flow.rate;
            return true;
        }
        flow.search = self.searches;
        let (limit, path) = (bytes_per_ps(flow.pace), flow.path);
        self.flows.push(member.slot);
        for one in fabric.path(path).uses {
            let place = self.meet(network, one.link.0);
            self.max_min.add_use(place, one.weight);
        }
        self.max_min.add_flow(limit);
        true
    }

    /// Gives the flows of the piece their rates. Those that change form a group, for whose first
    /// end an event waits.
    fn solve<E: From<FlowEvent>>(
        &mut self,
        network: &mut FlowNetwork,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let group = network.groups.open();
        for (slot, rate) in self.flows.iter().zip(self.max_min.solve()) {
            let flow = &mut network.flows[*slot as usize];
            let share = &mut network.shares[*slot as usize];
            let (was, before) = (flow.going, share.group);
            if flow.turn(share, *rate, now, context.fabric) == Turned::No {
                continue;
            }
            if let (Going::Shared, Some(before)) = (was, before) {
                network.groups.leave(before);
            }
            share.group = (flow.end < SimTime::NEVER).then_some(group);
            if share.group.is_some() {
                self.ends.push(End {
                    time: flow.end,
                    number: flow.number,
                    slot: *slot,
                    version: flow.version,
                });
            }
        }
        if let Some(first) = network.groups.fill(group, &mut self.ends) {
            context.agenda.at(first, FlowEvent::Ends(group).into());
        }
    }
}
