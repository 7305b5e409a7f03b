//! Bisection bandwidth: the most that one half of the chips can send to the other, by maximum
//! flow (Dinic 1970), so that it holds for any graph.

use super::{ChipId, Topology};
use crate::spec::FabricSpec;
use std::collections::VecDeque;
use tier6_units::GbPerSec;

impl Topology {
    /// Returns the wire rate, per direction, across the worst of the halvings that make sense
    /// for the fabric: lower against upper nodes, in a single node lower against upper chips,
    /// and for a torus each dimension. Of an odd number the lower half is the smaller.
    ///
    /// The true bisection looks at all halvings, which is intractable; for the fabrics of this
    /// crate these contain a worst one, for a graph the figure is an upper bound. `None` for
    /// a single chip.
    pub fn bisection(&self) -> Option<GbPerSec> {
        let n = self.n_chips();
        if n < 2 {
            return None;
        }
        let lower = match self.n_nodes() {
            1 => n / 2,
            nodes => n / nodes * (nodes / 2),
        };
        let mut halvings = vec![(0..n).map(|chip| chip < lower).collect::<Vec<bool>>()];
        if let [tier] = self.tiers()
            && let FabricSpec::Torus { dims } = &tier.fabric
        {
            let mut stride = n;
            for &dim in dims {
                stride /= dim;
                if dim > 1 {
                    halvings.push((0..n).map(|chip| chip / stride % dim < dim / 2).collect());
                }
            }
        }
        let rates = halvings.iter().map(|lower| self.flow_between(lower));
        rates.reduce(f64::min).map(GbPerSec::new)
    }

    /// Most that the chips marked `true` can send to the others, in GB/s.
    fn flow_between(&self, is_source: &[bool]) -> f64 {
        // Whole kB/s, so that sums are exact and the search ends.
        const UNITS_PER_GB: f64 = 1e6;
        let n_vertices = self.vertices().len();
        let (source, sink) = (n_vertices, n_vertices + 1);
        let mut flow = Flow::new(n_vertices + 2);
        for link in self.links() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rates are positive; beyond 2^64 kB/s the cast saturates"
            )]
            let capacity = (link.rate.get() * UNITS_PER_GB).round() as u64;
            // Room for the sum of all links.
            flow.add_edge(link.from.index(), link.to.index(), capacity.min(1 << 42));
        }
        for (chip, &sends) in (0_u32..).zip(is_source) {
            let vertex = self.chip_vertex(ChipId::new(chip)).index();
            if sends {
                flow.add_edge(source, vertex, 1 << 62);
            } else {
                flow.add_edge(vertex, sink, 1 << 62);
            }
        }
        flow.maximum(source, sink) as f64 / UNITS_PER_GB
    }
}

/// A flow network; edge e and its reverse e ^ 1 lie side by side.
struct Flow {
    edges: Vec<(usize, u64)>,
    from: Vec<Vec<usize>>,
}

impl Flow {
    fn new(n_vertices: usize) -> Self {
        Self {
            edges: Vec::new(),
            from: vec![Vec::new(); n_vertices],
        }
    }

    fn add_edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.from[from].push(self.edges.len());
        self.edges.push((to, capacity));
        self.from[to].push(self.edges.len());
        self.edges.push((from, 0));
    }

    fn maximum(&mut self, source: usize, sink: usize) -> u64 {
        let mut total = 0;
        while let Some(levels) = self.levels(source, sink) {
            let mut next = vec![0; self.from.len()];
            while let Some(pushed) = self.push(source, sink, &levels, &mut next) {
                total += pushed;
            }
        }
        total
    }

    /// Distances from the source over edges with room; `None` when the sink is cut off.
    fn levels(&self, source: usize, sink: usize) -> Option<Vec<u32>> {
        let mut levels = vec![u32::MAX; self.from.len()];
        levels[source] = 0;
        let mut waiting = VecDeque::from([source]);
        while let Some(vertex) = waiting.pop_front() {
            for &edge in &self.from[vertex] {
                let (to, room) = self.edges[edge];
                if room > 0 && levels[to] == u32::MAX {
                    levels[to] = levels[vertex] + 1;
                    waiting.push_back(to);
                }
            }
        }
        (levels[sink] != u32::MAX).then_some(levels)
    }

    /// Pushes flow along one path; `next` remembers the edges that lead nowhere any more.
    fn push(
        &mut self,
        source: usize,
        sink: usize,
        levels: &[u32],
        next: &mut [usize],
    ) -> Option<u64> {
        let mut path: Vec<usize> = Vec::new();
        let mut vertex = source;
        while vertex != sink {
            let Some(&edge) = self.from[vertex].get(next[vertex]) else {
                // A dead end: back one step, past the edge that led here.
                let edge = path.pop()?;
                vertex = self.edges[edge ^ 1].0;
                next[vertex] += 1;
                continue;
            };
            let (to, room) = self.edges[edge];
            if room > 0 && levels[to] == levels[vertex] + 1 {
                path.push(edge);
                vertex = to;
            } else {
                next[vertex] += 1;
            }
        }
        let pushed = path.iter().map(|&edge| self.edges[edge].1).min()?;
        for edge in path {
            self.edges[edge].1 -= pushed;
            self.edges[edge ^ 1].1 += pushed;
        }
        Some(pushed)
    }
}
