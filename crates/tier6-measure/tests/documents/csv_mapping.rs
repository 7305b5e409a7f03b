//! Mapped columns, and tables that are no size sweeps.

use crate::csv::{only_series, options, parse, times};
use crate::material::shared;
use crate::{fails, said};
use tier6_collective::Collective;
use tier6_measure::{Dataset, Parsed, Ranks, ReadOptions, Series};
use tier6_units::GbPerSec;

#[test]
fn a_mapping_names_columns_and_constants() {
    let text = "Payload Length,Result,gpus\n1024,20,4\n2048,21,4\n";
    assert!(fails(text).contains("no column of times or bandwidths among `Payload Length`"));
    let mut options = ReadOptions {
        columns: vec![
            ("size_bytes".to_owned(), "Payload Length".to_owned()),
            ("time_ms".to_owned(), "result".to_owned()),
        ],
        ..options(Collective::AllReduce, 4)
    };
    let parsed = tier6_measure::read(text.as_bytes(), &options).unwrap();
    assert_eq!(
        times(only_series(&parsed)),
        [(1024, vec![20_000.0]), (2048, vec![21_000.0])]
    );
    options.columns[1].1 = "Results".to_owned();
    let error = tier6_measure::read(text.as_bytes(), &options)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "line 1: no column `Results`; the columns are `size_bytes`, `Result`, `gpus`"
    );
    options.columns[1] = ("colour".to_owned(), "Result".to_owned());
    assert!(
        tier6_measure::read(text.as_bytes(), &options)
            .unwrap_err()
            .to_string()
            .contains("`colour` is no column")
    );
}

#[test]
fn several_columns_of_one_kind_are_runs_of_their_own() {
    let text = "gpus,usual,second\n4,331,330\n8,425,333\n";
    let map = |ours: &str, theirs: &str| (ours.to_owned(), theirs.to_owned());
    let options = ReadOptions {
        collective: Some(Collective::AllReduce),
        columns: vec![
            map("size_bytes", "=4GiB"),
            map("busbw", "usual"),
            map("busbw", "second"),
        ],
        ..ReadOptions::default()
    };
    let parsed = tier6_measure::read(text.as_bytes(), &options).unwrap();
    let [usual, second] = parsed.value.runs.as_slice() else {
        panic!("{} runs", parsed.value.runs.len());
    };
    assert_eq!(usual.setup.extra, [map("column", "usual")]);
    assert_eq!(second.setup.extra, [map("column", "second")]);
    let rates = |run: &tier6_measure::Run| -> Vec<f64> {
        let samples = run.series.iter().map(|series| &series.points[0].samples[0]);
        samples.map(|sample| sample.busbw.unwrap().get()).collect()
    };
    assert_eq!(rates(usual), [331.0, 425.0]);
    assert_eq!(rates(second), [330.0, 333.0]);
}

#[test]
fn nvls_on_and_off_are_not_samples_of_one_size() {
    let text = "collective,size_bytes,ranks,nvls,busbw\nall_reduce,1073741824,8,on,452\n\
                all_reduce,1073741824,8,off,353\n";
    let runs = parse(text).value.runs;
    let settings: Vec<&str> = runs
        .iter()
        .map(|run| run.setup.extra[0].1.as_str())
        .collect();
    assert_eq!(settings, ["on", "off"]);
}

#[test]
fn what_is_no_sweep_says_so() {
    let pairs = "node_x,node_y,busbw_GBps\nq1,q2,48.10\nq1,q3,88.20\n";
    insta::assert_snapshot!(fails(pairs), @r"
    line 1: no column of message sizes among `node_x`, `node_y`, `busbw_GBps`, so this is no size sweep; `--map size_bytes=HEADER` names the column, `--map size_bytes==8GiB` gives every row the same size
    ");
    let ranks = "gpus,algo_default,busbw_default_GBps\n4,RING,361.0\n";
    assert!(fails(ranks).contains("no column of times or bandwidths"));
    let constant = ReadOptions {
        columns: vec![
            ("size_bytes".to_owned(), "=8GiB".to_owned()),
            ("busbw".to_owned(), "busbw_default_GBps".to_owned()),
            ("collective".to_owned(), "=all_reduce".to_owned()),
        ],
        ..ReadOptions::default()
    };
    let parsed = tier6_measure::read(ranks.as_bytes(), &constant).unwrap();
    let series = only_series(&parsed);
    assert_eq!(series.points[0].bytes.get(), 8 << 30);
    assert_eq!(series.ranks, Ranks::Stated(4));
    assert_eq!(
        series.points[0].samples[0].busbw,
        Some(GbPerSec::new(361.0))
    );
    for text in ["hello, world\nsecond line\n", "a;b\n", "a,b\n1,2\n"] {
        assert!(
            fails(text).starts_with("no benchmark table"),
            "{text}: {}",
            fails(text)
        );
    }
}

#[test]
fn a_scan_over_ranks_is_a_series_per_rank_count() {
    let own = "ranks,bytes,algo,channels,time_us\n2,64,Ring,1,11.0\n3,64,Ring,1,14.5\n";
    let parsed = parse(own);
    let ranks = |parsed: &Parsed<Dataset>| -> Vec<(Ranks, f64)> {
        let run = &parsed.value.runs[0];
        let time = |series: &Series| series.points[0].samples[0].time.unwrap().get();
        run.series
            .iter()
            .map(|series| (series.ranks, time(series)))
            .collect()
    };
    assert_eq!(
        ranks(&parsed),
        [(Ranks::Stated(2), 11.0), (Ranks::Stated(3), 14.5)]
    );
    let extra = &parsed.value.runs[0].setup.extra;
    assert_eq!(extra[0], ("algo".to_owned(), "Ring".to_owned()));
    if let Some(text) = shared("cases/32-ring-latency-fit/latency.csv") {
        let parsed = parse(&text);
        let found = ranks(&parsed);
        assert_eq!(found.len(), 7);
        assert_eq!(found[0], (Ranks::Stated(2), 10.0));
        assert_eq!(found[6], (Ranks::Stated(8), 33.7));
        assert_eq!(parsed.warnings, []);
    }
}

#[test]
fn a_command_column_is_part_of_a_run() {
    let own = "command,bytes,time_us\nNCCL_ALGO=Tree ./all_gather_perf -g 2 -m 50 -G 5,64,0.7\n./sendrecv_perf -g 2 -z 1,64,3.0\n";
    let parsed = parse(own);
    let [first, second] = parsed.value.runs.as_slice() else {
        panic!("two runs")
    };
    assert_eq!(first.setup.aggregated_iterations, Some(50));
    assert_eq!(first.setup.graph_launches, Some(5));
    assert_eq!(first.series[0].collective, Some(Collective::AllGather));
    assert_eq!(second.setup.blocking.as_deref(), Some("1"));
    if let Some(text) = shared("cases/50-graph-and-aggregation-latency/runs.csv") {
        let parsed = parse(&text);
        let setup: Vec<_> = parsed
            .value
            .runs
            .iter()
            .map(|run| {
                (
                    run.setup.aggregated_iterations,
                    run.setup.graph_launches,
                    run.setup.blocking.clone(),
                )
            })
            .collect();
        let one = Some("1".to_owned());
        assert_eq!(
            setup,
            [
                (Some(100), Some(10), None),
                (Some(100), None, one),
                (Some(100), Some(10), None)
            ]
        );
        assert_eq!(
            parsed.value.runs[2].series[0].collective,
            Some(Collective::SendRecv)
        );
        assert_eq!(times(&parsed.value.runs[0].series[0]), [(1024, vec![0.5])]);
    }
}

#[test]
fn shared_tables_that_are_no_sweeps_end_in_a_helpful_error() {
    for (path, expect) in [
        (
            "cases/27-nvls-busbw-above-line-rate/h200-8GiB.csv",
            "no column of times or bandwidths among `gpus`",
        ),
        (
            "cases/27-nvls-busbw-above-line-rate/h200-16GiB-8gpu.csv",
            "no column of message sizes",
        ),
        (
            "cases/31-pairwise-bad-node/pairs.csv",
            "no column of message sizes",
        ),
        (
            "cases/42-simai-allgather-size-meaning/question.csv",
            "no column of times or bandwidths",
        ),
        (
            "cases/48-mi300x-two-vs-eight-gpus/mi300x-4GiB.csv",
            "no column of message sizes",
        ),
    ] {
        let Some(text) = shared(path) else { continue };
        let error = fails(&text);
        assert!(error.contains(expect), "{path}: {error}");
    }
    if let Some(text) = shared("cases/48-mi300x-two-vs-eight-gpus/mi300x-4GiB.csv") {
        let options = ReadOptions {
            columns: vec![("size_bytes".to_owned(), "=4GiB".to_owned())],
            ..ReadOptions::default()
        };
        let parsed = tier6_measure::read(text.as_bytes(), &options).unwrap();
        let series = &parsed.value.runs[0].series;
        let found: Vec<_> = series
            .iter()
            .map(|series| {
                (
                    series.ranks,
                    series.points[0].samples[0].busbw.unwrap().get(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [(Ranks::Stated(2), 47.671), (Ranks::Stated(8), 312.912)]
        );
        assert_eq!(said(&parsed), "");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_taken(text in "[a-z0-9,;\t\"\n. ]{0,120}", bytes: Vec<u8>) {
        for text in [text.clone(), format!("size,time_us\n{text}"), String::from_utf8_lossy(&bytes).into_owned()] {
            let _ = tier6_measure::read(text.as_bytes(), &ReadOptions::default());
        }
    }

    /// Cutting a file anywhere never makes a number that was not in it.
    #[test]
    fn a_cut_file_holds_no_new_numbers(cut in 0_usize..200) {
        let text = "size,time_us,algbw\n1024,20.50,0.05\n2048,21.75,0.09\n4096,123.25,0.03\n";
        if let Ok(parsed) = tier6_measure::read(&text.as_bytes()[..cut.min(text.len())], &ReadOptions::default()) {
            for series in parsed.value.runs.iter().flat_map(|run| &run.series) {
                for (size, samples) in times(series) {
                    proptest::prop_assert!([(1024, 20.5), (2048, 21.75), (4096, 123.25)].contains(&(size, samples[0])));
                }
            }
        }
    }
}
