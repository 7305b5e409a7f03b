//! What each layer of the chips adds to a collective, to the picosecond.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, Handshake};
use tier6_units::{ByteTime, Bytes, SimTime};

use super::{LATENCY, chips, ideal, ring, schedule, simulate, star};
use crate::{
    Cdma, CdmaSplit, ExchangeOrder, ExchangeProgram, Fabric, Fault, FlowNetwork, G5Parameters, Job,
    Lowered, Memory, Parts, RingPace, RingProgram, RunOptions, RunResult, run,
};

const N: u32 = 5;
const STEPS: u64 = 2 * (N as u64 - 1);
/// Bytes of a chunk, and what they take at 20 ps each.
const CHUNK: u64 = 100_000;
const C: u64 = 20 * CHUNK;

const fn ps(ps: u64) -> SimTime {
    SimTime::from_ps(ps)
}

fn all_reduce(grain: Grain, pace: RingPace) -> RingProgram {
    let bytes = Bytes::new(u64::from(N) * CHUNK);
    RingProgram::new(Collective::AllReduce, N, bytes, grain, pace).unwrap()
}

fn with(change: impl FnOnce(&mut G5Parameters)) -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    change(&mut parameters);
    parameters
}

fn on_ring(program: &RingProgram, parameters: &G5Parameters, faults: &[Fault]) -> RunResult {
    let options = RunOptions {
        faults: faults.to_vec(),
        ..RunOptions::new()
    };
    let result = simulate(program, &ring(N), parameters, &options).unwrap();
    assert_eq!(result.parts.total(), result.total);
    result
}

/// FACTS A.4: a credit flight before the data, a response flight and a done flight after.
#[test]
fn a_handshake_adds_three_flights_to_each_step() {
    let program = all_reduce(Grain::Message, RingPace::OwnSend);
    let result = on_ring(&program, &G5Parameters::ideal(), &[]);
    assert_eq!(result.total.ps(), STEPS * (C + 4 * LATENCY));
    let expected = Parts {
        latency: ps(STEPS * 4 * LATENCY),
        transfer: ps(STEPS * C),
        ..Parts::default()
    };
    assert_eq!(result.parts, expected);
    let chip = result.chips[2];
    assert_eq!(chip.sending, ps(STEPS * C));
    assert!(chip.waiting_for_credit >= ps(STEPS * LATENCY));
}

#[test]
fn start_and_completion_are_latency_of_each_step() {
    let parameters = with(|parameters| {
        parameters.software = ps(26_000_000);
        parameters.cdma.start = ps(250_000);
        parameters.cdma.sync = ps(300_000);
    });
    let program = all_reduce(Grain::Message, RingPace::Arrival);
    let result = on_ring(&program, &parameters, &[]);
    let step = 250_000 + C + LATENCY + 300_000;
    assert_eq!(result.hardware.ps(), STEPS * step);
    assert_eq!(result.total.ps(), 26_000_000 + STEPS * step);
    assert_eq!(result.parts.software, parameters.software);
    assert_eq!(result.parts.transfer.ps(), STEPS * C);
    assert_eq!(result.parts.stall, SimTime::ZERO);
}

/// FACTS B.2 with overheads: they hide behind the slices before, when there are threads to start
/// the next slice meanwhile; with one thread each slice pays its own start at the port.
#[test]
fn starts_overlap_when_there_are_threads() {
    let slice = CHUNK / 10;
    let (start, sync) = (100_000, 70_000);
    let program = all_reduce(Grain::Slices { bytes: slice }, RingPace::Arrival);
    for (threads, chunk) in [(u32::MAX, C), (8, C), (2, C), (1, C + 10 * start)] {
        let parameters = with(|parameters| {
            parameters.cdma.start = ps(start);
            parameters.cdma.sync = ps(sync);
            parameters.cdma.threads = threads;
        });
        let result = on_ring(&program, &parameters, &[]);
        let hop = start + 20 * slice + LATENCY + sync;
        assert!(chunk > hop, "the chunk hides the hop");
        let first_start = if threads == 1 { 0 } else { start };
        let law = first_start + STEPS * chunk + LATENCY + sync;
        assert_eq!(result.total.ps(), law, "{threads} threads");
        assert_eq!(result.parts.transfer.ps(), STEPS * C);
        assert_eq!(result.parts.stall, SimTime::ZERO);
    }
}

#[test]
fn a_reduction_is_added_to_the_steps_that_reduce() {
    let parameters = with(|parameters| {
        parameters.memory = Memory {
            reduce: ByteTime::ZERO,
            copy: ByteTime::ZERO,
        };
        parameters.memory.reduce = ByteTime::at(tier6_units::GbPerSec::new(200.0));
    });
    let program = all_reduce(Grain::Message, RingPace::Arrival);
    let result = on_ring(&program, &parameters, &[]);
    let reduce = u64::from(N - 1) * 5 * CHUNK;
    assert_eq!(result.total.ps(), STEPS * (C + LATENCY) + reduce);
    assert_eq!(result.parts.reduce.ps(), reduce);
    assert_eq!(result.chips[1].reducing.ps(), reduce);
    // Slice by slice it hides behind the transfer, all but that of the last slice.
    let program = all_reduce(Grain::Slices { bytes: CHUNK / 4 }, RingPace::Arrival);
    let result = on_ring(&program, &parameters, &[]);
    assert_eq!(result.total.ps(), STEPS * C + LATENCY);
}

#[test]
fn a_late_rank_delays_everybody_by_as_much() {
    let late = Fault::LateRank {
        rank: 3,
        by: ps(7_000_000),
    };
    let program = all_reduce(Grain::Message, RingPace::Arrival);
    let result = on_ring(&program, &G5Parameters::ideal(), &[late]);
    assert_eq!(result.total.ps(), 7_000_000 + STEPS * (C + LATENCY));
    assert_eq!(result.parts.stall.ps(), 7_000_000);
    assert_eq!(result.critical_path[0].from, 3);
    assert_eq!(result.critical_path.len() as u64, STEPS);
    assert_eq!(result.critical_path[0].ready.ps(), 7_000_000);
}

#[test]
fn accounts_tell_what_chips_did() {
    let program = all_reduce(Grain::Message, RingPace::Arrival);
    let result = on_ring(&program, &G5Parameters::ideal(), &[]);
    for chip in &result.chips {
        assert_eq!(chip.sending.ps(), STEPS * C);
        assert_eq!(chip.waiting_for_peer.ps(), STEPS * LATENCY);
        assert_eq!(chip.waiting_for_credit, SimTime::ZERO);
        assert_eq!(chip.done, result.total);
    }
    assert_eq!(result.messages, STEPS * u64::from(N));
    let share = C as f64 / (C + LATENCY) as f64;
    assert!((result.bottleneck.busy_share - share).abs() < 1e-9);
    let sentence = &result.bottleneck.sentence;
    assert!(sentence.starts_with("link chip 0 to chip 1"), "{sentence}");
    assert!(sentence.contains("4 others"), "{sentence}");
    assert!(sentence.contains("transfer of bytes"), "{sentence}");
}

#[test]
fn a_copy_takes_the_memory_of_its_chip_only() {
    let parameters = with(|parameters| {
        parameters.memory.copy = ByteTime::at(tier6_units::GbPerSec::new(1.0));
    });
    let bytes = Bytes::new(u64::from(N) * CHUNK);
    let exchange =
        ExchangeProgram::new(N, bytes, Grain::Message, ExchangeOrder::ByDistance).unwrap();
    let result = simulate(&exchange, &star(N), &parameters, &RunOptions::new()).unwrap();
    // A nanosecond per byte is longer than the exchange with the others.
    assert_eq!(result.total.ps(), 1000 * CHUNK);
    assert_eq!(result.parts.reduce, result.total);
}

/// One engine with one thread sends one message after another, so nobody shares a link.
#[test]
fn threads_bound_the_messages_in_flight() {
    let parameters = with(|parameters| parameters.cdma.threads = 1);
    let bytes = Bytes::new(u64::from(N) * CHUNK);
    let exchange =
        ExchangeProgram::new(N, bytes, Grain::Message, ExchangeOrder::AllAtOnce).unwrap();
    let result = simulate(&exchange, &star(N), &parameters, &RunOptions::new()).unwrap();
    let sends = u64::from(N - 1);
    assert_eq!(result.total.ps(), sends * C + 2 * LATENCY);
    assert_eq!(result.chips[0].sending.ps(), sends * C);
}

/// A chip that may post one receive takes one message after another, each with its handshake.
#[test]
fn credits_bound_the_receives() {
    let options = BuildOptions::new(N, Bytes::new(u64::from(N) * CHUNK));
    let direct = schedule(Collective::AllToAll, Algorithm::Direct, &options);
    let program = Lowered::new(&direct).with_handshake(Handshake::Rendezvous);
    let total = |credits| {
        let parameters = with(|parameters| parameters.cdma.credits = credits);
        let result = simulate(&program, &star(N), &parameters, &RunOptions::new());
        result.unwrap().total.ps()
    };
    let messages = u64::from(N - 1);
    assert_eq!(total(1), messages * (C + 4 * 2 * LATENCY));
    assert_eq!(total(u32::MAX), messages * C + 4 * 2 * LATENCY);
}

/// FACTS A.3: from one piece to as many as there are engines the time stays on a plateau.
#[test]
fn the_split_makes_a_plateau() {
    let at = |bytes: u64, split| {
        let parameters = with(|parameters| {
            parameters.cdma = Cdma {
                units: 8,
                split,
                rate: Some(ByteTime::at(super::RATE)),
                ..parameters.cdma
            };
        });
        let options = BuildOptions::new(2, Bytes::new(2 * bytes));
        let gather = schedule(Collective::AllGather, Algorithm::Ring, &options);
        let result = simulate(
            &Lowered::new(&gather),
            &star(2),
            &parameters,
            &RunOptions::new(),
        );
        result.unwrap().total.ps() - 2 * LATENCY
    };
    let piece = 65_536;
    assert_eq!(at(piece, CdmaSplit::Per(piece)), 8 * 20 * piece);
    assert_eq!(at(4 * piece, CdmaSplit::Per(piece)), 8 * 20 * piece);
    assert_eq!(at(8 * piece, CdmaSplit::Per(piece)), 8 * 20 * piece);
    assert_eq!(at(16 * piece, CdmaSplit::Per(piece)), 16 * 20 * piece);
    assert_eq!(at(piece, CdmaSplit::All), 20 * piece);
}

/// Channels of one call, or calls of two jobs, on one fabric.
#[test]
fn jobs_share_what_they_share() {
    let program = all_reduce(Grain::Message, RingPace::Arrival);
    let there = chips(N);
    let back: Vec<_> = there.iter().rev().copied().collect();
    let together = |second: &[tier6_system::ChipId], start: u64| {
        let topology = ring(N);
        let parameters = G5Parameters::ideal();
        let mut fabric = Fabric::new(&topology, &parameters, &[], 0).unwrap();
        let job = |chips, start| Job {
            program: &program,
            chips,
            start: ps(start),
            flow: 0,
        };
        let jobs = [job(&there, 0), job(second, start)];
        let mut network = FlowNetwork::new();
        let options = RunOptions::new();
        run(&jobs, &mut fabric, &mut network, &parameters, &options).unwrap()
    };
    let alone = STEPS * (C + LATENCY);
    let same = together(&there, 0);
    assert_eq!(same.total.ps(), STEPS * (2 * C + LATENCY));
    assert_eq!(same.parts.stall.ps(), STEPS * C);
    assert_eq!(same.jobs, [(ps(0), same.total), (ps(0), same.total)]);
    assert_eq!(together(&back, 0).total.ps(), alone);
    let after = together(&there, alone);
    assert_eq!(after.total.ps(), 2 * alone);
    assert_eq!(after.jobs[0], (ps(0), ps(alone)));
    assert_eq!(after.parts.total(), after.total);
}

#[test]
fn nothing_to_do_takes_no_time() {
    let one = RingProgram::new(
        Collective::AllReduce,
        1,
        Bytes::new(1 << 20),
        Grain::Message,
        RingPace::Arrival,
    );
    let result = simulate(
        &one.unwrap(),
        &ring(3),
        &G5Parameters::ideal(),
        &RunOptions::new(),
    );
    assert_eq!(result.unwrap().total, SimTime::ZERO);
    let empty = BuildOptions::new(N, Bytes::new(0));
    let result = ideal(
        &schedule(Collective::AllReduce, Algorithm::Ring, &empty),
        &ring(N),
    );
    assert_eq!(result.total.ps(), STEPS * LATENCY);
}
