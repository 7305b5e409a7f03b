//! `--grain` of `tier6 predict`: what it changes, and what it says when it changes nothing.

use crate::harness::{Run, Said};
use serde_json::Value;

fn said(line: &str) -> Said {
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

fn json(line: &str) -> Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

#[test]
fn a_grain_without_effect_is_told() {
    let call = "predict --system h100-x8 --collective all_reduce --sizes 16M --algorithm";
    let note = "`--grain` changes nothing for nvls";
    let nvls = format!("{call} nvls --grain 64K");
    assert!(said(&nvls).stdout.contains(note), "{}", said(&nvls).stdout);
    assert_eq!(json(&nvls)["grain_unused"][0], "nvls");
    let ring = format!("{call} ring --grain 64K");
    assert!(!said(&ring).stdout.contains("changes nothing"));
    assert!(json(&ring).get("grain_unused").is_none());
    let whole = said(&format!("{call} nvls")).stdout;
    assert!(!whole.contains("changes nothing"), "{whole}");
    let all = json(&format!("{call} all --grain 64K"));
    let unused = all["grain_unused"].as_array().unwrap();
    assert!(
        unused.contains(&"nvls".into()) && !unused.contains(&"ring".into()),
        "{all}"
    );
}
