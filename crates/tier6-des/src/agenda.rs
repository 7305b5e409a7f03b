//! What happens next.
//!
//! A ladder queue (Tang, Goh, Thng 2005): events far ahead lie in no order; those nearer lie in
//! buckets of time, finer towards the present; only the bucket that is due is sorted. An event is
//! moved a few times and compared with few others, so a thousand events pending cost about as
//! much as ten. What is added into the bucket that is due goes to a small heap beside it.
//!
//! The packet network of `tier6-g5` has a calendar of its own, because there the order of adding
//! must not count: it orders events of one instant by what they concern.

mod rung;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tier6_units::SimTime;

use rung::Rung;

/// A bucket with more events than this is cut into finer ones, if their times differ.
const SPLIT: usize = 128;
/// The small heap is cut into buckets when it holds this many and more than the sorted bucket.
const SPILL: usize = 512;
/// The most levels of buckets; a bucket of the last one is sorted whatever its size.
const RUNGS_MAX: usize = 12;

/// Events in the order of their time; events of one instant in the order in which they were
/// added.
///
/// ```
/// use tier6_des::Agenda;
/// use tier6_units::SimTime;
///
/// let mut agenda = Agenda::new();
/// agenda.at(SimTime::from_ps(20), "later");
/// agenda.at(SimTime::from_ps(10), "first");
/// agenda.at(SimTime::from_ps(10), "second");
/// assert_eq!(agenda.pop(), Some((SimTime::from_ps(10), "first")));
/// assert_eq!(agenda.pop(), Some((SimTime::from_ps(10), "second")));
/// assert_eq!(agenda.now(), SimTime::from_ps(10));
/// ```
#[derive(Debug, Clone)]
pub struct Agenda<E> {
    now: SimTime,
    added: u64,
    /// The bucket that is due, last event first.
    due: Vec<Entry<E>>,
    /// What was added to it since.
    late: BinaryHeap<Reverse<Entry<E>>>,
    /// Where the time of both ends: events from here on are in rungs, or far.
    due_end: u64,
    /// Buckets, the finest and earliest last.
    rungs: Vec<Rung<E>>,
    /// Events behind all rungs, in the order in which they were added.
    far: Vec<Entry<E>>,
    /// Rungs to use again.
    spare: Vec<Rung<E>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    time: u64,
    number: u64,
    event: E,
}

impl<E> Agenda<E> {
    /// Returns an empty agenda at time zero.
    pub const fn new() -> Self {
        Self {
            now: SimTime::ZERO,
            added: 0,
            due: Vec::new(),
            late: BinaryHeap::new(),
            due_end: 0,
            rungs: Vec::new(),
            far: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Returns the time of the last event taken.
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// Adds an event.
    ///
    /// # Panics
    ///
    /// When the time has passed.
    pub fn at(&mut self, time: SimTime, event: E) {
        assert!(time >= self.now, "Invariant: time runs forward");
        let entry = Entry {
            time: time.ps(),
            number: self.added,
            event,
        };
        self.added += 1;
        if entry.time < self.due_end {
            self.late.push(Reverse(entry));
            if self.late.len() >= SPILL && self.late.len() > self.due.len() {
                self.spill();
            }
            return;
        }
        for rung in self.rungs.iter_mut().rev() {
            if rung.covers(entry.time) {
                rung.add(entry);
                return;
            }
        }
        self.far.push(entry);
    }

    /// Returns the time of the next event.
    pub fn next_time(&mut self) -> Option<SimTime> {
        self.next_is_late()
            .map(|is_late| SimTime::from_ps(self.front(is_late)))
    }

    /// Takes the next event and moves the time to it.
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        let entry = if self.next_is_late()? {
            self.late.pop().map(|Reverse(entry)| entry)?
        } else {
            self.due.pop()?
        };
        self.now = SimTime::from_ps(entry.time);
        Some((self.now, entry.event))
    }

    fn front(&self, is_late: bool) -> u64 {
        let entry = if is_late {
            self.late.peek().map(|Reverse(entry)| entry)
        } else {
            self.due.last()
        };
        entry.map_or(0, |entry| entry.time)
    }

    /// Says whether the next event is in the small heap; `None` when there is no event.
    fn next_is_late(&mut self) -> Option<bool> {
        loop {
            match (self.due.last(), self.late.peek()) {
                (Some(_), None) => return Some(false),
                (Some(due), Some(Reverse(late))) => return Some(late.key() < due.key()),
                (None, Some(_)) => return Some(true),
                (None, None) => self.advance()?,
            }
        }
    }

    /// Makes the next bucket due; `None` when there is no event.
    fn advance(&mut self) -> Option<()> {
        while self.due.is_empty() {
            if let Some(rung) = self.rungs.last_mut() {
                match rung.take_next(&mut self.due) {
                    Some(end) => self.cut(end),
                    None => self.spare.extend(self.rungs.pop()),
                }
            } else {
                std::mem::swap(&mut self.due, &mut self.far);
                let (_, last) = span(&self.due)?;
                self.cut(last.saturating_add(1));
            }
        }
        Some(())
    }

    /// Puts what is due, all of it before `end`, in order; or, when that is much, in buckets.
    fn cut(&mut self, end: u64) {
        if self.due.len() > SPLIT
            && self.rungs.len() < RUNGS_MAX
            && let Some((first, last)) = span(&self.due)
            && first < last
        {
            let mut rung = self.spare.pop().unwrap_or_default();
            rung.lay(first, end, self.due.len());
            for entry in self.due.drain(..) {
                rung.add(entry);
            }
            self.rungs.push(rung);
            self.due_end = first;
        } else {
            self.due.sort_unstable_by_key(|entry| Reverse(entry.key()));
            self.due_end = end;
        }
    }

    /// Puts the small heap, which has grown large, in order together with what is due.
    fn spill(&mut self) {
        let late = self.late.drain();
        self.due.extend(late.map(|Reverse(entry)| entry));
        self.cut(self.due_end);
    }
}

/// Returns the first and the last time.
fn span<E>(entries: &[Entry<E>]) -> Option<(u64, u64)> {
    let first = entries.first()?.time;
    Some(entries.iter().fold((first, first), |(low, high), entry| {
        (low.min(entry.time), high.max(entry.time))
    }))
}

impl<E> Entry<E> {
    const fn key(&self) -> (u64, u64) {
        (self.time, self.number)
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
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
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// What the agenda must equal: a heap of time and number.
    #[derive(Default)]
    struct Plain {
        heap: BinaryHeap<Reverse<(u64, u64)>>,
        added: u64,
    }

    impl Plain {
        fn at(&mut self, time: u64) {
            self.heap.push(Reverse((time, self.added)));
            self.added += 1;
        }
    }

    fn equals_a_heap(seed: u64, delay: impl Fn(&mut Random) -> u64) {
        let mut random = Random::new(seed);
        let (mut agenda, mut plain) = (Agenda::new(), Plain::default());
        let add = |agenda: &mut Agenda<u64>, plain: &mut Plain, time: u64| {
            agenda.at(SimTime::from_ps(time), plain.added);
            plain.at(time);
        };
        for _ in 0..30_000 {
            // More come than go at first, then more go.
            let coming = random.below(5) + u64::from(plain.added < 20_000);
            for _ in 0..coming {
                let time = agenda.now().ps().saturating_add(delay(&mut random));
                add(&mut agenda, &mut plain, time);
            }
            for _ in 0..2 {
                let expected = plain.heap.pop().map(|Reverse(event)| event);
                let next = agenda.next_time().map(SimTime::ps);
                assert_eq!(next, expected.map(|(time, _)| time));
                let got = agenda.pop().map(|(time, event)| (time.ps(), event));
                assert_eq!(got, expected);
            }
        }
        while let Some(Reverse((time, number))) = plain.heap.pop() {
            assert_eq!(agenda.pop(), Some((SimTime::from_ps(time), number)));
        }
        assert_eq!(agenda.pop(), None);
    }

    #[test]
    fn the_order_is_that_of_a_heap_whatever_the_delays() {
        equals_a_heap(1, |random| random.below(1_000_000));
        // Many at once.
        equals_a_heap(2, |random| 1000 * random.below(3));
        equals_a_heap(3, |_| 0);
        equals_a_heap(4, |_| 7_000);
        // Very different sizes, up to the end of time.
        equals_a_heap(5, |random| {
            let bits = random.below(64);
            random.below(1 << bits)
        });
        equals_a_heap(6, |random| match random.below(50) {
            0 => u64::MAX,
            1 => 1_000_000_000_000,
            _ => random.below(2000),
        });
    }

    #[test]
    #[should_panic(expected = "time runs forward")]
    fn the_past_is_over() {
        let mut agenda = Agenda::new();
        agenda.at(SimTime::from_ps(10), ());
        agenda.pop();
        agenda.at(SimTime::from_ps(9), ());
    }
}
