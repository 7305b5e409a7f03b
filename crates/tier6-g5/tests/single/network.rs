//! A plain packet network with every layer at work, written apart from the engine's and compared
//! with it: each packet by itself, through queues, shared buffers, pauses, credits, marks and loss,
//! with acknowledgement, retransmission and rate control at the chips.
//!
//! The layers are closed loops, in which what happens to a packet decides when the next one is
//! sent, so nothing is a train here. With every layer off the times are those of trains of
//! packets.
//!
//! A link serves its packets in the order in which they are ready: when the head has arrived and
//! the tail will arrive in time (cut-through). A chip hands its links packets only as they take
//! them, one queue pair after the other. A packet is in a switch's buffer from the time when it
//! is ready until its tail has left. Frames of messages that a switch copies or adds do not take
//! part: they go at the rate of their path, one message after the other.

mod arrive;
mod deliver;
mod packet;
mod pair;
mod port;
mod report;
mod send;
mod transmit;

use tier6_system::LinkId;
use tier6_units::{ByteTime, SimTime};

use tier6_g5::network::{Context, Message, MessageId, Network, Notice, PathId, Responses};
use tier6_g5::paxi::Outstanding;
use tier6_g5::rc_link::{AckScanner, Missing, Sequence};
use tier6_g5::switch::SwitchBuffer;
use tier6_g5::{AckMerge, Fabric, G5Parameters, LinkAccount, Wait};

use packet::{Flights, Packets};
use pair::QueuePair;
use port::Port;

/// A network of packets with all layers.
#[derive(Debug)]
pub struct LayeredNetwork {
    parameters: G5Parameters,
    seed: u64,
    now: SimTime,
    /// Numbers drawn until now.
    drawn: u64,
    ports: Vec<Port>,
    /// Buffers of switches, by vertex.
    buffers: Vec<Option<SwitchBuffer>>,
    chips: Vec<ChipEnd>,
    pairs: Vec<QueuePair>,
    /// Queue pairs by path.
    pair_of: Vec<Option<u32>>,
    trees: Vec<TreeLine>,
    packets: Packets,
    flights: Flights,
    packet_hops: u64,
}

/// What a chip's queue pairs share.
#[derive(Debug)]
struct ChipEnd {
    outstanding: Option<Outstanding>,
    /// Queue pairs that wait for a response to any of them.
    starved: Vec<u32>,
    engines: Option<ByteTime>,
    /// When the engines are free, in units of 2^-32 ps.
    engines_free: u128,
    scanner: Option<AckScanner>,
}

/// A path that a switch serves.
#[derive(Debug, Clone, Copy)]
struct TreeLine {
    path: PathId,
    free: SimTime,
    bytes: u64,
}

/// What the layered network wakes up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayeredEvent {
    /// A link has sent a packet.
    Free(u32),
    /// A link looks for something to send.
    Serve(u32),
    /// A packet is ready for its next link.
    Ready(u32),
    /// A packet's tail is at its chip.
    Tail(u32),
    /// A control frame is at the sender of a queue pair.
    Control(u32, Control),
    /// The neighbour across a link says stop.
    Pause(u32),
    /// The neighbour says go on.
    Resume(u32),
    /// So many credits of a link come back.
    Credit(u32, u32),
    /// The scanner of a chip visits a queue pair.
    Scan(u32),
    /// The acknowledgement of a queue pair may be overdue.
    Timeout(u32),
    /// The rate of a queue pair may rise.
    Rate(u32),
    /// A link fails.
    Fail(u32),
    /// A message that a switch serves has left.
    TreeSent(MessageId),
    /// It has arrived.
    TreeArrived(MessageId),
}

/// What goes back to the sender of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The receiver expects this frame.
    Ack(Sequence),
    /// The receiver misses frames.
    Nak(Missing),
    /// The receiver got a congestion mark.
    Cnp,
    /// One request is answered.
    Response,
    /// So many credits of the queue pair come back.
    Credits(u32),
}

impl LayeredNetwork {
    /// Returns a network with nothing on it. The seed decides about loss, marks and sprayed paths.
    pub fn new(parameters: &G5Parameters, seed: u64) -> Self {
        Self {
            parameters: parameters.clone(),
            seed,
            now: SimTime::ZERO,
            drawn: 0,
            ports: Vec::new(),
            buffers: Vec::new(),
            chips: Vec::new(),
            pairs: Vec::new(),
            pair_of: Vec::new(),
            trees: Vec::new(),
            packets: Packets::default(),
            flights: Flights::default(),
            packet_hops: 0,
        }
    }

    /// Returns 64 random bits.
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed ^ mix(self.drawn))
    }

    /// Returns the queue pair of a path.
    fn pair_on(&mut self, path: PathId, fabric: &Fabric<'_>) -> u32 {
        let at = path.0 as usize;
        if self.pair_of.len() <= at {
            self.pair_of.resize(fabric.n_paths(), None);
        }
        if let Some(pair) = self.pair_of[at] {
            return pair;
        }
        let pair = packet::index(self.pairs.len());
        self.pairs
            .push(QueuePair::new(path, fabric, &self.parameters));
        self.pair_of[at] = Some(pair);
        pair
    }

    /// Takes a message that a switch serves: one after the other, at the rate of the path.
    fn inject_on_tree<E: From<LayeredEvent>>(
        &mut self,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let path = message.path;
        let at = self.trees.iter().position(|line| line.path == path);
        let at = at.unwrap_or_else(|| {
            self.trees.push(TreeLine {
                path,
                free: SimTime::ZERO,
                bytes: 0,
            });
            self.trees.len() - 1
        });
        let line = &mut self.trees[at];
        let byte = message.pace.max(context.fabric.byte_time(path));
        line.free = line.free.max(now) + byte.of_bytes(message.bytes);
        line.bytes += message.bytes;
        let arrival = line.free + context.fabric.latency(path);
        context
            .agenda
            .at(line.free, LayeredEvent::TreeSent(message.id).into());
        context
            .agenda
            .at(arrival, LayeredEvent::TreeArrived(message.id).into());
    }
}

impl Network for LayeredNetwork {
    type Event = LayeredEvent;

    fn start<E: From<LayeredEvent>>(&mut self, context: &mut Context<'_, E>) {
        let fabric = context.fabric;
        let topology = fabric.topology();
        let n_wires = topology.links().len();
        self.ports = (fabric.links()[..n_wires].iter())
            .zip(topology.links())
            .map(|(link, wire)| Port::new(link, wire, topology, &self.parameters))
            .collect();
        for (link, at) in (0..).zip(&fabric.links()[..n_wires]) {
            if let Some(time) = at.fails {
                context.agenda.at(time, LayeredEvent::Fail(link).into());
            }
        }
        self.buffers = port::buffers(topology, &self.parameters);
        let scan = self.parameters.rc_link.and_then(|link| match link.ack {
            AckMerge::Never => None,
            AckMerge::Every(visit) => Some(visit),
        });
        self.chips = (topology.chips().iter())
            .map(|_| ChipEnd {
                outstanding: self
                    .parameters
                    .paxi
                    .map(|paxi| Outstanding::new(paxi.outstanding)),
                starved: Vec::new(),
                engines: self.parameters.cdma.rate,
                engines_free: 0,
                scanner: scan.map(AckScanner::new),
            })
            .collect();
    }

    fn inject<E: From<LayeredEvent>>(
        &mut self,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        if context.fabric.path(message.path).tree().is_some() {
            self.inject_on_tree(message, now, context);
            return;
        }
        let pair = self.pair_on(message.path, context.fabric);
        self.offer(pair, message, now, context);
    }

    fn handle<E: From<LayeredEvent>>(
        &mut self,
        event: LayeredEvent,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        self.now = now;
        match event {
            LayeredEvent::Free(link) => self.on_free(link, now, context),
            LayeredEvent::Serve(link) => {
                self.ports[link as usize].woken(now);
                self.serve(link, now, context);
            }
            LayeredEvent::Ready(packet) => self.on_ready(packet, now, context),
            LayeredEvent::Tail(packet) => self.on_tail(packet, now, context),
            LayeredEvent::Control(pair, control) => self.on_control(pair, control, now, context),
            LayeredEvent::Pause(link) => self.ports[link as usize].pause(),
            LayeredEvent::Resume(link) => {
                self.ports[link as usize].resume();
                self.serve(link, now, context);
            }
            LayeredEvent::Credit(link, credits) => {
                self.ports[link as usize].restore(credits);
                self.serve(link, now, context);
            }
            LayeredEvent::Scan(chip) => self.on_scan(chip, now, context),
            LayeredEvent::Timeout(pair) => self.on_timeout(pair, now, context),
            LayeredEvent::Rate(pair) => self.on_rate(pair, now, context),
            LayeredEvent::Fail(link) => self.ports[link as usize].fail(),
            LayeredEvent::TreeSent(message) => context.notices.push(Notice::Sent(message)),
            LayeredEvent::TreeArrived(message) => {
                context.notices.push(Notice::Arrived(message));
                if self.responses() == Responses::Modelled {
                    context.notices.push(Notice::Answered(message));
                }
            }
        }
    }

    fn responses(&self) -> Responses {
        match self.parameters.rc_link {
            Some(_) => Responses::Modelled,
            None => Responses::Unmodelled,
        }
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    fn accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)> {
        self.link_accounts(fabric)
    }

    fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        self.who_waits(fabric)
    }

    fn audit(&self) -> Result<(), String> {
        self.what_is_left()
    }
}

/// Spreads 64 bits (the last step of splitmix64).
fn mix(bits: u64) -> u64 {
    let z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
