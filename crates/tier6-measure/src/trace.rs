//! What NCCL logs about itself: the path chosen per size, its version, its communicators.

use tier6_collective::{Collective, LibraryVersion, Path};
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
