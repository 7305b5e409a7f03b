//! Whole collectives: trains against single packets, and packets against fluids.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use crate::network::Network;
use crate::{
    Ecn, EcnCurve, Fabric, FlowNetwork, G5Parameters, Job, LinkAccount, Lowered, PacketNetwork,
    PathChoice, Paxi, RcLink, RunError, RunOptions, RunResult, StopReason, SwitchQueue, run,
};

fn uniform(n_chips: u32, fabric: FabricSpec) -> Topology {
    let (rate, latency) = (GbPerSec::new(50.0), Micros::new(0.5));
    SystemSpec::uniform(n_chips, fabric, rate, latency)
        .resolve()
        .unwrap()
}

fn ring(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::ring())
}

fn star(n_chips: u32) -> Topology {
    uniform(n_chips, FabricSpec::star())
}

fn fat_tree(n_chips: u32, down: u32) -> Topology {
    let tree = FabricSpec::fat_tree(down, down);
    uniform(n_chips, tree)
}

struct Case {
    topology: Topology,
    parameters: G5Parameters,
    collective: Collective,
    algorithm: Algorithm,
    options: BuildOptions,
}

impl Case {
    fn ideal(topology: Topology, collective: Collective, algorithm: Algorithm, bytes: u64) -> Self {
        let options = BuildOptions::new(topology.n_chips(), Bytes::new(bytes));
        Self {
            topology,
            parameters: G5Parameters::ideal(),
            collective,
            algorithm,
            options,
        }
    }

    fn on<N: Network>(&self, network: &mut N) -> RunResult {
        self.within(network, &RunOptions::new()).unwrap()
    }

    fn within<N: Network>(
        &self,
        network: &mut N,
        options: &RunOptions,
    ) -> Result<RunResult, RunError> {
        let schedule = build(self.collective, self.algorithm, &self.options).unwrap();
        let program = Lowered::new(&schedule);
        let chips: Vec<ChipId> = (0..self.options.ranks).map(ChipId::new).collect();
        let mut fabric = Fabric::new(&self.topology, &self.parameters, &[], 7).unwrap();
        let job = Job {
            program: &program,
            chips: &chips,
            start: SimTime::ZERO,
            flow: 0,
        };
        run(&[job], &mut fabric, network, &self.parameters, options)
    }

    fn packet(&self) -> RunResult {
        self.on(&mut PacketNetwork::new(&self.parameters))
    }

    fn flow(&self) -> RunResult {
        self.on(&mut FlowNetwork::new())
    }

    /// Checks that trains change nothing, and returns the time over that of `flow`.
    #[track_caller]
    fn against_flow(&self) -> f64 {
        let trains = self.packet();
        let single = self.on(&mut PacketNetwork::without_trains(&self.parameters));
        let what = format!("{:?} {:?}", self.algorithm, self.options);
        assert_eq!(trains.total, single.total, "{what}");
        assert_eq!(trains.packet_hops, single.packet_hops, "{what}");
        let bytes = |result: &RunResult| {
            let links = result.links.iter();
            links
                .map(|(_, link)| (link.payload_bytes, link.wire_bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(&trains), bytes(&single), "{what}");
        trains.total.ps() as f64 / self.flow().total.ps() as f64
    }
}

fn framed(mut case: Case) -> Case {
    case.parameters.paxi = Some(Paxi {
        latency: SimTime::from_ps(150_000),
        segment: 1344,
        ..Paxi::defaults(1)
    });
    case.parameters.rc_link = Some(RcLink {
        overhead: 58,
        ..RcLink::defaults()
    });
    case
}

#[test]
fn a_ring_equals_the_fluid_to_the_picosecond() {
    for n in [2, 3, 4, 8, 17, 64] {
        for pieces in [1, 4, 64] {
            for bytes in [0, 1, 1000, 64 << 10, 16 << 20] {
                let mut case = Case::ideal(ring(n), Collective::AllReduce, Algorithm::Ring, bytes);
                case.options.grain = match pieces {
                    1 => Grain::Message,
                    pieces => Grain::Slices {
                        bytes: (bytes / u64::from(n) / pieces).max(1),
                    },
                };
                if n > 8 && pieces > 4 {
                    continue;
                }
                let (packet, flow) = (case.packet(), case.flow());
                assert_eq!(
                    packet.total, flow.total,
                    "N = {n}, {pieces} pieces, {bytes} B"
                );
                assert_eq!(packet.messages, flow.messages);
            }
        }
    }
}

#[test]
fn framing_costs_what_the_fluid_charges() {
    for bytes in [1 << 20, 64 << 20] {
        for topology in [ring(8), star(8)] {
            let case = framed(Case::ideal(
                topology,
                Collective::AllReduce,
                Algorithm::Ring,
                bytes,
            ));
            let ratio = case.against_flow();
            assert!((ratio - 1.0).abs() < 5e-3, "{bytes} B: {ratio}");
        }
    }
}

#[test]
fn trains_change_no_collective() {
    let bytes = 300_001;
    for algorithm in [
        Algorithm::Ring,
        Algorithm::BidirRing,
        Algorithm::Tree,
        Algorithm::HalvingDoubling,
        Algorithm::RecursiveDoubling,
        Algorithm::TwoShot,
    ] {
        for topology in [ring(8), star(8)].into_iter().chain([fat_tree(8, 2)]) {
            framed(Case::ideal(
                topology,
                Collective::AllReduce,
                algorithm,
                bytes,
            ))
            .against_flow();
        }
    }
    for algorithm in [Algorithm::Pairwise, Algorithm::Bruck, Algorithm::Direct] {
        for topology in [ring(8), star(8)].into_iter().chain([fat_tree(8, 2)]) {
            framed(Case::ideal(
                topology,
                Collective::AllToAll,
                algorithm,
                bytes,
            ))
            .against_flow();
        }
    }
}

#[test]
fn contention_on_a_ring_costs_what_it_must() {
    let bytes = 8 << 20;
    for (collective, algorithm, expect) in [
        (Collective::AllReduce, Algorithm::HalvingDoubling, 5.25),
        (Collective::AllReduce, Algorithm::RecursiveDoubling, 7.0),
        (Collective::AllToAll, Algorithm::Pairwise, 2.0),
    ] {
        let case = framed(Case::ideal(ring(8), collective, algorithm, bytes));
        let us = case.packet().total.to_micros().get();
        let coefficient = us / (bytes as f64 / 50e3 * 1402.0 / 1344.0);
        assert!(
            (coefficient / expect - 1.0).abs() < 0.04,
            "{algorithm}: {coefficient}"
        );
    }
}

#[test]
fn all_to_all_at_once_is_fair() {
    for topology in [star(16), fat_tree(16, 4)] {
        let case = framed(Case::ideal(
            topology,
            Collective::AllToAll,
            Algorithm::Direct,
            4 << 20,
        ));
        let ratio = case.against_flow();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }
}

#[test]
fn switches_copy_and_add() {
    for algorithm in [Algorithm::Nvls] {
        for collective in [
            Collective::AllReduce,
            Collective::AllGather,
            Collective::ReduceScatter,
        ] {
            let topology = preset("h100-x8").unwrap().resolve().unwrap();
            let mut case = Case::ideal(topology, collective, algorithm, 64 << 20);
            case.options.grain = Grain::Slices { bytes: 1 << 20 };
            let ratio = case.against_flow();
            assert!((ratio - 1.0).abs() < 0.03, "{collective}: {ratio}");
        }
    }
}

#[test]
fn packets_spread_over_equal_paths() {
    for paths in [
        PathChoice::Spray,
        PathChoice::RoundRobin,
        PathChoice::SubFlows(4),
    ] {
        let mut case = framed(Case::ideal(
            fat_tree(16, 4),
            Collective::AllToAll,
            Algorithm::Direct,
            4 << 20,
        ));
        case.parameters.paths = paths;
        let ratio = case.against_flow();
        assert!((0.9..1.1).contains(&ratio), "{paths:?}: {ratio}");
    }
}

/// Queue pairs, windows, credits and buffers that are all large enough: handled packet by packet,
/// and every time is that of trains through links without them.
#[test]
fn a_loop_that_never_binds_changes_no_time() {
    for topology in [ring(8), star(8)].into_iter().chain([fat_tree(8, 2)]) {
        for (collective, algorithm) in [
            (Collective::AllReduce, Algorithm::Ring),
            (Collective::AllReduce, Algorithm::HalvingDoubling),
            (Collective::AllToAll, Algorithm::Direct),
            (Collective::AllToAll, Algorithm::Bruck),
        ] {
            let open = framed(Case::ideal(
                topology.clone(),
                collective,
                algorithm,
                300_001,
            ));
            let mut closed = framed(Case::ideal(
                topology.clone(),
                collective,
                algorithm,
                300_001,
            ));
            closed.parameters.queue.buffer = Some(1 << 40);
            let (open, closed) = (open.packet(), closed.packet());
            assert_eq!(open.total, closed.total, "{algorithm}");
            assert_eq!(open.packet_hops, closed.packet_hops, "{algorithm}");
        }
    }
}

/// All layers as published, on eight chips and one switch: nothing queues, so trains go through,
/// and the fluid is right.
#[test]
fn published_layers_agree_with_the_fluid() {
    for bytes in [1 << 20, 64 << 20, 1 << 30] {
        let topology = preset("h100-x8").unwrap().resolve().unwrap();
        let mut case = Case::ideal(topology, Collective::AllReduce, Algorithm::Ring, bytes);
        case.parameters = G5Parameters::defaults();
        let mut network = PacketNetwork::new(&case.parameters);
        let packet = case.on(&mut network);
        let ratio = packet.total.ps() as f64 / case.flow().total.ps() as f64;
        assert!((ratio - 1.0).abs() < 0.02, "{bytes} B: {ratio}");
        assert!(!network.lines.is_closed(), "{bytes} B: nobody met");
    }
}

/// SHARP between nodes: added on the way up, copied on the way down.
#[test]
fn switches_between_nodes_add_and_copy() {
    let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(2);
    let topology = spec.resolve().unwrap();
    let (collective, algorithm) = (Collective::AllReduce, Algorithm::CollNetChain);
    let mut case = Case::ideal(topology, collective, algorithm, 64 << 20);
    case.options.ranks_per_node = Some(8);
    case.options.pieces = 64;
    let ratio = case.against_flow();
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

/// The times on which message-level simulators agree (50 GB/s, 500 ns), packet by packet.
#[test]
fn published_times_of_an_incast_and_an_exchange() {
    let fabric = FabricSpec::star();
    let spec = SystemSpec::uniform(9, fabric, GbPerSec::new(50.0), Micros::new(0.25));
    let nine = 9 * (16 << 20);
    let topology = spec.resolve().unwrap();
    let case = Case::ideal(topology, Collective::Gather, Algorithm::Direct, nine);
    let time = case.packet().total.to_micros().get();
    assert!((time - 2684.85).abs() < 0.006, "{time}");
    let case = Case::ideal(star(64), Collective::AllToAll, Algorithm::Direct, 16 << 20);
    let time = case.packet().total.to_micros().get();
    assert!((time / 331.30 - 1.0).abs() < 0.01, "{time}");
}

/// The same with an exchange, in which messages meet at the switch: the loop closes, and nothing
/// it does costs time.
#[test]
fn published_layers_carry_an_exchange() {
    let topology = preset("h100-x8").unwrap().resolve().unwrap();
    let mut case = Case::ideal(topology, Collective::AllToAll, Algorithm::Direct, 8 << 20);
    case.parameters = G5Parameters::defaults();
    let mut network = PacketNetwork::new(&case.parameters);
    let packet = case.on(&mut network);
    assert!(network.lines.is_closed(), "they met");
    let ratio = packet.total.ps() as f64 / case.flow().total.ps() as f64;
    assert!((0.98..1.05).contains(&ratio), "{ratio}");
}

/// The loop closes when trains are about to meet; single packets close it at another time. What
/// comes of it is the same, pauses and marks included.
#[test]
fn it_does_not_matter_when_the_loop_closes() {
    for topology in [star(8), fat_tree(8, 2)]
        .into_iter()
        .chain([fat_tree(8, 4)])
    {
        for (collective, algorithm) in [
            (Collective::AllReduce, Algorithm::Ring),
            (Collective::AllReduce, Algorithm::HalvingDoubling),
            (Collective::AllToAll, Algorithm::Direct),
            (Collective::AllToAll, Algorithm::Pairwise),
        ] {
            let mut case = framed(Case::ideal(
                topology.clone(),
                collective,
                algorithm,
                900_001,
            ));
            case.parameters.queue = SwitchQueue {
                buffer: Some(1_800_000),
                ecn: Some(Ecn {
                    curve: EcnCurve::sigcomm15(),
                }),
                ..SwitchQueue::lossless()
            };
            let trains = case.packet();
            let single = case.on(&mut PacketNetwork::without_trains(&case.parameters));
            assert_eq!(trains.total, single.total, "{algorithm}");
            // A packet that waits for nothing still shows in the longest queue of a closed loop.
            let seen = |result: &RunResult| {
                let links = result.links.iter().map(|(_, link)| LinkAccount {
                    peak_queue: 0,
                    ..*link
                });
                links.collect::<Vec<_>>()
            };
            assert_eq!(seen(&trains), seen(&single), "{algorithm}");
        }
    }
}

/// What happens inside the network counts as well, so a limit of events stops any run.
#[test]
fn a_limit_of_events_counts_those_inside_the_network() {
    let star = star(4);
    let mut case = Case::ideal(star, Collective::AllToAll, Algorithm::Direct, 40 << 20);
    case.parameters = G5Parameters::defaults();
    let all = case.packet().events;
    assert!(all > 50_000, "{all}");
    let limited = |events| {
        let mut options = RunOptions::new();
        options.limits.events = events;
        case.within(&mut PacketNetwork::new(&case.parameters), &options)
    };
    assert_eq!(limited(all).unwrap().events, all);
    for events in [1_000, 20_000, all - 1] {
        match limited(events) {
            Err(RunError::Stop(stop)) => assert_eq!(stop.reason, StopReason::Events(events)),
            other => panic!("{events}: {other:?}"),
        }
    }
}
