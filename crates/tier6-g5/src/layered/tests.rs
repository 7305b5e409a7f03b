//! Whole runs against closed forms, layer by layer.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use super::LayeredNetwork;
use crate::{Fabric, G5Parameters, Job, Lowered, RunError, RunOptions, RunResult, run};

fn topology(n_chips: u32, fabric: FabricSpec) -> Topology {
    SystemSpec::uniform(n_chips, fabric, GbPerSec::new(50.0), Micros::new(0.5))
        .resolve()
        .unwrap()
}

fn simulate(
    topology: &Topology,
    algorithm: Algorithm,
    collective: Collective,
    options: &BuildOptions,
    parameters: &G5Parameters,
) -> Result<RunResult, RunError> {
    let schedule = build(collective, algorithm, options).unwrap();
    let program = Lowered::new(&schedule);
    let chips: Vec<_> = (0..options.ranks).map(ChipId::new).collect();
    let mut fabric = Fabric::new(topology, parameters, &[], 0).unwrap();
    let mut network = LayeredNetwork::new(parameters, 0);
    let job = Job {
        program: &program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    run(
        &[job],
        &mut fabric,
        &mut network,
        parameters,
        &RunOptions::new(),
    )
}

#[test]
fn a_ring_keeps_its_law_with_every_layer_off() {
    for n in [2_u32, 3, 8] {
        let ring = topology(n, FabricSpec::Ring { orders: Vec::new() });
        for (slices, slice) in [(1_u64, 500_u64), (3, 3_000), (8, 100_000)] {
            let mut options = BuildOptions::new(n, Bytes::new(u64::from(n) * slices * slice));
            options.grain = Grain::Slices { bytes: slice };
            let result = simulate(
                &ring,
                Algorithm::Ring,
                Collective::AllReduce,
                &options,
                &G5Parameters::ideal(),
            )
            .unwrap();
            let (chunk, hop) = (20 * slices * slice, 500_000 + 20 * slice);
            let tail = if chunk >= hop {
                500_000
            } else {
                chunk - 20 * slice
            };
            let law = 2 * u64::from(n - 1) * chunk.max(hop) + tail;
            assert_eq!(
                result.hardware.ps(),
                law,
                "{n} ranks, {slices} slices of {slice}"
            );
        }
    }
}
