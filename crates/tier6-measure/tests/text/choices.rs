//! Which path NCCL chose, in the words of every version.

use super::*;
use tier6_collective::Algorithm;
use tier6_measure::{Dialect, LibraryVersion, Trace};

fn trace(lines: &[&str]) -> Trace {
    let prefix = "box-7:31:32 [3] NCCL INFO ";
    let text: String = lines
        .iter()
        .map(|line| format!("{prefix}{line}\n"))
        .collect();
    let parsed = parse(text);
    assert_eq!(parsed.value.dialect, Dialect::NcclLog);
    parsed.value.trace
}

fn check(line: &str, expect: &str) {
    let trace = trace(&[line]);
    let choice = &trace.selections[0];
    let collective = choice.collective.map_or("-", Collective::name);
    let time = choice
        .time
        .map_or("-".to_owned(), |time| time.get().to_string());
    let channels = choice
        .channels
        .map_or("-".to_owned(), |(low, high)| format!("{low}..{high}"));
    let found = format!(
        "{collective} {} {} {time} {channels}",
        choice.bytes.get(),
        choice.path
    );
    assert_eq!(found, expect, "{line}");
}

#[test]
fn every_version_is_decoded() {
    check(
        "640 Bytes -> Algo 0 proto 1 time 7.250000",
        "- 640 tree+ll128 7.25 -",
    );
    check(
        "topoGetAlgoInfo: 640 Bytes -> Algo 1 proto 2 time 9.5",
        "- 640 ring+simple 9.5 -",
    );
    check(
        "AllReduce: 640 Bytes -> Algo 5 proto 2 time 9.5",
        "all_reduce 640 nvls_tree+simple 9.5 -",
    );
    check(
        "ReduceScatter: 640 Bytes -> Algo PAT proto SIMPLE channel{Lo..Hi}={2..7}",
        "reduce_scatter 640 pat+simple - 2..7",
    );
    check(
        "Broadcast: 8 Bytes -> Algo COLLNET_DIRECT proto LL channel{Lo..Hi}={0..0}",
        "broadcast 8 collnet_direct+ll - 0..0",
    );
    // 2.20 and 2.21 print this when the model gave no answer.
    check(
        "640 Bytes -> Algo 1 proto 0 time 3600000000.000000",
        "- 640 ring+ll - -",
    );
}

#[test]
fn numbers_of_old_versions_are_those_of_their_time() {
    let line = "640 Bytes -> Algo 2 proto 2 time 5.0";
    let old = trace(&["NCCL version 2.8.4+cuda11.2", line]);
    assert_eq!(old.selections[0].path.algorithm, Algorithm::CollNetDirect);
    let parsed = parse(
        "h:1:2 [0] NCCL INFO NCCL version 2.8.4+cuda11.2\nh:1:2 [0] NCCL INFO 8 Bytes -> Algo 3 proto 0 time 1\n",
    );
    assert!(parsed.value.trace.selections.is_empty());
    assert_eq!(lines(&parsed, WarningCode::Unknown), [Some(2)]);
}

#[test]
fn prefixes_and_line_ends_do_not_matter() {
    let message = "640 Bytes -> Algo 1 proto 0 time 4.5";
    for prefix in [
        "h:1:2 [0] NCCL INFO ",
        "[1,3]<stdout>:h:1:2 [0] NCCL INFO ",
        "3: 10-0-0-7:1:2 [0] NCCL INFO  ",
        "2025-01-02T03:04:05.678Z h:1:2 [0] NCCL INFO ",
        "[2025-01-02 03:04:05] 0f3a:1:2 [7] enqueue.cc:99 NCCL TRACE ",
    ] {
        let trace = parse(format!("{prefix}{message}\r\n")).value.trace;
        assert_eq!(trace.selections[0].time.unwrap().get(), 4.5, "{prefix}");
        assert_eq!(trace.info_lines, 1);
    }
}

#[test]
fn contradictory_choices_are_an_error_that_names_both_lines() {
    let line = |path: &str| format!("h:1:2 [0] NCCL INFO AllReduce: 640 Bytes -> {path}\n");
    for (first, second) in [
        ("Algo 1 proto 0 time 4.5", "Algo 0 proto 0 time 4.5"),
        ("Algo 1 proto 0 time 4.5", "Algo 1 proto 2 time 4.5"),
        ("Algo 1 proto 0 time 4.5", "Algo 1 proto 0 time 4.75"),
    ] {
        let text = format!("{}{}{}", line(first), line(first), line(second));
        let error = try_parse(text).unwrap_err();
        let ReadError::Contradiction {
            first_line,
            second_line,
            bytes,
            ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!((*first_line, *second_line, *bytes), (1, 3, 640));
        assert!(error.to_string().starts_with("lines 1 and 3: "), "{error}");
    }
    // Parts of one call differ in their channels only.
    let first = line("Algo RING proto LL channel{Lo..Hi}={0..3}");
    let second = line("Algo RING proto LL channel{Lo..Hi}={4..7}");
    assert_eq!(parse(first + &second).value.trace.selections[0].repeats, 2);
}

#[test]
fn a_log_states_version_channels_and_ranks() {
    let trace = trace(&[
        "NCCL version 2.21.5+cuda12.4",
        "Channel 00/0 : 3[3] -> 4[4] via P2P/CUMEM",
        "Channel 00/12 :    0   1   2   3",
        "24 coll channels, 0 collnet channels, 0 nvls channels, 32 p2p channels",
        "comm 0x55 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0",
        "ncclCommInitRank comm 0x55 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 5 commId 0x7 - Init COMPLETE",
        "AllReduce [Symmetric]: 64 Bytes -> Kernel AllReduce_AGxLL nchannels 8 nthreads 512",
    ]);
    assert_eq!(trace.version, Some(LibraryVersion::new(2, 21, 5)));
    assert_eq!(trace.channels, Some(24));
    assert_eq!((trace.ranks, trace.nodes), (Some(16), Some(2)));
    assert_eq!(trace.info_lines, 7);
    assert!(trace.selections.is_empty());
}

#[test]
fn the_published_formats_are_decoded() {
    let case = "04-tuning-lines-by-version-and-split-rows";
    let Some(input) = published(case, "formats.txt") else {
        return;
    };
    let parsed = parse(input);
    let selections = &parsed.value.trace.selections;
    let paths: Vec<String> = selections
        .iter()
        .map(|choice| choice.path.to_string())
        .collect();
    assert_eq!(paths, ["tree+ll", "ring+simple", "ring+ll", "nvls+simple"]);
    assert_eq!(selections[1].time.unwrap().get(), 3_970.683_594);
    assert_eq!(selections[3].channels, Some((0, 15)));
    let case = "23-vm-topology-with-empty-link-speed";
    let parsed = parse(published(case, "nccl.log").unwrap());
    assert_eq!(parsed.value.dialect, Dialect::NcclLog);
    assert_eq!(parsed.value.trace.info_lines, 10);
}
