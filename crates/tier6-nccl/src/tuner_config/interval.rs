//! A range of whole numbers, both ends included.

use std::fmt;

/// From `least` to `most`; empty when `least` is above `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The first number.
    pub least: u64,
    /// The last number.
    pub most: u64,
}

impl Interval {
    /// Every number.
    pub const ANY: Self = Self {
        least: 0,
        most: u64::MAX,
    };

    /// No number at all: the condition never holds.
    pub const NONE: Self = Self { least: 1, most: 0 };

    /// From `least` to `most`.
    pub const fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    /// One number.
    pub const fn exactly(number: u64) -> Self {
        Self::new(number, number)
    }

    /// Returns the condition of a field in which -1 is any number; another negative one
    /// never holds.
    pub(super) fn from_int(int: i32) -> Self {
        match u64::try_from(int) {
            Ok(number) => Self::exactly(number),
            Err(_) if int == -1 => Self::ANY,
            Err(_) => Self::NONE,
        }
    }

    /// Says whether the number is inside.
    pub const fn contains(self, number: u64) -> bool {
        self.least <= number && number <= self.most
    }

    /// Says whether no number is inside.
    pub const fn is_empty(self) -> bool {
        self.least > self.most
    }

    /// Says whether every number of `other` is inside.
    pub const fn covers(self, other: Self) -> bool {
        other.is_empty() || (self.least <= other.least && other.most <= self.most)
    }

    /// Says whether some number is inside both.
    pub const fn overlaps(self, other: Self) -> bool {
        !self.is_empty()
            && !other.is_empty()
            && self.least <= other.most
            && other.least <= self.most
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self == Self::ANY, self.most) {
            (true, _) => f.write_str("any"),
            (_, u64::MAX) => write!(f, "{} and above", self.least),
            (_, most) if most == self.least => write!(f, "{most}"),
            (_, most) => write!(f, "{} to {most}", self.least),
        }
    }
}
