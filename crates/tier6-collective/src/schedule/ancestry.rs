//! Whether one transfer comes before another.
//!
//! Transfers are cut into chains, each a path along dependencies; on one chain the answer is a
//! comparison. Across chains the search walks back from the later one, sees each transfer once,
//! passes the stretches of a chain that nothing else joins in one hop, and stops where the way
//! from the start is no longer than that to the earlier one. Chains follow the data where they
//! can, since that is what is asked about most.

use super::ids::TransferId;
use super::rows::Rows;

/// The order of transfers that dependencies give.
pub(crate) struct Ancestry {
    chain: Vec<u32>,
    position: Vec<u32>,
    /// The nearest transfer of the chain, from this one back, that waits for more than the chain.
    joined: Vec<TransferId>,
    /// The longest way from a transfer without dependencies.
    depth: Vec<u32>,
    /// The last transfer of each chain.
    last: Vec<TransferId>,
    /// The last search that saw each transfer.
    seen: Vec<u32>,
    n_searches: u32,
    stack: Vec<TransferId>,
}

impl Ancestry {
    pub(crate) fn new() -> Self {
        Self {
            chain: Vec::new(),
            position: Vec::new(),
            joined: Vec::new(),
            depth: Vec::new(),
            last: Vec::new(),
            seen: Vec::new(),
            n_searches: 0,
            stack: Vec::new(),
        }
    }

    /// Adds the next transfer with its dependencies; `source` wrote what it reads.
    pub(crate) fn push(
        &mut self,
        id: TransferId,
        dependencies: &[TransferId],
        source: Option<TransferId>,
    ) {
        let source = source.filter(|source| dependencies.contains(source));
        let extended = source
            .iter()
            .chain(dependencies)
            .find(|before| self.last[self.chain[before.index()] as usize] == **before);
        let (chain, position) = if let Some(before) = extended {
            let chain = self.chain[before.index()];
            self.last[chain as usize] = id;
            (chain, self.position[before.index()] + 1)
        } else {
            self.last.push(id);
            let n_chains = u32::try_from(self.last.len()).expect("Invariant: ids fit u32");
            (n_chains - 1, 0)
        };
        self.chain.push(chain);
        self.position.push(position);
        let deepest = dependencies.iter().map(|d| self.depth[d.index()] + 1).max();
        self.depth.push(deepest.unwrap_or(0));
        self.seen.push(0);
        self.joined.push(match (extended, dependencies) {
            (Some(before), [_]) => self.joined[before.index()],
            _ => id,
        });
    }

    /// Says whether `before` must be complete when a transfer with these dependencies starts.
    pub(crate) fn precedes(
        &mut self,
        before: TransferId,
        dependencies: &[TransferId],
        rows: &Rows<TransferId>,
    ) -> bool {
        self.n_searches = self.n_searches.wrapping_add(1);
        if self.n_searches == 0 {
            self.seen.fill(0);
            self.n_searches = 1;
        }
        let (chain, position) = (self.chain[before.index()], self.position[before.index()]);
        let depth = self.depth[before.index()];
        self.stack.clear();
        let mut row = dependencies;
        loop {
            for id in row {
                let index = id.index();
                if self.chain[index] == chain && self.position[index] >= position {
                    return true;
                }
                let joined = self.joined[index];
                let seen = &mut self.seen[joined.index()];
                if self.depth[joined.index()] > depth && *seen != self.n_searches {
                    *seen = self.n_searches;
                    self.stack.push(joined);
                }
            }
            match self.stack.pop() {
                Some(id) => row = rows.row(id.index()),
                None => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the closure of a made-up order of 60 transfers, over many of them.
    #[test]
    fn order_follows_dependencies_and_nothing_else() {
        let mut state = 1_u64;
        let mut below = |n: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            u32::try_from(state >> 33).unwrap() % n
        };
        for _ in 0..200 {
            let mut rows = Rows::with_capacity(60, 120);
            let mut ancestry = Ancestry::new();
            let mut closure: Vec<u64> = Vec::new();
            for id in 0..60_u32 {
                let mut list: Vec<TransferId> = (0..below(4).min(id))
                    .map(|_| TransferId(below(id)))
                    .collect();
                list.sort_unstable();
                list.dedup();
                let mut before = 0_u64;
                for dependency in &list {
                    before |= closure[dependency.index()] | 1 << dependency.0;
                }
                for earlier in 0..id {
                    let expected = before >> earlier & 1 == 1;
                    let found = ancestry.precedes(TransferId(earlier), &list, &rows);
                    assert_eq!(found, expected, "{earlier} before {id}");
                }
                closure.push(before);
                let source = list.last().copied();
                ancestry.push(TransferId(id), &list, source);
                rows.push(&list);
            }
        }
    }
}
