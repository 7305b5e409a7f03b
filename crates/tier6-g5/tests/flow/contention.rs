//! What a ring of links does to algorithms that were not made for it, and what a right simulator
//! shows where published figures differ (FACTS B.4, B.9).

use tier6_collective::{Algorithm, BidirForm, BuildOptions, Collective, Distance, Grain};
use tier6_g5::{G5Parameters, Lowered};
use tier6_system::{FabricSpec, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

use super::harness::{ideal, options, ring, schedule, simulate, star};

/// Large, so that latency is a ten-thousandth.
const BYTES: u64 = 1 << 30;

/// The time as a multiple of M/b.
fn coefficient(collective: Collective, algorithm: Algorithm, options: &BuildOptions) -> f64 {
    let topology = ring(options.ranks);
    coefficient_on(&topology, collective, algorithm, options)
}

fn coefficient_on(
    topology: &Topology,
    collective: Collective,
    algorithm: Algorithm,
    options: &BuildOptions,
) -> f64 {
    let result = ideal(&schedule(collective, algorithm, options), topology);
    result.total.ps() as f64 / (20 * BYTES) as f64
}

#[track_caller]
fn assert_near(value: f64, expect: f64) {
    let difference = (value / expect - 1.0).abs();
    assert!(difference < 1e-3, "{value}, expected {expect}");
}

#[test]
fn a_ring_on_a_ring_meets_nobody() {
    for (n, expect) in [(4, 1.5), (8, 1.75), (16, 1.875)] {
        let found = coefficient(Collective::AllReduce, Algorithm::Ring, &options(n, BYTES));
        assert_near(found, expect);
    }
}

#[test]
fn halving_and_doubling_pays_for_distance() {
    let at = |n, distance| {
        let mut options = options(n, BYTES);
        options.distance = distance;
        coefficient(Collective::AllReduce, Algorithm::HalvingDoubling, &options)
    };
    for (n, expect) in [(4, 2.0), (8, 3.0), (16, 4.0), (32, 5.0)] {
        assert_near(at(n, Distance::Doubling), expect);
    }
    for (n, expect) in [(4, 2.5), (8, 5.25), (16, 10.625)] {
        assert_near(at(n, Distance::Halving), expect);
    }
}

#[test]
fn recursive_doubling_pays_most() {
    for (n, expect) in [(4, 3.0), (8, 7.0), (16, 15.0)] {
        let options = options(n, BYTES);
        let found = coefficient(
            Collective::AllReduce,
            Algorithm::RecursiveDoubling,
            &options,
        );
        assert_near(found, expect);
    }
}

#[test]
fn exchanges_pay_for_the_bisection() {
    for (n, expect) in [(4_u32, 1.0), (8, 2.0), (16, 4.0)] {
        let options = options(n, BYTES);
        let pairwise = coefficient(Collective::AllToAll, Algorithm::Pairwise, &options);
        assert_near(pairwise, expect);
        // Against the crossbar: N²/(4(N-1)).
        let crossbar = coefficient_on(
            &star(n),
            Collective::AllToAll,
            Algorithm::Pairwise,
            &options,
        );
        // All at once a link carries what goes 1, 2, .. N/2 hops in its direction, and no step
        // waits for its longest way.
        let direct = coefficient(Collective::AllToAll, Algorithm::Direct, &options);
        let n = f64::from(n);
        assert_near(pairwise / crossbar, n * n / (4.0 * (n - 1.0)));
        assert_near(direct, (n + 2.0) / 8.0);
    }
}

/// On a crossbar nothing is in the way: HD costs what the ring costs.
#[test]
fn a_crossbar_makes_algorithms_equal() {
    let (topology, options) = (star(8), options(8, BYTES));
    for algorithm in [Algorithm::Ring, Algorithm::HalvingDoubling] {
        let found = coefficient_on(&topology, Collective::AllReduce, algorithm, &options);
        assert_near(found, 1.75);
    }
    let all_to_all = Collective::AllToAll;
    let found = coefficient_on(&topology, all_to_all, Algorithm::Direct, &options);
    assert_near(found, 0.875);
}

/// The tree in one piece waits at every level; in many pieces it carries 2M/B.
#[test]
fn a_tree_is_slow_in_one_piece_only() {
    let at = |topology: &Topology, pieces| {
        let mut options = options(8, BYTES);
        options.pieces = pieces;
        coefficient_on(topology, Collective::AllReduce, Algorithm::Tree, &options)
    };
    assert_near(at(&ring(8), 1), 5.0);
    let many = at(&star(8), 64);
    assert!((2.0..2.1).contains(&many), "{many}");
}

fn both_ways(form: BidirForm, n: u32, bytes: u64) -> Lowered {
    let mut options = options(n, bytes);
    options.bidir = form;
    Lowered::new(&schedule(
        Collective::AllReduce,
        Algorithm::BidirRing,
        &options,
    ))
}

#[test]
fn both_directions_halve_a_ring_that_has_own_links() {
    let topology = ring(8);
    for form in [BidirForm::SplitData, BidirForm::ShortSide] {
        let result = simulate(
            &both_ways(form, 8, BYTES),
            &topology,
            &G5Parameters::ideal(),
        );
        assert_near(result.total.ps() as f64 / (20 * BYTES) as f64, 1.75 / 2.0);
        for (_, link) in &result.links {
            assert_eq!(link.payload_bytes, BYTES / 8 * 7);
        }
    }
}

/// One port for both directions carries the same bytes as a ring: only latencies are saved.
#[test]
fn both_directions_gain_nothing_from_a_shared_port() {
    let topology = ring(8);
    let mut shared = G5Parameters::ideal();
    shared.cdma.rate = Some(ByteTime::at(GbPerSec::new(50.0)));
    for bytes in [1 << 16, 1 << 20, BYTES] {
        let uni = ideal(
            &schedule(Collective::AllReduce, Algorithm::Ring, &options(8, bytes)),
            &topology,
        );
        let both = simulate(
            &both_ways(BidirForm::ShortSide, 8, bytes),
            &topology,
            &shared,
        );
        // 14 latencies against 8.
        let saved = 6 * 500_000;
        let (uni, both) = (uni.total.ps(), both.total.ps());
        assert!(both + saved >= uni && both <= uni, "{both} and {uni}");
    }
}

/// A bidirectional ring that sends every chunk both ways: the antipodal one arrives twice, and the
/// bytes are N/(N-1) of a ring's.
fn chunks_sent_both_ways(n: u32, bytes: u64) -> Lowered {
    use std::fmt::Write;
    let mut transfers = String::new();
    for step in 0..n {
        for port in 0..2 {
            for src in 0..n {
                let (forth, back) = if port == 0 { (1, n - 1) } else { (n - 1, 1) };
                let (dst, before) = ((src + forth) % n, (src + back) % n);
                let chunk = (src + back * step) % n;
                let after = step
                    .checked_sub(1)
                    .map(|last| (last * 2 + port) * n + before);
                let after = after.map_or(String::new(), |id| id.to_string());
                let comma = if transfers.is_empty() { "" } else { "," };
                write!(
                    transfers,
                    r#"{comma}{{"route":"send","src":{src},"dst":{dst},"op":"copy","port":{port},
                    "pieces":[{{"from":"recv:{chunk}","to":"recv:{chunk}"}}],"after":[{after}]}}"#
                )
                .unwrap();
            }
        }
    }
    let text = format!(
        r#"{{"schema":"tier6.schedule/1","collective":"all_reduce","algorithm":null,
        "ranks":{n},"bytes":{bytes},"placement":"in_place","chunks":{n},
        "slice_bytes":65536,"transfers":[{transfers}]}}"#
    );
    Lowered::new(&tier6_collective::read_json(&text).unwrap())
}

/// The published 104.1 us of a bidirectional ring at every N (16 MiB; 337.6 at 64 MiB): a call of
/// 26 us, 450 GB/s with 4.38 % of framing shared by both directions, 0.07 us per step, and a
/// schedule that sends N chunks each way. It is slower than the plain ring.
#[test]
fn the_published_time_of_both_directions_is_that_of_a_faulty_schedule() {
    let payload = GbPerSec::new(450.0 / 1.0438);
    let mut shared = G5Parameters::ideal();
    shared.software = SimTime::from_ps(26_000_000);
    shared.cdma.rate = Some(ByteTime::at(payload));
    for (n, mib, published) in [
        (4, 16, 104.1),
        (8, 16, 104.1),
        (16, 16, 104.1),
        (32, 16, 104.1),
        (8, 64, 337.6),
    ] {
        let fabric = FabricSpec::ring();
        let spec = SystemSpec::uniform(n, fabric, payload, Micros::new(0.07));
        let topology = spec.resolve().unwrap();
        let bytes = mib << 20;
        let faulty = simulate(&chunks_sent_both_ways(n, bytes), &topology, &shared);
        let faulty = faulty.total.to_micros().get();
        assert!((faulty - published).abs() < 0.5, "{faulty} us at N = {n}");

        let mut options = options(n, bytes);
        options.grain = Grain::Slices { bytes: 65536 };
        let plain = schedule(Collective::AllReduce, Algorithm::Ring, &options);
        let plain = simulate(&Lowered::new(&plain), &topology, &shared);
        let plain = plain.total.to_micros().get();
        let n = f64::from(n);
        let expect = 26.0 + (plain - 26.0) * n / (n - 1.0);
        assert!((faulty - expect).abs() < 0.2, "{faulty} us, {expect}");
    }
}

/// FACTS B.2 at its ends: many slices hide all latency of a large message, and none of a small
/// one.
#[test]
fn slices_hide_latency_only_behind_bytes() {
    let topology = ring(8);
    let time = |bytes, grain| {
        let mut options = options(8, bytes);
        options.grain = grain;
        let ring = schedule(Collective::AllReduce, Algorithm::Ring, &options);
        ideal(&ring, &topology).total.ps()
    };
    let sliced = Grain::Slices { bytes: 16 << 10 };
    let large = 64 << 20;
    let wire = 14 * 20 * large / 8;
    assert_eq!(time(large, Grain::Message), wire + 14 * 500_000);
    assert_eq!(time(large, sliced), wire + 500_000);
    let small = 8 << 10;
    let hop = 500_000 + 20 * 1024;
    assert_eq!(time(small, sliced), 14 * hop);
    assert_eq!(time(small, Grain::Message), 14 * hop);
}
