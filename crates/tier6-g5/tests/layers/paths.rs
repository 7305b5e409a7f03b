//! Equal paths on a fat tree (FACTS D.4): m flows of line rate from one leaf to another over m
//! spines.

use tier6_g5::{G5Parameters, PathChoice, Recovery};
use tier6_system::{FabricSpec, Topology};
use tier6_units::SimTime;

use crate::traffic::{PAYLOAD, complete, drive, load, open_layers, system};

const M: u32 = 8;
const PACKETS: u64 = 48;

fn fat_tree() -> Topology {
    let spec = FabricSpec::fat_tree(M, M);
    system(2 * M, spec, 50.0, 0.001)
}

/// Over seeds: mean time of the slowest flow and mean throughput of it, in units of a flow alone.
fn slowest(choice: PathChoice, seeds: u64) -> (f64, f64) {
    let mut parameters = G5Parameters::ideal();
    parameters.paxi = open_layers().paxi;
    parameters.paths = choice;
    let tree = fat_tree();
    let loads: Vec<_> = (0..M)
        .map(|flow| load(flow, M + flow, PACKETS * PAYLOAD))
        .collect();
    let alone = complete(&tree, &parameters, &loads[..1]).us(0);
    let (mut time, mut rate) = (0.0, 0.0);
    for seed in 0..seeds {
        let outcome = drive(&tree, &parameters, seed, &loads, SimTime::NEVER);
        assert!(outcome.all_arrived());
        let last = (0..loads.len())
            .map(|one| outcome.us(one))
            .fold(0.0, f64::max);
        time += last / alone;
        rate += alone / last;
    }
    (time / seeds as f64, rate / seeds as f64)
}

fn check(got: f64, expected: f64, what: &str) {
    assert!(
        (got / expected - 1.0).abs() < 0.05,
        "{what}: {got:.3}, expected {expected}"
    );
}

#[test]
fn hashed_flows_collide_as_balls_in_bins() {
    let (load, rate) = slowest(PathChoice::PerFlow, 300);
    check(load, 2.58, "largest load");
    check(rate, 0.41, "slowest flow");
}

#[test]
fn sub_flows_collide_less() {
    let (load, rate) = slowest(PathChoice::SubFlows(4), 200);
    check(load, 1.76, "largest load, 4 sub-flows");
    check(rate, 0.58, "slowest flow, 4 sub-flows");
    let (load, _) = slowest(PathChoice::SubFlows(16), 100);
    check(load, 1.37, "largest load, 16 sub-flows");
}

/// Flows that take their turns in step meet for one round, then never again.
#[test]
fn packets_in_turn_share_all_paths() {
    let (load, _) = slowest(PathChoice::Preferred, 3);
    assert!(load < 1.01, "{load}");
    let (load, _) = slowest(PathChoice::RoundRobin, 3);
    let round = f64::from(M) / PACKETS as f64;
    assert!(load < 1.02 + round, "{load}");
    let (load, _) = slowest(PathChoice::Spray, 20);
    assert!(load < 1.5, "{load}");
}

/// Packets that overtake each other are no loss to a selective receiver. One that goes back takes
/// them for loss, unless every way has a queue pair of its own.
#[test]
fn spraying_needs_a_receiver_that_takes_any_order() {
    let with = |recovery| {
        let mut parameters = open_layers();
        parameters.paths = PathChoice::Spray;
        let link = parameters.rc_link.as_mut().unwrap();
        link.recovery = recovery;
        link.retries = 1_000;
        let loads: Vec<_> = (0..M)
            .map(|flow| load(flow, M + flow, 200 * PAYLOAD))
            .collect();
        complete(&fat_tree(), &parameters, &loads)
    };
    let selective = with(Recovery::Selective { reorder: 100 });
    assert_eq!(selective.sum(|one| one.resent), 0);
    let go_back = with(Recovery::GoBackN);
    assert!(go_back.us(0) >= selective.us(0));
}
