//! The events inside the packet network, in an order that does not depend on how they were
//! found: by exact time, then by what they concern. Trains and single packets therefore meet the
//! same events in the same order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::fine::Fine;

/// Something to look at in the network; what was true when it was written down may have changed,
/// so each is checked when its time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A link fails.
    Fail(u32),
    /// Credits come back to a link.
    Credit(u32, u32),
    /// A link is told to stop.
    Pause(u32),
    /// A link is told to go on.
    Resume(u32),
    /// A flight's last byte has left its sender.
    Sent(u32),
    /// A flight's last byte has arrived at one of its ends.
    Arrived(u32, u32),
    /// A flight's packet has arrived; twice its number, and one more if it is marked.
    Delivered(u32, u32),
    /// An answer is back at its sender.
    Answer(u32),
    /// The scanner of the chip behind a link visits a queue pair.
    Visit(u32),
    /// A flight's sender looks at its deadline.
    Deadline(u32),
    /// A flight's sender may raise its rate.
    Raise(u32),
    /// The next packet of an input asks for room.
    Admit(u32),
    /// A link chooses what it serves next.
    Decide(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Calendar {
    heap: BinaryHeap<Entry>,
}

/// An event at its time; the greatest is the first to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    time: Fine,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Ties are rare, so what the events are is looked at last.
        match other.time.cmp(&self.time) {
            Ordering::Equal => other.event.cmp(&self.event),
            order => order,
        }
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.time > other.time || self.time == other.time && self.event > other.event
    }

    fn le(&self, other: &Self) -> bool {
        !other.lt(self)
    }
}

impl Calendar {
    pub(crate) fn add(&mut self, time: Fine, event: Event) {
        self.heap.push(Entry { time, event });
    }

    pub(crate) fn peek(&self) -> Option<(Fine, Event)> {
        self.heap.peek().map(|entry| (entry.time, entry.event))
    }

    /// Returns the credits that are on their way back.
    pub(crate) fn credits(&self) -> u32 {
        let credits = self.heap.iter().map(|entry| match entry.event {
            Event::Credit(_, credits) => credits,
            _ => 0,
        });
        credits.sum()
    }

    pub(crate) fn pop(&mut self) -> Option<(Fine, Event)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
}
