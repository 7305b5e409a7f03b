//! The ids of a schedule: newtypes over small integers that index vectors.

use std::fmt;

/// A participant of the collective, from 0 to N-1. A rank is not a chip: placing ranks on chips
/// is the topology's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId(pub u32);

/// A transfer's index in [`Schedule::transfers`](crate::Schedule::transfers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u32);

/// A set of ranks that a switch serves, an index in
/// [`Schedule::groups`](crate::Schedule::groups).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// A cell of a rank's memory; see [`Memory`](crate::Memory) for the numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// A queue of a rank. Transfers that leave one rank through one port do so in the order of
/// their ids, one after another; different ports work side by side.
///
/// Builders of rings and tori give the port a direction: port 2d goes up in dimension d, port
/// 2d + 1 down; a ring is dimension 0. Elsewhere ports only say what is queued behind what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u8);

impl RankId {
    /// Returns the rank as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl TransferId {
    /// Returns the transfer's index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl GroupId {
    /// Returns the group's index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    /// How many ports a rank can have.
    pub(crate) const COUNT: usize = 1 << u8::BITS;

    /// Returns the port as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Slot {
    /// Returns the slot as an index in its rank's memory.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the slot `count` further on.
    pub(crate) const fn plus(self, count: u32) -> Self {
        Self(self.0 + count)
    }
}

impl fmt::Display for RankId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TransferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
