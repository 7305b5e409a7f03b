//! With every layer off a ring keeps its law (FACTS B.2), to the picosecond.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build};
use tier6_g5::{Fabric, G5Parameters, Job, Lowered, RunOptions, run};
use tier6_system::{ChipId, FabricSpec};
use tier6_units::{Bytes, SimTime};

use crate::fidelity::network;
use crate::traffic::system;

/// 2(N−1)·max(C, h) + tail, at 20 ps per byte and 0.5 us per link.
#[test]
fn a_ring_keeps_its_law_with_every_layer_off() {
    let parameters = G5Parameters::ideal();
    for n in [2_u32, 3, 8] {
        let ring = system(n, FabricSpec::ring(), 50.0, 0.5);
        for (slices, slice) in [(1_u64, 500_u64), (3, 3_000), (8, 10_000)] {
            let mut options = BuildOptions::new(n, Bytes::new(u64::from(n) * slices * slice));
            options.grain = Grain::Slices { bytes: slice };
            let schedule = build(Collective::AllReduce, Algorithm::Ring, &options).unwrap();
            let program = Lowered::new(&schedule);
            let chips: Vec<_> = (0..n).map(ChipId::new).collect();
            let job = Job {
                program: &program,
                chips: &chips,
                start: SimTime::ZERO,
                flow: 0,
            };
            let mut fabric = Fabric::new(&ring, &parameters, &[], 0).unwrap();
            let mut network = network(&parameters, 0);
            let options = RunOptions::new();
            let result = run(&[job], &mut fabric, &mut network, &parameters, &options).unwrap();

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
