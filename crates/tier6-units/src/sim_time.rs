//! Simulation time: integer picoseconds, so that equal instants are equal.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use crate::{Bytes, GbPerSec, Micros};

/// An instant of a simulation, or a span of it, in integer picoseconds (213 days at most).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

impl SimTime {
    /// The start.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);

    /// Wraps a number of picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns the time in microseconds.
    pub fn to_micros(self) -> Micros {
        Micros::new(self.0 as f64 / 1e6)
    }

    /// Returns the difference, zero when `other` is later.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this span `count` times over, [`SimTime::NEVER`] at most.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl From<Micros> for SimTime {
    /// Rounds to the nearest picosecond; what is negative or no number is zero.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is what is meant"
    )]
    fn from(time: Micros) -> Self {
        Self((time.get() * 1e6).round() as u64)
    }
}

impl Add for SimTime {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for SimTime {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for SimTime {
    type Output = Self;

    /// Returns the span from `earlier` to this instant.
    ///
    /// # Panics
    ///
    /// In builds with overflow checks, when `earlier` is later.
    fn sub(self, earlier: Self) -> Self {
        Self(self.0 - earlier.0)
    }
}

impl Sum for SimTime {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.6} us", self.0 as f64 / 1e6))
    }
}

/// What a byte takes on a link: picoseconds in 32.32 fixed point, so that the time of a run of
/// bytes is one multiplication and the sum over packets is that of the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteTime(u64);

impl ByteTime {
    /// Nothing: an infinitely fast resource.
    pub const ZERO: Self = Self(0);

    /// Returns what a byte takes at a rate; 50 GB/s is 20 ps. Rounds to 2^-32 ps, so that a
    /// gibibyte is exact to a picosecond.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates: a rate of zero takes as long as can be said"
    )]
    pub fn at(rate: GbPerSec) -> Self {
        Self((1e3 / rate.get() * f64::from(2.0_f32.powi(32))).round() as u64)
    }

    /// Returns the time of a run of bytes, to the nearest picosecond.
    pub fn of(self, bytes: Bytes) -> SimTime {
        self.of_bytes(bytes.get())
    }

    /// [`ByteTime::of`] for a bare number of bytes.
    pub const fn of_bytes(self, bytes: u64) -> SimTime {
        let fine = self.0 as u128 * bytes as u128;
        let ps = (fine + 0x8000_0000) >> 32;
        if ps > u64::MAX as u128 {
            return SimTime::NEVER;
        }
        #[expect(clippy::cast_possible_truncation, reason = "compared just above")]
        SimTime::from_ps(ps as u64)
    }

    /// Returns `numerator / denominator` times this, to the nearest 2^-32 ps: what a byte takes on
    /// a share of the resource.
    ///
    /// # Panics
    ///
    /// When the denominator is zero.
    pub const fn scaled(self, numerator: u32, denominator: u32) -> Self {
        let fine = self.0 as u128 * numerator as u128 + denominator as u128 / 2;
        let share = fine / denominator as u128;
        if share > u64::MAX as u128 {
            return Self(u64::MAX);
        }
        #[expect(clippy::cast_possible_truncation, reason = "compared just above")]
        Self(share as u64)
    }

    /// Returns the time per byte in units of 2^-32 picoseconds, in which it is exact.
    pub const fn fine(self) -> u64 {
        self.0
    }

    /// Returns the rate.
    pub fn rate(self) -> GbPerSec {
        GbPerSec::new(1e3 * f64::from(2.0_f32.powi(32)) / self.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_at_fifty_takes_twenty() {
        let per_byte = ByteTime::at(GbPerSec::new(50.0));
        assert_eq!(per_byte.of_bytes(1), SimTime::from_ps(20));
        assert_eq!(per_byte.of_bytes(1 << 40), SimTime::from_ps(20 << 40));
        assert!((per_byte.rate().get() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn times_round_and_saturate() {
        let per_byte = ByteTime::at(GbPerSec::new(450.0));
        assert_eq!(per_byte.of_bytes(0), SimTime::ZERO);
        assert_eq!(per_byte.of_bytes(1), SimTime::from_ps(2));
        assert_eq!(per_byte.of_bytes(450), SimTime::from_ps(1000));
        assert_eq!(
            ByteTime::at(GbPerSec::new(1e-30)).of_bytes(u64::MAX),
            SimTime::NEVER
        );
        assert_eq!(SimTime::NEVER + SimTime::from_ps(1), SimTime::NEVER);
    }

    #[test]
    fn a_share_takes_longer() {
        let per_byte = ByteTime::at(GbPerSec::new(50.0));
        assert_eq!(per_byte.scaled(8, 2), ByteTime::at(GbPerSec::new(12.5)));
        assert_eq!(per_byte.scaled(1, 3).of_bytes(3), SimTime::from_ps(20));
        assert_eq!(ByteTime(u64::MAX).scaled(2, 1), ByteTime(u64::MAX));
    }

    #[test]
    fn microseconds_are_a_million() {
        assert_eq!(SimTime::from(Micros::new(0.5)).ps(), 500_000);
        assert_eq!(SimTime::from(Micros::new(-1.0)), SimTime::ZERO);
        assert_eq!(SimTime::from_ps(1_234_567).to_string(), "1.234567 us");
    }
}
