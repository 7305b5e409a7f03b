//! An NCCL version number.

use std::fmt;
use std::str::FromStr;

/// A version of NCCL: `2.22.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number.
    pub patch: u16,
}

impl Version {
    /// Puts a version together.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}.{}", self.major, self.minor, self.patch))
    }
}

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an NCCL version such as `2.22.3`, found `{0}`")]
pub struct ParseVersionError(String);

impl FromStr for Version {
    type Err = ParseVersionError;

    /// Reads `2.22.3`, and the spellings of packages and logs: `v2.22.3-1`, `2.22.3+cuda12.6`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseVersionError(text.to_owned());
        let plain = text.trim();
        let plain = plain.strip_prefix('v').unwrap_or(plain);
        let plain = plain.split(['+', '-']).next().unwrap_or(plain);
        let mut numbers = plain.split('.').map(str::parse::<u16>);
        let mut next = || numbers.next().and_then(Result::ok);
        let version = match (next(), next(), next()) {
            (Some(major), Some(minor), Some(patch)) => Self::new(major, minor, patch),
            _ => return Err(error()),
        };
        if numbers.next().is_some() {
            return Err(error());
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_packages_and_logs_read_the_same() {
        for text in ["2.22.3", "v2.22.3-1", "2.22.3+cuda12.6", " 2.22.3 "] {
            assert_eq!(text.parse(), Ok(Version::new(2, 22, 3)), "{text}");
        }
        for text in ["", "2", "2.22", "2.22.x", "2.22.3.4", "cuda"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
