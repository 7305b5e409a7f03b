//! Every algorithm on bundled systems, priced by Math and run by G5 at `flow` fidelity, all layers
//! off: what is left between them is what a closed form does not know. Each difference above 5 %
//! has a name here.

use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol, offers};
use tier6_fit::{CallSetup, Launch};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, Recording, RunOptions, run};
use tier6_math::{Parameters, Plan, StepCost};
use tier6_system::{Topology, preset};
use tier6_units::{Bytes, Micros};

const SIZES: [u64; 3] = [64 << 10, 4 << 20, 64 << 20];

/// A system and how many nodes of it.
const SYSTEMS: [(&str, u32); 4] = [
    ("h100-x8", 1),
    ("mi300x-x8", 1),
    ("h100-x8-ib-ndr", 2),
    ("gh200-x4-slingshot", 4),
];

fn topology(name: &str, nodes: u32) -> Topology {
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
fn assumed(topology: &Topology) -> Parameters {
    Parameters {
        software: Micros::new(0.0),
        step: StepCost::FREE,
        reduce_rate: None,
        ..Parameters::of(topology)
    }
}

/// Simulated over predicted time.
fn ratio(topology: &Topology, plan: &Plan, path: Path, bytes: u64) -> f64 {
    let parameters = assumed(topology);
    let setup = CallSetup {
        topology,
        parameters: &parameters,
        collective: plan.collective(),
        ranks: plan.ranks(),
        grain: Grain::Message,
        handshake: None,
    };
    let engine = G5Parameters {
        paths: G5Parameters::of(topology).paths,
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
    let total = (software + hardware(bytes)).to_micros().get();
    total / plan.time(Bytes::new(bytes)).get()
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
                (1.0, 3.6)
            } else {
                (1.0, 1.34)
            }
        }
        // Both trees, and sums and copies, overlap; the closed form adds up the first piece's way
        // through all of them.
        A::Tree if collective == Collective::AllReduce => (0.75, 1.05),
        // The first and the last slice use one direction of a link each.
        A::Nvls | A::NvlsTree | A::CollNetChain => (0.95, 1.11),
        A::CollNetDirect => (0.95, 1.2),
        // Closed forms let every step take as long as its slowest pair. Here each rank goes on when
        // its own data is there: pairs inside a node run ahead ..
        A::Ring | A::BidirRing | A::Swing | A::ScatterAllGather if has_nodes => (0.49, 1.05),
        // .. and meet others at a NIC, which a step alone would not have done.
        A::Pairwise | A::Bruck | A::Pat if has_nodes => (0.65, 1.4),
        _ => (0.95, 1.05),
    }
}

#[test]
fn the_engines_agree_on_bundled_systems_or_say_why_not() {
    for (name, nodes) in SYSTEMS {
        let topology = topology(name, nodes);
        let ranks = topology.n_chips();
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
                let plan = Plan::new(&topology, collective, algorithm, ranks, &assumed(&topology));
                let Ok(plan) = plan else { continue };
                let path = Path {
                    algorithm,
                    protocol: Protocol::Simple,
                };
                let ratios = SIZES.map(|bytes| ratio(&topology, &plan, path, bytes));
                let (least, most) = band(collective, algorithm, nodes > 1);
                assert!(
                    ratios.iter().all(|ratio| (least..=most).contains(ratio)),
                    "{name} {collective} {algorithm}: simulated over predicted {ratios:?}, \
                     expected {least} to {most}"
                );
            }
        }
    }
}
