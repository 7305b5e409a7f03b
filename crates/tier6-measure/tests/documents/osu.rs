//! OSU micro-benchmarks.

use crate::material::shared_starting;
use crate::{fails, said};
use tier6_collective::{Collective, DataType};
use tier6_measure::{Dataset, Dialect, Parsed, Ranks, ReadOptions, Warning, WarningCode};

const GATHER: &str = "\
some launcher chatter
# OSU MPI-ROCM Allgather Latency Test v7.4
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       3.10              2.90              3.40        1000
8                       3.25              3.00              3.60        1000
1048576               410.50            400.00            420.00         100
";

fn parse(text: &str, ranks: Option<u32>) -> Parsed<Dataset> {
    let options = ReadOptions {
        ranks,
        ..ReadOptions::default()
    };
    let parsed = tier6_measure::read(text.as_bytes(), &options).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::Osu);
    parsed
}

#[test]
fn a_collective_keeps_averages_only() {
    let parsed = parse(GATHER, None);
    insta::assert_snapshot!(said(&parsed), @r"
    line 2: minimum and maximum are over ranks, not over repetitions; they are no samples [note]
    line 2: sizes are per rank; nccl-tests' size is that times the ranks, which are not stated [note]
    ");
    let run = &parsed.value.runs[0];
    assert_eq!(run.first_line, 2);
    assert_eq!(run.setup.iterations, None);
    assert_eq!(run.setup.extra[0].1, "MPI-ROCM");
    let [series] = run.series.as_slice() else {
        panic!("one series")
    };
    assert_eq!(
        (series.collective, series.ranks),
        (Some(Collective::AllGather), Ranks::Unknown)
    );
    assert_eq!(series.datatype, Some(DataType::Float));
    let point = &series.points[1];
    assert_eq!((point.bytes.get(), point.count), (8, Some(2)));
    assert_eq!(point.samples.len(), 1);
    assert_eq!(point.samples[0].time, Some(tier6_units::Micros::new(3.25)));
    assert_eq!(
        (point.samples[0].algbw, point.samples[0].busbw),
        (None, None)
    );
}

#[test]
fn known_ranks_turn_a_part_into_a_message() {
    let parsed = parse(GATHER, Some(16));
    let series = &parsed.value.runs[0].series[0];
    assert_eq!(series.points[1].bytes.get(), 128);
    assert_eq!(series.points[1].count, Some(2));
    assert!(said(&parsed).contains("here times 16"));
    let reduced = parse(&GATHER.replace("Allgather", "Allreduce"), Some(16));
    assert_eq!(reduced.value.runs[0].series[0].points[1].bytes.get(), 8);
}

#[test]
fn test_names_are_collectives_or_refused() {
    let titled = |test: &str| format!("# OSU MPI {test} Test v7.0\n# Size  Avg\n8 2.0\n");
    for (test, collective) in [
        ("Allreduce Latency", Collective::AllReduce),
        (
            "All-to-All Personalized Exchange Latency",
            Collective::AllToAll,
        ),
        (
            "All-to-Allv Personalized Exchange Latency",
            Collective::AllToAllV,
        ),
        ("Broadcast Latency", Collective::Broadcast),
        ("Bcast Latency", Collective::Broadcast),
        ("Reduce_scatter Latency", Collective::ReduceScatter),
        ("Allgatherv Latency", Collective::AllGather),
        ("Gather Latency", Collective::Gather),
        ("Scatterv Latency", Collective::Scatter),
        ("Latency", Collective::SendRecv),
    ] {
        let parsed = parse(&titled(test), Some(2));
        assert_eq!(
            parsed.value.runs[0].series[0].collective,
            Some(collective),
            "{test}"
        );
    }
    for (test, why) in [
        ("Bandwidth", "only latency tests"),
        ("Bi-Directional Bandwidth", "only latency tests"),
        ("Barrier Latency", "no such collective"),
        ("Non-blocking Allreduce Latency", "overlap"),
    ] {
        let error = fails(&titled(test));
        assert!(error.contains(why), "{test}: {error}");
    }
}

#[test]
fn a_message_is_half_a_ping_pong() {
    let parsed = parse(
        "# OSU MPI Latency Test v5.9\n# Size  Latency (us)\n0 1.1\n8 1.2\n",
        None,
    );
    let series = &parsed.value.runs[0].series[0];
    assert_eq!(
        (series.collective, series.ranks),
        (Some(Collective::SendRecv), Ranks::Stated(2))
    );
    assert_eq!(series.points.len(), 1);
    assert!(said(&parsed).contains("half of a ping-pong"));
    assert!(said(&parsed).contains("size 0"));
}

#[test]
fn the_shared_reduce_with_a_short_header() {
    let Some(text) = shared_starting("cases/25-osu-header-shorter-than-rows", "input") else {
        return;
    };
    let parsed = parse(&text, None);
    let cut: Vec<&Warning> = parsed
        .warnings
        .iter()
        .filter(|w| w.code == WarningCode::CutRow)
        .collect();
    assert_eq!(cut.len(), 1);
    assert_eq!(
        cut[0].message,
        "size 1024 is incomplete (3 of 5 fields) and not used"
    );
    let run = &parsed.value.runs[0];
    let [series] = run.series.as_slice() else {
        panic!("one series")
    };
    assert_eq!(series.points.len(), 10);
    assert_eq!(series.collective, Some(Collective::Reduce));
    assert_eq!(
        (series.datatype, series.ranks),
        (Some(DataType::Int8), Ranks::Unknown)
    );
    assert_eq!(run.setup.iterations, Some(1000));
    assert_eq!(
        run.setup.extra,
        [
            ("library".to_owned(), "MPI-CUDA".to_owned()),
            ("osu version".to_owned(), "7.3".to_owned()),
        ]
    );
    let eight = &series.points[3];
    assert_eq!(
        (eight.bytes.get(), eight.samples[0].time.unwrap().get()),
        (8, 46.01)
    );
    assert_eq!(eight.samples[0].busbw, None);
}

proptest::proptest! {
    #[test]
    fn any_rows_are_taken(rows in "[0-9. #\nA-Za-z-]{0,120}") {
        let text = format!("# OSU MPI Allgather Latency Test v7\n{rows}");
        let _ = tier6_measure::read(text.as_bytes(), &ReadOptions { ranks: Some(u32::MAX), ..ReadOptions::default() });
    }
}
