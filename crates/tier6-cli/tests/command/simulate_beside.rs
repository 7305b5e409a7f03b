//! `tier6 simulate --beside` and `--chips`: tenants, victims, and what runs where.

use crate::harness::{Run, Said};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const TWO_LEAVES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/src/two-leaves.toml"
);
const IB: &str = "simulate --system h100-x8-ib-ndr --fidelity flow --collective all_reduce";

fn said(line: &str) -> Said {
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

fn json(line: &str) -> Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The first result of a call on the two leaves, in packets.
fn on_leaves(line: &str) -> Value {
    json(&format!("simulate --system {TWO_LEAVES} {line}"))["results"][0].take()
}

#[test]
fn two_tenants_share_a_spine_and_nothing_else() {
    let ring = "--collective all_reduce --algorithm ring --sizes 16M";
    for fidelity in ["flow", "packet"] {
        let both = format!("{ring} --beside all_reduce:algorithm=ring --fidelity {fidelity}");
        let over = on_leaves(&format!("{both} --chips 0,1,4,5"));
        // Both go over the spine all the time and have half of it.
        let slowdown = number(&over["slowdown"]);
        assert!((1.85..2.0).contains(&slowdown), "{fidelity}: {over}");
        let other = &over["beside"][0];
        assert!(
            (number(&other["slowdown"]) - slowdown).abs() < 0.05,
            "{over}"
        );
        let alone = on_leaves(&format!("{ring} --chips 0,1,4,5 --fidelity {fidelity}"));
        assert_eq!(alone["time_us"], over["alone_us"]);
        assert!(alone.get("alone_us").is_none() && alone.get("beside").is_none());
        let apart = on_leaves(&format!("{both} --chips 0-3"));
        assert_eq!(apart["time_us"], apart["alone_us"], "{fidelity}: {apart}");
        assert_eq!(apart["slowdown"], 1.0);
    }
}

#[test]
fn a_victim_pays_for_an_incast_that_it_has_no_part_in() {
    let victim = "--collective send_recv --algorithm direct --sizes 4M --chips 2,6";
    let incast = "--beside gather:16M:algorithm=direct:chips=0,1,3,4,5,7";
    let slowdown =
        |rest: &str| number(&on_leaves(&format!("{victim} {incast} {rest}"))["slowdown"]);
    let shared = slowdown("--fidelity flow");
    let paused = slowdown("--fidelity packet");
    // Fluids leave it two fifths of the spine; pauses stop everything that crosses it.
    assert!((2.2..2.5).contains(&shared), "{shared}");
    assert!(paused > 1.4 * shared, "{paused} against {shared}");
    let after = slowdown("--fidelity packet --beside gather:8:algorithm=direct:start=1ms");
    assert!(
        (after - paused).abs() < 1e-9,
        "what comes later costs nothing: {after}"
    );
}

#[test]
fn a_call_beside_takes_the_chips_that_are_left() {
    let chips = |line: &str| json(line)["beside"][0]["chips"].clone();
    let eight: Vec<u32> = (8..16).collect();
    let call = format!("{IB} --sizes 1M --beside all_gather");
    assert_eq!(
        chips(&format!("{call} --ranks 8")),
        serde_json::json!(eight)
    );
    let odd: Vec<u32> = (1..16).step_by(2).collect();
    assert_eq!(
        chips(&format!("{call} --chips 0-14/2")),
        serde_json::json!(odd)
    );
    // None are left: the same ones.
    let all: Vec<u32> = (0..16).collect();
    assert_eq!(chips(&call), serde_json::json!(all));
    let report = json(&format!(
        "{call} --chips 0-3 --beside reduce_scatter:chips=4-7,20-23"
    ));
    assert_eq!(report["chips"], serde_json::json!([0, 1, 2, 3]));
    // A chip beyond the second node adds a third.
    let rest: Vec<u32> = (8..20).collect();
    assert_eq!(report["beside"][0]["chips"], serde_json::json!(rest));
    let table = said(&format!("{call} --chips 0-3 --beside broadcast:start=5us")).stdout;
    assert!(table.contains("on 4 ranks (chips 0-3) of"), "{table}");
    assert!(
        table.contains("beside 2  broadcast") && table.contains("alone us"),
        "{table}"
    );
}

#[test]
fn chips_are_those_of_the_first_ranks_when_they_are_the_same() {
    for (named, counted) in [
        ("--chips 0-7", "--ranks 8"),
        ("--chips 0-3,8-11", "--ranks 8 --nodes 2"),
        ("--chips 0-15", ""),
    ] {
        let time = |place: &str| {
            let report = json(&format!("{IB} --algorithm all --sizes 4M {place}"));
            let results = report["results"].as_array().unwrap().clone();
            let time = |result: Value| (result["algorithm"].clone(), result["time_us"].clone());
            results.into_iter().map(time).collect::<Vec<_>>()
        };
        assert_eq!(time(named), time(counted), "{named}");
    }
    let other_node = json(&format!("{IB} --algorithm nvls --sizes 4M --chips 8-15"));
    let first_node = json(&format!("{IB} --algorithm nvls --sizes 4M --chips 0-7"));
    assert_eq!(
        other_node["results"][0]["time_us"],
        first_node["results"][0]["time_us"]
    );
}

#[test]
fn every_form_of_the_result_has_the_calls_beside() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (trace, stats) = (folder.join("beside.json"), folder.join("beside.csv"));
    let call = format!("{IB} --ranks 8 --algorithm ring --sizes 1M --beside all_gather:start=1us");
    let files = format!("--trace {} --stats {}", trace.display(), stats.display());
    let csv = said(&format!("{call} {files} --format csv")).stdout;
    let mut lines = csv.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .ends_with(",alone_us,slowdown,beside_us")
    );
    let row: Vec<&str> = lines.next().unwrap().rsplit(',').collect();
    assert!(row[0].parse::<f64>().unwrap() > 22.0, "{row:?}");
    assert!(
        (row[1].parse::<f64>().unwrap() - 1.0).abs() < 0.01,
        "{row:?}"
    );
    let markdown = said(&format!("{call} --format md")).stdout;
    assert!(markdown.contains("## Calls beside"), "{markdown}");
    let stats = fs::read_to_string(stats).unwrap();
    let of = |job: &str| stats.lines().filter(|line| line.contains(job)).count();
    assert!(of(",beside 1,") >= 8 && of(",call,") >= 8, "{stats}");
    let trace: Value = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let processes = events.filter(|event| event["name"] == "process_name");
    let names: Vec<&str> = processes
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert!(
        names.contains(&"rank 7") && names.contains(&"beside 1 rank 7"),
        "{names:?}"
    );
}

#[test]
fn a_load_that_ends_first_is_told() {
    let call = format!("{IB} --algorithm ring --sizes 64M");
    let note = "all calls beside were over";
    assert!(
        said(&format!("{call} --beside all_reduce:8"))
            .stdout
            .contains(note)
    );
    assert!(
        !said(&format!("{call} --beside all_reduce:1G:algorithm=ring"))
            .stdout
            .contains(note)
    );
}

#[test]
fn a_stop_names_the_call_that_waits() {
    let call = format!("{IB} --ranks 8 --algorithm ring --sizes 1M --beside all_gather");
    let stop = json(&format!("{call} --limit-events 300"))["stops"][0].take();
    let waits = stop["waits"].as_array().unwrap();
    let of = |name: &str| {
        waits
            .iter()
            .any(|wait| wait["who"].as_str().unwrap().starts_with(name))
    };
    assert!(of("the call ") || of("beside 1 "), "{stop}");
    assert!(!of("job "), "{stop}");
}

#[test]
fn what_cannot_run_beside_says_why() {
    for (line, code, says) in [
        ("--beside al_reduce", 2, "did you mean `all_reduce`?"),
        ("--beside all_reduce:many", 2, "for example `--beside"),
        (
            "--beside all_reduce:chips=0-3,3",
            2,
            "chip 3 is named twice",
        ),
        ("--beside all_reduce:chips=7", 2, "at least two ranks"),
        (
            "--beside all_reduce:algorithm=rnig",
            2,
            "did you mean `ring`?",
        ),
        (
            "--beside all_reduce:algorithm=all",
            2,
            "name one, or `auto`",
        ),
        ("--beside all_reduce:strat=1us", 2, "did you mean `start`?"),
        ("--beside all_reduce:start=soon", 2, "expected a time"),
        (
            "--beside broadcast:algorithm=pat",
            5,
            "`--beside broadcast:algorithm=pat`",
        ),
        (
            "--nodes 2 --beside all_reduce:chips=0-16",
            5,
            "`--nodes 3` has it",
        ),
        ("--chips 0-3 --ranks 4", 2, "--ranks"),
        ("--chips 3", 2, "at least two ranks"),
        ("--chips 0..3", 2, "`0-7`"),
    ] {
        let said = said(&format!("{IB} --sizes 1M {line}"));
        assert_eq!(said.code, code, "{line}: {}", said.stderr);
        assert!(said.stderr.contains(says), "{line}: {}", said.stderr);
    }
    let one_node = said("simulate --system h100-x8 --collective all_reduce --chips 4-11");
    assert_eq!(one_node.code, 5);
    assert!(
        one_node
            .stderr
            .contains("the chips of `h100-x8` are 0 to 7"),
        "{}",
        one_node.stderr
    );
}
