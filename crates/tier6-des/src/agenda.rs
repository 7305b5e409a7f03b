//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tier6_units::SimTime;

/// Events in the order of their time; events of one instant in the order in which they were
/// added.
#[derive(Debug, Clone)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    now: SimTime,
    added: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    time: SimTime,
    number: u64,
    event: E,
}

impl<E> Agenda<E> {
    /// Returns an empty agenda at time zero.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            now: SimTime::ZERO,
            added: 0,
        }
    }

    /// Returns the time of the last event taken.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Adds an event.
    ///
    /// # Panics
    ///
    /// When the time has passed.
    pub fn at(&mut self, time: SimTime, event: E) {
        assert!(time >= self.now, "Invariant: time runs forward");
        self.heap.push(Reverse(Entry {
            time,
            number: self.added,
            event,
        }));
        self.added += 1;
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<SimTime> {
        self.heap.peek().map(|Reverse(entry)| entry.time)
    }

    /// Takes the next event and moves the time to it.
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.time;
        Some((entry.time, entry.event))
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.number) == (other.time, other.number)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}
