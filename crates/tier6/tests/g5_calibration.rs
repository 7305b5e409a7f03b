//! What `calibrate --engine g5` writes is what `simulate` reads: the calibrated system, simulated,
//! meets the measurements as the calibration says.

use std::fs;
use tier6::{
    AlgorithmChoice, CalibrateRequest, Collective, Engine, Fidelity, Grain, NoProgress,
    ProtocolChoice, ReadOptions, Recording, SimulateRequest, SimulatedWork, Variant, calibrate,
    parse_algorithm, parse_method, simulate,
};
use tier6_units::SizeRange;

fn request<'a>(files: &'a [String], engine: Engine, method: &str) -> CalibrateRequest<'a> {
    CalibrateRequest {
        files,
        system: "h200-x8",
        engine,
        method: parse_method(method).unwrap(),
        algorithm: None,
        protocol: None,
        strict: false,
        plan: None,
        reading: ReadOptions {
            collective: Some(Collective::AllReduce),
            ranks: Some(8),
            nodes: Some(1),
            columns: vec![("time".to_owned(), "measured_us".to_owned())],
            ..ReadOptions::default()
        },
    }
}

fn files() -> [String; 1] {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/measurements");
    [format!("{folder}/s3_h200_ar_8gpu.csv")]
}

#[test]
fn a_calibrated_system_is_simulated_as_measured() {
    let files = files();
    let request = request(&files, Engine::G5, "fit");
    let (report, failures) = calibrate(&request, &mut NoProgress).unwrap();
    assert!(failures.is_empty());
    let calibration = &report.calibration;
    let path = std::env::temp_dir().join(format!("tier6-g5-{}.toml", std::process::id()));
    fs::write(&path, calibration.system.to_toml()).unwrap();
    let sizes: SizeRange = "64K,1M,16M,64M".parse().unwrap();
    let mut rows = Vec::new();
    for algorithm in ["ring", "nvls"] {
        let request = SimulateRequest {
            system: path.to_str().unwrap(),
            work: SimulatedWork::Collective {
                collective: Collective::AllReduce,
                choice: AlgorithmChoice::One(parse_algorithm(algorithm).unwrap()),
                protocols: ProtocolChoice::Auto,
            },
            variant: &Variant::default(),
            ranks: None,
            nodes: None,
            chips: None,
            beside: &[],
            sizes: &sizes,
            fidelity: Fidelity::Flow,
            seed: 0,
            grain: Grain::Message,
            handshake: None,
            faults: &[],
            sensitivity: Recording::Off,
            trace: Recording::Off,
            statistics: Recording::Off,
            limit_events: None,
        };
        let simulated = simulate(&request, &mut NoProgress);
        rows.extend(simulated.unwrap().report.rows);
    }
    fs::remove_file(&path).unwrap();
    for (bytes, measured, fitted) in &calibration.sets[0].residuals {
        let of_size = rows.iter().filter(|row| row.bytes == *bytes);
        let times = of_size.map(|row| row.total.to_micros().get());
        let time = times.fold(f64::INFINITY, f64::min);
        if time.is_finite() {
            eprintln!("{bytes}: measured {measured}, fitted {fitted}, simulated {time:.1} us");
            assert!((time / fitted.get() - 1.0).abs() < 0.03, "{bytes}");
        }
    }
}

#[test]
fn what_is_not_calibrated_says_what_is() {
    let files = files();
    let refused = |engine, method| {
        let error = calibrate(&request(&files, engine, method), &mut NoProgress).unwrap_err();
        format!("{error:?}")
    };
    assert!(refused(Engine::Fit, "fit").contains("math"));
    assert!(refused(Engine::G5, "a").contains("least squares"));
}
