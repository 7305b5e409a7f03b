//! The times on which message-level simulators agree: 50 GB/s and 500 ns per link, the closed
//! form 2(N-1)(hops · 500 ns + M/(N B)) and its relatives.

use tier6_collective::{Algorithm, Collective, Grain, Handshake};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, G5Parameters, Lowered, RingPace, RingProgram, RunResult,
};
use tier6_system::{ChipId, Topology};
use tier6_units::{Bytes, SimTime};

use super::harness::{
    assert_published, fat_tree, full_mesh, ideal, options, ring, schedule, simulate, simulate_on,
    star, star_of,
};

const MIB: u64 = 1 << 20;

fn ring_all_reduce(n_ranks: u32, bytes: u64) -> RingProgram {
    let (collective, bytes) = (Collective::AllReduce, Bytes::new(bytes));
    RingProgram::new(
        collective,
        n_ranks,
        bytes,
        Grain::Message,
        RingPace::Arrival,
    )
    .unwrap()
}

fn on(topology: &Topology, bytes: u64) -> RunResult {
    let program = ring_all_reduce(topology.n_chips(), bytes);
    simulate(&program, topology, &G5Parameters::ideal())
}

#[test]
fn ring_all_reduce_on_a_ring() {
    for (n_chips, bytes, us) in [
        (8, 64 << 10, 9.29),
        (8, 16 * MIB, 594.20),
        (8, 1024 * MIB, 37_587.96),
        (64, 64 << 10, 65.58),
        (64, 16 * MIB, 723.60),
        (64, 1024 * MIB, 42_341.58),
    ] {
        assert_published(&on(&ring(n_chips), bytes), us);
    }
}

#[test]
fn ring_all_reduce_on_a_ring_of_256() {
    let ring = ring(256);
    for (bytes, us) in [
        (64 << 10, 257.61),
        (16 * MIB, 923.47),
        (1024 * MIB, 43_036.90),
    ] {
        assert_published(&on(&ring, bytes), us);
    }
}

#[test]
fn ring_all_reduce_on_a_star_and_a_full_mesh() {
    assert_published(&on(&star(64), 16 * MIB), 786.60);
    assert_published(&on(&star(256), 16 * MIB), 1178.47);
    assert_published(&on(&full_mesh(64), 16 * MIB), 723.60);
    assert_published(&on(&full_mesh(256), 16 * MIB), 923.47);
}

/// Published with four hops for every step: that of a ring whose ranks wait until their own send
/// has arrived, since some pair of every step is four hops apart.
#[test]
fn ring_all_reduce_on_a_fat_tree_when_sends_are_awaited() {
    for (n_chips, down, us) in [(64, 8, 912.60), (256, 16, 1688.47)] {
        let options = options(n_chips, 16 * MIB);
        let waiting = schedule(Collective::AllReduce, Algorithm::SendRecvRing, &options);
        let waiting = Lowered::new(&waiting).with_handshake(Handshake::Eager);
        let result = simulate(&waiting, &fat_tree(n_chips, down), &G5Parameters::ideal());
        assert_published(&result, us);
    }
}

/// The same time without waiting, when every neighbour is under another leaf.
#[test]
fn ring_all_reduce_on_a_fat_tree_from_leaf_to_leaf() {
    let (leaves, down) = (8, 8);
    let chips: Vec<ChipId> = (0..leaves * down)
        .map(|rank| ChipId::new(rank % leaves * down + rank / leaves))
        .collect();
    let program = ring_all_reduce(64, 16 * MIB);
    let topology = fat_tree(64, 8);
    let result = simulate_on(&program, &chips, &topology, &G5Parameters::ideal());
    assert_published(&result, 912.60);
}

/// With neighbours under one leaf where possible, a block meets four hops once per leaf: the
/// latency of a ring is that of the way round, not that of the slowest pair in every step.
#[test]
fn ring_all_reduce_on_a_fat_tree_meets_long_hops_once_per_leaf() {
    let result = on(&fat_tree(64, 8), 16 * MIB);
    let chunk = 20 * 16 * MIB / 64;
    // 126 hops from the best start: 16 times between leaves, 110 times inside one.
    let latency = 16 * 2_000_000 + 110 * 1_000_000;
    assert_eq!(result.total, SimTime::from_ps(126 * chunk + latency));
}

#[test]
fn all_to_all_distance_by_distance() {
    for (n_chips, us) in [(64, 393.30), (256, 589.23)] {
        let bytes = Bytes::new(16 * MIB);
        let order = ExchangeOrder::ByDistance;
        let program = ExchangeProgram::new(n_chips, bytes, Grain::Message, order).unwrap();
        let result = simulate(&program, &star(n_chips), &G5Parameters::ideal());
        assert_published(&result, us);
    }
}

#[test]
fn all_to_all_at_once() {
    for (n_chips, us) in [(64, 331.30), (256, 335.23)] {
        let bytes = Bytes::new(16 * MIB);
        let order = ExchangeOrder::AllAtOnce;
        let program = ExchangeProgram::new(n_chips, bytes, Grain::Message, order).unwrap();
        let result = simulate(&program, &star(n_chips), &G5Parameters::ideal());
        assert_published(&result, us);
    }
}

/// A fat tree whose leaves have a spine per chip is as good as one switch, two hops further.
#[test]
fn all_to_all_at_once_on_a_fat_tree() {
    let bytes = Bytes::new(16 * MIB);
    let order = ExchangeOrder::AllAtOnce;
    let program = ExchangeProgram::new(64, bytes, Grain::Message, order).unwrap();
    let result = simulate(&program, &fat_tree(64, 8), &G5Parameters::ideal());
    assert_published(&result, 332.30);
}

#[test]
fn an_incast_of_eight() {
    // Eight blocks of 16 MiB to the root, whose own is the ninth; half a microsecond away.
    let gather = schedule(
        Collective::Gather,
        Algorithm::Direct,
        &options(9, 9 * 16 * MIB),
    );
    assert_published(&ideal(&gather, &star_of(9, 250)), 2684.85);
}
