//! Which collective a table is of, when nothing names it.
//!
//! The preamble of a row tells a lot: which of redop and root it has, and whether `size` is
//! `count` x element size or a multiple of it (then the count is per peer, and the multiple is the
//! number of ranks).

use super::row::Preamble;
use tier6_collective::{Collective, DataType};

/// What the preambles of a table have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signature {
    redop: RedOpColumn,
    /// `Some(true)`: a root rank is given; `Some(false)`: the column says -1.
    root: Option<bool>,
    parts: Parts,
}

/// What stands in the redop column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedOpColumn {
    /// An operator.
    Operator,
    /// The word `none`, or there is no such column.
    None,
    /// Blanks, which builds before 2.13 print for AllToAll only.
    Blank,
}

/// size / (count x element size).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    Unknown,
    Same(u64),
    Differ,
}

impl Signature {
    /// Starts with the first row.
    pub(super) fn of(preamble: &Preamble) -> Self {
        let mut signature = Self {
            redop: match preamble.redop_word {
                Some(true) if preamble.redop.is_some() => RedOpColumn::Operator,
                Some(false) => RedOpColumn::Blank,
                Some(true) | None => RedOpColumn::None,
            },
            root: preamble.root.map(|root| root >= 0),
            parts: Parts::Unknown,
        };
        signature.add(preamble);
        signature
    }

    /// Takes in another row.
    pub(super) fn add(&mut self, preamble: &Preamble) {
        let part = preamble
            .count
            .and_then(|count| count.checked_mul(preamble.datatype.map(DataType::bytes)?));
        let Some(part) = part.filter(|part| *part > 0 && preamble.bytes > 0) else {
            return;
        };
        let parts = preamble.bytes / part;
        let exact = preamble.bytes.is_multiple_of(part);
        self.parts = match self.parts {
            Parts::Unknown if exact => Parts::Same(parts),
            Parts::Same(known) if exact && known == parts => self.parts,
            _ => Parts::Differ,
        };
    }

    /// Returns the collective, when only one prints such rows.
    ///
    /// With a root column (since 2.13 always): redop and no root is AllReduce, or ReduceScatter
    /// when the count is per peer; redop and a root is Reduce; a root alone is Broadcast; neither
    /// is SendRecv when the count is the whole message. AllGather, AllToAll and HyperCube print
    /// the same, as do Gather and Scatter. Without a root column, builds before 2.13: redop is
    /// AllReduce or ReduceScatter; nothing is AllGather (HyperCube printed the same, later and
    /// rarely) or SendRecv; a blank operator is AllToAll.
    pub(super) fn collective(self) -> Option<Collective> {
        let Parts::Same(parts) = self.parts else {
            return None;
        };
        let per_peer = parts > 1;
        match (self.redop, self.root) {
            (RedOpColumn::Operator, Some(false) | None) if per_peer => {
                Some(Collective::ReduceScatter)
            }
            (RedOpColumn::Operator, Some(false) | None) => Some(Collective::AllReduce),
            (RedOpColumn::Operator, Some(true)) if !per_peer => Some(Collective::Reduce),
            (RedOpColumn::Blank, None) if per_peer => Some(Collective::AllToAll),
            (RedOpColumn::None, Some(true)) if !per_peer => Some(Collective::Broadcast),
            (RedOpColumn::None, None) if per_peer => Some(Collective::AllGather),
            (RedOpColumn::None, Some(false) | None) if !per_peer => Some(Collective::SendRecv),
            (RedOpColumn::Operator | RedOpColumn::Blank | RedOpColumn::None, _) => None,
        }
    }

    /// Returns the number of ranks that the per-peer count states: size / (count x element size).
    pub(super) fn ranks_by_count(self) -> Option<u32> {
        match self.parts {
            Parts::Same(parts) if parts > 1 => u32::try_from(parts).ok(),
            Parts::Same(_) | Parts::Unknown | Parts::Differ => None,
        }
    }
}
