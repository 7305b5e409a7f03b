//! What transfers that have not started yet have seen happen.
//!
//! Only transfers with something but not everything behind them have an entry, so the memory is
//! that of a window that moves through the program.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use tier6_collective::TransferId;

/// What is counted of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Transfers complete that it follows as a whole.
    Whole,
    /// Slices complete that its slice passes on.
    Slice(u32),
    /// The receiver's credit.
    Credit,
    /// What the receiver's own instruction waits for.
    Receive,
    /// Its own slices that are complete.
    Complete,
    /// Its own slices whose response has come.
    Answered,
}

/// How much of a transfer something is true of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One slice, and others are to come.
    Slice,
    /// All of it, now.
    Whole,
}

/// Counters by transfer and part.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    counts: HashMap<u64, u32, BuildHasherDefault<Spread>>,
}

/// One multiplication: keys are distinct small integers, and nobody chooses them with malice.
#[derive(Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("Invariant: keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        // The table takes its place from the low bits and its tag from the high ones.
        let product = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
        #[expect(clippy::cast_possible_truncation, reason = "both halves are folded")]
        let folded = product as u64 ^ (product >> 64) as u64;
        self.0 = folded;
    }
}

impl Part {
    /// Slices are below 2^24, so the others have room above.
    const fn code(self) -> u64 {
        match self {
            Self::Slice(slice) => slice as u64,
            Self::Whole => 1 << 24,
            Self::Credit => 2 << 24,
            Self::Receive => 3 << 24,
            Self::Complete => 4 << 24,
            Self::Answered => 5 << 24,
        }
    }
}

const fn key(transfer: TransferId, part: Part) -> u64 {
    (transfer.0 as u64) << 32 | part.code()
}

impl Pending {
    /// Counts one more and returns how many there are.
    pub(crate) fn add(&mut self, transfer: TransferId, part: Part) -> u32 {
        let count = self.counts.entry(key(transfer, part)).or_insert(0);
        *count += 1;
        *count
    }

    /// Counts one more of so many slices, and says whether it was the last of them.
    pub(crate) fn add_slice(&mut self, transfer: TransferId, part: Part, slices: u32) -> Extent {
        if slices > 1 {
            if self.add(transfer, part) < slices {
                return Extent::Slice;
            }
            self.forget(transfer, part);
        }
        Extent::Whole
    }

    pub(crate) fn count(&self, transfer: TransferId, part: Part) -> u32 {
        if self.counts.is_empty() {
            return 0;
        }
        self.counts.get(&key(transfer, part)).copied().unwrap_or(0)
    }

    pub(crate) fn forget(&mut self, transfer: TransferId, part: Part) {
        if self.counts.is_empty() {
            return;
        }
        self.counts.remove(&key(transfer, part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slice_makes_a_transfer_whole() {
        let mut pending = Pending::default();
        let transfer = TransferId(7);
        for _ in 0..2 {
            let extents = [0; 3].map(|_| pending.add_slice(transfer, Part::Complete, 3));
            assert_eq!(extents, [Extent::Slice, Extent::Slice, Extent::Whole]);
        }
        assert_eq!(
            pending.add_slice(transfer, Part::Answered, 1),
            Extent::Whole
        );
        assert_eq!(pending.count(transfer, Part::Answered), 0);
    }

    #[test]
    fn parts_are_counted_apart() {
        let mut pending = Pending::default();
        let transfer = TransferId(7);
        assert_eq!(pending.add(transfer, Part::Whole), 1);
        assert_eq!(pending.add(transfer, Part::Whole), 2);
        assert_eq!(pending.add(transfer, Part::Slice((1 << 24) - 1)), 1);
        assert_eq!(pending.count(transfer, Part::Slice(0)), 0);
        assert_eq!(pending.count(TransferId(8), Part::Whole), 0);
        pending.forget(transfer, Part::Whole);
        assert_eq!(pending.count(transfer, Part::Whole), 0);
        assert_eq!(pending.count(transfer, Part::Slice((1 << 24) - 1)), 1);
    }
}
