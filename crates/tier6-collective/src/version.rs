//! The version of a collective library: what a log prints, a package is called, a code encodes.

use std::fmt;
use std::str::FromStr;

/// A three-part version of NCCL or RCCL.
///
/// ```
/// use tier6_collective::LibraryVersion;
/// assert_eq!("2.22.3".parse(), Ok(LibraryVersion::new(2, 22, 3)));
/// assert_eq!(LibraryVersion::from_code(23004), Some(LibraryVersion::new(2, 30, 4)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LibraryVersion {
    /// Always 2 so far.
    pub major: u32,
    /// The release.
    pub minor: u32,
    /// The patch.
    pub patch: u32,
}

impl LibraryVersion {
    /// Makes a version of its three parts.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads `NCCL_VERSION_CODE`: 2700 is 2.7.0, 23004 is 2.30.4; `None` when it is neither.
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            2000..=2899 => Some(Self::new(code / 1000, code % 1000 / 100, code % 100)),
            20900..=99999 => Some(Self::new(code / 10_000, code % 10_000 / 100, code % 100)),
            _ => None,
        }
    }
}

impl fmt::Display for LibraryVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}.{}", self.major, self.minor, self.patch))
    }
}

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an NCCL version such as `2.22.3`, found `{0}`")]
pub struct ParseVersionError(String);

impl FromStr for LibraryVersion {
    type Err = ParseVersionError;

    /// Reads `2.22.3` and the spellings of packages and logs: `v2.22.3-1`, `2.22.3+cuda12.6`,
    /// `2.18.6-HEAD:1a2b`. What follows the third number is ignored, unless it is a fourth.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        three_parts(text.trim()).ok_or_else(|| ParseVersionError(text.to_owned()))
    }
}

fn three_parts(text: &str) -> Option<LibraryVersion> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (major, rest) = text.split_once('.')?;
    let (minor, rest) = rest.split_once('.')?;
    let (patch, rest) = rest.split_at(digits(rest));
    let has_fourth = rest.strip_prefix('.').is_some_and(|rest| digits(rest) > 0);
    (!has_fourth).then_some(LibraryVersion::new(
        number(major)?,
        number(minor)?,
        number(patch)?,
    ))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Digits only: `u32` would take a sign, too.
fn number(text: &str) -> Option<u32> {
    (digits(text) == text.len()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_packages_and_logs_read_the_same() {
        for text in [
            "2.22.3",
            "v2.22.3-1",
            "2.22.3+cuda12.6",
            " 2.22.3 ",
            "2.22.3-HEAD:1a2b3c",
            "2.22.3.",
            "2.22.3rc1+cuda12.6",
        ] {
            assert_eq!(text.parse(), Ok(LibraryVersion::new(2, 22, 3)), "{text}");
        }
        for text in [
            "",
            "2",
            "2.22",
            "2.22.",
            "2.22.x",
            "2.22.3.4",
            "2.+22.3",
            "2.22.99999999999",
            "cuda",
        ] {
            assert!(text.parse::<LibraryVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn codes_have_four_digits_until_2_8_and_five_from_2_9() {
        let check = |code, expect| assert_eq!(LibraryVersion::from_code(code), expect, "{code}");
        check(2708, Some(LibraryVersion::new(2, 7, 8)));
        check(20906, Some(LibraryVersion::new(2, 9, 6)));
        check(23004, Some(LibraryVersion::new(2, 30, 4)));
        check(2900, None);
        check(1_000_000, None);
    }

    #[test]
    fn a_version_is_padded_like_a_text() {
        assert_eq!(format!("{:>8}|", LibraryVersion::new(2, 7, 8)), "   2.7.8|");
    }
}
