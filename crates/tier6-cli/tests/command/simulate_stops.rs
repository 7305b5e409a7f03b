//! Runs of `tier6 simulate` that stop, and files that are written beside the result.

use crate::harness::{Run, Said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const RING: &str = "simulate --system doc004-ring --collective all_reduce --algorithm ring";

fn said(line: &str) -> Said {
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Names of the spans of a trace file.
fn spans(file: &Path) -> (String, Vec<String>) {
    let trace: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let names = events.filter(|event| event["ph"] == "X");
    let names = names.map(|event| event["name"].as_str().unwrap().to_owned());
    let title = trace["otherData"]["title"].as_str().unwrap().to_owned();
    (title, names.collect())
}

#[test]
fn a_run_that_stops_leaves_its_trace_and_accounts() {
    let folder = folder("simulate-stops");
    for (name, stop) in [
        ("limit", "--limit-events 60 --fidelity flow"),
        ("packets", "--limit-events 400"),
        (
            "failure",
            "--fault failed-link=chip0-chip1:3us --fidelity flow",
        ),
        ("packet-failure", "--fault failed-link=chip0-chip1:3us"),
    ] {
        let (trace, stats) = (
            folder.join(format!("{name}.json")),
            folder.join(format!("{name}.csv")),
        );
        let files = format!("--trace {} --stats {}", trace.display(), stats.display());
        let said = said(&format!("{RING} --sizes 4M {stop} {files}"));
        assert_eq!(said.code, 12, "{name}: {}", said.stderr);
        assert!(
            said.stderr.contains("until it stopped at"),
            "{name}: {}",
            said.stderr
        );
        assert!(
            said.stderr.contains("`stopped_us` says when"),
            "{name}: {}",
            said.stderr
        );
        let (title, spans) = spans(&trace);
        assert!(title.contains("until it stopped at"), "{title}");
        let unfinished = spans
            .iter()
            .filter(|span| span.starts_with("unfinished: send "));
        let unfinished = unfinished.count();
        assert!(
            unfinished > 0 && unfinished < spans.len(),
            "{name}: {spans:?}"
        );
        let stats = fs::read_to_string(&stats).unwrap();
        let rows: Vec<Vec<&str>> = stats.lines().map(|row| row.split(',').collect()).collect();
        let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
        let number = |row: &Vec<&str>, name: &str| row[column(name)].parse::<f64>().unwrap_or(0.0);
        let of = |kind: &str| rows.iter().filter(|row| row[2] == kind).collect::<Vec<_>>();
        assert_eq!(of("rank").len(), 8, "{name}");
        assert!(
            of("link").iter().any(|row| number(row, "wire_bytes") > 0.0),
            "{name}: {stats}"
        );
        for row in &rows[1..] {
            let stopped = number(row, "stopped_us");
            assert!(stopped > 0.0, "{row:?}");
            assert!(number(row, "busy_us") <= stopped * 1.001, "{row:?}");
            assert!(number(row, "sending_us") <= stopped * 1.001, "{row:?}");
        }
    }
}

#[test]
fn the_trace_is_of_a_run_that_ended_where_one_did() {
    let trace = folder("simulate-stops").join("ended.json");
    // Of all algorithms some need more events than others.
    let call = "simulate --system doc004-ring --ranks 4 --collective all_reduce --algorithm all";
    let files = format!("--trace {}", trace.display());
    let said = said(&format!(
        "{call} --sizes 1M --fidelity flow --limit-events 40 {files} --format json"
    ));
    assert_eq!(said.code, 12, "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(
        !report["results"].as_array().unwrap().is_empty(),
        "{report}"
    );
    let (title, spans) = spans(&trace);
    let fastest = report["results"][0]["algorithm"].as_str().unwrap();
    assert!(
        title.starts_with(fastest) && !title.contains("stopped"),
        "{title}"
    );
    assert!(
        spans.iter().all(|span| !span.starts_with("unfinished")),
        "{spans:?}"
    );
}

#[test]
fn results_have_a_folder_before_the_run() {
    let absent = folder("simulate-stops").join("absent");
    for option in ["--trace", "--stats", "-o"] {
        let file = absent.join("out.json");
        let none = said(&format!("{RING} --sizes 1M {option} {}", file.display()));
        assert_eq!(none.code, 2, "{option}: {}", none.stderr);
        assert!(none.stdout.is_empty(), "{option}: it did not run");
        assert!(
            none.stderr.contains("there is no folder"),
            "{}",
            none.stderr
        );
        assert!(
            none.stderr.contains("hint: make it first"),
            "{}",
            none.stderr
        );
        let folder = absent.parent().unwrap().display();
        let into = said(&format!(
            "{RING} --sizes 1M {option} {folder} --format json"
        ));
        assert_eq!(into.code, 2, "{option}: {}", into.stderr);
        assert!(into.stderr.contains("is a folder"), "{}", into.stderr);
    }
}
