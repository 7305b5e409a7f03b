//! The events inside the packet network, in an order that does not depend on how they were
//! found: by exact time, then by what they concern. Trains and single packets therefore meet the
//! same events in the same order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fine::Fine;

/// Something to look at in the network; what was true when it was written down may have changed,
/// so each is checked when its time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A link fails.
    Fail(u32),
    /// A flight's last byte has left its sender.
    Sent(u32),
    /// A flight's last byte has arrived at one of its ends.
    Arrived(u32, u32),
    /// A link chooses what it serves next.
    Decide(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Calendar {
    heap: BinaryHeap<Reverse<(Fine, Event)>>,
}

impl Calendar {
    pub(crate) fn add(&mut self, time: Fine, event: Event) {
        self.heap.push(Reverse((time, event)));
    }

    pub(crate) fn peek(&self) -> Option<(Fine, Event)> {
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    pub(crate) fn pop(&mut self) -> Option<(Fine, Event)> {
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}
