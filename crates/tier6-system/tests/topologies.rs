//! Fabrics against what is known of them: distances, cuts, ports, route sets.

#![expect(clippy::float_cmp, reason = "sums of whole rates are exact")]

use tier6_system::{
    ChipId, CrossRail, Direction, DragonflySpec, EdgeSpec, FabricSpec, FatTreeSpec, LinkId,
    SystemSpec, Topology, Vertex, Wiring, preset,
};
use tier6_units::{GbPerSec, Micros};

const RATE: f64 = 100.0;

fn spec(n_chips: u32, fabric: FabricSpec) -> SystemSpec {
    SystemSpec::uniform(n_chips, fabric, GbPerSec::new(RATE), Micros::new(1.0))
}

fn build(n_chips: u32, fabric: FabricSpec) -> Topology {
    spec(n_chips, fabric).resolve().unwrap()
}

fn ring(n_chips: u32) -> Topology {
    build(n_chips, FabricSpec::ring())
}

fn fat_tree(n_chips: u32, down: u32, spines: u32, oversubscription: f64) -> Topology {
    build(
        n_chips,
        FabricSpec::FatTree(FatTreeSpec {
            switch: "switch".into(),
            spine: None,
            down: Some(down),
            spines: Some(spines),
            oversubscription,
            wiring: Wiring::ByNode,
            cross_rail: CrossRail::Spine,
        }),
    )
}

fn chip(index: u32) -> ChipId {
    ChipId::new(index)
}

/// Bisection in units of one link.
fn cut(topology: &Topology) -> f64 {
    topology.bisection().unwrap().get() / RATE
}

/// A route starts and ends where it should, link by link, and visits nothing twice.
fn assert_route(topology: &Topology, from: ChipId, to: ChipId, route: &[LinkId]) {
    let mut at = topology.chip_vertex(from);
    let mut visited = vec![at];
    for &link in route {
        assert_eq!(topology.link(link).from, at);
        at = topology.link(link).to;
        assert!(!visited.contains(&at));
        visited.push(at);
    }
    assert_eq!(at, topology.chip_vertex(to));
}

#[test]
fn a_ring_goes_the_short_way_and_antipodes_the_positive_way() {
    for n in 3..=17 {
        let ring = ring(n);
        assert_eq!(ring.links().len(), 2 * n as usize);
        assert_eq!(cut(&ring), 2.0);
        assert_eq!(ring.diameter().0, n / 2);
        for to in 0..n {
            let tree = ring.routes_to(chip(to));
            for from in 0..n {
                let ahead = (to + n - from) % n;
                assert_eq!(tree.hops(chip(from)), ahead.min(n - ahead));
                let route = tree.route(chip(from), 0);
                assert_route(&ring, chip(from), chip(to), &route);
                if from != to && ahead <= n / 2 {
                    let first = ring.link(route[0]).to;
                    assert_eq!(first.get(), (from + 1) % n, "{from} to {to} of {n}");
                }
                let antipodal = n % 2 == 0 && ahead == n / 2;
                let alternatives = if antipodal { 2 } else { 1 };
                assert_eq!(tree.n_routes(chip(from)), alternatives);
            }
        }
    }
    let eight = ring(8);
    let other_way = eight.routes_to(chip(4)).route(chip(0), 1);
    assert_eq!(eight.link(other_way[0]).to.get(), 7);
    // Two chips need one cable, one chip none.
    assert_eq!(ring(2).links().len(), 2);
    assert_eq!(cut(&ring(2)), 1.0);
    assert_eq!(ring(1).links().len(), 0);
    assert!(ring(1).bisection().is_none());
}

#[test]
fn several_rings_share_the_chips() {
    let orders = vec![vec![0, 1, 2, 3], vec![0, 2, 1, 3]];
    let rings = build(4, FabricSpec::Ring { orders });
    assert_eq!(rings.links().len(), 16);
    assert_eq!(rings.injection_rate(chip(0)).get(), 4.0 * RATE);
    let repeated = vec![vec![0, 1, 1, 3]];
    let error = spec(4, FabricSpec::Ring { orders: repeated }).resolve();
    assert!(error.unwrap_err().to_string().contains("once each"));
}

#[test]
fn a_full_mesh_has_a_link_for_every_pair() {
    let mesh = build(6, FabricSpec::FullMesh);
    assert_eq!(mesh.links().len(), 30);
    assert_eq!(mesh.diameter().0, 1);
    assert_eq!(cut(&mesh), 9.0);
    assert_eq!(mesh.injection_rate(chip(5)).get(), 5.0 * RATE);
}

#[test]
fn a_torus_has_the_distance_of_its_dimensions_together() {
    let dims = [4, 6];
    let torus = build(
        24,
        FabricSpec::Torus {
            dims: dims.to_vec(),
        },
    );
    assert_eq!(torus.links().len(), 24 * 4);
    assert_eq!(torus.diameter().0, 2 + 3);
    // Cut across the longer dimension: two cables for each of 4 lines.
    assert_eq!(cut(&torus), 8.0);
    let along = |a: u32, b: u32, n: u32| ((a + n - b) % n).min((b + n - a) % n);
    let tree = torus.routes_to(chip(0));
    for from in 0..24 {
        let hops = along(from / 6, 0, 4) + along(from % 6, 0, 6);
        assert_eq!(tree.hops(chip(from)), hops);
        assert_route(&torus, chip(from), chip(0), &tree.route(chip(from), 0));
    }
    // Dimension order: the first differing dimension first.
    let route = torus.route(chip(0), chip(7));
    assert_eq!(torus.link(route[0]).to.get(), 6);

    let cube = build(
        64,
        FabricSpec::Torus {
            dims: vec![4, 4, 4],
        },
    );
    assert_eq!((cube.links().len(), cube.diameter().0), (64 * 6, 6));
    assert_eq!(cut(&cube), 32.0);
    // A dimension of two has one cable, not two.
    let flat = build(
        8,
        FabricSpec::Torus {
            dims: vec![2, 2, 2],
        },
    );
    assert_eq!((flat.links().len(), cut(&flat)), (24, 4.0));
}

#[test]
fn oversubscription_divides_the_bisection_of_a_fat_tree() {
    for (ratio, spines, want) in [(1.0, 4, 8.0), (2.0, 2, 4.0), (4.0, 1, 2.0)] {
        let tree = fat_tree(16, 4, spines, ratio);
        assert_eq!(cut(&tree), want, "{ratio}:1");
        assert_eq!(tree.diameter().0, 4);
        let to_last = tree.routes_to(chip(15));
        assert_eq!(to_last.hops(chip(14)), 2);
        assert_eq!(to_last.n_routes(chip(0)), u64::from(spines));
    }
    // All on one leaf: no spine.
    let one = fat_tree(4, 4, 1, 1.0);
    assert_eq!((one.switches().len(), one.diameter().0), (1, 2));
}

#[test]
fn a_shift_on_a_full_fat_tree_meets_no_contention() {
    let tree = fat_tree(64, 8, 8, 1.0);
    for shift in [1, 5, 8, 27, 32] {
        let mut flows = vec![0; tree.links().len()];
        for from in 0..64 {
            for link in tree.route(chip(from), chip((from + shift) % 64)) {
                flows[link.index()] += 1;
            }
        }
        assert!(flows.iter().all(|&flows| flows <= 1), "shift {shift}");
    }
}

#[test]
fn ecmp_shares_are_conserved_and_routes_are_distinct() {
    let tree = fat_tree(16, 4, 4, 1.0);
    let to = tree.routes_to(chip(15));
    let shares = to.shares(chip(0));
    let total_into = |vertex| -> f64 {
        let into = shares
            .iter()
            .filter(|(link, _)| tree.link(*link).to == vertex);
        into.map(|(_, share)| share).sum()
    };
    assert_eq!(total_into(tree.chip_vertex(chip(15))), 1.0);
    assert_eq!(shares.len(), 2 + 2 * 4);
    assert!(shares.iter().all(|(_, share)| [0.25, 1.0].contains(share)));
    let routes = to.routes(chip(0), 100);
    assert_eq!(routes.len(), 4);
    assert_eq!(to.routes(chip(0), 3).len(), 3);
    for route in &routes {
        assert_route(&tree, chip(0), chip(15), route);
    }
    let flows: std::collections::BTreeSet<_> = (0..4).map(|flow| to.route(chip(0), flow)).collect();
    assert_eq!(flows, routes.into_iter().collect());
}

#[test]
fn a_dragonfly_is_five_links_wide() {
    let dragonfly = |n_chips, routers, endpoints, global| {
        let fabric = FabricSpec::Dragonfly(DragonflySpec {
            switch: "switch".into(),
            routers,
            endpoints,
            global,
            local_link: None,
            global_link: None,
        });
        spec(n_chips, fabric).resolve()
    };
    // The largest balanced one with 2 ends per router: a = 4, h = 2, g = 9.
    let full = dragonfly(72, 4, 2, 2).unwrap();
    assert_eq!(full.switches().len(), 36);
    assert_eq!(full.diameter().0, 5);
    // One cable between each two of nine groups, in two directions each.
    let between = |link: &&tier6_system::Link| {
        let group = |vertex: tier6_system::VertexId| match full.vertices()[vertex.index()] {
            Vertex::Switch(switch) => Some(switch.get() / 4),
            Vertex::Chip(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => None,
        };
        group(link.from).is_some() && group(link.to).is_some() && group(link.from) != group(link.to)
    };
    assert_eq!(full.links().iter().filter(between).count(), 9 * 8);
    // Every router uses exactly its two global cables.
    for switch in full.switches() {
        let out = full
            .links_from(switch.vertex)
            .iter()
            .map(|&link| full.link(link));
        assert_eq!(out.filter(between).count(), 2, "{}", switch.name);
    }
    // One group: all routers see each other.
    assert_eq!(dragonfly(8, 4, 2, 1).unwrap().diameter().0, 3);
    // Too many groups for the global cables.
    let error = dragonfly(20, 2, 1, 1).unwrap_err();
    assert!(error.to_string().contains("raise `global`"), "{error}");
}

#[test]
fn rails_join_the_same_nic_of_every_node() {
    let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(4);
    let topology = spec.resolve().unwrap();
    assert_eq!(topology.nics().len(), 32);
    let same_rail = topology.route(chip(3), chip(27));
    // Chip, NIC, leaf, NIC, chip.
    assert_eq!(same_rail.len(), 4);
    let across = topology.routes_to(chip(28));
    // One more switch level up and down; the first NIC stays the sender's own.
    assert_eq!(across.hops(chip(3)), 6);
    for flow in 0..8 {
        let route = across.route(chip(3), flow);
        assert_route(&topology, chip(3), chip(28), &route);
        let Vertex::NicSend(nic) = topology.vertices()[topology.link(route[0]).to.index()] else {
            panic!("a chip sends to the network through its NIC");
        };
        assert_eq!(topology.nics()[nic.index()].rail, 3);
    }
    // Inside a node nothing goes near a NIC.
    assert_eq!(topology.route(chip(8), chip(15)).len(), 2);
    for (node, description) in topology.nodes().iter().enumerate() {
        assert_eq!(description.chips.len(), 8);
        assert_eq!(description.nics.len(), 8, "node {node}");
    }
}

#[test]
fn a_chip_on_the_right_rail_can_stand_in_for_a_spine() {
    let mut spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(4);
    let FabricSpec::FatTree(tree) = &mut spec.tiers[1].fabric else {
        panic!("the preset is a fat tree");
    };
    tree.cross_rail = CrossRail::Chip;
    let topology = spec.resolve().unwrap();
    let route = topology.route(chip(3), chip(28));
    // Chip 3, NVSwitch, chip 4, NIC, leaf of rail 4, NIC, chip 28.
    assert_eq!(route.len(), 6);
    assert_eq!(topology.link(route[1]).to, topology.chip_vertex(chip(4)));
    // Along a rail nothing changes, in a node neither.
    assert_eq!(topology.route(chip(3), chip(27)).len(), 4);
    assert_eq!(topology.route(chip(3), chip(4)).len(), 2);
}

#[test]
fn every_link_has_its_ports_and_its_way_back() {
    for name in [
        "dgx1-ib-edr",
        "a100-x4-slingshot",
        "h100-x8-roce",
        "mi300x-x8",
    ] {
        let topology = preset(name).unwrap().resolve().unwrap();
        for (index, link) in (0..).zip(topology.links()) {
            let id = LinkId::new(index);
            let back = topology.link(link.reverse.unwrap());
            assert_eq!(back.reverse, Some(id));
            let (sender, receiver) = (
                topology.ports()[link.from_port.index()],
                topology.ports()[link.to_port.index()],
            );
            assert_eq!((sender.out, receiver.into), (Some(id), Some(id)));
            assert_eq!(back.from_port, link.to_port);
            assert_eq!(back.rate, link.rate);
        }
    }
}

#[test]
fn a_dgx1_reaches_far_chips_through_its_host() {
    let topology = preset("dgx1-ib-edr").unwrap().resolve().unwrap();
    assert_eq!(topology.route(chip(0), chip(4)).len(), 1);
    // Not through another chip, and not through the network.
    let host = topology.route(chip(0), chip(5));
    assert_eq!(host.len(), 5);
    // Two chips share a NIC.
    assert_eq!(topology.chips()[2].nics, topology.chips()[3].nics);
}

/// Eight chips in pairs on PCIe switches, four under each of two sockets.
const PCIE: &str = r#"
name = "pcie"
[chip]
name = "toy"
[[tier]]
name = "node"
count = 8
fabric = "pcie_tree"
link = "pcie4-x16"
switch = "pcie-switch"
per_switch = 2
root = "root-complex"
sockets = 2
socket_link = "xgmi-epyc"
"#;

#[test]
fn a_pcie_tree_narrows_towards_the_sockets() {
    let topology = Topology::from_toml(PCIE).unwrap();
    assert_eq!(topology.switches().len(), 2 + 4);
    let hops = |from, to| topology.route(chip(from), chip(to)).len();
    // Below one switch, below one socket, across sockets.
    assert_eq!((hops(0, 1), hops(0, 3), hops(0, 7)), (2, 4, 5));
    // The link between the sockets is the cut.
    assert_eq!(topology.bisection().unwrap().get(), 16.0);
    let across = topology.route(chip(0), chip(7));
    let names: Vec<&str> = across
        .iter()
        .map(|&link| topology.class_of(link).name.as_str())
        .collect();
    assert_eq!(names[2], "xgmi-epyc");
    let error = Topology::from_toml(&PCIE.replace("socket_link = \"xgmi-epyc\"", ""));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("has no `socket_link`")
    );
}

#[test]
fn a_nic_at_the_host_hangs_on_the_switch_of_its_chips() {
    let network = r#"
[[tier]]
name = "network"
count = 2
nics = 4
attach = "host"
host_link = "pcie4-x16"
link = "roce-100g"
fabric = "crossbar"
switch = "eth-51t"
"#;
    let topology = Topology::from_toml(&format!("{PCIE}{network}")).unwrap();
    let route = topology.route(chip(0), chip(8));
    // Chip, PCIe switch, NIC, switch, NIC, PCIe switch, chip.
    assert_eq!(route.len(), 6);
    let nic = &topology.nics()[1];
    assert_eq!(
        (nic.rail, nic.chips.as_slice()),
        (1, [chip(2), chip(3)].as_slice())
    );
    assert_eq!(topology.network_rate(chip(0)).unwrap().get(), 6.25);
}

#[test]
fn tiers_nest_as_deep_as_the_file_says() {
    let text = r#"
name = "three tiers"
[chip]
name = "toy"
[[tier]]
name = "node"
count = 4
fabric = "full_mesh"
link = "nvlink3"
[[tier]]
name = "pod"
count = 2
nics = 4
host_link = "pcie4-x16"
link = "ualink-200g-x4"
fabric = "crossbar"
switch = "ualink-25t"
[[tier]]
name = "cluster"
count = 3
nics = 2
host_link = "pcie4-x16"
link = "roce-400g"
fabric = "crossbar"
switch = "eth-51t"
"#;
    let topology = Topology::from_toml(text).unwrap();
    assert_eq!((topology.n_chips(), topology.n_nodes()), (24, 6));
    assert_eq!(topology.nics().len(), 3 * 8 + 3 * 2);
    let tiers_of = |from, to| -> Vec<u32> {
        let route = topology.route(chip(from), chip(to));
        route.iter().map(|&link| topology.link(link).tier).collect()
    };
    assert_eq!(tiers_of(0, 3), [0]);
    assert_eq!(tiers_of(0, 7), [1, 1, 1, 1]);
    assert_eq!(tiers_of(0, 23), [2, 2, 2, 2]);
}

#[test]
fn leaves_and_spines_follow_from_ports() {
    // 64 ports: 32 down, 32 up; 64 nodes need two leaves per rail, 16 leaves in all.
    let count = |nodes: u32| {
        let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(nodes);
        let topology = spec.resolve().unwrap();
        let of = |kind: &str| {
            let switches = topology.switches().iter();
            switches
                .filter(|switch| switch.name.starts_with(kind))
                .count()
        };
        (of("leaf"), of("spine"), cut(&topology) * RATE / 50.0)
    };
    assert_eq!(count(2), (8, 4, 8.0));
    assert_eq!(count(64), (16, 8, 256.0));
    assert_eq!(count(256), (64, 32, 1024.0));
    let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(288);
    let error = spec.resolve().unwrap_err().to_string();
    assert!(
        error.contains("name a `spine` class with more ports"),
        "{error}"
    );
}

#[test]
fn one_way_links_make_one_way_rings() {
    let edge = |from: u32, to: u32| EdgeSpec {
        from: format!("chip{from}").into(),
        to: format!("chip{to}").into(),
        direction: Direction::OneWay,
        link: None,
        lanes: None,
    };
    let edges = (0..4).map(|from| edge(from, (from + 1) % 4)).collect();
    let graph = FabricSpec::Graph {
        vertices: Vec::new(),
        edges,
    };
    let topology = build(4, graph);
    assert_eq!(topology.links().len(), 4);
    assert_eq!(topology.route(chip(1), chip(0)).len(), 3);
    assert_eq!(cut(&topology), 1.0);
}

#[test]
fn latency_counts_links_and_the_switches_between() {
    let topology = preset("h100-x8").unwrap().resolve().unwrap();
    let route = topology.route(chip(0), chip(1));
    // Two NVLink traversals of 0.6 us and the switch's 0.3 us.
    assert!((topology.route_latency(&route).get() - 1.5).abs() < 1e-12);
    assert_eq!(topology.route_latency(&[]).get(), 0.0);
}

#[test]
fn a_description_says_what_follows_from_the_file() {
    let spec = preset("a100-x8-ib-hdr").unwrap().with_outer_count(3);
    let mut description = spec.resolve().unwrap().describe();
    // The constants are snapshot by their number, sources change with the catalog's prose.
    let constants = std::mem::take(&mut description.constants);
    assert_eq!(constants.len(), 37);
    insta::assert_debug_snapshot!(description);
}
