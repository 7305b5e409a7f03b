//! Methods A and B recover the constants of the rings that they describe.

use tier6_collective::{Algorithm, Collective};
use tier6_fit::{
    CalibrateError, CalibrateOptions, Calibration, Call, Fitted, Method, Observed, calibrate,
};
use tier6_math::{Parameters, Plan};
use tier6_system::{Constant, Efficiency, Evidence, SystemSpec, preset};
use tier6_units::{Bytes, Micros};

fn call(ranks: u32, nodes: u32) -> Call {
    Call {
        collective: Collective::AllReduce,
        algorithm: Some(Algorithm::Ring),
        protocol: None,
        ranks,
        nodes,
    }
}

/// What the ring of a system costs at powers of two of bytes.
fn ring(system: &SystemSpec, ranks: u32, bits: std::ops::Range<u32>) -> Observed {
    let topology = system.resolve().unwrap();
    let parameters = Parameters::of(&topology);
    let (collective, ring) = (Collective::AllReduce, Algorithm::Ring);
    let plan = Plan::new(&topology, collective, ring, ranks, &parameters).unwrap();
    let points: Vec<(Bytes, Micros)> = bits
        .map(|bit| Bytes::new(1 << bit))
        .map(|bytes| (bytes, plan.time(bytes)))
        .collect();
    Observed::new(format!("ring of {ranks}"), call(ranks, 1), &points)
}

fn h100() -> SystemSpec {
    let mut system = preset("h100-x8").unwrap();
    system.software.call = Some(Constant::stated(Micros::new(11.0)));
    let link = system.link_mut("nvlink4").unwrap();
    link.latency = Some(Constant::stated(Micros::new(0.9)));
    link.efficiency = Some(Constant::stated(Efficiency::new(0.77).unwrap()));
    system
}

fn by(method: Method, observed: &[Observed]) -> Result<Calibration, CalibrateError> {
    let options = CalibrateOptions {
        method,
        ..CalibrateOptions::STANDARD
    };
    calibrate(&preset("h100-x8").unwrap(), observed, &options)
}

fn value(calibration: &Calibration, name: &str) -> f64 {
    let named = |fitted: &&Fitted| fitted.name == name;
    calibration.parameters.iter().find(named).unwrap().value
}

#[test]
fn method_b_parts_steps_from_software_by_two_numbers_of_ranks() {
    let observed = [ring(&h100(), 8, 3..33), ring(&h100(), 4, 3..33)];
    let made = by(Method::B, &observed).unwrap();
    assert!((value(&made, "links.nvlink4.efficiency") - 0.77).abs() < 0.003);
    assert!((value(&made, "links.nvlink4.latency") - 0.9).abs() < 0.02);
    assert!((value(&made, "software.call") - 11.0).abs() < 0.3);
    assert!(
        made.refused.is_empty() && made.warnings.is_empty(),
        "{made:?}"
    );
    assert!(made.rmspe_pct < 1.0, "{}", made.rmspe_pct);
    let origin = made.system.software.call.unwrap().provenance.unwrap();
    assert_eq!(origin.evidence, Evidence::Fitted);
    assert_eq!(origin.datasets, ["ring of 4", "ring of 8"]);
    assert_eq!(origin.bytes, Some((Bytes::new(8), Bytes::new(1 << 32))));
    assert_eq!(origin.method.as_deref(), Some("b"));
}

#[test]
fn method_b_refuses_to_part_them_on_one_number_of_ranks() {
    let made = by(Method::B, &[ring(&h100(), 8, 3..33)]).unwrap();
    assert_eq!(
        made.refused[0].to_string(),
        "software.call, links.nvlink4.latency: one number of steps has one floor, for software and \
         steps together; hint: measure the same sweep with another number of ranks"
    );
}

#[test]
fn no_latency_without_a_latency_bound_point() {
    for method in [Method::A, Method::B] {
        let made = by(method, &[ring(&h100(), 8, 28..33)]).unwrap();
        assert_eq!(made.refused[0].why, "no point is latency-bound");
        assert_eq!(made.parameters.len(), 1);
    }
}

#[test]
fn method_a_leaves_the_rest_of_the_floor_to_software() {
    let made = by(Method::A, &[ring(&h100(), 8, 3..33)]).unwrap();
    // The floor is 11 + 14 (2 x 0.9 + 0.3 + 0.29); seven steps of 0.59 us leave 40.3.
    assert!((value(&made, "software.call") - 40.3).abs() < 0.5);
}

#[test]
fn a_peak_above_a_ring_is_nvls() {
    // FACTS B.6: busbw 482.3 of 450 GB/s on 8 x H200.
    let points = [(64 << 10, 23.0), (1 << 30, 3896.0), (4 << 30, 15584.0)];
    let points = points.map(|(bytes, us)| (Bytes::new(bytes), Micros::new(us)));
    let made = by(Method::B, &[Observed::new("nvls", call(8, 1), &points)]).unwrap();
    assert!(
        made.warnings[0].contains("1.07 of the wire rate"),
        "{:?}",
        made.warnings
    );
    assert!((value(&made, "nvls.rate") - 310.0).abs() < 0.5);
    assert_eq!(made.refused[0].names, ["links.nvlink4.efficiency"]);
}

#[test]
fn what_cannot_be_calibrated_says_why() {
    let message = |observed: &[Observed]| by(Method::B, observed).unwrap_err().to_string();
    assert!(message(&[]).starts_with("no measured time"));
    let misfit = Observed::new("x", call(16, 1), &[(Bytes::new(8), Micros::new(9.0))]);
    assert_eq!(
        message(&[misfit]),
        "`x`: 16 ranks per node, but a node of `h100-x8` has 8 chips"
    );
    let across = Observed::new("x", call(16, 2), &[(Bytes::new(8), Micros::new(9.0))]);
    assert!(message(&[across]).contains("`h100-x8` describes one"));
}
