//! How far neighbours are apart: the yardstick of a protocol's step.

use tier6_system::{ChipId, Topology};

/// Returns the latency of the shortest route that reaches as far as each tier, in microseconds;
/// 0 for a tier that joins nothing.
///
/// Looks from all chips of the first node, and from the first chip of each other node, which is on
/// the same rail, to the first chip of all.
pub(super) fn neighbours(topology: &Topology) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; topology.tiers().len()];
    let routes = topology.routes_to(ChipId::new(0));
    let mut route = Vec::new();
    let (first, others) = topology
        .nodes()
        .split_first()
        .expect("Invariant: a topology has a node");
    let heads = others.iter().map(|node| node.chips.start);
    for chip in first.chips.clone().skip(1).chain(heads) {
        route.clear();
        routes.route_into(ChipId::new(chip), 0, &mut route);
        let tier = route.iter().map(|link| topology.link(*link).tier).max();
        let latency = topology.route_latency(&route).get();
        let of_tier = &mut least[tier.unwrap_or(0) as usize];
        *of_tier = of_tier.min(latency);
    }
    let known = least.into_iter();
    known
        .map(|us| if us.is_finite() { us } else { 0.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_system::{FabricSpec, SystemSpec, preset};
    use tier6_units::{GbPerSec, Micros};

    #[test]
    fn neighbours_share_a_switch_or_a_link() {
        let check = |topology: &Topology, expected: &[f64]| {
            let found = neighbours(topology);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        };
        let system = preset("h100-x8-ib-ndr").unwrap().with_outer_count(3);
        // Two links and a switch; two host links, two links and a leaf.
        check(&system.resolve().unwrap(), &[1.5, 2.0 * (0.4 + 0.6) + 0.15]);
        let ring = FabricSpec::ring();
        let ring = SystemSpec::uniform(9, ring, GbPerSec::new(1.0), Micros::new(0.7));
        check(&ring.resolve().unwrap(), &[0.7]);
    }
}
