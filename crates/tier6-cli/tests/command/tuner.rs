//! `tier6 tuner`: choices, explanations, bad input, exactness.

use crate::harness::{Run, Said, fixtures};
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};

pub fn tuner(arguments: &[&str]) -> Run {
    let all: Vec<&str> = ["tuner"].iter().chain(arguments).copied().collect();
    Run::new(&all).current_dir(&fixtures().join("tuner"))
}

/// Runs a line of arguments without blanks inside.
pub fn said(line: &str) -> Said {
    tuner(&line.split_whitespace().collect::<Vec<_>>()).said()
}

pub fn snapshot(line: &str) -> String {
    tuner(&line.split_whitespace().collect::<Vec<_>>()).snapshot()
}

pub fn json(line: &str) -> serde_json::Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shared() -> Option<PathBuf> {
    let folder = root().join("../shared/nccl");
    folder.is_dir().then_some(folder)
}

/// An empty folder for one test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tuner-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The eleven points of source document 000: bytes, protocol, predicted us, measured us, error.
const DOCUMENT_000: [(u64, &str, &str, f64, &str); 11] = [
    (1, "ll", "10.200", 18.435, "-44.67"),
    (1 << 10, "ll", "10.239", 18.330, "-44.14"),
    (256 << 10, "ll", "20.282", 23.390, "-13.29"),
    (512 << 10, "ll", "30.365", 33.515, "-9.40"),
    (1 << 20, "ll128", "39.647", 49.620, "-20.10"),
    (2 << 20, "ll128", "53.894", 73.985, "-27.16"),
    (4 << 20, "simple", "81.229", 105.105, "-22.72"),
    (16 << 20, "simple", "238.515", 269.645, "-11.54"),
    (64 << 20, "simple", "867.661", 865.005, "+0.31"),
    (256 << 20, "simple", "3384.243", 3347.170, "+1.11"),
    (1 << 30, "simple", "13450.572", 13246.050, "+1.54"),
];

#[test]
fn choose_reproduces_source_document_000() {
    let json = json("choose --nccl 2.22.3 --system v100x4-nv2 --datatype int8 --sizes 1..1G:x2");
    let choices = json["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 31);
    assert!(choices.iter().all(|choice| choice["algorithm"] == "ring"));
    for (bytes, protocol, us, _, _) in DOCUMENT_000 {
        let choice = choices
            .iter()
            .find(|choice| choice["bytes"] == bytes)
            .unwrap();
        assert_eq!(choice["protocol"], protocol, "{bytes}");
        let time = choice["time_us"].as_f64().unwrap();
        assert_eq!(format!("{time:.3}"), us, "{bytes}");
    }
    let switches: Vec<_> = json["switches"].as_array().unwrap().iter().collect();
    assert_eq!(switches.len(), 2);
    assert_eq!(switches[0]["bytes"], 1 << 20);
    assert_eq!(switches[1]["bytes"], 4 << 20);
}

#[test]
fn audit_reproduces_the_error_column_of_source_document_000() {
    let folder = scratch("document-000");
    let rows = DOCUMENT_000.map(|(bytes, _, _, measured, _)| format!("{bytes},{measured}\n"));
    let table = format!("size_bytes,time_us\n{}", rows.concat());
    let path = folder.join("scan.csv");
    fs::write(&path, table).unwrap();
    let line = format!(
        "audit v100x4-nv2 {} --nccl 2.22.3 --collective all_reduce --ranks 4 --nodes 1",
        path.display()
    );
    let said = said(&line);
    // Times that are off are no wrong choices.
    assert_eq!(said.code, 0, "{}", said.stderr);
    for (_, protocol, us, _, error) in DOCUMENT_000 {
        let row = said.stdout.lines().find(|row| row.contains(us)).unwrap();
        assert!(row.contains(&format!("ring+{protocol}")), "{row}");
        assert!(row.ends_with(error), "{row} {error}");
    }
}

#[test]
fn keys_of_a_communicator_that_are_not_read_are_said() {
    let text = fs::read_to_string(fixtures().join("tuner/communicator.toml")).unwrap();
    let choose = |text: &str| {
        let arguments = ["choose", "--comm", "-", "--nccl", "2.27.7", "--sizes", "1M"];
        tuner(&arguments).stdin(text.as_bytes()).said()
    };
    let plain = choose(&text);
    assert_eq!((plain.code, plain.stderr.as_str()), (0, ""));
    let more = text
        .replace("nRanks =", "topoCpuVender = 1\nrack = 7\nnRanks =")
        .replace("bwInter =", "bwInterr = 9\nbwInter =");
    let said = choose(&more);
    assert_eq!((said.code, &said.stdout), (0, &plain.stdout));
    for note in [
        "`topoCpuVender` is no key of a communicator and is passed over; did you mean `topoCpuVendor`?",
        "`rack` is no key of a communicator and is passed over; the book's page",
        "`bwInterr` is no key of a graph and is passed over; did you mean `bwInter`?",
    ] {
        assert_eq!(said.stderr.matches(note).count(), 1, "{}", said.stderr);
    }
    // A key that is needed and misspelt is an error, and the hint names the word.
    let said = choose(&text.replace("nRanks =", "nRank ="));
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(
        said.stderr.contains("missing field `nRanks`"),
        "{}",
        said.stderr
    );
    let hint =
        "hint: `nRank` is no key of a communicator and is passed over; did you mean `nRanks`?";
    assert!(said.stderr.contains(hint), "{}", said.stderr);
}

#[test]
fn graph_log_and_communicator_choose_alike() {
    let sources = [
        "--comm communicator.json",
        "--comm communicator.toml",
        "--log nccl.log --comp-cap 8.0",
        "--graph graph.xml --comp-cap 8.0 --cpu amd",
        "--graph graph.xml --comp-cap 80 --cpu amd --ranks 6 --nodes 1",
    ];
    for collective in [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "broadcast",
        "reduce",
    ] {
        let tables = sources.map(|source| {
            let said = said(&format!(
                "table {source} --nccl 2.27.7 --collective {collective} --format csv"
            ));
            assert_eq!(said.code, 0, "{source}: {}", said.stderr);
            said.stdout
        });
        assert!(
            tables.iter().all(|table| *table == tables[0]),
            "{collective}"
        );
        assert!(tables[0].lines().count() > 200);
    }
    // The log names its version.
    let json = json("choose --log nccl.log --sizes 1M");
    assert_eq!(json["nccl"], "2.27.7");
}

#[test]
fn published_inputs_choose_alike() {
    let Some(shared) = shared() else {
        eprintln!("no shared folder: NCCL's own logs are not read");
        return;
    };
    let mut compared = 0;
    for version in ["2.22.3", "2.27.7", "2.28.9", "2.30.7"] {
        for system in ["v100x4-nv2", "h100x8-dgx", "h100x8-dgx-2n"] {
            let log = shared.join(format!("logs/v{version}-1/{system}.log"));
            let lines =
                fs::read_to_string(shared.join(format!("systems/{version}.jsonl"))).unwrap();
            let id = format!("{{\"id\":\"{system}\"");
            let line = lines.lines().find(|line| line.starts_with(&id)).unwrap();
            let ask = |source: &[&str], input: &str| {
                let all = [&["choose", "--nccl", version, "--format", "csv"], source].concat();
                let said = tuner(&all).stdin(input.as_bytes()).said();
                assert_eq!(said.code, 0, "{system}: {}", said.stderr);
                said.stdout
            };
            let by_line = ask(&["--comm", "-"], line);
            assert_eq!(
                by_line,
                ask(&["--log", log.to_str().unwrap()], ""),
                "{system}"
            );
            assert_eq!(by_line, ask(&["--system", system], ""), "{system}");
            compared += 1;
        }
    }
    eprintln!("{compared} logs of the shared folder choose like their communicators");
}

#[test]
fn json_keeps_the_contract() {
    let json = json("choose --nccl 2.30.7 --comm communicator.json --sizes 1K,1M --candidates");
    assert_eq!(json["schema"], "tier6.tuner/1");
    assert_eq!(json["nccl"], "2.30.7");
    assert_eq!(json["collective"], "all_reduce");
    let choice = &json["choices"][0];
    assert_eq!(
        keys(choice),
        [
            "bytes",
            "algorithm",
            "protocol",
            "time_us",
            "channels",
            "warps"
        ]
    );
    let candidates = json["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2 * 21);
    for candidate in candidates {
        assert_eq!(
            keys(candidate),
            ["bytes", "algorithm", "protocol", "time_us", "why_not"]
        );
        assert_ne!(
            candidate["time_us"].is_null(),
            candidate["why_not"].is_null()
        );
    }
    let plain = self::json("choose --nccl 2.30.7 --comm communicator.json --sizes 1K");
    assert!(plain.get("candidates").is_none());
    let oracle = root().join("crates/tier6-nccl/tests/data/oracle");
    let verify = self::json(&format!("verify {}", oracle.display()));
    assert_eq!(
        keys(&verify),
        [
            "schema",
            "tables",
            "rows",
            "equal",
            "different",
            "examples",
            "notes"
        ]
    );
    assert_eq!(verify["schema"], "tier6.verify/1");
    assert_eq!(
        keys(&verify["tables"][0]),
        ["file", "rows", "equal", "different"]
    );
}

#[test]
fn choices_and_their_reasons_are_tables() {
    let sizes = "--sizes 1K..64M:x4";
    let source = "--nccl 2.22.3 --system a100x8-dgx-2n";
    assert_snapshot!("choose", snapshot(&format!("choose {source} {sizes}")));
    assert_snapshot!(
        "table",
        snapshot(&format!("table {source} {sizes} --collective all_gather"))
    );
    assert_snapshot!(
        "explain",
        snapshot("explain --comm communicator.toml --nccl 2.27.7 --bytes 256K")
    );
    assert_snapshot!(
        "explain_markdown",
        snapshot("explain --graph graph.xml --nccl 2.22.3 --bytes 64 --format md")
    );
}

#[test]
fn an_explanation_ends_at_the_time_of_the_table() {
    let json = json("explain --nccl 2.30.7 --system h100x8-dgx-4n --bytes 8M");
    let mut timed = 0;
    for candidate in json["candidates"].as_array().unwrap() {
        let terms = candidate["terms"].as_array().unwrap();
        if !candidate["time_us"].is_null() {
            assert_eq!(terms.last().unwrap()["result"], candidate["time_us"]);
            assert_eq!(terms.last().unwrap()["quantity"], "time us");
            timed += 1;
        }
    }
    assert!(timed >= 6, "{timed}");
}

#[test]
fn an_unknown_version_takes_the_nearest_older_one_and_says_so() {
    let said = said("choose --nccl 2.22.9 --system v100x4-nv2 --sizes 1M --format json");
    assert_eq!(said.code, 0);
    assert!(
        said.stderr.contains("NCCL 2.22.9 is not known"),
        "{}",
        said.stderr
    );
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["nccl"], "2.22.9");
    assert_eq!(json["version_used"], "2.22.3");
}

#[test]
fn variables_of_the_environment_count() {
    let paths = |line: &str| -> Vec<String> {
        let json = json(line);
        let choices = json["choices"].as_array().unwrap();
        let path = |choice: &serde_json::Value| {
            format!("{}+{}", choice["algorithm"], choice["protocol"]).replace('"', "")
        };
        choices.iter().map(path).collect()
    };
    let base = "choose --system v100x4-nv2 --nccl 2.27.7 --sizes 1K,1G";
    assert_eq!(paths(base), ["ring+ll", "ring+simple"]);
    let tree = paths(&format!("{base} --env NCCL_ALGO=tree --env NCCL_PROTO=LL"));
    assert_eq!(tree, ["tree+ll", "tree+ll"]);
}

#[test]
fn bad_input_is_one_clear_error() {
    for (line, code, words) in [
        (
            "choose --system v100x4-nv2 --nccl 2.30.7 --env NCCL_ALGO=rnig",
            2,
            "unknown name `rnig`",
        ),
        (
            "choose --system v100x4-nv2 --nccl 2.18.1",
            5,
            "older than 2.19.3",
        ),
        (
            "choose --system v100x4-nv2 --nccl two",
            2,
            "expected an NCCL version",
        ),
        ("choose --system v100x5", 2, "unknown system `v100x5`"),
        (
            "choose --system v100x4-nv2 --ranks 8",
            2,
            "contradicts the communicator",
        ),
        (
            "choose --system v100x4-nv2 --collective all_to_all",
            2,
            "does not decide about",
        ),
        (
            "choose --system v100x4-nv2 --format svg",
            2,
            "[possible values: table, json, csv, md]",
        ),
        ("choose --graph missing.xml", 3, "failed to open"),
        ("choose --graph communicator.json", 3, "as XML"),
        ("choose --comm graph.xml", 3, "failed to read"),
        ("choose --log graph.xml", 4, "no communicator with graphs"),
        ("choose --graph graph.xml --ranks 0", 2, "at least 1"),
        ("diff 2.22.3 2.27.7", 2, "needs a communicator"),
        ("audit 2.22.3 sweep", 2, "does not predict times"),
        ("verify missing", 3, "failed to open"),
        ("verify sweep", 4, "no table in"),
        (
            "config sweep/six_default.txt --dry-run",
            4,
            "no sweep tells",
        ),
    ] {
        let said = said(line);
        assert_eq!(said.code, code, "{line}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
        assert_eq!(
            said.stderr.matches("error:").count(),
            1,
            "{line}: {}",
            said.stderr
        );
        assert_eq!(said.stdout, "", "{line}");
    }
}

#[test]
fn impossible_graphs_are_refused() {
    let graph = fs::read_to_string(fixtures().join("tuner/graph.xml")).unwrap();
    for (from, to) in [
        ("speedintra=\"22\"", "speedintra=\"NaN\""),
        ("speedintra=\"22\"", "speedintra=\"-22\""),
        ("nchannels=\"3\"", "nchannels=\"0\""),
        ("pattern=\"2\"", "pattern=\"4\""),
        ("typeintra=\"NVL\"", "typeintra=\"ROPE\""),
    ] {
        let bad = graph.replace(from, to);
        let said = tuner(&["choose", "--graph", "-"])
            .stdin(bad.as_bytes())
            .said();
        assert_eq!(said.code, 3, "{to}: {}", said.stderr);
        assert_eq!(
            said.stderr.matches("error:").count(),
            1,
            "{to}: {}",
            said.stderr
        );
    }
}

#[test]
fn a_call_that_nccl_fails_is_a_no() {
    let line = "choose --system v100x4-nv2 --nccl 2.30.7 --collective broadcast --sizes 1K \
                --env NCCL_ALGO=tree";
    assert_snapshot!("failing_call", snapshot(line));
    let json = json(line);
    assert!(json["choices"][0]["algorithm"].is_null());
}

#[test]
fn verify_finds_a_changed_row() {
    let oracle = root().join("crates/tier6-nccl/tests/data/oracle");
    let folder = scratch("verify");
    for part in ["systems", "cost"] {
        fs::create_dir(folder.join(part)).unwrap();
    }
    for name in ["systems/2.22.3.jsonl", "cost/2.22.3.csv"] {
        fs::copy(oracle.join(name), folder.join(name)).unwrap();
    }
    let name = folder.to_str().unwrap();
    let equal = tuner(&["verify", name, "--format", "json"]).said();
    assert_eq!(equal.code, 0, "{}", equal.stdout);
    let costs = folder.join("cost/2.22.3.csv");
    let text = fs::read_to_string(&costs).unwrap();
    fs::write(&costs, text.replacen(",ring,LL,", ",tree,LL,", 1)).unwrap();
    let said = tuner(&["verify", name, "--format", "json"]).said();
    assert_eq!(said.code, 10);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["different"], 1);
    let example = &json["examples"][0];
    assert_eq!(
        keys(example),
        ["file", "id", "row", "field", "ours", "theirs"]
    );
    assert_eq!(example["field"], "algo");
    assert_eq!(
        (&example["ours"], &example["theirs"]),
        (&"ring".into(), &"tree".into())
    );
}

#[test]
fn every_row_of_the_full_set_is_equal() {
    let (folder, which) = match shared() {
        Some(folder) => (folder, "the shared folder"),
        None => (
            root().join("crates/tier6-nccl/tests/data/oracle"),
            "the compact copy",
        ),
    };
    let said = tuner(&["verify", folder.to_str().unwrap(), "--format", "json"]).said();
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    eprintln!(
        "{which}: {} rows, {} equal; {}",
        json["rows"],
        json["equal"],
        said.stderr.trim()
    );
    assert_eq!(json["different"], 0, "{}", json["examples"]);
    assert_eq!(said.code, 0);
    assert!(json["rows"].as_u64().unwrap() > 9000);
}

#[test]
fn every_help_page_starts_with_examples() {
    for command in [
        "", "choose", "table", "explain", "audit", "config", "lint", "diff", "verify", "systems",
    ] {
        let said = said(&format!("{command} --help"));
        assert_eq!(said.code, 0);
        assert!(
            said.stdout.starts_with("Example"),
            "{command}: {}",
            said.stdout
        );
    }
    assert!(
        said("systems")
            .stdout
            .lines()
            .any(|name| name == "v100x4-nv2")
    );
}
