//! A queue pair: both of its ends, and the messages between them.

use std::collections::VecDeque;

use tier6_system::Vertex;
use tier6_units::SimTime;

use tier6_g5::congestion::{ByteBudget, DcqcnSender, NoticeMerge};
use tier6_g5::network::PathId;
use tier6_g5::rc_link::{CreditPool, RcReceiver, RcSender};
use tier6_g5::{CreditScope, Fabric, G5Parameters, RateControl};

/// A queue pair.
#[derive(Debug)]
pub(super) struct QueuePair {
    pub(super) path: PathId,
    pub(super) n_routes: u32,
    /// The chips at its ends.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Links of the way back; nothing where a cable has no other direction.
    pub(super) back: Option<Box<[u32]>>,
    /// Unloaded time of the way back.
    pub(super) back_latency: SimTime,
    /// Probability that a control frame is lost on it.
    pub(super) back_loss: f64,
    pub(super) reliable: Option<Reliable>,
    /// Frames offered and sent, where nothing is reliable.
    pub(super) plain: (u64, u64),
    /// Messages that are not complete at the sender, oldest first.
    pub(super) flights: VecDeque<u32>,
    /// The link at which it waits for its turn.
    pub(super) listed: Option<u32>,
    pub(super) rate: Option<RateEnd>,
    /// Credits between the two chips.
    pub(super) credits: Option<CreditPool>,
}

/// Both ends of a reliable queue pair.
#[derive(Debug)]
pub(super) struct Reliable {
    pub(super) sender: RcSender,
    pub(super) receiver: RcReceiver,
    /// Whether an event waits for the timeout.
    pub(super) armed: Armed,
}

/// Both ends of rate control.
#[derive(Debug)]
pub(super) struct RateEnd {
    pub(super) sender: DcqcnSender,
    pub(super) budget: ByteBudget,
    pub(super) notices: NoticeMerge,
    pub(super) armed: Armed,
}

/// Whether an event is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Armed {
    Yes,
    No,
}

impl QueuePair {
    pub(super) fn new(path: PathId, fabric: &Fabric<'_>, parameters: &G5Parameters) -> Self {
        let topology = fabric.topology();
        let laid = fabric.path(path);
        let route = laid.route(0);
        let (first, last) = (
            topology.link(route[0]),
            topology.link(route[route.len() - 1]),
        );
        let chip = |vertex: Vertex| match vertex {
            Vertex::Chip(chip) => chip.index(),
            Vertex::Switch(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => {
                unreachable!("Invariant: a route leads from chip to chip")
            }
        };
        let reverse = |link: &tier6_system::LinkId| topology.link(*link).reverse;
        let back: Option<Box<[u32]>> = (route.iter().rev())
            .map(|link| reverse(link).map(tier6_system::LinkId::get))
            .collect();
        let ends = parameters.paxi.map_or(SimTime::ZERO, |paxi| paxi.latency);
        let (back_latency, survives) = match &back {
            None => (laid.latency, 1.0),
            Some(links) => links.iter().fold((ends, 1.0), |(time, survives), link| {
                let link = &fabric.links()[*link as usize];
                (time + link.latency, survives * (1.0 - link.loss))
            }),
        };
        Self {
            path,
            n_routes: super::packet::index(laid.n_routes()),
            from: chip(topology.vertices()[first.from.index()]),
            to: chip(topology.vertices()[last.to.index()]),
            back,
            back_latency,
            back_loss: 1.0 - survives,
            reliable: parameters.rc_link.map(|link| Reliable {
                sender: RcSender::new(&link),
                receiver: RcReceiver::new(&link),
                armed: Armed::No,
            }),
            plain: (0, 0),
            flights: VecDeque::new(),
            listed: None,
            rate: match &parameters.rate_control {
                RateControl::Off => None,
                RateControl::Dcqcn(dcqcn) => {
                    let line = fabric.links()[route[0].index()].frame.rate();
                    Some(RateEnd {
                        sender: DcqcnSender::new(dcqcn, line),
                        budget: ByteBudget::new(dcqcn.budget),
                        notices: NoticeMerge::new(dcqcn.cnp_interval),
                        armed: Armed::No,
                    })
                }
            },
            credits: parameters
                .rc_link
                .and_then(|link| link.credits)
                .filter(|credits| credits.scope == CreditScope::EndToEnd)
                .as_ref()
                .map(CreditPool::new),
        }
    }

    /// Takes frames that wait; returns the number of the first.
    pub(super) fn offer(&mut self, frames: u64) -> u64 {
        if let Some(reliable) = &mut self.reliable {
            return reliable.sender.offer(frames);
        }
        self.plain.0 += frames;
        self.plain.0 - frames
    }

    /// Returns the frame that goes next.
    pub(super) fn peek(&self) -> Option<u64> {
        match &self.reliable {
            Some(reliable) => reliable.sender.peek(),
            None => (self.plain.1 < self.plain.0).then_some(self.plain.1),
        }
    }

    /// Returns whether a frame was sent before.
    pub(super) fn was_sent(&self, number: u64) -> bool {
        match &self.reliable {
            Some(reliable) => reliable.sender.was_sent(number),
            None => number < self.plain.1,
        }
    }

    /// Returns the message of a frame that is not complete at the sender.
    pub(super) fn flight_of(&self, number: u64, flights: &super::Flights) -> u32 {
        let after = self
            .flights
            .partition_point(|flight| flights.get(*flight).first <= number);
        self.flights[after - 1]
    }
}
