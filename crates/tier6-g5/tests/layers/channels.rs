//! Virtual channels: what classes of traffic on one link do to each other, and what they no longer
//! do when each has its own queues, credits and pauses (FACTS A.4).

use tier6_g5::{Arbiter, Channels, CreditScope, Credits, G5Parameters, Pfc, SwitchQueue};
use tier6_units::SimTime;

use crate::deadlock::ring_of_switches;
use crate::traffic::{FRAME, Load, Outcome, PAYLOAD, complete, drive, load, open_layers, star};

const RATE: f64 = 50.0;
const LATENCY: f64 = 0.5;

fn frame_us() -> f64 {
    FRAME as f64 / RATE / 1e3
}

/// An acknowledgement of so many bytes for each frame.
fn answered(bytes: u32, count: u32, arbiter: Arbiter) -> G5Parameters {
    let mut parameters = open_layers();
    let link = parameters.rc_link.as_mut().unwrap();
    link.ack_bytes = bytes;
    link.channels = Channels { count, arbiter };
    parameters
}

/// As large as a frame, and small.
const LARGE: u32 = 1_402;
const SMALL: u32 = 84;

fn weighted(requests: u32, responses: u32) -> Arbiter {
    Arbiter::Weighted([requests, responses, 1])
}

/// Two chips send to each other as fast as they can, so each of their links has as many responses
/// as requests to carry.
#[test]
fn a_busy_port_is_shared_by_the_weights() {
    let frames = 2_000;
    let sends = [load(0, 1, frames * PAYLOAD), load(1, 0, frames * PAYLOAD)];
    for (arbiter, share) in [
        (weighted(3, 1), 0.75),
        (weighted(7, 1), 0.875),
        (weighted(1, 1), 0.5),
        // There are no more responses than requests: what they leave unused is not lost.
        (weighted(1, 3), 0.5),
        (Arbiter::Strict, 0.5),
    ] {
        let outcome = complete(
            &star(2, RATE, LATENCY),
            &answered(LARGE, 2, arbiter),
            &sends,
        );
        let law = frames as f64 * frame_us() / share + 2.0 * LATENCY;
        for message in 0..2 {
            let got = outcome.us(message);
            // No response is there in the first loop.
            assert!(
                got < law * 1.001 && got > law - (4.0 * LATENCY + 2.0 * frame_us()) * 1.01,
                "{arbiter:?}: {got} us for {law}"
            );
        }
    }
}

/// Four chips crowd the port to chip 1, over which the answers to what chip 1 sends come back.
fn behind_a_crowd(parameters: &G5Parameters) -> Outcome {
    let crowd = |from| load(from, 1, 6_000 * PAYLOAD);
    let loads = [
        load(1, 0, WINDOWS * 40 * PAYLOAD),
        crowd(0),
        crowd(2),
        crowd(3),
        crowd(4),
    ];
    complete(&star(5, RATE, LATENCY), parameters, &loads)
}

const WINDOWS: u64 = 50;

/// What `WINDOWS` windows of 40 frames take: the loop of a frame and its answer for each, and, at
/// most, a frame that had begun at each of the two links that others use.
fn lone_us() -> [f64; 2] {
    let answer_us = f64::from(SMALL) / RATE / 1e3;
    let loop_us = 4.0 * LATENCY + frame_us() + answer_us;
    let last = 40.0 * frame_us() + 2.0 * LATENCY;
    let rest = (WINDOWS - 1) as f64;
    // Answers of the crowd's go first where the message begins: a few, all small.
    [0.0, 2.5].map(|begun| rest * (loop_us + begun * frame_us()) + last)
}

#[test]
fn with_their_own_channel_responses_do_not_wait_behind_requests() {
    let with = |count, arbiter, queue: Option<SwitchQueue>| {
        let mut parameters = answered(SMALL, count, arbiter);
        parameters.rc_link.as_mut().unwrap().window = 40;
        if let Some(queue) = queue {
            parameters.queue = queue;
        }
        behind_a_crowd(&parameters)
    };
    let [least, most] = lone_us();
    // Paused before the window of the crowd is full.
    let pausing = SwitchQueue {
        buffer: Some(600_000),
        dynamic_threshold: 0.05,
        pfc: Some(Pfc {
            headroom: 40_000,
            ..Pfc::hpcc()
        }),
        ecn: None,
    };
    for queue in [None, Some(pausing)] {
        let together = with(1, Arbiter::Strict, queue).us(0);
        let apart = with(2, Arbiter::Strict, queue);
        let own = apart.us(0);
        assert!(
            own >= least * 0.999 && own <= most * 1.01,
            "{own} us, expected {least} to {most}, {queue:?}"
        );
        assert!(together > 1.5 * own, "{together} us in one channel, {own}");
        let paused = apart
            .accounts
            .iter()
            .any(|(_, link)| link.paused > SimTime::ZERO);
        assert_eq!(paused, queue.is_some());
        let turns = with(2, weighted(1, 1), queue).us(0);
        assert!(turns < 1.1 * most, "{turns} us in turn");
    }
}

/// Requests go half way around a ring of switches, and so do responses to others: neither class
/// alone closes the circle.
fn around_a_ring(count: u32, until: SimTime) -> Outcome {
    let mut parameters = answered(LARGE, count, weighted(1, 1));
    let link = parameters.rc_link.as_mut().unwrap();
    // One frame at a time on each link.
    link.credits = Some(Credits {
        unit: 512,
        count: 3,
        period: SimTime::ZERO,
        scope: CreditScope::PerLink,
    });
    link.timeout = SimTime::from_ps(1_000_000_000_000);
    let send = |from, to| Load {
        at: SimTime::ZERO,
        from,
        to,
        bytes: 500 * PAYLOAD,
    };
    let loads = [
        send(0, 2),
        send(1, 3),
        send(2, 4),
        // The other way around; their responses go from 3 to 5, from 4 to 0, from 5 to 1.
        send(5, 3),
        send(0, 4),
        send(1, 5),
    ];
    let ring = ring_of_switches(6);
    drive(&ring, &parameters, 1, &loads, until)
}

#[test]
fn requests_and_responses_that_wait_for_each_other_need_two_channels() {
    // Far longer than all of it takes, and before anybody loses patience.
    let together = around_a_ring(1, SimTime::from_ps(100_000_000_000));
    assert!(!together.all_arrived(), "a circle of full buffers");
    let holds = together
        .waits
        .iter()
        .filter(|wait| wait.why.contains("credits"));
    assert!(holds.count() >= 6, "{:?}", together.waits);
    let apart = around_a_ring(2, SimTime::NEVER);
    assert!(apart.all_arrived(), "{:?}", apart.waits);
    assert_eq!(apart.audit, None);
}

#[test]
fn one_channel_has_no_arbiter() {
    let times = |arbiter| {
        let mut parameters = answered(SMALL, 1, arbiter);
        parameters.rc_link.as_mut().unwrap().window = 40;
        behind_a_crowd(&parameters).arrived
    };
    assert_eq!(times(Arbiter::Strict), times(weighted(3, 1)));
}
