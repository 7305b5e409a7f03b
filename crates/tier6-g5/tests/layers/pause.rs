//! Pause frames (FACTS D.2): nothing is lost, and others pay.

use tier6_g5::{G5Parameters, Pfc, SwitchQueue};
use tier6_system::{Direction, EdgeSpec, FabricSpec, Topology, VertexSpec};
use tier6_units::SimTime;

use crate::traffic::{PAYLOAD, complete, load, open_layers, star, system};

fn with_buffer(bytes: u64, pfc: Option<Pfc>) -> G5Parameters {
    let mut parameters = open_layers();
    parameters.queue = SwitchQueue {
        buffer: Some(bytes),
        dynamic_threshold: 1.0,
        pfc,
        ecn: None,
    };
    parameters
}

fn small_pauses() -> Pfc {
    let rate = tier6_units::ByteTime::at(tier6_units::GbPerSec::new(50.0));
    Pfc {
        headroom: Pfc::headroom_for(SimTime::from_ps(500_000), rate, 1_402),
        ..Pfc::hpcc()
    }
}

/// An incast into a small buffer: with pauses nothing is lost; without, go-back-N repairs it.
#[test]
fn pauses_lose_nothing() {
    let star = star(9, 50.0, 0.5);
    let loads: Vec<_> = (0..8).map(|sender| load(sender, 8, 2_000_000)).collect();
    let us = 8.0 * 2_000_000.0 * 1_402.0 / 1_344.0 / 50e3;
    let paused = complete(&star, &with_buffer(1_000_000, Some(small_pauses())), &loads);
    assert_eq!(paused.sum(|one| one.lost), 0);
    assert!(paused.sum(|one| one.paused.ps()) > 0);
    let last = (0..8).map(|one| paused.us(one)).fold(0.0, f64::max);
    assert!(
        last < 1.01 * us + 1.5,
        "the port is never idle: {last} for {us}"
    );

    let mut dropping = with_buffer(200_000, None);
    dropping.rc_link.as_mut().unwrap().retries = 1_000;
    let dropped = complete(&star, &dropping, &loads);
    assert!(dropped.sum(|one| one.lost) > 0);
    assert!(dropped.sum(|one| one.resent) > 0);
    let last = (0..8).map(|one| dropped.us(one)).fold(0.0, f64::max);
    assert!(last > us, "{last} for {us}");
}

/// Two switches with one cable between: chips 0, 1 on the left, 2 to 6 on the right.
fn dumbbell() -> Topology {
    let vertex = |name: &str| VertexSpec {
        name: name.into(),
        switch: "switch".into(),
    };
    let edge = |from: String, to: &str| EdgeSpec {
        from: from.into(),
        to: to.into(),
        direction: Direction::BothWays,
        link: None,
        lanes: None,
    };
    let chip = |chip: u32, switch: &str| edge(format!("chip{chip}"), switch);
    let mut edges = vec![edge("left".to_owned(), "right")];
    edges.extend((0..2).map(|one| chip(one, "left")));
    edges.extend((2..7).map(|one| chip(one, "right")));
    let fabric = FabricSpec::Graph {
        vertices: vec![vertex("left"), vertex("right")],
        edges,
    };
    system(7, fabric, 50.0, 0.5)
}

/// Chips 0, 2, 3 and 4 send to 5, which gives each a quarter; 1 sends to 6, which is idle. Pauses
/// stop the cable between the switches for the sake of 5, and 6's flow with it: it gets what 0
/// gets, though half of the cable is free.
#[test]
fn a_pause_stops_a_victim() {
    let topology = dumbbell();
    let bytes = 10_000_000;
    let loads = [
        load(0, 5, bytes),
        load(2, 5, bytes),
        load(3, 5, bytes),
        load(4, 5, bytes),
        load(1, 6, bytes),
    ];
    let alone = bytes as f64 / 50e3 * 1_402.0 / PAYLOAD as f64;
    let times = |parameters: &G5Parameters| {
        let outcome = complete(&topology, parameters, &loads);
        let last = (0..4).map(|one| outcome.us(one)).fold(0.0, f64::max);
        assert!(
            last < 4.0 * alone * 1.01 + 3.0,
            "the port is never idle: {last}"
        );
        (outcome.us(0), outcome.us(4))
    };
    let mut open = with_buffer(1, None);
    open.queue.buffer = None;
    let (_, free) = times(&open);
    // Half of the cable, for the senders share it.
    assert!((free / (2.0 * alone) - 1.0).abs() < 0.02, "{free}");

    let (culprit, victim) = times(&with_buffer(3_000_000, Some(small_pauses())));
    assert!(
        (victim / culprit - 1.0).abs() < 0.1,
        "{victim} with {culprit}"
    );
    assert!(victim > 3.0 * alone, "{victim} for {alone} alone");
}
