//! Reduction and multicast in the switches (FACTS B.6, B.7).

use tier6_collective::{Algorithm, Collective, Grain};
use tier6_g5::{G5Parameters, Lowered};
use tier6_system::{Topology, preset};

use super::harness::{options, schedule, simulate};

fn h100() -> Topology {
    preset("h100-x8").unwrap().resolve().unwrap()
}

fn b_nvls(topology: &Topology) -> f64 {
    let nvls = topology.constants().nvls.as_ref().unwrap();
    nvls.rate.value.get()
}

/// Rate of a collective in GB/s of M.
fn rate(topology: &Topology, collective: Collective, n: u32, slice: u64) -> f64 {
    let bytes = 1 << 30;
    let mut options = options(n, bytes);
    options.grain = Grain::Slices { bytes: slice };
    let nvls = schedule(collective, Algorithm::Nvls, &options);
    let result = simulate(&Lowered::new(&nvls), topology, &G5Parameters::ideal());
    bytes as f64 / result.total.to_micros().get() * 1e-3
}

/// T = M(1 + 1/N)/B: what the switch reads of a rank while others store overlaps slice by slice.
#[test]
fn nvls_all_reduce_moves_one_and_an_nth() {
    let topology = h100();
    for n in [4_u32, 6, 8] {
        let law = b_nvls(&topology) / (1.0 + 1.0 / f64::from(n));
        let found = rate(&topology, Collective::AllReduce, n, 1 << 20);
        assert!((found / law - 1.0).abs() < 0.03, "N = {n}: {found}, {law}");
        assert!(found < law, "N = {n}: faster than the links");
    }
}

#[test]
fn nvls_halves_move_all_of_it() {
    let topology = h100();
    for collective in [Collective::AllGather, Collective::ReduceScatter] {
        let found = rate(&topology, collective, 8, 1 << 20);
        let law = b_nvls(&topology);
        assert!((found / law - 1.0).abs() < 0.01, "{found}, {law}");
    }
}

/// SHARP, the chain of each node feeding one NIC: M/B of that NIC, whatever the number of nodes.
#[test]
fn aggregation_takes_one_pass_over_the_nics() {
    let time = |nodes: u32| {
        let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(nodes);
        let topology = spec.resolve().unwrap();
        let mut options = options(8 * nodes, 1 << 30);
        options.ranks_per_node = Some(8);
        options.pieces = 256;
        let chain = schedule(Collective::AllReduce, Algorithm::CollNetChain, &options);
        let result = simulate(&Lowered::new(&chain), &topology, &G5Parameters::ideal());
        let sharp = topology.constants().sharp.as_ref().unwrap();
        let share = sharp
            .efficiency
            .as_ref()
            .map_or(1.0, |share| share.value.get());
        let nic = topology
            .network_payload_rate(tier6_system::ChipId::new(0))
            .unwrap();
        let law = f64::from(1 << 30) / (nic.get() * share) * 1e-3;
        (result.total.to_micros().get(), law)
    };
    let (two, law) = time(2);
    // The pieces share the NIC fairly, so the chains back down end a little later.
    assert!(two > law && two < law * 1.06, "{two} us, {law}");
    let (four, _) = time(4);
    assert!((four / two - 1.0).abs() < 0.01, "{four} us, {two}");
}
