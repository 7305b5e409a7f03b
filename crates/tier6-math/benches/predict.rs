//! How many predictions per second does one core make, and how long does a plan take?
//!
//! Prices a sweep of sizes by each kind of cost, and plans calls on systems of up to thousands of
//! ranks. The yardstick, in the same run, is the bare line alpha + M/B over the same sizes.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;
use tier6_collective::{Algorithm, Collective, Grain};
use tier6_math::law::Overlap;
use tier6_math::{Parameters, Pieces, Plan, Planner};
use tier6_system::{Topology, preset};
use tier6_units::Bytes;

const ROUNDS: u32 = 200_000;

/// A name, a system, an algorithm, and what differs from the system's parameters.
type Case<'a> = (
    &'a str,
    &'a Topology,
    Algorithm,
    &'a dyn Fn(&mut Parameters),
);

fn main() {
    let sizes: Vec<Bytes> = (3..34).map(|bits| Bytes::new(1 << bits)).collect();
    let line = rate(&sizes, |bytes| 20.0 + bytes.as_f64() / 369e3);
    println!("{:<38} {:>8.1} million/s", "alpha + M/B", line / 1e6);
    let node = system("h100-x8", None);
    let nodes = system("h100-x8-ib-ndr", Some(4));
    let pieces = NonZeroU32::new(16).expect("16 is not 0");
    let cases: [Case; 6] = [
        ("ring by messages", &node, Algorithm::Ring, &|_| ()),
        ("ring by slices", &node, Algorithm::Ring, &|p| {
            p.grain = Grain::Slices { bytes: 1 << 20 };
        }),
        ("tree in 16 pieces", &nodes, Algorithm::Tree, &|p| {
            p.pieces = Pieces::Count(pieces);
        }),
        ("tree in the best pieces", &nodes, Algorithm::Tree, &|p| {
            p.pieces = Pieces::Best;
        }),
        (
            "hierarchy, chunked",
            &nodes,
            Algorithm::Hierarchical,
            &|p| {
                p.overlap = Overlap::Chunked(pieces);
            },
        ),
        ("nvls", &node, Algorithm::Nvls, &|_| ()),
    ];
    for (name, topology, algorithm, change) in cases {
        let mut parameters = Parameters::of(topology);
        change(&mut parameters);
        let ranks = topology.n_chips();
        let collective = Collective::AllReduce;
        let plan = Plan::new(topology, collective, algorithm, ranks, &parameters);
        let plan = plan.expect("the case is in the domain");
        let ours = rate(&sizes, |bytes| plan.time(bytes).get());
        println!(
            "{name:<38} {:>8.1} million/s, {:.2} of the line's",
            ours / 1e6,
            ours / line
        );
    }
    protocols(&node, &sizes, line);
    println!();
    all_algorithms();
    println!();
    for (nodes, collective, algorithm) in [
        (128, Collective::AllReduce, Algorithm::Ring),
        (128, Collective::AllReduce, Algorithm::Tree),
        (128, Collective::AllReduce, Algorithm::Hierarchical),
        (128, Collective::AllReduce, Algorithm::HalvingDoubling),
        (128, Collective::AllGather, Algorithm::Bruck),
        (128, Collective::AllToAll, Algorithm::Direct),
        (128, Collective::AllToAll, Algorithm::Pairwise),
        (512, Collective::AllReduce, Algorithm::Ring),
        (512, Collective::AllReduce, Algorithm::Tree),
    ] {
        let topology = system("a100-x8-efa", Some(nodes));
        let parameters = Parameters::of(&topology);
        let ranks = topology.n_chips();
        let start = Instant::now();
        let plan = Plan::new(&topology, collective, algorithm, ranks, &parameters);
        let time = plan
            .expect("the case is in the domain")
            .time(Bytes::new(1 << 30));
        let took = start.elapsed().as_secs_f64();
        println!("plan of {algorithm} {collective}, {ranks} ranks: {took:.3} s (1 GiB: {time})");
    }
}

/// Prices a ring under every protocol, from one set of loads; and again at other prices.
fn protocols(topology: &Topology, sizes: &[Bytes], line: f64) {
    let parameters = Parameters::of(topology);
    let (collective, ring) = (Collective::AllReduce, Algorithm::Ring);
    let plans = Plan::by_protocol(topology, collective, ring, topology.n_chips(), &parameters);
    let plans = plans.expect("the case is in the domain");
    let all = rate(sizes, |bytes| {
        let times = plans.iter().map(|plan| plan.time(bytes).get());
        times.fold(f64::INFINITY, f64::min)
    });
    let all = all * plans.len() as f64;
    let name = "ring under three protocols";
    println!(
        "{name:<38} {:>8.1} million/s, {:.2} of the line's",
        all / 1e6,
        all / line
    );
    let start = Instant::now();
    let prices = plans[0].prices();
    for _ in 0..ROUNDS {
        let plan = plans[0].at(black_box(prices).clone());
        black_box(plan.expect("the prices are its own"));
    }
    let each = start.elapsed().as_secs_f64() / f64::from(ROUNDS);
    println!(
        "{:<38} {:>8.2} us",
        "the same call at other prices",
        each * 1e6
    );
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(plans[0].terms(black_box(sizes[20])));
    }
    let each = start.elapsed().as_secs_f64() / f64::from(ROUNDS);
    println!("{:<38} {:>8.2} us", "the terms of a message", each * 1e6);
}

/// Plans every algorithm under every protocol on 1,024 ranks behind leaves and spines.
fn all_algorithms() {
    let topology = system("h100-x8-ib-ndr", Some(128));
    let parameters = Parameters::of(&topology);
    for collective in [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::AllToAll,
    ] {
        let start = Instant::now();
        let mut planner = Planner::new(&topology);
        let mut n_plans = 0;
        for algorithm in Algorithm::ALL {
            let plans = planner.by_protocol(collective, algorithm, 1024, &parameters);
            n_plans += plans.map_or(0, |plans| plans.len());
        }
        let took = start.elapsed().as_secs_f64();
        println!("{n_plans} plans of {collective}, 1024 ranks: {took:.3} s");
    }
}

fn system(name: &str, nodes: Option<u32>) -> Topology {
    let spec = preset(name).expect("the preset exists");
    let spec = match nodes {
        Some(nodes) => spec.with_outer_count(nodes),
        None => spec,
    };
    spec.resolve().expect("presets resolve")
}

/// Returns predictions per second.
fn rate(sizes: &[Bytes], time: impl Fn(Bytes) -> f64) -> f64 {
    let start = Instant::now();
    let mut sum = 0.0;
    for _ in 0..ROUNDS {
        for bytes in sizes {
            sum += time(black_box(*bytes));
        }
    }
    black_box(sum);
    f64::from(ROUNDS) * sizes.len() as f64 / start.elapsed().as_secs_f64()
}
