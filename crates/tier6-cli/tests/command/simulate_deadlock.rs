//! Schedules of files that cannot end: `tier6 simulate --schedule` says who waits for whom.

use crate::harness::{Run, Said};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Runs a schedule from a file of its own on a ring of chips.
fn said(name: &str, text: &str, more: &str) -> Said {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("simulate-deadlock");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    let line = format!(
        "simulate --system doc004-ring --schedule {} {more}",
        file.display()
    );
    Run::new(&line.split_whitespace().collect::<Vec<_>>()).said()
}

/// The stop, and its waits as `who > for whom: why`.
fn stop(name: &str, text: &str, more: &str) -> (Value, Vec<String>) {
    let said = said(name, text, &format!("{more} --format json"));
    assert_eq!(said.code, 12, "{name}: {}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(report["results"].as_array().unwrap().is_empty(), "{report}");
    let stop = report["stops"][0].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let wait = |wait: &Value| {
        let [who, whom, why] = ["who", "for_whom", "why"].map(|key| text(&wait[key]));
        format!("{who} > {whom}: {why}")
    };
    let waits = stop["waits"].as_array().unwrap().iter().map(wait).collect();
    (stop, waits)
}

/// An AllReduce on two ranks whose transfers are given.
fn json(transfers: &[&str]) -> String {
    format!(
        "{{\"schema\":\"tier6.schedule/1\",\"collective\":\"all_reduce\",\"ranks\":2,\"bytes\":2097152,\n\
         \"placement\":\"in_place\",\"chunks\":2,\"transfers\":[\n{}]}}",
        transfers.join(",\n")
    )
}

/// A send of a slot, with what comes behind its pieces.
fn send(from: u32, to: u32, slot: u32, more: &str) -> String {
    format!(
        "{{\"route\":\"send\",\"src\":{from},\"dst\":{to},\"op\":\"copy\",\
         \"pieces\":[{{\"from\":\"recv:{slot}\",\"to\":\"recv:{slot}\"}}]{more}}}"
    )
}

#[test]
fn transfers_that_wait_for_each_other_are_a_deadlock() {
    let (first, second, third) = (
        send(0, 1, 0, ""),
        send(1, 0, 1, r#","after":[2]"#),
        send(0, 1, 1, r#","after":[0,1]"#),
    );
    let text = json(&[&first, &second, &third]);
    for fidelity in ["packet", "flow"] {
        let more = format!("--fidelity {fidelity}");
        let (stop, waits) = stop("circle.json", &text, &more);
        assert_eq!(stop["reason"], "deadlock");
        // What can be done is done before.
        assert_eq!((&stop["done"], &stop["transfers"]), (&1.into(), &3.into()));
        assert!(stop["at_us"].as_f64().unwrap() > 2.0, "{stop}");
        let mut waits = waits;
        waits.sort();
        assert_eq!(
            waits,
            [
                "rank 0 (transfer 2) > rank 1 (transfer 1): needs it to be complete",
                "rank 1 (transfer 1) > rank 0 (transfer 2): needs it to be complete",
            ]
        );
    }
    let table = said("circle.json", &text, "");
    assert_eq!(table.code, 12);
    let out = &table.stdout;
    assert!(
        out.contains("custom of 2 MiB stopped: deadlock at"),
        "{out}"
    );
    assert!(
        out.contains("rank 0 (transfer 2)") && out.contains("waits for"),
        "{out}"
    );
    assert!(!out.contains("does not compute"), "{out}");
    assert!(
        table
            .stderr
            .contains("hint: each of these waits for the next one"),
        "{}",
        table.stderr
    );
}

#[test]
fn a_port_that_is_blocked_by_what_is_behind_it_is_a_deadlock() {
    let text = json(&[
        &send(0, 1, 0, r#","port":0,"after":[1]"#),
        &send(0, 1, 1, r#","port":0"#),
    ]);
    let (stop, mut waits) = stop("port.json", &text, "--fidelity flow");
    assert_eq!(stop["reason"], "deadlock");
    assert_eq!(stop["done"], 0);
    waits.sort();
    assert_eq!(
        waits,
        [
            "rank 0 (transfer 0) > rank 0 (transfer 1): needs it to be complete",
            "rank 0 (transfer 1) > rank 0 (transfer 0): is behind it in the queue of the port",
        ]
    );
    let itself = json(&[&send(0, 1, 0, r#","after":[0]"#)]);
    let (of_itself, waits) = self::stop("itself.json", &itself, "--fidelity flow");
    assert_eq!(of_itself["reason"], "deadlock");
    assert_eq!(
        waits,
        ["rank 0 (transfer 0) > rank 0 (transfer 0): needs it to be complete"]
    );
}

#[test]
fn a_wait_that_an_order_would_serve_is_an_error_with_its_line() {
    let later = json(&[&send(0, 1, 0, r#","after":[1]"#), &send(1, 0, 1, "")]);
    let absent = json(&[&send(0, 1, 0, r#","after":[7]"#)]);
    for (name, text, says) in [
        (
            "later.json",
            later,
            "line 3: transfer 0: it waits for transfer 1, which does not come before it",
        ),
        (
            "absent.json",
            absent,
            "line 3: transfer 0: it waits for transfer 7, which does not exist; there are 1",
        ),
    ] {
        let said = said(name, &text, "");
        assert_eq!(said.code, 3, "{name}: {}", said.stderr);
        assert!(said.stderr.contains(says), "{name}: {}", said.stderr);
    }
}

/// A program of MSCCL on two GPUs with a thread block each of these steps: kind, `depid`, `deps`.
fn xml(first: &[(&str, i32, i32)], second: &[(&str, i32, i32)]) -> String {
    let block = |gpu: u32, peer: u32, steps: &[(&str, i32, i32)]| {
        let step = |(s, (kind, depid, deps)): (usize, &(&str, i32, i32))| {
            format!(
                "<step s=\"{s}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" \
                 cnt=\"1\" depid=\"{depid}\" deps=\"{deps}\" hasdep=\"0\"/>\n"
            )
        };
        let steps: String = steps.iter().enumerate().map(step).collect();
        format!(
            "<gpu id=\"{gpu}\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">\n{steps}</tb></gpu>\n"
        )
    };
    let gpus = block(0, 1, first) + &block(1, 0, second);
    format!(
        "<algo name=\"pair\" coll=\"allreduce\" ngpus=\"2\" nchunksperloop=\"1\" inplace=\"1\">\n{gpus}</algo>"
    )
}

#[test]
fn thread_blocks_that_wait_for_each_other_are_named_with_their_steps() {
    // Both receive first, what the other one sends afterwards.
    let steps = [("rrc", -1, -1), ("s", -1, -1)];
    let (stop, waits) = stop("receive-first.xml", &xml(&steps, &steps), "--sizes 1M");
    assert_eq!(stop["reason"], "deadlock", "{stop}");
    assert_eq!(stop["done"], 0);
    let names =
        |rank: u32, step: u32| format!("rank {rank} (thread block 0, step {step}, transfer");
    for wait in &waits {
        assert!(
            wait.contains("needs it to be complete") || wait.contains("is behind it"),
            "{wait}"
        );
    }
    for (rank, step) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let name = names(rank, step);
        assert!(
            waits.iter().any(|wait| wait.starts_with(&name)),
            "{name}: {waits:?}"
        );
    }
    // The other way round it ends.
    let steps = [("s", -1, -1), ("rrc", -1, -1)];
    let sound = said("send-first.xml", &xml(&steps, &steps), "--sizes 1M");
    assert_eq!(sound.code, 0, "{}", sound.stderr);
}

#[test]
fn steps_that_only_wait_are_in_the_circle_too() {
    let first = [("s", -1, -1), ("nop", 0, 2), ("rrc", -1, -1)];
    let second = [("s", -1, -1), ("rrc", -1, -1)];
    let (stop, waits) = stop("nop.xml", &xml(&first, &second), "--sizes 1M,2M");
    assert_eq!(stop["reason"], "deadlock", "{stop}");
    // Both sends, and what rank 1 makes of the one that it gets.
    assert_eq!(stop["done"], 3);
    let of = |step: u32| format!("rank 0 (thread block 0, step {step}, transfer");
    assert!(
        waits.iter().any(|wait| wait.starts_with(&of(1))),
        "{waits:?}"
    );
    assert!(
        waits.iter().any(|wait| wait.starts_with(&of(2))),
        "{waits:?}"
    );
}

#[test]
fn a_message_that_nobody_sends_stalls_the_rank_that_waits_for_it() {
    let first = [("s", -1, -1), ("rrc", -1, -1), ("r", -1, -1)];
    let second = [("s", -1, -1), ("rrc", -1, -1)];
    let text = xml(&first, &second);
    for fidelity in ["packet", "flow"] {
        let more = format!("--sizes 1M --fidelity {fidelity}");
        let (stop, waits) = stop("unsent.xml", &text, &more);
        assert_eq!(stop["reason"], "stalled", "{stop}");
        let all = stop["transfers"].as_u64().unwrap();
        assert_eq!(stop["done"], all - 1, "all but the receive");
        let expected = format!(
            "rank 0 (thread block 0, step 2, transfer {}) > rank 1: nobody sends this message",
            all - 1
        );
        assert_eq!(waits, [expected]);
    }
    let table = said("unsent.xml", &text, "--sizes 1M");
    assert!(
        table
            .stdout
            .contains("waits for rank 1: nobody sends this message"),
        "{}",
        table.stdout
    );
    assert!(
        table.stderr.contains("hint: add the send that is missing"),
        "{}",
        table.stderr
    );
}

#[test]
fn a_deadlock_leaves_the_trace_of_what_ran() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("simulate-deadlock");
    let text = json(&[
        &send(0, 1, 0, ""),
        &send(1, 0, 1, r#","after":[2]"#),
        &send(0, 1, 1, r#","after":[1]"#),
    ]);
    let trace = folder.join("trace.json");
    let said = said(
        "traced.json",
        &text,
        &format!("--trace {}", trace.display()),
    );
    assert_eq!(said.code, 12, "{}", said.stderr);
    let trace = fs::read_to_string(trace).unwrap();
    assert!(
        trace.contains("send 0 to rank 1") && trace.contains("stopped at"),
        "{trace}"
    );
}
