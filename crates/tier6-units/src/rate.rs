//! A bandwidth.

use crate::{Bytes, Micros};
use std::fmt;

/// Decimal gigabytes per second: 10^9 B/s, the unit of nccl-tests' `algbw` and `busbw`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct GbPerSec(f64);

impl GbPerSec {
    /// Wraps a rate in 10^9 bytes per second.
    pub const fn new(gb_per_s: f64) -> Self {
        Self(gb_per_s)
    }

    /// Returns the rate at which `bytes` move in `time`; `None` for a time of zero or less.
    ///
    /// ```
    /// use tier6_units::{Bytes, GbPerSec, Micros};
    /// let rate = GbPerSec::from_transfer(Bytes::new(1_000_000), Micros::new(10.0)).unwrap();
    /// assert_eq!(rate.get(), 100.0);
    /// ```
    pub fn from_transfer(bytes: Bytes, time: Micros) -> Option<Self> {
        (time.get() > 0.0).then(|| Self(bytes.as_f64() / time.get() / 1e3))
    }

    /// Returns the rate in 10^9 bytes per second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the rate times a dimensionless factor, such as a bus factor.
    pub fn scaled(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }

    /// Returns the time that `bytes` need at this rate; `None` for a rate of zero or less.
    pub fn time_for(self, bytes: Bytes) -> Option<Micros> {
        (self.0 > 0.0).then(|| Micros::new(bytes.as_f64() / self.0 / 1e3))
    }
}

impl fmt::Display for GbPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.2} GB/s", self.0))
    }
}
