//! What NCCL logs about itself: the path chosen per size, its version.

use std::fmt;
use std::str::FromStr;
use tier6_collective::{Collective, Path};
use tier6_units::{Bytes, Micros};

/// Facts from NCCL log lines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// The version line.
    pub version: Option<LibraryVersion>,
    /// `N Bytes -> Algo a proto p ...`, one entry per distinct collective and size, in the order
    /// of first appearance.
    pub selections: Vec<Selection>,
    /// Number of log lines seen, whatever they say.
    pub info_lines: u64,
    /// Collective channels, from `N coll channels` or `Channel 00/08` lines.
    pub channels: Option<u32>,
    /// Ranks of the communicators, from their init lines, when all agree.
    pub ranks: Option<u32>,
    /// Nodes of the communicators (2.19 and later), when all agree.
    pub nodes: Option<u32>,
}

/// The path that NCCL chose for one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The collective, when the line names it (2.23 and later).
    pub collective: Option<Collective>,
    /// Size as the tuner sees it.
    pub bytes: Bytes,
    /// Algorithm and protocol.
    pub path: Path,
    /// NCCL's predicted time, when printed (until 2.23).
    pub time: Option<Micros>,
    /// First and last channel, when printed (2.24 and later).
    pub channels: Option<(u32, u32)>,
    /// Line of first appearance, from 1.
    pub line: u64,
    /// How often the same choice was logged.
    pub repeats: u64,
}

impl Selection {
    /// Returns the message size in nccl-tests' meaning; `None` when that needs the number of
    /// ranks and it is not given.
    ///
    /// Since 2.24 the line of an AllGather or a ReduceScatter holds one rank's part, where
    /// nccl-tests prints the whole vector; those versions print no time, which tells them apart
    /// (source: NCCL `src/enqueue.cc`, 2.23 and 2.24).
    ///
    /// ```
    /// use tier6_collective::{Algorithm, Collective, Path, Protocol};
    /// use tier6_measure::Selection;
    /// use tier6_units::{Bytes, Micros};
    /// let part = Selection {
    ///     collective: Some(Collective::AllGather),
    ///     bytes: Bytes::new(1024),
    ///     path: Path { algorithm: Algorithm::Ring, protocol: Protocol::Ll },
    ///     time: None,
    ///     channels: Some((0, 1)),
    ///     line: 1,
    ///     repeats: 1,
    /// };
    /// assert_eq!(part.message_bytes(Some(8)), Some(Bytes::new(8192)));
    /// assert_eq!(part.message_bytes(None), None);
    /// let whole = Selection { time: Some(Micros::new(9.5)), ..part };
    /// assert_eq!(whole.message_bytes(None), Some(Bytes::new(1024)));
    /// ```
    pub fn message_bytes(&self, ranks: Option<u32>) -> Option<Bytes> {
        let is_part = self.time.is_none()
            && matches!(
                self.collective,
                Some(Collective::AllGather | Collective::ReduceScatter)
            );
        if !is_part {
            return Some(self.bytes);
        }
        let whole = self.bytes.get().checked_mul(u64::from(ranks?))?;
        Some(Bytes::new(whole))
    }
}

/// A three-part version of NCCL or RCCL.
///
/// ```
/// use tier6_measure::LibraryVersion;
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
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for LibraryVersion {
    type Err = ();

    /// Reads `2.22.3`, ignoring what follows the third number (`2.22.3+cuda12.6`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next().ok_or(());
        let major = next()?.parse().map_err(|_| ())?;
        let minor = next()?.parse().map_err(|_| ())?;
        let rest = next()?;
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let patch = rest[..digits].parse().map_err(|_| ())?;
        Ok(Self::new(major, minor, patch))
    }
}
