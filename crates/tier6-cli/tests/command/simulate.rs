//! `tier6 simulate`: the contract, the source documents' engine, faults, edges, the trace and the
//! accounts.

use crate::harness::{Run, Said, fixtures};
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

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

fn time(line: &str) -> f64 {
    json(line)["results"][0]["time_us"].as_f64().unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// A file in the folder of the test run that no other test writes.
fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

const RING: &str = "simulate --system doc004-ring --collective all_reduce --algorithm ring";

#[test]
fn a_simulation_has_the_columns_of_a_prediction() {
    let call = "--system doc003-h200-x8 --collective all_reduce --algorithm all --sizes 1M";
    let simulated = json(&format!("simulate {call}"));
    let predicted = json(&format!("predict {call}"));
    assert_eq!(simulated["schema"], predicted["schema"]);
    assert_eq!(simulated["engine"], "g5");
    let has_all = |ours: &Value, theirs: &Value| {
        for key in keys(theirs) {
            assert!(keys(ours).contains(&key), "{key}");
        }
    };
    has_all(&simulated, &predicted);
    for result in simulated["results"].as_array().unwrap() {
        has_all(result, &predicted["results"][0]);
        has_all(&result["parts"], &predicted["results"][0]["parts"]);
        let parts = result["parts"].as_object().unwrap().values();
        let sum: f64 = parts.map(|part| part.as_f64().unwrap()).sum();
        let time = result["time_us"].as_f64().unwrap();
        assert!((sum - time).abs() < 1e-6, "{result}");
        assert!(result["events"].as_u64().unwrap() > 0);
    }
    assert_eq!(simulated["stops"].as_array().unwrap().len(), 0);
    let csv = said(&format!("simulate {call} --format csv")).stdout;
    let prediction = said(&format!("predict {call} --format csv")).stdout;
    assert!(csv.starts_with(prediction.lines().next().unwrap()), "{csv}");
}

/// G5's totals in the tables of source documents 003 and 004, as printed, with what we may differ:
/// 003 has an excess from 4 MiB on that no parameter explains.
#[test]
fn the_engine_of_the_source_documents_is_reproduced() {
    for (machine, size, printed, percent) in [
        ("h200", "64K", 25.1, 0.5),
        ("h200", "256K", 31.3, 1.0),
        ("h200", "1M", 39.7, 0.5),
        ("h200", "1G", 4472.5, 1.0),
        ("a100", "8", 20.5, 3.0),
        ("a100", "32K", 22.6, 3.0),
        ("a100", "128M", 1156.8, 5.0),
    ] {
        let ours = time(&format!(
            "simulate --system doc003-{machine}-x8 --collective all_reduce --algorithm ring \
             --sizes {size}"
        ));
        let off = 100.0 * (ours / printed - 1.0);
        assert!(
            off.abs() < percent,
            "{machine} {size}: {ours} us, {off:.1} %"
        );
    }
    for (ranks, printed) in [(4, 84.6), (8, 94.4), (16, 99.2), (32, 102.0)] {
        let ours = time(&format!("{RING} --ranks {ranks} --sizes 16M"));
        let off = 100.0 * (ours / printed - 1.0);
        assert!(off.abs() < 4.0, "{ranks} ranks: {ours} us, {off:.1} %");
    }
}

#[test]
fn a_simulation_is_shown_as_table_markdown_and_csv() {
    let call = "simulate --system doc003-h200-x8 --collective all_gather --algorithm ring";
    let flow = format!("{call} --fidelity flow --sizes 64K,16M");
    assert_snapshot!("simulate_table", run(&flow).snapshot());
    assert_snapshot!(
        "simulate_markdown",
        run(&format!("{flow} --format md --sensitivity")).snapshot()
    );
    assert_snapshot!(
        "simulate_csv",
        run(&format!("{flow} --format csv")).snapshot()
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = scratch("simulate-seed");
    fs::create_dir_all(&folder).unwrap();
    let outputs = ["a", "b"].map(|name| {
        let [trace, stats] = ["json", "csv"].map(|suffix| folder.join(format!("{name}.{suffix}")));
        let line = format!(
            "{RING} --sizes 100K --ranks 5 --seed 7 --format json --trace {} --stats {}",
            trace.display(),
            stats.display()
        );
        let said = said(&line);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let read = |path| fs::read_to_string(path).unwrap();
        (said.stdout, read(trace), read(stats))
    });
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn a_trace_is_of_the_last_size_and_its_spans_do_not_overlap() {
    let file = scratch("simulate-trace.json");
    for fidelity in ["flow", "packet"] {
        let said = said(&format!(
            "simulate --system h100-x8-ib-ndr --collective all_gather --algorithm ring \
             --sizes 64K,1M --fidelity {fidelity} --trace {}",
            file.display()
        ));
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(
            said.stderr.contains("ring all_gather of 1 MiB"),
            "{}",
            said.stderr
        );
        let text = fs::read_to_string(&file).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let mut tracks: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
        let mut named = Vec::new();
        for event in events {
            let number = |key: &str| event[key].as_f64().unwrap();
            let thread = (
                event["pid"].as_u64().unwrap(),
                event["tid"].as_u64().unwrap(),
            );
            match event["ph"].as_str().unwrap() {
                "X" => tracks
                    .entry(thread)
                    .or_default()
                    .push((number("ts"), number("dur"))),
                "M" if event["name"] == "thread_name" => named.push(thread),
                "M" | "C" => {}
                other => panic!("{other}"),
            }
        }
        for (thread, spans) in &tracks {
            assert!(named.contains(thread), "{thread:?} has no name");
            for pair in spans.windows(2) {
                let end = pair[0].0 + pair[0].1;
                assert!(pair[1].0 >= end - 1e-6, "{thread:?}: {pair:?}");
            }
        }
        // 16 ranks send, and links carry it.
        assert!((0..=16).all(|process| tracks.keys().any(|(pid, _)| *pid == process)));
    }
}

#[test]
fn accounts_add_up() {
    let file = scratch("simulate-stats.csv");
    let said = said(&format!(
        "{RING} --sizes 1M --ranks 4 --stats {}",
        file.display()
    ));
    assert_eq!(said.code, 0, "{}", said.stderr);
    let text = fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<BTreeMap<&str, &str>> = lines
        .map(|line| head.iter().copied().zip(line.split(',')).collect())
        .collect();
    let of = |kind: &str| {
        rows.iter()
            .filter(|row| row["kind"] == kind)
            .collect::<Vec<_>>()
    };
    let links = of("link");
    assert_eq!(links.len(), 4, "a ring of four uses one direction\n{text}");
    for link in links {
        let number = |key: &str| link[key].parse::<f64>().unwrap();
        // 2 (N-1)/N M.
        assert_eq!(link["payload_bytes"], (3 << 19).to_string());
        assert!(number("wire_bytes") > number("payload_bytes"));
        assert!((0.0..=1.0).contains(&number("utilisation")), "{link:?}");
    }
    let ranks = of("rank");
    assert_eq!(ranks.len(), 4);
    assert!(
        ranks
            .iter()
            .all(|rank| rank["sending_us"].parse::<f64>().unwrap() > 0.0)
    );
}

/// 64 MiB over 4 nodes of 8: eight rails of trees, each with chains of its own.
#[test]
fn the_protocol_is_named_and_can_be_chosen() {
    let call = format!("{RING} --sizes 64K --fidelity flow");
    let protocol = |line: &str| json(line)["results"][0]["protocol"].clone();
    assert_eq!(protocol(&call), "simple");
    assert_eq!(protocol(&format!("{call} --protocol simple")), "simple");
    assert!(protocol(&format!("{call} --protocol none")).is_null());
    let csv = said(&format!("{call} --format csv")).stdout;
    assert!(csv.contains(",ring,simple,"), "{csv}");
    // A system that says what LL's messages cost runs the faster one, or the one asked for.
    let base = json("systems show doc004-ring")["written"]
        .as_str()
        .unwrap()
        .to_owned();
    // Completing a message of Simple takes a while; LL's flags come with the data.
    let simple = base.replace("sync = { value = \"0 us\"", "sync = { value = \"1 us\"");
    assert_ne!(simple, base);
    let text = format!("{simple}\n[g5.ll]\nsync = \"0.01 us\"\nshare = 0.5\n");
    let of_file = |options: &str| -> Value {
        let line = format!(
            "simulate --system - --collective all_reduce --algorithm ring --sizes 64K,64M \
             --fidelity flow --format json {options}"
        );
        let said = run(&line).stdin(text.as_bytes()).said();
        assert_eq!(said.code, 0, "{}", said.stderr);
        serde_json::from_str(&said.stdout).unwrap()
    };
    let auto = of_file("");
    assert_eq!(auto["results"][0]["protocol"], "ll");
    assert_eq!(auto["results"][1]["protocol"], "simple");
    let forced = of_file("--protocol ll");
    assert_eq!(forced["results"][0], auto["results"][0]);
    assert_eq!(forced["results"][1]["protocol"], "ll");
}

/// AllReduce of two ranks: each sends its half to the other to add, and the sum back.
const PAIR_JSON: &str = r#"{"schema":"tier6.schedule/1","collective":"all_reduce","algorithm":null,
"ranks":2,"bytes":2097152,"placement":"in_place","chunks":2,"transfers":[
{"route":"send","src":0,"dst":1,"op":"reduce","port":0,"pieces":[{"from":"recv:1","to":"recv:1"}]},
{"route":"send","src":1,"dst":0,"op":"reduce","port":0,"pieces":[{"from":"recv:0","to":"recv:0"}]},
{"route":"send","src":0,"dst":1,"op":"copy","port":0,"pieces":[{"from":"recv:0","to":"recv:0"}],"after":[1]},
{"route":"send","src":1,"dst":0,"op":"copy","port":0,"pieces":[{"from":"recv:1","to":"recv:1"}],"after":[0]}]}"#;

/// The same of whole vectors, as MSCCL writes it.
const PAIR_XML: &str = r#"<algo name="swap" coll="allreduce" ngpus="2" nchunksperloop="1" inplace="1">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu></algo>"#;

#[test]
fn a_schedule_of_a_file_runs_and_says_when_it_is_wrong() {
    let folder = scratch("simulate-schedule");
    fs::create_dir_all(&folder).unwrap();
    let call = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        let system = "simulate --system doc004-ring --fidelity flow";
        format!("{system} --schedule {}", file.display())
    };
    let pair = call("pair.json", PAIR_JSON);
    let report = json(&pair);
    assert_eq!(report["collective"], "all_reduce");
    assert_eq!(report["ranks"], 2);
    assert_eq!(report["results"][0]["algorithm"], "custom");
    assert_eq!(report["results"][0]["bytes"], 2 << 20);
    assert!(report.get("flaw").is_none(), "{report}");
    // The ring of two does the same.
    let ring = time(&format!("{RING} --ranks 2 --sizes 2M --fidelity flow"));
    let ours = report["results"][0]["time_us"].as_f64().unwrap();
    assert!((ours - ring).abs() < 1e-3, "{ours} {ring}");
    // Of another size, it does what it would have been written for.
    let larger = json(&format!("{pair} --sizes 2M,8M"));
    let times: Vec<f64> = larger["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["time_us"].as_f64().unwrap())
        .collect();
    assert!((times[0] - ours).abs() < 1e-9, "{times:?} {ours}");
    let ring = time(&format!("{RING} --ranks 2 --sizes 8M --fidelity flow"));
    assert!((times[1] - ring).abs() < 1e-3, "{times:?} {ring}");
    let flawed = PAIR_JSON.replacen("\"op\":\"reduce\"", "\"op\":\"copy\"", 1);
    let flawed = call("flawed.json", &flawed);
    assert!(json(&flawed)["flaw"].is_string());
    let table = said(&flawed).stdout;
    assert!(table.contains("does not compute AllReduce"), "{table}");
    let swap = call("swap.xml", PAIR_XML);
    let report = json(&format!("{swap} --sizes 1M,2M"));
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    assert!(report.get("flaw").is_none(), "{report}");
    for (line, code) in [
        (format!("{pair} --collective all_gather"), 2),
        (format!("{pair} --ranks 3"), 2),
        (format!("{pair} --variant trees=single"), 2),
        (call("wrong.json", "{}"), 3),
    ] {
        let said = said(&line);
        assert_eq!(said.code, code, "{line}: {}", said.stderr);
    }
}

#[test]
fn faults_cost_what_they_should() {
    let sound = time(&format!("{RING} --sizes 16M"));
    let slow = time(&format!(
        "{RING} --sizes 16M --fault slow-link=chip0-chip1:25%"
    ));
    assert!(slow > 2.0 * sound - 26.0, "{sound} {slow}");
    let late = time(&format!("{RING} --sizes 16M --fault late-rank=3:1ms"));
    assert!(late > 1000.0 && late < 1001.0 + sound, "{sound} {late}");
    let first = json(&format!("{RING} --sizes 16M --fault late-rank=3:1ms"));
    let stall = first["results"][0]["parts"]["stall_us"].as_f64().unwrap();
    assert!((stall - 1000.0).abs() < 1.0, "{stall}");
    assert_eq!(first["faults"][0], "late-rank=3:1ms");
}

#[test]
fn a_run_that_stops_is_12_and_says_who_waits() {
    for (line, reason) in [
        ("--limit-events 100", "limit of 100 events"),
        (
            "--fault failed-link=chip0-chip1:2us --fidelity flow",
            "stalled",
        ),
        ("--fault failed-link=chip0-chip1 --fidelity flow", "stalled"),
    ] {
        let line = format!("{RING} --sizes 1M {line}");
        let said = said(&line);
        assert_eq!(said.code, 12, "{line}: {}", said.stderr);
        assert!(said.stderr.contains(reason), "{}", said.stderr);
        assert!(said.stderr.contains("hint: "), "{}", said.stderr);
        assert!(said.stdout.contains("waits for"), "{}", said.stdout);
        let json = json(&line);
        assert_eq!(json["results"].as_array().unwrap().len(), 0);
        let stop = &json["stops"][0];
        assert!(stop["reason"].as_str().unwrap().contains(reason), "{stop}");
        assert!(!stop["waits"].as_array().unwrap().is_empty(), "{stop}");
    }
}

#[test]
fn sizes_that_end_are_shown_beside_one_that_stops() {
    let json = json(&format!(
        "{RING} --sizes 1K,64M --limit-events 3000 --grain 16K"
    ));
    assert_eq!(json["results"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["stops"].as_array().unwrap().len(), 1);
}

#[test]
fn the_smallest_calls_run() {
    for (line, sizes) in [
        ("--ranks 2", "0,1,3"),
        ("--ranks 3", "0,1,100"),
        ("--ranks 8", "0,7,8"),
        ("--ranks 8 --grain 1K", "0,5000"),
        ("--ranks 3 --handshake rendezvous", "0,100"),
    ] {
        for fidelity in ["flow", "packet"] {
            let json = json(&format!(
                "{RING} {line} --sizes {sizes} --fidelity {fidelity}"
            ));
            let results = json["results"].as_array().unwrap();
            assert_eq!(results.len(), sizes.split(',').count(), "{line} {fidelity}");
            let times: Vec<f64> = results
                .iter()
                .map(|r| r["time_us"].as_f64().unwrap())
                .collect();
            assert!(times.is_sorted() && times[0] > 26.0, "{line}: {times:?}");
        }
    }
}

#[test]
fn sensitivities_tell_what_the_time_follows() {
    let json = json(&format!(
        "{RING} --sizes 8,256M --ranks 4 --fidelity flow --sensitivity"
    ));
    let of = |at: usize, name: &str| {
        let list = json["results"][at]["sensitivities"].as_array().unwrap();
        let found = list.iter().find(|one| one["constant"] == name);
        found.unwrap_or_else(|| panic!("{name}: {list:?}"))["elasticity"]
            .as_f64()
            .unwrap()
    };
    assert!(of(0, "software.call") > 0.9);
    assert!(of(1, "software.call") < 0.1);
    assert!(of(0, "links.wire.rate").abs() < 0.01);
    assert!(of(1, "links.wire.rate") < -0.8);
}

#[test]
fn what_cannot_be_simulated_has_its_exit_code_and_a_way_out() {
    let call = "simulate --collective all_reduce --sizes 1M";
    for (line, code, says) in [
        ("--system h100-x8 --ranks 1", 2, "not in 2.."),
        ("--system h100-x8 --ranks 9", 5, "outermost"),
        ("--system a100-x8 --algorithm nvls", 5, "use ring"),
        ("--system h100-x8 --algorithm rnig", 2, "`ring`"),
        ("--system h100-x8 --fidelity fluid", 2, "packet"),
        ("--system h100-x8 --protocol ll", 5, "[g5.ll]"),
        ("--system h100-x8 --protocol lll", 2, "`ll`"),
        (
            "--system h100-x8 --algorithm nvls --protocol ll",
            5,
            "use simple",
        ),
        ("--system h100-x8 --grain 0", 2, "--grain 64K"),
        (
            "--system h100-x8 --fault slow-link=chip0-nvswich3:50%",
            2,
            "`chip0-nvswitch3`",
        ),
        ("--system h100-x8 --fault late-rank=8:1us", 2, "rank 8"),
        (
            "--system h100-x8 --fault loss=1e-3 --fidelity flow",
            5,
            "packet",
        ),
        (
            "--system h100-x8 --format html",
            2,
            "table, json, csv, md, svg",
        ),
        (
            "--system h100-x8 -o out.html",
            2,
            "table, json, csv, md, svg",
        ),
        ("--system slip.toml", 3, "`latency`"),
        (
            "--system h100-x8 --trace a.json --stats a.json",
            2,
            "two results",
        ),
        ("--system slip.toml --trace slip.toml", 2, "slip.toml"),
    ] {
        let said = said(&format!("{call} {line}"));
        assert_eq!(said.code, code, "{line}: {}", said.stderr);
        assert!(said.stdout.is_empty(), "{line}");
        assert!(said.stderr.contains(says), "{line}: {}", said.stderr);
    }
}

#[test]
fn a_chart_has_a_line_per_algorithm_and_a_mark_per_run() {
    let call = "--system h100-x8 --collective all_reduce --sizes 1K,1M --format svg";
    for (line, lines, marks) in [
        (
            "simulate --fidelity flow --algorithm all",
            vec!["ring", "nvls", "tree"],
            1,
        ),
        ("simulate --fidelity flow", vec!["auto"], 1),
        ("predict --algorithm all", vec!["ring", "nvls", "tree"], 1),
    ] {
        let said = said(&format!("{line} {call}"));
        assert_eq!(said.code, 0, "{line}: {}", said.stderr);
        let svg = said.stdout;
        assert!(
            svg.starts_with("<svg") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        for name in lines {
            assert!(svg.contains(&format!(">{name}</text>")), "{line}: {name}");
        }
        // In both panels.
        let ring = svg.matches(", 1 MiB: ").count();
        assert!(ring >= 2 * marks, "{line}: {ring}");
    }
}

#[test]
fn layers_of_a_file_reach_the_engine() {
    let base = json("systems show doc004-ring")["written"]
        .as_str()
        .unwrap()
        .to_owned();
    let time = |text: &str| {
        let line = "simulate --system - --collective all_reduce --algorithm ring --sizes 1M";
        let said = run(&format!("{line} --format json"))
            .stdin(text.as_bytes())
            .said();
        assert_eq!(said.code, 0, "{}", said.stderr);
        let json: Value = serde_json::from_str(&said.stdout).unwrap();
        json["results"][0]["time_us"].as_f64().unwrap()
    };
    let as_written = time(&base);
    let split = base.replace("split = \"64 KiB\"", "split = \"all\"");
    assert!(
        time(&split) < as_written,
        "every engine works on every message"
    );
    let off = base.replace("[g5.cdma]", "[g5]\nenabled = false\n[g5.cdma]");
    // 2 (N-1)/N M over 450 GB/s, and nothing else.
    let ideal = 26.0 + 1.75 * f64::from(1 << 20) / 450e3;
    assert!((time(&off) - ideal).abs() < 1e-3, "{} {ideal}", time(&off));
    let compressed = base.replace("overhead = \"58 B\"", "headers = \"compressed\"");
    let with_control = compressed + "[g5.dcqcn]\npreset = \"nvidia\"\n";
    let said = run("simulate --system - --collective all_reduce --sizes 1M")
        .stdin(with_control.as_bytes())
        .said();
    assert_eq!(said.code, 5, "{}", said.stderr);
    assert!(
        said.stderr.contains("ECN needs an IP header"),
        "{}",
        said.stderr
    );
}
