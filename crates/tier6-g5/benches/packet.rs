//! Speed and memory of runs at `packet` fidelity, against the bare event queue in the same run.
//!
//! Words on the command line choose the cases whose names contain one of them.

#[path = "reference/hold.rs"]
mod reference;

use std::time::Duration;

use tier6_collective::{Collective, Grain};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, Fabric, G5Parameters, Job, PacketNetwork, Paxi, Program,
    RcLink, Recording, RingPace, RingProgram, RunOptions, RunResult, SwitchQueue, run,
};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use reference::{hold, timed};

const TURNS: u32 = 3;

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let (ring_8, ring_1024, star_64) = (ring(8), ring(1024), star(64));
    let cases: [(&str, &dyn Fn() -> u64); 8] = [
        ("hold model, 6.3 M events", &|| {
            std::hint::black_box(hold(1024, 6_300_000));
            6_300_000
        }),
        ("ring of 8, 1 GiB", &|| all_reduce(&ring_8, 1 << 30)),
        ("star of 64, ring, 1 GiB", &|| all_reduce(&star_64, 1 << 30)),
        ("ring of 4,096, 64 MiB", &|| {
            all_reduce(&ring(4096), 64 << 20)
        }),
        ("ring of 1,024, 64 MiB", &|| {
            all_reduce(&ring_1024, 64 << 20)
        }),
        ("all to all, star of 64, 16 MiB", &|| {
            all_to_all(&star_64, 16 << 20, &framed())
        }),
        ("same, through shared buffers", &|| {
            all_to_all(&star_64, 16 << 20, &buffered())
        }),
        ("same, frame by frame", &|| {
            all_to_all(&star_64, 16 << 20, &lossy())
        }),
    ];
    // A minute each: only when asked for.
    let is_long = |name: &str| name.contains("4,096");
    let is_wanted = |name: &str| match words.as_slice() {
        [] => !is_long(name),
        words => words.iter().any(|word| name.contains(word)),
    };
    let mut least = [(Duration::MAX, 0); 8];
    for turn in 0..TURNS {
        for ((name, work), least) in cases.iter().zip(&mut least) {
            if is_wanted(name) && (turn == 0 || !is_long(name)) {
                *least = (*least).min(timed(work));
            }
        }
    }
    for ((name, _), (time, count)) in cases.iter().zip(least) {
        if time < Duration::MAX {
            let seconds = time.as_secs_f64();
            let rate = count as f64 / seconds * 1e-6;
            println!("{name:32} {:9.1} ms, {rate:10.1} M/s", seconds * 1e3);
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap_or("VmHWM: unknown"));
}

fn uniform(n_chips: u32, fabric: FabricSpec) -> Topology {
    let (rate, latency) = (GbPerSec::new(50.0), Micros::new(0.5));
    let spec = SystemSpec::uniform(n_chips, fabric, rate, latency);
    spec.resolve().expect("a uniform system is one")
}

fn ring(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::ring())
}

fn star(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::star())
}

/// Segments of 1,344 B in frames of 1,402 B, nothing else.
fn framed() -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    // Requests without bound: nothing closes the loop of these.
    parameters.paxi = Some(Paxi {
        outstanding: u32::MAX,
        ..Paxi::defaults(1)
    });
    parameters.rc_link = Some(RcLink {
        credits: None,
        ..RcLink::defaults()
    });
    parameters
}

fn all_reduce(topology: &Topology, bytes: u64) -> u64 {
    let program = RingProgram::new(
        Collective::AllReduce,
        topology.n_chips(),
        Bytes::new(bytes),
        Grain::Message,
        RingPace::Arrival,
    );
    let program = program.expect("a ring of two or more");
    simulate(&program, topology, &framed()).packet_hops
}

/// With switches that pause before they drop.
fn buffered() -> G5Parameters {
    let mut parameters = framed();
    parameters.paxi = Some(Paxi::defaults(1));
    parameters.queue = SwitchQueue::lossless();
    parameters
}

/// With queue pairs that lose a frame in a million.
fn lossy() -> G5Parameters {
    let mut parameters = framed();
    if let Some(link) = &mut parameters.rc_link {
        link.loss = 1e-6;
    }
    parameters
}

fn all_to_all(topology: &Topology, bytes: u64, parameters: &G5Parameters) -> u64 {
    let program = ExchangeProgram::new(
        topology.n_chips(),
        Bytes::new(bytes),
        Grain::Message,
        ExchangeOrder::AllAtOnce,
    );
    let program = program.expect("two ranks or more");
    simulate(&program, topology, parameters).packet_hops
}

fn simulate(program: &dyn Program, topology: &Topology, parameters: &G5Parameters) -> RunResult {
    let chips: Vec<ChipId> = (0..program.ranks()).map(ChipId::new).collect();
    let mut fabric = Fabric::new(topology, parameters, &[], 0).expect("no faults");
    let job = Job {
        program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let mut options = RunOptions::new();
    options.critical_path = Recording::Off;
    let network = &mut PacketNetwork::new(parameters);
    run(&[job], &mut fabric, network, parameters, &options).expect("it ends")
}
