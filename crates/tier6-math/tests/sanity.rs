//! The rules of FACTS E.7: what the engine says itself is never odd, and known faults are.

use tier6_collective::{Algorithm, Collective, Grain};
use tier6_math::{Oddity, Parameters, Plan, StepCost, against_its_halves, oddities, over_ranks};
use tier6_system::{FabricSpec, SystemSpec, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

fn sizes() -> Vec<Bytes> {
    (0..34).map(|bits| Bytes::new(1 << bits)).collect()
}

fn ring(ranks: u32) -> Topology {
    let fabric = FabricSpec::ring();
    let spec = SystemSpec::uniform(ranks, fabric, GbPerSec::new(450.0), Micros::new(0.1));
    spec.resolve().unwrap()
}

fn plan(topology: &Topology, collective: Collective, grain: Grain) -> Plan {
    let parameters = Parameters {
        grain,
        software: Micros::new(26.0),
        step: StepCost::alike(Micros::new(0.07)),
        ..Parameters::of(topology)
    };
    let ranks = topology.n_chips();
    Plan::new(topology, collective, Algorithm::Ring, ranks, &parameters).unwrap()
}

fn series(plan: &Plan) -> Vec<(Bytes, Micros)> {
    let sizes = sizes().into_iter();
    sizes.map(|bytes| (bytes, plan.time(bytes))).collect()
}

#[test]
fn no_prediction_is_odd() {
    for name in ["h100-x8", "h100-x8-ib-ndr", "a100-x8-efa", "dgx1"] {
        let topology = preset(name).unwrap().resolve().unwrap();
        let parameters = Parameters::of(&topology);
        for algorithm in Algorithm::ALL {
            for collective in tier6_collective::offered(algorithm) {
                let ranks = topology.n_chips();
                let plan = Plan::new(&topology, *collective, algorithm, ranks, &parameters);
                if let Ok(plan) = plan {
                    let odd = oddities(&plan, &series(&plan), 1e-9);
                    assert!(odd.is_empty(), "{name} {algorithm} {collective}: {odd:?}");
                }
            }
        }
    }
    // Whatever the grain, one plan's times are within the bracket of another's.
    let topology = ring(8);
    let grains = [1 << 10, 1 << 16, 1 << 22].map(|bytes| Grain::Slices { bytes });
    for grain in grains.into_iter().chain([Grain::Message]) {
        let plan = plan(&topology, Collective::AllReduce, grain);
        for other in grains.into_iter().chain([Grain::Message]) {
            let other = self::plan(&topology, Collective::AllReduce, other);
            let odd = oddities(&other, &series(&plan), 1e-9);
            assert!(odd.is_empty(), "{grain:?}: {odd:?}");
        }
    }
}

#[test]
fn times_outside_a_ring_are_odd_on_either_side() {
    let topology = ring(8);
    let plan = plan(&topology, Collective::AllReduce, Grain::Message);
    let bytes = Bytes::new(64 << 20);
    // C is 18.64 us and h 0.17 us: 14 steps take 261.0 to 263.5 us after 26 us of software.
    let check = |us: f64, expected: usize| {
        let odd = oddities(&plan, &[(bytes, Micros::new(us))], 1e-6);
        let odd = odd
            .iter()
            .filter(|odd| matches!(odd, Oddity::OutsideRing { .. }));
        assert_eq!(odd.count(), expected, "{us}");
    };
    check(286.5, 1);
    check(288.0, 0);
    check(290.0, 1);
    let odd = oddities(&plan, &[(bytes, Micros::new(100.0))], 1e-6);
    assert!(
        odd.iter()
            .any(|odd| matches!(odd, Oddity::BelowBound { .. }))
    );
    assert_eq!(
        odd[0].to_string(),
        "64 MiB in 100.000 us: no algorithm takes less than 156.489 us"
    );
}

#[test]
fn in_switch_reduction_shows_as_a_bus_above_the_wire() {
    let topology = preset("h100-x8").unwrap().resolve().unwrap();
    let parameters = Parameters::of(&topology);
    let plan = |algorithm| {
        let collective = Collective::AllReduce;
        Plan::new(&topology, collective, algorithm, 8, &parameters).unwrap()
    };
    // 1 GiB at 480 GB/s of bus bandwidth, after 22 us of software.
    let us = 22.0 + 1.75 * (1_u64 << 30) as f64 / 480e3;
    let series = [(Bytes::new(1 << 30), Micros::new(us))];
    let above = |plan: &Plan| {
        let odd = oddities(plan, &series, 0.01);
        odd.iter()
            .any(|odd| matches!(odd, Oddity::AboveWire { .. }))
    };
    assert!(above(&plan(Algorithm::TwoShot)));
    assert!(!above(&plan(Algorithm::Nvls)));
}

#[test]
fn a_larger_message_that_takes_less_is_told() {
    let topology = ring(4);
    let plan = plan(&topology, Collective::AllGather, Grain::Message);
    let mut series = series(&plan);
    series.truncate(4);
    series[2].1 = Micros::new(series[1].1.get() * 0.9);
    let odd = oddities(&plan, &series, 0.05);
    let falling = odd
        .iter()
        .filter(|odd| matches!(odd, Oddity::Falling { .. }));
    assert_eq!(falling.count(), 1);
}

#[test]
fn an_all_reduce_is_its_halves() {
    let topology = ring(8);
    let of = |collective| plan(&topology, collective, Grain::Slices { bytes: 1 << 16 });
    let all_reduce = of(Collective::AllReduce);
    let halves = [Collective::ReduceScatter, Collective::AllGather].map(of);
    for bytes in sizes() {
        let halves = [0, 1].map(|at: usize| halves[at].time(bytes));
        let odd = |us| against_its_halves(&all_reduce, bytes, Micros::new(us), halves, 1e-9);
        let time = all_reduce.time(bytes).get();
        assert_eq!(odd(time), None);
        assert!(odd(time + 1.0).is_some());
    }
}

/// FACTS finding 5: a bidirectional ring with 2 ceil(N/2) chunks takes the same at every N.
#[test]
fn the_bidirectional_ring_of_document_004_is_found_out() {
    let plans: Vec<Plan> = [4, 8, 16, 32]
        .map(|ranks| plan(&ring(ranks), Collective::AllReduce, Grain::Message))
        .into();
    let bytes = Bytes::new(16 << 20);
    let odd = |times: [f64; 4]| {
        let calls: Vec<(&Plan, Micros)> = plans.iter().zip(times.map(Micros::new)).collect();
        over_ranks(bytes, &calls, 0.005)
    };
    assert!(odd([104.1, 104.2, 104.1, 104.5]).is_some());
    let own = [0, 1, 2, 3].map(|at: usize| plans[at].time(bytes).get());
    assert_eq!(odd(own), None);
}
