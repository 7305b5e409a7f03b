//! One level of buckets.

use super::Entry;

/// Buckets of equal width over a span of time. Those before `current` have been taken.
#[derive(Debug, Clone)]
pub(super) struct Rung<E> {
    start: u64,
    end: u64,
    /// The width of a bucket is 2^shift.
    shift: u32,
    current: usize,
    in_use: usize,
    held: usize,
    buckets: Vec<Vec<Entry<E>>>,
}

/// Enough for a rung to be finer than the one above it, few enough to search.
const BUCKETS: std::ops::RangeInclusive<usize> = 128..=1 << 14;

impl<E> Rung<E> {
    /// Spreads empty buckets over `start` to `end`, one for about two events.
    pub(super) fn lay(&mut self, start: u64, end: u64, events: usize) {
        let wanted = (events / 2)
            .next_power_of_two()
            .clamp(*BUCKETS.start(), *BUCKETS.end());
        let last = (end - 1).saturating_sub(start);
        let bits = u64::BITS - last.leading_zeros();
        self.shift = bits.saturating_sub(wanted.trailing_zeros());
        self.start = start;
        self.end = end;
        self.current = 0;
        self.held = 0;
        self.in_use = self.place(last.saturating_add(start)) + 1;
        if self.buckets.len() < self.in_use {
            self.buckets.resize_with(self.in_use, Vec::new);
        }
    }

    /// Says whether an event of this time belongs here, when no finer rung covers it.
    pub(super) const fn covers(&self, time: u64) -> bool {
        time < self.end
    }

    pub(super) fn add(&mut self, entry: Entry<E>) {
        // The end of time belongs to the last bucket.
        let place = self.place(entry.time).min(self.in_use - 1);
        debug_assert!(place >= self.current, "what has been taken is over");
        self.buckets[place].push(entry);
        self.held += 1;
    }

    /// Swaps the next bucket that holds something with `into`, which is empty, and returns where
    /// its time ends.
    pub(super) fn take_next(&mut self, into: &mut Vec<Entry<E>>) -> Option<u64> {
        if self.held == 0 {
            return None;
        }
        while self.buckets[self.current].is_empty() {
            self.current += 1;
        }
        std::mem::swap(&mut self.buckets[self.current], into);
        self.held -= into.len();
        self.current += 1;
        let offset = (self.current as u64)
            .checked_mul(1 << self.shift)
            .and_then(|offset| self.start.checked_add(offset));
        Some(offset.map_or(self.end, |end| end.min(self.end)))
    }

    fn place(&self, time: u64) -> usize {
        usize::try_from((time - self.start) >> self.shift).unwrap_or(usize::MAX)
    }
}

impl<E> Default for Rung<E> {
    fn default() -> Self {
        Self {
            start: 0,
            end: 0,
            shift: 0,
            current: 0,
            in_use: 0,
            held: 0,
            buckets: Vec::new(),
        }
    }
}
