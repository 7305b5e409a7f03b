//! Whatever the system, the parameters and the faults: a run ends with a result or a named stop.

use tier6_collective::{Algorithm, BuildOptions, Collective, build};
use tier6_des::{Limits, Random};
use tier6_g5::{
    AckMerge, CreditScope, Credits, Dcqcn, Ecn, EcnCurve, Fabric, Fault, G5Parameters, Job,
    Lowered, PacketNetwork, PathChoice, Pfc, RateControl, Recovery, RunError, RunOptions,
    StopReason, run,
};
use tier6_system::{ChipId, FabricSpec, LinkId, Topology};
use tier6_units::{Bytes, SimTime};

use super::drive::{framed, star, uniform, us};

fn one_of<T: Copy>(luck: &mut Random, choices: &[T]) -> T {
    let at = luck.below(choices.len() as u64);
    choices[usize::try_from(at).unwrap()]
}

fn topology(luck: &mut Random) -> Topology {
    let n = u32::try_from(2 + luck.below(7)).unwrap();
    match luck.below(3) {
        0 => star(n),
        1 => uniform(n, FabricSpec::ring()),
        _ => uniform(n, FabricSpec::FullMesh),
    }
}

fn parameters(luck: &mut Random) -> G5Parameters {
    let mut parameters = match luck.below(4) {
        0 => G5Parameters::ideal(),
        1 => G5Parameters::defaults(),
        _ => framed(),
    };
    if let Some(link) = &mut parameters.rc_link {
        link.window = one_of(luck, &[1, 7, 64, 2048]);
        link.recovery = one_of(
            luck,
            &[Recovery::GoBackN, Recovery::Selective { reorder: 0 }],
        );
        link.ack = one_of(luck, &[AckMerge::Never, AckMerge::Every(us(1))]);
        link.loss = one_of(luck, &[0.0, 0.0, 1e-3, 0.05]);
        link.timeout = us(20);
        link.ack_bytes = one_of(luck, &[0, 0, 84]);
        link.credits = one_of(
            luck,
            &[
                None,
                Some((CreditScope::PerLink, 30)),
                Some((CreditScope::EndToEnd, 30)),
                Some((CreditScope::PerLink, 4096)),
            ],
        )
        .map(|(scope, count)| Credits {
            unit: 512,
            count,
            period: one_of(luck, &[SimTime::ZERO, us(1)]),
            scope,
        });
        if luck.chance(0.3) {
            parameters.rate_control = RateControl::Dcqcn(Dcqcn::hpcc());
            parameters.queue.ecn = Some(Ecn {
                curve: EcnCurve::sigcomm15(),
            });
        }
    }
    match luck.below(4) {
        0 => {
            parameters.queue.buffer = Some(3_000_000);
            parameters.queue.pfc = Some(Pfc {
                headroom: one_of(luck, &[2_000, 156_640]),
                ..Pfc::hpcc()
            });
        }
        1 => {
            parameters.queue.buffer = Some(100_000);
            parameters.queue.pfc = None;
        }
        _ => {}
    }
    parameters.paths = one_of(
        luck,
        &[
            PathChoice::Preferred,
            PathChoice::PerFlow,
            PathChoice::RoundRobin,
        ],
    );
    parameters
}

fn faults(luck: &mut Random, topology: &Topology) -> Vec<Fault> {
    let n_links = topology.links().len() as u64;
    let link = LinkId::new(u32::try_from(luck.below(n_links)).unwrap());
    match luck.below(5) {
        0 => vec![Fault::FailedLink { link, at: us(3) }],
        1 => vec![Fault::SlowLink { link, share: 0.3 }],
        _ => Vec::new(),
    }
}

#[test]
fn every_run_ends() {
    let (mut done, mut stopped) = (0, 0);
    for seed in 0..300 {
        let mut luck = Random::new(seed);
        let (topology, parameters) = (topology(&mut luck), parameters(&mut luck));
        if parameters.check().is_err() {
            continue;
        }
        let faults = faults(&mut luck, &topology);
        let (collective, algorithm) = one_of(
            &mut luck,
            &[
                (Collective::AllReduce, Algorithm::Ring),
                (Collective::AllReduce, Algorithm::RecursiveDoubling),
                (Collective::AllToAll, Algorithm::Direct),
                (Collective::AllGather, Algorithm::Direct),
            ],
        );
        let bytes = Bytes::new(luck.below(400_000));
        let options = BuildOptions::new(topology.n_chips(), bytes);
        let Ok(schedule) = build(collective, algorithm, &options) else {
            continue;
        };
        let program = Lowered::new(&schedule);
        let chips: Vec<ChipId> = (0..topology.n_chips()).map(ChipId::new).collect();
        let once = || {
            let mut fabric = Fabric::new(&topology, &parameters, &faults, seed).unwrap();
            let job = Job {
                program: &program,
                chips: &chips,
                start: SimTime::ZERO,
                flow: 0,
            };
            let mut run_options = RunOptions::new();
            run_options.limits = Limits {
                events: 20_000_000,
                time: us(1_000_000),
            };
            let network = &mut PacketNetwork::new(&parameters);
            run(&[job], &mut fabric, network, &parameters, &run_options)
        };
        let result = once();
        match &result {
            Ok(_) => done += 1,
            Err(RunError::Stop(stop)) => {
                stopped += 1;
                let named = !matches!(stop.reason, StopReason::Broken(_));
                assert!(named, "seed {seed}: {stop:?} {parameters:?} {faults:?}");
                let waits = matches!(stop.reason, StopReason::Deadlock | StopReason::Stalled);
                assert!(!waits || !stop.waits.is_empty(), "seed {seed}: {stop:?}");
            }
            Err(other @ RunError::Setup(_)) => panic!("seed {seed}: {other}"),
        }
        if seed % 10 == 0 {
            assert_eq!(result, once(), "seed {seed}: the same seed, the same run");
        }
    }
    assert!(done > 100, "{done} done, {stopped} stopped");
}
