//! Messages in flight, cut into packets.

use tier6_units::{ByteTime, SimTime};

use super::ends::Ends;
use super::fine::Fine;
use super::train::{Mark, Room, Train};
use crate::paxi::Segments;

/// How messages are cut and framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    /// Payload of a full packet.
    pub(crate) segment: u32,
    /// Header and framing bytes of a packet.
    pub(crate) overhead: u32,
}

/// A message in flight, or the part of it that takes one way: what links ask of it for every packet,
/// one line of a cache. The rest is in [`super::progress`].
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Flight {
    /// Where it enters the network.
    pub(crate) source: u32,
    pub(crate) packets: u32,
    /// Payload of all packets but the last.
    pub(crate) full: u64,
    /// Payload of the last.
    pub(crate) last: u64,
    pub(crate) overhead: u32,
    /// When the chip handed it over.
    pub(crate) start: SimTime,
    /// Least time per byte of payload at the sender.
    pub(crate) pace: ByteTime,
    /// Packets that have been offered to the first link.
    pub(crate) next: u32,
    /// Packets that the last link has served, where they have one end.
    pub(crate) reached: u32,
    /// Queue pair and rate control, where the loop is closed.
    pub(crate) ends: Option<Box<Ends>>,
    pub(crate) care: Care,
}

/// How the network treats a flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    Plain,
    /// Served by switches: it needs no room and is never lost.
    Sheltered,
    /// A packet of it was lost that nobody sends again.
    Broken,
}

impl Framing {
    /// Returns packets, payload of a full one, payload of the last. Messages of 2^30 segments or
    /// more have larger segments.
    pub(crate) fn cut(self, bytes: u64) -> (u32, u64, u64) {
        let most = u64::from(u32::MAX >> 2);
        let full = u64::from(self.segment.max(1)).max(bytes.div_ceil(most));
        let segments = Segments::of(bytes, full);
        let last = segments.count() - 1;
        let packets = u32::try_from(last + 1).expect("Invariant: segments grow with the message");
        (packets, segments.bytes(0), segments.bytes(last))
    }
}

impl Flight {
    /// Returns the bytes of a packet on the wire.
    pub(crate) fn wire(&self, packet: u32) -> u64 {
        self.payload(packet) + u64::from(self.overhead)
    }

    /// Returns the bytes of a packet on the wire, the last packet apart.
    pub(crate) fn full_wire(&self) -> u64 {
        self.full + u64::from(self.overhead)
    }

    pub(crate) fn payload(&self, packet: u32) -> u64 {
        if packet + 1 == self.packets {
            self.last
        } else {
            self.full
        }
    }

    /// Returns a packet as it enters its first link.
    pub(crate) fn packet(&self, number: u32, packet: u32, ready: Fine) -> Train {
        Train {
            flight: number,
            hop: self.source,
            first: packet,
            count: 1,
            ready,
            gap: Fine::ZERO,
            lead: Fine::ZERO,
            mark: Mark::None,
            room: Room::None,
            credits: 0,
        }
    }

    /// Returns its place among other arrivals: after all of the picosecond in which it was handed
    /// over.
    pub(crate) fn order(&self) -> Fine {
        Fine::last_of(self.start)
    }

    pub(crate) fn is_sheltered(&self) -> bool {
        self.care == Care::Sheltered
    }

    /// Returns whether there are packets that have not been offered.
    pub(crate) fn has_more(&self) -> bool {
        match &self.ends {
            None => self.next < self.packets,
            Some(ends) => ends.sender.peek().is_some(),
        }
    }

    /// Returns whether a run of packets has the last one.
    pub(crate) fn ends(&self, first: u32, count: u32) -> bool {
        first + count == self.packets
    }

    /// Returns the payload and wire bytes of a run of packets.
    pub(crate) fn bytes(&self, first: u32, count: u32) -> (u64, u64) {
        let short = if self.ends(first, count) {
            self.full - self.last
        } else {
            0
        };
        let payload = u64::from(count) * self.full - short;
        (
            payload,
            payload + u64::from(count) * u64::from(self.overhead),
        )
    }

    /// Returns when the sender's engines have a packet ready for a link, and when they have its
    /// head: the packet leaves when its head is there and its tail will be in time.
    pub(crate) fn available(&self, packet: u32, byte: ByteTime) -> (Fine, Fine) {
        let before = u64::from(packet) * self.full;
        let head = Fine::of(self.pace, before);
        let tail = Fine::of(self.pace, before + self.payload(packet));
        let late = tail.saturating_sub(Fine::of(byte, self.wire(packet)));
        let start = Fine::from(self.start);
        (start + head.max(late), start + head)
    }

    /// Returns the time between packets that the sender's engines need.
    pub(crate) fn pace_gap(&self) -> Fine {
        Fine::of(self.pace, self.full)
    }
}
