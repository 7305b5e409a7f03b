//! Schedules of files that cannot end, and those that only seem so.

use tier6_collective::{
    Algorithm, BuildOptions, Collective, RankId, ReadError, TransferId, build, read_json,
    read_json_script, read_msccl, read_msccl_script,
};
use tier6_units::Bytes;

/// Sends of rank 0 and 1 in turn, with a port or none, each after others.
fn json(transfers: &[(Option<u32>, &[u32])]) -> String {
    let line = |(at, (port, after)): (usize, &(Option<u32>, &[u32]))| {
        let (src, dst) = (at % 2, (at + 1) % 2);
        let port = port.map_or(String::new(), |port| format!(",\"port\":{port}"));
        format!(
            "{{\"route\":\"send\",\"src\":{src},\"dst\":{dst},\"op\":\"copy\"{port},\"after\":{after:?},\
             \"pieces\":[{{\"from\":\"recv:0\",\"to\":\"recv:0\"}}]}}"
        )
    };
    let lines: Vec<String> = transfers.iter().enumerate().map(line).collect();
    format!(
        "{{\"schema\":\"tier6.schedule/1\",\"collective\":\"all_reduce\",\"ranks\":2,\"bytes\":8,\n\
         \"placement\":\"in_place\",\"chunks\":1,\"transfers\":[\n{}]}}",
        lines.join(",\n")
    )
}

#[test]
fn a_circle_of_waits_is_read_and_a_wrong_order_is_not() {
    for (transfers, circle) in [
        // Each waits for the other, for itself, and through the queue of a port.
        (vec![(None, &[1_u32][..]), (None, &[0])], true),
        (vec![(None, &[0][..])], true),
        (vec![(Some(0), &[2][..]), (None, &[]), (Some(0), &[])], true),
        // Another order serves these.
        (vec![(None, &[1][..]), (None, &[])], false),
        (
            vec![(Some(0), &[2][..]), (None, &[]), (Some(1), &[])],
            false,
        ),
    ] {
        let text = json(&transfers);
        let strict = read_json(&text).unwrap_err();
        assert!(
            matches!(
                strict,
                ReadError::Transfer {
                    line: 3,
                    index: 0,
                    ..
                }
            ),
            "{strict}"
        );
        let script = read_json_script(&text, None);
        if !circle {
            assert_eq!(script, Err(strict));
            continue;
        }
        let script = script.unwrap();
        assert!(!script.can_end());
        let late = TransferId(transfers[0].1[0]);
        assert_eq!(script.late_waits, [(TransferId(0), late)]);
        assert_eq!(script.schedule.transfers().len(), transfers.len());
    }
    let sound = json(&[(Some(0), &[]), (None, &[0])]);
    let script = read_json_script(&sound, None).unwrap();
    assert!(script.can_end());
    assert_eq!(read_json(&sound), Ok(script.schedule));
}

/// Two GPUs of one thread block each; the steps are kinds.
fn xml(gpus: [&[&str]; 2]) -> String {
    let block = |gpu: usize| {
        let peer = 1 - gpu;
        let step = |(s, kind): (usize, &&str)| {
            format!(
                "<step s=\"{s}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" \
                 cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
            )
        };
        let steps: Vec<String> = gpus[gpu].iter().enumerate().map(step).collect();
        format!(
            "<gpu id=\"{gpu}\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\
             <tb id=\"7\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">\n{}\n</tb></gpu>",
            steps.join("\n")
        )
    };
    let gpus = block(0) + &block(1);
    format!(
        "<algo name=\"a\" coll=\"allreduce\" ngpus=\"2\" nchunksperloop=\"1\" inplace=\"1\">{gpus}</algo>"
    )
}

#[test]
fn steps_that_never_run_keep_their_names_and_their_waits() {
    let text = xml([&["rrc", "s"], &["rrc", "s"]]);
    let strict = read_msccl(&text, Bytes::new(8)).unwrap_err();
    assert!(strict.message.starts_with("deadlock"), "{strict}");
    let script = read_msccl_script(&text, Bytes::new(8)).unwrap();
    assert_eq!(
        script.names,
        [
            "thread block 7, step 0",
            "thread block 7, step 1",
            "thread block 7, step 0",
            "thread block 7, step 1",
        ]
    );
    // Rank 0 receives what rank 1 sends as its last, which comes later; the other way round it
    // comes before.
    assert_eq!(script.late_waits, [(TransferId(0), TransferId(3))]);
    assert_eq!(script.schedule.dependencies(TransferId(2)), [TransferId(1)]);
}

#[test]
fn a_receive_without_a_send_waits_for_its_peer() {
    let text = xml([&["s"], &["rrc", "r"]]);
    let strict = read_msccl(&text, Bytes::new(8)).unwrap_err();
    assert_eq!(strict.message, "rank 0 has no send for this receive");
    let script = read_msccl_script(&text, Bytes::new(8)).unwrap();
    assert_eq!(script.unsent, [(TransferId(2), RankId(0))]);
    assert!(script.late_waits.is_empty() && !script.can_end());
    // What is sent and not received is no program.
    let text = xml([&["s", "s"], &["rrc"]]);
    let error = read_msccl_script(&text, Bytes::new(8)).unwrap_err();
    assert_eq!(error.message, "rank 1 has no receive for this send");
}

#[test]
fn a_schedule_grows_with_its_message() {
    let options = BuildOptions::new(6, Bytes::new(1000));
    // Its folded ranks keep what they get in scratch.
    for algorithm in [Algorithm::HalvingDoubling, Algorithm::Ring, Algorithm::Tree] {
        let small = build(Collective::AllReduce, algorithm, &options).unwrap();
        let script = read_json_script(&small.to_json(), Some(Bytes::new(1_000_000))).unwrap();
        let large = script.schedule;
        assert_eq!(large.bytes(), Bytes::new(1_000_000));
        assert_eq!(large.check(), Ok(()), "{algorithm}");
        for (small, large) in small.sent_bytes().iter().zip(large.sent_bytes()) {
            let ratio = large as f64 / *small as f64;
            assert!((ratio / 1000.0 - 1.0).abs() < 0.01, "{algorithm}: {ratio}");
        }
    }
    let empty = build(
        Collective::AllReduce,
        Algorithm::Ring,
        &BuildOptions::new(4, Bytes::new(0)),
    );
    let error = read_json_script(&empty.unwrap().to_json(), Some(Bytes::new(8))).unwrap_err();
    assert!(error.to_string().contains("does not grow"), "{error}");
}
