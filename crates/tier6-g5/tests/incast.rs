//! DCQCN with two senders into one port (FACTS D.1), packet by packet over a queue made of a
//! counter.

use tier6_g5::congestion::{ByteBudget, DcqcnSender, NoticeMerge};
use tier6_g5::{Dcqcn, EcnCurve};
use tier6_units::{GbPerSec, SimTime};

const FRAME: u32 = 1_000;

struct Settled {
    /// Share of the port that each sender had in the second half.
    shares: Vec<f64>,
    /// Queue in bytes that packets of the second half found: percentiles 2, 10, 50, 90, 98.
    queue: [u64; 5],
    utilisation: f64,
}

/// Splitmix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn incast(
    senders: usize,
    parameters: &Dcqcn,
    curve: &EcnCurve,
    line: GbPerSec,
    time: SimTime,
) -> Settled {
    let service = tier6_units::ByteTime::at(line).of_bytes(FRAME.into());
    let delay = SimTime::from_ps(4_000_000);
    let mut rates: Vec<_> = (0..senders)
        .map(|_| DcqcnSender::new(parameters, line))
        .collect();
    let mut budgets = vec![ByteBudget::new(parameters.budget); senders];
    let mut merges = vec![NoticeMerge::new(parameters.cnp_interval); senders];
    let mut next = vec![SimTime::ZERO; senders];
    let mut notices = std::collections::VecDeque::new();
    let (mut free_at, mut seed) = (SimTime::ZERO, 5);
    let (mut bytes, mut queues) = (vec![0_u64; senders], Vec::new());
    let half = SimTime::from_ps(time.ps() / 2);
    loop {
        let sender = (0..senders).min_by_key(|&sender| next[sender]).unwrap();
        let now = next[sender];
        if now >= time {
            break;
        }
        while let Some(&(at, to)) = notices.front()
            && at <= now
        {
            notices.pop_front();
            let to: usize = to;
            rates[to].on_timer(at);
            rates[to].on_cnp(at);
        }
        for rate in &mut rates {
            while rate.next_timer().is_some_and(|due| due <= now) {
                rate.on_timer(rate.next_timer().unwrap());
            }
        }
        if let Err(later) = budgets[sender].grant(FRAME, rates[sender].pace(), now) {
            next[sender] = later;
            continue;
        }
        next[sender] = now + service;
        rates[sender].on_sent(FRAME.into());
        let waiting = free_at.saturating_sub(now);
        let queue = waiting.ps() * u64::from(FRAME) / service.ps();
        free_at = free_at.max(now) + service;
        if curve.marks(queue, draw(&mut seed)) && merges[sender].on_marked(free_at) {
            notices.push_back((free_at + delay, sender));
        }
        if now >= half {
            bytes[sender] += u64::from(FRAME);
            queues.push(queue);
        }
    }
    queues.sort_unstable();
    let line_bytes = line.get() * 1e3 * (time - half).to_micros().get();
    let total: u64 = bytes.iter().sum();
    Settled {
        shares: bytes
            .iter()
            .map(|&bytes| bytes as f64 / total as f64)
            .collect(),
        queue: [1, 5, 25, 45, 49].map(|of_50| queues[queues.len() * of_50 / 50]),
        utilisation: total as f64 / line_bytes,
    }
}

fn check_settled(parameters: &Dcqcn, curve: &EcnCurve, line: f64, ms: u64) -> Settled {
    let time = SimTime::from_ps(1_000_000_000 * ms);
    let settled = incast(2, parameters, curve, GbPerSec::new(line), time);
    let found = format!(
        "shares {:.3?}, queue {:?} bytes, utilisation {:.4}",
        settled.shares, settled.queue, settled.utilisation
    );
    for share in &settled.shares {
        assert!((share - 0.5).abs() < 0.05, "{found}");
    }
    assert!(settled.queue[4] < curve.k_max, "{found}");
    assert!((0.97..=1.001).contains(&settled.utilisation), "{found}");
    settled
}

/// The paper's parameters: near half each, and the typical queue between the thresholds. It
/// oscillates, and is below the lower one a tenth of the time.
#[test]
fn two_senders_share_a_port() {
    let curve = EcnCurve::sigcomm15();
    let settled = check_settled(&Dcqcn::sigcomm15(), &curve, 5.0, 100);
    assert!(settled.queue[2] > 2 * curve.k_min, "{:?}", settled.queue);
}

/// A notice per packet and a timer of 900 us: near half each as well, below the upper threshold,
/// but the queue runs empty between the cuts.
#[test]
fn eager_notices_share_a_port() {
    let line = 12.5;
    let curve = EcnCurve::hpcc(GbPerSec::new(line));
    let settled = check_settled(&Dcqcn::hpcc(), &curve, line, 100);
    assert!(settled.queue[4] > curve.k_min, "{:?}", settled.queue);
}

#[test]
fn a_lone_sender_keeps_the_line() {
    let parameters = Dcqcn::sigcomm15();
    let time = SimTime::from_ps(10_000_000_000);
    let line = GbPerSec::new(5.0);
    let settled = incast(1, &parameters, &EcnCurve::sigcomm15(), line, time);
    assert!(settled.utilisation > 0.9999, "{}", settled.utilisation);
    assert_eq!(settled.queue, [0; 5]);
}
