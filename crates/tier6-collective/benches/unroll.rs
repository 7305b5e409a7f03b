//! How long does it take to build and to prove a schedule of 1,024 ranks, and in how much memory?
//! And how long to index it for an engine, by dependents and queues?
//!
//! Every algorithm, collective and form that is offered runs in a process of its own, so that the
//! peak is its own. Seconds are of the processor, not of the wall: other work on the machine does
//! not count. Processor time and peak are read where Linux tells them; elsewhere they are absent.
//!
//! `cargo bench -p tier6-collective` runs all; a word behind `--` keeps the cases that contain it.

use std::env;
use std::fs;
use std::hint::black_box;
use std::process::Command;

use tier6_collective::{
    Algorithm, BidirForm, BuildOptions, Collective, Distance, Fold, GatherForm, Partner,
    SecondShot, TorusPorts, Trees, build, offered,
};
use tier6_units::Bytes;

const RANKS: u32 = 1024;

/// Marks a process that runs one case.
const CASE_NAME: &str = "TIER6_UNROLL_CASE";

/// A name and what differs from the plain options.
type Form = (&'static str, fn(&mut BuildOptions));

/// A name, what is built, and what differs from the plain options.
type Case = (String, Algorithm, Collective, fn(&mut BuildOptions));

fn main() {
    if let Ok(name) = env::var(CASE_NAME) {
        return run(&name);
    }
    let wanted: Vec<String> = env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    println!(
        "{RANKS} ranks{:>44} build s  check s  index s  bytes each  peak MB  with check",
        "transfers"
    );
    for (name, ..) in cases() {
        if !wanted.iter().all(|word| name.contains(word.as_str())) {
            continue;
        }
        let own = env::current_exe().expect("a running program has a file");
        let status = Command::new(own).env(CASE_NAME, name).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
}

/// Runs a case and prints its line.
fn run(name: &str) {
    let (_, algorithm, collective, change) = cases()
        .into_iter()
        .find(|(other, ..)| other == name)
        .expect("the parent names one of the cases");
    let mut options = BuildOptions::new(RANKS, Bytes::new(1 << 30));
    change(&mut options);
    let (start, before) = (cpu_seconds(), peak_bytes());
    let schedule = build(collective, algorithm, &options).expect("the case is offered");
    let (built, peak) = (cpu_seconds(), peak_bytes());
    black_box(&schedule).check().expect("builders are right");
    let (checked, with_check) = (cpu_seconds(), peak_bytes());
    black_box((schedule.dependents(), schedule.queues()));
    let indexed = cpu_seconds();
    let n_transfers = schedule.transfers().len();
    let each = (peak - before) / n_transfers as f64;
    println!(
        "{name:<42} {n_transfers:>11} {:>7.3} {:>8.3} {:>8.3} {each:>11.1} {:>8.1} {:>11.1}",
        built - start,
        checked - built,
        indexed - checked,
        peak / 1e6,
        with_check / 1e6,
    );
}

fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for algorithm in Algorithm::ALL {
        for &collective in offered(algorithm) {
            for &(form, change) in forms(algorithm) {
                let name = format!("{algorithm} {collective} {form}");
                list.push((name.trim_end().to_owned(), algorithm, collective, change));
            }
        }
    }
    list
}

fn forms(algorithm: Algorithm) -> &'static [Form] {
    match algorithm {
        Algorithm::BidirRing => &[
            ("short side", |o| o.bidir = BidirForm::ShortSide),
            ("split data", |o| o.bidir = BidirForm::SplitData),
        ],
        Algorithm::HalvingDoubling => &[
            ("", |_| ()),
            ("near first", |o| o.distance = Distance::Doubling),
            ("of 1000, whole folds", |o| o.ranks = 1000),
            ("of 1000, halved folds", |o| {
                (o.ranks, o.fold) = (1000, Fold::Halves);
            }),
        ],
        Algorithm::Tree => &[
            ("", |_| ()),
            ("16 pieces", |o| o.pieces = 16),
            ("single", |o| o.trees = Trees::Single),
            ("over nodes of 8", |o| {
                (o.trees, o.ranks_per_node) = (Trees::OverNodes, Some(8));
            }),
        ],
        Algorithm::TwoShot => &[
            ("", |_| ()),
            ("multicast", |o| o.second_shot = SecondShot::Multicast),
        ],
        Algorithm::ScatterAllGather => &[
            ("", |_| ()),
            ("doubling", |o| o.gather = GatherForm::Doubling),
        ],
        Algorithm::Pairwise => &[("", |_| ()), ("xor", |o| o.partner = Partner::Xor)],
        Algorithm::Hierarchical
        | Algorithm::NvlsTree
        | Algorithm::CollNetDirect
        | Algorithm::CollNetChain => &[("8 per node", |o| o.ranks_per_node = Some(8))],
        Algorithm::Pat => &[("", |_| ()), ("block by block", |o| o.pat_blocks = Some(1))],
        Algorithm::TorusBucket => &[
            ("32 x 32, one port", |o| {
                o.torus = Some(vec![32, 32]);
                o.torus_ports = TorusPorts::One;
            }),
            ("32 x 32, all ports", |o| o.torus = Some(vec![32, 32])),
        ],
        Algorithm::Ring
        | Algorithm::RecursiveDoubling
        | Algorithm::SendRecvRing
        | Algorithm::Bruck
        | Algorithm::Direct
        | Algorithm::OneShot
        | Algorithm::Nvls
        | Algorithm::Binomial => &[("", |_| ())],
        Algorithm::Swing => &[("", |_| ()), ("of 1000", |o| o.ranks = 1000)],
    }
}

/// Returns the processor time of this thread.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.map_or(f64::NAN, |ns: f64| ns / 1e9)
}

/// Returns the most memory that this process had so far.
fn peak_bytes() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse().ok())
        .map_or(f64::NAN, |kib: f64| kib * 1024.0)
}
