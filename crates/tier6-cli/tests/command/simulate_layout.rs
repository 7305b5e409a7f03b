//! `tier6 simulate` lays calls out as `tier6 predict` prices them: channels, trees, forms, switches.

use crate::harness::{Run, Said};
use serde_json::Value;

fn said(line: &str) -> Said {
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

fn json(line: &str) -> Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

fn time(line: &str) -> f64 {
    json(line)["results"][0]["time_us"].as_f64().unwrap()
}

#[test]
fn channels_use_every_nic_and_every_link() {
    // Between nodes: a ring alone would be bound by one NIC in eight.
    let call = "--system h100-x8-ib-ndr --collective all_gather --algorithm ring --sizes 64M";
    let simulated = json(&format!("simulate {call} --fidelity flow"));
    assert_eq!(simulated["results"][0]["channels"], 8);
    let predicted = json(&format!("predict {call} --protocol none"));
    let time = |value: &Value| value["results"][0]["time_us"].as_f64().unwrap();
    let ratio = time(&simulated) / time(&predicted);
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
    // On a full mesh: seven rings of eight.
    let call = "--system mi300x-x8 --collective all_reduce --algorithm ring --sizes 256M";
    let simulated = json(&format!("simulate {call} --fidelity flow"));
    assert_eq!(simulated["results"][0]["channels"], 7);
    let ratio = time(&simulated) / time(&json(&format!("predict {call} --protocol none")));
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn trees_over_nodes_are_what_the_closed_form_prices() {
    let call = "--system h100-x8-ib-ndr --nodes 4 --collective all_reduce --algorithm tree \
                --sizes 64M";
    let simulated = time(&format!("simulate {call} --fidelity flow"));
    let predicted = time(&format!("predict {call} --protocol none"));
    let ratio = simulated / predicted;
    assert!((0.95..1.08).contains(&ratio), "{simulated} {predicted}");
    // Nodes without a switch: a channel per order of the node's ranks.
    for (system, channels) in [("mi300x-x8-roce", 7), ("dgx1-ib-edr", 6)] {
        let call =
            format!("--system {system} --collective all_reduce --algorithm tree --sizes 16M");
        let simulated = json(&format!("simulate {call} --fidelity flow"));
        assert_eq!(simulated["results"][0]["channels"], channels);
        let simulated = simulated["results"][0]["time_us"].as_f64().unwrap();
        let predicted = time(&format!("predict {call} --protocol none"));
        let ratio = simulated / predicted;
        assert!(
            (0.93..1.08).contains(&ratio),
            "{system}: {simulated} {predicted}"
        );
    }
}

#[test]
fn forms_of_algorithms_are_those_of_predict() {
    let call = "--system h100-x8 --ranks 6 --collective all_reduce --sizes 64M \
                --algorithm halving_doubling";
    let whole = time(&format!("simulate {call} --fidelity flow"));
    let halves = time(&format!(
        "simulate {call} --fidelity flow --variant fold=halves"
    ));
    let predicted = time(&format!(
        "predict {call} --protocol none --variant fold=halves"
    ));
    assert!(halves < 0.9 * whole, "{halves} {whole}");
    // Ranks without a partner beyond the power of two do not wait for those with one.
    let ratio = halves / predicted;
    assert!((0.85..1.02).contains(&ratio), "{halves} {predicted}");
    let report = json(&format!(
        "simulate {call} --fidelity flow --variant fold=halves"
    ));
    assert_eq!(report["variant"]["fold"], "halves");
    let said = said(&format!("simulate {call} --variant spread=even"));
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("[g5.paths]"), "{}", said.stderr);
}

#[test]
fn in_switch_reduction_follows_its_law() {
    // 63 us + M (1 + 1/N) / 307 GB/s.
    let call = "simulate --system h200-x8 --collective all_reduce --algorithm nvls --fidelity flow";
    let law = |bytes: f64| 63.0 + bytes * 1.125 / 307e3;
    let empty = time(&format!("{call} --sizes 0"));
    assert!((empty - law(0.0)).abs() < 1e-3, "{empty}");
    let large = time(&format!("{call} --sizes 256M"));
    let off = large / law(f64::from(256 << 20)) - 1.0;
    assert!(off.abs() < 0.02, "{large}: {off}");
    // Both engines call the same part of the 63 us software.
    let simulated = json(&format!("{call} --sizes 0"));
    let predicted =
        json("predict --system h200-x8 --collective all_reduce --algorithm nvls --sizes 0");
    let parts = [simulated, predicted].map(|json| json["results"][0]["parts"].clone());
    for key in ["software_us", "latency_us"] {
        let [g5, math] = [0, 1].map(|at| parts[at][key].as_f64().unwrap());
        assert!((g5 - math).abs() < 1e-3, "{key}: {g5} {math}");
    }
}
