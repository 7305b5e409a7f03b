//! Every algorithm on bundled systems, priced by Math and run by G5 at `flow` fidelity, all layers
//! off: what is left between them is what a closed form does not know. Each difference above 5 %
//! has a name here.

use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol, offers};
use tier6_fit::{CallSetup, Launch};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, Recording, RunOptions, run};
use tier6_math::law::Overlap;
use tier6_math::{Parameters, Plan, StepCost};
use tier6_system::{Topology, preset};
use tier6_units::{Bytes, Micros};

const SIZES: [u64; 3] = [64 << 10, 4 << 20, 64 << 20];

/// A system and how many nodes of it.
const SYSTEMS: [(&str, u32); 6] = [
    ("h100-x8", 1),
    ("mi300x-x8", 1),
    ("h100-x8-ib-ndr", 2),
    ("mi300x-x8-roce", 2),
    ("dgx1-ib-edr", 2),
    ("gh200-x4-slingshot", 4),
];

pub(super) fn topology(name: &str, nodes: u32) -> Topology {
    let spec = preset(name).unwrap();
    let spec = if nodes > 1 {
        spec.with_outer_count(nodes)
    } else {
        spec
    };
    spec.resolve().unwrap()
}

/// What is assumed on both sides: no software but that of in-switch calls, free steps, no
/// reductions.
pub(super) fn assumed(topology: &Topology) -> Parameters {
    Parameters {
        software: Micros::new(0.0),
        step: StepCost::FREE,
        reduce_rate: None,
        ..Parameters::of(topology)
    }
}

/// Simulated over predicted time.
pub(super) fn ratio(
    topology: &Topology,
    parameters: &Parameters,
    plan: &Plan,
    path: Path,
    bytes: u64,
) -> f64 {
    let simulated = simulated(topology, parameters, plan, path, bytes);
    simulated / plan.time(Bytes::new(bytes)).get()
}

/// Simulated time, in microseconds.
pub(super) fn simulated(
    topology: &Topology,
    parameters: &Parameters,
    plan: &Plan,
    path: Path,
    bytes: u64,
) -> f64 {
    let setup = CallSetup {
        topology,
        parameters,
        collective: plan.collective(),
        ranks: plan.ranks(),
        grain: Grain::Message,
        handshake: None,
    };
    let engine = G5Parameters {
        paths: G5Parameters::of(topology).paths,
        software: parameters.software.into(),
        ..G5Parameters::ideal()
    };
    let options = RunOptions {
        critical_path: Recording::Off,
        ..RunOptions::new()
    };
    let hardware = |bytes: u64| {
        let launch = Launch::new(&setup, path, Bytes::new(bytes)).unwrap();
        let mut fabric = Fabric::new(topology, &engine, &[], 0).unwrap();
        let network = &mut FlowNetwork::new();
        let result = run(&launch.jobs(), &mut fabric, network, &engine, &options);
        result.unwrap().hardware
    };
    let fixed = setup.fixed_time(&engine, path.algorithm);
    let software = fixed.software(|| Some(hardware(0))).unwrap();
    (software + hardware(bytes)).to_micros().get()
}

pub(super) fn plan(
    topology: &Topology,
    parameters: &Parameters,
    collective: Collective,
    algorithm: Algorithm,
) -> Option<Plan> {
    Plan::new(
        topology,
        collective,
        algorithm,
        topology.n_chips(),
        parameters,
    )
    .ok()
}

/// Under Simple, which every algorithm runs.
pub(super) const fn path(algorithm: Algorithm) -> Path {
    Path {
        algorithm,
        protocol: Protocol::Simple,
    }
}

/// By how much the engines may differ, and why.
fn band(collective: Collective, algorithm: Algorithm, has_nodes: bool) -> (f64, f64) {
    use Algorithm as A;
    match algorithm {
        // The closed form knows the credit, the message and the answer of a step; a receiver also
        // waits for the last word of the sender, a flight more. Over nodes all ranks keep the pace
        // of the slowest pair, of which the closed form takes the mean.
        A::SendRecvRing if collective != Collective::Broadcast => {
            if has_nodes {
                (1.0, 4.8)
            } else {
                (1.0, 1.34)
            }
        }
        // Both trees, and sums and copies, overlap; the closed form adds up the first piece's way
        // through all of them. Where they share few NICs (DGX-1) they meet there.
        A::Tree if collective == Collective::AllReduce => (0.75, 1.12),
        // The first and the last slice use one direction of a link each.
        A::Nvls | A::NvlsTree => (0.95, 1.11),
        A::CollNetDirect => (0.95, 1.2),
        // The closed form leaves out the first piece's way along the chain, which is slow where
        // neighbours of the chain have no link (DGX-1).
        A::CollNetChain => (0.95, 2.05),
        // Closed forms let every step take as long as its slowest pair. Here each rank goes on when
        // its own data is there: pairs inside a node run ahead ..
        A::Ring | A::BidirRing | A::Tree | A::ScatterAllGather if has_nodes => (0.32, 1.05),
        // .. and meet others at a NIC, which a step alone would not have done.
        A::Pairwise | A::Bruck | A::Pat | A::Swing if has_nodes => (0.54, 1.4),
        // The longest route and the busiest link of a step need not be one.
        A::Direct | A::TwoShot if has_nodes => (0.87, 1.05),
        _ => (0.95, 1.05),
    }
}

/// Simulated over predicted times of [`SIZES`] on all chips; `None` where there is no plan.
fn ratios(
    topology: &Topology,
    parameters: &Parameters,
    collective: Collective,
    algorithm: Algorithm,
) -> Option<[f64; 3]> {
    let plan = plan(topology, parameters, collective, algorithm)?;
    Some(SIZES.map(|bytes| ratio(topology, parameters, &plan, path(algorithm), bytes)))
}

/// Calls in channels over the direct links of nodes, over other numbers of nodes.
#[test]
fn channels_over_direct_links_agree_for_any_number_of_nodes() {
    let systems = [
        ("mi300x-x8-roce", 3),
        ("mi300x-x8-roce", 4),
        ("dgx1-ib-edr", 3),
        ("gh200-x4-slingshot", 3),
    ];
    let collective = Collective::AllReduce;
    for (name, nodes) in systems {
        let topology = topology(name, nodes);
        for algorithm in [Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical] {
            let ratios = ratios(&topology, &assumed(&topology), collective, algorithm).unwrap();
            // Over an odd number of nodes a ring changes its rail once. On DGX-1 what does so leaves by
            // the NIC of the rail that it goes to, which then sends twice its part.
            let (least, most) = match algorithm {
                Algorithm::Ring if nodes % 2 == 1 => (0.5, 2.0),
                _ => band(collective, algorithm, true),
            };
            assert!(
                ratios.iter().all(|ratio| (least..=most).contains(ratio)),
                "{nodes} x {name} {algorithm}: simulated over predicted {ratios:.3?}, expected \
                 {least} to {most}"
            );
        }
    }
}

/// Messages come near the limit of many pieces, but each piece has its latency.
#[test]
fn a_hierarchy_in_full_overlap_is_near_its_limit() {
    for (name, nodes) in SYSTEMS.into_iter().filter(|(_, nodes)| *nodes > 1) {
        let topology = topology(name, nodes);
        let full = Parameters {
            overlap: Overlap::Full,
            ..assumed(&topology)
        };
        for collective in [Collective::AllReduce, Collective::AllGather] {
            let ratios = ratios(&topology, &full, collective, Algorithm::Hierarchical).unwrap();
            assert!(
                ratios.iter().all(|ratio| (0.95..=1.3).contains(ratio)),
                "{nodes} x {name} {collective}: simulated over predicted {ratios:.3?}"
            );
        }
    }
}

#[test]
fn the_engines_agree_on_bundled_systems_or_say_why_not() {
    let mut outside = Vec::new();
    for (name, nodes) in SYSTEMS {
        let topology = topology(name, nodes);
        let parameters = assumed(&topology);
        for collective in [
            Collective::AllReduce,
            Collective::AllGather,
            Collective::AllToAll,
            Collective::Broadcast,
        ] {
            for algorithm in Algorithm::ALL {
                if !offers(algorithm, collective) {
                    continue;
                }
                let Some(ratios) = ratios(&topology, &parameters, collective, algorithm) else {
                    continue;
                };
                let (least, most) = band(collective, algorithm, nodes > 1);
                if !ratios.iter().all(|ratio| (least..=most).contains(ratio)) {
                    outside.push(format!(
                        "{nodes} x {name} {collective} {algorithm}: simulated over predicted \
                         {ratios:.3?}, expected {least} to {most}"
                    ));
                }
            }
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}
