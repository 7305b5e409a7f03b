//! A measured or predicted time.

use std::fmt;
use std::str::FromStr;

/// Microseconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Micros(f64);

impl Micros {
    /// Wraps a time in microseconds.
    pub const fn new(us: f64) -> Self {
        Self(us)
    }

    /// Returns the time in microseconds.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.3} us", self.0))
    }
}

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as `18us` or `1.2ms`, found `{0}`")]
pub struct ParseMicrosError(String);

impl FromStr for Micros {
    type Err = ParseMicrosError;

    /// Reads `18us`, `1.2ms`, `350ns`, `2s`; a bare number is microseconds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let error = || ParseMicrosError(text.to_owned());
        // Nanoseconds are divided, not multiplied by an inexact 0.001: 350ns is 0.35us.
        let (number, times, over) = if let Some(number) = trimmed.strip_suffix("us") {
            (number, 1.0, 1.0)
        } else if let Some(number) = trimmed.strip_suffix("µs") {
            (number, 1.0, 1.0)
        } else if let Some(number) = trimmed.strip_suffix("ms") {
            (number, 1e3, 1.0)
        } else if let Some(number) = trimmed.strip_suffix("ns") {
            (number, 1.0, 1e3)
        } else if let Some(number) = trimmed.strip_suffix('s') {
            (number, 1e6, 1.0)
        } else {
            (trimmed, 1.0, 1.0)
        };
        let value: f64 = number.trim().parse().map_err(|_| error())?;
        if value.is_finite() && value >= 0.0 {
            Ok(Self(value * times / over))
        } else {
            Err(error())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_their_unit() {
        let parse = |text: &str| text.parse::<Micros>().map(Micros::get).ok();
        assert_eq!(parse("18us"), Some(18.0));
        assert_eq!(parse("18 µs"), Some(18.0));
        assert_eq!(parse("1.5ms"), Some(1500.0));
        assert_eq!(parse("500ns"), Some(0.5));
        assert_eq!(parse("350ns"), Some(0.35));
        assert_eq!(parse("2s"), Some(2e6));
        assert_eq!(parse("7"), Some(7.0));
        assert_eq!(parse("-1us"), None);
        assert_eq!(parse("nan"), None);
        assert_eq!(parse("soon"), None);
    }
}
