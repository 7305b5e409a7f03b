//! The receiver's half: congestion notices (CNP).

use tier6_units::SimTime;

/// Merges the congestion notices of a flow: one in an interval, the others are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeMerge {
    interval: SimTime,
    last: Option<SimTime>,
}

impl NoticeMerge {
    /// Returns a receiver that has sent no notice; an interval of zero merges none.
    pub const fn new(interval: SimTime) -> Self {
        Self {
            interval,
            last: None,
        }
    }

    /// Takes a marked packet; returns whether a notice goes to its sender.
    pub fn on_marked(&mut self, now: SimTime) -> bool {
        let due = self.last.is_none_or(|last| now >= last + self.interval);
        if due {
            self.last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_notice_in_an_interval() {
        let sent = |interval| {
            let mut merge = NoticeMerge::new(SimTime::from_ps(interval));
            (0..100)
                .filter(|&ps| merge.on_marked(SimTime::from_ps(ps)))
                .count()
        };
        assert_eq!([sent(0), sent(1), sent(10), sent(1000)], [100, 100, 10, 1]);
    }
}
