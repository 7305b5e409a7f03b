//! Whether the slowest samples moved while the medians stayed: P95 / median over the sizes of a
//! segment.
//!
//! One size with ten cycles cannot show a tail; a segment can. With samples: a permutation test,
//! exchanging samples between the runs within each size after each side is divided by its own
//! median. With published P95 only: a t test of ln(ratio) over the sizes.

use super::CompareOptions;
use super::size::Matched;
use tier6_stats::{Rng, mean, percentile, sample_sd, t_p_value};

/// Fewest samples on each side of a size for its tail to count.
const SAMPLES_MIN: usize = 5;
/// Fewest sizes for a test over published values.
const SIZES_MIN: usize = 4;
/// Exchanges tried: the smallest p-value is 1 / 2000.
const PERMUTATIONS: u32 = 1999;

/// A change of P95 / median.
#[derive(Clone, Copy)]
pub(super) struct TailChange {
    /// (P95 / median of the new run) / (that of the baseline) - 1, geometric mean over sizes.
    pub(super) change: f64,
    /// Geometric means of P95 / median, baseline and new run.
    pub(super) ratios: (f64, f64),
    /// Probability of such a change by chance; 1 when it is too small to matter.
    pub(super) p_value: f64,
    pub(super) sizes: usize,
}

/// Tests the tail of a segment; `None` when too few sizes show one.
pub(super) fn change(sizes: &[Matched], options: &CompareOptions) -> Option<TailChange> {
    from_samples(sizes, options).or_else(|| from_published(sizes, options))
}

fn from_samples(sizes: &[Matched], options: &CompareOptions) -> Option<TailChange> {
    let relative = |times: &[f64], median: f64| -> Vec<f64> {
        times.iter().map(|time| time / median).collect()
    };
    let mut pools: Vec<(Vec<f64>, usize)> = sizes
        .iter()
        .filter(|size| size.base.times.len().min(size.new.times.len()) >= SAMPLES_MIN)
        .map(|size| {
            let mut pool = relative(&size.base.times, size.base.median);
            let cut = pool.len();
            pool.extend(relative(&size.new.times, size.new.median));
            (pool, cut)
        })
        .collect();
    let logs: Vec<(f64, f64)> = pools
        .iter()
        .map(|(pool, cut)| log_tails(pool, *cut))
        .collect::<Option<_>>()?;
    let found = summary(&logs)?;
    if !matters(found, options) {
        return Some(found);
    }
    let observed = (1.0 + found.change).ln().abs();
    let mut rng = Rng::new(options.seed);
    let mut as_large = 0;
    for _ in 0..PERMUTATIONS {
        let mut total = 0.0;
        for (pool, cut) in &mut pools {
            rng.shuffle(pool);
            let (base, new) = log_tails(pool, *cut)?;
            total += new - base;
        }
        as_large += u32::from((total / pools.len() as f64).abs() >= observed);
    }
    let p_value = f64::from(as_large + 1) / f64::from(PERMUTATIONS + 1);
    Some(TailChange { p_value, ..found })
}

fn from_published(sizes: &[Matched], options: &CompareOptions) -> Option<TailChange> {
    let logs: Vec<(f64, f64)> = sizes
        .iter()
        .filter_map(|size| {
            let base = (size.base.p95? / size.base.median).ln();
            Some((base, (size.new.p95? / size.new.median).ln()))
        })
        .collect();
    if logs.len() < SIZES_MIN {
        return None;
    }
    let found = summary(&logs)?;
    if !matters(found, options) {
        return Some(found);
    }
    let changes: Vec<f64> = logs.iter().map(|(base, new)| new - base).collect();
    let error = sample_sd(&changes)? / (changes.len() as f64).sqrt();
    let p_value = t_p_value(mean(&changes)? / error, (changes.len() - 1) as f64)?;
    Some(TailChange { p_value, ..found })
}

/// Says whether a change is large enough to be worth a test.
fn matters(found: TailChange, options: &CompareOptions) -> bool {
    100.0 * found.change.abs() >= options.min_tail_effect_pct
}

fn summary(logs: &[(f64, f64)]) -> Option<TailChange> {
    let base = mean(&logs.iter().map(|(base, _)| *base).collect::<Vec<_>>())?;
    let new = mean(&logs.iter().map(|(_, new)| *new).collect::<Vec<_>>())?;
    Some(TailChange {
        change: (new - base).exp() - 1.0,
        ratios: (base.exp(), new.exp()),
        p_value: 1.0,
        sizes: logs.len(),
    })
}

/// Returns the logarithms of P95 before and after the cut.
fn log_tails(pool: &[f64], cut: usize) -> Option<(f64, f64)> {
    let (base, new) = pool.split_at(cut);
    Some((percentile(base, 95.0)?.ln(), percentile(new, 95.0)?.ln()))
}
