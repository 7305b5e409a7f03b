//! Speed and memory of whole runs, chips and network together, against the bare event queue.

#[path = "reference/hold.rs"]
mod reference;

use std::time::Duration;

use tier6_collective::{Collective, Grain, Handshake};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, Fabric, FlowNetwork, G5Parameters, Job, Program, Recording,
    RingPace, RingProgram, RunOptions, run,
};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

use reference::{hold, timed};

const TURNS: u32 = 5;
const BYTES: Bytes = Bytes::new(16 << 20);

fn main() {
    let ring = topology(1024, FabricSpec::ring());
    let large = topology(4096, FabricSpec::ring());
    let (star, tree) = (star(256), fat_tree(256, 16));
    let exchange =
        ExchangeProgram::new(256, BYTES, Grain::Message, ExchangeOrder::AllAtOnce).unwrap();
    let (short, long) = (all_reduce(1024), all_reduce(4096));
    // As peers run it: a rank also finishes its own send before the next step.
    let medium = RingProgram::new(
        Collective::AllReduce,
        256,
        BYTES,
        Grain::Message,
        RingPace::OwnSend,
    );
    let medium = medium.unwrap().with_handshake(Handshake::Eager);
    let cases: [(&str, &dyn Fn() -> f64); 6] = [
        ("hold model, 6.3 M events", &|| {
            hold(1024, 6_300_000) as f64 / 1e6
        }),
        ("ring of 1,024, 2.1 M messages", &|| once(&ring, &short)),
        ("all to all, star of 256", &|| once(&star, &exchange)),
        ("all to all, fat tree of 256", &|| once(&tree, &exchange)),
        ("ring of 256 on a fat tree", &|| once(&tree, &medium)),
        ("ring of 4,096, 33.5 M messages", &|| once(&large, &long)),
    ];
    let only: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| {
        let mut words = only.iter().filter(|word| !word.starts_with('-')).peekable();
        words.peek().is_none() || words.any(|word| name.contains(word.as_str()))
    };
    let mut least = [Duration::MAX; 6];
    let mut results = [0.0; 6];
    let mut memory = [None; 6];
    for turn in 0..TURNS {
        for (index, (name, work)) in cases.iter().enumerate() {
            let is_long = index == 5;
            if is_wanted(name) && (turn == 0 || !is_long) {
                let (time, result) = timed(work);
                least[index] = least[index].min(time);
                results[index] = result;
                memory[index] = memory[index].or_else(peak_mib);
            }
        }
    }
    for (index, (name, _)) in cases.iter().enumerate() {
        if least[index] < Duration::MAX {
            let time = least[index].as_secs_f64();
            let ratio = time / least[0].as_secs_f64();
            let mib = memory[index].map_or(String::new(), |mib| {
                format!(", at most {mib} MiB until then")
            });
            println!(
                "{name:32} {:8.1} ms, {ratio:.2} of the hold model, {:.2} us simulated{mib}",
                time * 1e3,
                results[index],
            );
        }
    }
}

fn all_reduce(ranks: u32) -> RingProgram {
    let grain = Grain::Message;
    RingProgram::new(
        Collective::AllReduce,
        ranks,
        BYTES,
        grain,
        RingPace::Arrival,
    )
    .unwrap()
}

/// Returns the simulated time in microseconds.
fn once(topology: &Topology, program: &dyn Program) -> f64 {
    let parameters = G5Parameters::ideal();
    let mut fabric = Fabric::new(topology, &parameters, &[], 0).unwrap();
    let chips: Vec<ChipId> = (0..program.ranks()).map(ChipId::new).collect();
    let job = Job {
        program,
        chips: &chips,
        start: SimTime::ZERO,
        flow: 0,
    };
    let options = RunOptions {
        critical_path: Recording::Off,
        ..RunOptions::new()
    };
    let mut network = FlowNetwork::new();
    let result = run(&[job], &mut fabric, &mut network, &parameters, &options).unwrap();
    result.total.to_micros().get()
}

fn peak_mib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

fn topology(n_chips: u32, fabric: FabricSpec) -> Topology {
    let rate = GbPerSec::new(50.0);
    let spec = SystemSpec::uniform(n_chips, fabric, rate, Micros::new(0.5));
    spec.resolve().unwrap()
}

fn star(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::star())
}
fn fat_tree(n_chips: u32, down: u32) -> Topology {
    topology(n_chips, FabricSpec::fat_tree(down, down))
}
