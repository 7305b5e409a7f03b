//! Windows, credits, loss and rates between two chips.

use tier6_g5::{
    AckMerge, CreditScope, Credits, Dcqcn, Ecn, EcnCurve, Fault, G5Parameters, RateControl, RcLink,
    Recovery,
};
use tier6_system::ChipId;
use tier6_units::SimTime;

use super::drive::{OVERHEAD, SEGMENT, Send, drive, framed, send, star, us};

/// What a frame takes on a link of 50 GB/s, in picoseconds.
const FRAME: u64 = 20 * (SEGMENT + OVERHEAD) as u64;

/// Share of the line that a message of many segments reaches.
fn share(parameters: &G5Parameters, packets: u64) -> f64 {
    let bytes = packets * u64::from(SEGMENT);
    let outcome = drive(&star(2), parameters, &[], 1, &[send(0, 1, bytes)]);
    assert_eq!(outcome.audit, Ok(()));
    (packets * FRAME) as f64 / outcome.last().ps() as f64
}

fn with_link(link: impl FnOnce(&mut RcLink)) -> G5Parameters {
    let mut parameters = framed();
    link(parameters.rc_link.as_mut().unwrap());
    parameters
}

/// Throughput is window over loop, up to the line: a knee at the bandwidth-delay product.
#[test]
fn a_window_carries_itself_once_per_loop() {
    // There and back over two links of 500 ns, and the frame itself.
    let loop_time = 4 * 500_000 + FRAME;
    for window in [1, 4, 16, 40, 64, 72, 80, 160, 1000] {
        let parameters = with_link(|link| {
            link.window = window;
            link.ack = AckMerge::Never;
        });
        let law = (f64::from(window) * FRAME as f64 / loop_time as f64).min(1.0);
        let found = share(&parameters, 10_000);
        assert!((found / law - 1.0).abs() < 0.01, "{window}: {found}, {law}");
    }
}

#[test]
fn outstanding_requests_are_a_window_of_the_chip() {
    let loop_time = 4 * 500_000 + FRAME;
    for outstanding in [8, 32, 100] {
        let mut parameters = with_link(|link| link.ack = AckMerge::Never);
        parameters.paxi.as_mut().unwrap().outstanding = outstanding;
        let law = (f64::from(outstanding) * FRAME as f64 / loop_time as f64).min(1.0);
        let found = share(&parameters, 20_000);
        assert!(
            (found / law - 1.0).abs() < 0.01,
            "{outstanding}: {found}, {law}"
        );
    }
}

/// Merged acknowledgements are later, so a window carries less; a large one carries the same.
#[test]
fn merging_acknowledgements_lengthens_the_loop() {
    let merged = |window, visit| {
        let parameters = with_link(|link| {
            link.window = window;
            link.ack = AckMerge::Every(SimTime::from_ps(visit));
        });
        share(&parameters, 20_000)
    };
    let visit = 2_000_000;
    // A window that is sent within a visit is acknowledged by the next.
    let law = 64.0 * FRAME as f64 / (4.0 * 500_000.0 + FRAME as f64 + visit as f64);
    let found = merged(64, visit);
    assert!((found / law - 1.0).abs() < 0.05, "{found}, {law}");
    assert!(merged(1000, visit) > 0.99);
}

/// Credits of c bytes: a frame of L takes ⌈L/c⌉, and C of them carry C over the loop.
#[test]
fn credits_have_their_knee() {
    for scope in [CreditScope::EndToEnd, CreditScope::PerLink] {
        for count in [12, 48, 96, 144, 400] {
            let parameters = with_link(|link| {
                link.ack = AckMerge::Never;
                link.credits = Some(Credits {
                    unit: 512,
                    count,
                    period: SimTime::ZERO,
                    scope,
                });
            });
            let frames = f64::from(count / 3);
            // A link's credits come back when the frame has begun to leave the next buffer; a
            // chip's when it has the frame.
            let loop_time = match scope {
                CreditScope::EndToEnd => 4 * 500_000 + FRAME,
                CreditScope::PerLink => 2 * 500_000 + FRAME,
            };
            let law = (frames * FRAME as f64 / loop_time as f64).min(1.0);
            let found = share(&parameters, 20_000);
            assert!(
                (found / law - 1.0).abs() < 0.02,
                "{scope:?} {count}: {found}, {law}"
            );
        }
    }
}

/// Go-back-N: (1-p)/(1-p+pW), W frames in flight; selective repeat: 1-p.
#[test]
fn loss_costs_what_is_in_flight() {
    let in_flight = (4 * 500_000 + FRAME) as f64 / FRAME as f64;
    for (p, packets) in [(1e-3, 80_000), (1e-2, 20_000)] {
        for recovery in [Recovery::GoBackN, Recovery::Selective { reorder: 0 }] {
            let parameters = with_link(|link| {
                link.recovery = recovery;
                link.window = 2048;
                // A frame that is lost again is missed soon.
                link.timeout = us(5);
            });
            let bytes = packets * u64::from(SEGMENT);
            let star = star(2);
            let link = star.links_from(star.chip_vertex(tier6_system::ChipId::new(0)))[0];
            let loss = Fault::Loss {
                link: Some(link),
                probability: p,
            };
            let outcome = drive(&star, &parameters, &[loss], 3, &[send(0, 1, bytes)]);
            assert_eq!(outcome.audit, Ok(()));
            let found = (packets * FRAME) as f64 / outcome.last().ps() as f64;
            let law = match recovery {
                Recovery::GoBackN => (1.0 - p) / (1.0 - p + p * in_flight),
                Recovery::Selective { .. } => 1.0 - p,
            };
            assert!(
                (found / law - 1.0).abs() < 0.03,
                "{recovery:?} {p}: {found}, {law}"
            );
            let lost = outcome.total(|link| link.lost) as f64;
            let sent = outcome.accounts[0]
                .1
                .wire_bytes
                .max(outcome.accounts[1].1.wire_bytes);
            assert!(lost > 0.0 && sent > 0);
            assert!(outcome.total(|link| link.resent) as f64 >= lost);
        }
    }
}

/// Acknowledgements that are frames share the links with the data that goes their way.
#[test]
fn acknowledgements_take_their_bytes() {
    let both_ways = |ack_bytes| {
        let parameters = with_link(|link| {
            link.ack = AckMerge::Never;
            link.window = 60;
            link.ack_bytes = ack_bytes;
        });
        let sends = [send(0, 1, 20 << 20), send(1, 0, 20 << 20)];
        let outcome = drive(&star(2), &parameters, &[], 1, &sends);
        assert_eq!(outcome.audit, Ok(()));
        outcome.last().ps() as f64
    };
    // The window binds: every frame waits for its acknowledgement.
    assert!(both_ways(64) > both_ways(0));
    let one_way = |ack_bytes| {
        let mut parameters = with_link(|link| {
            link.ack = AckMerge::Never;
            link.ack_bytes = ack_bytes;
            link.loss = 1e-9;
        });
        parameters.paxi.as_mut().unwrap().segment = 256;
        let sends = [send(0, 1, 4 << 20), send(1, 0, 4 << 20)];
        drive(&star(2), &parameters, &[], 1, &sends).last().ps() as f64
    };
    let law = f64::from(256 + OVERHEAD + 100) / f64::from(256 + OVERHEAD);
    let found = one_way(100) / one_way(0);
    assert!((found / law - 1.0).abs() < 0.02, "{found}, {law}");
}

#[test]
fn the_same_seed_loses_the_same_frames() {
    let mut parameters = framed();
    parameters.rc_link.as_mut().unwrap().loss = 1e-3;
    let time = |seed| {
        let sends = [send(0, 1, 10 << 20), send(2, 1, 10 << 20)];
        drive(&star(3), &parameters, &[], seed, &sends).last()
    };
    assert_eq!(time(1), time(1));
    assert_ne!(time(1), time(2));
}

#[test]
fn a_link_that_loses_everything_ends_in_a_fatal_queue_pair() {
    let parameters = with_link(|link| link.retries = 3);
    let loss = Fault::Loss {
        link: None,
        probability: 1.0,
    };
    let outcome = drive(&star(2), &parameters, &[loss], 1, &[send(0, 1, 10_000)]);
    assert_eq!(outcome.fatal, [(0, 3)]);
}

/// Without a link layer nobody sends a lost frame again, and the network says so.
#[test]
fn loss_without_a_link_layer_is_told() {
    let mut parameters = G5Parameters::ideal();
    parameters.paxi = framed().paxi;
    parameters.paxi.as_mut().unwrap().outstanding = 4;
    let loss = Fault::Loss {
        link: None,
        probability: 1.0,
    };
    let outcome = drive(&star(2), &parameters, &[loss], 1, &[send(0, 1, 10_000)]);
    assert!(outcome.arrived.is_empty());
    assert!(outcome.audit.is_err());
    assert!(!outcome.waits.is_empty(), "{outcome:?}");
}

fn dcqcn() -> G5Parameters {
    let mut parameters = framed();
    let rate = tier6_units::GbPerSec::new(50.0);
    parameters.rate_control = RateControl::Dcqcn(Dcqcn::hpcc());
    parameters.queue.ecn = Some(Ecn {
        curve: EcnCurve::hpcc(rate),
    });
    parameters
}

#[test]
fn without_notices_the_rate_is_the_lines() {
    let outcome = drive(&star(2), &dcqcn(), &[], 1, &[send(0, 1, 64 << 20)]);
    let alone = drive(&star(2), &framed(), &[], 1, &[send(0, 1, 64 << 20)]);
    assert_eq!(outcome.last(), alone.last());
    assert_eq!(outcome.total(|link| link.marked), 0);
}

/// Two senders into one port: near half each, the queue held by the marks.
#[test]
fn two_senders_settle_near_half_each() {
    let bytes = 64 << 20;
    let sends = [send(0, 2, bytes), send(1, 2, bytes)];
    let outcome = drive(&star(3), &dcqcn(), &[], 1, &sends);
    assert_eq!(outcome.audit, Ok(()));
    let (first, second) = (outcome.arrived[&0], outcome.arrived[&1]);
    let fair = first.ps() as f64 / second.ps() as f64;
    assert!((0.7..1.43).contains(&fair), "{first}, {second}");
    let port = outcome.account("link switch to chip 2");
    assert!(port.marked > 0);
    let unmarked = drive(&star(3), &framed(), &[], 1, &sends);
    let queue = unmarked.account("link switch to chip 2").peak_queue;
    // Without marks two windows wait there, but for what is on the links.
    let windows = 2 * 4095 * u64::from(SEGMENT + OVERHEAD);
    assert!(queue < windows && queue > windows - 120_000, "{queue}");
    assert!(port.peak_queue * 2 < queue, "{}, {queue}", port.peak_queue);
    // Cuts leave some of the port unused; they must not leave most of it.
    let ideal = unmarked.last().ps() as f64;
    let slowdown = outcome.last().ps() as f64 / ideal;
    assert!((1.0..2.0).contains(&slowdown), "{slowdown}");
    assert!(outcome.last() > us(1000));
}

/// A link that fails is an event before any traffic; it is no reason to doubt the traffic.
#[test]
fn a_failure_before_the_first_message_changes_nothing() {
    let topology = star(4);
    let idle = topology.links_from(topology.chip_vertex(ChipId::new(3)))[0];
    let parameters = with_link(|link| link.window = 100);
    let at = us(1);
    let sends = [0, 1].map(|from| Send {
        at,
        ..send(from, 2, 1 << 20)
    });
    let whole = drive(&topology, &parameters, &[], 1, &sends);
    let failed = Fault::FailedLink {
        link: idle,
        at: SimTime::ZERO,
    };
    let outcome = drive(&topology, &parameters, &[failed], 1, &sends);
    assert_eq!(outcome.arrived, whole.arrived);
}
