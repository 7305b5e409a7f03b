//! Where one path gives way to another: between two measured sizes, with an interval.

use super::contender::{Contender, Way};
use tier6_stats::{Rng, percentile};
use tier6_units::Bytes;

/// Draws behind an interval.
const DRAWS: usize = 400;
/// The seed of the draws; the same data gives the same interval.
const SEED: u64 = 6;

/// A size at which two ways take equally long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossover {
    /// What is faster below.
    pub from: Way,
    /// What is faster above.
    pub to: Way,
    /// The last size below it, by interpolation.
    pub bytes: Bytes,
    /// The measured sizes on both sides.
    pub between: (Bytes, Bytes),
    /// Where it lies in 95 of 100 repetitions with the noise of the data; `None` when one of
    /// the paths was not measured on both sides, or the curves do not cross in most repetitions.
    pub interval: Option<(Bytes, Bytes)>,
}

/// Returns the last size for `below`, between two measured sizes of which the first is the
/// region of `below` and the second that of `above`.
///
/// It is where the interpolated curves meet; where they do not, half way on a logarithmic
/// scale.
pub(crate) fn border(below: &Contender, above: &Contender, first: u64, second: u64) -> u64 {
    let is_slower = |bytes: u64| -> Option<bool> {
        Some(below.rough_ln_us(bytes)? > above.rough_ln_us(bytes)?)
    };
    if is_slower(first) != Some(false) || is_slower(second) != Some(true) {
        return half_way(first, second);
    }
    let (mut low, mut high) = (first, second);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_slower(middle) == Some(true) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// Returns the geometric mean, at least `first` and below `second`.
fn half_way(first: u64, second: u64) -> u64 {
    let mean = (first as f64 * second as f64).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean of sizes; rounded down"
    )]
    let mean = mean as u64;
    mean.clamp(first, second.saturating_sub(1).max(first))
}

/// Returns the crossover of two regions that meet between the sizes at `split` and one above it.
pub(crate) fn crossover(
    below: &Contender,
    above: &Contender,
    sizes: &[u64],
    split: usize,
) -> Crossover {
    let (first, second) = (sizes[split], sizes[split + 1]);
    let last = border(below, above, first, second);
    let is_measured = [below, above].iter().all(|contender| {
        let mut both = [first, second].into_iter();
        both.all(|bytes| contender.measured_ln_us(bytes).is_some())
    });
    Crossover {
        from: below.way,
        to: above.way,
        bytes: Bytes::new(last),
        between: (Bytes::new(first), Bytes::new(second)),
        interval: is_measured
            .then(|| interval(below, above, sizes, last))
            .flatten(),
    }
}

/// Draws both curves anew with their noise, and takes the crossing nearest to `near`.
fn interval(
    below: &Contender,
    above: &Contender,
    sizes: &[u64],
    near: u64,
) -> Option<(Bytes, Bytes)> {
    let differences: Vec<(f64, f64, f64)> = sizes
        .iter()
        .filter_map(|&bytes| {
            let difference = below.rough_ln_us(bytes)? - above.rough_ln_us(bytes)?;
            let variance = |contender: &Contender| contender.level(bytes).map(|l| l.variance);
            // An assumed path is as noisy as the one that it is compared with.
            let own = variance(below).or(variance(above))?;
            let other = variance(above).unwrap_or(own);
            Some(((bytes as f64).ln(), difference, (own + other).sqrt()))
        })
        .collect();
    let near = (near.max(1) as f64).ln();
    let mut rng = Rng::new(SEED);
    let mut crossings = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let drawn: Vec<(f64, f64)> = differences
            .iter()
            .map(|&(ln_bytes, difference, sigma)| (ln_bytes, difference + sigma * rng.normal()))
            .collect();
        crossings.extend(nearest_crossing(&drawn, near));
    }
    if crossings.len() < DRAWS / 2 {
        return None;
    }
    let size = |percent| percentile(&crossings, percent).map(to_bytes);
    Some((size(2.5)?, size(97.5)?))
}

/// Returns ln of the size where the difference turns positive, nearest to `near`.
fn nearest_crossing(differences: &[(f64, f64)], near: f64) -> Option<f64> {
    let crossings = differences.windows(2).filter_map(|two| {
        let [(x0, y0), (x1, y1)] = [two[0], two[1]];
        (y0 <= 0.0 && y1 > 0.0).then(|| x0 + (x1 - x0) * y0 / (y0 - y1))
    });
    crossings.min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()))
}

fn to_bytes(ln_bytes: f64) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "ln of a size; rounded"
    )]
    Bytes::new(ln_bytes.exp().round() as u64)
}
