//! Time inside the packet network: picoseconds with 32 binary places.
//!
//! The time of a byte is a multiple of 2^-32 ps ([`ByteTime`]), so in this unit the times of
//! packets add up without rounding, and a train of packets is an arithmetic progression exactly.
//! Only what the chips are told is rounded, to the nearest picosecond.

use std::ops::{Add, AddAssign, Sub};

use tier6_units::{ByteTime, SimTime};

const PLACES: u32 = 32;

/// An instant, or a span, in units of 2^-32 ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Fine(u128);

impl Fine {
    pub(crate) const ZERO: Self = Self(0);
    /// Later than any event, and still small enough to add to.
    pub(crate) const NEVER: Self = Self(1 << 96);

    /// Returns what so many bytes take.
    pub(crate) fn of(byte: ByteTime, bytes: u64) -> Self {
        Self(u128::from(byte.fine()) * u128::from(bytes)).min(Self::NEVER)
    }

    /// Returns the picosecond at which the chips hear of this instant.
    pub(crate) fn to_sim(self) -> SimTime {
        let ps = (self.0 + (1 << (PLACES - 1))) >> PLACES;
        SimTime::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the last instant of which the chips hear in this picosecond.
    pub(crate) fn last_of(time: SimTime) -> Self {
        Self::from(time) + Self((1 << (PLACES - 1)) - 1)
    }

    /// The shortest span.
    pub(crate) const LEAST: Self = Self(1);

    pub(crate) fn times(self, count: u32) -> Self {
        // Packets that go one by one need no multiplication.
        let span = match count {
            0 => 0,
            1 => self.0,
            count => self.0 * u128::from(count),
        };
        Self(span).min(Self::NEVER)
    }

    pub(crate) const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns how often `part` is in this span, rounded up; `u32::MAX` at most.
    pub(crate) fn count_up(self, part: Self) -> u32 {
        if part.0 == 0 {
            return if self.0 == 0 { 0 } else { u32::MAX };
        }
        // Most spans fit 64 bits, where a division is several times faster.
        let count = match (u64::try_from(self.0), u64::try_from(part.0)) {
            (Ok(whole), Ok(part)) => u128::from(whole.div_ceil(part)),
            _ => self.0.div_ceil(part.0),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Returns how many binary places this span takes: it is about 2^bits.
    pub(crate) const fn bits(self) -> u32 {
        match self.0 {
            0 => 0,
            span => span.ilog2(),
        }
    }

    /// Returns in which part of time this instant is, all parts 2^bits long.
    pub(crate) fn in_parts_of(self, bits: u32) -> u64 {
        u64::try_from(self.0 >> bits).unwrap_or(u64::MAX)
    }

    /// Returns how many bytes fit in this span; rounds down.
    pub(crate) fn bytes(self, byte: ByteTime) -> u64 {
        match u128::from(byte.fine()) {
            0 => 0,
            byte => u64::try_from(self.0 / byte).unwrap_or(u64::MAX),
        }
    }
}

impl From<SimTime> for Fine {
    fn from(time: SimTime) -> Self {
        Self(u128::from(time.ps()) << PLACES).min(Self::NEVER)
    }
}

impl Add for Fine {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign for Fine {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for Fine {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self(self.0 - earlier.0)
    }
}
