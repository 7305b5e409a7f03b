//! Links on from a vertex: equal lists of them share one entry.

use super::super::tally::Tally;
use std::num::NonZeroU32;
use tier6_system::{LinkId, Topology, VertexId};

/// Links on from a vertex, the vertices behind them, and which of these each leads to.
pub(super) struct Branch {
    pub(super) links: Box<[(LinkId, u32)]>,
    pub(super) ends: Box<[VertexId]>,
    pub(super) closes: Option<Closing>,
}

/// The links of as many vertices as a branch has, one each, when all lead to the same vertex: a
/// leaf, its spines, another leaf.
#[derive(PartialEq)]
pub(super) struct Closing {
    pub(super) links: Box<[LinkId]>,
    pub(super) end: VertexId,
}

/// The number of a branch, from 1 on.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchId(NonZeroU32);

impl Branch {
    pub(super) fn of(topology: &Topology, links: &[LinkId], closes: Option<Closing>) -> Self {
        let mut ends: Vec<VertexId> = Vec::new();
        let mut place = |link: &LinkId| {
            let to = topology.link(*link).to;
            let known = ends.iter().position(|end| *end == to);
            let at = known.unwrap_or_else(|| {
                ends.push(to);
                ends.len() - 1
            });
            u32::try_from(at).expect("Invariant: vertices fit u32")
        };
        let links = links.iter().map(|link| (*link, place(link))).collect();
        Self {
            links,
            ends: ends.into(),
            closes,
        }
    }

    pub(super) fn is_of(&self, links: &[LinkId]) -> bool {
        self.links.iter().map(|(link, _)| link).eq(links)
    }

    /// Spreads what has arrived over the links and those that close it, and returns what comes
    /// together again.
    pub(super) fn pass_through(&self, closing: &Closing, arrived: f64, tally: &mut Tally) -> f64 {
        let part = arrived / self.links.len() as f64;
        let mut together = 0.0;
        for ((link, _), on) in self.links.iter().zip(&closing.links) {
            tally.add(*link, part);
            tally.add(*on, part);
            together += part;
        }
        together
    }

    /// Spreads what has arrived over the links and to the vertices behind them.
    pub(super) fn pass_on(&self, arrived: f64, tally: &mut Tally, next: &mut Vec<(VertexId, f64)>) {
        let part = arrived / self.links.len() as f64;
        if next.is_empty() {
            // Nothing to look for among what arrived before.
            next.extend(self.ends.iter().map(|end| (*end, 0.0)));
            for (link, end) in &self.links {
                tally.add(*link, part);
                next[*end as usize].1 += part;
            }
        } else {
            for (link, end) in &self.links {
                tally.add(*link, part);
                arrive(next, self.ends[*end as usize], part);
            }
        }
    }
}

impl BranchId {
    pub(super) fn of(count: usize) -> Self {
        let count = u32::try_from(count).ok().and_then(NonZeroU32::new);
        Self(count.expect("Invariant: there are as many branches as fit memory, and this one"))
    }

    pub(super) const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Adds a part to what has arrived at a vertex.
pub(super) fn arrive(next: &mut Vec<(VertexId, f64)>, to: VertexId, part: f64) {
    // Links to one vertex stand side by side, so the last one is the first guess.
    if let Some((known, arrived)) = next.last_mut()
        && *known == to
    {
        *arrived += part;
        return;
    }
    match next.iter_mut().find(|(known, _)| *known == to) {
        Some((_, arrived)) => *arrived += part,
        None => next.push((to, part)),
    }
}
