//! What each collective starts from and what it must end with.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::ids::RankId;
use crate::schedule::rank_set::RankSets;

use super::Symbol;

impl Schedule {
    /// Says whether the rank's contribution includes this chunk of the vector.
    pub(super) fn contributes(&self, rank: RankId, chunk: u32) -> bool {
        match self.collective() {
            Collective::AllReduce
            | Collective::ReduceScatter
            | Collective::Reduce
            | Collective::AllToAll
            | Collective::AllToAllV
            | Collective::SendRecv => true,
            Collective::AllGather | Collective::Gather | Collective::HyperCube => {
                self.memory().block_of(chunk) == rank.0
            }
            Collective::Broadcast | Collective::Scatter => rank == self.root(),
        }
    }

    /// Returns what the collective puts in a chunk of the rank's result, if anything.
    pub(super) fn result(&self, rank: RankId, chunk: u32, sets: &RankSets) -> Option<Symbol> {
        let memory = self.memory();
        let from = |rank: u32| Symbol {
            chunk,
            ranks: RankSets::one(rank),
        };
        let sum = Symbol {
            chunk,
            ranks: sets.all(),
        };
        match self.collective() {
            Collective::AllReduce => Some(sum),
            Collective::ReduceScatter => (memory.block_of(chunk) == rank.0).then_some(sum),
            Collective::Reduce => (rank == self.root()).then_some(sum),
            Collective::AllGather | Collective::HyperCube => Some(from(memory.block_of(chunk))),
            Collective::Gather => (rank == self.root()).then(|| from(memory.block_of(chunk))),
            Collective::Broadcast => Some(from(self.root().0)),
            Collective::Scatter => (memory.block_of(chunk) == rank.0).then(|| from(self.root().0)),
            // nccl-tests' pattern: everyone sends to the next rank.
            Collective::SendRecv => Some(from((rank.0 + self.ranks() - 1) % self.ranks())),
            Collective::AllToAll | Collective::AllToAllV => {
                let per_block = memory.chunks() / self.ranks();
                Some(Symbol {
                    chunk: rank.0 * per_block + chunk % per_block,
                    ranks: RankSets::one(memory.block_of(chunk)),
                })
            }
        }
    }
}
