//! Transfers that never begin, whatever the network does: those whose waits, or whose places in
//! the queues of ports, go round in a circle, and those behind them. Nothing of a run points at
//! one that has no queue.

use tier6_collective::{RankId, TransferId};

use super::Chips;
use crate::program::Dependency;

impl Chips<'_> {
    /// Says which transfers of a job never begin.
    pub(super) fn never_begin(&self, job: u32) -> Vec<bool> {
        let program = self.program(job);
        let mut waits: Vec<u32> = (0..program.transfers())
            .map(|id| {
                let needs = program.needs(TransferId(id));
                needs.whole + needs.by_slice
            })
            .collect();
        for rank in (0..program.ranks()).map(RankId) {
            for port in 0..program.ports() {
                let mut at = program.first(rank, port);
                while let Some(next) = at.and_then(|id| program.next(id)) {
                    waits[next.index()] += 1;
                    at = Some(next);
                }
            }
        }
        let ids = (0..program.transfers()).map(TransferId);
        let mut begun: Vec<TransferId> = ids.filter(|id| waits[id.index()] == 0).collect();
        let mut never = vec![true; waits.len()];
        let mut told: Vec<Dependency> = Vec::new();
        while let Some(id) = begun.pop() {
            never[id.index()] = false;
            told.clear();
            program.dependents(id, &mut told);
            let later = told.iter().map(|dependent| dependent.transfer);
            for later in later.chain(program.next(id)) {
                waits[later.index()] -= 1;
                if waits[later.index()] == 0 {
                    begun.push(later);
                }
            }
        }
        never
    }
}
