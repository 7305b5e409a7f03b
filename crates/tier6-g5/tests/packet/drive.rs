//! Messages handed to a packet network at their times, without chips.

use std::collections::BTreeMap;

use tier6_des::Agenda;
use tier6_g5::network::{Context, Message, MessageId, Network, Notice, PathId};
use tier6_g5::{
    Fabric, FabricLinkId, Fault, G5Parameters, LinkAccount, PacketEvent, PacketNetwork,
    PathRequest, Paxi, RcLink, Wait,
};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

/// Payload and framing of the published frame.
pub const SEGMENT: u32 = 1344;
pub const OVERHEAD: u32 = 58;

/// A message between two chips.
#[derive(Debug, Clone, Copy)]
pub struct Send {
    pub at: SimTime,
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
}

/// What came of them.
#[derive(Debug)]
pub struct Outcome {
    pub arrived: BTreeMap<u32, SimTime>,
    pub fatal: Vec<(u32, u32)>,
    pub accounts: Vec<(String, LinkAccount)>,
    pub waits: Vec<Wait>,
    pub audit: Result<(), String>,
    pub packet_hops: u64,
}

impl Outcome {
    pub fn last(&self) -> SimTime {
        *self.arrived.values().max().unwrap()
    }

    pub fn account(&self, name: &str) -> LinkAccount {
        let found = self.accounts.iter().find(|(other, _)| other == name);
        found
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.accounts))
            .1
    }

    /// Sum of a figure over all links.
    pub fn total(&self, figure: impl Fn(&LinkAccount) -> u64) -> u64 {
        self.accounts
            .iter()
            .map(|(_, account)| figure(account))
            .sum()
    }
}

pub fn us(us: u64) -> SimTime {
    SimTime::from_ps(us * 1_000_000)
}

pub fn star(n_chips: u32) -> Topology {
    let fabric = FabricSpec::star();
    uniform(n_chips, fabric)
}

pub fn uniform(n_chips: u32, fabric: FabricSpec) -> Topology {
    let (rate, latency) = (GbPerSec::new(50.0), Micros::new(0.5));
    SystemSpec::uniform(n_chips, fabric, rate, latency)
        .resolve()
        .unwrap()
}

/// Frames with a link layer, nothing else.
pub fn framed() -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    parameters.paxi = Some(Paxi {
        latency: SimTime::ZERO,
        segment: SEGMENT,
        outstanding: 1 << 20,
    });
    parameters.rc_link = Some(RcLink {
        overhead: OVERHEAD,
        credits: None,
        ..RcLink::defaults()
    });
    parameters
}

pub fn send(from: u32, to: u32, bytes: u64) -> Send {
    Send {
        at: SimTime::ZERO,
        from,
        to,
        bytes,
    }
}

/// Moves messages until nothing happens any more.
pub fn drive(
    topology: &Topology,
    parameters: &G5Parameters,
    faults: &[Fault],
    seed: u64,
    sends: &[Send],
) -> Outcome {
    parameters.check().unwrap();
    let mut fabric = Fabric::new(topology, parameters, faults, seed).unwrap();
    let paths: Vec<_> = sends
        .iter()
        .map(|send| {
            let (from, to) = (ChipId::new(send.from), ChipId::new(send.to));
            fabric.lay(PathRequest::Send { from, to, flow: 0 }).unwrap()
        })
        .collect();
    let mut network = PacketNetwork::new(parameters);
    let mut outcome = attempt(&mut network, &fabric, &paths, sends);
    while network.must_begin_again() {
        outcome = attempt(&mut network, &fabric, &paths, sends);
    }
    outcome
}

fn attempt(
    network: &mut PacketNetwork,
    fabric: &Fabric<'_>,
    paths: &[PathId],
    sends: &[Send],
) -> Outcome {
    let mut agenda: Agenda<Step> = Agenda::new();
    for (at, send) in (0..).zip(sends) {
        agenda.at(send.at, Step::Send(at));
    }
    let mut outcome = Outcome {
        arrived: BTreeMap::new(),
        fatal: Vec::new(),
        accounts: Vec::new(),
        waits: Vec::new(),
        audit: Ok(()),
        packet_hops: 0,
    };
    let mut notices = Vec::new();
    macro_rules! context {
        () => {
            &mut Context {
                fabric,
                agenda: &mut agenda,
                notices: &mut notices,
                timeline: None,
            }
        };
    }
    network.start(context!());
    while let Some((now, step)) = agenda.pop() {
        match step {
            Step::Send(at) => {
                let message = Message {
                    id: MessageId(at),
                    path: paths[at as usize],
                    bytes: sends[at as usize].bytes,
                    pace: ByteTime::ZERO,
                };
                network.inject(message, now, context!());
            }
            Step::Network(event) => network.handle(event, now, context!()),
        }
        for notice in notices.drain(..) {
            match notice {
                Notice::Arrived(id) => {
                    outcome.arrived.insert(id.0, now);
                }
                Notice::Fatal { id, retries } => outcome.fatal.push((id.0, retries)),
                Notice::Sent(_) | Notice::Answered(_) => {}
            }
        }
        if !outcome.fatal.is_empty() || network.is_in_doubt() {
            break;
        }
    }
    let accounts = network.accounts(fabric).into_iter();
    outcome.accounts = accounts
        .map(|(link, account)| (fabric.link_name(FabricLinkId::from(link)), account))
        .collect();
    outcome.waits = network.waits(fabric);
    outcome.audit = network.audit();
    outcome.packet_hops = network.packet_hops();
    outcome
}

enum Step {
    Send(u32),
    Network(PacketEvent),
}

impl From<PacketEvent> for Step {
    fn from(event: PacketEvent) -> Self {
        Self::Network(event)
    }
}
