//! `tier6 tuner` on files: lint, configuration from sweeps, audits, differences.

use crate::harness::fixtures;
use crate::tuner::{json, said, scratch, snapshot, tuner};
use insta::assert_snapshot;
use std::fs;

#[test]
fn lint_names_file_line_and_code() {
    assert_snapshot!("lint", snapshot("lint nccl_tuner.conf"));
    assert_snapshot!(
        "lint_against_a_system",
        snapshot(
            "lint nccl_tuner.conf --comm communicator.json --nccl 2.27.7 --env NCCL_ALGO=ring --format csv"
        )
    );
}

#[test]
fn lint_repairs_what_is_safe() {
    let folder = scratch("fix");
    let path = folder.join("nccl_tuner.conf");
    fs::copy(fixtures().join("tuner/nccl_tuner.conf"), &path).unwrap();
    let name = path.to_str().unwrap();
    let said = tuner(&["lint", name, "--fix"]).said();
    assert!(said.stdout.contains("repaired lines"), "{}", said.stdout);
    let fixed = fs::read_to_string(&path).unwrap();
    assert!(
        fixed.contains("allreduce,0,65535,ring,ll,0,1,6,-1,-1"),
        "{fixed}"
    );
    assert!(
        fixed.contains("allreduce,65536,18446744073709551615,tree,ll128,0,1,6,-1,-1"),
        "{fixed}"
    );
    // A second time there is nothing to repair.
    let again = tuner(&["lint", name, "--fix", "--format", "json"]).said();
    let json: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(json["files"][0]["repaired_lines"], serde_json::json!([]));
    assert_eq!(fs::read_to_string(&path).unwrap(), fixed);
}

#[test]
fn config_writes_few_rows_that_lint_finds_clean() {
    let folder = scratch("config");
    for dialect in ["nvidia-example", "rccl", "ncclx-csv"] {
        let path = folder.join(format!("{dialect}.conf"));
        let name = path.to_str().unwrap();
        let nodes = ["--nodes", "1"];
        let arguments = ["config", "sweep", "--dialect", dialect, "-o", name];
        let dry = tuner(&[&arguments[..], &nodes, &["--dry-run"]].concat()).said();
        assert_eq!(dry.code, 0, "{}", dry.stderr);
        assert!(!path.exists());
        let wet = tuner(&[&arguments[..], &nodes, &["--format", "json"]].concat()).said();
        assert_eq!(wet.code, 0, "{}", wet.stderr);
        let json: serde_json::Value = serde_json::from_str(&wet.stdout).unwrap();
        assert_eq!(json["schema"], "tier6.tuner_config/1");
        let rows = json["plans"][0]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2, "{dialect}");
        assert!(rows[1]["last_bytes"].is_null());
        assert_eq!(json["findings"], serde_json::json!([]));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(json["text"], text);
        assert!(text.lines().all(|line| line.len() < 255));
        let lint = tuner(&[
            "lint",
            name,
            "--dialect",
            dialect,
            "--comm",
            "communicator.json",
        ])
        .said();
        assert_eq!(lint.code, 0, "{dialect}: {}", lint.stdout);
        assert!(
            lint.stdout.contains("nothing found"),
            "{dialect}: {}",
            lint.stdout
        );
    }
    // Alone it prints the file, for a pipe.
    let printed = said("config sweep --dialect rccl");
    assert!(
        printed.stdout.starts_with("# collective,"),
        "{}",
        printed.stdout
    );
}

/// A folder with the sweeps of the fixtures, and a run of Simple under the name of `file` that moved
/// wrong data at its last size.
fn sweep_with_wrong_data(file: &str) -> String {
    let folder = scratch(file);
    let source = fixtures().join("tuner/sweep");
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    let good = fs::read_to_string(source.join("six_ring_simple.txt")).unwrap();
    let row = good.lines().rfind(|line| line.contains("float")).unwrap();
    let (before, after) = row.rsplit_once('0').unwrap();
    let wrong = good.replace(row, &format!("{before}9{after}"));
    fs::write(folder.join(file), wrong.replace("0 OK", "1 FAILED")).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_run_that_moves_wrong_data_is_left_out() {
    let sweep = sweep_with_wrong_data("bad_ring_simple.txt");
    let left_out = "error: `bad_ring_simple` moved wrong data at ";
    let said = tuner(&["config", &sweep, "--nodes", "1", "--format", "json"]).said();
    assert_eq!(said.code, 10, "{}", said.stderr);
    assert!(said.stderr.contains(left_out), "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["plans"][0]["rows"].as_array().unwrap().len(), 2);
    let reference = "communicator.json";
    let said = tuner(&["audit", reference, &sweep, "--nccl", "2.27.7"]).said();
    assert_eq!(said.code, 10, "{}", said.stderr);
    assert!(said.stderr.contains(left_out), "{}", said.stderr);
    assert!(said.stdout.contains("six_default"), "{}", said.stdout);
    assert!(!said.stdout.contains("bad_ring_simple"), "{}", said.stdout);
}

#[test]
fn wrong_data_is_the_reason_when_nothing_else_is_left() {
    // Without Simple no known path is as fast as NCCL's own choice.
    let sweep = sweep_with_wrong_data("six_ring_simple.txt");
    let said = tuner(&["config", &sweep, "--nodes", "1"]).said();
    assert_eq!(said.code, 10, "{}", said.stderr);
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr
            .starts_with("error: `six_ring_simple` moved wrong data at "),
        "{}",
        said.stderr
    );
}

#[test]
fn config_never_overwrites_a_sweep() {
    let folder = scratch("keep");
    let path = folder.join("six_ring_ll.txt");
    let source = fixtures().join("tuner/sweep/six_ring_ll.txt");
    fs::copy(&source, &path).unwrap();
    let name = path.to_str().unwrap();
    let said = tuner(&["config", name, "-o", name]).said();
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert_eq!(fs::read(&path).unwrap(), fs::read(&source).unwrap());
}

#[test]
fn audit_tells_a_wrong_time_from_a_wrong_choice() {
    let text = snapshot("audit communicator.json sweep --nccl 2.27.7");
    assert_snapshot!("audit", text);
    let json = json("audit communicator.json sweep --nccl 2.27.7");
    assert_eq!(json["schema"], "tier6.tuner_audit/1");
    let sizes = json["calls"][0]["sizes"].as_array().unwrap();
    let wrong: Vec<u64> = sizes
        .iter()
        .filter(|size| size["verdict"] == "wrong")
        .map(|size| size["bytes"].as_u64().unwrap())
        .collect();
    // The default runs stay with LL up to 2 MiB, and Simple is faster from 512 KiB on.
    assert_eq!(wrong, [512 << 10, 1 << 20, 2 << 20]);
    assert_eq!(said("audit communicator.json sweep --nccl 2.27.7").code, 10);
    let default = "audit communicator.json sweep/six_default.txt --nccl 2.27.7";
    assert_eq!(said(default).code, 0);
}

#[test]
fn choices_as_csv_predict_like_the_communicator() {
    let folder = scratch("choices");
    let path = folder.join("choices.csv");
    let name = path.to_str().unwrap();
    let chosen = tuner(&[
        "choose",
        "--comm",
        "communicator.json",
        "--nccl",
        "2.27.7",
        "--sizes",
        "1K..64M:x2",
        "-o",
        name,
    ])
    .said();
    assert_eq!(chosen.code, 0, "{}", chosen.stderr);
    let points = |reference: &str| {
        let line = format!("audit {reference} sweep/six_default.txt --nccl 2.27.7");
        json(&line)["runs"][0]["points"].clone()
    };
    let by_table = points("communicator.json");
    let by_choices = points(name);
    let paths = |points: &serde_json::Value| -> Vec<String> {
        let all = points.as_array().unwrap().iter();
        all.map(|point| {
            format!(
                "{} {} {}",
                point["bytes"], point["algorithm"], point["protocol"]
            )
        })
        .collect()
    };
    assert_eq!(paths(&by_table).len(), 17);
    assert_eq!(paths(&by_table), paths(&by_choices));
}

#[test]
fn differences_of_versions_systems_and_files() {
    assert_snapshot!(
        "diff_versions",
        snapshot("diff 2.22.3 2.30.7 --system h100x8-dgx-4n --sizes 1K..1G:x4")
    );
    assert_snapshot!(
        "diff_file",
        snapshot(
            "diff default nccl_tuner.conf --comm communicator.json --nccl 2.27.7 --collective all_reduce --sizes 1K..16M:x8 --wide"
        )
    );
    let same = said("diff 2.22.3 2.22.3 --system v100x4-nv2");
    assert!(same.stdout.contains("no difference"), "{}", same.stdout);
}

#[test]
fn the_sheet_of_nvidias_script_is_a_sweep() {
    let json = json("config performance.csv --dry-run");
    let plan = &json["plans"][0];
    assert_eq!((&plan["ranks"], &plan["nodes"]), (&6.into(), &1.into()));
    let rows = plan["rows"].as_array().unwrap();
    let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(paths, ["ring+ll", "ring+simple"]);
    // The two lines meet at 365217 bytes.
    let border = rows[0]["last_bytes"].as_u64().unwrap();
    assert!((340_000..390_000).contains(&border), "{border}");
}

#[test]
fn an_audit_tells_what_its_predictions_are_not_for() {
    let folder = scratch("tuner_audit_conditions");
    let sweep = folder.join("six_nvls.csv");
    fs::write(
        &sweep,
        "size,time_us,ranks,nodes,collective\n1048576,90.5,6,1,all_reduce\n2097152,160.5,6,1,all_reduce\n",
    )
    .unwrap();
    fs::write(
        folder.join("INDEX.tsv"),
        "id\tcollective\tn_gpus\tn_nodes\tenv_flags\nsix_nvls\tall_reduce\t6\t1\tNCCL_NVLS_ENABLE=0 -g 6\n",
    )
    .unwrap();
    let sweep = sweep.display().to_string();
    let arguments = ["audit", "h100x8-dgx", &sweep, "--nccl", "2.27.7"];
    let run = tuner(&arguments).said();
    assert!(
        run.stderr
            .contains("measured: 6 ranks on 1 node; predicted: 8 ranks on 1 node"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("`--env NCCL_NVLS_ENABLE=0` predicts with it"),
        "{}",
        run.stderr
    );
    let told = [&arguments[..], &["--env", "NCCL_NVLS_ENABLE=0"]].concat();
    assert!(!tuner(&told).said().stderr.contains("predicts with it"));
}
