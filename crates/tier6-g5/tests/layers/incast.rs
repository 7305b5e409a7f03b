//! DCQCN on a whole network (FACTS D.1).

use tier6_g5::{Dcqcn, Ecn, EcnCurve, G5Parameters, RateControl};
use tier6_units::SimTime;

use crate::traffic::{PAYLOAD, drive, load, open_layers, star};

/// 40 Gb/s, the link of the paper's parameters.
const RATE: f64 = 5.0;

fn controlled() -> G5Parameters {
    let mut parameters = open_layers();
    parameters.rate_control = RateControl::Dcqcn(Dcqcn::sigcomm15());
    parameters.queue.ecn = Some(Ecn {
        curve: EcnCurve::sigcomm15(),
    });
    parameters
}

/// Two senders settle near half each; the queue is between the thresholds.
#[test]
fn two_senders_settle_near_half_each() {
    let star = star(3, RATE, 1.0);
    // Longer than the run.
    let loads = [load(0, 2, 1 << 32), load(1, 2, 1 << 32)];
    let span = |ms: u64| SimTime::from_ps(ms * 1_000_000_000);
    let carried = |until| {
        let outcome = drive(&star, &controlled(), 1, &loads, until);
        let bytes = |chip: u32| {
            let first = star.links_from(star.chip_vertex(tier6_system::ChipId::new(chip)))[0];
            let (_, account) = outcome.accounts[first.index()];
            account.payload_bytes
        };
        ([bytes(0), bytes(1)], outcome)
    };
    let (early, _) = carried(span(20));
    let (late, outcome) = carried(span(60));
    let rates = [0, 1].map(|one| (late[one] - early[one]) as f64 / 40e3 / 1e3);
    let line = RATE * 1_344.0 / 1_402.0;
    for rate in rates {
        assert!((rate / line - 0.5).abs() < 0.05, "{rates:?} GB/s of {line}");
    }
    assert!((rates[0] + rates[1]) / line > 0.97, "{rates:?}");

    let port = star.links_into(star.chip_vertex(tier6_system::ChipId::new(2)))[0];
    let mut queues: Vec<u64> = (outcome.timeline.queues.iter())
        .filter(|(link, at, _)| *link == port && *at > span(20))
        .map(|(_, _, queue)| *queue)
        .collect();
    queues.sort_unstable();
    let curve = EcnCurve::sigcomm15();
    let median = queues[queues.len() / 2];
    let high = queues[queues.len() * 98 / 100];
    assert!(
        median > curve.k_min && high < curve.k_max,
        "median {median}, high {high}"
    );
    assert!(outcome.sum(|one| one.marked) > 0);
}

/// Where no notice comes rate control changes nothing, to the picosecond.
#[test]
fn no_notice_is_line_rate() {
    let star = star(4, RATE, 1.0);
    let loads = [load(0, 1, 3_000 * PAYLOAD), load(2, 3, 5_000_000)];
    let run = |parameters: &G5Parameters| drive(&star, parameters, 1, &loads, SimTime::NEVER);
    let (off, on) = (run(&open_layers()), run(&controlled()));
    assert!(on.all_arrived());
    assert_eq!(on.arrived, off.arrived);
}
