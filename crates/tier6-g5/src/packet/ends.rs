//! The two ends of a flight where the network is closed-loop: a queue pair, the rate of its
//! sender, its credits.

use tier6_units::{GbPerSec, SimTime};

use super::fine::Fine;
use crate::congestion::{ByteBudget, DcqcnSender, NoticeMerge};
use crate::rc_link::{CreditPool, Missing, RcReceiver, RcSender, Sequence};
use crate::{Dcqcn, RcLink};

/// Sender and receiver of one flight.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) sender: RcSender,
    pub(crate) receiver: RcReceiver,
    pub(crate) rate: Option<Box<Rate>>,
    /// Credits between the chips.
    pub(crate) credits: Option<CreditPool>,
    /// Before when the rate lets nothing go.
    pub(crate) held: Fine,
    /// When a look at the sender's deadline is due.
    pub(crate) timer: Option<SimTime>,
    /// When a look at the rate's timer is due.
    pub(crate) raise: Option<SimTime>,
    /// Packets, answers and timers under way that name the flight.
    pub(crate) pending: u32,
    pub(crate) stage: Stage,
}

/// How far a flight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Moving,
    /// The receiver has everything.
    Arrived,
    /// It has, and the sender knows.
    Acknowledged,
    /// The sender gave up.
    Fatal,
}

/// Rate control of a sender.
#[derive(Debug)]
pub(crate) struct Rate {
    pub(crate) dcqcn: DcqcnSender,
    pub(crate) budget: ByteBudget,
    pub(crate) notices: NoticeMerge,
}

/// What travels back to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Ack(Sequence),
    Nak(Missing),
    Credits(u32),
    Congestion,
}

impl Ends {
    pub(crate) fn new(link: &RcLink, packets: u32, credits: Option<CreditPool>) -> Self {
        let mut sender = RcSender::new(link);
        sender.offer(packets.into());
        Self {
            sender,
            receiver: RcReceiver::new(link),
            rate: None,
            credits,
            held: Fine::ZERO,
            timer: None,
            raise: None,
            pending: 0,
            stage: Stage::Moving,
        }
    }

    pub(crate) fn control_rate(&mut self, parameters: &Dcqcn, line: GbPerSec) {
        self.rate = Some(Box::new(Rate {
            dcqcn: DcqcnSender::new(parameters, line),
            budget: ByteBudget::new(parameters.budget),
            notices: NoticeMerge::new(parameters.cnp_interval),
        }));
    }

    /// Returns the packet that goes next, if the window and the credits let one go.
    pub(crate) fn next(&self, wire: impl Fn(u32) -> u64) -> Option<u32> {
        let packet = self.sender.peek()?;
        let packet = u32::try_from(packet).expect("Invariant: packets have 32-bit numbers");
        let fits = self
            .credits
            .is_none_or(|pool| pool.room_for(short(wire(packet))) > 0);
        fits.then_some(packet)
    }
}

/// Bytes of a packet as the layers count them.
pub(crate) fn short(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
