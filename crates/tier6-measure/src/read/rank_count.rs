//! The number of ranks from busbw / algbw, within the rounding of the printed digits.
//!
//! The bus factor grows with the ranks, so the interval of true ratios behind two printed numbers
//! is an interval of ranks; every row narrows it. Far out the factor hardly moves (1.998 at 1000
//! ranks, 1.999 at 2000), and the interval stays wide: that is said, not hidden.

use super::consistency::{Interval, Printed};
use crate::Ranks;
use tier6_collective::Collective;

/// The ratios busbw / algbw that all rows seen so far allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FactorRange {
    low: f64,
    high: f64,
    rows: Rows,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    None,
    Seen,
}

impl FactorRange {
    /// Returns the range before any row: every ratio.
    pub(crate) const fn new() -> Self {
        Self {
            low: 0.0,
            high: f64::INFINITY,
            rows: Rows::None,
        }
    }

    /// Narrows the range by a row. algbw is best given as size / printed time, which has more
    /// digits than the printed algbw of a small message.
    pub(crate) fn narrow(&mut self, algbw: Interval, busbw: Interval) {
        if algbw.low <= 0.0 || algbw.high <= 0.0 {
            return;
        }
        self.rows = Rows::Seen;
        self.low = self.low.max(busbw.low / algbw.high);
        self.high = self.high.min(busbw.high / algbw.low);
    }

    /// Says whether no ratio fits all rows.
    pub(crate) fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Says whether the collective's factor for `ranks` is in the range.
    ///
    /// The factor is never refused for collectives whose ratio does not depend on the ranks.
    pub(crate) fn allows(self, collective: Collective, ranks: u32) -> bool {
        let factor = collective.bus_factor(ranks);
        is_constant(collective) || (self.low - SLACK <= factor && factor <= self.high + SLACK)
    }

    /// Says whether the ratio 1, that of Broadcast, Reduce and SendRecv, fits all rows.
    pub(crate) fn allows_factor_one(self) -> bool {
        self.low - SLACK <= 1.0 && 1.0 <= self.high + SLACK
    }

    /// Returns the ranks that fit all rows and are whole multiples of `multiple_of`, the ranks
    /// of one process.
    ///
    /// [`Ranks::Unknown`] when the collective's factor does not depend on the ranks, or when the
    /// rows leave no number or no upper bound.
    pub(crate) fn ranks(self, collective: Collective, multiple_of: u32) -> Ranks {
        if is_constant(collective) || self.rows == Rows::None || self.is_empty() {
            return Ranks::Unknown;
        }
        let limit = collective.bus_factor(u32::MAX).round();
        // factor = limit (n - 1) / n, so n = limit / (limit - factor).
        let ranks_at = |factor: f64| {
            let room = limit - factor;
            if room > 0.0 {
                limit / room
            } else {
                f64::INFINITY
            }
        };
        let step = f64::from(multiple_of.max(1));
        // A whole number may lie on the edge of the interval.
        let low = (ranks_at(self.low).max(2.0) / step - SLACK).ceil() * step;
        let high = (ranks_at(self.high) / step + SLACK).floor() * step;
        if low > high || high > f64::from(u32::MAX) {
            return Ranks::Unknown;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole numbers from 2 to u32::MAX, checked above"
        )]
        Ranks::Estimated {
            low: low as u32,
            high: high as u32,
        }
    }
}

/// Room for the float arithmetic of the check itself.
const SLACK: f64 = 1e-6;

/// Says whether the bus factor is the same for any number of ranks.
fn is_constant(collective: Collective) -> bool {
    (collective.bus_factor(2) - collective.bus_factor(3)).abs() < f64::EPSILON
}

/// Estimates the ranks from pairs of printed (algbw, busbw).
///
/// [`Ranks::Unknown`] when the collective's factor does not depend on the ranks, when the rows
/// leave no number or no upper bound.
pub(crate) fn from_printed(
    collective: Collective,
    pairs: impl Iterator<Item = (Printed, Printed)>,
) -> Ranks {
    let mut range = FactorRange::new();
    for (algbw, busbw) in pairs {
        range.narrow(algbw.interval(), busbw.interval());
    }
    range.ranks(collective, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::consistency::speed;

    fn check(collective: Collective, pairs: &[(&str, &str)], expect: Ranks) {
        let pairs = pairs
            .iter()
            .map(|(a, b)| (Printed::parse(a).unwrap(), Printed::parse(b).unwrap()));
        assert_eq!(from_printed(collective, pairs), expect);
    }

    #[test]
    fn digits_decide_how_far_the_ranks_are_known() {
        let exactly = |n| Ranks::Estimated { low: n, high: n };
        check(Collective::AllToAll, &[("446.53", "334.90")], exactly(4));
        check(Collective::AllReduce, &[("270.34", "473.10")], exactly(8));
        check(
            Collective::AllGather,
            &[("22.455275", "19.648366")],
            exactly(8),
        );
        // Two digits leave a range, a second row narrows it.
        let rough = Ranks::Estimated { low: 4, high: 6 };
        check(Collective::AllReduce, &[("0.11", "0.17")], rough);
        check(
            Collective::AllReduce,
            &[("0.11", "0.17"), ("81.06", "121.59")],
            exactly(4),
        );
    }

    #[test]
    fn times_narrow_more_than_printed_bandwidths() {
        // 1 MiB in 310.4 us is 3.3782 GB/s, printed as 3.38.
        let mut range = FactorRange::new();
        let (time, busbw) = (Printed::parse("310.4"), Printed::parse("6.65"));
        range.narrow(speed(1 << 20, time.unwrap()), busbw.unwrap().interval());
        let Ranks::Estimated { low, high } = range.ranks(Collective::AllReduce, 1) else {
            panic!()
        };
        assert!(
            (58..=64).contains(&low) && (64..=72).contains(&high),
            "{low} {high}"
        );
        assert!(range.allows(Collective::AllReduce, 64));
        assert!(!range.allows(Collective::AllReduce, 8));
        let eights = Ranks::Estimated { low: 64, high: 64 };
        assert_eq!(range.ranks(Collective::AllReduce, 32), eights);
    }

    #[test]
    fn what_cannot_be_known_stays_unknown() {
        check(Collective::Broadcast, &[("10.0", "10.0")], Ranks::Unknown);
        check(Collective::AllReduce, &[], Ranks::Unknown);
        check(Collective::AllReduce, &[("0.00", "0.00")], Ranks::Unknown);
        check(Collective::AllReduce, &[("10.0", "20.0")], Ranks::Unknown);
        check(Collective::AllReduce, &[("10.0", "5.0")], Ranks::Unknown);
    }
}
