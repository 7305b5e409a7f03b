//! Trains: packets of one message that follow each other evenly.

use std::collections::VecDeque;

use super::fine::Fine;

/// Packets of one flight on their way to one server: packet `first + j` is ready to be served at
/// `ready + j * gap`. All are full but the last of the flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Train {
    pub(crate) flight: u32,
    /// Where on the flight's path: the hop that serves it.
    pub(crate) hop: u32,
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) ready: Fine,
    pub(crate) gap: Fine,
    /// How much earlier the head of a packet is there: a packet is held back for its tail, but
    /// its head goes through an idle link as it comes.
    pub(crate) lead: Fine,
    pub(crate) mark: Mark,
    pub(crate) room: Room,
    /// Credits that it holds of the buffer that it is in.
    pub(crate) credits: u32,
}

/// Whether packets carry a congestion mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    None,
    Congested,
}

/// Whether a packet has room in a switch's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    None,
    Held,
}

impl Train {
    /// Returns the packets one by one.
    pub(crate) fn packets(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |at| {
            let mut packet = self;
            packet.advance(at);
            packet.count = 1;
            packet
        })
    }

    /// Returns when packet `first + at` is ready.
    pub(crate) fn ready_at(&self, at: u32) -> Fine {
        self.ready + self.gap.times(at)
    }

    /// Returns how many packets are ready before an instant.
    pub(crate) fn before(&self, time: Fine) -> u32 {
        if self.ready >= time {
            return 0;
        }
        // At least one; those of a burst, without gaps, all.
        (time - self.ready)
            .count_up(self.gap)
            .clamp(1, self.count.max(1))
            .min(self.count)
    }

    /// Takes packets off the front.
    pub(crate) fn advance(&mut self, count: u32) {
        self.first += count;
        self.count -= count;
        self.ready += self.gap.times(count);
    }

    /// Appends a train that goes on evenly where this one ends; returns whether it does.
    pub(crate) fn couple(&mut self, other: &Self) -> bool {
        let follows = other.flight == self.flight && other.first == self.first + self.count;
        if !follows || other.lead != self.lead {
            return false;
        }
        let gap = if self.count == 1 {
            other.ready.saturating_sub(self.ready)
        } else {
            self.gap
        };
        let fits = (other.count == 1 || other.gap == gap)
            && other.ready == self.ready + gap.times(self.count);
        if fits {
            self.gap = gap;
            self.count += other.count;
        }
        fits
    }
}

/// What one input of a server holds: trains from one upstream link, or from the sender itself,
/// first come first.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) server: u32,
    /// Order among slots of a server whose packets are ready at one instant: 0 for the sender
    /// itself, else one more than the upstream link.
    pub(crate) tie: u32,
    /// The virtual channel of all that it holds.
    pub(crate) channel: u8,
    pub(crate) trains: VecDeque<Train>,
    /// Packets in front that have asked for room, where it is asked for.
    pub(crate) admitted: u32,
}

impl Slot {
    pub(crate) fn new(server: u32, tie: u32, channel: u8) -> Self {
        Self {
            server,
            tie,
            channel,
            trains: VecDeque::new(),
            admitted: 0,
        }
    }
}
