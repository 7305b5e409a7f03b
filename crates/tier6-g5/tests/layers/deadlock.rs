//! A cycle of full buffers is found, and named.

use tier6_collective::{Algorithm, BuildOptions, Collective, build};
use tier6_g5::{
    CreditScope, Credits, Fabric, Fault, G5Parameters, Job, Lowered, RunError, RunOptions, RunStop,
    StopReason, run,
};
use tier6_system::{ChipId, Direction, EdgeSpec, FabricSpec, LinkId, Topology, VertexSpec};
use tier6_units::{Bytes, SimTime};

use crate::fidelity::network;
use crate::traffic::{open_layers, system};

fn ring(n: u32) -> Topology {
    system(n, FabricSpec::ring(), 50.0, 0.5)
}

/// A switch for each chip, in a ring: what passes through waits in switches.
pub fn ring_of_switches(n: u32) -> Topology {
    let edge = |from: String, to: String| EdgeSpec {
        from: from.into(),
        to: to.into(),
        direction: Direction::BothWays,
        link: None,
        lanes: None,
    };
    let vertices = (0..n).map(|one| VertexSpec {
        name: format!("s{one}").into(),
        switch: "switch".into(),
    });
    let chips = (0..n).map(|one| edge(format!("chip{one}"), format!("s{one}")));
    let ring = (0..n).map(|one| edge(format!("s{one}"), format!("s{}", (one + 1) % n)));
    let fabric = FabricSpec::Graph {
        vertices: vertices.collect(),
        edges: chips.chain(ring).collect(),
    };
    system(n, fabric, 50.0, 0.5)
}

fn all_to_all(
    topology: &Topology,
    parameters: &G5Parameters,
    faults: &[Fault],
) -> Result<SimTime, RunError> {
    let n = topology.n_chips();
    let options = BuildOptions::new(n, Bytes::new(u64::from(n) * 200_000));
    let schedule = build(Collective::AllToAll, Algorithm::Direct, &options).unwrap();
    let program = Lowered::new(&schedule);
    let chips: Vec<_> = (0..n).map(ChipId::new).collect();
    let mut fabric = Fabric::new(topology, parameters, faults, 0).unwrap();
    let job = Job {
        program: &program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let mut network = network(parameters, 0);
    let options = RunOptions::new();
    run(&[job], &mut fabric, &mut network, parameters, &options).map(|result| result.hardware)
}

fn stop(result: Result<SimTime, RunError>) -> RunStop {
    match result.expect_err("the run stops") {
        RunError::Stop(stop) => *stop,
        RunError::Setup(error) => panic!("{error}"),
    }
}

fn with_credits(count: u32) -> G5Parameters {
    let mut parameters = open_layers();
    let link = parameters.rc_link.as_mut().unwrap();
    link.credits = Some(Credits {
        unit: 512,
        count,
        period: SimTime::ZERO,
        scope: CreditScope::PerLink,
    });
    parameters.rc_link.as_mut().unwrap().timeout = SimTime::from_ps(1_000_000_000_000);
    parameters
}

/// Every link's buffer is full of packets for the next link around the ring.
#[test]
fn a_ring_of_full_buffers_is_a_deadlock() {
    let ring = ring_of_switches(5);
    assert!(all_to_all(&ring, &open_layers(), &[]).is_ok());
    let stop = stop(all_to_all(&ring, &with_credits(3), &[]));
    assert_eq!(stop.reason, StopReason::Deadlock, "{stop:?}");
    // The cycle comes first: five links, each waiting for the next.
    let cycle = &stop.waits[..5];
    for (one, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(one.for_whom, next.who);
        assert!(one.who.starts_with("link"), "{one:?}");
        assert!(one.why.contains("credits"), "{one:?}");
    }
}

fn names_failure(stop: &RunStop) -> bool {
    stop.waits.iter().any(|wait| wait.why.contains("failed"))
}

/// What fails ends the run with a name.
#[test]
fn a_failed_link_is_fatal_after_the_retries() {
    let ring = ring(4);
    let fault = Fault::FailedLink {
        link: LinkId::new(0),
        at: SimTime::from_ps(5_000_000),
    };
    let mut parameters = open_layers();
    let link = parameters.rc_link.as_mut().unwrap();
    link.timeout = SimTime::from_ps(20_000_000);
    let retries = link.retries;
    let stop = stop(all_to_all(&ring, &parameters, &[fault]));
    match stop.reason {
        StopReason::QueuePairFatal { retries: limit } => assert_eq!(limit, retries),
        // No frame can be sent again, so none is counted.
        StopReason::Stalled => assert!(names_failure(&stop), "{stop:?}"),
        _ => panic!("{stop:?}"),
    }

    parameters.rc_link = None;
    let stop = self::stop(all_to_all(&ring, &parameters, &[fault]));
    assert_eq!(stop.reason, StopReason::Stalled);
    assert!(names_failure(&stop), "{stop:?}");
}
