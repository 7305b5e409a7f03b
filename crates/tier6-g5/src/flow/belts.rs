//! What comes after a fixed delay comes in the order in which it was put: a belt.
//!
//! Messages of one size end, and messages on paths of one latency arrive, equally long after
//! they began. For each such delay one belt carries all of them, and only its head needs an event
//! of the run. What happens together is then handled together.

use std::collections::VecDeque;

use tier6_units::SimTime;

/// Delays that have a belt at a time. Finding a belt costs a comparison with each.
const BELTS_MAX: usize = 8;

/// Belts by delay.
#[derive(Debug)]
pub(super) struct Belts<T> {
    belts: Vec<Belt<T>>,
}

#[derive(Debug)]
struct Belt<T> {
    delay: SimTime,
    awaited: Awaited,
    items: VecDeque<(SimTime, T)>,
}

/// Whether an event of the run stands for the head of a belt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Yes,
    No,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// It waits behind others.
    Behind,
    /// It is the first on this belt, which needs an event.
    First(u32),
    /// Every belt carries items of another delay; the item needs an event of its own.
    NoBelt,
}

impl<T> Default for Belts<T> {
    fn default() -> Self {
        Self { belts: Vec::new() }
    }
}

impl<T> Belts<T> {
    /// Puts an item that is due a delay from now.
    pub(super) fn put(&mut self, now: SimTime, delay: SimTime, item: T) -> Put {
        let Some(at) = self.belt_of(delay) else {
            return Put::NoBelt;
        };
        let belt = &mut self.belts[at];
        belt.items.push_back((now + delay, item));
        match std::mem::replace(&mut belt.awaited, Awaited::Yes) {
            Awaited::Yes => Put::Behind,
            Awaited::No => Put::First(u32::try_from(at).expect("Invariant: few belts")),
        }
    }

    /// Takes the next item of a belt that is due.
    pub(super) fn take(&mut self, belt: u32, now: SimTime) -> Option<T> {
        let items = &mut self.belts[belt as usize].items;
        let (_, item) = items.pop_front_if(|(due, _)| *due <= now)?;
        Some(item)
    }

    /// Returns when a belt needs its next event, once nothing on it is due.
    pub(super) fn next_event(&mut self, belt: u32) -> Option<SimTime> {
        let belt = &mut self.belts[belt as usize];
        let next = belt.items.front().map(|(due, _)| *due);
        if next.is_none() {
            belt.awaited = Awaited::No;
        }
        next
    }

    fn belt_of(&mut self, delay: SimTime) -> Option<usize> {
        if let Some(at) = self.belts.iter().position(|belt| belt.delay == delay) {
            return Some(at);
        }
        if self.belts.len() < BELTS_MAX {
            self.belts.push(Belt {
                delay,
                awaited: Awaited::No,
                items: VecDeque::new(),
            });
            return Some(self.belts.len() - 1);
        }
        let is_free = |belt: &Belt<T>| belt.awaited == Awaited::No;
        let at = self.belts.iter().position(is_free)?;
        self.belts[at].delay = delay;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ps(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn only_the_first_item_needs_an_event() {
        let mut belts = Belts::default();
        assert_eq!(belts.put(ps(0), ps(10), 'a'), Put::First(0));
        assert_eq!(belts.put(ps(0), ps(10), 'b'), Put::Behind);
        assert_eq!(belts.put(ps(4), ps(10), 'c'), Put::Behind);
        assert_eq!(belts.put(ps(4), ps(5), 'd'), Put::First(1));
        assert_eq!(belts.take(1, ps(9)), Some('d'));
        assert_eq!(belts.next_event(1), None);
        assert_eq!(belts.take(0, ps(10)), Some('a'));
        assert_eq!(belts.take(0, ps(10)), Some('b'));
        assert_eq!(belts.take(0, ps(10)), None);
        assert_eq!(belts.next_event(0), Some(ps(14)));
        assert_eq!(belts.put(ps(11), ps(5), 'e'), Put::First(1));
    }

    #[test]
    fn idle_belts_serve_new_delays() {
        let mut belts = Belts::default();
        for delay in 0..8 {
            assert_eq!(
                belts.put(ps(0), ps(delay), delay),
                Put::First(u32::try_from(delay).unwrap())
            );
        }
        assert_eq!(belts.put(ps(0), ps(99), 99), Put::NoBelt);
        assert_eq!(belts.take(3, ps(3)), Some(3));
        assert_eq!(belts.next_event(3), None);
        assert_eq!(belts.put(ps(3), ps(99), 99), Put::First(3));
    }
}
