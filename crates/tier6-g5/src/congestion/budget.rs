//! How a queue pair keeps its rate: a budget of bytes per window (FACTS A.2).

use tier6_units::{ByteTime, SimTime};

/// Grants frames at a rate: those of a window's budget back to back, then none until the next
/// window. A window of zero leaves a gap after every frame instead.
///
/// The frame that exhausts a budget goes whole; what it took too much is missing from the next
/// one, so the mean rate is exact. Budget that was not used is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteBudget {
    window: SimTime,
    /// Bytes of this window; below zero when the last frame was larger.
    left: f64,
    ends: SimTime,
}

impl ByteBudget {
    /// Returns a budget whose first window begins with the first frame.
    pub const fn new(window: SimTime) -> Self {
        Self {
            window,
            left: 0.0,
            ends: SimTime::ZERO,
        }
    }

    /// Lets a frame go now, at a rate of one byte per `pace`.
    ///
    /// # Errors
    ///
    /// Returns when to ask again, if the rate does not allow it yet.
    pub fn grant(&mut self, bytes: u32, pace: ByteTime, now: SimTime) -> Result<(), SimTime> {
        if self.window == SimTime::ZERO {
            if now < self.ends {
                return Err(self.ends);
            }
            self.ends = now + pace.of_bytes(bytes.into());
            return Ok(());
        }
        // A rate without limit has a budget without limit.
        let budget = self.window.ps() as f64 * pace.rate().get() / 1e3;
        if now >= self.ends {
            let windows = now.saturating_sub(self.ends).ps() / self.window.ps() + 1;
            self.left = (self.left + windows as f64 * budget).min(budget);
            self.ends += self.window.times(windows);
        }
        if self.left > 0.0 {
            self.left -= f64::from(bytes);
            return Ok(());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "zero or more; `as` saturates"
        )]
        let windows = (-self.left / budget).floor() as u64;
        Err(self.ends + self.window.times(windows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::GbPerSec;

    const FRAME: u32 = 1_402;

    /// Frames that go in a time, each as soon as it may, on a line of 50 GB/s.
    fn granted(window_us: u64, rate: f64, time: SimTime) -> (u64, Vec<SimTime>) {
        let pace = ByteTime::at(GbPerSec::new(rate));
        let line = ByteTime::at(GbPerSec::new(50.0));
        let mut budget = ByteBudget::new(SimTime::from_ps(window_us * 1_000_000));
        let (mut now, mut frames) = (SimTime::ZERO, Vec::new());
        while now < time {
            match budget.grant(FRAME, pace, now) {
                Ok(()) => {
                    frames.push(now);
                    now += line.of_bytes(FRAME.into());
                }
                Err(later) => {
                    assert!(later > now);
                    now = later;
                }
            }
        }
        (frames.len() as u64 * u64::from(FRAME), frames)
    }

    #[test]
    fn the_mean_rate_is_kept_for_any_window() {
        let time = SimTime::from_ps(10_000_000_000);
        for window in [0, 4, 16, 66] {
            for rate in [0.001, 0.5, 5.0, 25.0, 49.0] {
                let (bytes, _) = granted(window, rate, time);
                let law = rate * 1e3 * time.to_micros().get();
                // One budget and one frame, which the first window may be ahead, and half a
                // picosecond for each gap.
                let ahead = rate * 1e3 * window as f64 + f64::from(FRAME);
                assert!(
                    (bytes as f64 - law).abs() <= ahead + 2e-5 * law,
                    "{window} us at {rate}: {bytes} for {law}"
                );
            }
        }
    }

    #[test]
    fn a_window_begins_with_a_burst() {
        let (_, frames) = granted(4, 5.0, SimTime::from_ps(8_000_000));
        // 20,000 bytes in a window: 15 frames, the last one larger than what was left; then 14.
        let first = frames.iter().filter(|at| at.ps() < 4_000_000).count();
        assert_eq!((first, frames.len()), (15, 29));
        let line = frames[1] - frames[0];
        assert!(frames[..15].windows(2).all(|two| two[1] - two[0] == line));
    }

    #[test]
    fn a_rate_without_limit_is_never_blocked() {
        for window in [0, 4] {
            let mut budget = ByteBudget::new(SimTime::from_ps(window));
            for _ in 0..1_000 {
                assert_eq!(budget.grant(FRAME, ByteTime::ZERO, SimTime::ZERO), Ok(()));
            }
        }
    }
}
