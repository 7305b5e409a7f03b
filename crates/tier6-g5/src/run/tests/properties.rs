//! Whatever the collective, the algorithm, the grain, the layers and the faults: a run ends with a
//! result or with a named stop, and twice with the same.

use proptest::prelude::*;
use tier6_collective::{
    Algorithm, BuildOptions, Collective, Grain, RankId, Schedule, build, offered,
};
use tier6_system::{LinkId, Topology};
use tier6_units::{ByteTime, Bytes, GbPerSec, SimTime};

use super::{chips, ring, star};
use crate::network::Network;
use crate::{
    CdmaSplit, Fabric, Fault, FlowNetwork, G5Parameters, Job, Lowered, PacketNetwork, Paxi, RcLink,
    Recording, RunError, RunOptions, RunResult, StopReason, SwitchQueue, run,
};

#[derive(Debug, Clone)]
struct Case {
    collective: Collective,
    algorithm: Algorithm,
    options: BuildOptions,
    on_ring: bool,
    parameters: G5Parameters,
    faults: Vec<Fault>,
    jobs: usize,
}

/// Algorithms that need no switch that adds.
fn algorithms() -> Vec<(Algorithm, Collective)> {
    let is_plain = |algorithm: &Algorithm| {
        !matches!(
            algorithm,
            Algorithm::Nvls
                | Algorithm::NvlsTree
                | Algorithm::CollNetDirect
                | Algorithm::CollNetChain
                | Algorithm::TorusBucket
        )
    };
    let plain = Algorithm::ALL.into_iter().filter(is_plain);
    plain
        .flat_map(|algorithm| offered(algorithm).iter().map(move |of| (algorithm, *of)))
        .collect()
}

fn grains() -> impl Strategy<Value = Grain> {
    prop_oneof![
        Just(Grain::Message),
        (1_u64..4).prop_map(|k| Grain::Slices { bytes: k * 3000 }),
    ]
}

fn layers() -> impl Strategy<Value = G5Parameters> {
    let cdma = (
        1_u32..4,
        prop_oneof![Just(1), Just(2), Just(u32::MAX)],
        prop_oneof![Just(1), Just(2), Just(u32::MAX)],
        0_u64..2,
        0_u64..2,
        prop::option::of(Just(ByteTime::at(GbPerSec::new(40.0)))),
    );
    (cdma, 0_u64..2, any::<bool>()).prop_map(|(cdma, reduces, splits)| {
        let mut parameters = G5Parameters::ideal();
        let (units, threads, credits, start, sync, rate) = cdma;
        parameters.cdma.units = units;
        parameters.cdma.threads = threads;
        parameters.cdma.credits = credits;
        parameters.cdma.start = SimTime::from_ps(start * 250_000);
        parameters.cdma.sync = SimTime::from_ps(sync * 300_000);
        parameters.cdma.rate = rate;
        if splits {
            parameters.cdma.split = CdmaSplit::Per(4096);
        }
        if reduces > 0 {
            parameters.memory.reduce = ByteTime::at(GbPerSec::new(300.0));
            parameters.memory.copy = ByteTime::at(GbPerSec::new(600.0));
        }
        parameters
    })
}

fn faults(n: u32) -> impl Strategy<Value = Vec<Fault>> {
    let link = (0..n).prop_map(LinkId::new);
    let at = (0_u64..20_000_000).prop_map(SimTime::from_ps);
    let fault = prop_oneof![
        (link.clone(), 1_u32..10).prop_map(|(link, tenths)| Fault::SlowLink {
            link,
            share: f64::from(tenths) / 10.0
        }),
        (link, at.clone()).prop_map(|(link, at)| Fault::FailedLink { link, at }),
        (0..n, at).prop_map(|(rank, by)| Fault::LateRank { rank, by }),
    ];
    prop::collection::vec(fault, 0..3)
}

fn cases() -> impl Strategy<Value = Case> {
    let all = algorithms();
    let size = prop_oneof![Just(0_u64), 1_u64..50, 1000_u64..200_000];
    (2_u32..=9, prop::sample::select(all), size, grains()).prop_flat_map(
        |(n, (algorithm, collective), bytes, grain)| {
            let mut options = BuildOptions::new(n, Bytes::new(bytes));
            options.grain = grain;
            options.ranks_per_node = Some(1);
            options.pieces = 2;
            options.root = RankId(n / 2);
            let given = (layers(), faults(n), any::<bool>(), 1_usize..3);
            given.prop_map(move |(parameters, faults, on_ring, jobs)| Case {
                collective,
                algorithm,
                options: options.clone(),
                on_ring,
                parameters,
                faults,
                jobs,
            })
        },
    )
}

fn outcome(
    case: &Case,
    schedule: &Schedule,
    topology: &Topology,
    network: &mut impl Network,
) -> Result<RunResult, RunError> {
    let seed = 3;
    let mut fabric = Fabric::new(topology, &case.parameters, &case.faults, seed).unwrap();
    let program = Lowered::new(schedule);
    let chips = chips(schedule.ranks());
    let job = Job {
        program: &program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let mut jobs = vec![job; case.jobs];
    if let Some(second) = jobs.get_mut(1) {
        second.start = SimTime::from_ps(1_000_000);
    }
    let mut options = RunOptions {
        faults: case.faults.clone(),
        timeline: Recording::On,
        ..RunOptions::new()
    };
    options.limits.events = 2_000_000;
    run(&jobs, &mut fabric, network, &case.parameters, &options)
}

/// Turns the layers of the network on, and lets one frame in a thousand get lost.
fn layered(mut case: Case) -> Case {
    case.parameters.paxi = Some(Paxi::defaults(1));
    case.parameters.rc_link = Some(RcLink {
        loss: 1e-3,
        ..RcLink::defaults()
    });
    case.parameters.queue = SwitchQueue::lossless();
    case
}

fn check(case: &Case, outcomes: &[Result<RunResult, RunError>; 2]) -> Result<(), TestCaseError> {
    let fails = case
        .faults
        .iter()
        .any(|fault| matches!(fault, Fault::FailedLink { .. }));
    prop_assert_eq!(&outcomes[0], &outcomes[1]);
    match &outcomes[0] {
        Ok(result) => {
            prop_assert_eq!(result.parts.total(), result.total);
            let mut at = SimTime::ZERO;
            for step in &result.critical_path {
                prop_assert!(step.ready >= at && step.done >= step.ready);
                at = step.done;
            }
            let busiest = result.links.iter().map(|(_, account)| account.busy).max();
            prop_assert!(busiest.unwrap_or_default() <= result.hardware + SimTime::from_ps(1000));
        }
        Err(RunError::Stop(stop)) => {
            // Only what a failed link holds up, or sends in vain, never ends.
            let has_ended = matches!(
                stop.reason,
                StopReason::Stalled | StopReason::Deadlock | StopReason::QueuePairFatal { .. }
            );
            prop_assert!(has_ended && fails, "{:?}", stop);
            prop_assert!(!stop.waits.is_empty());
        }
        Err(RunError::Setup(error)) => prop_assert!(false, "{error}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_run_ends(case in cases()) {
        let Ok(schedule) = build(case.collective, case.algorithm, &case.options) else {
            return Ok(());
        };
        let n = schedule.ranks();
        let topology = if case.on_ring { ring(n) } else { star(n) };
        let flow = || outcome(&case, &schedule, &topology, &mut FlowNetwork::new());
        check(&case, &[flow(), flow()])?;
        let packet = || {
            let mut network = PacketNetwork::new(&case.parameters);
            outcome(&case, &schedule, &topology, &mut network)
        };
        check(&case, &[packet(), packet()])?;
        let case = layered(case);
        let all = || {
            let mut network = PacketNetwork::new(&case.parameters);
            outcome(&case, &schedule, &topology, &mut network)
        };
        check(&case, &[all(), all()])?;
    }
}
