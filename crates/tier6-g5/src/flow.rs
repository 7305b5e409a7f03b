//! The `flow` fidelity: messages as fluids that share links max-min fairly.
//!
//! A message occupies all links of its path at one rate until its last byte has left the sender;
//! it arrives a path's latency later. A message that is alone on its links never enters the
//! solver: its time is bytes times the time per byte, to the picosecond. Where messages meet,
//! only those whose rate can change are solved again, once per instant.
//!
//! Deliberately absent: queues, loss, the window of a sender, and whatever it waits for. A link
//! that fails stops what is on it; only the fabric routes around links that are down from the start.

mod belts;
mod changed;
mod fluid;
mod groups;
mod max_min;
mod members;
mod occupied;
mod piece;
mod report;
#[cfg(test)]
mod tests;

use tier6_system::LinkId;
use tier6_units::SimTime;

use crate::network::{Context, Message, MessageId, Network, Notice, Responses};
use crate::{Fabric, LinkAccount, Wait};

use belts::{Belts, Put};
use changed::Changed;
use fluid::{Ended, Flow, Going, Share, bytes_per_ps};
pub use groups::EndGroup;
use groups::Groups;
use members::Tenant;
use occupied::{Alone, Occupied};
use piece::Solver;

/// A network of fluids.
#[derive(Debug)]
pub struct FlowNetwork {
    flows: Vec<Flow>,
    /// By place, as `flows`.
    tenants: Vec<Tenant>,
    /// By place, as `flows`: apart, since only flows that share a link have one.
    shares: Vec<Share>,
    /// Free places in `flows`.
    free: Vec<u32>,
    links: Vec<Occupied>,
    changed: Changed,
    /// The lowest rate that may have to change since.
    floor: f64,
    solution: Solution,
    solver: Solver,
    groups: Groups,
    belts: Belts<Passed>,
    /// Messages ever injected: the order of those that end together.
    injected: u64,
    injected_bytes: u128,
    arrived: u64,
    /// Bytes that have left the sender, by path.
    sent_bytes: Vec<u64>,
}

/// What a fluid network wakes up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowEvent {
    /// A message is somewhere.
    Passed(Passed),
    /// What was put on a belt is due.
    Due(u32),
    /// The first of a group of messages that share links leaves its sender.
    Ends(EndGroup),
    /// Everything that happens at this instant has happened: share the links anew.
    Share,
    /// A link fails.
    Fail(u32),
}

/// Where a message has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Its last byte leaves its sender, unless it has met others since.
    Sender {
        /// Where it is kept.
        slot: u32,
        /// How often its rate had changed.
        version: u32,
    },
    /// Its last byte is at the receiver.
    Path(MessageId),
}

/// Whether links are to be shared anew at the end of this instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Solution {
    #[default]
    Valid,
    Awaited,
}

impl Default for FlowNetwork {
    fn default() -> Self {
        Self::new()
    }
}

impl FlowNetwork {
    /// Returns a network with nothing on it. It learns of its links when the run starts.
    pub fn new() -> Self {
        Self {
            flows: Vec::new(),
            tenants: Vec::new(),
            shares: Vec::new(),
            free: Vec::new(),
            links: Vec::new(),
            changed: Changed::default(),
            floor: f64::INFINITY,
            solution: Solution::Valid,
            solver: Solver::default(),
            groups: Groups::default(),
            belts: Belts::default(),
            injected: 0,
            injected_bytes: 0,
            arrived: 0,
            sent_bytes: Vec::new(),
        }
    }

    /// Takes a place for a message.
    fn place(&mut self, message: Message, now: SimTime) -> u32 {
        let flow = Flow::new(message, now);
        let number = self.next_number();
        self.injected += 1;
        if let Some(slot) = self.free.pop() {
            self.flows[slot as usize].become_another(flow);
            self.tenants[slot as usize].number = number;
            return slot;
        }
        self.flows.push(flow);
        self.tenants.push(Tenant { number, search: 0 });
        self.shares.push(Share::default());
        u32::try_from(self.flows.len() - 1).expect("Invariant: messages have 32-bit numbers")
    }

    /// Number of the next message to come.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it only tells messages of one place apart"
    )]
    const fn next_number(&self) -> u32 {
        self.injected as u32
    }

    /// Says that the last byte leaves the sender, and when it will be at the receiver.
    fn tell<E: From<FlowEvent>>(
        &mut self,
        ended: Ended,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let message = ended.message;
        context.notices.push(Notice::Sent(message));
        let latency = context.fabric.latency(ended.path);
        if latency == SimTime::ZERO {
            self.arrive(message, context);
        } else {
            self.later(now, latency, Passed::Path(message), context);
        }
        if let Some(timeline) = context.timeline.as_deref_mut() {
            ended.draw(timeline, now, context.fabric);
        }
    }

    /// Lets a message pass something a while from now.
    fn later<E: From<FlowEvent>>(
        &mut self,
        now: SimTime,
        delay: SimTime,
        passed: Passed,
        context: &mut Context<'_, E>,
    ) {
        let event = match self.belts.put(now, delay, passed) {
            Put::Behind => return,
            Put::First(belt) => FlowEvent::Due(belt),
            Put::NoBelt => FlowEvent::Passed(passed),
        };
        context.agenda.at(now + delay, event.into());
    }

    fn pass<E: From<FlowEvent>>(
        &mut self,
        passed: Passed,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        match passed {
            Passed::Sender { slot, version } => {
                if self.flows[slot as usize].version == version {
                    let ended = self.vacate(slot, context.fabric);
                    self.tell(ended, now, context);
                }
            }
            Passed::Path(message) => self.arrive(message, context),
        }
    }

    /// Ends what ends now of a group, and waits for what comes next.
    fn end_group<E: From<FlowEvent>>(
        &mut self,
        group: EndGroup,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        while let Some(end) = self.groups.first(group, &self.flows) {
            if end.time > now {
                context.agenda.at(end.time, FlowEvent::Ends(group).into());
                return;
            }
            let ended = self.vacate(end.slot, context.fabric);
            self.tell(ended, now, context);
        }
    }

    fn arrive<E>(&mut self, message: MessageId, context: &mut Context<'_, E>) {
        self.arrived += 1;
        context.notices.push(Notice::Arrived(message));
    }

    /// Asks for a new solution at the end of this instant, if links have changed.
    fn await_solution<E: From<FlowEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        if self.solution == Solution::Valid && !self.changed.is_empty() {
            self.solution = Solution::Awaited;
            context.agenda.at(now, FlowEvent::Share.into());
        }
    }
}

impl Network for FlowNetwork {
    type Event = FlowEvent;

    fn start<E: From<FlowEvent>>(&mut self, context: &mut Context<'_, E>) {
        let links = context.fabric.links();
        self.links = links
            .iter()
            .map(|link| Occupied {
                capacity: bytes_per_ps(link.payload),
                ..Occupied::default()
            })
            .collect();
        self.changed = Changed::new(links.len());
        for (link, at) in (0..).zip(links) {
            if let Some(time) = at.fails {
                context.agenda.at(time, FlowEvent::Fail(link).into());
            }
        }
    }

    fn make_room(&mut self, messages: usize) {
        self.flows.reserve(messages);
        self.tenants.reserve(messages);
        self.shares.reserve(messages);
    }

    fn inject<E: From<FlowEvent>>(
        &mut self,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let fabric = context.fabric;
        if self.sent_bytes.len() <= message.path.0 as usize {
            self.sent_bytes.resize(fabric.n_paths(), 0);
        }
        self.injected_bytes += u128::from(message.bytes);
        let slot = self.place(message, now);
        match self.occupy(slot, fabric, message.path) {
            Alone::Yes => {
                let pace = message.pace.max(fabric.byte_time(message.path));
                let flow = &mut self.flows[slot as usize];
                let time = pace.of_bytes(message.bytes);
                flow.going = Going::Alone;
                let version = flow.version;
                self.later(now, time, Passed::Sender { slot, version }, context);
            }
            Alone::No => {
                self.meet(slot, fabric);
                self.await_solution(now, context);
            }
        }
    }

    fn handle<E: From<FlowEvent>>(
        &mut self,
        event: FlowEvent,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        match event {
            FlowEvent::Passed(passed) => {
                self.pass(passed, now, context);
                self.await_solution(now, context);
            }
            FlowEvent::Due(belt) => {
                while let Some(passed) = self.belts.take(belt, now) {
                    self.pass(passed, now, context);
                }
                self.await_solution(now, context);
                if let Some(next) = self.belts.next_event(belt) {
                    context.agenda.at(next, FlowEvent::Due(belt).into());
                }
            }
            FlowEvent::Ends(group) => {
                self.end_group(group, now, context);
                self.await_solution(now, context);
            }
            FlowEvent::Share => self.share(now, context),
            FlowEvent::Fail(link) => {
                let failed = &mut self.links[link as usize];
                failed.capacity = 0.0;
                failed.load += 1;
                self.floor = 0.0;
                self.changed.push(link);
                self.await_solution(now, context);
            }
        }
    }

    fn responses(&self) -> Responses {
        Responses::Unmodelled
    }

    fn packet_hops(&self) -> u64 {
        0
    }

    fn accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)> {
        self.link_accounts(fabric)
    }

    fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        self.on_failed_links(fabric)
    }

    fn audit(&self) -> Result<(), String> {
        self.check_empty()
    }
}
