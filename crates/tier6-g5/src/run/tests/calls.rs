//! A call with others beside it: the run is about the first.

use std::collections::BTreeSet;

use tier6_collective::{Collective, Grain};
use tier6_units::{Bytes, SimTime};

use super::{LATENCY, chips, ring};
use crate::{
    Call, Fabric, Fault, FlowNetwork, G5Parameters, Job, Recording, RingPace, RingProgram,
    RunError, RunOptions, RunResult, Span, StopReason, Track, run,
};

const N: u32 = 5;
const STEPS: u64 = 2 * (N as u64 - 1);
/// Bytes of a chunk, and what they take at 20 ps each.
const CHUNK: u64 = 100_000;
const C: u64 = 20 * CHUNK;
const ALONE: u64 = STEPS * (C + LATENCY);

fn call(name: &str) -> Call {
    Call {
        name: name.to_owned(),
        jobs: 1,
    }
}

/// Runs a ring, and beside it the same ring from `start` on.
fn run_two(start: u64, options: &RunOptions) -> Result<RunResult, RunError> {
    let bytes = Bytes::new(u64::from(N) * CHUNK);
    let pace = RingPace::Arrival;
    let program = RingProgram::new(Collective::AllReduce, N, bytes, Grain::Message, pace).unwrap();
    let (topology, parameters, chips) = (ring(N), G5Parameters::ideal(), chips(N));
    let mut fabric = Fabric::new(&topology, &parameters, &options.faults, 0).unwrap();
    let job = |start| Job {
        program: &program,
        chips: &chips,
        start: SimTime::from_ps(start),
        flow: 0,
    };
    let jobs = [job(0), job(start)];
    let network = &mut FlowNetwork::new();
    run(&jobs, &mut fabric, network, &parameters, options)
}

fn options() -> RunOptions {
    RunOptions {
        calls: vec![call("the call"), call("beside")],
        timeline: Recording::On,
        ..RunOptions::new()
    }
}

fn of_other(result: &RunResult) -> SimTime {
    let (start, end) = result.jobs[1];
    end - start
}

#[test]
fn a_call_beside_costs_what_they_share_and_no_more() {
    // The other begins when the call is half done; from then on they share all links.
    let half = STEPS / 2;
    let result = run_two(half * (C + LATENCY), &options()).unwrap();
    assert_eq!(result.total.ps(), ALONE + half * C);
    assert_eq!(result.parts.stall.ps(), half * C);
    assert_eq!(result.parts.total(), result.total);
    assert_eq!(of_other(&result).ps(), ALONE + half * C);
    assert_eq!(result.whole, result.jobs[1].1);
    let busy = (2 * STEPS * C) as f64 / result.whole.ps() as f64;
    assert!((result.bottleneck.busy_share - busy).abs() < 1e-9);
    let spans = &result.timeline.unwrap().spans;
    let engines = spans.iter().map(|span| span.track);
    let engines = engines.filter(|track| matches!(track, Track::Engine { .. }));
    let ranks: BTreeSet<Track> = engines.collect();
    assert_eq!(ranks.len(), 2 * N as usize, "ranks of two calls are apart");
}

#[test]
fn only_the_call_has_late_ranks() {
    let sound = run_two(0, &options()).unwrap();
    let late = Fault::LateRank {
        rank: 0,
        by: SimTime::from_ps(2 * ALONE),
    };
    let late = RunOptions {
        faults: vec![late],
        ..options()
    };
    let late = run_two(0, &late).unwrap();
    assert!(late.total.ps() >= 3 * ALONE - LATENCY);
    assert!(of_other(&late) < of_other(&sound));
}

#[test]
fn a_stop_says_whose_ranks_wait_and_keeps_what_was() {
    let mut options = options();
    options.limits.events = 40;
    let Err(RunError::Stop(stop)) = run_two(0, &options) else {
        panic!("the limit stops it");
    };
    assert_eq!(stop.reason, StopReason::Events(40));
    let of = |name: &str| stop.waits.iter().any(|wait| wait.who.starts_with(name));
    assert!(
        of("the call rank ") && of("beside rank "),
        "{:?}",
        stop.waits
    );
    assert!(
        stop.so_far
            .links
            .iter()
            .any(|(_, link)| link.wire_bytes > 0)
    );
    assert_eq!(stop.so_far.chips.len(), 2 * N as usize);
    let spans = stop.so_far.timeline.unwrap().spans;
    let is_open = |span: &&Span| span.name.starts_with("unfinished: send ");
    let open: Vec<_> = spans.iter().filter(is_open).collect();
    assert!(!open.is_empty() && open.len() < spans.len());
    assert!(open.iter().all(|span| span.end == stop.at));
}
