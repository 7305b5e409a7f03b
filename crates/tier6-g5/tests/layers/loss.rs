//! Loss and retransmission (FACTS D.6).

use tier6_g5::{AckMerge, G5Parameters, Recovery};
use tier6_units::SimTime;

use crate::traffic::{FRAME, PAYLOAD, complete, drive, load, mesh, open_layers};

/// Parameters with this loss, and a timeout of a few loops.
fn lossy(loss: f64, loop_us: f64) -> G5Parameters {
    let mut parameters = open_layers();
    let link = parameters.rc_link.as_mut().unwrap();
    link.loss = loss;
    link.timeout = SimTime::from(tier6_units::Micros::new(3.0 * loop_us));
    parameters
}

/// The share of the line that a long message keeps on one link that holds `in_flight` frames.
fn efficiency(parameters: &G5Parameters, in_flight: u32, frames: u64) -> f64 {
    let rate = 50.0;
    let frame_us = FRAME as f64 / rate / 1e3;
    // From the loss of a frame to the first frame sent again: one frame and the loop.
    let latency = f64::from(in_flight - 2) * frame_us / 2.0;
    let mesh = mesh(2, rate, latency);
    let outcome = complete(&mesh, parameters, &[load(0, 1, frames * PAYLOAD)]);
    frames as f64 * frame_us / (outcome.us(0) - latency)
}

/// η = (1−p)/(1−p+pW).
#[test]
fn go_back_n_keeps_its_share() {
    for (in_flight, loss, frames) in [
        (16, 1e-3, 100_000),
        (16, 1e-2, 50_000),
        (64, 1e-4, 200_000),
        (64, 1e-3, 200_000),
        (64, 1e-2, 60_000),
        (149, 1e-3, 200_000),
        (512, 1e-5, 200_000),
    ] {
        let loop_us = f64::from(in_flight) * FRAME as f64 / 50e3;
        let got = efficiency(&lossy(loss, loop_us), in_flight, frames);
        let law = (1.0 - loss) / (1.0 - loss + loss * f64::from(in_flight));
        assert!(
            (got / law - 1.0).abs() < 0.03,
            "W = {in_flight}, p = {loss}: {got:.4}, expected {law:.4}"
        );
    }
}

/// η = 1−p.
#[test]
fn selective_repeat_keeps_more() {
    let mut parameters = lossy(1e-3, 4.0);
    let link = parameters.rc_link.as_mut().unwrap();
    link.recovery = Recovery::Selective { reorder: 0 };
    let got = efficiency(&parameters, 149, 100_000);
    assert!((got / 0.999 - 1.0).abs() < 0.01, "{got:.4}");
}

/// Merging does not lose what is lost: everything arrives whatever the merge.
#[test]
fn everything_arrives_under_loss() {
    for visit in [0, 10_000, 500_000] {
        for seed in 0..20 {
            let mut parameters = lossy(0.05, 2.0);
            let link = parameters.rc_link.as_mut().unwrap();
            link.retries = 100;
            if visit > 0 {
                link.ack = AckMerge::Every(SimTime::from_ps(visit));
            }
            let loads: Vec<_> = (0..12)
                .map(|number| load(number % 3, (number + 1) % 3, u64::from(number) * 5_000))
                .collect();
            let outcome = drive(
                &mesh(3, 50.0, 0.5),
                &parameters,
                seed,
                &loads,
                SimTime::NEVER,
            );
            assert!(
                outcome.all_arrived() && outcome.fatal.is_empty(),
                "{:?}",
                outcome.waits
            );
            assert_eq!(outcome.audit, None);
            let (lost, resent) = (outcome.sum(|one| one.lost), outcome.sum(|one| one.resent));
            assert!(
                resent >= lost && lost > 0,
                "{lost} lost, {resent} sent again"
            );
        }
    }
}

/// The last frame lost costs the timeout, which short messages feel.
#[test]
fn a_short_message_waits_for_the_timeout() {
    let loss = 0.2;
    let mut parameters = lossy(loss, 10.0);
    parameters.rc_link.as_mut().unwrap().retries = 1_000;
    let mesh = mesh(2, 50.0, 0.5);
    let runs = 2_000;
    let mean = (0..runs)
        .map(|seed| {
            let outcome = drive(
                &mesh,
                &parameters,
                seed,
                &[load(0, 1, PAYLOAD)],
                SimTime::NEVER,
            );
            outcome.us(0)
        })
        .sum::<f64>()
        / runs as f64;
    // The one frame is lost p/(1−p) times on average; each time costs the timeout of 30 us.
    let law = FRAME as f64 / 50e3 + 0.5 + loss / (1.0 - loss) * 30.0;
    assert!((mean / law - 1.0).abs() < 0.1, "{mean} us, expected {law}");
}

#[test]
fn silence_is_fatal() {
    let mut parameters = lossy(0.999_999, 1.0);
    parameters.rc_link.as_mut().unwrap().retries = 3;
    let outcome = drive(
        &mesh(2, 50.0, 0.5),
        &parameters,
        0,
        &[load(0, 1, 10_000)],
        SimTime::NEVER,
    );
    assert_eq!(outcome.fatal.len(), 1);
    assert!(!outcome.all_arrived());
    assert!(outcome.audit.is_some());
}

#[test]
fn the_same_seed_is_the_same_run() {
    let times = |seed| {
        let loads = [
            load(0, 1, 500_000),
            load(1, 0, 700_000),
            load(0, 2, 300_000),
        ];
        let outcome = drive(
            &mesh(3, 50.0, 0.5),
            &lossy(0.01, 2.0),
            seed,
            &loads,
            SimTime::NEVER,
        );
        (outcome.arrived, outcome.accounts)
    };
    assert_eq!(times(3), times(3));
    assert_ne!(times(3), times(4));
}
