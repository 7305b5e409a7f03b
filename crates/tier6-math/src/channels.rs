//! The rings behind [`Channels`]: in which order each channel visits the ranks.
//!
//! A plan needs only how much each rank passes to which peer; an engine that runs a call needs the
//! rings themselves. Inside a node they are Hamiltonian cycles that together use every link in
//! proportion to its rate, found by search; on large full meshes by Walecki's zigzag (Alspach
//! 2008). Between nodes a channel leaves at the rank before the one at which it entered, and
//! odd nodes are passed the other way round, so that it stays on its rail; with an odd number of
//! nodes it changes the rail once. Such a channel uses all of a cycle but one link, so that on full
//! meshes of even size it takes a path of its own: as many paths as ranks use every link once.

mod cycles;

use crate::parameters::Channels;
use cycles::{Links, cycles, paths};
use tier6_system::{ChipId, Topology};

/// The most channels for which entrances are searched.
const ENTRANCES_MAX: usize = 16;

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
    let nodes = ranks / per_node;
    let cycles = match channels {
        Channels::One | Channels::Rotated => vec![(0..per_node).collect()],
        Channels::AllPeers => {
            let links = Links::of(topology, &chips[..per_node as usize]);
            if nodes > 1
                && let Some(paths) = paths(&links)
            {
                let rings = paths.iter().map(|path| over_nodes(path, 0, nodes));
                return rings.collect();
            }
            cycles(&links)
        }
    };
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

/// Returns the rings of [`ring_orders`], each begun at rank 0, the root: Broadcast by `ring` goes along
/// them, Reduce from the rank after the root round to the root.
///
/// # Panics
///
/// As [`ring_orders`].
pub fn chain_orders(
    topology: &Topology,
    chips: &[ChipId],
    per_node: u32,
    channels: Channels,
) -> Vec<Vec<u32>> {
    let mut orders = ring_orders(topology, chips, per_node, channels);
    for order in &mut orders {
        let root = order.iter().position(|rank| *rank == 0);
        order.rotate_left(root.unwrap_or(0));
    }
    orders
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
    (cycles.len() <= ENTRANCES_MAX && choose(cycles, &mut enters)).then_some(enters)
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

#[cfg(test)]
mod tests {
    use super::cycles::zigzags;
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
            let links = Links::of(&topology, &chips);
            let most = pairs.iter().map(|((a, b), count)| {
                f64::from(*count) / f64::from(links.between(*a as usize, *b as usize))
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
    fn channels_over_meshes_use_every_link_once_in_each_node() {
        for (name, per_node) in [("mi300x-x8-roce", 8), ("gh200-x4-slingshot", 4)] {
            let spec = preset(name).unwrap().with_outer_count(3);
            let topology = spec.resolve().unwrap();
            let orders = ring_orders(&topology, &chips(&topology), per_node, Channels::AllPeers);
            assert_eq!(orders.len(), per_node as usize, "{name}");
            let mut pairs = pairs(&orders);
            pairs.retain(|(from, to), _| from / per_node == to / per_node);
            let links = 3 * per_node * (per_node - 1);
            assert_eq!(pairs.len(), links as usize, "{name}");
            assert!(pairs.values().all(|count| *count == 1), "{name}: {pairs:?}");
        }
    }

    #[test]
    fn chains_are_the_rings_from_the_root_on() {
        let topology = preset("h100-x8-ib-ndr").unwrap().resolve().unwrap();
        let chips = chips(&topology);
        let rings = ring_orders(&topology, &chips, 8, Channels::Rotated);
        let chains = chain_orders(&topology, &chips, 8, Channels::Rotated);
        assert!(chains.iter().all(|chain| chain[0] == 0));
        assert_eq!(pairs(&chains), pairs(&rings));
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
