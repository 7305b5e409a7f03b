//! The `flow` fidelity: messages as fluids that share links max-min fairly.
//!
//! A message occupies all links of its path at one rate until its last byte has left the sender;
//! it arrives a path's latency later. A message that is alone on its links never enters the
//! solver: its time is bytes times the time per byte, to the picosecond. Where messages meet,
//! only those connected through shared links are solved again, once per instant, and one event
//! per such piece waits for the first of them to end.
//!
//! Deliberately absent: queues, loss, the window of a sender. A failed link stops what is on it;
//! nothing is routed around it.

mod belts;
mod fluid;
mod max_min;
mod members;
mod piece;
mod report;
#[cfg(test)]
mod tests;

use tier6_system::LinkId;
use tier6_units::SimTime;

use crate::network::{Context, Message, MessageId, Network, Notice, PathId, Responses};
use crate::{Fabric, LinkAccount, Wait};

use belts::{Belts, Put};
use fluid::{Armed, Ended, Flow, Going, Share, bytes_per_ps};
use members::{Member, Members};
use piece::Solver;

/// A network of fluids.
#[derive(Debug, Default)]
pub struct FlowNetwork {
    flows: Vec<Flow>,
    /// By place, as `flows`: apart, since only flows that share a link have one.
    shares: Vec<Share>,
    /// Free places in `flows`.
    free: Vec<u32>,
    links: Vec<Occupied>,
    /// Links on which messages have met or parted since the last solution.
    changed: Vec<u32>,
    solution: Solution,
    solver: Solver,
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
    /// Everything that happens at this instant has happened: share the links anew.
    Share,
    /// A link fails.
    Fail(u32),
}

/// Where a message has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Its last byte leaves its sender, unless its rate has changed since.
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

/// A link as flows see it.
#[derive(Debug, Default, Clone)]
struct Occupied {
    /// Flows on it, and 1 more when it has failed: nobody is alone there.
    load: u32,
    /// Bytes per picosecond.
    capacity: f64,
    /// The last search that has met it.
    search: u32,
    /// Number within that search.
    place: u32,
    members: Members,
}

impl FlowNetwork {
    /// Returns a network with nothing on it. It learns of its links when the run starts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a place for a message.
    fn place(&mut self, message: Message, now: SimTime) -> u32 {
        let flow = Flow::new(message, self.injected, now);
        if let Some(slot) = self.free.pop() {
            self.flows[slot as usize].become_another(flow);
            return slot;
        }
        self.flows.push(flow);
        self.shares.push(Share::default());
        u32::try_from(self.flows.len() - 1).expect("Invariant: messages have 32-bit numbers")
    }

    /// Occupies the links of a path; says whether they were all empty.
    fn occupy(&mut self, slot: u32, fabric: &Fabric<'_>, path: PathId) -> Alone {
        let use_count = self.flows[slot as usize].use_count;
        let mut alone = Alone::Yes;
        for one in fabric.path(path).uses {
            let link = &mut self.links[one.link.index()];
            if link.load > 0 {
                alone = Alone::No;
            }
            link.load += 1;
            link.members.push(Member { slot, use_count });
        }
        alone
    }

    /// Takes a flow off its links. Where others stay they are to be shared anew, unless this
    /// search has met them.
    fn vacate(&mut self, slot: u32, fabric: &Fabric<'_>, search: u32) -> Ended {
        let place = &mut self.flows[slot as usize];
        let ended = Ended {
            message: place.message,
            path: place.path,
            bytes: place.bytes,
            start: place.start,
        };
        place.use_count = place.use_count.wrapping_add(1);
        place.version = place.version.wrapping_add(1);
        self.free.push(slot);
        for one in fabric.path(ended.path).uses {
            let link = &mut self.links[one.link.index()];
            link.load -= 1;
            if link.load == 0 {
                link.members.clear();
            } else if link.search != search {
                self.changed.push(one.link.0);
            }
        }
        self.sent_bytes[ended.path.0 as usize] += ended.bytes;
        ended
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
                    let next_search = self.solver.searches + 1;
                    let ended = self.vacate(slot, context.fabric, next_search);
                    self.tell(ended, now, context);
                }
            }
            Passed::Path(message) => self.arrive(message, context),
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

/// Whether a flow has its links for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alone {
    Yes,
    No,
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
        for (link, at) in (0..).zip(links) {
            if let Some(time) = at.fails {
                context.agenda.at(time, FlowEvent::Fail(link).into());
            }
        }
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
        self.injected += 1;
        self.injected_bytes += u128::from(message.bytes);
        let slot = self.place(message, now);
        match self.occupy(slot, fabric, message.path) {
            Alone::Yes => {
                let pace = message.pace.max(fabric.byte_time(message.path));
                let flow = &mut self.flows[slot as usize];
                let time = pace.of_bytes(message.bytes);
                flow.end = now + time;
                flow.going = Going::Alone;
                flow.armed = Armed::Yes;
                let version = flow.version;
                self.later(now, time, Passed::Sender { slot, version }, context);
            }
            Alone::No => {
                // The search goes from any of its links to all of them.
                let first = fabric.path(message.path).uses.first();
                self.changed.extend(first.map(|one| one.link.0));
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
            FlowEvent::Share => self.share(now, context),
            FlowEvent::Fail(link) => {
                let failed = &mut self.links[link as usize];
                failed.capacity = 0.0;
                failed.load += 1;
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
