//! The scanner that merges the acknowledgements of all queue pairs of a chip.

use std::collections::VecDeque;

use tier6_units::SimTime;

/// Visits the queue pairs that have something to acknowledge, one after the other, so the delay
/// of an acknowledgement is at most the time of a visit times the queue pairs that are active.
///
/// A queue pair is marked at most once at a time ([`super::Answer::Mark`]).
#[derive(Debug, Clone)]
pub struct AckScanner {
    visit: SimTime,
    marked: VecDeque<u32>,
}

impl AckScanner {
    /// Returns a scanner that takes this long for a visit.
    pub fn new(visit: SimTime) -> Self {
        Self {
            visit,
            marked: VecDeque::new(),
        }
    }

    /// Marks a queue pair; returns when to call [`AckScanner::visit`], if that is not yet set.
    pub fn mark(&mut self, queue_pair: u32, now: SimTime) -> Option<SimTime> {
        let was_idle = self.marked.is_empty();
        self.marked.push_back(queue_pair);
        was_idle.then(|| now + self.visit)
    }

    /// Visits a queue pair: it acknowledges now. Returns when the next visit is due, if any.
    ///
    /// # Panics
    ///
    /// When none is marked: the visit was not asked for.
    pub fn visit(&mut self, now: SimTime) -> (u32, Option<SimTime>) {
        let queue_pair = self
            .marked
            .pop_front()
            .expect("Invariant: a visit is due when a queue pair is marked");
        let next = (!self.marked.is_empty()).then(|| now + self.visit);
        (queue_pair, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k active queue pairs, each marked again as soon as it is visited, wait k visits.
    #[test]
    fn the_delay_grows_with_the_queue_pairs() {
        let visit = SimTime::from_ps(10);
        for k in [1, 2, 7] {
            let mut scanner = AckScanner::new(visit);
            let first = scanner.mark(0, SimTime::ZERO);
            let others = (1..k).filter_map(|pair| scanner.mark(pair, SimTime::ZERO));
            assert_eq!(others.count(), 0, "one visit is set at a time");
            let mut now = first.unwrap();
            for turn in 0..10 * k {
                let (pair, next) = scanner.visit(now);
                assert_eq!(pair, turn % k);
                assert_eq!(now, visit.times(u64::from(turn) + 1));
                now = next.or(scanner.mark(pair, now)).unwrap();
            }
        }
    }
}
