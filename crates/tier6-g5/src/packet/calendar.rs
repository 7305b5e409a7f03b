//! The events inside the packet network, in an order that does not depend on how they were
//! found: by exact time, then by what they concern. Trains and single packets therefore meet the
//! same events in the same order.
//!
//! A wheel of buckets, each a fraction of a packet long: an event is dropped into its bucket, and a
//! bucket is sorted when its turn comes. What is further away than the wheel reaches, as the far end
//! of a long cable is behind fast links, waits on a wheel of longer parts, and is spread over the
//! buckets when a part's turn comes; what is further yet in a heap, deadlines above all.
//!
//! The run's own queue is `tier6_des::Agenda`. It is another one: of events at one instant it gives
//! that first which was added first, and here the order of adding must not count.

mod wheel;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::fine::Fine;
use super::train::Mark;
use wheel::{BUCKETS, Wheel};

/// Something to look at in the network; what was true when it was written down may have changed,
/// so each is checked when its time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A link fails.
    Fail(u32),
    /// Credits come back to a channel of a link.
    Credit(u32, u32),
    /// A channel of a link is told to stop.
    Pause(u32),
    /// A channel of a link is told to go on.
    Resume(u32),
    /// A flight's last byte has left its sender.
    Sent(u32),
    /// A flight's last byte has arrived at one of its ends.
    Arrived(u32, u32),
    /// A flight's packet has arrived.
    Delivered(u32, u32, Mark),
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

/// Buckets in the time of a packet, about.
const PER_PACKET: u32 = 16;
/// A part is 2^PART buckets, fewer than a wheel has.
const PART: u32 = 8;

#[derive(Debug)]
pub(crate) struct Calendar {
    /// The next event, if it has been looked for.
    first: Option<Entry>,
    /// The bucket whose turn it is, its last event first.
    due: Vec<Entry>,
    /// What was added to it since.
    late: BinaryHeap<Entry>,
    /// Its number.
    at: u64,
    /// The buckets after it.
    near: Wheel<Entry>,
    /// The parts behind those.
    parts: Wheel<Entry>,
    /// Events behind the parts.
    far: BinaryHeap<Entry>,
    /// A bucket is 2^width of the finest unit of time.
    width: u32,
    happened: u64,
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
    /// Returns an empty calendar for packets that take about so long.
    pub(crate) fn new(packet: Fine) -> Self {
        Self {
            first: None,
            due: Vec::new(),
            late: BinaryHeap::new(),
            at: 0,
            near: Wheel::new(),
            parts: Wheel::new(),
            far: BinaryHeap::new(),
            width: packet.bits().saturating_sub(PER_PACKET.ilog2()),
            happened: 0,
        }
    }

    pub(crate) fn add(&mut self, time: Fine, event: Event) {
        let entry = Entry { time, event };
        let entry = match &mut self.first {
            // What was the first is put back where it came from.
            Some(first) if entry > *first => std::mem::replace(first, entry),
            _ => entry,
        };
        self.insert(entry);
    }

    fn insert(&mut self, entry: Entry) {
        let bucket = entry.time.in_parts_of(self.width);
        if bucket < self.at {
            self.turn_back(bucket);
        }
        if bucket == self.at {
            return self.late.push(entry);
        }
        if bucket - self.at < BUCKETS {
            self.near.put(bucket, entry);
        } else {
            self.put_far(entry);
        }
    }

    /// Keeps what is too far away for the buckets.
    fn put_far(&mut self, entry: Entry) {
        let part = self.part_of(&entry);
        if part - (self.at >> PART) < BUCKETS {
            self.parts.put(part, entry);
        } else {
            self.far.push(entry);
        }
    }

    fn part_of(&self, entry: &Entry) -> u64 {
        entry.time.in_parts_of(self.width) >> PART
    }

    /// Gives the turn to an earlier bucket, to which something comes after all.
    fn turn_back(&mut self, bucket: u64) {
        let was = std::mem::replace(&mut self.at, bucket);
        // What the wheels held beyond their reach from there. They end where they began.
        let mut part = self.parts.next(was >> PART);
        while let Some(ahead) = part {
            if ahead - (bucket >> PART) >= BUCKETS {
                let events = self.parts.take(ahead);
                self.far.extend(events);
            }
            let next = self.parts.next(ahead);
            part = next.filter(|next| *next - (was >> PART) < BUCKETS);
        }
        let mut near = self.near.next(was);
        while let Some(ahead) = near {
            if ahead - bucket >= BUCKETS {
                for entry in self.near.take(ahead) {
                    self.put_far(entry);
                }
            }
            near = self.near.next(ahead).filter(|next| *next - was < BUCKETS);
        }
        let due = std::mem::take(&mut self.due);
        let late = std::mem::take(&mut self.late);
        for entry in due.into_iter().chain(late) {
            self.insert(entry);
        }
    }

    /// Returns the next event and its time.
    pub(crate) fn peek(&mut self) -> Option<(Fine, Event)> {
        if self.first.is_none() {
            self.first = self.take_first();
        }
        self.first.map(|first| (first.time, first.event))
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<(Fine, Event)> {
        let first = match self.first.take() {
            None => self.take_first()?,
            Some(first) => first,
        };
        self.happened += 1;
        Some((first.time, first.event))
    }

    fn take_first(&mut self) -> Option<Entry> {
        if self.due.is_empty() && self.late.is_empty() {
            self.advance()?;
        }
        match self.late.peek() {
            Some(late) if self.due.last().is_none_or(|due| late > due) => self.late.pop(),
            _ => self.due.pop(),
        }
    }

    /// Gives the turn to the next bucket that holds something.
    fn advance(&mut self) -> Option<()> {
        self.at = loop {
            let near = self.near.next(self.at);
            let part = self.next_part();
            match part.filter(|part| near.is_none_or(|near| part << PART <= near)) {
                Some(part) => self.spread(part),
                None => break near?,
            }
        };
        let events = self.near.take(self.at);
        let room = std::mem::replace(&mut self.due, events);
        self.near.give_room(room);
        self.due.sort_unstable();
        Some(())
    }

    /// Returns the first part that holds something, on the wheel or behind it.
    fn next_part(&self) -> Option<u64> {
        let far = self.far.peek().map(|entry| self.part_of(entry));
        let part = self.parts.next(self.at >> PART);
        part.into_iter().chain(far).min()
    }

    /// Spreads a part over the buckets; nothing is before it.
    fn spread(&mut self, part: u64) {
        // Just before the part, so that it is within reach.
        self.at = (part << PART).saturating_sub(1).max(self.at);
        let mut events = self.parts.take(part);
        for entry in events.drain(..) {
            self.near.put(entry.time.in_parts_of(self.width), entry);
        }
        self.parts.give_room(events);
        while let Some(entry) = self.far.peek()
            && self.part_of(entry) == part
        {
            let entry = *entry;
            self.far.pop();
            self.near.put(entry.time.in_parts_of(self.width), entry);
        }
    }

    /// Returns the credits that are on their way back.
    pub(crate) fn credits(&self) -> u32 {
        let heaps = self.late.iter().chain(&self.far);
        let wheels = self.near.items().chain(self.parts.items());
        let entries = wheels.chain(&self.due).chain(heaps).chain(&self.first);
        let credits = entries.map(|entry| match entry.event {
            Event::Credit(_, credits) => credits,
            _ => 0,
        });
        credits.sum()
    }

    /// Returns how many events have happened.
    pub(crate) fn happened(&self) -> u64 {
        self.happened
    }
}

#[cfg(test)]
mod tests {
    use tier6_des::Random;
    use tier6_units::SimTime;

    use super::*;

    /// Whatever the time of a packet is taken to be, and however far the events are apart.
    #[test]
    fn the_order_is_that_of_a_heap() {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let packet = SimTime::from_ps(1 << random.below(24));
            let reach = 1 << random.below(30);
            let mut calendar = Calendar::new(packet.into());
            let mut heap = BinaryHeap::new();
            let mut now = Fine::ZERO;
            for round in 0..4_000_u32 {
                for _ in 0..random.below(4) {
                    let ahead = match random.below(4) {
                        0 => 0,
                        1 => random.below(100),
                        _ => random.below(reach),
                    };
                    let time = now + SimTime::from_ps(ahead).into();
                    let event = match random.below(3) {
                        0 => Event::Decide(round % 7),
                        1 => Event::Credit(round % 5, round),
                        _ => Event::Answer(round),
                    };
                    heap.push(Entry { time, event });
                    calendar.add(time, event);
                    if random.below(2) == 0 {
                        let first = heap.peek().map(|entry: &Entry| (entry.time, entry.event));
                        assert_eq!(calendar.peek(), first);
                    }
                }
                let expected = heap.pop().map(|entry| (entry.time, entry.event));
                assert_eq!(calendar.pop(), expected);
                now = expected.map_or(now, |(time, _)| time);
            }
        }
    }

    /// Where packets take no time, buckets are so short that they have no numbers after 4 ms.
    #[test]
    fn the_last_bucket_takes_all_that_is_later() {
        let mut calendar = Calendar::new(Fine::ZERO);
        let at = |ms: u64| Fine::from(SimTime::from_ps(ms * 1_000_000_000));
        for ms in [7, 5, 6] {
            calendar.add(at(ms), Event::Decide(0));
        }
        assert_eq!(calendar.pop(), Some((at(5), Event::Decide(0))));
        calendar.add(at(4), Event::Decide(1));
        calendar.add(at(6), Event::Decide(1));
        let rest = std::iter::from_fn(|| calendar.pop());
        let order = [(4, 1), (6, 0), (6, 1), (7, 0)];
        let expected = order.map(|(ms, server)| (at(ms), Event::Decide(server)));
        assert_eq!(rest.collect::<Vec<_>>(), expected);
    }
}
