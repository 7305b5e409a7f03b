//! The agenda against a bare binary heap: the hold model.
//!
//! A fixed number of events is pending; each step takes the first and adds one after a random
//! delay, and does nothing else. The heap holds (time, number, id) of 64, 32 and 32 bits; the
//! agenda holds a 12-byte event, as the engine's are. Reference and subject take turns and the
//! least time of each counts, because a shared machine is slow in bursts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use tier6_des::{Agenda, Random};
use tier6_units::SimTime;

const TURNS: u32 = 5;
const EVENTS: u32 = 2_000_000;

/// What the engine keeps of an event.
#[derive(Clone, Copy)]
struct Event {
    id: u32,
    rest: [u32; 2],
}

#[derive(Clone, Copy)]
enum Delay {
    Exponential,
    Uniform,
    /// One of two: what a symmetric collective gives.
    TwoKinds,
}

/// Delays are drawn before the clock starts.
fn delays(kind: Delay) -> Vec<u64> {
    let mut random = Random::new(1);
    let mut draw = || match kind {
        Delay::Exponential => {
            SimTime::from(tier6_units::Micros::new(-(1.0 - random.uniform()).ln())).ps()
        }
        Delay::Uniform => 1 + random.below(2_000_000),
        Delay::TwoKinds => 500_000 + 327_680 * random.below(2),
    };
    (0..1 << 16).map(|_| draw()).collect()
}

fn main() {
    let kinds = [
        ("exponential", Delay::Exponential),
        ("uniform", Delay::Uniform),
        ("two kinds", Delay::TwoKinds),
    ];
    println!("million events per second: heap, agenda");
    for (name, kind) in kinds {
        let delays = delays(kind);
        for pending in [16, 1000, 100_000] {
            let (mut heap, mut agenda) = (Duration::MAX, Duration::MAX);
            for _ in 0..TURNS {
                heap = heap.min(timed(|| hold_heap(pending, &delays)));
                agenda = agenda.min(timed(|| hold_agenda(pending, &delays)));
            }
            let rate = |time: Duration| f64::from(EVENTS) / time.as_secs_f64() / 1e6;
            println!(
                "{name:12} {pending:7} pending {:6.1} {:6.1}, {:.2} of the heap's rate",
                rate(heap),
                rate(agenda),
                rate(agenda) / rate(heap),
            );
        }
    }
}

fn timed(work: impl Fn() -> u64) -> Duration {
    let (clock, start) = (Instant::now(), on_processor());
    std::hint::black_box(work());
    match (start, on_processor()) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => clock.elapsed(),
    }
}

/// What this process has had of a processor until now, where the system tells it.
fn on_processor() -> Option<Duration> {
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = times.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

fn hold_heap(pending: u32, delays: &[u64]) -> u64 {
    let mut heap = BinaryHeap::new();
    let mut delay = delays.iter().cycle();
    let mut next = || *delay.next().expect("Invariant: a cycle has no end");
    for id in 0..pending {
        heap.push(Reverse((next(), id, id)));
    }
    let mut sum = 0;
    for number in 0..EVENTS {
        let Reverse((time, _, id)) = heap.pop().expect("Invariant: never empty");
        sum ^= time;
        heap.push(Reverse((time + next(), number, id)));
    }
    sum
}

fn hold_agenda(pending: u32, delays: &[u64]) -> u64 {
    let mut agenda = Agenda::new();
    let mut delay = delays.iter().cycle();
    let mut next = || SimTime::from_ps(*delay.next().expect("Invariant: a cycle has no end"));
    for id in 0..pending {
        let rest = [id; 2];
        agenda.at(next(), Event { id, rest });
    }
    let mut sum = 0;
    for _ in 0..EVENTS {
        let (time, event) = agenda.pop().expect("Invariant: never empty");
        sum ^= time.ps() ^ u64::from(event.id ^ event.rest[0]);
        agenda.at(time + next(), event);
    }
    sum
}
