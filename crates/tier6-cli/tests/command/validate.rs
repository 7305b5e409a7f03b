//! `tier6 validate --holdout ranks` and `plan:K`: whole sweeps and all but a few sizes held out.

use crate::harness::{Run, Said};
use insta::assert_snapshot;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// An `AllReduce` sweep over a node as nccl-tests prints it: a ring of 8 us and 1.5 us per step,
/// at 140 GB/s, and 3 % more at every second size.
fn sweep(ranks: u32) -> String {
    let mut text = "# nThread 1 nGpus 1 minBytes 1024 maxBytes 268435456 step: 4(factor) \
                    warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n\
                    # Using devices\n"
        .to_owned();
    for rank in 0..ranks {
        writeln!(text, "#  Rank  {rank} Group  0 Pid   17 on  maple device  {rank} [0000:0{rank}:00] Example GPU").unwrap();
    }
    text += "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n\
             #        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
    let steps = f64::from(2 * (ranks - 1));
    let share = steps / f64::from(ranks);
    for power in 0..16 {
        let bytes = 8192_f64 * f64::from(1 << power);
        let us = (8.0 + 1.5 * steps + share * bytes / 140e3) * [1.0, 1.03][power % 2];
        let algbw = bytes / us / 1e3;
        let busbw = algbw * share;
        writeln!(
            text,
            " {bytes} {} float sum -1 {us:.2} {algbw:.2} {busbw:.2} 0",
            bytes / 4.0
        )
        .unwrap();
    }
    text
}

/// A folder with sweeps of these numbers of ranks.
fn folder(name: &str, ranks: &[u32]) -> PathBuf {
    let process = std::process::id();
    let folder = std::env::temp_dir().join(format!("tier6-validate-{process}-{name}"));
    fs::create_dir_all(&folder).unwrap();
    for ranks in ranks {
        fs::write(folder.join(format!("{ranks}.txt")), sweep(*ranks)).unwrap();
    }
    folder
}

fn said(folder: &Path, line: &str) -> Said {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    Run::new(&arguments).current_dir(folder).said()
}

fn json(folder: &Path, line: &str) -> Value {
    let said = said(folder, &format!("{line} --format json"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn more_ranks_are_predicted_from_fewer() {
    let folder = folder("math", &[2, 4, 8]);
    let line = "validate 2.txt 4.txt 8.txt --holdout ranks --engine fit,math --system h100-x8";
    let json = json(&folder, line);
    assert_eq!(json["holdout"], "ranks");
    let [set] = json["sets"].as_array().unwrap().as_slice() else {
        panic!("{json}");
    };
    assert_eq!((&set["id"], &set["points"]), (&"8".into(), &16.into()));
    let from = &set["from_ranks"];
    assert_eq!(from["trained_on"], serde_json::json!(["2", "4"]));
    assert_eq!((&from["ranks"], &from["scale"]), (&8.into(), &2.0.into()));
    let math = &set["engines"]["math"];
    let error = math["held_out"]["overall"].as_f64().unwrap();
    assert!(error < 15.0, "{math}");
    let interval = &math["interval"];
    assert!(
        interval["inside_pct"].as_f64().unwrap() >= 90.0,
        "{interval}"
    );
    assert!(interval["factor"].as_f64().unwrap() > 1.0, "{interval}");
    assert!(set["engines"]["fit"]["held_out"]["overall"].is_null());
    assert!(set["yardsticks"]["log_log"]["held_out"]["overall"].is_null());
    let line = set["yardsticks"]["log_log_ranks"]["held_out"]["overall"].as_f64();
    assert!(error < line.unwrap(), "{set}");
    assert_eq!(json["tiers"]["single"]["engines"]["math"]["sets"], 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn engines_of_one_sweep_say_that_they_know_no_ranks() {
    let folder = folder("fit", &[2, 4, 6, 8]);
    let table = said(
        &folder,
        "validate 2.txt 4.txt 6.txt 8.txt --holdout ranks:4",
    );
    assert_snapshot!(format!(
        "exit: {}\n{}{}",
        table.code, table.stdout, table.stderr
    ));
    let page = said(&folder, "validate 2.txt 8.txt --holdout ranks --format md");
    assert!(
        page.stdout.starts_with("# Validation across ranks\n"),
        "{}",
        page.stdout
    );
    assert!(
        page.stdout
            .contains("- 8: fit: knows the sizes of a sweep, not its ranks")
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn all_sizes_are_predicted_from_planned_ones() {
    let folder = folder("plan", &[8]);
    let line = "validate 8.txt --holdout plan:5 --engine fit,math --system h100-x8";
    let json = json(&folder, line);
    assert_eq!(json["holdout"], "plan:5");
    let set = &json["sets"][0];
    let overall = |role: &str, engine: &str| {
        let score = &set[role][engine];
        score["held_out"]["overall"].as_f64().unwrap()
    };
    let (math, lines) = (overall("engines", "math"), overall("yardsticks", "log_log"));
    assert!(math < 10.0 && math < lines, "{math} {lines}");
    assert!(overall("engines", "fit") < lines);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_held_out_is_refused() {
    let folder = folder("refused", &[4]);
    let lines = [
        "validate 4.txt --holdout plan:5",
        "validate 4.txt --holdout plan:2 --system h100-x8",
        "validate 4.txt --holdout ranks:1",
        "validate 4.txt --holdout ranks",
        "validate 4.txt --holdout plan:40 --system h100-x8",
    ];
    let answers: Vec<String> = lines
        .iter()
        .map(|line| {
            let said = said(&folder, line);
            format!(
                "$ tier6 {line}\nexit: {}\n{}{}",
                said.code, said.stdout, said.stderr
            )
        })
        .collect();
    assert_snapshot!(answers.join("\n"));
    fs::remove_dir_all(folder).unwrap();
}
