//! Every key of `[g5]` changes some run: none is read and then forgotten.
//!
//! A case is a system with one key and without it, or with another value, on a small call in
//! which the key matters. The list of keys is that of the types themselves, so a new key needs a
//! case here.

#[path = "every_key/cases.rs"]
mod cases;

use std::collections::BTreeSet;
use std::fmt::Debug;

use tier6_collective::{Algorithm, BuildOptions, Collective, Handshake, Protocol, RankId, build};
use tier6_des::Limits;
use tier6_g5::{
    Fabric, G5Parameters, Job, LinkAccount, Lowered, PacketNetwork, RunError, RunOptions, moved,
    run,
};
use tier6_system::{
    CdmaSpec, ChannelsSpec, ChipId, CreditsSpec, DcqcnSpec, EcnSpec, FabricSpec, G5Spec,
    MemorySpec, MessageSpec, PaxiSpec, PfcSpec, QueueSpec, RcLinkSpec, SystemSpec, Topology,
};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use cases::CASES;

/// A call that is small and has what some layer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// A ring on one switch.
    Ring,
    /// Every chip to every other at once, on one switch.
    Exchange,
    /// Several chips to one, on one switch.
    Incast,
    /// The same for longer.
    Long,
    /// Several chips to one, each with the receiver's leave.
    Granted,
    /// Every chip to every other at once, over leaves and spines.
    Spines,
    /// Every chip to every other at once, beside multicasts of each, on one switch.
    Beside,
}

/// A key, and two `[g5]` that differ in it.
struct Case {
    key: &'static str,
    scene: Scene,
    protocol: Protocol,
    common: &'static str,
    without: &'static str,
    with: &'static str,
}

const RANKS: u32 = 8;

fn topology(scene: Scene, g5: &str) -> Topology {
    let fabric = match scene {
        Scene::Ring
        | Scene::Granted
        | Scene::Exchange
        | Scene::Incast
        | Scene::Long
        | Scene::Beside => FabricSpec::star(),
        Scene::Spines => FabricSpec::fat_tree(2, 2),
    };
    let spec = SystemSpec::uniform(RANKS, fabric, GbPerSec::new(50.0), Micros::new(0.5));
    let text = spec.to_toml() + "\n" + g5;
    let spec = SystemSpec::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    spec.resolve().unwrap()
}

/// What is compared: when the call was over, and what its links tell of queues and losses; or why
/// it stopped.
fn outcome(case: &Case, key: &str) -> String {
    let topology = topology(case.scene, &format!("{}\n{key}\n", case.common));
    let (parameters, share) = G5Parameters::of_protocol(&topology, case.protocol).unwrap();
    assert_eq!(parameters.check(), Ok(()), "{}", case.key);
    let (collective, algorithm) = match case.scene {
        Scene::Ring => (Collective::AllReduce, Algorithm::Ring),
        Scene::Exchange | Scene::Beside | Scene::Spines => {
            (Collective::AllToAll, Algorithm::Direct)
        }
        Scene::Incast | Scene::Long | Scene::Granted => (Collective::Gather, Algorithm::Direct),
    };
    let kib = match case.scene {
        Scene::Long => 1_200,
        _ => 300,
    };
    let bytes = moved(Bytes::new(u64::from(RANKS) * (kib << 10)), share);
    let mut build_options = BuildOptions::new(RANKS, bytes);
    build_options.root = RankId(0);
    let schedule = build(collective, algorithm, &build_options).unwrap();
    let program = Lowered::new(&schedule);
    let program = match case.scene {
        Scene::Granted => program.with_handshake(Handshake::Rendezvous),
        _ => program,
    };
    let chips: Vec<_> = (0..RANKS).map(ChipId::new).collect();
    let mut fabric = Fabric::new(&topology, &parameters, &[], 3).unwrap();
    let job = Job {
        program: &program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    // Multicasts, of which only one scene has some.
    let beside = build(Collective::AllGather, Algorithm::Nvls, &build_options).unwrap();
    let beside = Lowered::new(&beside);
    let beside = Job {
        program: &beside,
        ..job
    };
    let jobs = match case.scene {
        Scene::Beside => vec![job, beside],
        _ => vec![job],
    };
    let options = RunOptions {
        limits: Limits {
            events: 10_000_000,
            time: SimTime::from_ps(1_000_000_000_000),
        },
        ..RunOptions::new()
    };
    let mut network = PacketNetwork::new(&parameters);
    match run(&jobs, &mut fabric, &mut network, &parameters, &options) {
        Ok(result) => {
            let told = result.links.iter().map(|(_, link)| {
                let LinkAccount {
                    credit_stall,
                    paused,
                    peak_queue,
                    marked,
                    lost,
                    resent,
                    ..
                } = link;
                format!("{credit_stall} {paused} {peak_queue} {marked} {lost} {resent}")
            });
            format!("{} {:?}", result.total, told.collect::<Vec<_>>())
        }
        Err(RunError::Stop(stop)) => stop.to_string(),
        Err(RunError::Setup(error)) => panic!("{}: {error}", case.key),
    }
}

#[test]
fn every_key_changes_a_run() {
    let silent = CASES.iter().filter(|case| {
        let [without, with] = [case.without, case.with].map(|key| outcome(case, key));
        without == with
    });
    let silent: Vec<_> = silent.map(|case| case.key).collect();
    assert!(silent.is_empty(), "without effect: {silent:?}");
}

/// The names of a type's fields, which are the keys of its table.
fn keys(table: &str, of: &impl Debug) -> Vec<String> {
    let text = format!("{of:?}");
    let (_, fields) = text.split_once(" { ").unwrap();
    let names = fields
        .split(", ")
        .map(|field| field.split_once(':').unwrap().0);
    let names = names.map(|name| if name == "state" { "enabled" } else { name });
    names.map(|name| format!("{table}{name}")).collect()
}

#[test]
fn no_key_is_forgotten_here() {
    let tables = [
        keys("cdma.", &CdmaSpec::default()),
        keys("memory.", &MemorySpec::default()),
        keys("paxi.", &PaxiSpec::default()),
        keys("rc_link.", &RcLinkSpec::default()),
        keys("rc_link.channels.", &ChannelsSpec::default()),
        keys("rc_link.credits.", &CreditsSpec::default()),
        keys("ll.", &MessageSpec::default()),
        keys("ll128.", &MessageSpec::default()),
        keys("switch.", &QueueSpec::default()),
        keys("switch.pfc.", &PfcSpec::default()),
        keys("switch.ecn.", &EcnSpec::default()),
        keys("dcqcn.", &DcqcnSpec::default()),
        ["paths.choice", "paths.flows"].map(str::to_owned).into(),
    ];
    let inner = tables.iter().flatten().cloned();
    let tried: BTreeSet<_> = CASES.iter().map(|case| case.key.to_owned()).collect();
    // A key that is a table stands for its keys.
    let is_table = |key: &String| {
        tried
            .iter()
            .any(|other| other.starts_with(&format!("{key}.")))
    };
    let all = keys("", &G5Spec::default()).into_iter().chain(inner);
    let all: BTreeSet<_> = all.filter(|key| !is_table(key)).collect();
    assert_eq!(tried, all);
}
