//! A schedule while it is being built.
//!
//! Builders list transfers in an order in which they would give the right result one by one. The
//! draft finds the dependencies: every transfer waits for the last write of what it reads, and
//! for the reads and the write of what it overwrites; what follows from another dependency is
//! left out. Builders whose dependencies are known in closed form may switch that off, and any
//! builder can add waits of its own (pairwise exchange finishes a step before the next).

use crate::{Algorithm, Collective};

use super::Schedule;
use super::ancestry::Ancestry;
use super::history::History;
use super::ids::{GroupId, RankId, TransferId};
use super::memory::Memory;
use super::rows::Rows;
use super::transfer::{Grain, Handshake, Leg, Piece, Transfer};

/// What is known of a schedule before its first transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) collective: Collective,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) root: RankId,
    pub(crate) grain: Grain,
    pub(crate) handshake: Handshake,
}

pub(crate) struct Draft {
    schedule: Schedule,
    tracked: Option<Tracker>,
    waits: Vec<TransferId>,
}

struct Tracker {
    history: History,
    ancestry: Ancestry,
}

impl Draft {
    /// Returns a draft that derives dependencies.
    pub(crate) fn tracked(title: Title, memory: Memory) -> Self {
        let cells = memory.slots() as usize * memory.ranks() as usize;
        let tracker = Tracker {
            history: History::new(cells),
            ancestry: Ancestry::new(),
        };
        Self {
            tracked: Some(tracker),
            ..Self::plain(title, memory, 0)
        }
    }

    /// Returns a draft that takes dependencies as given, with room for `transfers` transfers.
    pub(crate) fn plain(title: Title, memory: Memory, transfers: usize) -> Self {
        Self {
            schedule: Schedule {
                title,
                memory,
                groups: Vec::new(),
                transfers: Vec::with_capacity(transfers),
                pieces: Rows::with_capacity(transfers, transfers),
                dependencies: Rows::with_capacity(transfers, transfers),
            },
            tracked: None,
            waits: Vec::new(),
        }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.schedule.memory
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn add_group(&mut self, members: Vec<RankId>) -> GroupId {
        let id = u32::try_from(self.schedule.groups.len()).expect("Invariant: groups fit u32");
        self.schedule.groups.push(members);
        GroupId(id)
    }

    pub(crate) fn push(&mut self, leg: Leg, pieces: &[Piece]) -> TransferId {
        self.push_after(leg, pieces, &[])
    }

    /// Adds a transfer that also waits for the transfers in `after`.
    pub(crate) fn push_after(
        &mut self,
        leg: Leg,
        pieces: &[Piece],
        after: &[TransferId],
    ) -> TransferId {
        let id = u32::try_from(self.schedule.transfers.len());
        let id = TransferId(id.expect("Invariant: transfers fit u32"));
        let Leg { route, op, port } = leg;
        let bytes = pieces
            .iter()
            .map(|piece| self.schedule.piece_bytes(route, *piece))
            .sum();
        self.schedule.transfers.push(Transfer {
            bytes,
            route,
            op,
            port,
        });
        self.schedule.pieces.push(pieces);
        if let Some(tracker) = &mut self.tracked {
            self.waits.clear();
            self.waits.extend_from_slice(after);
            tracker.derive(&self.schedule, id, &mut self.waits);
            self.schedule.dependencies.push(&self.waits);
        } else {
            self.schedule.dependencies.push(after);
        }
        id
    }

    pub(crate) fn finish(self) -> Schedule {
        self.schedule
    }
}

impl Tracker {
    /// Adds what transfer `id` must wait for, and keeps what does not follow from the rest.
    fn derive(&mut self, schedule: &Schedule, id: TransferId, waits: &mut Vec<TransferId>) {
        let (readers, writers) =
            schedule.readers_and_writers(&schedule.transfers[id.index()].route);
        let slots = schedule.memory.slots() as usize;
        let mut source = None;
        for piece in schedule.pieces(id) {
            for rank in readers {
                for slot in piece.from.0..piece.from.0 + piece.count {
                    let cell = rank.index() * slots + slot as usize;
                    let write = self.history.read(cell, id);
                    source = source.or(write);
                    waits.extend(write);
                }
            }
        }
        for piece in schedule.pieces(id) {
            for rank in writers {
                for slot in piece.to.0..piece.to.0 + piece.count {
                    let cell = rank.index() * slots + slot as usize;
                    self.history.write(cell, id, |before, _| waits.push(before));
                }
            }
        }
        waits.sort_unstable();
        waits.dedup();
        self.drop_implied(schedule, waits);
        self.ancestry.push(id, waits, source);
    }

    fn drop_implied(&mut self, schedule: &Schedule, waits: &mut Vec<TransferId>) {
        let mut kept = waits.len();
        while kept > 0 {
            // From the newest down: only a newer transfer can come after this one.
            kept -= 1;
            let candidate = waits[kept];
            if self
                .ancestry
                .precedes(candidate, &waits[kept + 1..], &schedule.dependencies)
            {
                waits.remove(kept);
            }
        }
    }
}
