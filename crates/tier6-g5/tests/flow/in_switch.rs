//! Reduction and multicast in the switches (FACTS B.6, B.7).

use tier6_collective::{Algorithm, Collective, Grain};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, Job, Lowered, RunOptions, run};
use tier6_system::{ChipId, Topology, preset};
use tier6_units::SimTime;

use super::harness::{self, options, schedule, simulate};

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

/// Pairs that a switch adds for, each on links of its own: as many at once as it has contexts, the
/// others after them; ⌈pairs/contexts⌉ · M/B.
#[test]
fn a_switch_adds_for_as_many_groups_as_it_has_contexts() {
    let topology = harness::star_of(8, 0);
    let mut options = options(2, 1 << 20);
    options.ranks_per_node = Some(1);
    let pair = Lowered::new(&schedule(
        Collective::AllReduce,
        Algorithm::CollNetDirect,
        &options,
    ));
    let chips: Vec<ChipId> = (0..8).map(ChipId::new).collect();
    let jobs: Vec<_> = (0..)
        .zip(chips.chunks(2))
        .map(|(flow, chips)| Job {
            program: &pair,
            chips,
            start: SimTime::ZERO,
            flow,
        })
        .collect();
    let total = |contexts| {
        let parameters = G5Parameters {
            contexts,
            ..G5Parameters::ideal()
        };
        let mut fabric = Fabric::new(&topology, &parameters, &[], 0).unwrap();
        let network = &mut FlowNetwork::new();
        let result = run(&jobs, &mut fabric, network, &parameters, &RunOptions::new());
        result.unwrap().total
    };
    let alone = total(None);
    assert_eq!(
        alone,
        simulate(&pair, &topology, &G5Parameters::ideal()).total
    );
    for (contexts, rounds) in [(1, 4), (2, 2), (3, 2), (4, 1), (5, 1)] {
        assert_eq!(
            total(Some(contexts)),
            alone.times(rounds),
            "{contexts} contexts"
        );
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
