//! Whole collectives over the fluid network, against closed forms.

mod calls;
mod layers;
mod properties;
mod stops;

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, Handshake, Schedule, build};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use super::{Job, RunError, RunOptions, run};
use crate::{Fabric, FlowNetwork, G5Parameters, Lowered, Program, RunResult};

/// 20 ps per byte.
const RATE: GbPerSec = GbPerSec::new(50.0);
/// 0.5 us per link.
const LATENCY: u64 = 500_000;

fn topology(n_chips: u32, fabric: FabricSpec) -> Topology {
    let spec = SystemSpec::uniform(n_chips, fabric, RATE, Micros::new(0.5));
    spec.resolve().unwrap()
}

fn ring(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::ring())
}

fn star(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::star())
}

fn fat_tree(n_chips: u32, down: u32) -> Topology {
    topology(n_chips, FabricSpec::fat_tree(down, down))
}

fn chips(n_chips: u32) -> Vec<ChipId> {
    (0..n_chips).map(ChipId::new).collect()
}

fn schedule(collective: Collective, algorithm: Algorithm, options: &BuildOptions) -> Schedule {
    build(collective, algorithm, options).unwrap()
}

fn simulate(
    program: &dyn Program,
    topology: &Topology,
    parameters: &G5Parameters,
    options: &RunOptions,
) -> Result<RunResult, RunError> {
    let mut fabric = Fabric::new(topology, parameters, &options.faults, 0).unwrap();
    let chips = chips(program.ranks());
    let job = Job {
        program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    run(
        &[job],
        &mut fabric,
        &mut FlowNetwork::new(),
        parameters,
        options,
    )
}

fn ideal(schedule: &Schedule, topology: &Topology) -> RunResult {
    let program = Lowered::new(schedule);
    let options = RunOptions::new();
    simulate(&program, topology, &G5Parameters::ideal(), &options).unwrap()
}

/// FACTS B.2: 2(N-1) max(C, h) + tail, to the picosecond; one slice is the sum of the textbooks.
#[test]
fn a_ring_follows_its_law_for_every_number_of_ranks_and_slices() {
    for n in [2_u32, 3, 5, 8, 16, 31, 64] {
        let topology = ring(n);
        for slices in [1_u64, 3, 8] {
            for slice in [64_u64, 500, 3000, 100_000] {
                let mut options = BuildOptions::new(n, Bytes::new(u64::from(n) * slices * slice));
                options.grain = Grain::Slices { bytes: slice };
                let all_reduce = schedule(Collective::AllReduce, Algorithm::Ring, &options);
                let result = ideal(&all_reduce, &topology);
                let chunk = 20 * slices * slice;
                let hop = LATENCY + 20 * slice;
                let tail = if chunk >= hop {
                    LATENCY
                } else {
                    chunk - 20 * slice
                };
                let steps = 2 * (u64::from(n) - 1);
                let law = steps * chunk.max(hop) + if slices == 1 { 0 } else { tail };
                assert_eq!(
                    result.total.ps(),
                    law,
                    "{n} ranks, {slices} slices of {slice} bytes"
                );
                assert_eq!(result.parts.total(), result.total);
                assert_eq!(result.parts.stall, SimTime::ZERO);
            }
        }
    }
}

/// The ideal column of published comparisons: 50 GB/s, 0.5 us per link, 16 MiB.
#[test]
fn messages_take_the_times_that_peers_agree_on() {
    let us = |result: &RunResult| result.total.to_micros().get();
    let at = |n: u32, mib: u64| BuildOptions::new(n, Bytes::new(mib << 20));
    let all_reduce = schedule(Collective::AllReduce, Algorithm::Ring, &at(64, 16));
    assert!((us(&ideal(&all_reduce, &ring(64))) - 723.60).abs() < 0.005);
    assert!((us(&ideal(&all_reduce, &star(64))) - 786.60).abs() < 0.005);
    // Ranks that finish their own send first: every step is as slow as its slowest pair.
    let paced = schedule(Collective::AllReduce, Algorithm::SendRecvRing, &at(64, 16));
    let paced = Lowered::new(&paced).with_handshake(Handshake::Eager);
    let options = RunOptions::new();
    let result = simulate(&paced, &fat_tree(64, 8), &G5Parameters::ideal(), &options);
    assert!((us(&result.unwrap()) - 912.60).abs() < 0.005);
    let pairwise = schedule(Collective::AllToAll, Algorithm::Pairwise, &at(64, 16));
    assert!((us(&ideal(&pairwise, &star(64))) - 393.30).abs() < 0.005);
    let direct = schedule(Collective::AllToAll, Algorithm::Direct, &at(64, 16));
    assert!((us(&ideal(&direct, &star(64))) - 331.30).abs() < 0.005);
}
