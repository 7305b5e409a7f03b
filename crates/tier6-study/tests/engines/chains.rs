//! Broadcast and Reduce by `ring`: a chain per channel, in both engines and in NCCL's model.

use super::presets::{assumed, path, plan, ratio, simulated, topology};
use tier6_collective::{Algorithm, Collective, DataType, Grain, Protocol, RedOp};
use tier6_fit::{CallSetup, Launch};
use tier6_math::{Channels, Parameters};
use tier6_nccl::{
    Call, CostTable, LibraryVersion, NcclCollective, Release, Settings, named_system,
};
use tier6_units::Bytes;

const COLLECTIVES: [Collective; 2] = [Collective::Broadcast, Collective::Reduce];

/// Large messages, where the channels' rate is what counts, over any number of nodes. In the closed
/// form a channel that crosses nodes keeps the others to its pace; here they use what it leaves free.
#[test]
fn chains_in_channels_agree_in_both_engines() {
    let systems = [
        ("h100-x8", 1, 1),
        ("v100-nv2-x4", 1, 6),
        ("mi300x-x8", 1, 7),
        ("dgx1", 1, 6),
        ("h100-x8-ib-ndr", 2, 8),
        ("h100-x8-ib-ndr", 3, 8),
        ("mi300x-x8-roce", 2, 8),
        ("dgx1-ib-edr", 2, 8),
        ("gh200-x4-slingshot", 4, 4),
    ];
    let mut outside = Vec::new();
    for (name, nodes, channels) in systems {
        let topology = topology(name, nodes);
        let parameters = assumed(&topology);
        for collective in COLLECTIVES {
            let setup = CallSetup {
                topology: &topology,
                parameters: &parameters,
                collective,
                ranks: topology.n_chips(),
                grain: Grain::Message,
                handshake: None,
            };
            let bytes = 256 << 20;
            let launch = Launch::new(&setup, path(Algorithm::Ring), Bytes::new(bytes)).unwrap();
            assert_eq!(launch.channels(), channels, "{nodes} x {name}");
            let plan = plan(&topology, &parameters, collective, Algorithm::Ring).unwrap();
            let ratio = ratio(&topology, &parameters, &plan, path(Algorithm::Ring), bytes);
            if !(0.86..=1.01).contains(&ratio) {
                outside.push(format!("{nodes} x {name} {collective}: {ratio:.3}"));
            }
        }
    }
    assert!(
        outside.is_empty(),
        "simulated over predicted:\n{}",
        outside.join("\n")
    );
}

/// One channel stays the textbook's chain: the slowest link carries the whole message.
#[test]
fn one_channel_is_one_chain() {
    let topology = topology("v100-nv2-x4", 1);
    let one = Parameters {
        channels: Channels::One,
        ..assumed(&topology)
    };
    for collective in COLLECTIVES {
        let bytes = 256 << 20;
        let plan = plan(&topology, &one, collective, Algorithm::Ring).unwrap();
        // Two links of 20 GB/s between neighbours.
        let rate = bytes as f64 / plan.time(Bytes::new(bytes)).get() / 1e3;
        assert!((39.0..40.0).contains(&rate), "{collective}: {rate} GB/s");
        let ratio = ratio(&topology, &one, &plan, path(Algorithm::Ring), bytes);
        assert!((ratio - 1.0).abs() < 0.01, "{collective}: {ratio}");
    }
}

/// Both engines, with all that the presets assume, against NCCL's own model at 1 GiB.
#[test]
fn chains_in_channels_reach_nccls_rate() {
    let bytes = 1 << 30;
    for (name, nodes, nccl) in [
        ("h100-x8-ib-ndr", 2, "h100x8-dgx-2n"),
        ("v100-nv2-x4", 1, "v100x4-nv2"),
    ] {
        let topology = topology(name, nodes);
        let parameters = Parameters {
            protocol: Some(Protocol::Simple),
            ..Parameters::of(&topology)
        };
        for (collective, modelled) in COLLECTIVES
            .into_iter()
            .zip([NcclCollective::Broadcast, NcclCollective::Reduce])
        {
            let nccl = by_nccl(nccl, modelled, bytes);
            let plan = plan(&topology, &parameters, collective, Algorithm::Ring).unwrap();
            let predicted = plan.time(Bytes::new(bytes)).get();
            let simulated = simulated(&topology, &parameters, &plan, path(Algorithm::Ring), bytes);
            for (engine, time) in [("math", predicted), ("g5", simulated)] {
                assert!(
                    (0.9..=1.05).contains(&(time / nccl)),
                    "{name} {collective}: {engine} {time:.0} us, NCCL {nccl:.0} us"
                );
            }
        }
    }
}

/// What NCCL 2.27.7 believes of ring and Simple, which it chooses.
fn by_nccl(system: &str, collective: NcclCollective, bytes: u64) -> f64 {
    let version = LibraryVersion::new(2, 27, 7);
    let release = Release::for_version(version).unwrap().release;
    let communicator = named_system(system, release).unwrap().communicator;
    let call = Call::new(
        &communicator,
        collective,
        bytes,
        DataType::Float,
        RedOp::Sum,
    );
    let table = CostTable::new(release, communicator, Settings::unset(release));
    let choice = table.choose(&call).unwrap();
    assert_eq!(choice.candidate.to_string(), "ring+simple");
    choice.time_us.into()
}
