//! Schedules as JSON: round trips, and errors with their place.

use tier6_collective::{Algorithm, read_json};

use crate::cases::cases;

#[test]
fn every_schedule_reads_back_equal() {
    for algorithm in Algorithm::ALL {
        for ranks in [2, 6, 8] {
            for case in cases(algorithm, ranks, 1003) {
                let text = case.schedule.to_json();
                let read =
                    read_json(&text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
                assert!(read == case.schedule, "{}", case.name);
            }
        }
    }
}

const RIGHT: &str = r#"{
  "schema": "tier6.schedule/1",
  "collective": "all_reduce",
  "ranks": 2,
  "bytes": 100,
  "placement": "in_place",
  "chunks": 3,
  "scratch_bytes": [40, 10],
  "groups": [[0, 1]],
  "transfers": [
    {"route": "aggregate", "group": 0, "op": "copy",
     "pieces": [{"from": "recv:0", "to": "recv:0", "count": 3}]},
    {"route": "send", "src": 0, "dst": 1, "op": "copy", "after": [0],
     "pieces": [{"from": "recv:0", "to": "scratch:0"}]}
  ]
}"#;

#[test]
fn a_schedule_written_by_hand_is_read() {
    let schedule = read_json(RIGHT).unwrap();
    assert_eq!(schedule.check(), Ok(()));
    assert_eq!(schedule.algorithm(), None);
    assert_eq!(schedule.sent_bytes(), [133, 100]);
    assert_eq!(read_json(&schedule.to_json()), Ok(schedule));
}

/// Reads the right text with one thing changed.
fn check(from: &str, to: &str, expected: &str) {
    assert!(RIGHT.contains(from), "{from}");
    let error = read_json(&RIGHT.replacen(from, to, 1)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_have_a_line_and_a_reason() {
    check(
        "schedule/1",
        "schedule/2",
        "line 2: `schema`: expected `tier6.schedule/1`, found `tier6.schedule/2`",
    );
    check(
        "all_reduce",
        "all_reuse",
        "line 3, column 27: `all_reuse` is no collective; hint: for example `all_reduce`",
    );
    check(
        "all_reduce",
        "all_gather",
        "line 7: `chunks`: `all_gather` has a block per rank; 3 chunks are not a multiple of 2 ranks",
    );
    check(
        "\"ranks\": 2",
        "\"ranks\": 0",
        "line 4: `ranks`: 0 is not between 1 and 4096",
    );
    check(
        "[[0, 1]]",
        "[[0, 2]]",
        "line 9: `groups`: group 0 is not a set of ranks between 0 and 1",
    );
    check(
        "\"bytes\": 100",
        "\"byte\": 100",
        "line 5, column 8: unknown field `byte`, expected one of `schema`, `collective`, `algorithm`, `ranks`, `bytes`, `root`, `placement`, `chunks`, `scratch_bytes`, `slice_bytes`, `handshake`, `groups`, `transfers`",
    );
}

#[test]
fn impossible_transfers_have_a_line_and_a_reason() {
    check(
        "\"group\": 0, ",
        "\"group\": 1, ",
        "line 11: transfer 0: group 1 does not exist; there are 1",
    );
    check(
        "\"group\": 0, ",
        "",
        "line 11: transfer 0: `aggregate` takes `group`",
    );
    check(
        "\"dst\": 1",
        "\"dst\": 2",
        "line 13: transfer 1: rank 2 does not exist; the ranks are 0 to 1",
    );
    check(
        "[0],",
        "[1],",
        "line 13: transfer 1: it waits for transfer 1, which does not come before it",
    );
    check(
        "scratch:0",
        "scratch:1",
        "line 13: transfer 1: `recv:0` has 33 bytes and does not fit `scratch:1` of 10",
    );
    check(
        "\"count\": 3",
        "\"count\": 4",
        "line 11: transfer 0: `recv:0` and the 3 slots after it are not all in one buffer",
    );
    check(
        "scratch:0",
        "scratch:9",
        "line 13: transfer 1: `scratch:9` does not exist",
    );
    check(
        "scratch:0",
        "cache:0",
        "line 14, column 51: `cache:0` is no slot; hint: `recv:0`, `send:0` or `scratch:0`",
    );
    check("]\n}", "", "line 15, column 2: EOF while parsing a list");
}

#[test]
fn sends_are_read_only_and_exchanges_are_out_of_place() {
    let out_of_place = RIGHT.replace("in_place", "out_of_place");
    let written = out_of_place.replace("\"scratch:0\"", "\"send:0\"");
    let error = read_json(&written).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 13: transfer 1: `send:0` is written, but the send vector is only read"
    );
    let exchange = RIGHT
        .replace("all_reduce", "all_to_all")
        .replace("\"chunks\": 3", "\"chunks\": 4");
    let error = read_json(&exchange).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 6: `placement`: a block would change its size under way; hint: `out_of_place`"
    );
}

#[test]
fn no_prefix_of_a_document_panics() {
    for end in (0..RIGHT.len()).filter(|end| RIGHT.is_char_boundary(*end)) {
        assert!(read_json(&RIGHT[..end]).is_err());
    }
}
