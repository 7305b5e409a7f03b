//! Sharing links anew: the pieces of the network that have changed, each solved by itself.
//!
//! Rates rise together until links are full. A flow that has left, or come, changes nothing before
//! the level at which it stopped, or can stop at the earliest: flows that stopped before keep
//! their rates, and nothing is looked for behind them. Of messages that are alike the fastest end
//! first, so this is most of the network most of the time.

use tier6_units::SimTime;

use super::fluid::{Going, bytes_per_ps};
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
    /// Links of the piece, by number, whose flows have not been looked at: those at which a
    /// flow of it begins, and others.
    begun: Vec<u32>,
    crossed: Vec<u32>,
    /// Ends of flows whose rate has changed.
    ends: Vec<End>,
}

/// Where on the way of a flow a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Begun,
    Crossed,
}

impl FlowNetwork {
    /// Gives everybody who is touched by a change the rate that is fair.
    pub(super) fn share<E: From<FlowEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        let mut solver = std::mem::take(&mut self.solver);
        solver.searches += 1;
        solver.floor = std::mem::replace(&mut self.floor, f64::INFINITY) * (1.0 - MARGIN);
        solver.reserve(self.flows.len());
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
    /// Makes room for all flows at once, which many may be at the first search.
    fn reserve(&mut self, flows: usize) {
        self.flows.clear();
        self.flows.reserve(flows);
        self.ends.reserve(flows);
        self.max_min.reserve(flows);
    }

    /// Finds the links and flows that are connected with a link through flows whose rate may
    /// change.
    ///
    /// Links at which flows begin come first: what one sender has sent in a row lies in a row in
    /// memory, here and in all that is done with the piece afterwards.
    fn find(&mut self, network: &mut FlowNetwork, link: u32, fabric: &Fabric<'_>) {
        self.max_min.clear();
        self.links.clear();
        self.flows.clear();
        self.meet(network, link, Position::Crossed);
        while let Some(place) = self.begun.pop().or_else(|| self.crossed.pop()) {
            let link = self.links[place as usize] as usize;
            let mut members = std::mem::take(&mut network.links[link].members);
            let mut taken = 0.0;
            members.retain(|member| self.visit(network, member, &mut taken, fabric));
            network.links[link].members = members;
            self.max_min.take(place, taken);
        }
    }

    /// Returns the number of a link in the piece, which it joins unless it is there.
    fn meet(&mut self, network: &mut FlowNetwork, link: u32, position: Position) -> u32 {
        let occupied = &mut network.links[link as usize];
        if occupied.search != self.searches {
            occupied.search = self.searches;
            occupied.place = u32::try_from(self.links.len()).expect("Invariant: 32-bit numbers");
            self.links.push(link);
            self.max_min.add_link(occupied.capacity);
            match position {
                Position::Begun => self.begun.push(occupied.place),
                Position::Crossed => self.crossed.push(occupied.place),
            }
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
        let tenant = &mut network.tenants[member.slot as usize];
        if tenant.number != member.number {
            return false;
        }
        if tenant.search == self.searches {
            return true;
        }
        let flow = &network.flows[member.slot as usize];
        if flow.going == Going::Shared && flow.rate < self.floor {
            *taken += member.weight * flow.rate;
            return true;
        }
        tenant.search = self.searches;
        let (limit, path) = (bytes_per_ps(flow.pace), flow.path);
        self.flows.push(member.slot);
        let mut position = Position::Begun;
        for one in fabric.uses(path) {
            let place = self.meet(network, one.link.0, position);
            self.max_min.add_use(place, one.weight);
            position = Position::Crossed;
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
            let Some(end) = flow.turn(share, *rate, now, context.fabric) else {
                continue;
            };
            if let (Going::Shared, Some(before)) = (was, before) {
                network.groups.leave(before);
            }
            share.group = (end < SimTime::NEVER).then_some(group);
            if share.group.is_some() {
                self.ends.push(End {
                    time: end,
                    number: network.tenants[*slot as usize].number,
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
