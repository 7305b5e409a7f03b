//! Speed of the fluid network alone, without chips, against the bare event queue in the same run.
//!
//! Words on the command line choose the cases whose names contain one of them.

#[path = "reference/hold.rs"]
mod reference;

use std::time::Duration;

use tier6_des::Agenda;
use tier6_g5::network::{Context, Message, MessageId, Network, Notice, PathId};
use tier6_g5::{Fabric, FlowEvent, FlowNetwork, G5Parameters, PathRequest};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

use reference::{hold, timed};

const TURNS: u32 = 5;
const BYTES: u64 = 16 << 20;

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let (ring, large, small, tree) = (ring(1024), star(256), star(64), fat_tree(256, 16));
    let even = |_| BYTES / 256;
    let uneven = |draw: u64| 100_000 + (draw >> 44);
    let cases: [(&str, &dyn Fn() -> u64); 5] = [
        ("hold model, 6.3 M events", &|| hold(1024, 6_300_000)),
        ("ring of 1,024, 2.1 M messages", &|| {
            shifts(&ring, 2046, BYTES / 1024)
        }),
        ("all to all, star of 256", &|| all_to_all(&large, even)),
        ("all to all, fat tree of 256", &|| all_to_all(&tree, even)),
        ("uneven all to all, star of 64", &|| {
            all_to_all(&small, uneven)
        }),
    ];
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let mut least = [Duration::MAX; 5];
    for _ in 0..TURNS {
        for ((name, work), least) in cases.iter().zip(&mut least) {
            if is_wanted(name) {
                *least = (*least).min(timed(work).0);
            }
        }
    }
    let hold = least[0].as_secs_f64();
    for ((name, _), time) in cases.iter().zip(least) {
        if time < Duration::MAX {
            let time = time.as_secs_f64();
            println!("{name:34} {:8.1} ms, {:.2}", time * 1e3, time / hold);
        }
    }
}

/// Time on a processor where the system tells it, else on the wall.
/// An event of the network; nobody else has any.
struct Bare(FlowEvent);

impl From<FlowEvent> for Bare {
    fn from(event: FlowEvent) -> Self {
        Self(event)
    }
}

/// A network and what it needs.
struct Bench<'t> {
    fabric: Fabric<'t>,
    network: FlowNetwork,
    agenda: Agenda<Bare>,
    notices: Vec<Notice>,
}

impl<'t> Bench<'t> {
    fn new(topology: &'t Topology) -> Self {
        let fabric = Fabric::new(topology, &G5Parameters::ideal(), &[], 0);
        let mut bench = Self {
            fabric: fabric.expect("Invariant: no faults"),
            network: FlowNetwork::new(),
            agenda: Agenda::new(),
            notices: Vec::new(),
        };
        let (network, mut context) = bench.parts();
        network.start(&mut context);
        bench
    }

    fn parts(&mut self) -> (&mut FlowNetwork, Context<'_, Bare>) {
        let context = Context {
            fabric: &self.fabric,
            agenda: &mut self.agenda,
            notices: &mut self.notices,
            timeline: None,
        };
        (&mut self.network, context)
    }

    fn lay(&mut self, from: u32, to: u32) -> PathId {
        let (from, to) = (ChipId::new(from), ChipId::new(to));
        let path = self.fabric.lay(PathRequest::Send { from, to, flow: 0 });
        path.expect("Invariant: the topology is connected")
    }

    fn inject(&mut self, id: u32, path: PathId, bytes: u64, now: SimTime) {
        let message = Message {
            id: MessageId(id),
            path,
            bytes,
            pace: ByteTime::ZERO,
        };
        let (network, mut context) = self.parts();
        network.inject(message, now, &mut context);
    }

    /// Handles the next event; the time, or `None` when nothing is left.
    fn next(&mut self) -> Option<SimTime> {
        let (now, Bare(event)) = self.agenda.pop()?;
        let (network, mut context) = self.parts();
        network.handle(event, now, &mut context);
        Some(now)
    }
}

/// Every rank passes on what arrives, `steps` times, as a ring does: messages of one rank go over
/// one path, and its name is that of the rank.
fn shifts(topology: &Topology, steps: u32, bytes: u64) -> u64 {
    let n_ranks = topology.n_chips();
    let mut bench = Bench::new(topology);
    let paths: Vec<PathId> = (0..n_ranks)
        .map(|rank| bench.lay(rank, (rank + 1) % n_ranks))
        .collect();
    let mut left = vec![steps - 1; n_ranks as usize];
    for (rank, path) in (0..).zip(&paths) {
        bench.inject(rank, *path, bytes, SimTime::ZERO);
    }
    let mut last = SimTime::ZERO;
    let mut notices = Vec::new();
    while let Some(now) = bench.next() {
        last = now;
        notices.append(&mut bench.notices);
        for notice in notices.drain(..) {
            let Notice::Arrived(MessageId(from)) = notice else {
                continue;
            };
            let to = (from + 1) % n_ranks;
            if left[to as usize] > 0 {
                left[to as usize] -= 1;
                bench.inject(to, paths[to as usize], bytes, now);
            }
        }
    }
    bench
        .network
        .audit()
        .expect("Invariant: everything arrives");
    last.ps()
}

/// Every rank sends to every other at once, as many bytes as a random number makes. When no two
/// messages are alike, each end is a change for all others.
fn all_to_all(topology: &Topology, bytes: impl Fn(u64) -> u64) -> u64 {
    let n_ranks = topology.n_chips();
    let mut bench = Bench::new(topology);
    let (mut id, mut state) = (0, 1_u64);
    for from in 0..n_ranks {
        for to in (0..n_ranks).filter(|to| *to != from) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let path = bench.lay(from, to);
            bench.inject(id, path, bytes(state), SimTime::ZERO);
            id += 1;
        }
    }
    let mut last = SimTime::ZERO;
    while let Some(now) = bench.next() {
        last = now;
    }
    bench
        .network
        .audit()
        .expect("Invariant: everything arrives");
    last.ps()
}

fn ring(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::ring())
}

fn topology(n_chips: u32, fabric: FabricSpec) -> Topology {
    let spec = SystemSpec::uniform(n_chips, fabric, GbPerSec::new(50.0), Micros::new(0.5));
    spec.resolve()
        .expect("Invariant: the fabric fits the chips")
}

fn star(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::star())
}

fn fat_tree(n_chips: u32, down: u32) -> Topology {
    topology(n_chips, FabricSpec::fat_tree(down, down))
}
