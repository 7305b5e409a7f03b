//! Calls that a switch adds up and copies, as packets and as fluids.

use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol};
use tier6_fit::{CallSetup, Launch};
use tier6_g5::{
    Fabric, FlowNetwork, G5Parameters, PacketNetwork, Recording, RunOptions, RunResult, run,
};
use tier6_math::Parameters;
use tier6_system::{Topology, preset};
use tier6_units::Bytes;

#[derive(Debug, Clone, Copy)]
enum Fidelity {
    Packet,
    Flow,
}

fn hardware_us(topology: &Topology, bytes: u64, grain: Grain, fidelity: Fidelity) -> f64 {
    let setup = CallSetup {
        topology,
        parameters: &Parameters::of(topology),
        collective: Collective::AllReduce,
        ranks: 8,
        grain,
        handshake: None,
    };
    let path = Path {
        algorithm: Algorithm::Nvls,
        protocol: Protocol::Simple,
    };
    let launch = Launch::new(&setup, path, Bytes::new(bytes)).unwrap();
    let engine = G5Parameters::of(topology);
    let options = RunOptions {
        critical_path: Recording::Off,
        ..RunOptions::new()
    };
    let mut fabric = Fabric::new(topology, &engine, &[], 0).unwrap();
    let jobs = launch.jobs();
    let result = match fidelity {
        Fidelity::Packet => {
            let network = &mut PacketNetwork::new(&engine);
            run(&jobs, &mut fabric, network, &engine, &options)
        }
        Fidelity::Flow => {
            let network = &mut FlowNetwork::new();
            run(&jobs, &mut fabric, network, &engine, &options)
        }
    };
    let RunResult { hardware, .. } = result.unwrap();
    hardware.to_micros().get()
}

/// Loads that ran ahead of stores used to make packets 5 to 10 % slower than fluids here, and 20 %
/// at 1 GiB.
#[test]
fn loads_do_not_run_ahead_of_stores() {
    for (name, kib) in [("h200-x8", 128), ("b200-x8", 128)] {
        let topology = preset(name).unwrap().resolve().unwrap();
        let grain = Grain::Slices { bytes: kib << 10 };
        let time = |fidelity| hardware_us(&topology, 64 << 20, grain, fidelity);
        let (packets, fluids) = (time(Fidelity::Packet), time(Fidelity::Flow));
        let ratio = packets / fluids;
        assert!((0.99..1.02).contains(&ratio), "{name}, {kib} KiB: {ratio}");
    }
}
