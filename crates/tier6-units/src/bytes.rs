//! A message size: a whole number of bytes.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
///
/// Parsing follows the field's habits: `64M` and `64MiB` are 64 · 2^20 (as nccl-tests reads
/// them), `64MB` is decimal.
///
/// ```
/// use tier6_units::Bytes;
/// assert_eq!("64M".parse::<Bytes>().unwrap(), Bytes::new(64 << 20));
/// assert_eq!("64MB".parse::<Bytes>().unwrap(), Bytes::new(64_000_000));
/// assert_eq!(Bytes::new(512 << 10).to_string(), "512 KiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

const KIB: u64 = 1 << 10;
const UNITS: [(&str, u64); 4] = [
    ("TiB", KIB.pow(4)),
    ("GiB", KIB.pow(3)),
    ("MiB", KIB.pow(2)),
    ("KiB", KIB),
];

impl Bytes {
    /// Wraps a count of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the count as a float, for formulas.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns a short label with at most one decimal, for axes and narrow columns:
    /// `7.1 GiB`. Use `Display` where the exact number matters.
    ///
    /// ```
    /// # use tier6_units::Bytes;
    /// assert_eq!(Bytes::new(7_582_078_293).to_label(), "7.1 GiB");
    /// assert_eq!(Bytes::new(1 << 30).to_label(), "1 GiB");
    /// ```
    pub fn to_label(self) -> String {
        for (name, unit) in UNITS {
            if self.0 >= unit {
                let value = self.0 as f64 / unit as f64;
                let text = format!("{value:.1}");
                let text = text.strip_suffix(".0").unwrap_or(&text);
                return format!("{text} {name}");
            }
        }
        format!("{} B", self.0)
    }
}

impl fmt::Display for Bytes {
    /// Prints the exact size: in the largest binary unit that divides it, else in bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = UNITS
            .iter()
            .find(|(_, unit)| self.0 >= *unit && self.0.is_multiple_of(*unit));
        let text = match exact {
            Some((name, unit)) => format!("{} {name}", self.0 / unit),
            None => format!("{} B", self.0),
        };
        f.pad(&text)
    }
}

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseBytesError {
    /// The text does not start with a number.
    #[error("expected a size such as `64MiB`, found `{0}`")]
    NotANumber(String),
    /// The suffix is not a unit of bytes.
    #[error(
        "unknown unit `{unit}` in `{text}`; use B, K, M, G, T (binary), KiB.. or KB.. (decimal)"
    )]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// Its suffix.
        unit: String,
    },
    /// The value is negative, not whole, or does not fit 64 bits.
    #[error("`{0}` is not a whole number of bytes below 2^64")]
    OutOfRange(String),
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let split = number_length(trimmed);
        let (number, unit) = trimmed.split_at(split);
        let unit = unit.trim();
        let not_a_number = || ParseBytesError::NotANumber(text.to_owned());
        let scale: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => KIB,
            "m" | "mib" => KIB.pow(2),
            "g" | "gib" => KIB.pow(3),
            "t" | "tib" => KIB.pow(4),
            "kb" => 1000,
            "mb" => 1000_u64.pow(2),
            "gb" => 1000_u64.pow(3),
            "tb" => 1000_u64.pow(4),
            _ if number.is_empty() => return Err(not_a_number()),
            _ => {
                return Err(ParseBytesError::UnknownUnit {
                    text: text.to_owned(),
                    unit: unit.to_owned(),
                });
            }
        };
        let out_of_range = || ParseBytesError::OutOfRange(text.to_owned());
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(scale).map(Self).ok_or_else(out_of_range);
        }
        let value: f64 = number.parse().map_err(|_| not_a_number())?;
        let bytes = value * scale as f64;
        // 2^64 itself is the first float that no longer fits.
        if bytes.fract() != 0.0 || !(0.0..18_446_744_073_709_551_616.0).contains(&bytes) {
            return Err(out_of_range());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and in range, checked above"
        )]
        Ok(Self(bytes as u64))
    }
}

/// Length of the leading number, exponent included: `1e9`, `1.5`, `64`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(&byte) = bytes.get(end) {
        let exponent = matches!(byte, b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if byte.is_ascii_digit() || byte == b'.' || exponent || (end == 0 && byte == b'-') {
            end += 1;
        } else {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<u64, &str>) {
        match (text.parse::<Bytes>(), expect) {
            (Ok(bytes), Ok(want)) => assert_eq!(bytes.get(), want, "{text}"),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn sizes_follow_the_habits_of_the_field() {
        check("64MiB", Ok(67_108_864));
        check("64M", Ok(67_108_864));
        check("64m", Ok(67_108_864));
        check("64MB", Ok(64_000_000));
        check("1.5K", Ok(1536));
        check("1e9", Ok(1_000_000_000));
        check(" 8 ", Ok(8));
        check("16 GiB", Ok(17_179_869_184));
        check("18446744073709551615", Ok(u64::MAX));
    }

    #[test]
    fn what_is_not_a_size_is_refused() {
        check("", Err("expected a size"));
        check("big", Err("expected a size"));
        check("-1", Err("whole number"));
        check("1.3", Err("whole number"));
        check("64Mib/s", Err("unknown unit"));
        check("18446744073709551616", Err("whole number"));
        check("1e30", Err("whole number"));
        check("20000000T", Err("whole number"));
        check("1..2", Err("expected a size"));
    }

    proptest::proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(bytes: u64) {
            let text = Bytes::new(bytes).to_string();
            proptest::prop_assert_eq!(text.parse::<Bytes>().unwrap().get(), bytes);
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Bytes>();
        }
    }
}
