//! Least squares: constants come back, what cannot be told is named, order means nothing.

use proptest::prelude::*;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_fit::{
    CalibrateError, CalibrateOptions, Calibration, Call, Confounded, Method, Observed, Setting,
    TwoLevel, calibrate, forecast, plan_sizes,
};
use tier6_system::{ByProtocol, Constant, Efficiency, Ramp, SystemSpec, preset};
use tier6_units::{Bytes, Micros};

fn call(per_node: u32, nodes: u32) -> Call {
    Call {
        collective: Collective::AllReduce,
        algorithm: None,
        protocol: None,
        ranks: per_node * nodes,
        nodes,
    }
}

fn sizes(bits: std::ops::Range<u32>) -> Vec<Bytes> {
    bits.map(|bit| Bytes::new(1 << bit)).collect()
}

/// What a system costs, as if measured.
fn measured(system: &SystemSpec, call: Call, bits: std::ops::Range<u32>) -> Observed {
    let times = forecast(system, &call, &sizes(bits)).unwrap();
    let points: Vec<(Bytes, Micros)> = times.iter().map(|one| (one.bytes, one.time)).collect();
    let label = format!("{:?}", (call.ranks, call.nodes, call.protocol));
    Observed::new(label, call, &points)
}

fn two_level(per_node: u32, nodes: u32) -> Observed {
    let setting = Setting { per_node, nodes };
    let times = sizes(10..34).into_iter();
    let points: Vec<(Bytes, Micros)> = times
        .map(|bytes| (bytes, TwoLevel::TYPICAL.time(setting, bytes)))
        .collect();
    let call = Call {
        algorithm: Some(Algorithm::Hierarchical),
        protocol: Some(Protocol::Simple),
        ..call(per_node, nodes)
    };
    Observed::new(setting.to_string(), call, &points)
}

fn value(made: &Calibration, name: &str) -> f64 {
    let fitted = made.parameters.iter().find(|fitted| fitted.name == name);
    fitted
        .unwrap_or_else(|| panic!("no {name} in {made:?}"))
        .value
}

const STRICT: CalibrateOptions = CalibrateOptions {
    confounded: Confounded::Refuse,
    ..CalibrateOptions::STANDARD
};

#[test]
fn five_constants_of_one_setting_are_refused_by_name() {
    let system = preset("h100-x8-ib-ndr").unwrap();
    let error = calibrate(&system, &[two_level(8, 2)], &STRICT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 of 5 constants can be told, but not links.ib-ndr.efficiency, links.nvlink4.efficiency: the \
         measurements tell these only together; hint: measure a single-node run with 8 ranks, and \
         a single-node run with 4 ranks; links.ib-ndr.step.simple, links.nvlink4.step.simple, \
         software.call: the measurements tell these only together; hint: measure a single-node \
         run with 8 ranks, and a single-node run with 4 ranks"
    );
    let made = calibrate(&system, &[two_level(8, 2)], &CalibrateOptions::STANDARD).unwrap();
    assert!(made.rmspe_pct < 0.5, "{}", made.rmspe_pct);
    assert_eq!(made.refused.len(), 2);
}

#[test]
fn three_settings_tell_all_five() {
    let system = preset("h100-x8-ib-ndr").unwrap();
    let observed = [two_level(8, 2), two_level(4, 2), two_level(8, 4)];
    let made = calibrate(&system, &observed, &STRICT).unwrap();
    assert!(made.refused.is_empty());
    let near = |name: &str, want: f64| {
        let got = value(&made, name);
        assert!((got / want - 1.0).abs() < 0.05, "{name}: {got}, not {want}");
    };
    near("software.call", 15.0);
    near("links.nvlink4.step.simple", 1.0);
    near("links.ib-ndr.step.simple", 5.0);
    near("links.nvlink4.efficiency", 370.0 / 450.0);
    near("links.ib-ndr.efficiency", 0.97);
}

/// Times of a forced ring, every second one 1 % longer and the others 1 % shorter.
fn shaken(system: &SystemSpec, protocol: Protocol) -> Observed {
    let call = Call {
        algorithm: Some(Algorithm::Ring),
        protocol: Some(protocol),
        ..call(4, 1)
    };
    let times = forecast(system, &call, &sizes(3..28)).unwrap();
    let points: Vec<(Bytes, Micros)> = times
        .iter()
        .zip([1.01, 0.99, 0.99, 1.01].into_iter().cycle())
        .map(|(one, shake)| (one.bytes, Micros::new(one.time.get() * shake)))
        .collect();
    Observed::new(protocol.to_string(), call, &points)
}

#[test]
fn ramps_come_back_and_none_is_made_up() {
    let plain = preset("l40s").unwrap();
    let ramp = |channels: u32, kib: u64| Ramp {
        channels: channels.try_into().unwrap(),
        bytes: Bytes::new(kib << 10),
    };
    let mut ramped = plain.clone();
    ramped.software.ramp.ll128 = Some(Constant::stated(ramp(2, 32)));
    ramped.software.ramp.simple = Some(Constant::stated(ramp(4, 16)));
    let ramps_of = |measured: &SystemSpec| {
        let sets = [Protocol::Ll, Protocol::Ll128, Protocol::Simple];
        let sets = sets.map(|protocol| shaken(measured, protocol));
        let made = calibrate(&plain, &sets, &CalibrateOptions::STANDARD).unwrap();
        assert!(made.rmspe_pct < 1.1, "{}", made.rmspe_pct);
        let names = made.parameters.iter().map(|row| row.name.clone());
        let names: Vec<String> = names.filter(|name| name.contains("ramp")).collect();
        let ByProtocol { ll, ll128, simple } = made.system.software.ramp;
        let values = [ll, ll128, simple].map(|ramp| ramp.map(|ramp| ramp.value));
        (values, names)
    };
    let (values, names) = ramps_of(&ramped);
    assert_eq!(values, [None, Some(ramp(2, 32)), Some(ramp(4, 16))]);
    assert_eq!(names, ["software.ramp.ll128", "software.ramp.simple"]);
    assert_eq!(ramps_of(&plain), ([None; 3], Vec::new()));
}

#[test]
fn large_messages_alone_tell_no_step() {
    let system = preset("a100-x8").unwrap();
    let observed = measured(&system, call(8, 1), 29..34);
    let made = calibrate(&system, &[observed], &CalibrateOptions::STANDARD).unwrap();
    let refused = made
        .refused
        .iter()
        .find(|group| group.why == "no point is latency-bound");
    let refused = refused.expect("steps are refused");
    assert!(
        refused
            .names
            .contains(&"links.nvlink3.step.simple".to_owned())
    );
    assert!(refused.names.contains(&"software.call".to_owned()));
    let is_step = |name: &str| name.contains("step") || name == "software.call";
    assert!(!made.parameters.iter().any(|fitted| is_step(&fitted.name)));
}

#[test]
fn a_link_that_is_too_good_is_nvls() {
    let mut system = preset("h200-x8").unwrap();
    system.nvls = None;
    let points: Vec<(Bytes, Micros)> = sizes(3..34)
        .into_iter()
        .map(|bytes| (bytes, Micros::new(25.0 + bytes.as_f64() * 1.75 / 440e3)))
        .collect();
    let ring = Observed::new("x", call(8, 1), &points);
    let made = calibrate(&system, &[ring], &CalibrateOptions::STANDARD).unwrap();
    assert!(
        made.warnings[0].contains("no ring but NVLS"),
        "{:?}",
        made.warnings
    );
}

#[test]
fn the_order_of_the_sets_is_not_seen() {
    let system = preset("h100-x8").unwrap();
    let sets = [8, 4, 2].map(|ranks| measured(&system, call(ranks, 1), 3..33));
    let [a, b, c] = sets.clone();
    let options = CalibrateOptions::STANDARD;
    let made = calibrate(&system, &sets, &options).unwrap();
    assert_eq!(calibrate(&system, &[c, a, b], &options).unwrap(), made);
}

#[test]
fn a_calibrated_system_survives_its_file() {
    let system = preset("h100-x8").unwrap();
    let observed = measured(&system, call(8, 1), 3..33);
    let made = calibrate(&system, &[observed], &CalibrateOptions::STANDARD).unwrap();
    let again = SystemSpec::from_toml(&made.system.to_toml()).unwrap();
    assert_eq!(again, made.system);
    let predicted = forecast(&again, &call(8, 1), &sizes(3..33)).unwrap();
    for (one, (_, _, fitted)) in predicted.iter().zip(&made.sets[0].residuals) {
        assert!((one.time.get() / fitted.get() - 1.0).abs() < 1e-9);
    }
    let with_band = made.forecast(&call(4, 1), &sizes(10..12)).unwrap();
    let band = with_band[0].band.unwrap();
    assert!(band.low.get() < with_band[0].time.get() && band.high.get() > with_band[0].time.get());
}

#[test]
fn a_grid_of_many_constants_says_what_to_do() {
    let system = preset("h100-x8").unwrap();
    let observed = measured(&system, call(8, 1), 3..33);
    let options = CalibrateOptions {
        method: Method::Grid,
        ..CalibrateOptions::STANDARD
    };
    let error = calibrate(&system, &[observed], &options).unwrap_err();
    assert!(matches!(error, CalibrateError::Method { .. }));
    assert!(
        error.to_string().contains("tries at most 5 constants"),
        "{error}"
    );
}

#[test]
fn a_grid_refuses_what_the_rank_check_refuses() {
    let system = preset("h100-x8-ib-ndr").unwrap();
    let by = |method: Method| {
        let options = CalibrateOptions { method, ..STRICT };
        calibrate(&system, &[two_level(8, 2)], &options).unwrap_err()
    };
    assert_eq!(by(Method::Grid), by(Method::Fit));
}

#[test]
fn planned_sizes_are_some_of_the_candidates() {
    let system = preset("h100-x8-ib-ndr").unwrap();
    let all = sizes(3..34);
    let five = plan_sizes(&system, &call(8, 2), &all, 5).unwrap();
    assert_eq!((five[0], five[4]), (all[0], all[30]));
    assert!(five.is_sorted() && five.iter().all(|bytes| all.contains(bytes)));
    assert_eq!(
        plan_sizes(&system, &call(8, 2), &all[..4], 5).unwrap(),
        all[..4]
    );
}

/// A system whose constants differ from the preset's.
fn changed(software: f64, steps: [f64; 3], efficiency: f64, shares: [f64; 2]) -> SystemSpec {
    let mut system = preset("a100-x8").unwrap();
    let us = |us: f64| Some(Constant::stated(Micros::new(us)));
    let share = |share: f64| Some(Constant::stated(Efficiency::new(share).unwrap()));
    system.software.call = us(software);
    let link = system.link_mut("nvlink3").unwrap();
    link.efficiency = share(efficiency);
    link.step = Some(ByProtocol {
        ll: us(steps[0]),
        ll128: us(steps[1]),
        simple: us(steps[2]),
    });
    link.share = Some(ByProtocol {
        ll: share(shares[0]),
        ll128: share(shares[1]),
        simple: None,
    });
    system
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn constants_of_made_up_times_come_back(
        software in 5.0..30.0_f64,
        steps in [0.4..1.0_f64, 1.2..3.0, 3.0..6.0],
        efficiency in 0.6..0.9_f64,
        shares in [0.2..0.6_f64, 0.7..0.95],
    ) {
        let truth = changed(software, steps, efficiency, shares);
        let mut observed = Vec::new();
        for protocol in Protocol::ALL {
            for ranks in [8, 4] {
                let call = Call {
                    algorithm: Some(Algorithm::Ring),
                    protocol: Some(protocol),
                    ..call(ranks, 1)
                };
                observed.push(measured(&truth, call, 3..32));
            }
        }
        let made = calibrate(&preset("a100-x8").unwrap(), &observed, &STRICT).unwrap();
        prop_assert!(made.rmspe_pct < 0.5, "{}", made.rmspe_pct);
        for (name, want) in [
            ("software.call", software),
            ("links.nvlink3.step.ll", steps[0]),
            ("links.nvlink3.step.ll128", steps[1]),
            ("links.nvlink3.step.simple", steps[2]),
            ("links.nvlink3.efficiency", efficiency),
            ("links.nvlink3.share.ll", shares[0]),
            ("links.nvlink3.share.ll128", shares[1]),
        ] {
            let got = value(&made, name);
            prop_assert!((got / want - 1.0).abs() < 0.03, "{name}: {got}, not {want}");
        }
    }
}
