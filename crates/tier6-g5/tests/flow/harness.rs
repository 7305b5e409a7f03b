//! Systems of uniform links and runs over them with every layer off.

use tier6_collective::{Algorithm, BuildOptions, Collective, Schedule, build};
use tier6_g5::{
    Fabric, FlowNetwork, G5Parameters, Job, Lowered, Program, RunOptions, RunResult, run,
};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

/// A system whose links all have 50 GB/s and this latency, in nanoseconds.
pub fn uniform(n_chips: u32, fabric: FabricSpec, latency_ns: u32) -> Topology {
    let latency = Micros::new(f64::from(latency_ns) * 1e-3);
    let spec = SystemSpec::uniform(n_chips, fabric, GbPerSec::new(50.0), latency);
    spec.resolve().unwrap()
}

pub fn ring(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::ring(), 500)
}

pub fn full_mesh(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::FullMesh, 500)
}

pub fn star(n_chips: u32) -> Topology {
    star_of(n_chips, 500)
}

pub fn star_of(n_chips: u32, latency_ns: u32) -> Topology {
    uniform(n_chips, FabricSpec::star(), latency_ns)
}

/// Leaves of `down` chips under as many spines: nothing is oversubscribed.
pub fn fat_tree(n_chips: u32, down: u32) -> Topology {
    let tree = FabricSpec::fat_tree(down, down);
    uniform(n_chips, tree, 500)
}

pub fn options(ranks: u32, bytes: u64) -> BuildOptions {
    BuildOptions::new(ranks, Bytes::new(bytes))
}

pub fn schedule(collective: Collective, algorithm: Algorithm, options: &BuildOptions) -> Schedule {
    build(collective, algorithm, options).unwrap()
}

/// Runs a program with rank r on chip r.
pub fn simulate(
    program: &dyn Program,
    topology: &Topology,
    parameters: &G5Parameters,
) -> RunResult {
    let chips: Vec<ChipId> = (0..program.ranks()).map(ChipId::new).collect();
    simulate_on(program, &chips, topology, parameters)
}

pub fn simulate_on(
    program: &dyn Program,
    chips: &[ChipId],
    topology: &Topology,
    parameters: &G5Parameters,
) -> RunResult {
    let mut fabric = Fabric::new(topology, parameters, &[], 0).unwrap();
    let job = Job {
        program,
        chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let network = &mut FlowNetwork::new();
    run(&[job], &mut fabric, network, parameters, &RunOptions::new()).unwrap()
}

/// Runs a schedule with every layer off.
pub fn ideal(schedule: &Schedule, topology: &Topology) -> RunResult {
    simulate(&Lowered::new(schedule), topology, &G5Parameters::ideal())
}

/// Checks a time in microseconds that is published with two digits.
#[track_caller]
pub fn assert_published(result: &RunResult, us: f64) {
    let time = result.total.to_micros().get();
    assert!((time - us).abs() <= 0.0051, "{time} us, published {us}");
}
