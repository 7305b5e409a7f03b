//! `tier6 calibrate`, and `tier6 validate` with an engine that prices a described system.

use crate::harness::{Run, Said};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const SCAN: &str = "data/measurements/s0_v100_ar_4gpu_nv2.csv";

/// Runs a line of arguments without blanks inside, in the root of the repository.
fn said(line: &str) -> Said {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arguments: Vec<&str> = line.split_whitespace().collect();
    Run::new(&arguments).current_dir(&root).said()
}

fn json(line: &str) -> Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tier6-calibrate-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn a_scan_gives_constants_with_intervals_and_both_errors() {
    let json = json(&format!("calibrate {SCAN} --system v100-nv2-x4"));
    assert_eq!(json["schema"], "tier6.calibration/1");
    assert_eq!(json["method"], "fit");
    let in_sample = json["rmspe_pct"].as_f64().unwrap();
    let held_out = json["held_out_rmspe_pct"].as_f64().unwrap();
    assert!(in_sample < 2.5, "{in_sample}");
    assert!((in_sample..4.0).contains(&held_out), "{held_out}");
    let constants = json["constants"].as_array().unwrap();
    let efficiency = constants
        .iter()
        .find(|constant| constant["name"] == "links.nvlink2.efficiency")
        .unwrap();
    // Six links of 25 GB/s carry 120 to 122 (source document 000).
    let value = efficiency["value"].as_f64().unwrap();
    assert!((0.79..0.83).contains(&value), "{value}");
    let interval = efficiency["interval"].as_array().unwrap();
    assert!(interval[0].as_f64().unwrap() < value && value < interval[1].as_f64().unwrap());
    assert_eq!(json["sets"][0]["sizes"].as_array().unwrap().len(), 31);
}

#[test]
fn the_system_that_is_written_predicts_what_was_measured() {
    let file = scratch("v100.toml");
    let path = file.display();
    let report = said(&format!(
        "calibrate {SCAN} --system v100-nv2-x4 -o {path} --format csv"
    ));
    assert_eq!(report.code, 0, "{}", report.stderr);
    assert!(
        report
            .stdout
            .starts_with("constant,unit,value,low,high,before\n")
    );
    let prediction = json(&format!(
        "predict --system {path} --collective all_reduce --algorithm ring --sizes 8,1G"
    ));
    let times = prediction["results"].as_array().unwrap();
    let time = |at: usize| times[at]["time_us"].as_f64().unwrap();
    assert!((time(0) / 18.2 - 1.0).abs() < 0.05, "{}", time(0));
    assert!((time(1) / 13_246.0 - 1.0).abs() < 0.02, "{}", time(1));
    // A calibrated constant says so.
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("s0_v100_ar_4gpu_nv2"), "{text}");
    let shown = said(&format!("systems show {path}"));
    assert!(shown.stdout.contains("fitted"), "{}", shown.stdout);
}

#[test]
fn sizes_are_planned_before_and_set_aside_after() {
    let plan = json("calibrate --system h100-x8 --plan 5");
    assert_eq!(plan["schema"], "tier6.plan/1");
    assert_eq!(plan["bytes"].as_array().unwrap().len(), 5);
    let few = json(&format!("calibrate {SCAN} --system v100-nv2-x4 --plan 5"));
    assert_eq!(few["sets"][0]["points"], 5);
    assert_eq!(few["set_aside"][0]["system"]["points"], 26);
    let held = few["set_aside"][0]["curve"]["rmspe_pct"].as_f64().unwrap();
    assert!(held < 20.0, "{held}");
}

#[test]
fn what_cannot_be_is_refused() {
    let set = "data/measurements/h100_ar_16gpu_2node_roce_oci.csv";
    let lines = [
        "calibrate --system h100-x8",
        &format!("calibrate {SCAN} --system v100-nv2-x4 --method best"),
        &format!("calibrate {SCAN} --system v100-nv2-x4 --algorithm rnig"),
        &format!("calibrate {SCAN} --system h100"),
        &format!("calibrate {set} --system h100-x8"),
        "calibrate data/measurements/s3_h200_ar_8gpu.csv --system h200-x8 --strict",
        &format!("calibrate {SCAN} --system v100-nv2-x4 -o x.svg"),
        "calibrate nowhere.csv --system h100-x8",
        "calibrate --system h100-x8 --plan 5 --format csv",
        "validate crates/tier6-cli/tests/fixtures/base.txt --engine math",
        &format!("validate {SCAN} --engine maths"),
    ];
    let answers: Vec<String> = lines
        .iter()
        .map(|line| {
            let said = said(line);
            assert_eq!(said.stdout, "", "{line}");
            format!("$ tier6 {line}\nexit: {}\n{}", said.code, said.stderr)
        })
        .collect();
    assert_snapshot!(answers.join("\n"));
}

#[test]
fn math_is_validated_on_the_system_that_is_named() {
    let json = json(&format!(
        "validate {SCAN} --engine fit,math --system v100-nv2-x4"
    ));
    let engines = json["sets"][0]["engines"].as_object().unwrap();
    assert_eq!(engines.keys().collect::<Vec<_>>(), ["fit", "math"]);
    let math = &engines["math"];
    let in_sample = math["in_sample"]["overall"].as_f64().unwrap();
    let held_out = math["held_out"]["overall"].as_f64().unwrap();
    assert!(in_sample < 2.5 && held_out < 5.0, "{in_sample} {held_out}");
}

#[test]
fn a_bundled_set_knows_its_machine() {
    let named = json(&format!(
        "validate {SCAN} --engine math --system v100-nv2-x4"
    ));
    let known = json(&format!("validate {SCAN} --engine math"));
    assert!(known["sets"][0]["engines"]["math"].is_object(), "{known}");
    let math = |report: &Value| report["sets"][0]["engines"]["math"].clone();
    assert_eq!(math(&known), math(&named));
    // A file of that name that says something else is another sweep.
    let folder = scratch("bundled");
    fs::create_dir_all(&folder).unwrap();
    let other = folder.join("s0_v100_ar_4gpu_nv2.csv");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(SCAN)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&other, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let said = said(&format!("validate {} --engine math", other.display()));
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(
        said.stderr
            .contains("s0_v100_ar_4gpu_nv2.csv` was measured on"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_method_without_held_out_sizes_says_so() {
    let call = format!("calibrate {SCAN} --system v100-nv2-x4 --method");
    let by_steps = said(&format!("{call} a")).stdout;
    assert!(by_steps.contains("% in sample, not held out"), "{by_steps}");
    let fitted = said(&format!("{call} fit")).stdout;
    assert!(fitted.contains("% held out"), "{fitted}");
}

#[test]
fn methods_agree_on_the_rate() {
    let rate = |method: &str| {
        let json = json(&format!(
            "calibrate {SCAN} --system v100-nv2-x4 --method {method}"
        ));
        let constants = json["constants"].as_array().unwrap().clone();
        let found = constants
            .into_iter()
            .find(|constant| constant["name"] == "links.nvlink2.efficiency");
        found.unwrap()["value"].as_f64().unwrap()
    };
    let fit = rate("fit");
    for method in ["a", "b"] {
        let other = rate(method);
        assert!((other / fit - 1.0).abs() < 0.03, "{method}: {other}, {fit}");
    }
}

#[test]
fn the_event_driven_engine_is_calibrated_on_the_same_data() {
    let file = scratch("a100.toml");
    let path = file.display();
    let json = json(&format!(
        "calibrate data/measurements/s3_a100_ar_8gpu.csv --system a100-x8 --engine g5 -o {path}"
    ));
    assert_eq!(json["engine"], "g5");
    assert!(json["rmspe_pct"].as_f64().unwrap() < 10.0);
    let line = format!(
        "simulate --system {path} --collective all_reduce --algorithm ring --sizes 128M \
         --fidelity flow --format json"
    );
    let simulated: Value = serde_json::from_str(&said(&line).stdout).unwrap();
    // Measured: 1149.0 us.
    let time = simulated["results"][0]["time_us"].as_f64().unwrap();
    assert!((time / 1149.0 - 1.0).abs() < 0.05, "{time}");
}
