//! The checker: executes a schedule on symbols and proves what it computes.
//!
//! A cell holds a symbol: a chunk, and the set of ranks whose contributions were summed into it.
//! Since no rank is ever counted twice the set is the exact multiset. Transfers run in the order
//! of their ids, and every pair of accesses to one cell, one of them a write, must be ordered by
//! dependencies; hence each topological order gives the same result, and one run proves all.
//! Ports order nothing here: a queue says when a transfer leaves, not when it is complete.

mod goal;

use thiserror::Error;

use super::Schedule;
use super::ancestry::Ancestry;
use super::history::{Access, History};
use super::ids::{RankId, Slot, TransferId};
use super::memory::Place;
use super::rank_set::{RankSet, RankSets};
use super::transfer::{Op, Piece};

/// The first thing that is wrong with a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Violation {
    /// Two transfers touch a cell, at least one writes it, and nothing says which is first.
    #[error(
        "transfers {earlier} and {later} race for `{place}` of rank {rank}: {kind}, and no \
         dependency orders them"
    )]
    Race {
        /// The transfer that comes first in the list.
        earlier: TransferId,
        /// The other.
        later: TransferId,
        /// The rank whose memory it is.
        rank: RankId,
        /// The cell.
        place: Place,
        /// What the two do: `one reads, one writes` or `both write`.
        kind: &'static str,
    },
    /// A cell is read, or reduced into, before anything is in it.
    #[error("transfer {transfer} uses `{place}` of rank {rank}, which holds nothing yet")]
    Empty {
        /// The transfer.
        transfer: TransferId,
        /// The rank whose memory it is.
        rank: RankId,
        /// The cell.
        place: Place,
    },
    /// Different chunks are summed.
    #[error("transfer {transfer} adds chunk {added} to chunk {held} in `{place}` of rank {rank}")]
    MixedChunks {
        /// The transfer.
        transfer: TransferId,
        /// The rank whose memory it is.
        rank: RankId,
        /// The cell.
        place: Place,
        /// The chunk that was there.
        held: u32,
        /// The chunk that arrives.
        added: u32,
    },
    /// A contribution is summed twice.
    #[error(
        "transfer {transfer} counts rank {counted} twice in chunk {chunk} in `{place}` of rank \
         {rank}"
    )]
    CountedTwice {
        /// The transfer.
        transfer: TransferId,
        /// The rank whose memory it is.
        rank: RankId,
        /// The cell.
        place: Place,
        /// The chunk.
        chunk: u32,
        /// The rank that is in both summands.
        counted: RankId,
    },
    /// The collective's result is not there at the end.
    #[error("at the end `{place}` of rank {rank} holds {found} instead of {expected}")]
    WrongResult {
        /// The rank.
        rank: RankId,
        /// The cell of the result.
        place: Place,
        /// What the collective puts there.
        expected: String,
        /// What the schedule put there.
        found: String,
    },
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    chunk: u32,
    ranks: RankSet,
}

struct Run<'a> {
    schedule: &'a Schedule,
    slots: usize,
    cells: Vec<Option<Symbol>>,
    sets: RankSets,
    history: History,
    ancestry: Ancestry,
    /// The transfer that wrote what the current one reads.
    source: Option<TransferId>,
    /// What the current transfer moves, and whom its write of a cell must come after.
    moved: Vec<Symbol>,
    earlier: Vec<(TransferId, Access)>,
    /// For each transfer, the last one that is known to come after it.
    followed_by: Vec<Option<TransferId>>,
}

impl Schedule {
    /// Proves that the schedule computes its collective, whatever order its dependencies allow.
    ///
    /// # Errors
    ///
    /// The first violation: a race, a cell used before it holds anything, a sum of different
    /// chunks, a contribution counted twice, or a wrong result.
    pub fn check(&self) -> Result<(), Violation> {
        let mut run = Run::new(self);
        for (id, _) in self.iter() {
            run.transfer(id)?;
        }
        run.compare_result()
    }
}

impl<'a> Run<'a> {
    fn new(schedule: &'a Schedule) -> Self {
        let slots = schedule.memory.slots() as usize;
        let n_cells = slots * schedule.ranks() as usize;
        let mut cells = vec![None; n_cells];
        for rank in 0..schedule.ranks() {
            for chunk in 0..schedule.memory.chunks() {
                if schedule.contributes(RankId(rank), chunk) {
                    let slot = schedule.memory.send(chunk);
                    cells[rank as usize * slots + slot.index()] = Some(Symbol {
                        chunk,
                        ranks: RankSets::one(rank),
                    });
                }
            }
        }
        Self {
            schedule,
            slots,
            cells,
            sets: RankSets::new(schedule.ranks()),
            history: History::new(n_cells),
            ancestry: Ancestry::new(),
            source: None,
            moved: Vec::new(),
            earlier: Vec::new(),
            followed_by: vec![None; schedule.transfers.len()],
        }
    }

    fn transfer(&mut self, id: TransferId) -> Result<(), Violation> {
        let schedule = self.schedule;
        let transfer = &schedule.transfers[id.index()];
        let (readers, writers) = schedule.readers_and_writers(&transfer.route);
        let mut moved = std::mem::take(&mut self.moved);
        for piece in schedule.pieces(id) {
            for slot in slots(piece.from, *piece) {
                let mut sum = None;
                for rank in readers {
                    let read = self.read(id, *rank, slot)?;
                    sum = Some(match sum {
                        None => read,
                        Some(held) => self.add(id, *rank, slot, held, read)?,
                    });
                }
                moved.extend(sum);
            }
        }
        let mut arriving = moved.drain(..);
        for piece in schedule.pieces(id) {
            for slot in slots(piece.to, *piece) {
                let symbol = arriving.next().expect("Invariant: groups are not empty");
                for rank in writers {
                    self.write(id, *rank, slot, symbol, transfer.op)?;
                }
            }
        }
        drop(arriving);
        self.moved = moved;
        self.ancestry
            .push(id, schedule.dependencies(id), self.source.take());
        Ok(())
    }

    fn read(&mut self, id: TransferId, rank: RankId, slot: Slot) -> Result<Symbol, Violation> {
        let cell = self.cell(rank, slot);
        if let Some(write) = self.history.read(cell, id) {
            self.source = self.source.or(Some(write));
            self.ordered(write, id, rank, slot, "one reads, one writes")?;
        }
        self.cells[cell].ok_or_else(|| Violation::Empty {
            transfer: id,
            rank,
            place: self.schedule.memory.place(slot),
        })
    }

    fn write(
        &mut self,
        id: TransferId,
        rank: RankId,
        slot: Slot,
        arriving: Symbol,
        op: Op,
    ) -> Result<(), Violation> {
        let cell = self.cell(rank, slot);
        let mut earlier = std::mem::take(&mut self.earlier);
        self.history.write(cell, id, |before, access| {
            earlier.push((before, access));
        });
        for (before, access) in earlier.drain(..) {
            let kind = match access {
                Access::Read => "one reads, one writes",
                Access::Write => "both write",
            };
            self.ordered(before, id, rank, slot, kind)?;
        }
        self.earlier = earlier;
        self.cells[cell] = Some(match (op, self.cells[cell]) {
            (Op::Copy, _) => arriving,
            (Op::Reduce, Some(held)) => self.add(id, rank, slot, held, arriving)?,
            (Op::Reduce, None) => {
                return Err(Violation::Empty {
                    transfer: id,
                    rank,
                    place: self.schedule.memory.place(slot),
                });
            }
        });
        Ok(())
    }

    /// Requires that `earlier` is complete when `later` starts.
    fn ordered(
        &mut self,
        earlier: TransferId,
        later: TransferId,
        rank: RankId,
        slot: Slot,
        kind: &'static str,
    ) -> Result<(), Violation> {
        if self.followed_by[earlier.index()] == Some(later) {
            return Ok(());
        }
        let dependencies = self.schedule.dependencies(later);
        let rows = &self.schedule.dependencies;
        if !self.ancestry.precedes(earlier, dependencies, rows) {
            return Err(Violation::Race {
                earlier,
                later,
                rank,
                place: self.schedule.memory.place(slot),
                kind,
            });
        }
        self.followed_by[earlier.index()] = Some(later);
        Ok(())
    }

    fn add(
        &mut self,
        transfer: TransferId,
        rank: RankId,
        slot: Slot,
        held: Symbol,
        added: Symbol,
    ) -> Result<Symbol, Violation> {
        let place = self.schedule.memory.place(slot);
        if held.chunk != added.chunk {
            return Err(Violation::MixedChunks {
                transfer,
                rank,
                place,
                held: held.chunk,
                added: added.chunk,
            });
        }
        let union = self.sets.disjoint_union(held.ranks, added.ranks);
        let ranks = union.map_err(|counted| Violation::CountedTwice {
            transfer,
            rank,
            place,
            chunk: held.chunk,
            counted,
        })?;
        Ok(Symbol {
            chunk: held.chunk,
            ranks,
        })
    }

    fn compare_result(&self) -> Result<(), Violation> {
        for rank in (0..self.schedule.ranks()).map(RankId) {
            for chunk in 0..self.schedule.memory.chunks() {
                let Some(expected) = self.schedule.result(rank, chunk, &self.sets) else {
                    continue;
                };
                let slot = self.schedule.memory.recv(chunk);
                let found = self.cells[self.cell(rank, slot)];
                if found != Some(expected) {
                    return Err(Violation::WrongResult {
                        rank,
                        place: self.schedule.memory.place(slot),
                        expected: self.describe(expected),
                        found: found
                            .map_or_else(|| "nothing".to_owned(), |found| self.describe(found)),
                    });
                }
            }
        }
        Ok(())
    }

    fn describe(&self, symbol: Symbol) -> String {
        let ranks = self.sets.describe(symbol.ranks);
        format!("chunk {} of {ranks}", symbol.chunk)
    }

    const fn cell(&self, rank: RankId, slot: Slot) -> usize {
        rank.index() * self.slots + slot.index()
    }
}

fn slots(first: Slot, piece: Piece) -> impl Iterator<Item = Slot> {
    (0..piece.count).map(move |i| first.plus(i))
}
