//! FACTS B.4 from link loads: what schedules cost on a ring of links in both directions.

use tier6_collective::{Algorithm, BuildOptions, Collective, Distance, Grain, build};
use tier6_math::law::ring_contention;
use tier6_math::{Channels, LinkLoads, Parameters, Pieces, Plan, Spread, StepCost, all_to_all_cut};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

/// 1 GB/s: a microsecond per 1000 bytes.
fn ring(chips: u32) -> Topology {
    let fabric = FabricSpec::ring();
    let spec = SystemSpec::uniform(chips, fabric, GbPerSec::new(1.0), Micros::new(0.0));
    spec.resolve().unwrap()
}

fn loads(
    collective: Collective,
    algorithm: Algorithm,
    ranks: u32,
    distance: Distance,
    spread: Spread,
) -> LinkLoads {
    let mut options = BuildOptions::new(ranks, Bytes::new(1 << 20));
    options.distance = distance;
    let schedule = build(collective, algorithm, &options).unwrap();
    let chips: Vec<ChipId> = (0..ranks).map(ChipId::new).collect();
    LinkLoads::of_schedule(&schedule, &ring(ranks), &chips, spread).unwrap()
}

#[test]
fn the_table_of_facts_b4_follows_from_link_loads() {
    // Ring, halving-doubling near first and far first, recursive doubling, Swing, double tree in
    // one piece and piped, pairwise, and the bisection floor of AllToAll; the digits as printed.
    let table: [(u32, [f64; 9]); 4] = [
        (4, [1.50, 2.0, 2.5, 3.0, 1.50, 3.0, 2.0, 1.00, 0.50]),
        (8, [1.75, 3.0, 5.25, 7.0, 2.00, 5.0, 2.5, 2.00, 1.00]),
        (16, [1.875, 4.0, 10.625, 15.0, 2.375, 7.0, 3.5, 4.00, 2.00]),
        (32, [1.9375, 5.0, 21.3125, 31.0, 2.75, 9.0, 4.5, 8.00, 4.00]),
    ];
    for (ranks, expected) in table {
        let reduce = |algorithm, distance| {
            let spread = Spread::Preferred;
            loads(Collective::AllReduce, algorithm, ranks, distance, spread)
        };
        let near = Distance::Doubling;
        let exchange = |spread| {
            let algorithm = Algorithm::Pairwise;
            loads(Collective::AllToAll, algorithm, ranks, near, spread)
        };
        let tree = reduce(Algorithm::Tree, near);
        let found = [
            reduce(Algorithm::Ring, near).step_us_per_byte(),
            reduce(Algorithm::HalvingDoubling, near).step_us_per_byte(),
            reduce(Algorithm::HalvingDoubling, Distance::Halving).step_us_per_byte(),
            reduce(Algorithm::RecursiveDoubling, near).step_us_per_byte(),
            reduce(Algorithm::Swing, near).step_us_per_byte(),
            tree.step_us_per_byte(),
            tree.floor_us_per_byte,
            exchange(Spread::Preferred).step_us_per_byte(),
            exchange(Spread::Even).floor_us_per_byte,
        ];
        for (column, (found, expected)) in found.iter().zip(expected).enumerate() {
            let coefficient = found * 1e3;
            assert!(
                (coefficient - expected).abs() < 1e-9,
                "N = {ranks}, column {column}: {coefficient}"
            );
        }
        let cut = all_to_all_cut(ranks, Bytes::new(1000), GbPerSec::new(2.0)).unwrap();
        assert!((cut.get() - expected[8]).abs() < 1e-9);
    }
}

#[test]
fn splitting_the_exchange_across_saves_half_a_message() {
    for ranks in [4, 8, 16, 32] {
        let time = |spread| {
            let algorithm = Algorithm::HalvingDoubling;
            let near = Distance::Doubling;
            loads(Collective::AllReduce, algorithm, ranks, near, spread).step_us_per_byte()
        };
        let saved = (time(Spread::Preferred) - time(Spread::Even)) * 1e3;
        assert!((saved - 0.5).abs() < 1e-9, "N = {ranks}: {saved}");
    }
}

#[test]
fn the_engine_pays_for_contention_without_a_factor() {
    for ranks in 3..=33 {
        let topology = ring(ranks);
        let parameters = Parameters {
            software: Micros::new(0.0),
            step: StepCost::FREE,
            ..Parameters::of(&topology)
        };
        let plan = Plan::new(
            &topology,
            Collective::AllToAll,
            Algorithm::Pairwise,
            ranks,
            &parameters,
        );
        let parts = plan.unwrap().parts(Bytes::new(1_000_000));
        let n = f64::from(ranks);
        let alone = (n - 1.0) / n * 1000.0;
        let factor = ring_contention(ranks).unwrap();
        assert!((parts.transfer.get() - alone).abs() < 1e-6, "N = {ranks}");
        let stall = alone * (factor - 1.0);
        assert!((parts.stall.get() - stall).abs() < 1e-6, "N = {ranks}");
    }
}

#[test]
fn the_busiest_link_of_a_lopsided_graph_is_named() {
    let toml = r#"
        name = "lopsided"
        [chip]
        name = "chip"
        [links.wide]
        rate = "10 GB/s"
        latency = "1 us"
        efficiency = 1.0
        [links.thin]
        rate = "1 GB/s"
        latency = "1 us"
        efficiency = 1.0
        [[tier]]
        name = "node"
        count = 4
        link = "wide"
        fabric = "graph"
        vertices = []
        edges = [
            { from = "chip0", to = "chip1" },
            { from = "chip1", to = "chip2" },
            { from = "chip2", to = "chip3", link = "thin" },
            { from = "chip3", to = "chip0" },
        ]
    "#;
    let topology = Topology::from_toml(toml).unwrap();
    // One ring: in all orders it would use these links both ways.
    let parameters = Parameters {
        channels: Channels::One,
        ..Parameters::of(&topology)
    };
    let plan = Plan::new(
        &topology,
        Collective::AllReduce,
        Algorithm::Ring,
        4,
        &parameters,
    );
    let prediction = plan.unwrap().predict(&topology, Bytes::new(1 << 30));
    assert!(
        prediction
            .sentence
            .starts_with("chip2 to chip3 (thin) carries 1610.613 MB"),
        "{}",
        prediction.sentence
    );
    // Ring neighbours of a slow link wait for it: 1.5 M at 1 GB/s.
    let transfer = 1.5 * f64::from(1 << 30) / 1e3;
    assert!((prediction.parts.transfer.get() - transfer).abs() < 1e-3);
    assert_eq!(prediction.links.len(), 4);
}

#[test]
fn rings_in_all_orders_use_all_links_of_a_chip() {
    // Six links of 20 GB/s per V100, seven of 48 per MI300X, twelve of 19.5 per A100: NCCL's own
    // graph bandwidth on the first; 313 and 235 GB/s are measured on MI300X and A100.
    for (system, expected) in [
        ("v100-nv2-x4", 120.0),
        ("dgx1", 120.0),
        ("mi300x-x8", 336.0),
        ("a100-x4", 234.0),
    ] {
        let topology = tier6_system::preset(system).unwrap().resolve().unwrap();
        let parameters = Parameters::of(&topology);
        let ranks = topology.n_chips();
        for collective in [
            Collective::AllReduce,
            Collective::Broadcast,
            Collective::Reduce,
        ] {
            let plan = Plan::new(&topology, collective, Algorithm::Ring, ranks, &parameters);
            let prediction = plan.unwrap().predict(&topology, Bytes::new(1 << 40));
            let busbw = prediction.busbw().unwrap().get();
            assert!(
                (busbw - expected).abs() < 0.01,
                "{system} {collective}: {busbw}"
            );
        }
    }
}

#[test]
fn each_channel_of_a_chain_forwards_slices_of_its_own() {
    let topology = tier6_system::preset("v100-nv2-x4").unwrap();
    let topology = topology.resolve().unwrap();
    let time = |grain, pieces| {
        let parameters = Parameters {
            grain,
            pieces: Pieces::Of(Bytes::new(pieces)),
            ..Parameters::of(&topology)
        };
        let (collective, ring) = (Collective::Broadcast, Algorithm::Ring);
        let plan = Plan::new(&topology, collective, ring, 4, &parameters);
        plan.unwrap().time(Bytes::new(64 << 20))
    };
    let slices = Grain::Slices { bytes: 64 << 10 };
    assert_eq!(time(slices, 1 << 20), time(Grain::Message, 6 * (64 << 10)));
}
