//! Links as servers, and trains of packets between them.
//!
//! Every directed link serves packets in the order in which they are ready for it. A packet is
//! ready when its head has arrived and its tail will arrive in time (cut-through: it is held back
//! only by a slower link before). The link that serves a train tells the next link at once, as
//! packets that will be ready later; the next link looks at them when the first one is. When
//! another packet arrives in between, the rest of the train is taken back, here and behind:
//! nothing of it has begun, since what has begun was ready before. So a train is a shortcut
//! through many equal decisions and changes none of them.
//!
//! Virtual channels queue apart and take turns at a server (`paxi::Turns`).
//!
//! The order of packets that are ready in one instant is that of the inputs they came by, and
//! what chips hand over in one picosecond comes after everything else in it.

mod answers;
mod closed;
mod ends;
mod link;
mod notices;
mod recall;
mod report;
mod sender;

use tier6_units::{ByteTime, SimTime};

use super::calendar::{Calendar, Event};
use super::control::Control;
use super::fine::Fine;
use super::flight::{Care, Flight, Framing};
use super::progress::{Arrivals, Progress};
use super::route::{Hop, HopPlan, Intake, Join, Route};
use super::server::{Halt, Server};
use super::train::Slot;
use crate::network::{Message, MessageId, Notice};
use crate::{Channels, Class};

/// How many packets are handled as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trains {
    /// As many as meet nobody.
    On,
    /// One: the plain way, for comparison.
    #[cfg_attr(not(test), expect(dead_code, reason = "what trains are compared with"))]
    Off,
}

impl Trains {
    /// Returns how many packets a train has at most.
    const fn longest(self) -> u32 {
        match self {
            Self::On => u32::MAX,
            Self::Off => 1,
        }
    }
}

/// The servers and everything in flight.
#[derive(Debug)]
pub(crate) struct Lines {
    servers: Vec<Server>,
    slots: Vec<Slot>,
    hops: Vec<Hop>,
    branches: Vec<u32>,
    joins: Vec<Join>,
    flights: Vec<Flight>,
    /// By the number of the flight.
    progress: Vec<Progress>,
    /// Numbers of flights that ended.
    spare: Vec<u32>,
    calendar: Calendar,
    now: Fine,
    framing: Framing,
    /// Packets of a train at most.
    longest: u32,
    /// What both ends add to the latency.
    end: Fine,
    spans: Option<Vec<Served>>,
    /// Bytes that wait for a server after each change.
    queues: Option<Vec<(u32, Fine, u64)>>,
    /// Payload that each server owes.
    owed: Vec<u64>,
    pub(super) control: Option<Box<Control>>,
}

/// A row of packets that a server has served, for the timeline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    pub(crate) server: u32,
    pub(crate) message: MessageId,
    pub(crate) packets: u32,
    pub(crate) start: Fine,
    pub(crate) end: Fine,
}

impl Lines {
    pub(crate) fn new(framing: Framing, end: SimTime, trains: Trains) -> Self {
        Self {
            servers: Vec::new(),
            slots: Vec::new(),
            hops: Vec::new(),
            branches: Vec::new(),
            joins: Vec::new(),
            flights: Vec::new(),
            progress: Vec::new(),
            spare: Vec::new(),
            calendar: Calendar::new(Fine::ZERO),
            now: Fine::ZERO,
            framing,
            longest: trains.longest(),
            end: end.into(),
            spans: None,
            queues: None,
            owed: Vec::new(),
            control: None,
        }
    }

    pub(crate) fn set_trains(&mut self, trains: Trains) {
        self.longest = trains.longest();
    }

    /// Returns the payload of a full packet.
    pub(crate) fn segment(&self) -> u64 {
        u64::from(self.framing.segment.max(1))
    }

    /// Returns whether answers are frames of their own.
    pub(crate) fn answers_take_bytes(&self) -> bool {
        let link = self.control.as_ref().and_then(|control| control.link);
        link.is_some_and(|link| link.ack_bytes > 0)
    }

    pub(crate) fn keep_spans(&mut self) {
        self.spans = Some(Vec::new());
        self.queues = Some(Vec::new());
    }

    pub(crate) fn take_spans(&mut self) -> impl Iterator<Item = Served> {
        self.spans.iter_mut().flat_map(std::mem::take)
    }

    /// Ends the spans of what was served last, when nothing moves any more.
    pub(crate) fn finish_spans(&mut self) {
        if self.spans.is_some() {
            for server in 0..index(self.servers.len()) {
                self.finish(server);
            }
        }
    }

    pub(crate) fn take_queues(&mut self) -> impl Iterator<Item = (u32, Fine, u64)> {
        self.queues.iter_mut().flat_map(std::mem::take)
    }

    /// Lets a link fail at an instant.
    pub(crate) fn fail(&mut self, server: u32, time: SimTime) {
        self.calendar.add(time.into(), Event::Fail(server));
    }

    pub(crate) fn add_server(&mut self, byte: ByteTime, latency: SimTime) -> u32 {
        self.servers.push(Server::new(byte, latency.into()));
        self.owed.push(0);
        index(self.servers.len() - 1)
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the virtual channels of every link.
    pub(super) fn channels(&self) -> Channels {
        let control = self.control.as_ref();
        let link = control.and_then(|control| control.link.as_ref());
        link.map_or(Channels::shared(), |link| link.channels)
    }

    /// Lays the hops of a way of a class of traffic; each comes after those that feed it.
    pub(crate) fn lay(&mut self, class: Class, plan: &[HopPlan]) -> Route {
        let channel = self.channels().of(class);
        let first = index(self.hops.len());
        let hop_of = |at: usize| first + index(at);
        let mut route = Route {
            sources: Vec::new(),
            leaves: 0,
            servers: Vec::new(),
            latency: Fine::ZERO,
            byte: ByteTime::ZERO,
            way_back: None,
        };
        for (at, hop) in plan.iter().enumerate() {
            let (intake, tie) = match hop.fed_by[..] {
                [] => (Intake::Single, 0),
                [feeder] => (Intake::Single, plan[feeder].server + 1),
                _ => {
                    let feeders = hop.fed_by.iter().map(|feeder| hop_of(*feeder)).collect();
                    self.joins.push(Join {
                        hop: hop_of(at),
                        feeders,
                        sums: Vec::new(),
                    });
                    let join = index(self.joins.len() - 1);
                    (Intake::Join(join), index(self.servers.len()) + 1 + join)
                }
            };
            if hop.fed_by.is_empty() {
                route.sources.push(hop_of(at));
            }
            let next_of = (0..plan.len()).filter(|other| plan[*other].fed_by.contains(&at));
            let start = self.branches.len();
            self.branches.extend(next_of.map(hop_of));
            let next = (index(start), index(self.branches.len()));
            let leaf = route.leaves;
            route.leaves += u32::from(next.0 == next.1);
            let slot = self.slot(hop.server, (tie, small(channel)));
            route.servers.push(hop.server);
            route.latency += self.servers[hop.server as usize].latency;
            route.byte = route.byte.max(hop.byte);
            self.hops.push(Hop {
                server: hop.server,
                slot,
                byte: hop.byte,
                next,
                leaf,
                intake,
            });
        }
        assert!(!plan.is_empty(), "Invariant: a way crosses a link");
        route
    }

    /// Returns an input of a server: by 0 that of its chip, by one more than a server the packets
    /// that come from there, of one channel.
    fn slot(&mut self, server: u32, of: (u32, u8)) -> u32 {
        let inputs = &self.servers[server as usize].inputs;
        match inputs.binary_search_by_key(&of, |(of, _)| *of) {
            Ok(at) => inputs[at].1,
            Err(at) => {
                let slot = index(self.slots.len());
                self.slots.push(Slot::new(server, of.0, of.1));
                let server = &mut self.servers[server as usize];
                server.inputs.insert(at, (of, slot));
                slot
            }
        }
    }

    /// Takes a message at a picosecond that has not passed. It goes several ways at once when it
    /// is spread over them; `bytes` of the message take each.
    pub(crate) fn inject(&mut self, message: Message, ways: &[(&Route, u64)], now: SimTime) {
        for (route, bytes) in ways {
            self.ask_if_bound(route, *bytes);
        }
        self.close_if_asked();
        let leader = self.launch(message, now);
        let mut ends = 0;
        let mut others = Vec::new();
        for (route, bytes) in ways {
            let (packets, full, last) = self.framing.cut(*bytes);
            for server in &route.servers {
                self.owed[*server as usize] += bytes;
            }
            for (at, source) in route.sources.iter().enumerate() {
                let is_leader = ends == 0 && at == 0;
                let number = if is_leader {
                    leader
                } else {
                    self.launch(message, now)
                };
                if !is_leader {
                    others.push(number);
                }
                let flight = &mut self.flights[number as usize];
                flight.source = *source;
                (flight.packets, flight.full, flight.last) = (packets, full, last);
                if route.is_tree() {
                    flight.care = Care::Sheltered;
                }
                let progress = &mut self.progress[number as usize];
                progress.leader = leader;
                progress.arrivals = Arrivals::of(route.leaves);
                progress.back = route.latency + self.end;
                progress.exit = route.exit();
                progress.way_back = route.way_back;
                self.open_ends(number);
                self.join_pump(number);
            }
            ends += route.leaves;
        }
        let progress = &mut self.progress[leader as usize];
        progress.unsent = 1 + index(others.len());
        progress.unarrived = ends;
        progress.others = others;
        self.close_if_asked();
    }

    /// Closes the loop before a message whose window would stop it without any queue.
    fn ask_if_bound(&mut self, route: &Route, bytes: u64) {
        let Some(control) = &self.control else {
            return;
        };
        let (packets, full, _) = self.framing.cut(bytes);
        let wire = full + u64::from(self.framing.overhead);
        let latency = route.latency + self.end;
        if !route.is_tree() && control.window_binds(wire, packets, route.byte, latency, 1) {
            self.ask_to_close();
        }
    }

    /// Returns the number of a new flight that goes nowhere yet.
    fn launch(&mut self, message: Message, now: SimTime) -> u32 {
        let flight = Flight {
            source: 0,
            packets: 0,
            full: 0,
            last: 0,
            overhead: self.framing.overhead,
            start: now,
            pace: message.pace,
            next: 0,
            reached: 0,
            ends: None,
            care: Care::Plain,
        };
        let progress = Progress::new(message.id);
        if let Some(number) = self.spare.pop() {
            self.flights[number as usize] = flight;
            self.progress[number as usize] = progress;
            return number;
        }
        self.flights.push(flight);
        self.progress.push(progress);
        index(self.flights.len() - 1)
    }

    /// Says that the servers are all there, before anything happens.
    pub(crate) fn begin(&mut self) {
        let wire = self.segment() + u64::from(self.framing.overhead);
        let packets = self
            .servers
            .iter()
            .map(|server| Fine::of(server.byte, wire));
        let shortest = packets.filter(|packet| *packet > Fine::ZERO).min();
        self.calendar = Calendar::new(shortest.unwrap_or(Fine::ZERO));
    }

    /// Returns the picosecond of the next event.
    pub(crate) fn next_time(&mut self) -> Option<SimTime> {
        self.calendar.peek().map(|(time, _)| time.to_sim())
    }

    /// Returns the picosecond of the latest event.
    pub(crate) fn now(&self) -> SimTime {
        self.now.to_sim()
    }

    /// Returns how many events have happened.
    pub(crate) fn events(&self) -> u64 {
        self.calendar.happened()
    }

    /// Handles the next event; returns what the chips hear of it.
    pub(crate) fn step(&mut self) -> Option<Notice> {
        let (time, event) = self.calendar.pop()?;
        self.now = time;
        let notice = self.happen(time, event);
        self.close_if_asked();
        notice
    }

    fn happen(&mut self, time: Fine, event: Event) -> Option<Notice> {
        match event {
            Event::Sent(number) => return self.sent(number, time),
            Event::Arrived(number, leaf) => return self.arrived(number, leaf, time),
            Event::Delivered(number, packet, mark) => {
                return self.delivered(number, packet, mark);
            }
            Event::Answer(at) => return self.answered(at),
            Event::Deadline(number) => return self.deadline(number),
            Event::Decide(server) => {
                if self.servers[server as usize].due == Some(time) {
                    self.servers[server as usize].due = None;
                    self.decide(server);
                }
            }
            Event::Admit(slot) => self.admit(slot),
            Event::Credit(lane, credits) => self.credit(lane, credits),
            Event::Pause(lane) => self.pause(lane),
            Event::Resume(lane) => self.resume(lane),
            Event::Visit(exit) => self.visit(exit),
            Event::Raise(number) => self.raise(number),
            Event::Fail(server) => self.fail_now(server),
        }
        None
    }
}

/// The number of a virtual channel.
fn small(channel: usize) -> u8 {
    u8::try_from(channel).expect("Invariant: there are few channels")
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: fewer than 2^32 fit the memory")
}
