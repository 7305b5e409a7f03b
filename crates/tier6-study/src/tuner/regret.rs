//! How much longer a chooser takes than the best that was measured.

use super::measured::Measured;
use tier6_units::Bytes;

/// Times of a chooser against the per-size optimum: the least of all paths measured, those
/// that may not be written included.
///
/// The optimum is the least of several noisy times, so noise alone makes some regret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regret {
    /// Number of sizes.
    pub sizes: usize,
    /// Sizes at which the chosen path was not measured; they do not count.
    pub not_measured: usize,
    /// Mean of time / optimum - 1, in percent; zero without sizes.
    pub mean_pct: f64,
    /// The largest, in percent, and its size.
    pub worst: Option<(f64, Bytes)>,
}

/// Judges a chooser: `ln_us` returns ln of its time at a size.
pub(crate) fn regret(
    truth: &Measured,
    sizes: impl Iterator<Item = u64>,
    ln_us: impl Fn(u64) -> Option<f64>,
) -> Regret {
    let mut regret = Regret {
        sizes: 0,
        not_measured: 0,
        mean_pct: 0.0,
        worst: None,
    };
    let mut sum = 0.0;
    for bytes in sizes {
        let (Some(ln_us), Some(optimum)) = (ln_us(bytes), truth.optimum(bytes)) else {
            regret.not_measured += 1;
            continue;
        };
        let pct = ((ln_us - optimum).exp() - 1.0) * 100.0;
        regret.sizes += 1;
        sum += pct;
        if regret.worst.is_none_or(|(worst, _)| pct > worst) {
            regret.worst = Some((pct, Bytes::new(bytes)));
        }
    }
    if regret.sizes > 0 {
        regret.mean_pct = sum / regret.sizes as f64;
    }
    regret
}
