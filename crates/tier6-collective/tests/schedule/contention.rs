//! FACTS B.4: what schedules cost on a ring of N chips with a link per direction, shortest paths,
//! step by step, in units of M/b.

use std::collections::BTreeMap;

use tier6_collective::{
    Algorithm, BuildOptions, Collective, Distance, Endpoint, PairBytes, Schedule, build,
};
use tier6_units::Bytes;

const M: u64 = 1 << 20;

/// How a message goes to the rank across.
#[derive(Clone, Copy, PartialEq)]
enum Across {
    Up,
    BothWays,
}

/// A link: from a chip, up or down.
type Link = (u32, bool);

/// Adds the pair's bytes to the links of its shortest path.
fn route(ranks: u32, pair: &PairBytes, across: Across, loads: &mut BTreeMap<Link, f64>) {
    let (Endpoint::Rank(src), Endpoint::Rank(dst)) = (pair.from, pair.to) else {
        panic!("a ring has no switch");
    };
    let (up, down) = (
        (dst.0 + ranks - src.0) % ranks,
        (src.0 + ranks - dst.0) % ranks,
    );
    let share_up = if up == down && across == Across::BothWays {
        0.5
    } else {
        f64::from(u8::from(up <= down))
    };
    let bytes = pair.bytes as f64;
    if share_up > 0.0 {
        for hop in 0..up {
            *loads.entry(((src.0 + hop) % ranks, true)).or_default() += share_up * bytes;
        }
    }
    if share_up < 1.0 {
        for hop in 0..down {
            let chip = (src.0 + ranks - hop) % ranks;
            *loads.entry((chip, false)).or_default() += (1.0 - share_up) * bytes;
        }
    }
}

fn busiest(loads: &BTreeMap<Link, f64>) -> f64 {
    loads.values().copied().fold(0.0, f64::max)
}

/// The busiest link of each step, summed.
fn by_step(schedule: &Schedule, across: Across) -> f64 {
    let mut steps: BTreeMap<u32, BTreeMap<Link, f64>> = BTreeMap::new();
    for pair in schedule.pair_bytes() {
        let loads = steps.entry(pair.step).or_default();
        route(schedule.ranks(), &pair, across, loads);
    }
    steps.values().map(busiest).sum::<f64>() / M as f64
}

/// The busiest link of all steps together: what perfect pipelining leaves.
fn together(schedule: &Schedule, across: Across) -> f64 {
    let mut loads = BTreeMap::new();
    for pair in schedule.pair_bytes() {
        route(schedule.ranks(), &pair, across, &mut loads);
    }
    busiest(&loads) / M as f64
}

fn made(
    collective: Collective,
    algorithm: Algorithm,
    ranks: u32,
    change: impl Fn(&mut BuildOptions),
) -> Schedule {
    let mut options = BuildOptions::new(ranks, Bytes::new(M));
    change(&mut options);
    build(collective, algorithm, &options).unwrap()
}

#[test]
fn the_contention_table_comes_from_the_schedules() {
    // Ring, halving-doubling near first and far first, recursive doubling, Swing, double tree
    // in one piece and piped, pairwise, bisection floor; three digits as printed.
    let table: [(u32, [f64; 9]); 4] = [
        (4, [1.50, 2.0, 2.5, 3.0, 1.50, 3.0, 2.0, 1.00, 0.50]),
        (8, [1.75, 3.0, 5.25, 7.0, 2.00, 5.0, 2.5, 2.00, 1.00]),
        (16, [1.875, 4.0, 10.625, 15.0, 2.375, 7.0, 3.5, 4.00, 2.00]),
        (32, [1.9375, 5.0, 21.3125, 31.0, 2.75, 9.0, 4.5, 8.00, 4.00]),
    ];
    for (ranks, expected) in table {
        let all_reduce = |algorithm, change: &dyn Fn(&mut BuildOptions)| {
            made(Collective::AllReduce, algorithm, ranks, change)
        };
        let near = |o: &mut BuildOptions| o.distance = Distance::Doubling;
        let plain = |_: &mut BuildOptions| ();
        let tree = all_reduce(Algorithm::Tree, &plain);
        let pairwise = made(Collective::AllToAll, Algorithm::Pairwise, ranks, plain);
        let found = [
            by_step(&all_reduce(Algorithm::Ring, &plain), Across::Up),
            by_step(&all_reduce(Algorithm::HalvingDoubling, &near), Across::Up),
            by_step(&all_reduce(Algorithm::HalvingDoubling, &plain), Across::Up),
            by_step(
                &all_reduce(Algorithm::RecursiveDoubling, &plain),
                Across::Up,
            ),
            by_step(&all_reduce(Algorithm::Swing, &plain), Across::Up),
            by_step(&tree, Across::Up),
            together(&tree, Across::Up),
            by_step(&pairwise, Across::Up),
            together(&pairwise, Across::BothWays),
        ];
        for (column, (found, expected)) in found.iter().zip(expected).enumerate() {
            // Sums of a few exact binary fractions.
            assert!(
                (found - expected).abs() < 1e-9,
                "N = {ranks}, column {column}: {found}"
            );
        }
    }
}

#[test]
fn splitting_the_exchange_across_saves_half_a_message() {
    for ranks in [4, 8, 16, 32] {
        let near = |o: &mut BuildOptions| o.distance = Distance::Doubling;
        let schedule = made(
            Collective::AllReduce,
            Algorithm::HalvingDoubling,
            ranks,
            near,
        );
        let saved = by_step(&schedule, Across::Up) - by_step(&schedule, Across::BothWays);
        assert!((saved - 0.5).abs() < 1e-9, "N = {ranks}: {saved}");
    }
}

#[test]
fn pairwise_contention_is_n_squared_over_four_n_minus_one() {
    for ranks in [4, 6, 8, 10, 16, 32] {
        // A multiple of N so that all blocks are alike.
        let mut options = BuildOptions::new(ranks, Bytes::new(u64::from(ranks) << 10));
        options.distance = Distance::Halving;
        let schedule = build(Collective::AllToAll, Algorithm::Pairwise, &options).unwrap();
        let n = f64::from(ranks);
        let crossbar = (n - 1.0) * 1024.0 / M as f64;
        let factor = by_step(&schedule, Across::Up) / crossbar;
        assert!(
            (factor - n * n / (4.0 * (n - 1.0))).abs() < 1e-9,
            "N = {ranks}: {factor}"
        );
    }
}

#[test]
fn document_004_follows_from_link_loads() {
    // FACTS finding 6: at N = 8 ring / HD = 0.58, ring / tree = 0.35, A2A / theory = 2.29.
    let plain = |_: &mut BuildOptions| ();
    let near = |o: &mut BuildOptions| o.distance = Distance::Doubling;
    let ring = by_step(
        &made(Collective::AllReduce, Algorithm::Ring, 8, plain),
        Across::Up,
    );
    let hd = made(Collective::AllReduce, Algorithm::HalvingDoubling, 8, near);
    let tree = made(Collective::AllReduce, Algorithm::Tree, 8, plain);
    let exchange = made(Collective::AllToAll, Algorithm::Pairwise, 8, plain);
    assert!((ring / by_step(&hd, Across::Up) - 0.583).abs() < 5e-4);
    assert!((ring / by_step(&tree, Across::Up) - 0.350).abs() < 5e-4);
    assert!((by_step(&exchange, Across::Up) / 0.875 - 2.286).abs() < 5e-4);
}
