//! Custom schedules, and what a plan refuses.

use std::num::NonZeroU32;
use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build, offered};
use tier6_math::{Channels, Parameters, Placement, Plan, Sharp, StepCost};
use tier6_system::{Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

fn system(name: &str) -> Topology {
    preset(name).unwrap().resolve().unwrap()
}

#[test]
fn a_custom_schedule_is_priced_as_the_algorithm_that_it_unrolls() {
    let topology = system("h100-x8");
    let parameters = Parameters {
        channels: Channels::One,
        reduce_rate: Some(GbPerSec::new(1000.0)),
        ..Parameters::of(&topology)
    };
    for algorithm in [
        Algorithm::Ring,
        Algorithm::HalvingDoubling,
        Algorithm::TwoShot,
        Algorithm::Pat,
    ] {
        for collective in offered(algorithm) {
            if matches!(collective, Collective::Broadcast | Collective::Reduce) {
                continue;
            }
            let mut options = BuildOptions::new(8, Bytes::new(1 << 20));
            options.distance = parameters.distance;
            let schedule = build(*collective, algorithm, &options).unwrap();
            let custom = Plan::of_schedule(&topology, &schedule, &parameters).unwrap();
            let plan = Plan::new(&topology, *collective, algorithm, 8, &parameters).unwrap();
            for bytes in [8, 1 << 20, 1 << 32].map(Bytes::new) {
                let (a, b) = (custom.time(bytes).get(), plan.time(bytes).get());
                assert!(
                    (a / b - 1.0).abs() < 1e-12,
                    "{algorithm} {collective}: {a} {b}"
                );
            }
            let carried: f64 = custom
                .loads()
                .steps
                .iter()
                .map(|s| s.links.len() as f64)
                .sum();
            assert!(carried > 0.0, "a custom schedule keeps its loads by step");
        }
    }
}

#[test]
fn in_switch_steps_of_a_custom_schedule_load_each_link_once() {
    let topology = system("h100-x8");
    let options = BuildOptions::new(8, Bytes::new(1 << 20));
    let schedule = build(Collective::AllReduce, Algorithm::Nvls, &options).unwrap();
    let parameters = Parameters::of(&topology);
    let plan = Plan::of_schedule(&topology, &schedule, &parameters).unwrap();
    // M(1 + 1/N) each way.
    assert_eq!(plan.loads().total.len(), 16);
    for load in &plan.loads().total {
        assert!((load.share - 1.125).abs() < 1e-12, "{load:?}");
    }
}

fn refusal(
    topology: &Topology,
    algorithm: Algorithm,
    ranks: u32,
    change: impl Fn(&mut Parameters),
) -> String {
    let mut parameters = Parameters::of(topology);
    change(&mut parameters);
    let plan = Plan::new(
        topology,
        Collective::AllReduce,
        algorithm,
        ranks,
        &parameters,
    );
    plan.unwrap_err().to_string()
}

#[test]
fn what_is_out_of_domain_is_refused_with_the_way_out() {
    let one = system("h100-x8");
    let two = system("h100-x8-ib-ndr");
    let check = |text: String, expected: &str| assert!(text.contains(expected), "{text}");
    let plain = |_: &mut Parameters| ();
    check(refusal(&one, Algorithm::Ring, 0, plain), "hint: schedules");
    check(refusal(&one, Algorithm::Ring, 1, plain), "hint: schedules");
    check(refusal(&one, Algorithm::Ring, u32::MAX, plain), "8 places");
    check(refusal(&one, Algorithm::Direct, 8, plain), "are two_shot");
    check(
        refusal(&two, Algorithm::Hierarchical, 12, plain),
        "do not fill",
    );
    check(
        refusal(&two, Algorithm::Ring, 4, |p| {
            p.placement = Placement::PerNode(NonZeroU32::MIN);
        }),
        "2 places",
    );
    let times = [-1.0, f64::NAN, f64::INFINITY];
    for time in times.map(Micros::new) {
        let software = |p: &mut Parameters| p.software = time;
        check(refusal(&one, Algorithm::Ring, 8, software), "hint: times");
        let step = |p: &mut Parameters| p.step = StepCost::alike(time);
        check(refusal(&one, Algorithm::Ring, 8, step), "hint: times");
    }
    let slices = |p: &mut Parameters| p.grain = Grain::Slices { bytes: 0 };
    check(refusal(&one, Algorithm::Ring, 8, slices), "slices of 0");
    let reduction = |p: &mut Parameters| p.reduce_rate = Some(GbPerSec::new(0.0));
    check(refusal(&one, Algorithm::Ring, 8, reduction), "hint: rates");
    let few = |contexts| {
        move |p: &mut Parameters| {
            p.sharp = Some(Sharp {
                alpha: Micros::new(30.0),
                efficiency: 1.0,
                contexts: Some(contexts),
            });
        }
    };
    // Four rails in one switch; eight in a leaf each.
    let one_switch = system("a100-x4-slingshot");
    check(
        refusal(&one_switch, Algorithm::CollNetDirect, 8, few(3)),
        "too few aggregations",
    );
    let planned = |topology: &Topology, ranks, contexts| {
        let mut parameters = Parameters::of(topology);
        few(contexts)(&mut parameters);
        let (collective, algorithm) = (Collective::AllReduce, Algorithm::CollNetDirect);
        Plan::new(topology, collective, algorithm, ranks, &parameters).unwrap();
    };
    planned(&one_switch, 8, 4);
    planned(&two, 16, 1);
    let none = |p: &mut Parameters| {
        p.sharp = Some(Sharp {
            alpha: Micros::new(30.0),
            efficiency: 0.0,
            contexts: None,
        });
    };
    check(
        refusal(&two, Algorithm::CollNetDirect, 16, none),
        "hint: rates",
    );
}
