//! Any system, collective, parameters and faults: a run ends with a result or a named stop.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build};
use tier6_des::Limits;
use tier6_g5::{
    AckMerge, Arbiter, CdmaSplit, Channels, CreditScope, Credits, Dcqcn, Ecn, EcnCurve, Fabric,
    Fault, G5Parameters, Headers, Job, Lowered, PathChoice, Paxi, Pfc, RateControl, RcLink,
    Recovery, RunError, RunOptions, RunResult, StopReason, SwitchQueue, run,
};
use tier6_system::{ChipId, FabricSpec, LinkId, Topology};
use tier6_units::{ByteTime, Bytes, GbPerSec, SimTime};

use crate::fidelity::network;
use crate::traffic::{Draws, system};

impl Draws {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(u32::try_from(choices.len()).unwrap()) as usize]
    }
}

fn topology(draws: &mut Draws) -> Topology {
    let n = draws.of(&[2, 3, 4, 6, 8]);
    let fabric = match draws.below(5) {
        0 => FabricSpec::ring(),
        1 => FabricSpec::FullMesh,
        2 => FabricSpec::Torus {
            dims: vec![2, n / 2],
        },
        3 => FabricSpec::fat_tree(2, 2),
        _ => FabricSpec::star(),
    };
    let n = match &fabric {
        FabricSpec::Torus { dims } => dims.iter().product(),
        _ => n,
    };
    system(
        n,
        fabric,
        draws.of(&[5.0, 50.0]),
        draws.of(&[0.0, 0.01, 1.0]),
    )
}

fn rc_link(draws: &mut Draws) -> RcLink {
    let credits = Credits {
        unit: draws.of(&[32, 512, 2048]),
        count: draws.of(&[60, 500, 10_000]),
        period: SimTime::from_ps(draws.of(&[0, 1_000, 3_000_000])),
        scope: draws.of(&[CreditScope::PerLink, CreditScope::EndToEnd]),
    };
    RcLink {
        channels: Channels {
            count: draws.of(&[1, 2, 3]),
            arbiter: draws.of(&[Arbiter::Strict, Arbiter::Weighted([3, 1, 7])]),
        },
        overhead: draws.of(&[0, 58]),
        headers: Headers::Ip,
        window: draws.of(&[1, 3, 64, 2048]),
        recovery: draws.of(&[Recovery::GoBackN, Recovery::Selective { reorder: 3 }]),
        credits: draws.of(&[None, Some(credits)]),
        ack: draws.of(&[AckMerge::Never, AckMerge::Every(SimTime::from_ps(77_000))]),
        ack_bytes: draws.of(&[0, 0, 84]),
        timeout: SimTime::from_ps(draws.of(&[3_000_000, 100_000_000])),
        retries: draws.of(&[0, 7, 50]),
        loss: draws.of(&[0.0, 0.0, 1e-3, 0.1]),
        ..RcLink::defaults()
    }
}

fn parameters(draws: &mut Draws) -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    parameters.cdma.units = draws.of(&[1, 8]);
    parameters.cdma.split = draws.of(&[CdmaSplit::All, CdmaSplit::Per(4096)]);
    parameters.cdma.rate = draws
        .of(&[None, Some(40.0)])
        .map(|rate| ByteTime::at(GbPerSec::new(rate)));
    if draws.below(4) > 0 {
        parameters.paxi = Some(Paxi {
            latency: SimTime::from_ps(draws.of(&[0, 150_000])),
            segment: draws.of(&[200, 1_344]),
            outstanding: draws.of(&[1, 20, 5_000]),
        });
    }
    if draws.below(4) > 0 {
        parameters.rc_link = Some(rc_link(draws));
    }
    let pfc = Pfc {
        headroom: 20_000,
        ..Pfc::hpcc()
    };
    parameters.queue = SwitchQueue {
        buffer: draws.of(&[None, Some(50_000), Some(1_000_000)]),
        dynamic_threshold: draws.of(&[0.5, 1.0, 8.0]),
        pfc: draws.of(&[None, Some(pfc)]),
        ecn: draws.of(&[
            None,
            Some(Ecn {
                curve: EcnCurve::sigcomm15(),
            }),
        ]),
    };
    parameters.paths = draws.of(&[
        PathChoice::Preferred,
        PathChoice::PerFlow,
        PathChoice::SubFlows(3),
        PathChoice::Spray,
        PathChoice::RoundRobin,
    ]);
    parameters.rate_control = draws.of(&[
        RateControl::Off,
        RateControl::Dcqcn(Dcqcn::sigcomm15()),
        RateControl::Dcqcn(Dcqcn::hpcc()),
    ]);
    parameters
}

fn faults(draws: &mut Draws, links: usize) -> Vec<Fault> {
    let link = LinkId::new(draws.below(u32::try_from(links).unwrap()));
    let at = SimTime::from_ps(u64::from(draws.below(50_000_000)));
    match draws.below(6) {
        0 => vec![Fault::SlowLink { link, share: 0.3 }],
        1 => vec![Fault::FailedLink { link, at }],
        2 => vec![Fault::Loss {
            link: Some(link),
            probability: 0.05,
        }],
        3 => vec![Fault::LateRank { rank: 0, by: at }],
        _ => Vec::new(),
    }
}

fn one(seed: u64) -> (Result<RunResult, RunError>, String) {
    let mut draws = Draws(seed);
    let topology = topology(&mut draws);
    let n = topology.n_chips();
    let bytes = Bytes::new(u64::from(n) * draws.of(&[0_u64, 1, 1_000, 50_000]));
    let mut build_options = BuildOptions::new(n, bytes);
    build_options.grain = draws.of(&[Grain::Message, Grain::Slices { bytes: 2_500 }]);
    let (collective, algorithm) = draws.of(&[
        (Collective::AllReduce, Algorithm::Ring),
        (Collective::AllToAll, Algorithm::Direct),
        (Collective::AllToAll, Algorithm::Pairwise),
        (Collective::AllGather, Algorithm::Ring),
        (Collective::AllReduce, Algorithm::RecursiveDoubling),
    ]);
    let parameters = parameters(&mut draws);
    let faults = faults(&mut draws, topology.links().len());
    let what = format!(
        "seed {seed}: {collective:?} {algorithm:?} {bytes:?} on {n} chips, {parameters:?}, {faults:?}"
    );
    assert_eq!(parameters.check(), Ok(()), "{what}");
    let schedule = build(collective, algorithm, &build_options).unwrap();
    let program = Lowered::new(&schedule);
    let chips: Vec<_> = (0..n).map(ChipId::new).collect();
    let mut fabric = Fabric::new(&topology, &parameters, &faults, seed).unwrap();
    let mut network = network(&parameters, seed);
    let job = Job {
        program: &program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let options = RunOptions {
        limits: Limits {
            events: 20_000_000,
            time: SimTime::from_ps(60_000_000_000_000),
        },
        faults,
        ..RunOptions::new()
    };
    (
        run(&[job], &mut fabric, &mut network, &parameters, &options),
        what,
    )
}

#[test]
fn a_run_ends_with_a_result_or_a_named_stop() {
    let mut results = 0;
    // The last one lost the credits of a frame that carried them back.
    for seed in (0..400).chain([7_021_456]) {
        let (result, what) = one(seed);
        match result {
            Ok(_) => results += 1,
            Err(RunError::Setup(error)) => panic!("{error}: {what}"),
            Err(RunError::Stop(stop)) => match stop.reason {
                StopReason::Deadlock | StopReason::Stalled => {
                    assert!(!stop.waits.is_empty(), "{what}");
                }
                StopReason::QueuePairFatal { .. } => {}
                StopReason::Events(_) | StopReason::Time(_) | StopReason::Broken(_) => {
                    panic!("{}: {what}", stop.reason);
                }
            },
        }
    }
    assert!(results > 200, "{results} of 401 runs ended with a result");
}
