//! What links are called: `chip0-nvswitch3`, from the sender to the receiver.

use tier6_system::{Topology, Vertex, VertexId};

/// Returns the name of every link, by its id: `chip0 to leaf 3`.
pub(super) fn link_names(topology: &Topology) -> Vec<String> {
    let links = topology.links().iter();
    let names = links.map(|link| {
        let (from, to) = (vertex(topology, link.from), vertex(topology, link.to));
        format!("{from} to {to}")
    });
    names.collect()
}

fn vertex(topology: &Topology, id: VertexId) -> String {
    match topology.vertices()[id.index()] {
        Vertex::Chip(chip) => chip.to_string(),
        Vertex::Switch(switch) => topology.switches()[switch.index()].name.clone(),
        Vertex::NicSend(nic) | Vertex::NicReceive(nic) => nic.to_string(),
    }
}

/// Returns the name as it is typed: `chip0-leaf3`.
pub(super) fn typed(name: &str) -> String {
    let dashed = name.replacen(" to ", "-", 1);
    dashed.replace(' ', "").to_lowercase()
}
