//! Sharing links anew: the pieces of the network that have changed, each solved by itself.

use tier6_units::SimTime;

use super::fluid::{Armed, Ended, bytes_per_ps};
use super::max_min::MaxMin;
use super::members::Member;
use super::{FlowEvent, FlowNetwork, Passed, Solution};
use crate::Fabric;
use crate::network::Context;

/// Room to work in, kept from one instant to the next.
#[derive(Debug, Default)]
pub(super) struct Solver {
    max_min: MaxMin,
    /// How many searches there have been.
    pub(super) searches: u32,
    /// Links and flows of the piece that is searched, numbered as for `max_min`.
    links: Vec<u32>,
    flows: Vec<u32>,
    /// Flows that end now, by number.
    ended: Vec<(u64, Ended)>,
}

impl FlowNetwork {
    /// Ends what ends now and gives everybody else who is connected with a change the rate that
    /// is fair.
    pub(super) fn share<E: From<FlowEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        let mut solver = std::mem::take(&mut self.solver);
        solver.searches += 1;
        // Flows that end add links here.
        while let Some(link) = self.changed.pop() {
            if self.links[link as usize].search == solver.searches {
                continue;
            }
            solver.find(self, link, now, context.fabric);
            if let Some((slot, end)) = solver.solve(self, now, context.fabric) {
                let version = self.flows[slot as usize].version;
                let event = FlowEvent::Passed(Passed::Sender { slot, version });
                context.agenda.at(end, event.into());
            }
        }
        solver.ended.sort_unstable_by_key(|(number, _)| *number);
        for (_, ended) in solver.ended.drain(..) {
            self.tell(ended, now, context);
        }
        self.solver = solver;
        self.solution = Solution::Valid;
    }
}

impl Solver {
    /// Finds the links and flows that are connected with a link, and ends flows that end now.
    fn find(&mut self, network: &mut FlowNetwork, link: u32, now: SimTime, fabric: &Fabric<'_>) {
        self.max_min.clear();
        self.links.clear();
        self.flows.clear();
        self.meet(network, link);
        let mut at = 0;
        while let Some(link) = self.links.get(at).copied() {
            at += 1;
            let mut members = std::mem::take(&mut network.links[link as usize].members);
            members.retain(|member| self.visit(network, member, now, fabric));
            let occupied = &mut network.links[link as usize];
            occupied.members = members;
            if occupied.load == 0 {
                occupied.members.clear();
            }
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

    /// Adds a flow to the piece; says whether it stays on its links.
    fn visit(
        &mut self,
        network: &mut FlowNetwork,
        member: Member,
        now: SimTime,
        fabric: &Fabric<'_>,
    ) -> bool {
        let flow = &mut network.flows[member.slot as usize];
        if flow.use_count != member.use_count {
            return false;
        }
        if flow.search == self.searches {
            return true;
        }
        flow.search = self.searches;
        if flow.end <= now {
            let number = flow.number;
            let ended = network.vacate(member.slot, fabric, self.searches);
            self.ended.push((number, ended));
            return false;
        }
        let (limit, path) = (bytes_per_ps(flow.pace), flow.path);
        self.flows.push(member.slot);
        for one in fabric.path(path).uses {
            let place = self.meet(network, one.link.0);
            self.max_min.add_use(place, one.weight);
        }
        self.max_min.add_flow(limit);
        true
    }

    /// Gives the flows of the piece their rates; returns the one that ends first, and when,
    /// unless an event waits for it.
    fn solve(
        &mut self,
        network: &mut FlowNetwork,
        now: SimTime,
        fabric: &Fabric<'_>,
    ) -> Option<(u32, SimTime)> {
        let rates = self.max_min.solve();
        let mut first: Option<(SimTime, u64, u32)> = None;
        for (slot, rate) in self.flows.iter().zip(rates) {
            let flow = &mut network.flows[*slot as usize];
            flow.turn(&mut network.shares[*slot as usize], *rate, now, fabric);
            if flow.end < SimTime::NEVER {
                let this = (flow.end, flow.number, *slot);
                first = Some(first.map_or(this, |first| first.min(this)));
            }
        }
        let (end, _, slot) = first?;
        let flow = &mut network.flows[slot as usize];
        let armed = std::mem::replace(&mut flow.armed, Armed::Yes);
        (armed == Armed::No).then_some((slot, end))
    }
}
