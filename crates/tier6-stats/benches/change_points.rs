//! Times the segmentation of 1,000 and 4,000 sizes; prints each run, and the ratio to a plain
//! pass of square roots over as many pieces measured in the same process.

use std::hint::black_box;
use std::time::Instant;
use tier6_stats::{Rng, SegmentRules, segment_lines};

fn main() {
    for n in [1000_usize, 4000] {
        let (x, y) = sweep(n);
        let rules = SegmentRules {
            min_points: 3,
            max_segments: 8,
            bic_gain_min: 6.0,
            resolution: 1e-4,
        };
        let mut pieces = 0;
        let runs: Vec<f64> = (0..7)
            .map(|_| {
                let start = Instant::now();
                pieces = segment_lines(black_box(&x), black_box(&y), rules)
                    .map_or(0, |found| found.starts.len());
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let reference = square_roots(n);
        let best = runs.iter().copied().fold(f64::INFINITY, f64::min);
        let shown: Vec<String> = runs.iter().map(|ms| format!("{ms:.1}")).collect();
        println!(
            "segment_lines {n} sizes: {} ms, best {best:.1} ms, {pieces} segments; \
             {:.1} x the square roots of as many pieces ({reference:.1} ms)",
            shown.join(" "),
            best / reference,
        );
    }
}

/// Three regimes with 1 % noise, sizes 1 MiB apart.
fn sweep(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(1);
    (1..=n)
        .map(|i| {
            let x = (i << 20) as f64;
            let line = match 3 * i / n {
                0 => 18.0 + x / 37e3,
                1 => 400.0 + x / 43e3,
                _ => 3000.0 + x / 81e3,
            };
            (x, line * (1.0 + 0.01 * rng.normal()))
        })
        .unzip()
}

/// Returns the milliseconds for two dependent square roots per piece, the floor of any rotation.
fn square_roots(n: usize) -> f64 {
    let start = Instant::now();
    let mut value = 2.0_f64;
    for i in 0..n * (n + 1) {
        value = (value + i as f64).sqrt();
    }
    black_box(value);
    start.elapsed().as_secs_f64() * 1e3
}
