//! MSCCL programs: all step types, what they become, and errors with their place.

use std::fmt::Write as _;

use tier6_collective::{Collective, Schedule, Violation, read_json, read_msccl};
use tier6_units::Bytes;

fn read(text: &str) -> Schedule {
    read_msccl(text, Bytes::new(3000)).unwrap_or_else(|error| panic!("{error}"))
}

/// One chunk around three GPUs and back: every fused step but `rrc`.
const RING: &str = r#"<algo name="around" coll="allreduce" ngpus="3" nchannels="1" nchunksperloop="1" inplace="1" proto="LL128">
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="1" recv="2" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="2" recv="0" chan="0">
      <step s="0" type="rrs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="1" chan="0">
      <step s="0" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"#;

/// Everyone sends to everyone's scratch; one thread block waits for the others and adds up.
fn all_pairs(ranks: u32) -> String {
    let mut text = format!(
        "<algo name=\"pairs\" coll=\"allreduce\" ngpus=\"{ranks}\" nchunksperloop=\"2\" inplace=\"1\">\n"
    );
    for rank in 0..ranks {
        let scratch = 2 * ranks;
        writeln!(
            text,
            "<gpu id=\"{rank}\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"{scratch}\">"
        )
        .unwrap();
        for (tb, peer) in (0..ranks).filter(|peer| *peer != rank).enumerate() {
            writeln!(
                text,
                "<tb id=\"{tb}\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">"
            )
            .unwrap();
            let mut number = 0;
            let mut step = |kind: &str, src: (&str, u32), dst: (&str, u32), dep: (i64, i64)| {
                writeln!(
                    text,
                    "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" \
                     dstoff=\"{}\" cnt=\"2\" depid=\"{}\" deps=\"{}\" hasdep=\"0\"/>",
                    src.0, src.1, dst.0, dst.1, dep.0, dep.1
                )
                .unwrap();
                number += 1;
            };
            step("s", ("i", 0), ("s", 2 * rank), (-1, -1));
            step("r", ("i", 0), ("s", 2 * peer), (-1, -1));
            if tb == 0 {
                for other in 1..i64::from(ranks) - 1 {
                    step("nop", ("i", 0), ("i", 0), (other, 1));
                }
                for peer in (0..ranks).filter(|peer| *peer != rank) {
                    step("re", ("s", 2 * peer), ("i", 0), (-1, -1));
                }
            }
            text.push_str("</tb>\n");
        }
        text.push_str("</gpu>\n");
    }
    text + "</algo>\n"
}

#[test]
fn a_ring_of_fused_steps_reduces() {
    let ring = read(RING);
    assert_eq!(ring.collective(), Collective::AllReduce);
    assert_eq!(ring.check(), Ok(()));
    assert_eq!(ring.steps().count, 4);
    assert_eq!(ring.sent_bytes(), [6000, 3000, 3000]);
    // `rrc` ends the sum at rank 2, which then sends by itself.
    let apart = RING.replace(
        "type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>",
        "type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>
      <step s=\"1\" type=\"s\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>",
    );
    assert_ne!(apart, RING);
    let apart = read(&apart);
    assert_eq!(apart.check(), Ok(()));
    assert_eq!(apart.sent_bytes(), ring.sent_bytes());
    assert_eq!(read_json(&ring.to_json()), Ok(ring));
}

#[test]
fn all_pairs_reduce_and_their_waits_matter() {
    for ranks in [2, 3, 5, 8] {
        let text = all_pairs(ranks);
        let schedule = read(&text);
        assert_eq!(schedule.check(), Ok(()), "{ranks} ranks");
        assert_eq!(schedule.steps().count, 1);
        assert_eq!(
            schedule.sent_bytes(),
            vec![3000 * u64::from(ranks - 1); ranks as usize]
        );
    }
    // Without its wait the sum may read what has not arrived.
    let hasty = all_pairs(3).replacen("depid=\"1\" deps=\"1\"", "depid=\"-1\" deps=\"-1\"", 1);
    assert!(matches!(read(&hasty).check(), Err(Violation::Race { .. })));
}

#[test]
fn an_exchange_out_of_place_keeps_its_own_block() {
    let step = |kind: &str, src: u32, dst: u32| {
        format!(
            "<step s=\"0\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{src}\" dstbuf=\"o\" dstoff=\"{dst}\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>"
        )
    };
    let gpu = |rank: u32, peer: u32| {
        format!(
            "<gpu id=\"{rank}\"><tb id=\"0\" send=\"{peer}\" recv=\"-1\" chan=\"0\">{}</tb>\
             <tb id=\"1\" send=\"-1\" recv=\"{peer}\" chan=\"0\">{}</tb>\
             <tb id=\"2\" send=\"-1\" recv=\"-1\" chan=\"0\">{}</tb></gpu>",
            step("s", peer, peer),
            step("r", peer, peer),
            step("cpy", rank, rank),
        )
    };
    let text = format!(
        "<algo coll=\"alltoall\" nchunksperloop=\"2\" inplace=\"0\">{}{}</algo>",
        gpu(0, 1),
        gpu(1, 0)
    );
    let schedule = read(&text);
    assert_eq!(schedule.check(), Ok(()));
    assert_eq!(schedule.sent_bytes(), [1500, 1500]);
}

#[test]
fn shares_of_gather_and_scatter_are_where_they_belong() {
    let step = |s: u32, kind: &str, src: u32, dst: u32| {
        format!(
            "<step s=\"{s}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{src}\" dstbuf=\"o\" dstoff=\"{dst}\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>"
        )
    };
    let program = |coll: &str, steps: &dyn Fn(u32, u32) -> String| {
        let gpu = |rank: u32, peer: u32| {
            let steps = steps(rank, peer);
            format!(
                "<gpu id=\"{rank}\"><tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">{steps}</tb></gpu>"
            )
        };
        let (one, two) = (gpu(0, 1), gpu(1, 0));
        format!("<algo coll=\"{coll}\" nchunksperloop=\"2\" inplace=\"0\">{one}{two}</algo>")
    };
    let gather = program("allgather", &|rank, peer| {
        step(0, "s", 0, rank) + &step(1, "cpy", 0, rank) + &step(2, "r", 0, peer)
    });
    assert_eq!(read(&gather).check(), Ok(()));
    let scatter = program("reduce_scatter", &|rank, peer| {
        step(0, "s", peer, 0) + &step(1, "rrc", rank, 0)
    });
    assert_eq!(read(&scatter).check(), Ok(()));
}

/// Reads the ring with one thing changed.
fn check(from: &str, to: &str, expected: &str) {
    assert!(RING.contains(from), "{from}");
    let error = read_msccl(&RING.replacen(from, to, 1), Bytes::new(3000)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_have_a_place_and_a_reason() {
    check(
        "\"rcs\"",
        "\"rcx\"",
        "line 5, column 7: `rcx` is no step; it is s, r, rcs, rrc, rrs, rrcs, cpy, re or nop",
    );
    check(
        "coll=\"allreduce\" ",
        "",
        "line 1, column 1: `algo` has no `coll`",
    );
    check(
        "ngpus=\"3\"",
        "ngpus=\"4\"",
        "line 1, column 1: 4 GPUs, of which 3 are there",
    );
    check(
        "<gpu id=\"2\"",
        "<gpu id=\"1\"",
        "line 14, column 3: GPU 1 is there twice",
    );
    check(
        "\"rrcs\"",
        "\"rrc\"",
        "line 5, column 7: rank 2 has no send for this receive",
    );
    check(
        "\"rcs\"",
        "\"r\"",
        "line 11, column 7: rank 0 has no send for this receive",
    );
    check(
        "type=\"s\" srcbuf=\"i\" srcoff=\"0\"",
        "type=\"s\" srcbuf=\"i\" srcoff=\"7\"",
        "line 4, column 7: chunk 7 is beyond a buffer of 1",
    );
}

#[test]
fn impossible_steps_have_a_place_and_a_reason() {
    check(
        "depid=\"-1\" deps=\"-1\"",
        "depid=\"0\" deps=\"1\"",
        "line 4, column 7: deadlock: this step waits for one that waits for it",
    );
    check(
        "depid=\"-1\" deps=\"-1\"",
        "depid=\"3\" deps=\"1\"",
        "line 4, column 7: it waits for step 1 of thread block 3, which does not exist",
    );
    check(
        "recv=\"2\"",
        "recv=\"5\"",
        "line 3, column 5: peer 5 does not exist",
    );
    check(
        "recv=\"2\"",
        "recv=\"-1\"",
        "line 5, column 7: its thread block receives from nobody",
    );
    check(
        "step s=\"1\"",
        "step s=\"2\"",
        "line 5, column 7: expected step 1, found 2",
    );
    let error = read_msccl("<algo>", Bytes::new(8)).unwrap_err();
    assert_eq!((error.line, error.column), (1, 1), "{error}");
    for end in (0..RING.len()).filter(|end| RING.is_char_boundary(*end)) {
        let read = read_msccl(&RING[..end], Bytes::new(3000));
        assert!(read.is_err() || RING[end..].trim().is_empty());
    }
}
