//! What closes the loop: buffers of switches, loss, queue pairs, credits, rate control.
//!
//! Most runs need none of it to act: where nothing is lost and no queue forms, a window or a
//! buffer that is large enough changes nothing, and trains go through. So the loop is closed from
//! the start only where something acts without a queue (loss, a window that binds, rate control),
//! and else when two trains are about to meet at a switch, before anything has waited there. From
//! then on every packet is handled by itself.

use tier6_des::Random;
use tier6_system::{Topology, Vertex};
use tier6_units::{ByteTime, SimTime};

use super::ends::Answer;
use super::fine::Fine;
use crate::paxi::{CLASSES, Outstanding};
use crate::rc_link::{AckScanner, CreditPool};
use crate::switch::SwitchBuffer;
use crate::{
    AckMerge, CreditScope, Credits, Dcqcn, EcnCurve, Fabric, G5Parameters, Headers, LinkOf,
    RateControl, RcLink, SwitchQueue,
};

/// The loop, once it is closed or may be.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) stage: Loop,
    pub(crate) trust: Trust,
    pub(crate) link: Option<RcLink>,
    pub(crate) curve: Option<EcnCurve>,
    pub(crate) dcqcn: Option<Dcqcn>,
    /// Credits between chips.
    pub(crate) credits: Option<Credits>,
    pub(crate) has_link_credits: bool,
    pub(crate) buffers: Vec<SwitchBuffer>,
    /// What it knows of each server.
    pub(crate) sites: Vec<Site>,
    pub(crate) chips: Vec<ChipState>,
    /// Answers on their way back.
    pub(crate) answers: Vec<(u32, Answer)>,
    pub(crate) spare_answers: Vec<u32>,
    /// Answers of scanners, by the server that leads to the chip.
    pub(crate) scanners: Vec<Option<AckScanner>>,
    pub(crate) marks: Random,
}

/// Whether the loop knows of all that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It was closed before anything was.
    Full,
    /// It was closed later, and nothing has come near a limit.
    Half,
    /// Something has: what it lets go may be too much.
    None,
}

/// Whether the loop is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loop {
    /// Nothing acts until trains meet at a switch.
    Open,
    /// Trains are about to meet.
    Closing,
    /// Packet by packet.
    Closed,
}

/// Why a server with something to send does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Credit,
    Pause,
}

/// A server as the loop sees it.
#[derive(Debug)]
pub(crate) struct Site {
    /// The switch whose buffer holds what waits for it.
    pub(crate) buffer: Option<u32>,
    /// Which input of the switch at its end its first channel is; the others follow.
    pub(crate) input: usize,
    /// The chip that sends into it.
    pub(crate) chip: Option<u32>,
    /// Bytes that wait for it, by channel.
    pub(crate) queued: [u64; CLASSES],
    pub(crate) peak: u64,
    pub(crate) loss: f64,
    pub(crate) luck: Random,
    /// Credits of the buffers at its end, by channel.
    pub(crate) pools: Option<[CreditPool; CLASSES]>,
    /// Since when it waits for credit, or is paused, with something to send.
    pub(crate) stopped: Option<(Fine, Stop)>,
    pub(crate) credit_stall: Fine,
    pub(crate) paused: Fine,
    pub(crate) marked: u64,
    pub(crate) lost: u64,
    pub(crate) resent: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ChipState {
    pub(crate) outstanding: Option<Outstanding>,
    /// Servers into which it sends.
    pub(crate) servers: Vec<u32>,
    /// Since when it may have more of them, if it had to wait.
    pub(crate) since: Fine,
}

impl Site {
    /// Returns the bytes that wait for it.
    pub(crate) fn waiting(&self) -> u64 {
        self.queued.iter().sum()
    }
}

impl Control {
    /// Returns the loop of a run, if its parameters have one.
    pub(crate) fn new(fabric: &Fabric<'_>, parameters: &G5Parameters) -> Option<Self> {
        let seed = fabric.seed();
        let topology = fabric.topology();
        let is_lossy = fabric.links().iter().any(|link| link.loss > 0.0);
        let queue = &parameters.queue;
        let has_buffers = queue.buffer.is_some() || marks(parameters).is_some();
        let has_ends = parameters.rc_link.is_some() || parameters.paxi.is_some();
        if !is_lossy && !has_buffers && !has_ends {
            return None;
        }
        let credits = parameters.rc_link.and_then(|link| link.credits);
        let per_link = credits.filter(|credits| credits.scope == CreditScope::PerLink);
        let mut control = Self {
            stage: Loop::Open,
            trust: Trust::Full,
            link: parameters.rc_link.or(parameters.paxi.map(|paxi| RcLink {
                window: paxi.outstanding.clamp(1, (1 << 30) - 1),
                sequence_bits: 31,
                timeout: SimTime::NEVER,
                ack: AckMerge::Never,
                ..RcLink::defaults()
            })),
            curve: marks(parameters),
            dcqcn: match parameters.rate_control {
                RateControl::Off => None,
                RateControl::Dcqcn(dcqcn) => Some(dcqcn),
            },
            credits: credits.filter(|credits| credits.scope == CreditScope::EndToEnd),
            has_link_credits: per_link.is_some(),
            buffers: if has_buffers {
                buffers(topology, queue, channels(parameters))
            } else {
                Vec::new()
            },
            sites: Vec::new(),
            chips: Vec::new(),
            answers: Vec::new(),
            spare_answers: Vec::new(),
            scanners: Vec::new(),
            marks: Random::stream(seed, u64::MAX),
        };
        control.add_sites(fabric, per_link, channels(parameters));
        control.add_chips(fabric, parameters);
        let may_drop = queue.buffer.is_some() && queue.pfc.is_none();
        let binds = per_link.is_some_and(|credits| credits_bind(fabric, parameters, &credits));
        // Answers that take bytes are in the way of others from the first one on.
        let answers = parameters.rc_link.is_some_and(|link| link.ack_bytes > 0);
        if is_lossy || may_drop || binds || answers || control.dcqcn.is_some() {
            control.stage = Loop::Closing;
        }
        Some(control)
    }

    fn add_sites(&mut self, fabric: &Fabric<'_>, per_link: Option<Credits>, channels: usize) {
        let seed = fabric.seed();
        let topology = fabric.topology();
        let guards = !self.buffers.is_empty();
        for (number, link) in (0..).zip(fabric.links()) {
            let wire = match link.of {
                LinkOf::Wire(wire) => Some((wire, topology.link(wire))),
                LinkOf::Engines(_) => None,
            };
            let vertex = wire.map(|(_, wire)| topology.vertices()[wire.from.index()]);
            let input = wire.map_or(0, |(id, wire)| {
                let into = topology.links_into(wire.to);
                let port = into.iter().position(|other| *other == id);
                channels * port.unwrap_or(0)
            });
            self.sites.push(Site {
                buffer: match vertex {
                    Some(Vertex::Switch(switch)) if guards => Some(switch.get()),
                    _ => None,
                },
                input,
                chip: match (link.of, vertex) {
                    (LinkOf::Engines(chip), _) | (_, Some(Vertex::Chip(chip))) => Some(chip.get()),
                    _ => None,
                },
                queued: [0; CLASSES],
                peak: 0,
                loss: link.loss,
                luck: Random::stream(seed, number),
                pools: wire
                    .and(per_link)
                    .map(|credits| [CreditPool::new(&credits); CLASSES]),
                stopped: None,
                credit_stall: Fine::ZERO,
                paused: Fine::ZERO,
                marked: 0,
                lost: 0,
                resent: 0,
            });
            self.scanners.push(None);
        }
    }

    fn add_chips(&mut self, fabric: &Fabric<'_>, parameters: &G5Parameters) {
        let n_chips = fabric.topology().n_chips() as usize;
        self.chips.resize_with(n_chips, ChipState::default);
        for chip in &mut self.chips {
            chip.outstanding = parameters
                .paxi
                .map(|paxi| Outstanding::new(paxi.outstanding));
        }
        for (number, site) in (0..).zip(&self.sites) {
            if let Some(chip) = site.chip {
                self.chips[chip as usize].servers.push(number);
            }
        }
    }

    /// Returns the packets of a message that may be under way at once, and those of a chip.
    fn windows(&self, link: RcLink, wire: u64) -> [u32; 2] {
        let outstanding = self.chips.first().and_then(|chip| chip.outstanding);
        let requests = outstanding.map_or(u32::MAX, |outstanding| outstanding.limit());
        let credits = self.credits.map_or(u32::MAX, |credits| {
            CreditPool::new(&credits).room_for(super::ends::short(wire))
        });
        [link.window.min(credits), requests]
    }

    /// Returns whether a window may hold a message back when it meets others.
    pub(crate) fn may_hold_back(&self, wire: u64, packets: u32) -> bool {
        self.link.is_some_and(|link| {
            let [window, requests] = self.windows(link, wire);
            packets > window || requests < REQUESTS_ENOUGH
        })
    }

    /// Returns whether a share of a window is smaller than what a path holds: from the first byte
    /// of a packet to its acknowledgement at the sender.
    pub(crate) fn window_binds(
        &self,
        wire: u64,
        packets: u32,
        byte: ByteTime,
        latency: Fine,
        one_in: u32,
    ) -> bool {
        let Some(link) = self.link else {
            return false;
        };
        let [window, requests] = self.windows(link, wire);
        let window = window.min(requests) / one_in;
        let merge = match link.ack {
            AckMerge::Never => SimTime::ZERO,
            AckMerge::Every(visit) => visit.times(2),
        };
        let loop_time = latency + latency + merge.into() + Fine::of(byte, 2 * wire);
        packets > window && Fine::of(byte, wire).times(window) < loop_time
    }
}

/// A chip that may have as many requests open does not wait for responses.
const REQUESTS_ENOUGH: u32 = 1 << 20;

/// The curve by which switches mark; they cannot mark a frame without an IP header.
fn marks(parameters: &G5Parameters) -> Option<EcnCurve> {
    let headers = parameters.rc_link.map_or(Headers::Ip, |link| link.headers);
    let ecn = parameters.queue.ecn.filter(|_| headers == Headers::Ip);
    ecn.map(|ecn| ecn.curve)
}

/// How many virtual channels a link has.
fn channels(parameters: &G5Parameters) -> usize {
    let link = parameters.rc_link;
    link.map_or(1, |link| link.channels.count as usize)
}

/// Every channel of an input port is an input of its own.
fn buffers(topology: &Topology, queue: &SwitchQueue, channels: usize) -> Vec<SwitchBuffer> {
    let switches = topology.switches().iter();
    let buffer = |switch: &tier6_system::Switch| {
        let ports = topology.links_into(switch.vertex).len();
        SwitchBuffer::new(queue, channels * ports)
    };
    switches.map(buffer).collect()
}

/// Whether some link's credits are less than it holds: there, through the buffer, and back.
fn credits_bind(fabric: &Fabric<'_>, parameters: &G5Parameters, credits: &Credits) -> bool {
    let segment = parameters.paxi.map_or(super::PIECE, |paxi| paxi.segment);
    let overhead = parameters.rc_link.map_or(0, |link| link.overhead);
    let wire = segment.saturating_add(overhead);
    let window = CreditPool::new(credits).room_for(wire);
    let wires = fabric.links().iter();
    let mut wires = wires.filter(|link| matches!(link.of, LinkOf::Wire(_)));
    wires.any(|link| {
        let packet = Fine::of(link.frame, wire.into());
        let loop_time = Fine::from(link.latency).times(2) + packet.times(2) + credits.period.into();
        packet.times(window) < loop_time
    })
}
