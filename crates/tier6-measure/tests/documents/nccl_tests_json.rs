//! nccl-tests' JSON.

use crate::material::shared_starting;
use crate::{fails, said};
use tier6_collective::Collective;
use tier6_measure::{
    Dataset, Dialect, LibraryVersion, Parsed, Placement, Point, Ranks, ReadOptions, Run, RunEnd,
    Series, SizeStep, Wrong,
};
use tier6_units::{Bytes, GbPerSec, Micros};

/// A run of two processes with two GPUs each: the device list holds two of four.
const RUN: &str = r#"{"version":2,"start_time":"2026-01-02 03:04:05","args":["/opt/all_reduce_perf","-b","1M","-e","2M","-f","2","-g","2","-J","out.json"],
"env":["NCCL_PROTO=LL128","HOME=/home/me","SESSION_TOKEN=never-show-this","NCCL_SECRET_KEY=nor-this","SLURM_JOB_ID=7"],
"nccl_version":22203,"config":{"nthreads":1,"ngpus":2,"minimum_bytes":1048576,"maximum_bytes":2097152,"step_factor":2,
"warmup_iters":1,"iterations":4,"aggregated_iterations":1,"validation":1,"graph":0,"blocking_collectives":"false","per_iter_timing":"true","parallel_init":"false",
"devices":[{"rank":0,"group":0,"pid":11,"hostname":"alpha","device":0,"device_hex":"0000:1a:00","device_info":"NVIDIA A30"},
{"rank":2,"group":0,"pid":12,"hostname":"beta","device":0,"device_hex":"0000:1a:00","device_info":"NVIDIA A30"}]},
"results":[{"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1",
"out_of_place":{"time":50.000000,"alg_bw":20.971520,"bus_bw":31.457280,"nwrong":0.000000},
"out_of_place_per_iter":{"min_us":49.0,"max_us":51.0,"times_us":[49.000000,50.000000,51.000000,50.000000]},
"in_place":{"time":"nan","alg_bw":"nan","bus_bw":"nan","nwrong":null},"actual_iterations":4,"experiment_name":""},
{"size":2097152,"count":524288,"type":"float","redop":"sum","root":"    -1",
"out_of_place":null,
"in_place":{"time":80.000000,"alg_bw":26.214400,"bus_bw":39.321600,"nwrong":3.000000},
"in_place_per_iter":{"per_process_max_times_us":[[79.0,81.0],[80.0,78.0]]},"actual_iterations":4,"experiment_name":""}],
"out_of_bounds":{"count":1,"okay":"false"},"average_bus_bandwidth":{"bandwidth":35.389440,"okay":"unchecked"},"errors":[""],"end_time":"2026-01-02 03:05:00"}"#;

fn parse(text: &str) -> Parsed<Dataset> {
    let parsed = tier6_measure::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::NcclTestsJson);
    parsed
}

fn points(run: &Run, placement: Placement) -> Vec<&Point> {
    let of = |series: &&Series| series.placement == placement;
    run.series
        .iter()
        .filter(of)
        .flat_map(|series| &series.points)
        .collect()
}

#[test]
fn a_run_is_read_as_the_program_means_it() {
    let parsed = parse(RUN);
    insta::assert_snapshot!(said(&parsed), @r"
    the run says FAILED: values are out of bounds [wrong-data]
    3 wrong elements at 2097152 B, in_place [wrong-data]
    ");
    let run = &parsed.value.runs[0];
    assert_eq!(run.rows, 2);
    assert_eq!(run.end, RunEnd::Complete);
    assert!(
        run.series
            .iter()
            .all(|series| series.ranks == Ranks::Stated(4))
    );
    assert!(run.series.iter().all(|series| series.nodes == Some(2)));
    assert!(
        run.series
            .iter()
            .all(|series| series.collective == Some(Collective::AllReduce))
    );
    assert!(run.series.iter().all(|series| series.root.is_none()));
    let [first] = points(run, Placement::OutOfPlace)[..] else {
        panic!("one point")
    };
    assert_eq!(first.samples[0].time, Some(Micros::new(50.0)));
    assert_eq!(first.samples[0].wrong, Wrong::Elements(0));
    assert_eq!(first.iterations, [49.0, 50.0, 51.0, 50.0].map(Micros::new));
    let [second] = points(run, Placement::InPlace)[..] else {
        panic!("one point")
    };
    assert_eq!(second.samples[0].wrong, Wrong::Elements(3));
    assert_eq!(second.iterations, [Micros::new(80.0), Micros::new(81.0)]);
    let footer = run.footer.as_ref().unwrap();
    assert_eq!(
        (footer.out_of_bounds, footer.passed),
        (Some(1), Some(false))
    );
    assert_eq!(footer.average_busbw, Some(GbPerSec::new(35.38944)));
}

#[test]
fn the_set_up_is_read_and_the_environment_reduced() {
    let parsed = parse(RUN);
    let setup = &parsed.value.runs[0].setup;
    assert_eq!(setup.library_version, Some(LibraryVersion::new(2, 22, 3)));
    assert_eq!(
        (setup.threads, setup.gpus, setup.iterations),
        (Some(1), Some(2), Some(4))
    );
    assert_eq!(
        (setup.validation, setup.graph_launches),
        (Some(true), Some(0))
    );
    assert_eq!(setup.step, Some(SizeStep::Factor(2.0)));
    assert_eq!(setup.max_bytes, Some(Bytes::new(2 << 20)));
    assert_eq!(setup.blocking.as_deref(), Some("false"));
    assert_eq!(setup.devices.len(), 2);
    assert_eq!(setup.devices[1].host, "beta");
    let names: Vec<&str> = setup
        .environment
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["NCCL_PROTO", "SLURM_JOB_ID"]);
    let all = format!("{parsed:?}");
    assert!(
        !all.contains("never-show-this") && !all.contains("nor-this") && !all.contains("/home/me")
    );
}

#[test]
fn old_spellings_and_new_versions_are_read() {
    let old = RUN.replace("\"version\":2", "\"version\":1").replace(
        "average_bus_bandwidth\":{\"bandwidth\"",
        "average_bus_bandwidith\":{\"bandwidith\"",
    );
    let footer = parse(&old).value.runs[0].footer.clone().unwrap();
    assert_eq!(footer.average_busbw, Some(GbPerSec::new(35.38944)));
    let new = parse(&RUN.replace("\"version\":2", "\"version\":9"));
    assert!(
        said(&new).contains("format version 9 is newer than 3"),
        "{}",
        said(&new)
    );
    let cpu = parse(&RUN.replace("\"time\":8", "\"cpu_time\":8"));
    assert!(said(&cpu).contains("only the bandwidths are used"));
    let [point] = points(&cpu.value.runs[0], Placement::InPlace)[..] else {
        panic!("one point")
    };
    assert_eq!(
        (point.samples[0].time, point.samples[0].algbw),
        (None, Some(GbPerSec::new(26.2144)))
    );
}

#[test]
fn a_cut_file_gives_its_whole_results() {
    let cut_at = RUN.find("\"in_place\":{\"time\":80").unwrap();
    let parsed = parse(&RUN[..cut_at]);
    let run = &parsed.value.runs[0];
    assert_eq!(run.end, RunEnd::Unfinished);
    assert_eq!(points(run, Placement::OutOfPlace).len(), 1);
    assert_eq!(points(run, Placement::InPlace).len(), 0);
    insta::assert_snapshot!(said(&parsed), @r"
    line 13: the document is cut (EOF while parsing a value at line 13 column 0); its whole results are used [cut-row]
    1 of 2 announced sizes are present [unfinished]
    ");
    let before_results = &RUN[..RUN.find("\"results\"").unwrap() + 12];
    let parsed = parse(before_results);
    assert!(parsed.value.runs[0].series.is_empty());
    assert_eq!(
        fails("{\"version\":1,\"nccl_version\":22203,\"start_time\":\"x"),
        "line 1: the document is cut before its first result"
    );
}

#[test]
fn more_than_one_document_and_what_follows_them() {
    let parsed = parse(&format!("{RUN}\n{RUN}\nsrun: done"));
    assert_eq!(parsed.value.runs.len(), 2);
    let lines: Vec<u64> = parsed.value.runs.iter().map(|run| run.first_line).collect();
    assert_eq!(lines, [1, 2 + RUN.matches('\n').count() as u64]);
    let said = said(&parsed);
    assert!(said.contains("the file holds 2 documents"), "{said}");
    assert!(
        said.contains("10 bytes after the document are left out"),
        "{said}"
    );
}

#[test]
fn cycles_are_samples_and_an_infinite_rate_is_none() {
    let start = RUN.find("\"results\":[").unwrap() + 11;
    let end = RUN.find("],\n\"out_of_bounds\"").unwrap();
    let twice = format!("{},{}{}", &RUN[..end], &RUN[start..end], &RUN[end..]);
    let parsed = parse(&twice.replace("\"alg_bw\":26.214400", "\"alg_bw\":inf"));
    let [point] = points(&parsed.value.runs[0], Placement::InPlace)[..] else {
        panic!("one point")
    };
    assert_eq!(point.samples.len(), 2);
    assert_eq!(point.samples[0].algbw, None);
}

#[test]
fn devices_that_the_bandwidths_contradict_do_not_count() {
    // Eight ranks by the factor 1.75, two processes of two GPUs by the list.
    let parsed = parse(
        &RUN.replace("31.457280", "36.700160")
            .replace("39.321600", "45.875200"),
    );
    let run = &parsed.value.runs[0];
    assert!(
        run.series
            .iter()
            .all(|series| series.ranks.exact() == Some(8)),
        "{:?}",
        run.series[0].ranks
    );
    assert!(said(&parsed).contains("2 processes of 2 GPUs are listed"));
}

#[test]
fn the_shared_file_with_misspelt_keys() {
    let Some(text) = shared_starting("cases/17-nccl-tests-json-with-old-key-typos", "run") else {
        return;
    };
    let parsed = parse(&text);
    assert_eq!(
        said(&parsed),
        "1 of 31 announced sizes are present [unfinished]"
    );
    let run = &parsed.value.runs[0];
    assert_eq!(run.rows, 1);
    assert_eq!(
        run.setup.library_version,
        Some(LibraryVersion::new(2, 30, 4))
    );
    assert_eq!(
        run.footer.as_ref().unwrap().average_busbw,
        Some(GbPerSec::new(336.445))
    );
    let all = [Placement::OutOfPlace, Placement::InPlace].map(|placement| {
        let point = points(run, placement)[0];
        let sample = &point.samples[0];
        assert_eq!(
            (point.bytes.get(), point.count),
            (524_288_000, Some(32_768_000))
        );
        (
            sample.time.unwrap().get(),
            sample.algbw.unwrap().get(),
            sample.busbw.unwrap().get(),
            sample.wrong,
        )
    });
    assert_eq!(all[0], (1174.14, 446.53, 334.90, Wrong::Elements(0)));
    assert_eq!(all[1], (1163.40, 450.65, 337.99, Wrong::NotChecked));
    for series in &run.series {
        assert_eq!(series.collective, Some(Collective::AllToAll));
        assert_eq!(series.ranks, Ranks::Stated(4));
        assert_eq!(
            (series.nodes, series.root, series.redop),
            (Some(1), None, None)
        );
    }
    assert!(!format!("{parsed:?}").contains("do-not-print-me"));
}

proptest::proptest! {
    #[test]
    fn damaged_documents_are_taken(cut in 0_usize..RUN.len(), at in 0_usize..RUN.len(), byte in 0_u8..128) {
        let mut bytes = RUN.as_bytes().to_vec();
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = tier6_measure::read(text.as_bytes(), &ReadOptions::default());
        if let Ok(parsed) = tier6_measure::read(&RUN.as_bytes()[..cut], &ReadOptions::default()) {
            for point in parsed.value.runs.iter().flat_map(|run| &run.series).flat_map(|series| &series.points) {
                let time = point.samples[0].time.unwrap();
                proptest::prop_assert!([50.0, 80.0].map(Micros::new).contains(&time));
            }
        }
    }

    #[test]
    fn any_text_is_taken(text: String) {
        let _ = tier6_measure::read(text.as_bytes(), &ReadOptions::default());
    }
}
