//! Shared buffers: pauses, drops, who is hurt by them, and cycles of buffers.

use tier6_des::Random;
use tier6_g5::{CreditScope, Credits, G5Parameters, PathChoice, Pfc, SwitchQueue};
use tier6_system::{Direction, EdgeSpec, FabricSpec, SystemSpec, Topology, VertexSpec};
use tier6_units::{GbPerSec, Micros, SimTime};

use super::drive::{OVERHEAD, SEGMENT, Send, drive, framed, send, star, uniform};

const MIB: u64 = 1 << 20;

fn with_queue(queue: SwitchQueue) -> G5Parameters {
    let mut parameters = framed();
    parameters.queue = queue;
    parameters
}

fn pausing(buffer: u64) -> SwitchQueue {
    SwitchQueue {
        buffer: Some(buffer),
        dynamic_threshold: 1.0,
        pfc: Some(Pfc::hpcc()),
        ecn: None,
    }
}

/// A switch that pauses loses nothing and keeps the port busy.
#[test]
fn an_incast_is_paused_and_loses_nothing() {
    let sends: Vec<_> = (1..9).map(|from| send(from, 0, 4 * MIB)).collect();
    let outcome = drive(&star(9), &with_queue(pausing(4_000_000)), &[], 1, &sends);
    assert_eq!(outcome.audit, Ok(()));
    assert_eq!(outcome.total(|link| link.lost), 0);
    assert!(outcome.total(|link| link.paused.ps()) > 0);
    let port = outcome.account("link switch to chip 0");
    assert!(port.peak_queue < 4_000_000, "{}", port.peak_queue);
    let open = drive(&star(9), &framed(), &[], 1, &sends);
    let ratio = outcome.last().ps() as f64 / open.last().ps() as f64;
    assert!((ratio - 1.0).abs() < 0.002, "{ratio}");
}

/// A switch that drops leaves it to the link layer.
#[test]
fn an_incast_is_dropped_and_sent_again() {
    let queue = SwitchQueue {
        buffer: Some(200_000),
        dynamic_threshold: 1.0,
        pfc: None,
        ecn: None,
    };
    let mut parameters = with_queue(queue);
    let link = parameters.rc_link.as_mut().unwrap();
    link.retries = 100;
    let sends: Vec<_> = (1..5).map(|from| send(from, 0, 2 * MIB)).collect();
    let outcome = drive(&star(5), &parameters, &[], 1, &sends);
    assert_eq!(outcome.arrived.len(), 4);
    assert_eq!(outcome.audit, Ok(()));
    let lost = outcome.total(|link| link.lost);
    assert!(lost > 0);
    assert!(outcome.total(|link| link.resent) >= lost);
}

/// Messages that were on their way before anything met have their queue pairs too: what a pause
/// without headroom drops is sent again.
#[test]
fn a_pause_without_headroom_drops_and_nothing_stays_lost() {
    let mut queue = pausing(400_000);
    queue.pfc = Some(Pfc {
        headroom: 2_000,
        ..Pfc::hpcc()
    });
    let mut parameters = with_queue(queue);
    parameters.rc_link.as_mut().unwrap().retries = 100;
    // The first is half way when the others come.
    let sends: Vec<_> = (1..6)
        .map(|from| Send {
            at: SimTime::from_ps(if from == 1 { 0 } else { 20_000_000 }),
            ..send(from, 0, 2 * MIB)
        })
        .collect();
    let outcome = drive(&star(6), &parameters, &[], 1, &sends);
    assert_eq!(outcome.audit, Ok(()));
    assert_eq!(outcome.arrived.len(), 5);
    assert!(outcome.total(|link| link.lost) > 0);
}

fn edge(from: &str, to: &str, direction: Direction) -> EdgeSpec {
    EdgeSpec {
        from: from.into(),
        to: to.into(),
        direction,
        link: None,
        lanes: None,
    }
}

fn graph(n_chips: u32, switches: &[&str], edges: Vec<EdgeSpec>) -> Topology {
    let vertices = switches
        .iter()
        .map(|name| VertexSpec {
            name: (*name).into(),
            switch: "switch".into(),
        })
        .collect();
    let fabric = FabricSpec::Graph { vertices, edges };
    let (rate, latency) = (GbPerSec::new(50.0), Micros::new(0.5));
    SystemSpec::uniform(n_chips, fabric, rate, latency)
        .resolve()
        .unwrap()
}

/// Chips 0 and 1 on one switch, 2 to 5 on another; one cable between.
fn dumbbell() -> Topology {
    let both = Direction::BothWays;
    let mut edges = vec![edge("a", "b", both)];
    for chip in 0..6 {
        let switch = if chip < 2 { "a" } else { "b" };
        edges.push(edge(&format!("chip{chip}"), switch, both));
    }
    graph(6, &["a", "b"], edges)
}

/// A flow to an idle chip shares a cable with a flow to a crowded one; the pause of the cable
/// stops both: head-of-line blocking, and the victim has nothing to do with the crowd.
#[test]
fn a_pause_hurts_a_victim() {
    let crowd = [
        send(0, 2, 16 * MIB),
        send(3, 2, 16 * MIB),
        send(4, 2, 16 * MIB),
    ];
    let mut sends = crowd.to_vec();
    sends.push(send(1, 5, 4 * MIB));
    let victim = |parameters: &G5Parameters, sends: &[Send]| {
        let outcome = drive(&dumbbell(), parameters, &[], 1, sends);
        assert_eq!(outcome.audit, Ok(()));
        outcome.arrived[&u32::try_from(sends.len() - 1).unwrap()].ps() as f64
    };
    let roomy = victim(&framed(), &sends);
    let paused = victim(&with_queue(pausing(2_500_000)), &sends);
    let alone = victim(&with_queue(pausing(2_500_000)), &sends[3..]);
    // With room it has half of the cable; with pauses it crawls as the crowd does: a third.
    assert!((roomy / alone - 2.0).abs() < 0.1, "{roomy}, {alone}");
    assert!(paused / alone > 2.5, "{paused}, {alone}");
}

/// Four switches in a circle, each with a chip that sends to the one after the next.
fn circle() -> Topology {
    let mut edges = Vec::new();
    for at in 0..4 {
        let next = (at + 1) % 4;
        edges.push(edge(
            &format!("s{at}"),
            &format!("s{next}"),
            Direction::OneWay,
        ));
        edges.push(edge(
            &format!("chip{at}"),
            &format!("s{at}"),
            Direction::BothWays,
        ));
    }
    graph(4, &["s0", "s1", "s2", "s3"], edges)
}

/// Every switch waits for the next one's buffer: nothing moves, and the waits close a circle.
#[test]
fn a_circle_of_buffers_stops_and_is_told() {
    let sends: Vec<_> = (0..4)
        .map(|from| send(from, (from + 2) % 4, 16 * MIB))
        .collect();
    let queue = SwitchQueue {
        pfc: Some(Pfc {
            reserve: 4096,
            resume: 3072,
            headroom: 156_640,
        }),
        ..pausing(600_000)
    };
    let outcome = drive(&circle(), &with_queue(queue), &[], 1, &sends);
    assert!(outcome.arrived.is_empty(), "{outcome:?}");
    assert!(outcome.audit.is_err());
    for at in 0..4 {
        let (who, next) = ((at + 3) % 4, (at + 1) % 4);
        let (who, for_whom) = (
            format!("link s{who} to s{at}"),
            format!("link s{at} to s{next}"),
        );
        let found = outcome
            .waits
            .iter()
            .any(|wait| wait.who == who && wait.for_whom == for_whom);
        assert!(found, "{who} waits for {for_whom}: {:#?}", outcome.waits);
    }
    // With room for everything it goes through.
    let roomy = drive(&circle(), &framed(), &[], 1, &sends);
    assert_eq!(roomy.arrived.len(), 4);
}

/// Packets that come at random to a port at load rho wait rho/(2(1-rho)) of their time (M/D/1).
#[test]
fn random_arrivals_wait_as_queueing_theory_says() {
    let (senders, load, count) = (32_u32, 0.8, 40_000);
    let frame = 20 * u64::from(SEGMENT + OVERHEAD);
    let mut luck = Random::new(11);
    let mut at = 0.0;
    let sends: Vec<Send> = (0..count)
        .map(|_| {
            at -= (1.0 - luck.uniform()).ln() * frame as f64 / load;
            Send {
                at: instant(at),
                from: 1 + u32::try_from(luck.below(senders.into())).unwrap(),
                to: 0,
                bytes: SEGMENT.into(),
            }
        })
        .collect();
    let outcome = drive(&star(senders + 1), &framed(), &[], 1, &sends);
    let unloaded = 2 * 500_000 + frame;
    let waits = (0..).zip(&sends).map(|(id, send)| {
        let time = outcome.arrived[&id].saturating_sub(send.at);
        (time.ps() - unloaded) as f64 / frame as f64
    });
    let mean = waits.sum::<f64>() / f64::from(count);
    // And what they wait for others of their own sender.
    let own = load / f64::from(senders);
    let wait = |load: f64| load / (2.0 * (1.0 - load));
    let law = wait(load) + wait(own);
    assert!((mean / law - 1.0).abs() < 0.06, "{mean}, {law}");
}

/// Flows that are hashed onto the same uplink share it; packets in turn do not (FACTS D.4).
#[test]
fn spreading_packets_beats_hashing_flows() {
    let tree = FabricSpec::fat_tree(8, 8);
    let topology = uniform(16, tree);
    // Eight flows from leaf to leaf over eight spines.
    let sends: Vec<_> = (0..8).map(|from| send(from, from + 8, 2 * MIB)).collect();
    let slowest = |paths: PathChoice| {
        let mut parameters = framed();
        parameters.paths = paths;
        let times = (0..8).map(|seed| {
            let outcome = drive(&topology, &parameters, &[], seed, &sends);
            assert_eq!(outcome.audit, Ok(()));
            outcome.last().ps() as f64
        });
        times.sum::<f64>() / 8.0
    };
    let alone = slowest(PathChoice::Preferred);
    let hashed = slowest(PathChoice::PerFlow) / alone;
    let sub_flows = slowest(PathChoice::SubFlows(16)) / alone;
    let in_turn = slowest(PathChoice::RoundRobin) / alone;
    let sprayed = slowest(PathChoice::Spray) / alone;
    // The fullest of eight bins has 2.58 of eight balls, 1.37 of 16 times as many small ones.
    assert!((2.0..3.2).contains(&hashed), "{hashed}");
    assert!((1.1..1.6).contains(&sub_flows), "{sub_flows}");
    assert!(in_turn < 1.02, "{in_turn}");
    assert!((1.0..1.2).contains(&sprayed), "{sprayed}");
}

/// Credits between links hold packets back like pauses do, without loss.
#[test]
fn credits_of_links_lose_nothing() {
    let mut parameters = framed();
    parameters.rc_link.as_mut().unwrap().credits = Some(Credits {
        unit: 512,
        count: 400,
        period: SimTime::ZERO,
        scope: CreditScope::PerLink,
    });
    let sends: Vec<_> = (1..9).map(|from| send(from, 0, 4 * MIB)).collect();
    let outcome = drive(&star(9), &parameters, &[], 1, &sends);
    assert_eq!(outcome.audit, Ok(()));
    let ratio =
        outcome.last().ps() as f64 / drive(&star(9), &framed(), &[], 1, &sends).last().ps() as f64;
    assert!((ratio - 1.0).abs() < 0.002, "{ratio}");
    assert!(u64::from(SEGMENT + OVERHEAD) * 500 > 400 * 512);
}

fn instant(ps: f64) -> SimTime {
    SimTime::from(Micros::new(ps * 1e-6))
}
