//! Measurements that people misread, answered by the whole program from its files. Each case has
//! a small file of its own kind here; the published original is asked too when `../shared` is
//! there, with the figures that its answer must have.

use crate::harness::{Run, fixtures};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the files of a case: ours, and the published ones where they are.
fn files(ours: &[&str], case: &str, theirs: &[&str]) -> (Vec<PathBuf>, Option<Vec<PathBuf>>) {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let own = ours
        .iter()
        .map(|file| fixtures().join("substance").join(file));
    let published: Vec<PathBuf> = theirs
        .iter()
        .map(|file| shared.join(case).join(file))
        .collect();
    let are_there = published.iter().all(|file| file.is_file());
    if !are_there {
        eprintln!("{case} is not here; only our own file was asked");
    }
    (own.collect(), are_there.then_some(published))
}

/// Asks `tier6 analyze` for JSON and checks the exit code.
#[track_caller]
fn analyze(files: &[PathBuf], options: &[&str], code: i32) -> Value {
    let files = files.iter().map(|file| file.to_str().unwrap());
    let arguments: Vec<&str> = ["analyze", "--format", "json"]
        .into_iter()
        .chain(files)
        .chain(options.iter().copied())
        .collect();
    let said = Run::new(&arguments).said();
    assert_eq!(said.code, code, "{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

/// Returns the messages of a code among findings.
fn messages<'a>(findings: &'a Value, code: &str) -> Vec<&'a str> {
    let all = findings.as_array().unwrap().iter();
    let found = all.filter(|finding| finding["code"] == code);
    found
        .map(|finding| finding["message"].as_str().unwrap())
        .collect()
}

#[track_caller]
fn message<'a>(findings: &'a Value, code: &str) -> &'a str {
    let found = messages(findings, code);
    let [only] = found.as_slice() else {
        panic!("{} of {code} in {findings}", found.len());
    };
    only
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// Returns the number that follows `mark`.
#[track_caller]
fn number_after(text: &str, mark: &str) -> f64 {
    let at = text
        .find(mark)
        .unwrap_or_else(|| panic!("no `{mark}` in: {text}"))
        + mark.len();
    let rest = &text[at..];
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap()
}

#[track_caller]
fn within(value: f64, low: f64, high: f64) {
    assert!(
        (low..=high).contains(&value),
        "{value} is not in {low}..={high}"
    );
}

fn warning_codes(json: &Value) -> Vec<&str> {
    let warnings = json["inputs"][0]["warnings"].as_array().unwrap().iter();
    warnings
        .map(|warning| warning["code"].as_str().unwrap())
        .collect()
}

/// 10: larger messages look faster because a fixed part is spread over more bytes.
#[test]
fn a_fixed_part_is_spread_over_more_bytes() {
    let (own, published) = files(&["half.txt"], "10-in-place-half-missing", &["input.txt"]);
    let json = analyze(&own, &[], 0);
    assert_eq!(json["series"].as_array().unwrap().len(), 1);
    assert_eq!(json["series"][0]["ranks"], 4);
    let told = message(&json["series"][0]["findings"], "half-performance-size");
    within(number_after(told, "a fixed part of "), 28.0, 32.0);
    within(number_after(told, "the rate tends to "), 5.1, 5.3);

    let Some(published) = published else { return };
    let json = analyze(&published, &[], 0);
    let series = &json["series"][0];
    assert_eq!(
        json["series"].as_array().unwrap().len(),
        1,
        "no in-place series"
    );
    assert_eq!(
        (&series["ranks"], &json["inputs"][0]["rows"]),
        (&4.into(), &12.into())
    );
    assert!(warning_codes(&json).contains(&"placement"));
    assert!(!warning_codes(&json).contains(&"cut-row"));
    let fit = &series["fits"][0];
    assert_eq!(
        (fit["label"].as_str(), fit["loss"].as_str()),
        (Some("global"), Some("relative"))
    );
    within(fit["alpha_us"].as_f64().unwrap(), 30.0, 50.0);
    within(fit["beta_gbs"].as_f64().unwrap(), 3.22, 3.30);
    within(fit["max_error_pct"].as_f64().unwrap(), 2.0, 4.0);
    let told = message(&series["findings"], "half-performance-size");
    says(told, &["on one line", "33 % of the time at 256 KiB"]);
    within(number_after(told, "half of it at "), 0.12, 0.14);
}

/// 13: a run that aborted after its last size, on a ring of a thousand ranks.
#[test]
fn an_aborted_run_is_no_pass_and_a_long_ring_no_slow_link() {
    let case = "13-abort-after-last-size-1024-ranks";
    let (own, published) = files(&["abort.txt"], case, &["input.txt"]);
    let json = analyze(&own, &[], 10);
    assert_eq!(json["status"], "failed");
    assert_eq!(json["inputs"][0]["runs"][0]["end"], "aborted");
    let findings = &json["series"][0]["findings"];
    says(
        message(findings, "aborted"),
        &["2 hosts (rack7, rack9)", "usable"],
    );
    says(
        message(findings, "ring-latency-floor"),
        &["512 MiB to 1 GiB", "not a slow link"],
    );

    let Some(published) = published else { return };
    let json = analyze(&published, &[], 10);
    assert_eq!(
        (&json["status"], &json["inputs"][0]["rows"]),
        (&"failed".into(), &5.into())
    );
    let run = &json["inputs"][0]["runs"][0];
    assert_eq!(
        (&run["end"], &run["correctness"]),
        (&"aborted".into(), &"not_stated".into())
    );
    let warnings = json["inputs"][0]["warnings"].to_string();
    says(
        &warnings,
        &["no row is missing", "27951912277", "common.cu:1204"],
    );
    for series in json["series"].as_array().unwrap() {
        let range = &series["ranks_range"];
        within(
            1024.0,
            range[0].as_f64().unwrap(),
            range[1].as_f64().unwrap(),
        );
        says(
            message(&series["findings"], "aborted"),
            &["node2, node3, node4", "unhandled cuda error"],
        );
        let floor = message(&series["findings"], "ring-latency-floor");
        within(number_after(floor, "ranks at "), 9.2, 9.6);
        within(
            series["points"][4]["algbw_gbs"].as_f64().unwrap(),
            183.0,
            185.0,
        );
        assert!(messages(&series["findings"], "cliff").is_empty());
    }
}

const TWO_COLUMNS: [&str; 10] = [
    "--collective",
    "all_reduce",
    "--map",
    "size_bytes==8GiB",
    "--map",
    "ranks=gpus",
    "--map",
    "busbw=busbw_default_GBps",
    "--map",
    "busbw=busbw_nvls_off_GBps",
];

/// 27: busbw above what a ring gets out of the links.
#[test]
fn busbw_above_the_ring_is_explained_and_not_capped() {
    let case = "27-nvls-busbw-above-line-rate";
    let theirs = ["h200-8GiB.csv", "b200-8GiB.csv", "h200-16GiB-8gpu.csv"];
    let (own, published) = files(&["nvls.csv", "nvls-switch.csv"], case, &theirs);
    let at = |rate: &'static str| -> Vec<&str> {
        TWO_COLUMNS
            .into_iter()
            .chain(["--line-rate", rate])
            .collect()
    };
    let json = analyze(&own[..1], &at("430"), 0);
    let trends = messages(&json["findings"], "rank-trend");
    says(
        trends[0],
        &[
            "up to 4 ranks",
            "from 5 ranks on",
            "251.6 to 260.2 GB/s",
            "use algbw",
        ],
    );
    says(
        trends[1],
        &["flat", "352.0 to 354.4 GB/s, 82 % of 430 GB/s"],
    );
    let pair = message(&json["findings"], "in-switch-pair");
    says(
        pair,
        &[
            "455.3 against 354.0 GB/s on 8 ranks",
            "Both are right",
            "no difference on 4",
        ],
    );
    let one_size = ["--map", "size_bytes==16GiB", "--ranks", "8"];
    let json = analyze(&own[1..], &one_size, 0);
    let pair = message(&json["findings"], "in-switch-pair");
    says(
        pair,
        &[
            "(nvls: on or off)",
            "all_gather 349.5",
            "reduce_scatter 350.2",
        ],
    );

    let Some(published) = published else { return };
    let json = analyze(&published[..1], &at("450"), 0);
    let trends = messages(&json["findings"], "rank-trend");
    says(
        trends[0],
        &["from 5 ranks on", "258.9 to 270.3 GB/s", "304.1"],
    );
    says(trends[1], &["363.3 to 365.7 GB/s, 81 % of 450 GB/s"]);
    says(
        message(&json["findings"], "in-switch-pair"),
        &["about 304 GB/s on 8 ranks"],
    );
    assert!(!json.to_string().contains("\"severity\":\"failed\""));
    let json = analyze(&published[1..2], &at("900"), 0);
    let trends = messages(&json["findings"], "rank-trend");
    says(trends[0], &["up to 5 ranks", "from 6 ranks on"]);
    says(
        message(&json["findings"], "in-switch-pair"),
        &["682.2 GB/s, 76 % of 900 GB/s"],
    );
    let json = analyze(&published[2..], &one_size, 0);
    let pair = message(&json["findings"], "in-switch-pair");
    says(
        pair,
        &[
            "480.0 against 367.2 GB/s",
            "all_gather 361.4",
            "reduce_scatter 362.9",
        ],
    );
    says(
        message(&json["findings"], "allreduce-against-halves"),
        &["nvls on", "in the switch"],
    );
}

/// 30: a change of regime that two sweeps narrow, and that comes too early.
#[test]
fn two_sweeps_show_one_cliff() {
    let case = "30-p4d-cliff-after-46MB";
    let ours = ["sweep-coarse.log", "sweep-fine.log"];
    let (own, published) = files(&ours, case, &["factor2.log", "step2M.log"]);
    let json = analyze(&own, &[], 0);
    let cliff = message(&json["findings"], "pooled-cliff");
    says(
        cliff,
        &[
            "in both placements",
            "(50331648, 67108864] bytes",
            "too early",
            "likely",
        ],
    );
    says(cliff, &["16 MiB takes 1560 us, about as long as 32 MiB"]);
    let alone = analyze(&own[..1], &[], 0);
    assert!(messages(&alone["findings"], "pooled-cliff").is_empty());

    let Some(published) = published else { return };
    let json = analyze(&published, &[], 0);
    assert_eq!(
        (&json["inputs"][0]["rows"], &json["inputs"][1]["rows"]),
        (&6.into(), &7.into())
    );
    assert_eq!(json["series"][0]["ranks"], 16);
    let cliff = message(&json["findings"], "pooled-cliff");
    says(
        cliff,
        &[
            "2 sweeps",
            "in both placements",
            "(46137344, 67108864] bytes",
            "too early",
        ],
    );
    within(number_after(cliff, "cross near "), 150.0, 250.0);
    within(number_after(cliff, "below: "), 250.0, 450.0);
    within(number_after(cliff, "above: "), 4600.0, 5000.0);
    says(
        cliff,
        &[
            "n / 20.5 GB/s",
            "n / 38.7 GB/s",
            "second, smaller step",
            "most likely",
        ],
    );
    assert!(!cliff.contains("NIC") && !cliff.contains("broken"));
    let one_line = &json["series"][0]["fits"][0];
    assert_eq!(one_line["verdict"], "describes_only");
    says(
        message(&json["series"][0]["findings"], "cliff"),
        &["3.41-fold for 2.00-fold"],
    );
}

/// 32: the latency of a ring has a fixed part, and steps 2(n-1).
#[test]
fn ring_latency_has_a_fixed_part() {
    let (own, published) = files(&["ring.csv"], "32-ring-latency-fit", &["latency.csv"]);
    let options = ["--collective", "all_reduce"];
    let json = analyze(&own, &options, 0);
    let told = message(&json["findings"], "ring-latency");
    within(number_after(told, "with a = "), 4.0, 6.0);
    within(number_after(told, "and b = "), 1.5, 1.65);

    let Some(published) = published else { return };
    let json = analyze(&published, &options, 0);
    let told = message(&json["findings"], "ring-latency");
    says(
        told,
        &[
            "8 B on 2 to 8 ranks: t = a + b x 2(n-1)",
            "is not zero",
            "slightly curved",
        ],
    );
    within(number_after(told, "with a = "), 5.2, 5.9);
    within(number_after(told, "and b = "), 1.9, 2.05);
    within(number_after(told, "largest residual -"), 0.5, 0.7);
    says(
        told,
        &[
            "from 5.00 us (n = 2) to 2.41 us (n = 8)",
            "3.6 us",
            "4.3 us",
        ],
    );
    says(told, &["extrapolated", "16 ranks 65 us"]);
    assert!(!told.contains("log2") && !told.contains("GB/s"));
}

/// 38: large sizes at the ceiling of the NICs, under a low average.
#[test]
fn an_average_over_sizes_is_no_loss() {
    let case = "38-24GBps-per-200G-nic-and-average";
    let (own, published) = files(&["pasted.txt"], case, &["pasted.txt"]);
    let json = analyze(&own, &[], 0);
    let findings = &json["series"][0]["findings"];
    says(
        message(findings, "average-over-sizes"),
        &["74.10 GB/s weighs every size alike"],
    );
    assert!(
        messages(findings, "half-performance-size").is_empty(),
        "alpha is not known here"
    );

    let Some(published) = published else { return };
    for (options, code) in [
        (&[][..], "nic-ceiling"),
        (&["--line-rate", "100"], "at-line-rate"),
    ] {
        let json = analyze(&published, options, 0);
        let series = &json["series"][0];
        assert_eq!(
            (&series["ranks"], &json["inputs"][0]["rows"]),
            (&24.into(), &6.into())
        );
        says(message(&series["findings"], code), &["ceiling"]);
        let average = message(&series["findings"], "average-over-sizes");
        says(
            average,
            &[
                "84.86 GB/s",
                "96.05 GB/s",
                "rows that are not in this input",
            ],
        );
        says(
            message(&series["findings"], "unaligned-sizes"),
            &["8 bytes off a multiple of 16"],
        );
        says(
            &json["inputs"][0]["warnings"].to_string(),
            &["122 of 128 rows", "no header"],
        );
        assert!(messages(&series["findings"], "busbw-above-ring").is_empty());
    }
    let json = analyze(&published, &[], 0);
    let told = message(&json["series"][0]["findings"], "nic-ceiling");
    says(told, &["4 x 24.1 GB/s", "200 Gb/s", "24 of 25"]);
}

/// 48: two GPUs of a full mesh use one link of seven.
#[test]
fn two_gpus_of_a_mesh_are_no_bad_link() {
    let case = "48-mi300x-two-vs-eight-gpus";
    let (own, published) = files(&["mesh.csv"], case, &["mi300x-4GiB.csv"]);
    let options = [
        "--map",
        "size_bytes==4GiB",
        "--map",
        "ranks=gpus",
        "--line-rate",
        "448",
    ];
    let json = analyze(&own, &options, 0);
    let told = message(&json["findings"], "rank-trend");
    says(
        told,
        &[
            "ratio of 6.72",
            "7.00 times the links",
            "no link stands out",
            "estimate",
        ],
    );

    let Some(published) = published else { return };
    let json = analyze(&published, &options, 0);
    let told = message(&json["findings"], "rank-trend");
    says(
        told,
        &[
            "ratio of 6.56",
            "74 % of 64 GB/s (2 ranks)",
            "70 % of 64 GB/s (8 ranks)",
        ],
    );
    within(number_after(told, "estimate for 4 ranks: "), 132.0, 136.0);
    within(number_after(told, "134 to "), 140.0, 145.0);
    says(
        told,
        &["Behind a switch 2 ranks would get the busbw of all"],
    );
}

/// 50: shares of a group are no latency, and runs that were timed differently do not compare.
#[test]
fn shares_of_a_group_are_no_latency() {
    let case = "50-graph-and-aggregation-latency";
    let (own, published) = files(&["grouped.csv"], case, &["runs.csv"]);
    let json = analyze(&own, &[], 0);
    says(
        message(&json["findings"], "timed-differently"),
        &["a ratio of 5.0", "(4 and 0)", "-m 1"],
    );

    let Some(published) = published else { return };
    let json = analyze(&published, &[], 0);
    let told = message(&json["findings"], "timed-differently");
    says(
        told,
        &[
            "0.50 and 3.50 us, a ratio of 7.0",
            "number of graph launches (10 and 0)",
        ],
    );
    says(
        told,
        &[
            "blocking mode (0 and 1) at the same time",
            "nothing about the network",
        ],
    );
    says(
        message(&json["findings"], "grouped-operations"),
        &["send_recv 3.70 us", "does not show"],
    );
    let first = message(&json["series"][0]["findings"], "amortised-time");
    says(
        first,
        &[
            "100 operations",
            "10 graph launches",
            "83 ns",
            "6 dependent steps",
            "not use it as alpha",
        ],
    );
    assert_eq!(
        messages(&json["series"][1]["findings"], "amortised-time").len(),
        1
    );
}

/// The same sentences stand in every form for people.
#[test]
fn what_series_say_together_is_in_every_form() {
    for form in ["table", "md", "html"] {
        let arguments = [
            "analyze",
            "substance/ring.csv",
            "--collective",
            "all_reduce",
            "--format",
            form,
        ];
        let said = Run::new(&arguments).said();
        assert_eq!(said.code, 0, "{}", said.stderr);
        let flowed = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        says(
            &flowed,
            &[
                "What the series say together",
                "per dependent step of a ring",
            ],
        );
    }
}

/// A folder may hold measurements of many machines: only what one file holds is put together.
#[test]
fn files_of_a_folder_are_not_put_together() {
    let folder = fixtures().join("substance");
    let json = analyze(&[folder], &["--collective", "all_reduce"], 10);
    assert!(messages(&json["findings"], "pooled-cliff").is_empty());
    says(
        message(&json["findings"], "ring-latency"),
        &["ring.csv: 8 B on 2 to 8 ranks"],
    );
}
