//! What speed is measured against, and how: the hold model, on this machine, in the same run.
//!
//! A binary heap with events pending, from which the first is taken and to which another is added
//! after a random time, and nothing else: what an event costs at least. A shared machine is slow in
//! bursts, so reference and subjects take turns, and the least time on a processor counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Takes and adds `count` events, `pending` at a time; returns the time of the last.
pub fn hold(pending: u32, count: u32) -> u64 {
    let mut state = 1_u64;
    let mut gap = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % 1_000_000
    };
    let mut heap = BinaryHeap::new();
    for number in 0..pending {
        heap.push(Reverse((gap(), number, number)));
    }
    let mut last = 0;
    for number in 0..count {
        let Reverse((time, _, event)) = heap.pop().expect("Invariant: never empty");
        last = time;
        heap.push(Reverse((time + gap(), number, event)));
    }
    last
}

/// Returns what the work returns, and the time on a processor that it took, where the system tells
/// it; else on the wall.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let (clock, start) = (Instant::now(), on_processor());
    let result = std::hint::black_box(work());
    let time = match (start, on_processor()) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => clock.elapsed(),
    };
    (time, result)
}

/// What this thread has had of a processor until now.
fn on_processor() -> Option<Duration> {
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = times.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
