//! `tier6 analyze` on the bundled scan as a whole process, beside a process that does nothing.
//!
//! Target: below 20 ms. Prints minimum and median of both, and their ratio.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 50;

fn main() {
    let scan = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../data/measurements/s0_v100_ar_4gpu_nv2.csv");
    let scan = scan
        .to_str()
        .expect("Invariant: the checkout has a printable path");
    let analyze = [env!("CARGO_BIN_EXE_tier6"), "analyze", scan];
    let nothing = ["true"];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        // In turn, so that a slow moment of the machine meets both.
        times[0].push(milliseconds(&analyze));
        times[1].push(milliseconds(&nothing));
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    let [own, reference] = &times;
    println!(
        "analyze the bundled scan: median {:.2} ms, minimum {:.2} ms",
        own[RUNS / 2],
        own[0]
    );
    println!(
        "a process that does nothing: median {:.2} ms",
        reference[RUNS / 2]
    );
    println!(
        "ratio of the medians: {:.1}",
        own[RUNS / 2] / reference[RUNS / 2]
    );
}

fn milliseconds(command: &[&str]) -> f64 {
    let started = Instant::now();
    let status = Command::new(command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("Invariant: the program exists");
    assert!(status.success(), "{command:?}: {status}");
    started.elapsed().as_secs_f64() * 1e3
}
