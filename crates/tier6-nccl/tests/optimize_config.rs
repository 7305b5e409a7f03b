//! NVIDIA's `optimize_config.py`: its output on its inputs, and what noise does to it.

use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tier6_nccl::{
    Dialect, Interval, LintContext, RuleCode, ScriptMetric, ScriptRanges, lint_config, read_config,
    read_perf_csv, script_config,
};

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "case")]
    name: String,
    args: Vec<String>,
    input_csv: String,
    config_lines: Vec<String>,
}

fn options(args: &[String]) -> (ScriptMetric, ScriptRanges) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => (ScriptMetric::Latency, ScriptRanges::Auto),
        ["-m", "bandwidth_gbps"] => (ScriptMetric::Bandwidth, ScriptRanges::Auto),
        ["--no-auto-ranges"] => (ScriptMetric::Latency, ScriptRanges::Fixed),
        ["--size-ranges", ranges] => {
            let interval = |range: &str| {
                let (least, most) = range.split_once('-').unwrap();
                Interval::new(least.parse().unwrap(), most.parse().unwrap())
            };
            let given = ranges.split(',').map(interval).collect();
            (ScriptMetric::Latency, ScriptRanges::Given(given))
        }
        _ => panic!("unknown arguments {args:?}"),
    }
}

#[test]
fn the_lines_are_those_of_the_script() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let full = root.join("../../../shared/nccl/plugin/optimize_config_cases.jsonl");
    let (path, which) = if full.is_file() {
        (full, "full")
    } else {
        let thinned = root.join("tests/data/plugin/optimize_config_cases.jsonl");
        (thinned, "thinned")
    };
    let mut cases = 0;
    for line in fs::read_to_string(path).unwrap().lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let (metric, ranges) = options(&case.args);
        let rows = read_perf_csv(&case.input_csv).unwrap();
        let lines = script_config(&rows.rows, metric, &ranges);
        assert_eq!(lines, case.config_lines, "{} {:?}", case.name, case.args);
        cases += 1;
    }
    eprintln!("{which}: {cases} cases");
    assert!(cases > 10);
}

/// A sweep whose truth is two regions: LL to 1 MiB, Simple above, with noise of 3 %.
fn noisy_sweep() -> String {
    let mut csv = String::from(
        "collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,bandwidth_gbps,latency_us\n",
    );
    for exponent in 10..27_u32 {
        let bytes = 1_u64 << exponent;
        for (index, (protocol, alpha_us, beta_gbs)) in [("ll", 12.0, 30.0), ("simple", 30.0, 60.0)]
            .into_iter()
            .enumerate()
        {
            let noise = f64::from((exponent * 7 + 5 * u32::try_from(index).unwrap()) % 13) - 6.0;
            let us = (alpha_us + bytes as f64 / beta_gbs / 1e3) * (1.0 + 0.005 * noise);
            let gbs = bytes as f64 / us / 1e3;
            writeln!(
                csv,
                "allreduce,{bytes},ring,{protocol},-1,1,4,-1,-1,{gbs:.3},{us:.3}"
            )
            .unwrap();
        }
    }
    csv
}

#[test]
fn the_script_writes_the_traps_that_the_linter_knows() {
    let rows = read_perf_csv(&noisy_sweep()).unwrap();
    assert_eq!(rows.warnings, [] as [String; 0]);
    let lines = script_config(&rows.rows, ScriptMetric::Latency, &ScriptRanges::Auto);
    let config = read_config(&lines.join("\n"), Dialect::NvidiaExample);
    let codes: Vec<RuleCode> = lint_config(&config, &LintContext::default())
        .into_iter()
        .map(|finding| finding.code)
        .collect();
    for code in [
        RuleCode::OneChannel,
        RuleCode::NoCatchAll,
        RuleCode::EndsEarly,
    ] {
        assert!(codes.contains(&code), "{code}");
    }
}

#[test]
fn rows_that_cannot_be_read_are_said() {
    let header = "collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,bandwidth_gbps,latency_us,note";
    let text = format!(
        "{header}\nallreduce,1024,ring,ll,4,1,8,-1,-1,1.0,10.0,x\nallreduce,many,ring,ll,4,1,8,-1,-1,1.0,10.0,x\nallreduce,1024\n"
    );
    let rows = read_perf_csv(&text).unwrap();
    assert_eq!(rows.rows.len(), 1);
    assert_eq!(
        rows.warnings,
        [
            "line 3: size_bytes is `many`; the row is skipped",
            "line 4: channels is ``; the row is skipped"
        ]
    );
    let error = read_perf_csv("collective,size_bytes\n").unwrap_err();
    assert_eq!(error.to_string(), "line 1: no column `algorithm`");
}
