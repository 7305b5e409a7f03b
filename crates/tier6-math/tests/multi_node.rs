//! Nodes of ranks: flat rings, hierarchies, AllToAll, aggregation (FACTS B.5 to B.7).

use std::num::NonZeroU32;
use tier6_collective::{Algorithm, Collective};
use tier6_math::law::{
    Hierarchy, InSwitch, Overlap, Wire, all_to_all_across, flat_ring_rate, hierarchical, nvls_tree,
    sharp,
};
use tier6_math::{Parameters, Pieces, Placement, Plan, StepCost};
use tier6_system::{ChipId, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

fn us(value: f64) -> Micros {
    Micros::new(value)
}

fn h100(nodes: u32) -> Topology {
    let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(nodes);
    spec.resolve().unwrap()
}

fn plan(
    topology: &Topology,
    collective: Collective,
    algorithm: Algorithm,
    change: impl Fn(&mut Parameters),
) -> Plan {
    let mut parameters = Parameters::of(topology);
    change(&mut parameters);
    let ranks = match parameters.placement {
        Placement::Packed => topology.n_chips(),
        Placement::PerNode(width) => topology.n_nodes() * width.get(),
    };
    Plan::new(topology, collective, algorithm, ranks, &parameters).unwrap()
}

fn inside(topology: &Topology) -> GbPerSec {
    topology.injection_payload_rate(ChipId::new(0))
}

fn nic(topology: &Topology) -> GbPerSec {
    topology.network_payload_rate(ChipId::new(0)).unwrap()
}

const LARGE: Bytes = Bytes::new(1 << 40);

#[test]
fn flat_rings_run_at_the_slower_of_nvlink_and_all_nics() {
    for nodes in [2, 4, 9] {
        let topology = h100(nodes);
        let expected = flat_ring_rate(inside(&topology), nic(&topology), 8).unwrap();
        let ring = plan(&topology, Collective::AllReduce, Algorithm::Ring, |_| ());
        let busbw = ring.predict(&topology, LARGE).busbw().unwrap();
        assert!(
            (busbw.get() / expected.get() - 1.0).abs() < 1e-3,
            "{busbw} {expected}"
        );
        // 8 x 48.5 = 388 against 369.
        assert!((busbw.get() - 369.0).abs() < 1.0, "{busbw}");
    }
    // With one rank per node the NIC is all there is.
    let topology = h100(4);
    let one = NonZeroU32::MIN;
    let ring = plan(&topology, Collective::AllReduce, Algorithm::Ring, |p| {
        p.placement = Placement::PerNode(one);
    });
    let busbw = ring.predict(&topology, LARGE).busbw().unwrap();
    assert!((busbw.get() - nic(&topology).get()).abs() < 0.1, "{busbw}");
}

#[test]
fn exchanges_across_nodes_share_the_nics() {
    for nodes in [2, 4] {
        let topology = h100(nodes);
        let exchange = plan(&topology, Collective::AllToAll, Algorithm::Direct, |_| ());
        let busbw = exchange.predict(&topology, LARGE).busbw().unwrap();
        let expected = all_to_all_across(nodes, 8, nic(&topology), 8).unwrap();
        assert!(
            (busbw.get() / expected.get() - 1.0).abs() < 1e-3,
            "{busbw} {expected}"
        );
    }
    // Two nodes: 48.5 x 15/8.
    let rate = all_to_all_across(2, 8, GbPerSec::new(48.5), 8).unwrap();
    assert!((rate.get() - 90.9375).abs() < 1e-9);
}

#[test]
fn hierarchies_are_sums_or_maxima_of_their_stages() {
    let topology = h100(4);
    let hierarchy = Hierarchy {
        nodes: 4,
        per_node: 8,
        inside: Wire::new(us(0.0), inside(&topology)).unwrap(),
        across: Wire::new(us(0.0), nic(&topology)).unwrap(),
    };
    let pieces = NonZeroU32::new(16).unwrap();
    for overlap in [Overlap::Serial, Overlap::Chunked(pieces), Overlap::Full] {
        for collective in [
            Collective::AllReduce,
            Collective::ReduceScatter,
            Collective::AllGather,
        ] {
            let staged = plan(&topology, collective, Algorithm::Hierarchical, |p| {
                p.overlap = overlap;
                p.step = StepCost::FREE;
            });
            let bytes = Bytes::new(1 << 30);
            let law = hierarchical(collective, bytes, &hierarchy, overlap).unwrap();
            let transfer = staged.parts(bytes).transfer.get();
            let expected = law.transfer.get();
            assert!(
                (transfer / expected - 1.0).abs() < 1e-9,
                "{collective} {overlap:?}: {transfer} {expected}"
            );
        }
    }
    let time = |overlap| {
        let collective = Collective::AllReduce;
        let parts = hierarchical(collective, Bytes::new(1 << 30), &hierarchy, overlap);
        parts.unwrap().total().get()
    };
    let (serial, full) = (time(Overlap::Serial), time(Overlap::Full));
    let chunked = |k| time(Overlap::Chunked(NonZeroU32::new(k).unwrap()));
    assert!((chunked(1) - serial).abs() < 1e-6);
    assert!((chunked(1_000_000) / full - 1.0).abs() < 1e-3);
    // Serial by hand: 2 x 7/8 M/369 + 2 x 3/4 (M/8)/48.5.
    let m = f64::from(1 << 30) / 1e3;
    let by_hand = 1.75 * m / 369.0 + 1.5 * m / 8.0 / nic(&topology).get();
    assert!((serial / by_hand - 1.0).abs() < 1e-9, "{serial} {by_hand}");
}

/// (F - f) M / o of FACTS B.1: with 16 times the bytes 4 times the pieces.
#[test]
fn pieces_that_stand_for_full_overlap_grow_with_the_root_of_the_message() {
    let topology = h100(2);
    let hierarchical = |overlap| {
        let change = |parameters: &mut Parameters| parameters.overlap = overlap;
        plan(
            &topology,
            Collective::AllReduce,
            Algorithm::Hierarchical,
            change,
        )
    };
    let full = hierarchical(Overlap::Full);
    let pieces = |bytes: u64| full.stage_pieces(Bytes::new(bytes), u32::MAX).unwrap();
    assert_eq!(pieces(64 << 10), 1);
    let (some, many) = (pieces(1 << 30), pieces(16 << 30));
    assert!(some > 8 && many.abs_diff(4 * some) <= 4, "{some} {many}");
    assert_eq!(full.stage_pieces(Bytes::new(16 << 30), 8), Some(8));
    // Stages are the same, however they follow each other.
    let serial = hierarchical(Overlap::Serial);
    assert_eq!(serial.stage_pieces(Bytes::new(1 << 30), 64), Some(some));
    let ring = plan(&topology, Collective::AllReduce, Algorithm::Ring, |_| {});
    assert_eq!(ring.stage_pieces(Bytes::new(1 << 30), 64), None);
}

#[test]
fn nvls_trees_are_their_closed_form() {
    for nodes in [2, 4, 8] {
        let topology = h100(nodes);
        let with = InSwitch {
            alpha: us(60.0),
            rate: GbPerSec::new(307.0),
        };
        let tree = plan(&topology, Collective::AllReduce, Algorithm::NvlsTree, |p| {
            p.nvls = Some(with);
        });
        let across = Wire::new(us(0.0), nic(&topology)).unwrap();
        let law = nvls_tree(nodes, 8, LARGE, &with, &across).unwrap();
        let transfer = tree.parts(LARGE).transfer.get();
        assert!(
            (transfer / law.transfer.get() - 1.0).abs() < 1e-6,
            "{nodes} nodes: {transfer}"
        );
        let latency = tree.parts(Bytes::new(8)).latency.get();
        let fixed = 60.0 - Parameters::of(&topology).software.get();
        assert!(latency > fixed, "{nodes} nodes: {latency}");
    }
}

#[test]
fn trees_go_over_nodes_with_chains_inside() {
    for nodes in [4, 8] {
        let topology = h100(nodes);
        let pieces = NonZeroU32::new(1 << 14).unwrap();
        let tree = plan(&topology, Collective::AllReduce, Algorithm::Tree, |p| {
            p.pieces = Pieces::Count(pieces);
        });
        // The chains carry 2 x 7/8 M through NVLink, the trees 2 M/8 through each NIC: half of
        // the ring's bus bandwidth, as NCCL has it.
        let busbw = tree.predict(&topology, LARGE).busbw().unwrap().get();
        let nics = 8.0 * nic(&topology).get();
        let algbw = (nics / 2.0).min(inside(&topology).get() / 1.75);
        let expected = Collective::AllReduce.bus_factor(nodes * 8) * algbw;
        assert!(
            (busbw / expected - 1.0).abs() < 0.01,
            "{nodes} nodes: {busbw} {expected}"
        );
        // 2 [(g-1) inside + lg n across].
        let hop = |to| {
            let route = topology.route(ChipId::new(0), ChipId::new(to));
            topology.route_latency(&route).get()
        };
        let latency = 2.0 * (7.0 * hop(1) + f64::from(nodes.ilog2()) * hop(8));
        let small = plan(&topology, Collective::AllReduce, Algorithm::Tree, |p| {
            p.step = StepCost::FREE;
        });
        let found = small.parts(Bytes::new(8)).latency.get();
        assert!(
            (found / latency - 1.0).abs() < 1e-9,
            "{nodes} nodes: {found} {latency}"
        );
    }
}

#[test]
fn aggregation_does_not_slow_down_with_nodes() {
    let time = |nodes| {
        let topology = h100(nodes);
        let direct = plan(
            &topology,
            Collective::AllReduce,
            Algorithm::CollNetDirect,
            |_| (),
        );
        direct.time(LARGE).get()
    };
    assert!((time(2) / time(8) - 1.0).abs() < 1e-9);
    let topology = h100(4);
    let ranks_per_node = NonZeroU32::MIN;
    let alone = plan(
        &topology,
        Collective::AllReduce,
        Algorithm::CollNetDirect,
        |p| {
            p.placement = Placement::PerNode(ranks_per_node);
        },
    );
    let with = InSwitch {
        alpha: us(31.0),
        rate: nic(&topology),
    };
    let law = sharp(LARGE, &with).unwrap().total().get();
    assert!((alone.time(LARGE).get() / law - 1.0).abs() < 1e-9);
    // Twice the ring for many nodes.
    let ring = plan(&topology, Collective::AllReduce, Algorithm::Ring, |p| {
        p.placement = Placement::PerNode(ranks_per_node);
    });
    let gain = ring.time(LARGE).get() / law;
    assert!((gain - 1.5).abs() < 1e-3, "{gain}");
    let none = Parameters {
        sharp: None,
        ..Parameters::of(&topology)
    };
    let refused = Plan::new(
        &topology,
        Collective::AllReduce,
        Algorithm::CollNetDirect,
        32,
        &none,
    );
    assert!(refused.unwrap_err().to_string().contains("[sharp]"));
}
