//! `tier6 simulate --algorithm auto`: the fastest of the algorithms that NCCL runs.

use crate::harness::{Run, Said};
use serde_json::Value;

fn said(line: &str) -> Said {
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

fn results(line: &str) -> Vec<Value> {
    let said = said(&format!("{line} --format json"));
    let json: Value = serde_json::from_str(&said.stdout).expect(&said.stderr);
    json["results"].as_array().unwrap().clone()
}

#[test]
fn auto_shows_the_fastest_run_of_what_nccl_runs() {
    let call = "--system dgx1-ib-edr --collective all_reduce --sizes";
    let simulate = |algorithm: &str, size: &str| {
        results(&format!(
            "simulate {call} {size} --fidelity flow --algorithm {algorithm}"
        ))
    };
    for size in ["64K", "4M"] {
        let mut all = simulate("all", size);
        all.retain(|row| row["in_nccl"] != "no");
        let auto = simulate("auto", size);
        assert_eq!(auto.len(), 1, "{auto:?}");
        for key in ["algorithm", "time_us", "parts", "events"] {
            assert_eq!(auto[0][key], all[0][key], "{size}: {key}");
        }
    }
    // The closed form has another one first.
    let predicted = results(&format!("predict {call} 64K --protocol none"));
    assert_eq!(predicted[0]["algorithm"], "collnet_chain");
    assert_eq!(simulate("auto", "64K")[0]["algorithm"], "tree");
}

#[test]
fn flows_choose_what_runs_in_packets() {
    let call = "simulate --system dgx1-ib-edr --collective all_reduce --sizes 64K";
    let auto = results(call);
    assert_eq!(auto, results(&format!("{call} --algorithm tree")));
    assert!(auto[0]["packet_hops"].as_u64() > Some(0), "{auto:?}");
}

#[test]
fn auto_shows_the_fastest_run_and_what_did_not_end() {
    let line = "simulate --system h100-x8 --collective all_reduce --sizes 64K --fidelity flow";
    let row = |algorithm: &str| results(&format!("{line} --algorithm {algorithm}"))[0].clone();
    let (ring, nvls) = (row("ring"), row("nvls"));
    let most = |row: &Value| row["events"].as_u64().unwrap();
    assert!(most(&ring) > most(&nvls), "{ring} {nvls}");
    let limited = said(&format!("{line} --limit-events {}", most(&nvls)));
    assert_eq!(limited.code, 12, "{}", limited.stderr);
    assert!(limited.stdout.contains("nvls"), "{}", limited.stdout);
    assert!(limited.stderr.contains("ring"), "{}", limited.stderr);
}

#[test]
fn auto_without_any_algorithm_under_the_protocol_says_why() {
    let said = said("simulate --system h100-x8 --collective all_reduce --sizes 64K --protocol ll");
    assert_ne!(said.code, 0);
    assert!(said.stderr.contains("`ll`"), "{}", said.stderr);
}
