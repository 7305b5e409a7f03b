//! Bad input: one clear error, a hint, the right exit code, never a panic.

use crate::harness::{Run, fixtures};
use std::fs;

fn check(arguments: &[&str], code: i32, said: &[&str]) {
    check_run(Run::new(arguments), code, said);
}

fn check_run(run: Run, code: i32, words: &[&str]) {
    let said = run.said();
    assert_eq!(
        said.code, code,
        "stdout: {}\nstderr: {}",
        said.stdout, said.stderr
    );
    for word in words {
        assert!(
            said.stderr.contains(word),
            "`{word}` not in: {}",
            said.stderr
        );
    }
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    if code != 0 && code != 10 {
        assert_eq!(said.stdout, "", "an error leaves standard output empty");
    }
}

#[test]
fn a_missing_file_is_named() {
    check(
        &["analyze", "nowhere.txt"],
        3,
        &["failed to open `nowhere.txt`", "hint:"],
    );
}

#[test]
fn an_empty_folder_holds_nothing() {
    let folder = std::env::temp_dir().join(format!("tier6-empty-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    check(
        &["analyze", folder.to_str().unwrap()],
        3,
        &["no file matches"],
    );
    fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_pattern_without_match_is_an_error() {
    check(
        &["analyze", "*.nothing"],
        3,
        &["no file matches `*.nothing`"],
    );
}

#[test]
fn an_empty_input_says_so() {
    check_run(
        Run::new(&["analyze", "-"]).stdin(b""),
        3,
        &["the input is empty", "hint:"],
    );
}

#[test]
fn random_bytes_are_no_benchmark() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let bytes: Vec<u8> = (0..200_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        })
        .collect();
    check_run(
        Run::new(&["analyze", "-"]).stdin(&bytes),
        3,
        &["error: failed to read `-`", "hint:"],
    );
}

#[test]
fn contradictory_tuning_lines_name_both() {
    let log = b"n:1:1 [0] NCCL INFO 1024 Bytes -> Algo 1 proto 0 time 9.5\n\
                n:1:1 [0] NCCL INFO 1024 Bytes -> Algo 1 proto 2 time 9.5\n";
    check_run(
        Run::new(&["analyze", "-"]).stdin(log),
        3,
        &["lines 1 and 2", "1024", "hint:"],
    );
}

#[test]
fn a_log_without_a_table_is_nothing_to_work_on() {
    check(
        &["analyze", "tuning.log"],
        4,
        &["no measured size", "--log"],
    );
}

#[test]
fn the_hint_for_a_percentage_suits_its_option() {
    for (option, hint) in [("--saturation", "80%"), ("--cv", "5%")] {
        let hint = format!("hint: for example `{option} {hint}`");
        check(&["analyze", "base.txt", option, "120%"], 2, &[&hint]);
    }
    let arguments = ["compare", "base.txt", "same.txt", "--min-effect", "x"];
    check(&arguments, 2, &["`--min-effect 3%`"]);
}

#[test]
fn a_header_without_rows_is_nothing_to_work_on() {
    let base = fs::read_to_string(fixtures().join("base.txt")).unwrap();
    let header: Vec<&str> = base
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    let header = header.join(
        "
",
    ) + "
";
    check_run(
        Run::new(&["analyze", "-"]).stdin(header.as_bytes()),
        4,
        &["no measured size"],
    );
}

#[test]
fn a_cut_file_is_used_as_far_as_it_goes() {
    let said = Run::new(&["analyze", "cut.txt", "--format", "json"]).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let warnings = json["inputs"][0]["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning["code"] == "cut-row"),
        "{warnings:?}"
    );
}

#[test]
fn one_bad_input_among_good_ones_is_reported() {
    let said = Run::new(&["analyze", "base.txt", "nowhere.txt"]).said();
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("nowhere.txt"), "{}", said.stderr);
    assert!(said.stdout.contains("base.txt"), "the others are analysed");
}

#[test]
fn unknown_words_are_usage_errors_with_suggestions() {
    check(&["analyse", "base.txt"], 2, &["analyze"]);
    check(&["analyze", "base.txt", "--format", "yaml"], 2, &["json"]);
    check(
        &["analyze", "base.txt", "--as", "excel"],
        2,
        &["unknown dialect `excel`", "nccl-tests"],
    );
    check(
        &["analyze", "base.txt", "--cv", "much"],
        2,
        &["--cv", "hint:"],
    );
    check(
        &["analyze", "base.txt", "-o", "out.xyz"],
        2,
        &["out.xyz", "hint:"],
    );
    check(
        &["analyze", "base.txt", "--range", "4M..1M"],
        2,
        &["--range"],
    );
    check(&["analyze", "base.txt", "--predict", "big"], 2, &["big"]);
    check(&["analyze"], 2, &["FILE"]);
    check(
        &["analyze", "base.txt", "--cv", "-5"],
        2,
        &["--cv", "found `-5`"],
    );
    check(&["analyze", "base.txt", "--cv", "5%%"], 2, &["`5%%`"]);
    check(&["analyze", "base.txt", "--nodes", "0"], 2, &["--nodes"]);
    check(&["analyze", "base.txt", "--ranks", "1"], 2, &["--ranks"]);
    check(&["analyze", "["], 2, &["malformed pattern", "hint:"]);
    check(
        &["convert", "base.txt", "-o", "out.json"],
        2,
        &[".json", ".jsonl"],
    );
}

#[test]
fn standard_input_is_read_once() {
    check(&["analyze", "-", "-"], 2, &["`-` is named twice"]);
    check(&["compare", "-", "-"], 2, &["`-` is named twice"]);
    check(&["analyze", "-", "--log", "-"], 2, &["`-` is named twice"]);
}

#[test]
fn more_folds_than_sizes_score_nothing() {
    let said = Run::new(&["validate", "base.txt", "--holdout", "kfold:4000000000"]).said();
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stdout.contains("no set was scored"), "{}", said.stdout);
}

#[test]
fn a_result_that_cannot_be_written_leaves_no_partial_file() {
    let folder = std::env::temp_dir().join(format!("tier6-absent-{}", std::process::id()));
    let file = folder.join("out.json");
    check(
        &["analyze", "base.txt", "-o", file.to_str().unwrap()],
        2,
        &["there is no folder", "hint: make it first"],
    );
    assert!(!file.exists());
}
