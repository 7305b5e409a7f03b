//! The rings behind [`Channels`]: in which order each channel visits the ranks.
//!
//! A plan needs only how much each rank passes to which peer; an engine that runs a call needs the
//! rings themselves. Inside a node they are Hamiltonian cycles that together use every link in
//! proportion to its rate, found by search; on large full meshes by Walecki's zigzag (Alspach
//! 2008). Between nodes a channel leaves at the rank before the one at which it entered, and
//! odd nodes are passed the other way round, so that it stays on its rail; with an odd number of
//! nodes it changes the rail once.

use crate::parameters::Channels;
use tier6_system::{ChipId, Topology, Vertex};

/// The largest node whose links are searched for cycles.
const SEARCH_MAX: usize = 16;
/// Steps after which a search takes what it has.
const STEPS_MAX: u32 = 200_000;

/// Returns, for each channel, the ranks in the order of its ring. `chips` are those of the ranks,
/// node after node, `per_node` ranks on each. Every channel has the same share of the message.
///
/// ```
/// use tier6_math::{Channels, ring_orders};
/// use tier6_system::{ChipId, preset};
///
/// let v100 = preset("v100-nv2-x4").unwrap().resolve().unwrap();
/// let chips: Vec<ChipId> = (0..4).map(ChipId::new).collect();
/// // Six rings of 20 GB/s, as NCCL finds them on six links.
/// assert_eq!(ring_orders(&v100, &chips, 4, Channels::AllPeers).len(), 6);
/// assert_eq!(ring_orders(&v100, &chips, 4, Channels::One), [[0, 1, 2, 3]]);
/// ```
///
/// # Panics
///
/// Panics when there are 2^32 chips or more.
pub fn ring_orders(
    topology: &Topology,
    chips: &[ChipId],
    per_node: u32,
    channels: Channels,
) -> Vec<Vec<u32>> {
    let ranks = u32::try_from(chips.len()).expect("Invariant: ranks fit u32");
    let is_even = per_node > 0 && ranks.is_multiple_of(per_node);
    if channels == Channels::One || per_node < 2 || !is_even {
        return vec![(0..ranks).collect()];
    }
    let cycles = match channels {
        Channels::One | Channels::Rotated => vec![(0..per_node).collect()],
        Channels::AllPeers => cycles(topology, &chips[..per_node as usize]),
    };
    let nodes = ranks / per_node;
    if nodes == 1 {
        return cycles;
    }
    // In groups of g channels each rank is entered once in a node and left once.
    let groups = cycles.len().div_ceil(per_node as usize);
    let mut channels = Vec::new();
    for group in 0..groups {
        let of_group = (0..per_node as usize).map(|at| group * per_node as usize + at);
        let mut of_group: Vec<&[u32]> = of_group
            .map(|channel| cycles[channel % cycles.len()].as_slice())
            .collect();
        let enters = entrances(&of_group).unwrap_or_else(|| {
            // Turns of one cycle do it always.
            of_group.fill(&cycles[0]);
            (0..per_node as usize).collect()
        });
        let rings = of_group.into_iter().zip(enters);
        channels.extend(rings.map(|(cycle, enter)| over_nodes(cycle, enter, nodes)));
    }
    channels
}

/// Returns where each of g cycles over g ranks is entered, so that each rank is the first of one
/// and the last of one.
fn entrances(cycles: &[&[u32]]) -> Option<Vec<usize>> {
    fn choose(cycles: &[&[u32]], enters: &mut Vec<usize>) -> bool {
        let Some(cycle) = cycles.get(enters.len()) else {
            return true;
        };
        let ends = |cycle: &[u32], enter: usize| {
            let before = (enter + cycle.len() - 1) % cycle.len();
            (cycle[enter], cycle[before])
        };
        for enter in 0..cycle.len() {
            let (first, last) = ends(cycle, enter);
            let mut taken = cycles.iter().zip(enters.iter());
            if taken.any(|(other, at)| {
                let (a, b) = ends(other, *at);
                a == first || b == last
            }) {
                continue;
            }
            enters.push(enter);
            if choose(cycles, enters) {
                return true;
            }
            enters.pop();
        }
        false
    }
    let mut enters = Vec::new();
    (cycles.len() <= SEARCH_MAX && choose(cycles, &mut enters)).then_some(enters)
}

/// One ring over all nodes that enters the first one at a position of the cycle inside.
fn over_nodes(cycle: &[u32], enter: usize, nodes: u32) -> Vec<u32> {
    let g = cycle.len();
    let forward = (enter..enter + g).map(|at| cycle[at % g]);
    let inside: Vec<u32> = forward.collect();
    let width = u32::try_from(g).expect("Invariant: ranks fit u32");
    let of_node = |node: u32| {
        let first = node * width;
        let mut locals = inside.clone();
        if node % 2 == 1 {
            locals.reverse();
        }
        locals.into_iter().map(move |local| first + local)
    };
    (0..nodes).flat_map(of_node).collect()
}

/// Returns cycles over the ranks of a node that use its links in proportion to their rates.
fn cycles(topology: &Topology, chips: &[ChipId]) -> Vec<Vec<u32>> {
    let links = Capacities::of(topology, chips);
    if chips.len() <= SEARCH_MAX {
        return searched(&links);
    }
    if !links.are_alike() {
        return vec![natural(chips.len())];
    }
    let both = zigzags(chips.len()).into_iter().flat_map(|cycle| {
        let reverse: Vec<u32> = cycle.iter().rev().copied().collect();
        [cycle, reverse]
    });
    both.collect()
}

/// Cycles of which every pair is neighbours equally often: the hub n-1 and the zigzag 0, 1, -1, 2,
/// -2, .. modulo n-1, turned. For odd n each pair once, for even n twice.
fn zigzags(ranks: usize) -> Vec<Vec<u32>> {
    let rim = ranks - 1;
    let turns = if rim.is_multiple_of(2) { rim / 2 } else { rim };
    let turned = (0..turns).map(|turn| {
        let zigzag = (0..rim).map(|step| {
            let offset = if step % 2 == 1 {
                step.div_ceil(2)
            } else {
                rim - step / 2
            };
            (turn + offset) % rim
        });
        let cycle = std::iter::once(rim).chain(zigzag);
        cycle.map(number).collect()
    });
    turned.collect()
}

/// How many cycles may go from one rank of a node to another.
struct Capacities {
    ranks: usize,
    /// By pair of ranks.
    left: Vec<u32>,
}

impl Capacities {
    /// Counts direct links by their rate in units of the slowest; without any, all pairs are alike.
    fn of(topology: &Topology, chips: &[ChipId]) -> Self {
        let ranks = chips.len();
        let mut rates = vec![0.0_f64; ranks * ranks];
        for (from, chip) in chips.iter().enumerate() {
            for link in topology.links_from(topology.chip_vertex(*chip)) {
                let link = topology.link(*link);
                let Vertex::Chip(there) = topology.vertices()[link.to.index()] else {
                    continue;
                };
                if let Some(to) = chips.iter().position(|chip| *chip == there) {
                    rates[from * ranks + to] += link.payload_rate.get();
                }
            }
        }
        let slowest = rates.iter().copied().filter(|rate| *rate > 0.0);
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let left = rates.iter().enumerate().map(|(at, rate)| {
            if slowest.is_infinite() {
                return u32::from(at / ranks != at % ranks);
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates; links of one machine differ by small factors"
            )]
            let count = (rate / slowest).round() as u32;
            count
        });
        Self {
            ranks,
            left: left.collect(),
        }
    }

    /// Whether all pairs have the same.
    fn are_alike(&self) -> bool {
        let mut pairs = (0..self.left.len()).filter(|at| at / self.ranks != at % self.ranks);
        let first = pairs.next().map(|at| self.left[at]);
        pairs.all(|at| Some(self.left[at]) == first)
    }

    fn times(&self, times: u32) -> Self {
        Self {
            ranks: self.ranks,
            left: self.left.iter().map(|count| count * times).collect(),
        }
    }

    fn between(&self, from: usize, to: usize) -> u32 {
        self.left[from * self.ranks + to]
    }

    fn add(&mut self, cycle: &[usize], sign: i32) {
        for (at, from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()];
            let left = &mut self.left[from * self.ranks + to];
            *left = left.saturating_add_signed(sign);
        }
    }
}

/// Returns cycles that together use every link as often as it can carry one: those of the links as
/// they are, else of all of them doubled (a full mesh of 4 or 6 needs that, Tillson 1980). The most
/// that a search finds where there are none, one in natural order where it finds nothing.
fn searched(links: &Capacities) -> Vec<Vec<u32>> {
    let mut best: Vec<Vec<usize>> = Vec::new();
    for times in 1..=2 {
        let links = links.times(times);
        let wanted = (0..links.ranks).map(|to| links.between(0, to)).sum::<u32>() as usize;
        let mut search = Search {
            links,
            wanted,
            steps: 0,
            path: vec![0],
            found: Vec::new(),
            best: Vec::new(),
        };
        search.go_on();
        if search.best.len() == wanted {
            best = search.best;
            break;
        }
        if search.best.len() > best.len() {
            best = search.best;
        }
    }
    if best.is_empty() {
        return vec![natural(links.ranks)];
    }
    best.into_iter()
        .map(|cycle| cycle.into_iter().map(number).collect())
        .collect()
}

fn natural(ranks: usize) -> Vec<u32> {
    (0..ranks).map(number).collect()
}

fn number(rank: usize) -> u32 {
    u32::try_from(rank).expect("Invariant: ranks fit u32")
}

struct Search {
    links: Capacities,
    wanted: usize,
    steps: u32,
    /// The cycle under construction, from rank 0.
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    best: Vec<Vec<usize>>,
}

impl Search {
    /// Extends the path, or starts the next cycle; says whether the search is over.
    fn go_on(&mut self) -> bool {
        self.steps += 1;
        if self.best.len() == self.wanted || self.steps > STEPS_MAX {
            return true;
        }
        let last = *self
            .path
            .last()
            .expect("Invariant: a path starts at rank 0");
        if self.path.len() == self.links.ranks {
            return self.links.between(last, 0) > 0 && self.close();
        }
        let next = (0..self.links.ranks)
            .filter(|to| self.links.between(last, *to) > 0 && !self.path.contains(to));
        // Some cycle takes the first link of rank 0: let it be this one.
        let tried = if self.path.len() == 1 { 1 } else { usize::MAX };
        let next: Vec<usize> = next.take(tried).collect();
        for to in next {
            self.path.push(to);
            let is_over = self.go_on();
            self.path.pop();
            if is_over {
                return true;
            }
        }
        false
    }

    fn close(&mut self) -> bool {
        let cycle = std::mem::replace(&mut self.path, vec![0]);
        self.links.add(&cycle, -1);
        self.found.push(cycle);
        if self.found.len() > self.best.len() {
            self.best.clone_from(&self.found);
        }
        let is_over = self.go_on();
        let cycle = self.found.pop().expect("Invariant: pushed above");
        self.links.add(&cycle, 1);
        self.path = cycle;
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tier6_system::preset;

    fn chips(topology: &Topology) -> Vec<ChipId> {
        (0..topology.n_chips()).map(ChipId::new).collect()
    }

    /// How many channels go from one rank to another.
    fn pairs(orders: &[Vec<u32>]) -> BTreeMap<(u32, u32), u32> {
        let mut pairs = BTreeMap::new();
        for order in orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(
                sorted.iter().copied().zip(0..).all(|(rank, at)| rank == at),
                "{order:?}"
            );
            let next = order.iter().cycle().skip(1);
            for pair in order.iter().copied().zip(next.copied()) {
                *pairs.entry(pair).or_insert(0) += 1;
            }
        }
        pairs
    }

    #[test]
    fn rings_of_a_node_use_links_by_their_rate() {
        for (name, channels) in [
            ("v100-nv2-x4", 6),
            ("a100-x4", 6),
            ("gh200-x4", 6),
            ("mi300x-x8", 7),
            ("dgx1", 6),
        ] {
            let topology = preset(name).unwrap().resolve().unwrap();
            let chips = chips(&topology);
            let orders = ring_orders(&topology, &chips, topology.n_chips(), Channels::AllPeers);
            assert_eq!(orders.len(), channels, "{name}");
            let pairs = pairs(&orders);
            let capacities = Capacities::of(&topology, &chips);
            let most = pairs.iter().map(|((a, b), count)| {
                f64::from(*count) / f64::from(capacities.between(*a as usize, *b as usize))
            });
            let (low, high) = most.fold((f64::MAX, 0.0), |(low, high), load| {
                (f64::min(low, load), f64::max(high, load))
            });
            assert!((low - high).abs() < 1e-12, "{name}: {pairs:?}");
        }
    }

    #[test]
    fn every_pair_of_a_full_mesh_gets_the_same() {
        for ranks in 3..=20_usize {
            let both: Vec<Vec<u32>> = zigzags(ranks)
                .into_iter()
                .flat_map(|cycle| [cycle.clone(), cycle.into_iter().rev().collect()])
                .collect();
            let pairs = pairs(&both);
            assert_eq!(pairs.len(), ranks * (ranks - 1));
            let expected = if ranks % 2 == 1 { 1 } else { 2 };
            assert!(pairs.values().all(|count| *count == expected), "{ranks}");
        }
    }

    #[test]
    fn channels_over_nodes_share_the_nics_and_keep_their_rail() {
        for (name, mode) in [
            ("h100-x8-ib-ndr", Channels::Rotated),
            ("mi300x-x8-roce", Channels::AllPeers),
            ("dgx1-ib-edr", Channels::AllPeers),
        ] {
            for nodes in [2, 3, 4] {
                let spec = preset(name).unwrap().with_outer_count(nodes);
                let topology = spec.resolve().unwrap();
                let orders = ring_orders(&topology, &chips(&topology), 8, mode);
                let mut leaving = vec![0; 8 * nodes as usize];
                let mut off_rail = 0;
                for ((from, to), count) in pairs(&orders) {
                    if from / 8 != to / 8 {
                        leaving[from as usize] += count;
                        off_rail += if from % 8 == to % 8 { 0 } else { count };
                    }
                }
                assert!(leaving.iter().all(|count| *count == leaving[0]), "{name}");
                let channels = u32::try_from(orders.len()).unwrap();
                assert_eq!(off_rail, nodes % 2 * channels, "{name} {nodes}");
            }
        }
    }

    #[test]
    fn uneven_nodes_have_one_ring() {
        let topology = preset("h100-x8-ib-ndr").unwrap().resolve().unwrap();
        let chips: Vec<ChipId> = (0..11).map(ChipId::new).collect();
        let orders = ring_orders(&topology, &chips, 8, Channels::Rotated);
        assert_eq!(orders, [(0..11).collect::<Vec<u32>>()]);
        let pair: Vec<ChipId> = (0..2).map(ChipId::new).collect();
        assert_eq!(
            ring_orders(&topology, &pair, 2, Channels::AllPeers).len(),
            1
        );
    }
}
