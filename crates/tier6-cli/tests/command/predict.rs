//! `tier6 predict` and `tier6 systems`: the contract, the numbers of the source documents, what
//! is outside the domain, and bad system files.

use crate::harness::{Run, Said, fixtures};
use insta::assert_snapshot;
use serde_json::Value;

/// Runs a line of arguments without blanks inside, in the folder of the system files.
fn run(line: &str) -> Run {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    Run::new(&arguments).current_dir(&fixtures().join("predict"))
}

fn said(line: &str) -> Said {
    run(line).said()
}

fn json(line: &str) -> Value {
    let said = said(&format!("{line} --format json"));
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// The Math column of source document 003: machine, size, microseconds as printed.
const DOCUMENT_003: [(&str, &str, &str); 16] = [
    ("h200", "64K", "26.3"),
    ("h200", "256K", "27.0"),
    ("h200", "1M", "30.2"),
    ("h200", "4M", "42.6"),
    ("h200", "16M", "92.6"),
    ("h200", "64M", "292.3"),
    ("h200", "256M", "1091.2"),
    ("h200", "1G", "4286.9"),
    ("h200", "4G", "17069.5"),
    ("a100", "8", "26.0"),
    ("a100", "32K", "26.3"),
    ("a100", "128K", "27.1"),
    ("a100", "2M", "43.0"),
    ("a100", "32M", "297.9"),
    ("a100", "128M", "1113.4"),
    ("a100", "512M", "4375.6"),
];

#[test]
fn document_003_is_reproduced_to_the_printed_digit() {
    for (machine, size, printed) in DOCUMENT_003 {
        let json = json(&format!(
            "predict --system document-003-{machine}.toml --collective all_reduce \
             --algorithm ring --sizes {size}"
        ));
        let result = &json["results"][0];
        let time = result["time_us"].as_f64().unwrap();
        assert_eq!(format!("{time:.1}"), printed, "{machine} {size}");
        assert_eq!(result["parts"]["software_us"], 26.0);
        assert_eq!(result["parts"]["latency_us"], 0.0);
        // Nothing was fitted here: numbers that were read are no calibration.
        assert_eq!(result["evidence"], "assumed");
    }
}

#[test]
fn json_has_the_keys_of_the_contract() {
    let json = json("predict --system h100-x8 --collective allreduce --sizes 8,1M");
    assert_eq!(
        keys(&json),
        [
            "schema",
            "engine",
            "system",
            "collective",
            "ranks",
            "results"
        ]
    );
    assert_eq!(json["schema"], "tier6.prediction/1");
    assert_eq!(json["engine"], "math");
    assert_eq!(json["system"], "h100-x8");
    assert_eq!(json["collective"], "all_reduce");
    assert_eq!(json["ranks"], 8);
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(
            keys(result),
            [
                "bytes",
                "algorithm",
                "protocol",
                "time_us",
                "parts",
                "algbw_gbs",
                "busbw_gbs",
                "bottleneck",
                "evidence"
            ]
        );
        let protocol = result["protocol"].as_str().unwrap();
        assert!(["ll", "ll128"].contains(&protocol), "{protocol}");
        let parts = &result["parts"];
        assert_eq!(
            keys(parts),
            [
                "software_us",
                "latency_us",
                "transfer_us",
                "reduce_us",
                "stall_us"
            ]
        );
        let parts = parts.as_object().unwrap().values();
        let sum: f64 = parts.map(|part| part.as_f64().unwrap()).sum();
        let time = result["time_us"].as_f64().unwrap();
        // Rounding of five sums.
        assert!((sum - time).abs() < 1e-9 * time, "{sum} {time}");
        let bytes = result["bytes"].as_f64().unwrap();
        let algbw = result["algbw_gbs"].as_f64().unwrap();
        assert!((algbw * time * 1e3 - bytes).abs() < 1e-9 * bytes);
        let busbw = result["busbw_gbs"].as_f64().unwrap();
        assert!((busbw / algbw - 1.75).abs() < 1e-12);
    }
}

#[test]
fn protocols_are_the_fastest_fixed_or_left_out() {
    let call = "predict --system a100-x8 --collective all_reduce --algorithm ring --sizes 8,4M,1G";
    let of = |line: &str, key: &str| -> Vec<Value> {
        let json = json(&format!("{call} {line}"));
        let results = json["results"].as_array().unwrap().iter();
        results.map(|result| result[key].clone()).collect()
    };
    let times = |line: &str| -> Vec<f64> {
        let times = of(line, "time_us").into_iter();
        times.map(|time| time.as_f64().unwrap()).collect()
    };
    assert_eq!(of("", "protocol"), ["ll", "ll128", "simple"]);
    assert_eq!(of("--protocol auto", "time_us"), of("", "time_us"));
    let fixed = ["ll", "ll128", "simple"].map(|protocol| times(&format!("--protocol {protocol}")));
    for (at, fastest) in times("").iter().enumerate() {
        let by_protocol = fixed.iter().map(|times| times[at]);
        assert_eq!(
            by_protocol.fold(f64::INFINITY, f64::min).to_bits(),
            fastest.to_bits()
        );
    }
    // 14 steps of 0.6, 1.9 and 3.4 us after 19 us of the call.
    let small = [27.4, 45.6, 66.6];
    for (found, expected) in fixed.iter().zip(small) {
        assert!((found[0] - expected).abs() < 1e-3, "{found:?}");
    }
    assert_eq!(
        of("--protocol none", "protocol"),
        [Value::Null, Value::Null, Value::Null]
    );

    let refused =
        said("predict --system h100-x8 --collective all_reduce --algorithm nvls --protocol ll");
    assert_eq!(refused.code, 5);
    assert!(
        refused.stderr.contains("runs `simple` alone"),
        "{}",
        refused.stderr
    );
    let unknown = said("predict --system h100-x8 --collective all_reduce --protocol ll182");
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `ll128`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn auto_is_the_first_of_all_that_nccl_runs() {
    let call = "predict --system h100-x8-ib-ndr --collective all_reduce --sizes 1K..1G:x32";
    let (auto, all) = (json(call), json(&format!("{call} --algorithm all")));
    assert!(!all["refused"].as_array().unwrap().is_empty());
    let all = all["results"].as_array().unwrap();
    for best in auto["results"].as_array().unwrap() {
        let same: Vec<&Value> = all
            .iter()
            .filter(|result| result["bytes"] == best["bytes"])
            .collect();
        let of_nccl = same
            .iter()
            .find(|result| result["in_nccl"] != "no")
            .unwrap();
        let mut of_nccl = (*of_nccl).clone();
        of_nccl.as_object_mut().unwrap().remove("in_nccl");
        assert_eq!(&of_nccl, best);
        let times = same
            .iter()
            .map(|result| result["time_us"].as_f64().unwrap());
        assert!(times.is_sorted(), "{best}");
    }
}

#[test]
fn auto_leaves_the_textbooks_to_all() {
    let call = "predict --system h100-x8 --collective all_reduce --sizes 1K,64M";
    let algorithms = |line: &str| -> Vec<Value> {
        let json = json(&format!("{call} {line}"));
        let results = json["results"].as_array().unwrap().iter();
        results.map(|result| result["algorithm"].clone()).collect()
    };
    assert_eq!(algorithms(""), ["ring", "nvls"]);
    assert_eq!(algorithms("--algorithm all")[0], "one_shot");
}

#[test]
fn variants_change_the_schedule() {
    let time = |line: &str| {
        let json = json(&format!(
            "predict --system h100-x8-ib-ndr --sizes 64M --protocol simple --collective {line}"
        ));
        json["results"][0]["time_us"].as_f64().unwrap()
    };
    let tree = |line: &str| time(&format!("all_reduce --algorithm tree {line}"));
    // The default on several nodes; single trees send twice, and every tree over all ranks
    // crosses nodes by few NICs.
    assert_eq!(
        tree("").to_bits(),
        tree("--variant trees=over_nodes").to_bits()
    );
    assert!(tree("") < tree("--variant trees=double"));
    assert!(tree("--variant trees=double") < tree("--variant trees=single"));
    assert!(tree("--variant pieces=1") > tree("--variant pieces=best"));
    let folded = |line: &str| {
        time(&format!(
            "all_reduce --ranks 6 --algorithm halving_doubling {line}"
        ))
    };
    assert!(folded("--variant fold=halves") < folded(""));
    let shots = |line: &str| time(&format!("all_reduce --ranks 8 --algorithm two_shot {line}"));
    assert_ne!(
        shots("").to_bits(),
        shots("--variant second-shot=multicast").to_bits()
    );
    let gathered = |line: &str| time(&format!("broadcast --algorithm scatter_all_gather {line}"));
    assert_ne!(
        gathered("").to_bits(),
        gathered("--variant gather=doubling").to_bits()
    );
    let ring = |line: &str| time(&format!("all_reduce --algorithm ring {line}"));
    assert!(ring("--grain 128K") < ring(""));
    let json = json(
        "predict --system h100-x8 --collective all_reduce --algorithm all --sizes 1M \
         --variant torus=2x4,torus_ports=one --variant trees=single",
    );
    assert_eq!(json["variant"]["torus"], "2x4");
    assert_eq!(keys(&json["variant"]), ["torus", "torus_ports", "trees"]);
    let results = json["results"].as_array().unwrap();
    assert!(
        results
            .iter()
            .any(|result| result["algorithm"] == "torus_bucket")
    );
}

#[test]
fn a_variant_that_says_nothing_is_2_with_what_is_possible() {
    for (variant, algorithm, hint) in [
        ("fold=halves", "auto", "halving_doubling"),
        ("fold=halves", "ring", "halving_doubling"),
        ("folds=halves", "all", "`fold`"),
        ("fold=third", "all", "`whole`, or `halves`"),
        ("fold", "all", "trees, fold,"),
        ("torus=4", "tree", "torus_bucket"),
        ("pieces=none", "tree", "`best`"),
    ] {
        let said = said(&format!(
            "predict --system h100-x8 --collective all_reduce --sizes 1M --algorithm {algorithm} \
             --variant {variant}"
        ));
        assert_eq!(said.code, 2, "{variant}: {}", said.stderr);
        let hinted = said.stderr.lines().find(|line| line.starts_with("hint: "));
        assert!(hinted.unwrap().contains(hint), "{variant}: {}", said.stderr);
    }
}

#[test]
fn the_help_lists_every_variant() {
    let help = said("predict --help").stdout;
    for (setting, value) in [
        ("trees", "over_nodes"),
        ("fold", "halves"),
        ("distance", "halving"),
        ("gather", "doubling"),
        ("second_shot", "multicast"),
        ("bidir", "split_data"),
        ("partner", "xor"),
        ("torus", "4x4"),
        ("torus_ports", "one"),
        ("pat_blocks", "all"),
        ("pieces", "best"),
        ("overlap", "full"),
        ("channels", "all_peers"),
        ("spread", "preferred"),
    ] {
        let has = |line: &str| line.contains(&format!("{setting}=")) && line.contains(value);
        assert!(help.lines().any(has), "{setting}");
    }
}

#[test]
fn ranks_fill_nodes_or_spread_over_them() {
    let ring = "predict --collective all_reduce --algorithm ring --sizes 64M --system";
    let first_line = |line: &str| {
        let said = said(&format!("{ring} {line}"));
        said.stdout.lines().next().unwrap_or_default().to_owned()
    };
    let on = |ranks, nodes| {
        format!("AllReduce on {ranks} ranks of h100-x8-ib-ndr, {nodes}; math engine")
    };
    assert_eq!(first_line("h100-x8-ib-ndr"), on(16, "2 nodes"));
    assert_eq!(first_line("h100-x8-ib-ndr --ranks 8"), on(8, "1 node"));
    assert_eq!(first_line("h100-x8-ib-ndr --ranks 32"), on(32, "4 nodes"));
    assert_eq!(first_line("h100-x8-ib-ndr --nodes 3"), on(24, "3 nodes"));
    let spread = "h100-x8-ib-ndr --ranks 8 --nodes 2";
    assert_eq!(first_line(spread), on(8, "2 nodes"));
    let time = |line: &str| {
        let json = json(&format!("{ring} {line}"));
        json["results"][0]["time_us"].as_f64().unwrap()
    };
    // Eight ranks on two nodes pay for the network.
    assert!(time(spread) > time("h100-x8-ib-ndr --ranks 8"));
}

#[test]
fn a_calibrated_system_says_where_it_was_fitted() {
    let json = json("predict --system fitted.toml --collective all_reduce --sizes 1K,1M");
    let evidence = |at: usize| json["results"][at]["evidence"].as_str().unwrap();
    assert_eq!((evidence(0), evidence(1)), ("extrapolated", "interpolated"));
}

#[test]
fn the_table_tells_parts_bottleneck_and_evidence() {
    assert_snapshot!(
        "predict_auto",
        run("predict --system h100-x8 --collective all_reduce --sizes 1K..1G:x32").snapshot()
    );
    assert_snapshot!(
        "predict_all",
        run("predict --system a100-x8 --collective all_reduce --algorithm all --sizes 64M")
            .snapshot()
    );
    assert_snapshot!(
        "predict_markdown",
        run("predict --system a100-x8 --collective all_gather --sizes 1M --format md").snapshot()
    );
    assert_snapshot!(
        "predict_csv",
        run("predict --system a100-x8 --collective all_gather --sizes 1M --format csv").snapshot()
    );
}

#[test]
fn outside_the_domain_is_5_with_a_hint() {
    for (line, says, hint) in [
        ("--system a100-x8 --algorithm nvls", "in-switch", "use ring"),
        ("--system h100-x8 --ranks 9", "9 ranks", "outermost"),
        ("--system h100-x8 --nodes 2", "one node", "tier6 systems"),
        (
            "--system h100-x8-ib-ndr --ranks 9 --nodes 2",
            "evenly",
            "--ranks 16",
        ),
        (
            "--system h100-x8-ib-ndr --nodes 100000",
            "65536",
            "number of nodes",
        ),
        (
            "--system h100-x8 --algorithm bruck",
            "does not offer",
            "ring",
        ),
    ] {
        let said = said(&format!(
            "predict --collective all_reduce --sizes 1M {line}"
        ));
        assert_eq!(said.code, 5, "{line}: {}", said.stderr);
        assert!(said.stdout.is_empty(), "{line}");
        assert!(said.stderr.contains(says), "{line}: {}", said.stderr);
        let hinted = said.stderr.lines().find(|line| line.starts_with("hint: "));
        assert!(hinted.unwrap().contains(hint), "{line}: {}", said.stderr);
    }
    let said = said("predict --system h100-x8 --collective all_to_all_v");
    assert_eq!(said.code, 5);
    assert!(said.stderr.contains("all_to_all,"), "{}", said.stderr);
}

#[test]
fn an_unknown_name_is_2_with_the_nearest() {
    for (line, nearest) in [
        ("--system h10-x8 --collective all_reduce", "`h100-x8`"),
        ("--system h100-x8 --collective all_redcue", "`all_reduce`"),
        (
            "--system h100-x8 --collective all_reduce --algorithm nvsl",
            "`nvls`",
        ),
        (
            "--system h100-x8 --collective all_reduce --engine g5",
            "`math`",
        ),
        (
            "--system nowhere --collective all_reduce",
            "`tier6 systems`",
        ),
        (
            "--system h100-x8 --collective all_reduce -o out.html",
            "table, json, csv, md, svg",
        ),
    ] {
        let said = said(&format!("predict {line}"));
        assert_eq!(said.code, 2, "{line}: {}", said.stderr);
        let hinted = said.stderr.lines().find(|line| line.starts_with("hint: "));
        assert!(hinted.unwrap().contains(nearest), "{line}: {}", said.stderr);
    }
}

#[test]
fn a_bad_system_file_is_3_with_its_line_and_a_hint() {
    for command in ["predict --collective all_reduce --system", "systems show"] {
        for (file, place, hint) in [
            (
                "slip.toml",
                "line 8, column 1",
                "hint: did you mean `latency`?",
            ),
            ("unknown-link.toml", "line 15", "hint: did you mean `wire`?"),
            ("absent.toml", "`absent.toml`", "hint: check the path"),
        ] {
            let said = said(&format!("{command} {file}"));
            assert_eq!(said.code, 3, "{command} {file}: {}", said.stderr);
            assert!(
                said.stderr.contains(&format!("`{file}`")),
                "{}",
                said.stderr
            );
            assert!(said.stderr.contains(place), "{}", said.stderr);
            assert!(said.stderr.contains(hint), "{}", said.stderr);
        }
    }
}

#[test]
fn every_listed_system_can_be_shown_and_predicted_on() {
    let list = json("systems");
    assert_eq!(list["schema"], "tier6.systems/1");
    let systems = list["systems"].as_array().unwrap();
    assert!(systems.len() >= 30);
    for system in systems {
        let name = system["name"].as_str().unwrap();
        let shown = json(&format!("systems show {name}"));
        assert_eq!(shown["schema"], "tier6.system/1");
        assert_eq!(shown["derived"]["chips"], system["chips"], "{name}");
        assert_eq!(shown["derived"]["nodes"], system["nodes"], "{name}");
        let said = said(&format!(
            "predict --system {name} --collective all_reduce --sizes 8,1M"
        ));
        assert_eq!(said.code, 0, "{name}: {}", said.stderr);
        assert!(said.stdout.contains("not calibrated"), "{name}");
    }
}

#[test]
fn what_is_shown_as_written_is_a_system_file() {
    let shown = json("systems show h100-x8");
    let written = shown["written"].as_str().unwrap();
    let line = "predict --system - --collective all_reduce --sizes 1M --format json";
    let own = run(line).stdin(written.as_bytes()).said();
    let preset = said(&line.replace("--system -", "--system h100-x8"));
    assert_eq!((own.code, own.stdout), (0, preset.stdout));
}

#[test]
fn a_system_is_shown_as_written_and_as_derived() {
    assert_snapshot!(
        "system_table",
        run("systems show document-003-h200.toml").snapshot()
    );
    assert_snapshot!(
        "system_markdown",
        run("systems show document-003-a100.toml --format md").snapshot()
    );
    let grown = json("systems show h100-x8-ib-ndr --nodes 16");
    assert_eq!(grown["derived"]["chips"], 128);
    let constants = grown["constants"].as_array().unwrap();
    let call = constants.iter().find(|c| c["name"] == "software.call");
    assert_eq!(call.unwrap()["evidence"], "assumed");
}
