//! Which sizes to measure, chosen before anything is measured.
//!
//! A few measured sizes predict the others best when they stand where the curve bends. Where it
//! bends is not known yet, but roughly: a system's priors, and the same with slower and faster
//! software, steps and links, give a family of curves. The chosen sizes are those between which
//! straight lines on log-log axes miss the family least (dynamic programming, exact).

use super::constant::Quantity;
use super::model::Model;
use super::site::Sites;
use super::{CalibrateError, Call, Observed};
use tier6_system::SystemSpec;
use tier6_units::Bytes;

/// How much slower and faster the members of the family are.
const FACTORS: [f64; 3] = [0.5, 1.0, 2.0];

/// Returns the `k` of the candidate sizes to measure for a call, ascending: the smallest and the
/// largest among them. All of them when there are no more than `k`, or `k` is below 2.
///
/// # Errors
///
/// When the call does not fit the system or no algorithm prices it.
pub fn plan_sizes(
    system: &SystemSpec,
    call: &Call,
    candidates: &[Bytes],
    k: usize,
) -> Result<Vec<Bytes>, CalibrateError> {
    let mut sizes: Vec<Bytes> = candidates.iter().copied().filter(|b| b.get() > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() <= k || k < 2 {
        return Ok(sizes);
    }
    let curves = family(system, call, &sizes)?;
    let x: Vec<f64> = sizes.iter().map(|bytes| bytes.as_f64().ln()).collect();
    let miss = |from: usize, to: usize| -> f64 {
        let one = |curve: &Vec<f64>| -> f64 {
            let slope = (curve[to] - curve[from]) / (x[to] - x[from]);
            let between = from + 1..to;
            let misses = between.map(|at| curve[at] - curve[from] - slope * (x[at] - x[from]));
            misses.map(|miss| miss * miss).sum()
        };
        curves.iter().map(one).sum()
    };
    let chosen = least(sizes.len(), k, miss);
    Ok(chosen.into_iter().map(|at| sizes[at]).collect())
}

/// Returns logarithms of the times of the family's members at the sizes.
fn family(
    system: &SystemSpec,
    call: &Call,
    sizes: &[Bytes],
) -> Result<Vec<Vec<f64>>, CalibrateError> {
    let asked = Observed::new("the call to measure", *call, &[]);
    let sites = Sites::of(system, &[&asked])?;
    let model = Model::new(&[&asked], &sites)?;
    let mut curves = Vec::new();
    for slower in FACTORS {
        for faster in FACTORS {
            let pairs = model.keys().iter().zip(model.priors());
            let constants: Vec<f64> = pairs
                .map(|(key, prior)| match key.quantity() {
                    Quantity::Time => prior * slower,
                    Quantity::Share => (prior * faster).min(1.0),
                    Quantity::Rate => prior * faster,
                })
                .collect();
            let priced = model.at(&constants)?;
            let curve = sizes.iter().map(|bytes| priced[0].time(*bytes).ln());
            curves.push(curve.collect());
        }
    }
    Ok(curves)
}

/// Returns the k of n positions, ends included, with the least sum of misses between neighbours.
fn least(n: usize, k: usize, miss: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    // best[j]: the least sum of a choice that ends at j, and the position before it.
    let mut best: Vec<(f64, Vec<usize>)> = (0..n)
        .map(|at| match at {
            0 => (0.0, vec![0]),
            _ => (f64::INFINITY, Vec::new()),
        })
        .collect();
    for _ in 1..k {
        let step = |to: usize| {
            let mut least = (f64::INFINITY, Vec::new());
            for (from, (sum, chosen)) in best.iter().enumerate().take(to) {
                let total = sum + miss(from, to);
                if total < least.0 {
                    let chosen = chosen.iter().copied().chain([to]).collect();
                    least = (total, chosen);
                }
            }
            least
        };
        best = (0..n).map(step).collect();
    }
    best.pop().map_or_else(Vec::new, |(_, chosen)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_stand_where_the_curve_bends() {
        let curve = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0_f64];
        let miss = |from: usize, to: usize| {
            let slope = (curve[to] - curve[from]) / (to - from) as f64;
            let misses =
                (from + 1..to).map(|at| curve[at] - curve[from] - slope * (at - from) as f64);
            misses.map(|miss| miss * miss).sum()
        };
        assert_eq!(least(8, 3, miss), [0, 3, 7]);
        assert_eq!(least(8, 2, miss), [0, 7]);
    }
}
