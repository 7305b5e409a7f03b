//! Faults that were found and mended; each test failed before.

use tier6_collective::{Algorithm, Collective, Grain};
use tier6_math::{Parameters, Plan};
use tier6_system::{FabricSpec, SystemSpec, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

fn uniform(chips: u32, fabric: FabricSpec) -> Topology {
    let (rate, latency) = (GbPerSec::new(50.0), Micros::new(0.7));
    let spec = SystemSpec::uniform(chips, fabric, rate, latency);
    spec.resolve().unwrap()
}

#[test]
fn a_byte_more_in_one_more_piece_is_not_faster() {
    // All pieces were made smaller at once when their number grew.
    let topology = uniform(3, FabricSpec::ring());
    let parameters = Parameters {
        grain: Grain::Slices { bytes: 1000 },
        ..Parameters::of(&topology)
    };
    let plan = Plan::new(
        &topology,
        Collective::Broadcast,
        Algorithm::Ring,
        3,
        &parameters,
    );
    let plan = plan.unwrap();
    let time = |bytes| plan.time(Bytes::new(bytes)).get();
    for bytes in 1..10_000 {
        assert!(time(bytes + 1) >= time(bytes), "{bytes}");
    }
}

#[test]
fn receiving_from_all_at_once_needs_no_more_than_a_step() {
    // The bound counted the messages that a rank sends, not those that it receives.
    let topology = uniform(3, FabricSpec::FullMesh);
    let parameters = Parameters::of(&topology);
    let plan = Plan::new(
        &topology,
        Collective::Reduce,
        Algorithm::Direct,
        3,
        &parameters,
    );
    let plan = plan.unwrap();
    let none = Bytes::new(0);
    assert!(plan.bound(none).latency.get() <= plan.parts(none).latency.get());
}

#[test]
fn a_ring_in_place_of_nvls_has_a_rings_loads() {
    // The floor was that of NVLS, 1.5 M instead of M for two ranks.
    let h100 = preset("h100-x8").unwrap().resolve().unwrap();
    let parameters = Parameters::of(&h100);
    let plan = |algorithm| {
        let collective = Collective::AllReduce;
        Plan::new(&h100, collective, algorithm, 2, &parameters).unwrap()
    };
    let (nvls, ring) = (plan(Algorithm::Nvls), plan(Algorithm::Ring));
    assert_eq!(nvls.loads(), ring.loads());
    let large = Bytes::new(1 << 30);
    assert!(nvls.floor(large).get() <= nvls.time(large).get());
}
