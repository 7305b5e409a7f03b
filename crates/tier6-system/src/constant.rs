//! A constant of the model with where it comes from.
//!
//! A number that someone read, one that someone fitted and one that someone guessed look alike
//! in a formula. Here each carries its origin, so that a prediction can say how good its inputs
//! are, and a calibration can say what it replaced.

use std::fmt;
use tier6_units::{Bytes, GbPerSec, Micros};

/// A value with its interval and origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant<T> {
    /// The value.
    pub value: T,
    /// Its confidence interval, low and high.
    pub interval: Option<(T, T)>,
    /// Its origin; `None` for a number written without one.
    pub provenance: Option<Provenance>,
}

impl<T> Constant<T> {
    /// Wraps a value without origin.
    pub const fn stated(value: T) -> Self {
        Self {
            value,
            interval: None,
            provenance: None,
        }
    }

    /// Wraps a prior, with the reason for it.
    pub fn assumed(value: T, source: &str) -> Self {
        Self {
            value,
            interval: None,
            provenance: Some(Provenance {
                source: Some(source.to_owned()),
                ..Provenance::new(Evidence::Assumed)
            }),
        }
    }

    /// Returns how well the value is known.
    pub fn evidence(&self) -> Evidence {
        self.provenance
            .as_ref()
            .map_or(Evidence::Stated, |provenance| provenance.evidence)
    }
}

/// Where a constant comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// How well it is known.
    pub evidence: Evidence,
    /// Document, page, table or reasoning.
    pub source: Option<String>,
    /// Ids of the data sets it was fitted on.
    pub datasets: Vec<String>,
    /// First and last message size of those data.
    pub bytes: Option<(Bytes, Bytes)>,
    /// The method of the fit.
    pub method: Option<String>,
    /// Error of the fit in percent.
    pub error_pct: Option<f64>,
}

impl Provenance {
    /// Starts an origin of which only the evidence is known.
    pub const fn new(evidence: Evidence) -> Self {
        Self {
            evidence,
            source: None,
            datasets: Vec::new(),
            bytes: None,
            method: None,
            error_pct: None,
        }
    }
}

/// How well a constant is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Written in the system file without a source.
    Stated,
    /// Read in the named source.
    Read,
    /// Computed from numbers that were read.
    Derived,
    /// Fitted on measurements.
    Fitted,
    /// A prior: believed, not checked.
    Assumed,
}

impl Evidence {
    /// Every kind, in the order of documentation.
    pub const ALL: [Self; 5] = [
        Self::Stated,
        Self::Read,
        Self::Derived,
        Self::Fitted,
        Self::Assumed,
    ];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Read => "read",
            Self::Derived => "derived",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A share of a rate that payload reaches: above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Efficiency(f64);

impl Efficiency {
    /// Everything arrives as payload.
    pub const FULL: Self = Self(1.0);

    /// Wraps a share; `None` outside (0, 1].
    pub fn new(share: f64) -> Option<Self> {
        (share > 0.0 && share <= 1.0).then_some(Self(share))
    }

    /// Returns the share.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Efficiency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// What a constant may hold: how it is read from a text with unit, and written as one that
/// reads back to the same bits.
pub(crate) trait Quantity: Sized + Copy {
    /// What a file must give, for messages.
    const EXPECTED: &'static str;

    fn from_text(text: &str) -> Result<Self, String>;

    /// A quantity without unit may be a bare number.
    fn from_number(number: f64) -> Option<Result<Self, String>>;

    fn to_toml(self) -> String;
}

impl Quantity for GbPerSec {
    const EXPECTED: &'static str = "a rate such as \"450 GB/s\" or \"400 Gb/s\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let rate: Self = text.parse().map_err(|error| format!("{error}"))?;
        if rate.get() > 0.0 {
            Ok(rate)
        } else {
            Err("a rate of zero moves nothing".to_owned())
        }
    }

    fn from_number(_: f64) -> Option<Result<Self, String>> {
        None
    }

    fn to_toml(self) -> String {
        format!("\"{} GB/s\"", self.get())
    }
}

impl Quantity for Micros {
    const EXPECTED: &'static str = "a time such as \"0.6 us\" or \"350 ns\"";

    fn from_text(text: &str) -> Result<Self, String> {
        // `Micros` reads a bare number as microseconds; a file that others read must say so.
        if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("expected a unit, as in `{} us`", text.trim()));
        }
        text.parse().map_err(|error| format!("{error}"))
    }

    fn from_number(_: f64) -> Option<Result<Self, String>> {
        None
    }

    fn to_toml(self) -> String {
        format!("\"{} us\"", self.get())
    }
}

impl Quantity for Efficiency {
    const EXPECTED: &'static str = "a share such as 0.82";

    fn from_text(text: &str) -> Result<Self, String> {
        Err(format!("expected a share such as 0.82, found `{text}`"))
    }

    fn from_number(number: f64) -> Option<Result<Self, String>> {
        Some(Self::new(number).ok_or_else(|| format!("{number} is not above 0 and at most 1")))
    }

    fn to_toml(self) -> String {
        format!("{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_want_units_and_sense() {
        assert_eq!(GbPerSec::from_text("400 Gb/s"), Ok(GbPerSec::new(50.0)));
        assert!(GbPerSec::from_text("0 GB/s").unwrap_err().contains("zero"));
        assert!(GbPerSec::from_text("400G").unwrap_err().contains("bits"));
        assert_eq!(Micros::from_text("350 ns").map(Micros::get), Ok(0.35));
        assert!(Micros::from_text("0.6").unwrap_err().contains("`0.6 us`"));
        assert!(Micros::from_text("-1 us").is_err());
        assert!(Efficiency::from_number(1.5).unwrap().is_err());
        assert!(Efficiency::from_number(f64::NAN).unwrap().is_err());
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_bits() {
        for value in [0.1 + 0.2, 1e-9, 123_456.789, 307.0] {
            let strip = |text: String| text.trim_matches('"').to_owned();
            let rate = GbPerSec::new(value);
            assert_eq!(GbPerSec::from_text(&strip(rate.to_toml())), Ok(rate));
            let time = Micros::new(value);
            assert_eq!(Micros::from_text(&strip(time.to_toml())), Ok(time));
        }
    }
}
