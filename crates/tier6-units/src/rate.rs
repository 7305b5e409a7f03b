//! A bandwidth.

use crate::{Bytes, Micros};
use std::fmt;
use std::str::FromStr;

/// Decimal gigabytes per second: 10^9 B/s, the unit of nccl-tests' `algbw` and `busbw`.
///
/// Parsing wants a unit and tells bytes (`B`) from bits (`b`, `bps`): `450 GB/s`, `400 Gb/s`,
/// `400Gbps`, `1.8 TB/s`. What a datasheet may mean either way, such as `400G`, is refused.
///
/// ```
/// use tier6_units::GbPerSec;
/// assert_eq!("400 Gb/s".parse(), Ok(GbPerSec::new(50.0)));
/// assert_eq!("50GB/s".parse(), Ok(GbPerSec::new(50.0)));
/// assert!("400G".parse::<GbPerSec>().is_err());
/// ```
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

    /// Returns the rate of a transfer that takes `slope` us for every byte: 1 / (1000 slope).
    ///
    /// ```
    /// use tier6_units::GbPerSec;
    /// assert_eq!(GbPerSec::from_us_per_byte(0.00002), GbPerSec::new(50.0));
    /// assert_eq!(GbPerSec::new(50.0).us_per_byte(), 0.00002);
    /// ```
    pub fn from_us_per_byte(slope: f64) -> Self {
        Self(1.0 / (1e3 * slope))
    }

    /// Returns the us that every byte takes at this rate.
    pub fn us_per_byte(self) -> f64 {
        1.0 / (1e3 * self.0)
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

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseGbPerSecError {
    /// The text does not start with a number that is zero or more.
    #[error("expected a rate such as `450 GB/s` or `400 Gb/s`, found `{0}`")]
    NotANumber(String),
    /// The unit could mean bits or bytes.
    #[error("`{text}` may mean bits or bytes; write `{number} GB/s` or `{number} Gb/s`")]
    Ambiguous {
        /// The whole text.
        text: String,
        /// Its number.
        number: String,
    },
    /// The unit counts transfers, whose payload depends on lanes and encoding.
    #[error("`{0}` counts transfers, not bytes; write the rate of all lanes in GB/s")]
    Transfers(String),
    /// The suffix is not a unit of rate.
    #[error("unknown unit `{unit}` in `{text}`; use GB/s (bytes) or Gb/s, Gbps (bits)")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// Its suffix.
        unit: String,
    },
}

impl FromStr for GbPerSec {
    type Err = ParseGbPerSecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let value = number
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
            .ok_or_else(|| ParseGbPerSecError::NotANumber(text.to_owned()))?;
        // Divided where a factor below 1 would be inexact: 900 MB/s is 0.9 GB/s.
        let giga = |prefix: Prefix| match prefix {
            Prefix::Times(factor) => value * factor,
            Prefix::Over(divisor) => value / divisor,
        };
        match read_unit(unit.trim()) {
            Unit::Bytes(prefix) => Ok(Self(giga(prefix))),
            Unit::Bits(prefix) => Ok(Self(giga(prefix) / 8.0)),
            Unit::Ambiguous => Err(ParseGbPerSecError::Ambiguous {
                text: text.to_owned(),
                number: number.to_owned(),
            }),
            Unit::Transfers => Err(ParseGbPerSecError::Transfers(text.to_owned())),
            Unit::Unknown => Err(ParseGbPerSecError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.trim().to_owned(),
            }),
        }
    }
}

/// What turns a prefix into units of 10^9.
enum Prefix {
    Times(f64),
    Over(f64),
}

/// What a suffix counts.
enum Unit {
    Bytes(Prefix),
    Bits(Prefix),
    Ambiguous,
    Transfers,
    Unknown,
}

fn read_unit(unit: &str) -> Unit {
    let (prefix, rest) = match unit.chars().next() {
        None => return Unit::Ambiguous,
        Some('k' | 'K') => (Prefix::Over(1e6), &unit[1..]),
        Some('m' | 'M') => (Prefix::Over(1e3), &unit[1..]),
        Some('g' | 'G') => (Prefix::Times(1.0), &unit[1..]),
        Some('t' | 'T') => (Prefix::Times(1e3), &unit[1..]),
        Some(_) => (Prefix::Over(1e9), unit),
    };
    match rest {
        "B/s" | "Bps" => Unit::Bytes(prefix),
        // A small `b` behind a small prefix, as in `gb/s`, is careless, not a choice.
        "b/s" if unit.starts_with(['m', 'g', 't']) => Unit::Ambiguous,
        "b/s" | "bps" | "bit/s" | "bits/s" => Unit::Bits(prefix),
        "" | "B" | "b" | "/s" => Unit::Ambiguous,
        "T/s" => Unit::Transfers,
        _ => Unit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<f64, &str>) {
        match (text.parse::<GbPerSec>(), expect) {
            (Ok(rate), Ok(want)) => assert_eq!(rate, GbPerSec::new(want), "{text}"),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn bytes_and_bits_are_told_apart() {
        check("450 GB/s", Ok(450.0));
        check("50GB/s", Ok(50.0));
        check("400Gbps", Ok(50.0));
        check("400 Gb/s", Ok(50.0));
        check("400 Gbit/s", Ok(50.0));
        check("200gbps", Ok(25.0));
        check("1.8 TB/s", Ok(1800.0));
        check("3.2 Tb/s", Ok(400.0));
        check("900 MB/s", Ok(0.9));
        check("12.5GBps", Ok(12.5));
        check("1000000000 B/s", Ok(1.0));
        check("0 GB/s", Ok(0.0));
    }

    #[test]
    fn what_may_mean_both_is_refused() {
        check("400G", Err("write `400 GB/s` or `400 Gb/s`"));
        check("400", Err("bits or bytes"));
        check("400 gb/s", Err("bits or bytes"));
        check("400GB", Err("bits or bytes"));
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        check("", Err("expected a rate"));
        check("fast", Err("expected a rate"));
        check("-1 GB/s", Err("expected a rate"));
        check("1..2 GB/s", Err("expected a rate"));
        check("16 GT/s", Err("counts transfers"));
        check("1 GiB/s", Err("unknown unit `GiB/s`"));
        check("1 µB/s", Err("unknown unit"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<GbPerSec>();
        }
    }
}
