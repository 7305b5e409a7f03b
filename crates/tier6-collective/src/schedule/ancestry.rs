//! Whether one transfer comes before another.
//!
//! Transfers are cut into chains, each a path along dependencies; on one chain the answer is a
//! comparison. Across chains the search walks back from the later one, stops at ids below the
//! earlier one (ids are in topological order), and enters a chain only further down than before.

use super::ids::TransferId;
use super::rows::Rows;

/// The order of transfers that dependencies give.
pub(crate) struct Ancestry {
    chain: Vec<u32>,
    position: Vec<u32>,
    chains: Vec<Chain>,
    epoch: u32,
    stack: Vec<TransferId>,
}

struct Chain {
    last: TransferId,
    /// In which search the chain was entered, and how far down.
    epoch: u32,
    entered: u32,
}

impl Ancestry {
    pub(crate) fn new() -> Self {
        Self {
            chain: Vec::new(),
            position: Vec::new(),
            chains: Vec::new(),
            epoch: 0,
            stack: Vec::new(),
        }
    }

    /// Adds the next transfer with its dependencies.
    pub(crate) fn push(&mut self, id: TransferId, dependencies: &[TransferId]) {
        let extended = dependencies
            .iter()
            .find(|before| self.chains[self.chain[before.index()] as usize].last == **before);
        if let Some(before) = extended {
            let chain = self.chain[before.index()];
            self.chains[chain as usize].last = id;
            self.chain.push(chain);
            self.position.push(self.position[before.index()] + 1);
        } else {
            let chain = u32::try_from(self.chains.len()).expect("Invariant: ids fit u32");
            self.chains.push(Chain {
                last: id,
                epoch: 0,
                entered: 0,
            });
            self.chain.push(chain);
            self.position.push(0);
        }
    }

    /// Says whether `before` must be complete when a transfer with these dependencies starts.
    pub(crate) fn precedes(
        &mut self,
        before: TransferId,
        dependencies: &[TransferId],
        rows: &Rows<TransferId>,
    ) -> bool {
        self.epoch += 1;
        let chain_of_before = self.chain[before.index()];
        let position_of_before = self.position[before.index()];
        self.stack.clear();
        self.stack.extend_from_slice(dependencies);
        while let Some(id) = self.stack.pop() {
            let (chain, position) = (self.chain[id.index()], self.position[id.index()]);
            if chain == chain_of_before && position >= position_of_before {
                return true;
            }
            if id <= before {
                continue;
            }
            let chain = &mut self.chains[chain as usize];
            if chain.epoch == self.epoch && chain.entered >= position {
                continue;
            }
            chain.epoch = self.epoch;
            chain.entered = position;
            self.stack.extend_from_slice(rows.row(id.index()));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_follows_dependencies_and_nothing_else() {
        // 0 -> 1 -> 3, 0 -> 2, {2, 3} -> 4, 5 alone.
        let lists: [&[u32]; 6] = [&[], &[0], &[0], &[1], &[2, 3], &[]];
        let mut rows = Rows::with_capacity(6, 6);
        let mut ancestry = Ancestry::new();
        for (id, list) in (0..).zip(lists) {
            let list: Vec<_> = list.iter().copied().map(TransferId).collect();
            ancestry.push(TransferId(id), &list);
            rows.push(&list);
        }
        let mut order = |a: u32, b: usize| {
            let dependencies = rows.row(b).to_vec();
            ancestry.precedes(TransferId(a), &dependencies, &rows)
        };
        for (before, after) in [(0, 1), (0, 3), (0, 4), (1, 4), (2, 4), (3, 4)] {
            assert!(order(before, after), "{before} before {after}");
        }
        for (before, after) in [(2, 3), (1, 2), (0, 5), (4, 5)] {
            assert!(!order(before, after), "{before} not before {after}");
        }
    }
}
