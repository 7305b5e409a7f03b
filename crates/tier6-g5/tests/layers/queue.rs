//! Queues at an output (FACTS D.7).

use tier6_g5::G5Parameters;
use tier6_units::SimTime;

use crate::traffic::{Draws, Load, PAYLOAD, complete, load, star};

/// Segments without frames, queues without bound.
fn plain() -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    parameters.paxi = G5Parameters::defaults().paxi.map(|paxi| tier6_g5::Paxi {
        latency: SimTime::ZERO,
        outstanding: u32::MAX,
        ..paxi
    });
    parameters
}

/// k senders into one port: (k−1) bursts of buffer, and k bursts of time.
#[test]
fn an_incast_needs_a_buffer_of_k_minus_one_bursts() {
    for k in [2_u32, 3, 8, 16] {
        let star = star(k + 1, 50.0, 0.5);
        let burst = 100 * PAYLOAD;
        let loads: Vec<_> = (0..k).map(|sender| load(sender, k, burst)).collect();
        let outcome = complete(&star, &plain(), &loads);
        let peak = outcome.accounts.iter().map(|(_, one)| one.peak_queue).max();
        let law = u64::from(k - 1) * burst;
        let peak = peak.unwrap();
        // Counted in whole packets, one of each sender.
        assert!(
            peak.abs_diff(law) <= u64::from(k) * PAYLOAD,
            "{peak} for {law}"
        );
        let last = (0..loads.len())
            .map(|one| outcome.us(one))
            .fold(0.0, f64::max);
        let us = 1.0 + (f64::from(k) * burst as f64 + PAYLOAD as f64) / 50e3;
        assert!((last - us).abs() < 0.05, "{last} for {us}");
    }
}

/// M/D/1: mean wait s·ρ/(2(1−ρ)).
#[test]
fn a_port_with_random_arrivals_waits_as_m_d_1() {
    let senders = 64;
    let star = star(senders + 1, 50.0, 0.5);
    let service = PAYLOAD as f64 / 50e3;
    let alone = complete(&star, &plain(), &[load(0, senders, PAYLOAD)]).us(0);
    for (utilisation, packets, tolerance) in [(0.3, 60_000, 0.05), (0.8, 150_000, 0.06)] {
        let mut random = Draws(9);
        let mut at = 0.0;
        let loads: Vec<Load> = (0..packets)
            .map(|_| {
                at += -random.share().ln() * service / utilisation;
                let from = random.below(senders);
                Load {
                    at: SimTime::from(tier6_units::Micros::new(at)),
                    from,
                    to: senders,
                    bytes: PAYLOAD,
                }
            })
            .collect();
        let outcome = complete(&star, &plain(), &loads);
        let waits = (0..loads.len()).map(|one| {
            let us = outcome.us(one) - loads[one].at.to_micros().get();
            us - alone
        });
        let mean = waits.sum::<f64>() / loads.len() as f64 / service;
        let law = utilisation / (2.0 * (1.0 - utilisation));
        assert!(
            (mean / law - 1.0).abs() < tolerance,
            "ρ = {utilisation}: {mean:.3} service times, expected {law:.3}"
        );
    }
}
