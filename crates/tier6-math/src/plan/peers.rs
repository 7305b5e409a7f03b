//! To whom in its node a rank passes the chunks of its channels.

use crate::parameters::Channels;
use tier6_system::{ChipId, Topology, Vertex};

/// Returns, for each rank, the ranks of its node to which its channels go on and the part of them
/// that each gets. Parts sum to 1; a rank alone on its node has no peer.
///
/// In all orders a peer's part is that of its direct links: rings over a full mesh, or over a
/// graph whose chips have alike links, use all of them (6 rings of 20 GB/s on a V100's six
/// links). Without direct links, behind a switch, all peers are alike.
pub(super) fn peers(
    topology: &Topology,
    chips: &[ChipId],
    per_node: u32,
    channels: Channels,
) -> Vec<Vec<(u32, f64)>> {
    let ranks = 0..u32::try_from(chips.len()).expect("Invariant: ranks fit u32");
    let of = |rank: u32| match channels {
        _ if per_node < 2 => Vec::new(),
        Channels::One | Channels::Rotated => {
            let node = rank / per_node * per_node;
            vec![(node + (rank + 1 - node) % per_node, 1.0)]
        }
        Channels::AllPeers => by_links(topology, chips, per_node, rank),
    };
    ranks.map(of).collect()
}

fn by_links(topology: &Topology, chips: &[ChipId], per_node: u32, rank: u32) -> Vec<(u32, f64)> {
    let node = rank / per_node * per_node;
    let links = topology.links_from(topology.chip_vertex(chips[rank as usize]));
    let rate = |peer: u32| -> f64 {
        let there = Vertex::Chip(chips[peer as usize]);
        let links = links.iter().map(|link| topology.link(*link));
        links
            .filter(|link| topology.vertices()[link.to.index()] == there)
            .map(|link| link.payload_rate.get())
            .sum()
    };
    let others = (node..node + per_node).filter(|peer| *peer != rank);
    let mut parts: Vec<(u32, f64)> = others.map(|peer| (peer, rate(peer))).collect();
    let total: f64 = parts.iter().map(|(_, rate)| rate).sum();
    if total > 0.0 {
        parts.retain(|(_, rate)| *rate > 0.0);
    }
    for (_, part) in &mut parts {
        *part = if total > 0.0 {
            *part / total
        } else {
            1.0 / f64::from(per_node - 1)
        };
    }
    parts
}
