//! How far a run may go.

use thiserror::Error;
use tier6_units::SimTime;

/// Where a run stops at the latest. Every loop over events has them, so no run hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Events.
    pub events: u64,
    /// Simulated time.
    pub time: SimTime,
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LimitReached {
    /// The limit of events.
    #[error("limit of {0} events reached")]
    Events(u64),
    /// The limit of simulated time.
    #[error("limit of {0} simulated time reached")]
    Time(SimTime),
}

impl Limits {
    /// Says whether one more event, at `time`, may follow `events`.
    ///
    /// # Errors
    ///
    /// When it may not; the limit of events is looked at first.
    pub fn check(self, events: u64, time: SimTime) -> Result<(), LimitReached> {
        if events >= self.events {
            return Err(LimitReached::Events(self.events));
        }
        if time > self.time {
            return Err(LimitReached::Time(self.time));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_within_limits_is_allowed() {
        let limits = Limits {
            events: 2,
            time: SimTime::from_ps(10),
        };
        assert_eq!(limits.check(1, SimTime::from_ps(10)), Ok(()));
        assert_eq!(limits.check(2, SimTime::ZERO), Err(LimitReached::Events(2)));
        assert_eq!(
            limits.check(0, SimTime::from_ps(11)),
            Err(LimitReached::Time(limits.time))
        );
    }
}
