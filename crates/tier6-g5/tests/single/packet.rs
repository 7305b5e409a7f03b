//! Packets and messages in flight, in places that are used again.

use tier6_units::{ByteTime, SimTime};

use tier6_g5::network::MessageId;
use tier6_g5::paxi::Segments;
use tier6_g5::rc_link::{Sequence, Urgency};

use super::Control;

/// A packet somewhere between two chips.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    pub(super) pair: u32,
    pub(super) way: Way,
    /// Which link of its way it goes over next, or is on.
    pub(super) hop: u32,
    pub(super) load: Load,
    pub(super) payload: u64,
    pub(super) wire: u64,
    /// When it is ready for its next link, in units of 2^-32 ps.
    pub(super) ready: u128,
    /// The link by which it came, and the credits it took there.
    pub(super) entered: Option<Entered>,
    pub(super) mark: Mark,
}

/// How a packet came to where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) link: u32,
    pub(super) credits: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Clear,
    Congestion,
}

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Along the route of this number.
    Forth(u32),
    /// Along the first route, backwards.
    Back,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Load {
    Frame {
        flight: u32,
        /// Without a reliable link there is none.
        sequence: Option<Sequence>,
        urgency: Urgency,
    },
    Control(Control),
}

/// A message on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub(super) message: MessageId,
    /// The number of its first frame in its queue pair.
    pub(super) first: u64,
    pub(super) segments: Segments,
    /// When the chip handed it over.
    pub(super) start: SimTime,
    pub(super) pace: ByteTime,
    /// Frames that have not arrived.
    pub(super) missing: u64,
}

impl Flight {
    pub(super) fn end(&self) -> u64 {
        self.first + self.segments.count()
    }
}

/// Packets by number.
pub(super) type Packets = Places<Packet>;
/// Messages by number.
pub(super) type Flights = Places<Flight>;

/// Numbered places, of which free ones are used again.
#[derive(Debug)]
pub(super) struct Places<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Copy> Places<T> {
    pub(super) fn add(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(item);
            return number;
        }
        self.all.push(Some(item));
        index(self.all.len() - 1)
    }

    pub(super) fn get(&self, number: u32) -> T {
        self.all[number as usize].expect("Invariant: a number in use has its place")
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        self.all[number as usize]
            .as_mut()
            .expect("Invariant: a number in use has its place")
    }

    pub(super) fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.all[number as usize]
            .take()
            .expect("Invariant: a number in use has its place")
    }

    pub(super) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: fewer than 2^32 fit the memory")
}
