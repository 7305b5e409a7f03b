//! Whether one transfer comes before another.
//!
//! Transfers are cut into chains, each a path along dependencies; on one chain the answer is a
//! comparison. Across chains nothing follows a transfer that nobody waits for, and one that a single
//! transfer waits for is replaced by that. Then the search walks back from the later one, sees
//! each transfer once, passes the stretches of a chain that nothing else joins in one hop, and
//! stops where the way from the start is no longer than that to the earlier one.
//!
//! A transfer goes on the longest chain at hand, and on that of the data where lengths are equal:
//! sums one after another are one chain, whatever they add.

use super::ids::TransferId;
use super::rows::Rows;

/// The order of transfers that dependencies give.
pub(crate) struct Ancestry {
    links: Vec<Link>,
    /// The last transfer of each chain.
    last: Vec<TransferId>,
    n_searches: u32,
    stack: Vec<TransferId>,
}

/// Where a transfer is in the order.
struct Link {
    chain: u32,
    position: u32,
    /// The nearest transfer of the chain, from this one back, that waits for more than the chain.
    joined: TransferId,
    /// The longest way from a transfer without dependencies.
    depth: u32,
    /// The last search that saw the transfer.
    seen: u32,
    followers: Followers,
}

/// Who waits for a transfer, so far.
#[derive(Clone, Copy)]
enum Followers {
    None,
    One(TransferId),
    Several,
}

impl Ancestry {
    pub(crate) const fn new() -> Self {
        Self {
            links: Vec::new(),
            last: Vec::new(),
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
        let mut depth = 0;
        let mut longest: Option<(u32, bool, TransferId)> = None;
        for &before in dependencies {
            let link = &mut self.links[before.index()];
            link.followers = match link.followers {
                Followers::None => Followers::One(id),
                Followers::One(_) | Followers::Several => Followers::Several,
            };
            depth = depth.max(link.depth + 1);
            if self.last[link.chain as usize] == before {
                longest = longest.max(Some((link.position, Some(before) == source, before)));
            }
        }
        let (chain, position) = if let Some((position, _, before)) = longest {
            let chain = self.links[before.index()].chain;
            self.last[chain as usize] = id;
            (chain, position + 1)
        } else {
            self.last.push(id);
            let n_chains = u32::try_from(self.last.len()).expect("Invariant: ids fit u32");
            (n_chains - 1, 0)
        };
        self.links.push(Link {
            chain,
            position,
            joined: match (longest, dependencies) {
                (Some((.., before)), [_]) => self.links[before.index()].joined,
                _ => id,
            },
            depth,
            seen: 0,
            followers: Followers::None,
        });
    }

    /// Says whether `before` must be complete when a transfer with these dependencies starts.
    pub(crate) fn precedes(
        &mut self,
        before: TransferId,
        dependencies: &[TransferId],
        rows: &Rows<TransferId>,
    ) -> bool {
        if self.is_reached(before, dependencies) {
            return true;
        }
        match self.links[before.index()].followers {
            Followers::None => false,
            Followers::One(follower) => {
                self.is_reached(follower, dependencies) || self.search(follower, dependencies, rows)
            }
            Followers::Several => self.search(before, dependencies, rows),
        }
    }

    /// Says whether one of the dependencies is the transfer, or comes later on its chain.
    fn is_reached(&self, before: TransferId, dependencies: &[TransferId]) -> bool {
        let start = &self.links[before.index()];
        dependencies.iter().any(|id| {
            let link = &self.links[id.index()];
            link.chain == start.chain && link.position >= start.position
        })
    }

    /// Walks back from the dependencies to `before` or a later place on its chain.
    fn search(
        &mut self,
        before: TransferId,
        dependencies: &[TransferId],
        rows: &Rows<TransferId>,
    ) -> bool {
        let start = &self.links[before.index()];
        let (chain, position, depth) = (start.chain, start.position, start.depth);
        self.n_searches = self.n_searches.wrapping_add(1);
        if self.n_searches == 0 {
            for link in &mut self.links {
                link.seen = 0;
            }
            self.n_searches = 1;
        }
        self.stack.clear();
        let mut row = dependencies;
        loop {
            for id in row {
                let link = &self.links[id.index()];
                if link.chain == chain && link.position >= position {
                    return true;
                }
                let joined = link.joined;
                let link = &mut self.links[joined.index()];
                if link.depth > depth && link.seen != self.n_searches {
                    link.seen = self.n_searches;
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
