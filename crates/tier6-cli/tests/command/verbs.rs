//! What each command prints on ordinary input.

use crate::harness::{Run, fixtures};
use insta::assert_snapshot;

#[test]
fn alone_it_greets() {
    assert_snapshot!(Run::new(&[]).snapshot());
}

#[test]
fn analyze_prints_a_table() {
    assert_snapshot!(Run::new(&["analyze", "base.txt"]).snapshot());
}

#[test]
fn analyze_uses_the_log() {
    assert_snapshot!(
        Run::new(&["analyze", "base.txt", "--log", "tuning.log", "--ascii"]).snapshot()
    );
}

#[test]
fn analyze_writes_the_json_of_the_contract() {
    let said = Run::new(&[
        "analyze",
        "base.txt",
        "--log",
        "tuning.log",
        "--format",
        "json",
    ])
    .said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["schema"], "tier6.analysis/1");
    assert_eq!(json["status"], "ok");
    let series = &json["series"][0];
    assert_eq!(series["collective"], "all_reduce");
    assert_eq!(series["ranks"], 8);
    assert_eq!(series["placement"], "out_of_place");
    assert_eq!(series["points"].as_array().unwrap().len(), 19);
    assert_eq!(series["points"][0]["samples"], 5);
    assert_eq!(series["points"][0]["path"]["protocol"], "ll");
    assert_eq!(series["switches"][0]["bytes"], 1 << 20);
    assert_eq!(series["switches"][0]["basis"], "path");
}

#[test]
fn compare_of_two_like_runs_finds_no_change() {
    let said = Run::new(&["compare", "base.txt", "same.txt", "--format", "json"]).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["schema"], "tier6.comparison/1");
    assert_eq!(json["verdict"], "unchanged");
}

#[test]
fn compare_names_a_fixed_cost() {
    let said = Run::new(&[
        "compare",
        "base.txt",
        "slower-start.txt",
        "--format",
        "json",
    ])
    .said();
    assert_eq!(said.code, 10, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["verdict"], "regressed");
    let segments = json["segments"].as_array().unwrap();
    let regressed = segments
        .iter()
        .find(|segment| segment["verdict"] == "regressed")
        .unwrap();
    assert_eq!(regressed["cause"], "fixed_cost");
    let delta = regressed["delta_alpha_us"].as_f64().unwrap();
    assert!((delta - 4.0).abs() < 0.5, "{delta}");
}

#[test]
fn compare_names_a_bandwidth() {
    assert_snapshot!(Run::new(&["compare", "base.txt", "slower-link.txt"]).snapshot());
}

#[test]
fn compare_calls_wrong_data_failed_whatever_its_speed() {
    let said = Run::new(&["compare", "base.txt", "wrong-data.txt"]).said();
    assert_eq!(said.code, 10);
    assert!(said.stdout.contains("FAILED"), "{}", said.stdout);
}

#[test]
fn analyze_fails_on_wrong_data() {
    let said = Run::new(&["analyze", "wrong-data.txt", "--format", "json"]).said();
    assert_eq!(said.code, 10);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["status"], "failed");
    let points = json["series"][0]["points"].as_array().unwrap();
    let wrong = points
        .iter()
        .find(|point| point["bytes"] == 1 << 24)
        .unwrap();
    assert_eq!(wrong["wrong"], 16);
}

#[test]
fn convert_round_trips() {
    let csv = Run::new(&["convert", "base.txt", "--format", "csv"]).said();
    assert_eq!(csv.code, 0, "{}", csv.stderr);
    let again = Run::new(&["convert", "-", "--format", "csv"])
        .stdin(csv.stdout.as_bytes())
        .said();
    assert_eq!(again.stdout, csv.stdout);
}

#[test]
fn convert_writes_what_it_reads() {
    for format in ["csv", "txt", "jsonl"] {
        let run = Run::new(&["convert", "wrong-data.txt", "--format", format]);
        assert_snapshot!(format!("convert_{format}"), run.snapshot());
    }
}

#[test]
fn the_csv_of_an_analysis_reads_back() {
    let csv = Run::new(&["analyze", "base.txt", "--format", "csv"]).said();
    let again = Run::new(&["analyze", "-", "--format", "json"])
        .stdin(csv.stdout.as_bytes())
        .said();
    let json: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    let direct = Run::new(&["analyze", "base.txt", "--format", "json"]).said();
    let direct: serde_json::Value = serde_json::from_str(&direct.stdout).unwrap();
    let medians = |json: &serde_json::Value| -> Vec<(String, u64, f64)> {
        let series = json["series"].as_array().unwrap().iter();
        let points = series.flat_map(|series| {
            let placement = series["placement"].as_str().unwrap().to_owned();
            let points = series["points"].as_array().unwrap().iter();
            points.map(move |point| {
                let bytes = point["bytes"].as_u64().unwrap();
                let median = point["median_us"].as_f64().unwrap();
                (placement.clone(), bytes, median)
            })
        });
        points.collect()
    };
    assert_eq!(medians(&json), medians(&direct));
}

#[test]
fn compare_of_two_like_runs_says_why() {
    assert_snapshot!(Run::new(&["compare", "base.txt", "same.txt"]).snapshot());
}

#[test]
fn validate_writes_the_json_of_the_contract() {
    let run = Run::new(&["validate", "base.txt", "--format", "json"]);
    assert_snapshot!(run.snapshot());
}

#[test]
fn errors_read_well() {
    let cases: [&[&str]; 6] = [
        &["analyze", "nowhere.txt"],
        &["analyze", "tuning.log"],
        &["analyze", "base.txt", "-o", "report.pdf"],
        &["analyze", "base.txt", "--collective", "allsum"],
        &["compare", "base.txt", "tuning.log"],
        &["validate", "base.txt", "--holdout", "odd"],
    ];
    let text: Vec<String> = cases
        .iter()
        .map(|arguments| {
            let said = Run::new(arguments).said();
            format!(
                "$ tier6 {}\nexit: {}\n{}",
                arguments.join(" "),
                said.code,
                said.stderr
            )
        })
        .collect();
    assert_snapshot!(text.join("\n"));
}

#[test]
fn help_is_a_command_too() {
    let said = Run::new(&["help", "compare"]).said();
    assert_eq!(said.code, 0);
    assert!(said.stdout.starts_with("Examples:"), "{}", said.stdout);
}

#[test]
fn demo_is_a_tour() {
    assert_snapshot!(Run::new(&["demo"]).snapshot());
}

#[test]
fn completions_and_man_pages_print() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = Run::new(&["completions", shell]).said();
        assert_eq!(said.code, 0);
        assert!(said.stdout.contains("analyze"), "{shell}");
    }
    let man = Run::new(&["man"]).said();
    assert!(man.stdout.contains(".TH tier6"), "{}", man.stdout);
}

#[test]
fn every_help_page_starts_with_examples() {
    for command in [
        None,
        Some("analyze"),
        Some("compare"),
        Some("convert"),
        Some("validate"),
        Some("demo"),
    ] {
        let arguments: Vec<&str> = command.into_iter().chain(["--help"]).collect();
        let said = Run::new(&arguments).said();
        assert_eq!(said.code, 0);
        assert!(
            said.stdout.starts_with("Examples:"),
            "{command:?}: {}",
            said.stdout
        );
    }
}

#[test]
fn compare_with_wrong_data_names_the_sizes_and_shows_no_speed() {
    let said = Run::new(&["compare", "base.txt", "wrong-data.txt"]).said();
    assert_eq!(said.code, 10, "{}", said.stderr);
    assert!(said.stdout.starts_with("FAILED: a run has wrong data"));
    let wrong = " FAILED              the data of the new run is wrong at 16 MiB\n";
    assert!(said.stdout.contains(wrong), "{}", said.stdout);
    assert!(!said.stdout.contains("unchanged"), "{}", said.stdout);
    let wide = Run::new(&["analyze", "base.txt", "--wide"]).said().stdout;
    let longest = wide.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(200), "{longest:?} columns");
}

#[test]
fn calibrate_leaves_out_a_run_that_moved_wrong_data() {
    let left_out = "error: `wrong-data` moved wrong data at 16 MiB: nothing of it is used";
    let alone = Run::new(&["calibrate", "wrong-data.txt", "--system", "h100-x8"]).said();
    assert_eq!(alone.code, 10, "{}", alone.stderr);
    assert!(alone.stderr.starts_with(left_out), "{}", alone.stderr);
    assert_eq!(alone.stdout, "");
    let both = [
        "calibrate",
        "base.txt",
        "wrong-data.txt",
        "--system",
        "h100-x8",
    ];
    let both = Run::new(&both).said();
    assert_eq!(both.code, 10, "{}", both.stderr);
    assert!(both.stderr.starts_with(left_out), "{}", both.stderr);
    assert!(both.stdout.contains("on 1 sweep"), "{}", both.stdout);
}

#[test]
fn validate_leaves_out_a_run_that_moved_wrong_data() {
    let left_out = "error: `wrong-data` moved wrong data at 16 MiB: nothing of it is used";
    let alone = Run::new(&["validate", "wrong-data.txt"]).said();
    assert_eq!((alone.code, alone.stdout.as_str()), (10, ""));
    assert!(alone.stderr.starts_with(left_out), "{}", alone.stderr);
    let both = ["validate", "base.txt", "wrong-data.txt", "--format", "json"];
    let both = Run::new(&both).said();
    assert_eq!(both.code, 10, "{}", both.stderr);
    assert!(both.stderr.starts_with(left_out), "{}", both.stderr);
    let json: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    let ids = json["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| &set["id"]);
    assert_eq!(ids.collect::<Vec<_>>(), ["base"]);
}

#[test]
fn compare_says_which_runs_have_no_partner() {
    let base = std::fs::read_to_string(fixtures().join("base.txt")).unwrap();
    let twice = format!("{base}{base}");
    let run = Run::new(&["compare", "-", "same.txt", "--format", "json"]);
    let said = run.stdin(twice.as_bytes()).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let more = "one more run of it in the baseline; runs are compared in pairs";
    assert_eq!(
        json["not_compared"],
        serde_json::json!([
            format!("all_reduce on 8 ranks, out_of_place: {more}"),
            format!("all_reduce on 8 ranks, in_place: {more}"),
        ])
    );
}

#[test]
fn compare_with_a_run_that_aborted_is_a_no() {
    let base = std::fs::read_to_string(fixtures().join("base.txt")).unwrap();
    let rows: Vec<&str> = base.lines().take(25).collect();
    let failure = "node1: Test NCCL failure common.cu:1004 'unhandled system error'";
    let aborted = format!("{}\n{failure}\n", rows.join("\n"));
    let run = Run::new(&["compare", "base.txt", "-"]);
    let said = run.stdin(aborted.as_bytes()).said();
    assert_eq!(said.code, 10, "{}", said.stdout);
    assert!(
        said.stdout
            .starts_with("FAILED: a run has wrong data or aborted"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains(" FAILED              the new run aborted: "),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("only in the baseline: "),
        "{}",
        said.stdout
    );
}

#[test]
fn a_line_rate_is_a_yardstick() {
    for rate in ["260", "2080Gb/s"] {
        let said = Run::new(&["analyze", "base.txt", "--line-rate", rate]).said();
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("more than a ring gets out of 260 GB/s"),
            "{rate}: {text}"
        );
    }
    let said = Run::new(&["analyze", "base.txt", "--line-rate", "fast"]).said();
    assert_eq!(said.code, 2);
    assert!(
        said.stderr
            .contains("`--line-rate` is a rate, found `fast`"),
        "{}",
        said.stderr
    );
}

#[test]
fn one_placement_alone_is_shown_or_compared() {
    let placements = |arguments: &[&str]| {
        let said = Run::new(arguments).said();
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let series = json["series"].as_array().unwrap().clone();
        series
            .iter()
            .map(|series| series["placement"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let json = ["--format", "json", "--placement", "in-place"];
    assert_eq!(
        placements(&[&["analyze", "base.txt"][..], &json].concat()),
        ["in_place"]
    );
    assert_eq!(
        placements(&[&["compare", "base.txt", "same.txt"][..], &json].concat()),
        ["in_place"]
    );
}
