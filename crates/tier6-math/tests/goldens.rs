//! Closed forms against the numbers of the source documents and of FACTS E.6.

use std::num::NonZeroU32;
use tier6_collective::{Algorithm, BidirForm, Collective, Grain, Handshake};
use tier6_math::law::{
    Egress, LawError, Wire, best_pieces, bidir_ring, chain, double_binary_tree, halving_doubling,
    point_to_point, ring, ring_contention,
};
use tier6_math::{MathEngine, Parameters, Plan, StepCost, method_a, method_b};
use tier6_system::{FabricSpec, SystemSpec, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn us(value: f64) -> Micros {
    Micros::new(value)
}

fn wire(alpha_us: f64, gb_per_s: f64) -> Wire {
    Wire::new(us(alpha_us), GbPerSec::new(gb_per_s)).unwrap()
}

fn crossbar(chips: u32, gb_per_s: f64) -> Topology {
    let fabric = FabricSpec::star();
    let spec = SystemSpec::uniform(chips, fabric, GbPerSec::new(gb_per_s), us(0.0));
    spec.resolve().unwrap()
}

#[test]
fn a_step_costs_0_59_us_by_method_a_and_26_2_us_a_ring_by_method_b() {
    let h200 = preset("h200-x8").unwrap().resolve().unwrap();
    let step = &h200.constants().step;
    assert!((method_a(2, step).get() - 0.59).abs() < 1e-12);
    assert!((method_a(8, step).get() - 7.0 * 0.59).abs() < 1e-12);
    let alpha = method_b(8, 2, us(0.936)).get();
    assert!((alpha - 26.208).abs() < 1e-12, "{alpha}");
    // What the route does not charge: a running pipeline hides it, a start from rest does not.
    let cost = StepCost::from_components(step);
    assert!(cost.pipelined.get().abs() < 1e-12);
    assert!((cost.standalone.get() - 0.29).abs() < 1e-12);
}

#[test]
fn the_ring_by_slices_takes_the_larger_of_chunk_and_hop() {
    // C = 1 us: N bytes at 1 GB/s are 1 ns each, so a chunk of 1000 bytes.
    let law = |ranks: u32, chunk_us: u64, slices: u64| {
        let chunk = chunk_us * 64_000;
        let bytes = Bytes::new(u64::from(ranks) * chunk);
        let slice = Grain::Slices {
            bytes: chunk / slices,
        };
        let wire = wire(1.0, 64.0);
        let parts = ring(Collective::AllReduce, ranks, bytes, &wire, slice).unwrap();
        parts.total().get()
    };
    assert!((law(8, 1, 1) - 28.0).abs() < 1e-9);
    assert!((law(8, 1, 4) - 18.25).abs() < 1e-9);
    assert!((law(8, 1, 64) - 15.203_125).abs() < 1e-9);
    assert!((law(32, 10, 4) - 621.0).abs() < 1e-9);
    // One slice is the sum over whole messages.
    let bytes = Bytes::new(8 * 64_000);
    let sum = ring(
        Collective::AllReduce,
        8,
        bytes,
        &wire(1.0, 64.0),
        Grain::Message,
    )
    .unwrap();
    assert!((sum.total().get() - 28.0).abs() < 1e-9);
}

/// The Math column of source document 003 and of its table of eight A100s.
const DOCUMENT_003: [(&str, f64, u64, &str); 16] = [
    ("H200", 441.0, 64 * KIB, "26.3"),
    ("H200", 441.0, 256 * KIB, "27.0"),
    ("H200", 441.0, MIB, "30.2"),
    ("H200", 441.0, 4 * MIB, "42.6"),
    ("H200", 441.0, 16 * MIB, "92.6"),
    ("H200", 441.0, 64 * MIB, "292.3"),
    ("H200", 441.0, 256 * MIB, "1091.2"),
    ("H200", 441.0, GIB, "4286.9"),
    ("H200", 441.0, 4 * GIB, "17069.5"),
    ("A100", 216.0, 8, "26.0"),
    ("A100", 216.0, 32 * KIB, "26.3"),
    ("A100", 216.0, 128 * KIB, "27.1"),
    ("A100", 216.0, 2 * MIB, "43.0"),
    ("A100", 216.0, 32 * MIB, "297.9"),
    ("A100", 216.0, 128 * MIB, "1113.4"),
    ("A100", 216.0, 512 * MIB, "4375.6"),
];

#[test]
fn document_003_is_reproduced_to_the_printed_digit() {
    for (machine, rate, bytes, printed) in DOCUMENT_003 {
        let bytes = Bytes::new(bytes);
        let wire = wire(0.0, rate);
        let law = ring(Collective::AllReduce, 8, bytes, &wire, Grain::Message).unwrap();
        let law = law.after(us(26.0)).total().get();
        assert_eq!(format!("{law:.1}"), printed, "{machine} {bytes}: law");

        let system = crossbar(8, rate);
        let parameters = Parameters {
            software: us(26.0),
            step: StepCost::FREE,
            ..Parameters::of(&system)
        };
        let plan = Plan::new(
            &system,
            Collective::AllReduce,
            Algorithm::Ring,
            8,
            &parameters,
        );
        let time = plan.unwrap().time(bytes).get();
        assert_eq!(format!("{time:.1}"), printed, "{machine} {bytes}: engine");
    }
}

#[test]
fn document_004_theory() {
    let wire = wire(2.0, 450.0);
    let total = |ranks, bytes| {
        let bytes = Bytes::new(bytes);
        let parts = ring(Collective::AllReduce, ranks, bytes, &wire, Grain::Message);
        parts.unwrap().total().get()
    };
    // Printed as 413 us.
    let largest = total(32, 64 * MIB);
    assert!((largest - 413.0).abs() < 0.1, "{largest}");
    let ratio = |ranks| {
        let bytes = Bytes::new(16 * MIB);
        let (form, egress) = (BidirForm::ShortSide, Egress::Shared);
        let both = bidir_ring(Collective::AllReduce, ranks, bytes, &wire, form, egress);
        total(ranks, 16 * MIB) / both.unwrap().total().get()
    };
    assert_eq!(format!("{:.3}", ratio(4)), "1.063");
    assert_eq!(format!("{:.2}", ratio(32)), "1.44");
    // One piece is the document's tree, lg N M/B.
    let tree = double_binary_tree(8, Bytes::new(64 * MIB), &wire, NonZeroU32::MIN).unwrap();
    let expected = 3.0 * (64 * MIB) as f64 / 450e3;
    assert!((tree.transfer.get() - expected).abs() < 1e-9);
    // The factor that the document asks for.
    assert!((ring_contention(8).unwrap() - 2.2857).abs() < 1e-4);
}

#[test]
fn both_bidirectional_rings_carry_half_a_ring_per_direction() {
    let bytes = Bytes::new(64 * MIB);
    let wire = wire(2.0, 450.0);
    let once = ring(Collective::AllReduce, 9, bytes, &wire, Grain::Message).unwrap();
    for (form, steps) in [(BidirForm::SplitData, 16.0), (BidirForm::ShortSide, 8.0)] {
        let both = bidir_ring(
            Collective::AllReduce,
            9,
            bytes,
            &wire,
            form,
            Egress::OwnLinks,
        );
        let both = both.unwrap();
        assert!((both.transfer.get() * 2.0 - once.transfer.get()).abs() < 1e-9);
        assert!((both.latency.get() - 2.0 * steps).abs() < 1e-9);
    }
}

#[test]
fn trees_reach_two_messages_per_port_with_many_pieces() {
    let bytes = Bytes::new(GIB);
    let wire = wire(0.0, 450.0);
    let time = |k| {
        let pieces = NonZeroU32::new(k).unwrap();
        double_binary_tree(32, bytes, &wire, pieces)
            .unwrap()
            .total()
            .get()
    };
    let limit = 2.0 * GIB as f64 / 450e3;
    assert!(time(1) > 2.4 * limit, "one piece waits for whole halves");
    assert!((time(256) / limit - 1.0).abs() < 0.05);
    assert!(time(256) >= limit);
}

#[test]
fn the_best_number_of_pieces_is_a_minimum() {
    let bytes = Bytes::new(64 * MIB);
    let wire = wire(5.0, 50.0);
    let best = best_pieces(16, bytes, &wire).unwrap();
    let ideal = (14.0 * bytes.as_f64() / (5.0 * 50e3)).sqrt();
    assert!((f64::from(best.get()) - ideal).abs() <= 1.0);
    let time = |k: u32| {
        let k = NonZeroU32::new(k).unwrap();
        let parts = chain(Collective::Broadcast, 16, bytes, &wire, k).unwrap();
        parts.total().get()
    };
    for other in [1, best.get() - 1, best.get() + 1, 4 * best.get()] {
        assert!(time(best.get()) <= time(other), "{other}");
    }
    // Steps that cost nothing: a piece per byte; two ranks: nothing to pipeline.
    assert_eq!(
        best_pieces(16, Bytes::new(64), &self::wire(0.0, 1.0))
            .unwrap()
            .get(),
        64
    );
    assert_eq!(best_pieces(2, bytes, &wire).unwrap().get(), 1);
    assert_eq!(
        best_pieces(2, bytes, &self::wire(0.0, 1.0)).unwrap().get(),
        1
    );
}

#[test]
fn a_message_takes_the_software_time_and_a_round_trip_more_by_rendezvous() {
    let wire = wire(2.0, 450.0);
    let time = |handshake| {
        let bytes = Bytes::new(450_000);
        let parts = point_to_point(bytes, &wire, handshake, us(0.5), us(26.0)).unwrap();
        parts.total().get()
    };
    assert!((time(Handshake::Eager) - 29.0).abs() < 1e-9);
    assert!((time(Handshake::Rendezvous) - 30.0).abs() < 1e-9);
}

#[test]
fn outside_its_domain_a_law_names_the_way_out() {
    let wire = wire(1.0, 1.0);
    let bytes = Bytes::new(64);
    let error = |result: Result<_, LawError>| -> String {
        let _: &tier6_math::Parts = match &result {
            Ok(parts) => parts,
            Err(error) => return error.to_string(),
        };
        panic!("{result:?}")
    };
    let grain = Grain::Message;
    let one = error(ring(Collective::AllReduce, 1, bytes, &wire, grain));
    assert!(one.contains("hint: a collective starts at 2"), "{one}");
    let odd = error(halving_doubling(Collective::AllGather, 6, bytes, &wire));
    assert!(odd.contains("use bruck or ring"), "{odd}");
    let other = error(ring(Collective::AllToAll, 4, bytes, &wire, grain));
    assert!(other.contains("no form for `all_to_all`"), "{other}");
    assert_eq!(
        Wire::new(us(-1.0), GbPerSec::new(1.0)),
        Err(LawError::Time(-1.0))
    );
    assert_eq!(
        Wire::new(us(0.0), GbPerSec::new(0.0)),
        Err(LawError::Rate(0.0))
    );
}

#[test]
fn all_algorithms_are_ranked_and_refusals_say_why() {
    let h100 = preset("h100-x8").unwrap().resolve().unwrap();
    let parameters = Parameters::of(&h100);
    let bytes = Bytes::new(GIB);
    let ranking = MathEngine.rank_algorithms(&h100, Collective::AllReduce, 8, bytes, &parameters);
    let fastest = &ranking.predictions[0];
    assert_eq!(fastest.algorithm, Some(Algorithm::Nvls));
    assert!(
        fastest.sentence.contains("in-switch"),
        "{}",
        fastest.sentence
    );
    for pair in ranking.predictions.windows(2) {
        assert!(pair[0].time().get() <= pair[1].time().get());
    }
    let refused = |algorithm| {
        let found = ranking
            .refused
            .iter()
            .find(|(other, _)| *other == algorithm);
        found.unwrap().1.to_string()
    };
    assert!(refused(Algorithm::Hierarchical).contains("use ring"));
    assert!(refused(Algorithm::TorusBucket).contains("dimensions"));
    assert!(refused(Algorithm::CollNetDirect).contains("hint: use nvls or ring"));
    let many = MathEngine.predict(
        &h100,
        Collective::AllReduce,
        Algorithm::Ring,
        9,
        bytes,
        &parameters,
    );
    assert!(many.unwrap_err().to_string().contains("8 places"));
}
