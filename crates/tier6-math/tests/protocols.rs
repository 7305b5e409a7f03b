//! NCCL's protocols in the Math engine: other steps, other shares of the rate, the same loads.

use tier6_collective::{Algorithm, Collective, Grain, Protocol};
use tier6_math::{MathEngine, Parameters, Plan, PlanError, Prices, StepPrices};
use tier6_system::{
    ByProtocol, Constant, Efficiency, FabricSpec, Ramp, SystemSpec, Topology, preset,
};
use tier6_units::{Bytes, GbPerSec, Micros};

fn system(name: &str) -> Topology {
    preset(name).unwrap().resolve().unwrap()
}

fn under(topology: &Topology, protocol: Protocol) -> Parameters {
    Parameters {
        protocol: Some(protocol),
        ..Parameters::of(topology)
    }
}

fn all_reduce(topology: &Topology, algorithm: Algorithm, parameters: &Parameters) -> Plan {
    let (collective, ranks) = (Collective::AllReduce, topology.n_chips());
    Plan::new(topology, collective, algorithm, ranks, parameters).unwrap()
}

/// FACTS E.6.1: the library's own ring on four V100, base + 6 steps + bytes, with the base in
/// place of the call. LL reaches 0.5 of 120 GB/s where the library caps it at 39.
#[test]
fn a_ring_is_priced_as_the_tuner_prices_it() {
    let spec = {
        let mut spec = preset("v100-nv2-x4").unwrap();
        let capped = Constant::stated(Efficiency::new(39.0 / 120.0).unwrap());
        spec.link_mut("nvlink2").unwrap().share = Some(ByProtocol {
            ll: Some(capped),
            ..ByProtocol::default()
        });
        spec
    };
    let topology = spec.resolve().unwrap();
    let check = |protocol, base, bytes: u64, expected: f64| {
        let parameters = Parameters {
            software: Micros::new(base),
            ..under(&topology, protocol)
        };
        let time = all_reduce(&topology, Algorithm::Ring, &parameters).time(Bytes::new(bytes));
        assert!(
            (time.get() - expected).abs() < 1e-3,
            "{protocol} {bytes}: {time}"
        );
    };
    check(Protocol::Ll, 6.6, 1, 10.2);
    check(Protocol::Ll, 6.6, 1 << 10, 10.239);
    check(Protocol::Ll, 6.6, 1 << 18, 20.282);
    check(Protocol::Ll, 6.6, 1 << 19, 30.365);
    check(Protocol::Ll128, 14.0, 1 << 20, 39.647);
    check(Protocol::Ll128, 14.0, 1 << 21, 53.894);
    check(Protocol::Simple, 8.4, 1 << 22, 81.229);
    check(Protocol::Simple, 8.4, 1 << 26, 867.661);
}

#[test]
fn latency_is_bought_with_bandwidth() {
    for name in ["h100-x8", "a100-x8", "v100-nv2-x4"] {
        let topology = system(name);
        let ranks = topology.n_chips();
        let parameters = Parameters::of(&topology);
        let ring = Algorithm::Ring;
        let plans = Plan::by_protocol(&topology, Collective::AllReduce, ring, ranks, &parameters);
        let plans = plans.unwrap();
        let fastest = |bytes: u64| {
            let time = |plan: &Plan| plan.time(Bytes::new(bytes)).get();
            let by_time = plans.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
            by_time.unwrap().protocol().unwrap()
        };
        let chosen: Vec<Protocol> = (0..36).map(|bits| fastest(1 << bits)).collect();
        assert!(
            chosen.is_sorted_by_key(|protocol| *protocol as u32),
            "{name}: {chosen:?}"
        );
        assert_eq!(chosen[0], Protocol::Ll, "{name}");
        assert!(chosen.contains(&Protocol::Ll128), "{name}");
        assert_eq!(chosen[35], Protocol::Simple, "{name}");
    }
}

#[test]
fn a_plan_of_all_protocols_is_each_of_them() {
    let topology = preset("h100-x8-ib-ndr").unwrap().with_outer_count(3);
    let topology = topology.resolve().unwrap();
    for algorithm in [Algorithm::Ring, Algorithm::Tree, Algorithm::HalvingDoubling] {
        let ranks = 24;
        let collective = Collective::AllReduce;
        let parameters = Parameters::of(&topology);
        let all = Plan::by_protocol(&topology, collective, algorithm, ranks, &parameters).unwrap();
        assert_eq!(all.len(), 3);
        for plan in all {
            let protocol = plan.protocol().unwrap();
            let one = all_reduce(&topology, algorithm, &under(&topology, protocol));
            assert_eq!(one.prices(), plan.prices());
            for bytes in [0, 1 << 10, 1 << 30].map(Bytes::new) {
                assert_eq!(
                    one.parts(bytes),
                    plan.parts(bytes),
                    "{algorithm} {protocol}"
                );
                let said = plan.predict(&topology, bytes);
                assert_eq!(said.protocol, Some(protocol));
            }
        }
    }
}

#[test]
fn steps_across_nodes_cost_a_network_step() {
    let topology = system("h100-x8-ib-ndr");
    let steps = |algorithm| {
        let plan = all_reduce(&topology, algorithm, &under(&topology, Protocol::Simple));
        plan.terms(Bytes::new(0)).steps
    };
    // Of eight channels one leaves the node at each step.
    assert_eq!(steps(Algorithm::Ring), [30.0 * 7.0 / 8.0, 30.0 / 8.0]);
    // 2 [(g-1) inside + lg n across] (FACTS B.3).
    assert_eq!(steps(Algorithm::Tree), [14.0, 2.0]);
    assert_eq!(steps(Algorithm::Hierarchical), [14.0, 2.0]);
    // Partners at distance 1, 2 and 4 are in the node, 8 is not.
    assert_eq!(steps(Algorithm::HalvingDoubling), [6.0, 2.0]);
    // The trees across; what is inside is in α.
    assert_eq!(steps(Algorithm::NvlsTree), [0.0, 2.0]);
    assert_eq!(steps(Algorithm::CollNetDirect), [0.0, 0.0]);
}

#[test]
fn a_longer_way_takes_longer_under_a_protocol_also() {
    let fabric = FabricSpec::ring();
    let mut spec = SystemSpec::uniform(8, fabric, GbPerSec::new(50.0), Micros::new(0.7));
    spec.links[0].step = Some(ByProtocol {
        simple: Some(Constant::stated(Micros::new(3.0))),
        ..ByProtocol::default()
    });
    let topology = spec.resolve().unwrap();
    let plan = all_reduce(
        &topology,
        Algorithm::HalvingDoubling,
        &under(&topology, Protocol::Simple),
    );
    let terms = plan.terms(Bytes::new(0));
    assert_eq!(terms.steps, [6.0]);
    // Distances 1, 2 and 4, there and back: 0, 1 and 3 links more than to a neighbour.
    assert!(
        (terms.fixed_us - 2.0 * 4.0 * 0.7).abs() < 1e-12,
        "{}",
        terms.fixed_us
    );
}

#[test]
fn what_no_protocol_fits_says_so() {
    let h100 = system("h100-x8");
    let refused = |topology: &Topology, algorithm, protocol| {
        let parameters = under(topology, protocol);
        let (collective, ranks) = (Collective::AllReduce, topology.n_chips());
        let plan = Plan::new(topology, collective, algorithm, ranks, &parameters);
        plan.unwrap_err()
    };
    let error = refused(&h100, Algorithm::Nvls, Protocol::Ll);
    assert!(matches!(error, PlanError::Protocol { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "`nvls` runs `simple` alone, not `ll`; hint: use simple"
    );
    let mi300 = system("mi300x-x8");
    let error = refused(&mi300, Algorithm::Ring, Protocol::Ll128);
    assert_eq!(
        error.to_string(),
        "tier `node` of `mi300x-x8` has no step time for `ll128`; hint: set `step` of its link class, or name no protocol"
    );
    // Where there is no protocol, there is the plan without.
    let fabric = FabricSpec::FullMesh;
    let plain = SystemSpec::uniform(4, fabric, GbPerSec::new(50.0), Micros::new(0.7));
    let plain = plain.resolve().unwrap();
    let parameters = Parameters::of(&plain);
    let all = MathEngine.rank_paths(&plain, Collective::AllReduce, 4, Bytes::new(1), &parameters);
    assert!(all.predictions.iter().all(|one| one.protocol.is_none()));
    let one =
        MathEngine.rank_algorithms(&plain, Collective::AllReduce, 4, Bytes::new(1), &parameters);
    assert_eq!(all, one);
}

/// A call, what is changed of its parameters, and its size.
type Case = (&'static str, Algorithm, fn(&mut Parameters), u64);

#[test]
fn terms_are_the_derivatives_of_the_time() {
    let cases: [Case; 10] = [
        ("h100-x8", Algorithm::Ring, |_| (), 1 << 24),
        (
            "h100-x8",
            Algorithm::Ring,
            |p| p.grain = Grain::Slices { bytes: 1 << 14 },
            1 << 16,
        ),
        (
            "h100-x8",
            Algorithm::Ring,
            |p| p.grain = Grain::Slices { bytes: 1 << 14 },
            1 << 30,
        ),
        ("h100-x8-ib-ndr", Algorithm::Ring, |_| (), 1 << 20),
        ("h100-x8-ib-ndr", Algorithm::Tree, |_| (), 1 << 28),
        ("h100-x8-ib-ndr", Algorithm::Hierarchical, |_| (), 1 << 26),
        ("h100-x8-ib-ndr", Algorithm::NvlsTree, |_| (), 1 << 26),
        ("h100-x8-ib-ndr", Algorithm::CollNetDirect, |_| (), 1 << 26),
        ("h100-x8-ib-ndr", Algorithm::Nvls, |_| (), 1 << 26),
        ("h100-x8", Algorithm::Nvls, |_| (), 1 << 26),
    ];
    for (name, algorithm, change, bytes) in cases {
        let topology = system(name);
        let mut parameters = under(&topology, Protocol::Simple);
        change(&mut parameters);
        let plan = all_reduce(&topology, algorithm, &parameters);
        let bytes = Bytes::new(bytes);
        let terms = plan.terms(bytes);
        for (what, prices) in neighbouring(plan.prices()) {
            let exact = plan.at(prices.clone()).unwrap().time(bytes).get();
            let linear = terms.time(&prices).get();
            assert!(
                (exact / linear - 1.0).abs() < 1e-12,
                "{name} {algorithm}, {what}: {exact} {linear}"
            );
        }
        // A price that the message needs moves its time.
        let moved = neighbouring(plan.prices()).into_iter();
        let moved = moved.filter(|(_, prices)| terms.time(prices) != plan.time(bytes));
        assert!(moved.count() >= 1, "{name} {algorithm}");
    }
}

/// Prices of which one is a little higher.
fn neighbouring(prices: &Prices) -> Vec<(String, Prices)> {
    const MORE: f64 = 1.001;
    let more = |us: Micros| Micros::new(us.get() * MORE);
    let mut all = Vec::new();
    let mut add = |what: &str, change: &dyn Fn(&mut Prices)| {
        let mut prices = prices.clone();
        change(&mut prices);
        all.push((what.to_owned(), prices));
    };
    add("software", &|p| p.software = more(p.software));
    for tier in 0..2 {
        add("step", &|p| {
            if let StepPrices::Neighbours(steps) = &mut p.steps
                && let Some(Some(step)) = steps.get_mut(tier)
            {
                *step = more(*step);
            }
        });
    }
    for class in 0..prices.payload.len() {
        add("payload", &|p| p.payload[class] *= MORE);
    }
    add("nvls", &|p| {
        if let Some(nvls) = &mut p.nvls {
            nvls.alpha = more(nvls.alpha);
            nvls.rate = nvls.rate.scaled(MORE);
        }
    });
    add("sharp", &|p| {
        if let Some(sharp) = &mut p.sharp {
            sharp.alpha = more(sharp.alpha);
            sharp.efficiency *= MORE;
        }
    });
    all
}

#[test]
fn a_grain_of_the_system_makes_its_protocol_s_ring_a_max() {
    let mut spec = preset("h100-x8").unwrap();
    spec.software.grain.ll = Some(Bytes::new(64));
    let topology = spec.resolve().unwrap();
    for protocol in Protocol::ALL {
        let parameters = under(&topology, protocol);
        let sliced = Parameters {
            grain: match protocol {
                Protocol::Ll => Grain::Slices { bytes: 64 },
                Protocol::Ll128 | Protocol::Simple => Grain::Message,
            },
            ..under(&system("h100-x8"), protocol)
        };
        let ring = all_reduce(&topology, Algorithm::Ring, &parameters);
        let expected = all_reduce(&system("h100-x8"), Algorithm::Ring, &sliced);
        for bits in 3..33 {
            let bytes = Bytes::new(1 << bits);
            assert_eq!(ring.time(bytes), expected.time(bytes), "{protocol} {bytes}");
            let terms = ring.terms(bytes).time(ring.prices()).get();
            assert!((terms / ring.time(bytes).get() - 1.0).abs() < 1e-12);
        }
    }
    // A plan takes another grain without looking at routes again.
    let plain = all_reduce(&topology, Algorithm::Ring, &under(&topology, Protocol::Ll));
    let whole = Prices {
        grain: None,
        ..plain.prices().clone()
    };
    let bytes = Bytes::new(16 << 10);
    assert!(plain.at(whole).unwrap().time(bytes).get() > plain.time(bytes).get());
}

fn ramp(channels: u32, bytes: u64) -> Ramp {
    Ramp {
        channels: channels.try_into().unwrap(),
        bytes: Bytes::new(bytes),
    }
}

/// One channel of C up to W bytes, then so many more that each has W, all of C from C W on: the
/// time of C M, of C W, and of M.
#[test]
fn small_messages_take_fewer_channels() {
    let mut spec = preset("h100-x8").unwrap();
    spec.software.ramp.simple = Some(Constant::stated(ramp(4, 32 << 10)));
    let topology = spec.resolve().unwrap();
    for algorithm in [Algorithm::Ring, Algorithm::Tree] {
        for protocol in Protocol::ALL {
            let ramped = all_reduce(&topology, algorithm, &under(&topology, protocol));
            let all = Prices {
                ramp: None,
                ..ramped.prices().clone()
            };
            let plain = ramped.at(all).unwrap();
            for (bytes, carried) in [
                (0, 0),
                (8, 32),
                (32 << 10, 128 << 10),
                (100_000, 128 << 10),
                (128 << 10, 128 << 10),
                (1 << 30, 1 << 30),
            ] {
                let carried = if protocol == Protocol::Simple {
                    carried
                } else {
                    bytes
                };
                let (message, carried) = (Bytes::new(bytes), Bytes::new(carried));
                assert_eq!(
                    ramped.parts(message),
                    plain.parts(carried),
                    "{algorithm} {bytes}"
                );
                assert_eq!(
                    ramped.terms(message),
                    plain.terms(carried),
                    "{algorithm} {bytes}"
                );
            }
        }
    }
}

#[test]
fn a_prediction_says_that_channels_are_few() {
    let mut spec = preset("h100-x8").unwrap();
    spec.software.ramp.simple = Some(Constant::stated(ramp(4, 16 << 20)));
    let topology = spec.resolve().unwrap();
    let ring = all_reduce(
        &topology,
        Algorithm::Ring,
        &under(&topology, Protocol::Simple),
    );
    let sentence = |mib: u64| ring.predict(&topology, Bytes::new(mib << 20)).sentence;
    let [few, all] = [sentence(24), sentence(64)];
    assert!(
        few.contains("at 138.38 GB/s by 1.5 of 4 channels: "),
        "{few}"
    );
    assert!(all.contains("at 369.00 GB/s: "), "{all}");
}

#[test]
fn switches_and_pairs_know_no_ramp() {
    let mut spec = preset("h100-x8").unwrap();
    spec.software.ramp.simple = Some(Constant::stated(ramp(8, 1 << 20)));
    let topology = spec.resolve().unwrap();
    let plain = system("h100-x8");
    for algorithm in [Algorithm::OneShot, Algorithm::HalvingDoubling] {
        let ramped = all_reduce(&topology, algorithm, &under(&topology, Protocol::Simple));
        let plain = all_reduce(&plain, algorithm, &under(&plain, Protocol::Simple));
        for bits in 3..30 {
            let bytes = Bytes::new(1 << bits);
            assert_eq!(ramped.time(bytes), plain.time(bytes), "{algorithm} {bytes}");
        }
    }
    // NVLS keeps its line; the ring that runs where it is faster does not.
    let nvls = all_reduce(
        &topology,
        Algorithm::Nvls,
        &under(&topology, Protocol::Simple),
    );
    let before = all_reduce(&plain, Algorithm::Nvls, &under(&plain, Protocol::Simple));
    let ring = all_reduce(
        &topology,
        Algorithm::Ring,
        &under(&topology, Protocol::Simple),
    );
    for bits in 3..33 {
        let bytes = Bytes::new(1 << bits);
        let time = nvls.time(bytes);
        assert!(time.get() <= ring.time(bytes).get());
        assert!(
            time == before.time(bytes) || time == ring.time(bytes),
            "{bytes}"
        );
        let terms = nvls.terms(bytes).time(nvls.prices()).get();
        assert!((terms / time.get() - 1.0).abs() < 1e-12, "{bytes}");
    }
}
