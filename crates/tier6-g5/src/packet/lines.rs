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
//! The order of packets that are ready in one instant is that of the inputs they came by, and
//! what chips hand over in one picosecond comes after everything else in it.

mod link;
mod sender;

use tier6_units::{ByteTime, SimTime};

use super::calendar::{Calendar, Event};
use super::fine::Fine;
use super::flight::{Flight, Framing};
use super::server::Server;
use super::train::Slot;
use crate::network::{Message, Notice};

/// How many packets are handled as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trains {
    /// As many as meet nobody.
    On,
    /// One: the plain way, for comparison.
    #[cfg_attr(not(test), expect(dead_code, reason = "what trains are compared with"))]
    Off,
}

/// A step of a path: the server, and by which of its inputs.
#[derive(Debug, Clone, Copy)]
struct Hop {
    server: u32,
    slot: u32,
}

/// Consecutive hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    first: u32,
    last: u32,
}

/// The servers and everything in flight.
#[derive(Debug)]
pub(crate) struct Lines {
    servers: Vec<Server>,
    slots: Vec<Slot>,
    hops: Vec<Hop>,
    flights: Vec<Flight>,
    /// Numbers of flights that ended.
    spare: Vec<u32>,
    calendar: Calendar,
    now: Fine,
    framing: Framing,
    /// Packets of a train at most.
    longest: u32,
}

impl Lines {
    pub(crate) fn new(framing: Framing, trains: Trains) -> Self {
        Self {
            servers: Vec::new(),
            slots: Vec::new(),
            hops: Vec::new(),
            flights: Vec::new(),
            spare: Vec::new(),
            calendar: Calendar::default(),
            now: Fine::ZERO,
            framing,
            longest: match trains {
                Trains::On => u32::MAX,
                Trains::Off => 1,
            },
        }
    }

    pub(crate) fn add_server(&mut self, byte: ByteTime, latency: SimTime) -> u32 {
        self.servers.push(Server::new(byte, latency.into()));
        index(self.servers.len() - 1)
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Lays a route over servers; it has one at least.
    pub(crate) fn lay(&mut self, servers: impl IntoIterator<Item = u32>) -> Route {
        let first = index(self.hops.len());
        let mut before = None;
        for server in servers {
            let slot = self.slot(server, before);
            self.hops.push(Hop { server, slot });
            before = Some(server);
        }
        let last = index(self.hops.len() - 1);
        assert!(first <= last, "Invariant: a route crosses a link");
        Route { first, last }
    }

    /// Returns the input of a server by which packets of another arrive, or those of its chip.
    fn slot(&mut self, server: u32, before: Option<u32>) -> u32 {
        let tie = before.map_or(0, |before| before + 1);
        let inputs = &self.servers[server as usize].inputs;
        match inputs.binary_search_by_key(&tie, |(tie, _)| *tie) {
            Ok(at) => inputs[at].1,
            Err(at) => {
                let slot = index(self.slots.len());
                self.slots.push(Slot::new(server, tie));
                let server = &mut self.servers[server as usize];
                server.inputs.insert(at, (tie, slot));
                slot
            }
        }
    }

    /// Takes a message at a picosecond that has not passed.
    pub(crate) fn inject(&mut self, message: Message, route: Route, now: SimTime) {
        let (packets, full, last) = self.framing.cut(message.bytes);
        let flight = Flight {
            name: message.id,
            first_hop: route.first,
            last_hop: route.last,
            packets,
            full,
            last,
            overhead: self.framing.overhead,
            start: now.into(),
            order: Fine::last_of(now),
            pace: message.pace,
            next: 0,
            sent: None,
            arrived: None,
        };
        let order = flight.order;
        let number = match self.spare.pop() {
            Some(number) => {
                self.flights[number as usize] = flight;
                number
            }
            None => {
                self.flights.push(flight);
                index(self.flights.len() - 1)
            }
        };
        let Hop { server, slot } = self.hops[route.first as usize];
        self.withdraw(server, slot, order);
        self.servers[server as usize].pump.join(number);
        if self.is_drained(server, slot) {
            self.offer(server, slot);
        }
    }

    /// Returns the picosecond of the next event.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.calendar.peek().map(|(time, _)| time.to_sim())
    }

    /// Handles the next event; returns what the chips hear of it.
    pub(crate) fn step(&mut self) -> Option<Notice> {
        let (time, event) = self.calendar.pop()?;
        self.now = time;
        match event {
            Event::Decide(server) => {
                if self.servers[server as usize].due == Some(time) {
                    self.servers[server as usize].due = None;
                    self.decide(server);
                }
                None
            }
            Event::Sent(number) => {
                let flight = &mut self.flights[number as usize];
                if flight.sent != Some(time) {
                    return None;
                }
                flight.sent = None;
                let Hop { server, .. } = self.hops[flight.first_hop as usize];
                let name = flight.name;
                self.servers[server as usize].pump.leave(number);
                Some(Notice::Sent(name))
            }
            Event::Arrived(number) => {
                let flight = &mut self.flights[number as usize];
                if flight.arrived != Some(time) {
                    return None;
                }
                flight.arrived = None;
                self.spare.push(number);
                Some(Notice::Arrived(flight.name))
            }
        }
    }

    /// Returns whether the next event is a notice that still holds.
    pub(crate) fn next_is_notice(&self) -> bool {
        match self.calendar.peek() {
            Some((_, Event::Decide(_))) | None => false,
            Some((time, Event::Sent(flight))) => self.flights[flight as usize].sent == Some(time),
            Some((time, Event::Arrived(flight))) => {
                self.flights[flight as usize].arrived == Some(time)
            }
        }
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: fewer than 2^32 fit the memory")
}
