//! In-switch reduction against what was published (FACTS B.6).

use tier6_collective::{Algorithm, Collective};
use tier6_math::law::{InSwitch, nvls, nvls_rate, nvls_sharp};
use tier6_math::{Parameters, Plan};
use tier6_system::preset;
use tier6_units::{Bytes, GbPerSec, Micros};

/// Size and measured time of 8 x H200 from 16 MiB on, in bytes and us.
fn h200() -> Vec<(u64, f64)> {
    let text = include_str!("../../../data/measurements/s3_h200_ar_8gpu.csv");
    let row = |line: &str| {
        let mut cells = line.split(',');
        let bytes: u64 = cells.next()?.parse().ok()?;
        let time: f64 = cells.next()?.parse().ok()?;
        Some((bytes, time))
    };
    let rows = text.lines().filter_map(row);
    rows.filter(|row| row.0 >= 16 << 20).collect()
}

/// Alpha in us and `B_nvls` in GB/s by relative least squares: weights 1/T^2.
fn fit(points: &[(u64, f64)], ranks: f64) -> (f64, f64) {
    let [mut w, mut wx, mut wy, mut wxx, mut wxy] = [0.0; 5];
    for (bytes, time) in points {
        let x = *bytes as f64 * (1.0 + 1.0 / ranks);
        let weight = 1.0 / (time * time);
        w += weight;
        wx += weight * x;
        wy += weight * time;
        wxx += weight * x * x;
        wxy += weight * x * time;
    }
    let slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    ((wy - slope * wx) / w, 1.0 / (slope * 1e3))
}

#[test]
fn eight_h200_are_within_three_percent_from_16_mib_on() {
    let points = h200();
    assert_eq!(points.len(), 5);
    let (alpha, rate) = fit(&points, 8.0);
    assert!((alpha - 63.0).abs() < 0.5, "{alpha}");
    assert!((rate - 300.0).abs() < 0.6, "{rate}");
    let fitted = InSwitch {
        alpha: Micros::new(alpha),
        rate: GbPerSec::new(rate),
    };
    let system = preset("h200-x8").unwrap().resolve().unwrap();
    let parameters = Parameters {
        nvls: Some(fitted),
        ..Parameters::of(&system)
    };
    let plan = Plan::new(
        &system,
        Collective::AllReduce,
        Algorithm::Nvls,
        8,
        &parameters,
    );
    let plan = plan.unwrap();
    for (bytes, measured) in points {
        let bytes = Bytes::new(bytes);
        let law = nvls(Collective::AllReduce, 8, bytes, &fitted).unwrap();
        let error = law.total().get() / measured - 1.0;
        eprintln!(
            "{bytes}: {:.1} of {measured} us, {:+.2} %",
            law.total().get(),
            100.0 * error
        );
        assert!(error.abs() <= 0.03, "{bytes}: {error}");
        assert!((plan.time(bytes).get() - law.total().get()).abs() < 1e-6);
    }
}

/// Bus bandwidth reported for H100 by number of GPUs, GB/s (nccl#1455); 365 to 370 for 2 to 4.
const H100: [(u32, f64); 7] = [
    (2, 367.0),
    (3, 367.0),
    (4, 367.0),
    (5, 420.0),
    (6, 440.0),
    (7, 460.0),
    (8, 480.0),
];

#[test]
fn one_constant_explains_h100_and_rings_take_over_below_four() {
    let rates = H100[2..]
        .iter()
        .map(|(ranks, busbw)| nvls_rate(*ranks, GbPerSec::new(*busbw)).unwrap().get());
    let mean = rates.sum::<f64>() / 5.0;
    let system = preset("h100-x8").unwrap().resolve().unwrap();
    let stated = system.constants().nvls.as_ref().unwrap().rate.value.get();
    assert!(
        (mean / stated - 1.0).abs() < 0.01,
        "{mean} against {stated}"
    );
    let parameters = Parameters {
        software: Micros::new(0.0),
        nvls: Some(InSwitch {
            alpha: Micros::new(0.0),
            rate: GbPerSec::new(stated),
        }),
        ..Parameters::of(&system)
    };
    for (ranks, reported) in H100 {
        let bytes = Bytes::new(16 << 30);
        let plan = |algorithm| {
            let collective = Collective::AllReduce;
            Plan::new(&system, collective, algorithm, ranks, &parameters).unwrap()
        };
        let prediction = plan(Algorithm::Nvls).predict(&system, bytes);
        let busbw = prediction.busbw().unwrap().get();
        eprintln!("N = {ranks}: {busbw:.1} of {reported} GB/s");
        assert!(
            (busbw / reported - 1.0).abs() <= 0.03,
            "N = {ranks}: {busbw}"
        );
        if ranks < 4 {
            let ring = plan(Algorithm::Ring).time(bytes);
            assert!((prediction.time().get() - ring.get()).abs() < 1e-6);
        }
    }
}

#[test]
fn in_switch_reduction_needs_a_switch_that_does_it() {
    let a100 = preset("a100-x8").unwrap().resolve().unwrap();
    let parameters = Parameters::of(&a100);
    let plan = Plan::new(
        &a100,
        Collective::AllReduce,
        Algorithm::Nvls,
        8,
        &parameters,
    );
    let text = plan.unwrap_err().to_string();
    assert!(text.contains("no constants; hint: use ring"), "{text}");
    let two = preset("h100-x8-ib-ndr").unwrap().resolve().unwrap();
    let parameters = Parameters {
        sharp: None,
        ..Parameters::of(&two)
    };
    let plan = Plan::new(
        &two,
        Collective::AllReduce,
        Algorithm::Nvls,
        16,
        &parameters,
    );
    let text = plan.unwrap_err().to_string();
    assert!(text.contains("use nvls_tree"), "{text}");
}

#[test]
fn nvls_goes_on_between_nodes_where_the_network_reduces() {
    for nodes in [2, 4, 16] {
        let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(nodes);
        let system = spec.resolve().unwrap();
        let parameters = Parameters::of(&system);
        let plan =
            |collective| Plan::new(&system, collective, Algorithm::Nvls, 8 * nodes, &parameters);
        let across = InSwitch {
            alpha: parameters.sharp.unwrap().alpha,
            rate: GbPerSec::new(8.0 * 48.5),
        };
        let inside = parameters.nvls.unwrap();
        let software = parameters.software;
        let ours = plan(Collective::AllReduce).unwrap();
        for bytes in [8, 1 << 20, 1 << 30].map(Bytes::new) {
            let law = nvls_sharp(8, bytes, &inside, &across, software).unwrap();
            let (ours, law) = (ours.time(bytes).get(), law.total().get());
            assert!(
                (ours / law - 1.0).abs() < 1e-12,
                "{nodes} {bytes}: {ours} {law}"
            );
        }
        let refused = plan(Collective::AllGather).unwrap_err().to_string();
        assert!(refused.contains("several nodes"), "{refused}");
    }
}
