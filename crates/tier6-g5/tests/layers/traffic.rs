//! Messages between chips, straight into a network: no program, no engines.

use crate::fidelity::network;
use tier6_des::Agenda;
use tier6_g5::network::{Context, Message, MessageId, Network, Notice, PathId};
use tier6_g5::{Fabric, G5Parameters, LinkAccount, PathRequest, Timeline, Wait};
use tier6_system::{ChipId, FabricSpec, LinkId, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

/// Payload and wire bytes of a full frame.
pub const PAYLOAD: u64 = 1_344;
pub const FRAME: u64 = 1_402;

/// A message, and when its chip hands it over.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub at: SimTime,
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
}

/// What became of the messages.
#[derive(Debug, Default)]
pub struct Outcome {
    pub arrived: Vec<Option<SimTime>>,
    pub fatal: Vec<MessageId>,
    pub accounts: Vec<(LinkId, LinkAccount)>,
    pub waits: Vec<Wait>,
    pub audit: Option<String>,
    pub timeline: Timeline,
    pub packet_hops: u64,
}

enum Event<E> {
    Network(E),
    Inject(usize),
}

impl<E> From<E> for Event<E> {
    fn from(event: E) -> Self {
        Self::Network(event)
    }
}

/// Moves messages until nothing happens any more, or until a time.
pub fn drive(
    topology: &Topology,
    parameters: &G5Parameters,
    seed: u64,
    loads: &[Load],
    until: SimTime,
) -> Outcome {
    let network = network(parameters, seed);
    carry(network, topology, parameters, seed, loads, until)
}

/// [`drive`] on a given network.
pub fn carry<N: Network>(
    mut network: N,
    topology: &Topology,
    parameters: &G5Parameters,
    seed: u64,
    loads: &[Load],
    until: SimTime,
) -> Outcome {
    assert_eq!(parameters.check(), Ok(()));
    let mut fabric = Fabric::new(topology, parameters, &[], seed).unwrap();
    let paths: Vec<_> = (loads.iter())
        .map(|load| {
            let (from, to) = (ChipId::new(load.from), ChipId::new(load.to));
            let request = PathRequest::Send { from, to, flow: 0 };
            fabric.lay(request).unwrap()
        })
        .collect();
    let mut outcome = attempt(&mut network, &fabric, &paths, loads, until);
    while network.must_begin_again() {
        outcome = attempt(&mut network, &fabric, &paths, loads, until);
    }
    outcome
}

fn attempt<N: Network>(
    network: &mut N,
    fabric: &Fabric<'_>,
    paths: &[PathId],
    loads: &[Load],
    until: SimTime,
) -> Outcome {
    let mut agenda = Agenda::new();
    for (number, load) in loads.iter().enumerate() {
        agenda.at(load.at, Event::Inject(number));
    }
    let mut outcome = Outcome {
        arrived: vec![None; loads.len()],
        ..Outcome::default()
    };
    let mut notices = Vec::new();
    network.start(&mut Context {
        fabric,
        agenda: &mut agenda,
        notices: &mut notices,
        timeline: Some(&mut outcome.timeline),
    });
    while let Some((now, event)) = agenda.pop()
        && now <= until
        && !network.is_in_doubt()
    {
        let mut context = Context {
            fabric,
            agenda: &mut agenda,
            notices: &mut notices,
            timeline: Some(&mut outcome.timeline),
        };
        match event {
            Event::Network(event) => network.handle(event, now, &mut context),
            Event::Inject(number) => {
                let message = Message {
                    id: MessageId(u32::try_from(number).unwrap()),
                    path: paths[number],
                    bytes: loads[number].bytes,
                    pace: ByteTime::ZERO,
                };
                network.inject(message, now, &mut context);
            }
        }
        for notice in notices.drain(..) {
            match notice {
                Notice::Arrived(id) => outcome.arrived[id.0 as usize] = Some(now),
                Notice::Fatal { id, .. } => outcome.fatal.push(id),
                Notice::Sent(_) | Notice::Answered(_) => {}
            }
        }
    }
    outcome.accounts = network.accounts(fabric);
    outcome.waits = network.waits(fabric);
    outcome.audit = network.audit().err();
    outcome.packet_hops = network.packet_hops();
    outcome
}

impl Outcome {
    /// Returns when a message was there, in microseconds.
    pub fn us(&self, number: usize) -> f64 {
        let time = self.arrived[number].expect("the message arrives");
        time.to_micros().get()
    }

    pub fn all_arrived(&self) -> bool {
        self.arrived.iter().all(Option::is_some)
    }

    pub fn sum(&self, part: impl Fn(&LinkAccount) -> u64) -> u64 {
        self.accounts.iter().map(|(_, account)| part(account)).sum()
    }
}

/// Runs to the end, and checks that everything arrived and nothing is left.
pub fn complete(topology: &Topology, parameters: &G5Parameters, loads: &[Load]) -> Outcome {
    let outcome = drive(topology, parameters, 1, loads, SimTime::NEVER);
    assert!(outcome.all_arrived(), "{:?}", outcome.waits);
    assert_eq!(outcome.audit, None);
    outcome
}

pub fn load(from: u32, to: u32, bytes: u64) -> Load {
    Load {
        at: SimTime::ZERO,
        from,
        to,
        bytes,
    }
}

pub fn system(n_chips: u32, fabric: FabricSpec, rate: f64, latency_us: f64) -> Topology {
    SystemSpec::uniform(
        n_chips,
        fabric,
        GbPerSec::new(rate),
        Micros::new(latency_us),
    )
    .resolve()
    .unwrap()
}

pub fn star(n_chips: u32, rate: f64, latency_us: f64) -> Topology {
    let fabric = FabricSpec::star();
    system(n_chips, fabric, rate, latency_us)
}

pub fn mesh(n_chips: u32, rate: f64, latency_us: f64) -> Topology {
    system(n_chips, FabricSpec::FullMesh, rate, latency_us)
}

/// Frames and a reliable link, without anything that limits: windows and buffers without bound,
/// acknowledgements at once, no time in the transaction layer.
pub fn open_layers() -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    let defaults = G5Parameters::defaults();
    parameters.paxi = defaults.paxi.map(|paxi| tier6_g5::Paxi {
        latency: SimTime::ZERO,
        outstanding: u32::MAX,
        ..paxi
    });
    parameters.rc_link = defaults.rc_link.map(|link| tier6_g5::RcLink {
        sequence_bits: 24,
        window: (1 << 23) - 1,
        credits: None,
        ack: tier6_g5::AckMerge::Never,
        ..link
    });
    parameters
}

/// Seeded numbers (splitmix64).
pub struct Draws(pub u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in (0, 1].
    pub fn share(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below a bound.
    pub fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.bits() % u64::from(bound)).unwrap()
    }
}
