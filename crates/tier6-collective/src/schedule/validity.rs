//! What a transfer must satisfy to be in a schedule at all; what readers of files check.

use thiserror::Error;

use super::Schedule;
use super::ids::{GroupId, RankId, Slot, TransferId};
use super::memory::{Buffer, Place};
use super::transfer::{Leg, Piece, Route};

/// Why a transfer cannot be part of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Flaw {
    /// A rank that does not exist.
    #[error("rank {rank} does not exist; the ranks are 0 to {}", ranks - 1)]
    Rank {
        /// The rank.
        rank: RankId,
        /// N.
        ranks: u32,
    },
    /// A group that does not exist.
    #[error("group {group} does not exist; there are {groups}")]
    Group {
        /// The group.
        group: GroupId,
        /// How many there are.
        groups: usize,
    },
    /// A transfer without a piece, or a piece without a slot.
    #[error("the transfer moves nothing")]
    Nothing,
    /// A run of slots that leaves its buffer.
    #[error("`{place}` and the {} slots after it are not all in one buffer", count - 1)]
    Slots {
        /// The first slot.
        place: Place,
        /// How many.
        count: u32,
    },
    /// Writing the vector that is only read.
    #[error("`{place}` is written, but the send vector is only read")]
    WritesSend {
        /// The slot.
        place: Place,
    },
    /// Source and destination differ in size.
    #[error("`{from}` has {from_bytes} bytes and does not fit `{to}` of {to_bytes}")]
    Size {
        /// The slot read.
        from: Place,
        /// Its size.
        from_bytes: u64,
        /// The slot written.
        to: Place,
        /// Its size.
        to_bytes: u64,
    },
    /// A dependency that is not an earlier transfer.
    #[error("it waits for transfer {on}, which does not come before it")]
    Order {
        /// The dependency.
        on: TransferId,
    },
    /// A dependency that is no transfer at all.
    #[error("it waits for transfer {on}, which does not exist; there are {transfers}")]
    Absent {
        /// The dependency.
        on: TransferId,
        /// How many transfers there are.
        transfers: usize,
    },
}

impl Schedule {
    /// Returns what is wrong with the next transfer, if anything is.
    pub(super) fn flaw(
        &self,
        leg: &Leg,
        pieces: &[Piece],
        after: &[TransferId],
    ) -> Result<(), Flaw> {
        self.route_exists(leg.route)?;
        if pieces.is_empty() || pieces.iter().any(|piece| piece.count == 0) {
            return Err(Flaw::Nothing);
        }
        let (readers, writers) = self.readers_and_writers(&leg.route);
        for piece in pieces {
            self.run_exists(piece.from, piece.count)?;
            self.run_exists(piece.to, piece.count)?;
            let to = self.memory.place(piece.to);
            if to.buffer == Buffer::Send {
                return Err(Flaw::WritesSend { place: to });
            }
            for i in 0..piece.count {
                for (src, dst) in readers
                    .iter()
                    .flat_map(|r| writers.iter().map(move |w| (r, w)))
                {
                    self.sizes_fit(*src, piece.from.plus(i), *dst, piece.to.plus(i))?;
                }
            }
        }
        match after.iter().find(|id| id.index() >= self.transfers.len()) {
            Some(on) => Err(Flaw::Order { on: *on }),
            None => Ok(()),
        }
    }

    fn route_exists(&self, route: Route) -> Result<(), Flaw> {
        let ranks = self.ranks();
        let rank = |rank: RankId| {
            let exists = rank.0 < ranks;
            exists.then_some(()).ok_or(Flaw::Rank { rank, ranks })
        };
        let groups = self.groups.len();
        let group = |group: GroupId| {
            let exists = group.index() < groups;
            exists.then_some(()).ok_or(Flaw::Group { group, groups })
        };
        match route {
            Route::Send { src, dst } => rank(src).and_then(|()| rank(dst)),
            Route::Multicast { src, group: to } => rank(src).and_then(|()| group(to)),
            Route::LoadReduce { group: from, dst } => group(from).and_then(|()| rank(dst)),
            Route::Aggregate { group: both } => group(both),
        }
    }

    fn run_exists(&self, first: Slot, count: u32) -> Result<(), Flaw> {
        let place = self.memory.place(first);
        let last = place.index.checked_add(count - 1).and_then(|index| {
            let place = Place { index, ..place };
            self.memory.slot(place)
        });
        match last {
            Some(_) => Ok(()),
            None => Err(Flaw::Slots { place, count }),
        }
    }

    /// Vector slots hold what they are for, scratch whatever is no larger.
    fn sizes_fit(&self, src: RankId, from: Slot, dst: RankId, to: Slot) -> Result<(), Flaw> {
        let (from_bytes, to_bytes) = (
            self.memory.slot_bytes(src, from),
            self.memory.slot_bytes(dst, to),
        );
        let (from, to) = (self.memory.place(from), self.memory.place(to));
        let fits = match (from.buffer, to.buffer) {
            // What scratch holds may be less than its capacity; a vector's slot is filled.
            (Buffer::Scratch, Buffer::Recv | Buffer::Send) => from_bytes >= to_bytes,
            (_, Buffer::Scratch) => from_bytes <= to_bytes,
            (Buffer::Recv | Buffer::Send, Buffer::Recv | Buffer::Send) => from_bytes == to_bytes,
        };
        if fits {
            return Ok(());
        }
        Err(Flaw::Size {
            from,
            from_bytes,
            to,
            to_bytes,
        })
    }
}
