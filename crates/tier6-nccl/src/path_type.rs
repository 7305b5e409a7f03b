//! How far apart two devices are: NCCL's path types.
//!
//! Logs print names; graph files and the oracle's communicators hold numbers whose meaning
//! changed twice (2.26 put C2C in, 2.27 P2C, 2.27.7 moved it), so a number is only ever read
//! together with its release.

use std::fmt;
use std::str::FromStr;

/// The kind of the worst hop between two devices, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are NCCL's own terms")]
pub enum PathType {
    Loc,
    Nvl,
    Nvb,
    C2c,
    Pix,
    Pxb,
    P2c,
    Pxn,
    Phb,
    Sys,
    Net,
    Dis,
}

use PathType::{C2c, Dis, Loc, Net, Nvb, Nvl, P2c, Phb, Pix, Pxb, Pxn, Sys};

impl PathType {
    /// Every path type, nearest first, in the order of 2.27.7 and later.
    pub const ALL: [Self; 12] = [Loc, Nvl, Nvb, C2c, Pix, Pxb, P2c, Pxn, Phb, Sys, Net, Dis];

    /// Returns NCCL's name, as its logs print it.
    pub const fn name(self) -> &'static str {
        match self {
            Loc => "LOC",
            Nvl => "NVL",
            Nvb => "NVB",
            C2c => "C2C",
            Pix => "PIX",
            Pxb => "PXB",
            P2c => "P2C",
            Pxn => "PXN",
            Phb => "PHB",
            Sys => "SYS",
            Net => "NET",
            Dis => "DIS",
        }
    }
}

impl fmt::Display for PathType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PathType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|path| path.name().eq_ignore_ascii_case(text))
            .ok_or(())
    }
}

/// The numbers of the path types in one release, and thereby which is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathNumbers(&'static [PathType]);

impl PathNumbers {
    pub(crate) const UP_TO_2_25: Self = Self(&[Loc, Nvl, Nvb, Pix, Pxb, Pxn, Phb, Sys, Net, Dis]);
    pub(crate) const OF_2_26: Self = Self(&[Loc, Nvl, Nvb, C2c, Pix, Pxb, Pxn, Phb, Sys, Net, Dis]);
    pub(crate) const OF_2_27_3: Self =
        Self(&[Loc, Nvl, Nvb, C2c, Pix, Pxb, Pxn, P2c, Phb, Sys, Net, Dis]);
    pub(crate) const FROM_2_27_7: Self = Self(&PathType::ALL);

    /// Returns the type that `number` stands for.
    pub(crate) fn path(self, number: u32) -> Option<PathType> {
        self.0.get(number as usize).copied()
    }

    /// Says whether `path` is at most as far as `limit`.
    ///
    /// A type that the release does not know (a graph carried to an older release) counts as
    /// the next farther one.
    pub(crate) fn is_within(self, path: PathType, limit: PathType) -> bool {
        self.rank(path) <= self.rank(limit)
    }

    fn rank(self, path: PathType) -> usize {
        self.0
            .iter()
            .position(|&known| known == path)
            .or_else(|| self.0.iter().position(|&known| known > path))
            .unwrap_or(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_means_another_path_in_another_release() {
        assert_eq!(PathNumbers::UP_TO_2_25.path(4), Some(Pxb));
        assert_eq!(PathNumbers::OF_2_26.path(4), Some(Pix));
        assert_eq!(PathNumbers::OF_2_27_3.path(6), Some(Pxn));
        assert_eq!(PathNumbers::FROM_2_27_7.path(6), Some(P2c));
        assert_eq!(PathNumbers::UP_TO_2_25.path(10), None);
    }

    #[test]
    fn p2c_moved_below_pxn() {
        assert!(!PathNumbers::OF_2_27_3.is_within(P2c, Pxn));
        assert!(PathNumbers::FROM_2_27_7.is_within(P2c, Pxn));
        assert!(!PathNumbers::UP_TO_2_25.is_within(P2c, Pxb));
    }

    #[test]
    fn names_read_back() {
        for path in PathType::ALL {
            assert_eq!(path.name().parse(), Ok(path));
        }
        assert_eq!("XYZ".parse::<PathType>(), Err(()));
    }
}
