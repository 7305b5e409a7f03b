//! Throughput against credits and windows (FACTS D.5): C/T below the knee, the line above.

use tier6_g5::{AckMerge, CreditScope, Credits, G5Parameters};
use tier6_units::SimTime;

use crate::traffic::{FRAME, PAYLOAD, complete, load, open_layers, star};

const RATE: f64 = 50.0;
const LATENCY: f64 = 0.5;
const BYTES: u64 = 2_000 * PAYLOAD;

/// The payload rate of one long message over a switch, in GB/s, its first flight apart.
fn rate(parameters: &G5Parameters) -> f64 {
    let star = star(2, RATE, LATENCY);
    let outcome = complete(&star, parameters, &[load(0, 1, BYTES)]);
    BYTES as f64 / (outcome.us(0) - 2.0 * LATENCY) / 1e3
}

/// What frames leave of the line.
fn line() -> f64 {
    RATE * PAYLOAD as f64 / FRAME as f64
}

fn frame_us() -> f64 {
    FRAME as f64 / RATE / 1e3
}

fn check(got: f64, law: f64, what: &str) {
    // The first loop is free, and the last one is not whole: 1 % of 2,000 frames.
    assert!(
        (got / law - 1.0).abs() < 0.02,
        "{what}: {got:.3} GB/s, expected {law:.3}"
    );
}

#[test]
fn nothing_in_the_way_is_the_line() {
    check(rate(&open_layers()), line(), "open");
}

#[test]
fn credits_have_their_knee_at_rate_times_loop() {
    for scope in [CreditScope::PerLink, CreditScope::EndToEnd] {
        // There and back over one link, or over both; and the tail of the frame.
        let links = match scope {
            CreditScope::PerLink => 1.0,
            CreditScope::EndToEnd => 2.0,
        };
        let loop_us = 2.0 * links * LATENCY + frame_us();
        let knee = loop_us / frame_us();
        for frames in [1_u32, 5, 20, 30, 35, 37, 40, 60, 72, 75, 100] {
            let mut parameters = open_layers();
            let link = parameters.rc_link.as_mut().unwrap();
            link.credits = Some(Credits {
                unit: 512,
                count: 3 * frames + 2,
                period: SimTime::ZERO,
                scope,
            });
            let law = line() * (f64::from(frames) / knee).min(1.0);
            check(
                rate(&parameters),
                law,
                &format!("{frames} frames of credit, {scope:?}"),
            );
        }
    }
}

#[test]
fn outstanding_requests_have_their_knee_at_rate_times_loop() {
    let loop_us = 4.0 * LATENCY + frame_us();
    for requests in [1_u32, 10, 40, 70, 73, 80, 200] {
        let mut parameters = open_layers();
        parameters.paxi.as_mut().unwrap().outstanding = requests;
        let law = line() * (f64::from(requests) * frame_us() / loop_us).min(1.0);
        check(rate(&parameters), law, &format!("{requests} requests"));
        // Without a reliable link responses come one by one, and frames have no header.
        parameters.rc_link = None;
        let bare_us = PAYLOAD as f64 / RATE / 1e3;
        let loop_us = 4.0 * LATENCY + bare_us;
        let law = RATE * (f64::from(requests) * bare_us / loop_us).min(1.0);
        check(rate(&parameters), law, &format!("{requests} bare requests"));
    }
}

#[test]
fn slots_have_their_knee_at_rate_times_loop() {
    let loop_us = 4.0 * LATENCY + frame_us();
    for window in [3_u32, 36, 73, 300] {
        let mut parameters = open_layers();
        parameters.rc_link.as_mut().unwrap().window = window;
        let law = line() * (f64::from(window) * frame_us() / loop_us).min(1.0);
        check(rate(&parameters), law, &format!("{window} slots"));
    }
}

/// A merge of acknowledgements adds its delay to the loop; with window enough it changes nothing.
#[test]
fn merged_acknowledgements_cost_window_only() {
    let merge_us = 1.0;
    let with = |window| {
        let mut parameters = open_layers();
        let link = parameters.rc_link.as_mut().unwrap();
        link.ack = AckMerge::Every(SimTime::from_ps(1_000_000));
        link.window = window;
        rate(&parameters)
    };
    let loop_frames = (4.0 * LATENCY + merge_us) / frame_us() + 1.0;
    check(with(400), line(), "wide");
    // A window of one loop without the merge: each loop waits for a scan, at most.
    let narrow = with(72);
    let least = line() * 72.0 / loop_frames;
    assert!(
        narrow >= 0.97 * least && narrow < 0.95 * line(),
        "{narrow} from {least}"
    );
}

/// FACTS A.2: with the published defaults a single-switch path is not limited by any window.
#[test]
fn the_defaults_do_not_bind_on_one_switch() {
    let parameters = G5Parameters::defaults();
    let star = star(2, RATE, 0.936);
    let outcome = complete(&star, &parameters, &[load(0, 1, BYTES)]);
    let law = BYTES as f64 / line() / 1e3 + 2.0 * 0.936 + 0.15;
    assert!(
        (outcome.us(0) / law - 1.0).abs() < 1e-4,
        "{} for {law}",
        outcome.us(0)
    );
}
