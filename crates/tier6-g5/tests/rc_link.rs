//! The reliable link layer against its closed forms (FACTS D.5, D.6), over a link made of two
//! delay lines.

use std::collections::VecDeque;

use tier6_g5::rc_link::{
    Answer, CreditPool, Frame, Missing, RcReceiver, RcSender, Reaction, Urgency,
};
use tier6_g5::{AckMerge, CreditScope, Credits, RcLink, Recovery};
use tier6_units::SimTime;

/// A seeded stream of numbers in 0..1 (splitmix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

enum Control {
    Ack(tier6_g5::rc_link::Sequence),
    Nak(Missing),
}

struct Outcome {
    /// Frames taken in order, per slot of the line.
    efficiency: f64,
    acks: u64,
    delivered: u64,
}

/// Sends for `slots` frame times (1 ps each) on a line with `loop_slots` frames in flight, that
/// loses frames at random, with a scan for merged acknowledgements each `scan` slots.
fn line(link: &RcLink, loop_slots: u64, slots: u64, scan: u64, seed: u64) -> Outcome {
    let (mut sender, mut receiver) = (RcSender::new(link), RcReceiver::new(link));
    let (forth, back) = (loop_slots / 2, loop_slots - loop_slots / 2 - 1);
    let mut frames: VecDeque<(u64, Option<Frame>)> = VecDeque::new();
    let mut controls: VecDeque<(u64, Control)> = VecDeque::new();
    let mut draws = Draws(seed);
    let mut acks = 0;
    for slot in 0..slots {
        let now = SimTime::from_ps(slot);
        while controls.front().is_some_and(|&(at, _)| at <= slot) {
            match controls.pop_front().unwrap().1 {
                Control::Ack(expected) => {
                    sender.on_ack(expected, now);
                }
                Control::Nak(missing) => {
                    sender.on_nak(missing, now).unwrap();
                }
            }
        }
        sender.on_timer(now).unwrap();
        sender.offer(1);
        if let Some(frame) = sender.send(now) {
            let kept = (draws.next() >= link.loss).then_some(frame);
            frames.push_back((slot + forth, kept));
        }
        while frames.front().is_some_and(|&(at, _)| at <= slot) {
            let Some(frame) = frames.pop_front().unwrap().1 else {
                continue;
            };
            match receiver.on_frame(frame.sequence, Urgency::Merge) {
                Reaction::Take {
                    number,
                    answer,
                    nak,
                } => {
                    assert_eq!(number, frame.number, "decoded from 12 bits");
                    if let Answer::Now(expected) = answer {
                        acks += 1;
                        controls.push_back((slot + back, Control::Ack(expected)));
                    }
                    if let Some(missing) = nak {
                        controls.push_back((slot + back, Control::Nak(missing)));
                    }
                }
                Reaction::Again(expected) => {
                    controls.push_back((slot + back, Control::Ack(expected)));
                }
                Reaction::Gap { nak } => {
                    if let Some(missing) = nak {
                        controls.push_back((slot + back, Control::Nak(missing)));
                    }
                }
            }
        }
        if slot % scan == 0
            && let Some(expected) = receiver.acknowledge()
        {
            acks += 1;
            controls.push_back((slot + back, Control::Ack(expected)));
        }
    }
    Outcome {
        efficiency: receiver.expected() as f64 / slots as f64,
        acks,
        delivered: receiver.expected(),
    }
}

fn link(loss: f64, loop_slots: u64) -> RcLink {
    RcLink {
        ack: AckMerge::Never,
        timeout: SimTime::from_ps(4 * loop_slots),
        loss,
        ..RcLink::defaults()
    }
}

/// η = (1−p)/(1−p+pW).
#[test]
fn go_back_n_keeps_its_share_of_the_line() {
    for in_flight in [16, 64, 149, 512] {
        for loss in [1e-5, 1e-4, 1e-3, 1e-2] {
            let slots = if loss < 5e-3 { 1_000_000 } else { 2_500_000 };
            let got = line(&link(loss, in_flight), in_flight, slots, 1, 7).efficiency;
            let law = (1.0 - loss) / (1.0 - loss + loss * in_flight as f64);
            assert!(
                (got / law - 1.0).abs() < 0.03,
                "W = {in_flight}, p = {loss}: {got:.4}, expected {law:.4}"
            );
        }
    }
}

/// η = 1−p.
#[test]
fn selective_repeat_loses_the_lost_frames_only() {
    for loss in [1e-5, 1e-4, 1e-3] {
        let selective = RcLink {
            recovery: Recovery::Selective { reorder: 0 },
            window: 2048,
            ..link(loss, 149)
        };
        let got = line(&selective, 149, 1_000_000, 1, 3).efficiency;
        assert!(
            (got / (1.0 - loss) - 1.0).abs() < 0.01,
            "p = {loss}: {got:.4}"
        );
    }
}

/// Throughput min(1, W/loop): a window below the loop is the limit, above it changes nothing.
#[test]
fn a_window_carries_its_frames_per_loop() {
    for window in [10, 50, 99, 100, 150, 400] {
        let narrow = RcLink {
            window,
            ..link(0.0, 100)
        };
        // An acknowledgement comes one slot before the report of a gap would.
        let got = line(&narrow, 101, 100_000, 1, 0).efficiency;
        let law = (f64::from(window) / 100.0).min(1.0);
        assert!((got / law - 1.0).abs() < 0.01, "{window}: {got} for {law}");
    }
}

/// Merging cuts the acknowledgements to one per scan, and the rate not at all while the window
/// covers the loop and the delay of the merge; below that the window law holds with the longer
/// loop.
#[test]
fn merged_acknowledgements_cost_window_only() {
    let merged = |window, scan| {
        let link = RcLink {
            window,
            ack: AckMerge::Every(SimTime::from_ps(scan)),
            timeout: SimTime::from_ps(4_000),
            ..link(0.0, 100)
        };
        line(&link, 100, 200_000, scan, 0)
    };
    let wide = merged(150, 50);
    assert!(wide.efficiency > 0.999, "{}", wide.efficiency);
    let per_ack = wide.delivered as f64 / wide.acks as f64;
    assert!(
        (per_ack / 50.0 - 1.0).abs() < 0.01,
        "{per_ack} frames per ack"
    );

    // A window of 75 goes out in 75 slots; the acknowledgements come by scan, in whole scans.
    let narrow = merged(75, 50).efficiency;
    assert!((0.5..0.76).contains(&narrow), "{narrow}");
}

/// Throughput against credits: linear, then flat, with the knee at C = B·T.
#[test]
fn credits_have_their_knee_at_the_loop() {
    const PACKET: u32 = 1402;
    // 512-byte credits: a packet takes 3, which hold 1536 bytes.
    let share = f64::from(PACKET) / 1536.0;
    let round_trip = 60;
    for count in (3..=300).step_by(3) {
        let got = with_credits(count, PACKET, 0, round_trip);
        let bytes = f64::from(count) * 512.0 * share;
        let law = (bytes / f64::from(round_trip * PACKET)).min(1.0);
        assert!(
            (got / law - 1.0).abs() < 0.01,
            "{count} credits: {got} for {law}"
        );
    }
    // Credits that do not make a packet are of no use.
    let whole = with_credits(30, PACKET, 0, round_trip);
    assert!((with_credits(32, PACKET, 0, round_trip) - whole).abs() < 1e-12);
}

/// The period of the return joins the loop.
#[test]
fn a_period_of_return_lengthens_the_loop() {
    let round_trip = 60;
    for period in [20, 60, 120] {
        let loop_slots = round_trip + period;
        let covers = with_credits(3 * loop_slots, 1402, period, round_trip);
        assert!(covers > 0.99, "{covers} at {period}");
        let half = with_credits(3 * loop_slots / 2, 1402, period, round_trip);
        assert!((0.49..0.85).contains(&half), "{half} at {period}");
    }
}

/// The share of the line that a pool of credits carries, one packet per slot of 1 ps.
fn with_credits(count: u32, packet: u32, period: u32, round_trip: u32) -> f64 {
    let round_trip = u64::from(round_trip);
    let credits = Credits {
        unit: 512,
        count,
        period: SimTime::from_ps(period.into()),
        scope: CreditScope::PerLink,
    };
    let mut pool = CreditPool::new(&credits);
    let (forth, back) = (round_trip / 2, round_trip - round_trip / 2);
    let mut packets: VecDeque<(u64, u32)> = VecDeque::new();
    let mut returns: VecDeque<(u64, u32)> = VecDeque::new();
    let slots = 100_000;
    let mut sent = 0;
    for slot in 0..slots {
        while returns.front().is_some_and(|&(at, _)| at <= slot) {
            pool.restore(returns.pop_front().unwrap().1);
        }
        if let Some(taken) = pool.take(packet) {
            sent += 1;
            packets.push_back((slot + forth, taken));
        }
        while packets.front().is_some_and(|&(at, _)| at <= slot) {
            let taken = packets.pop_front().unwrap().1;
            // At the next multiple of the period.
            let freed = slot.next_multiple_of(u64::from(period).max(1));
            returns.push_back((freed + back, taken));
        }
    }
    let under_way: u32 = packets
        .iter()
        .chain(&returns)
        .map(|&(_, credits)| credits)
        .sum();
    assert_eq!(pool.taken(), under_way, "credits are conserved");
    f64::from(sent) / slots as f64
}
