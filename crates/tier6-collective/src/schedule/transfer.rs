//! One transfer: from whom to whom, what, and what happens on arrival.

use super::ids::{GroupId, PortId, RankId, Slot, TransferId};

/// One message of a schedule.
///
/// What it moves are its [pieces](crate::Schedule::pieces): a strided message is one transfer
/// with several pieces, since it costs one start-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Payload: what one destination receives. It may be 0, when the message has fewer bytes
    /// than chunks.
    pub bytes: u64,
    /// From whom to whom.
    pub route: Route,
    /// What happens on arrival.
    pub op: Op,
    /// The queue that it leaves through; `None` when it waits for its dependencies only.
    pub port: Option<PortId>,
}

/// From whom to whom a transfer goes.
///
/// The last three are done by a switch; their pieces name the same slots at each member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// One rank to another; a local copy or reduction when both are the same.
    Send {
        /// The rank whose memory is read.
        src: RankId,
        /// The rank whose memory is written.
        dst: RankId,
    },
    /// One rank stores once, the switch writes at every member (NVLS store).
    Multicast {
        /// The rank whose memory is read.
        src: RankId,
        /// The ranks whose memory is written.
        group: GroupId,
    },
    /// The switch reads at every member and hands the sum to one rank (NVLS load-reduce).
    LoadReduce {
        /// The ranks whose memory is read.
        group: GroupId,
        /// The rank that gets the sum.
        dst: RankId,
    },
    /// Every member sends up, the switches sum, every member gets the sum (SHARP).
    Aggregate {
        /// The ranks that give and get.
        group: GroupId,
    },
}

/// What happens to the destination on arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// The arriving value replaces what was there.
    Copy,
    /// The arriving value is added to what was there: `bytes` of reduction work.
    Reduce,
}

/// A run of slots: `count` slots from `from` on are read at the source, and as many from `to` on
/// are written at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The first slot that is read.
    pub from: Slot,
    /// The first slot that is written.
    pub to: Slot,
    /// How many slots; at least 1.
    pub count: u32,
}

/// The grain in which a rank forwards what it receives (FACTS B.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grain {
    /// A transfer starts when the transfers that it depends on are complete.
    Message,
    /// A transfer that [forwards](crate::Schedule::forwards) another starts slice by slice,
    /// each as soon as the same slice of the other has arrived.
    Slices {
        /// Size of a slice in bytes.
        bytes: u64,
    },
}

/// How sender and receiver agree on a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Handshake {
    /// The sender starts at once.
    Eager,
    /// The sender waits for the receiver's credit, and is done when the receiver has answered.
    Rendezvous,
}

/// A transfer without its payload, as builders write it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    pub(crate) route: Route,
    pub(crate) op: Op,
    pub(crate) port: Option<PortId>,
}

impl Transfer {
    /// Says whether the transfer stays on one rank and crosses no link.
    pub fn is_local(&self) -> bool {
        matches!(self.route, Route::Send { src, dst } if src == dst)
    }

    /// Returns the rank that issues the transfer: the source, the reader of a load-reduce, and
    /// nobody in particular for an aggregation.
    pub const fn issuer(&self) -> Option<RankId> {
        match self.route {
            Route::Send { src, .. } | Route::Multicast { src, .. } => Some(src),
            Route::LoadReduce { dst, .. } => Some(dst),
            Route::Aggregate { .. } => None,
        }
    }

    /// Returns the rank and the port in whose queue the transfer waits; `None` when it waits for
    /// its dependencies only, since it has no port, or no issuer, or leaves no rank.
    pub fn queue(&self) -> Option<(RankId, PortId)> {
        self.issuer().zip(self.port).filter(|_| !self.is_local())
    }
}

impl Piece {
    /// Returns the piece that moves `count` slots to the same place at the destination.
    pub const fn same(slot: Slot, count: u32) -> Self {
        Self {
            from: slot,
            to: slot,
            count,
        }
    }

    /// Returns the fewest pieces that move the slots to the same place at the destination.
    pub(crate) fn runs(slots: impl IntoIterator<Item = Slot>) -> Vec<Self> {
        let mut pieces: Vec<Self> = Vec::new();
        for slot in slots {
            match pieces.last_mut() {
                Some(last) if last.from.plus(last.count) == slot => last.count += 1,
                _ => pieces.push(Self::same(slot, 1)),
            }
        }
        pieces
    }
}

impl Leg {
    pub(crate) const fn send(src: u32, dst: u32, op: Op) -> Self {
        Self::new(
            Route::Send {
                src: RankId(src),
                dst: RankId(dst),
            },
            op,
        )
    }

    /// Returns a copy or reduction inside one rank's memory.
    pub(crate) const fn local(rank: u32, op: Op) -> Self {
        Self::send(rank, rank, op)
    }

    pub(crate) const fn new(route: Route, op: Op) -> Self {
        Self {
            route,
            op,
            port: None,
        }
    }

    pub(crate) const fn through(self, port: PortId) -> Self {
        Self {
            port: Some(port),
            ..self
        }
    }
}

/// The ids of one step's transfers, by position of the sender.
pub(crate) type StepIds = Vec<TransferId>;
