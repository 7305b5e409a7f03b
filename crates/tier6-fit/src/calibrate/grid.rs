//! The method `grid`: every combination of a few values per constant, and the best of them.
//!
//! Source document 003 finds its five constants so. It is slow, it finds no better than its
//! spacing, and it does not say which constants the measurements tell; it is kept because people
//! know it, and as the yardstick of the fit.

use super::constant::{Key, Quantity};
use super::model::Model;
use super::observed::Observed;
use super::solve::{Problem, Solution};
use super::{CalibrateError, Method};

/// How many combinations are tried.
const COMBINATIONS: f64 = 1e6;
/// Most constants; with more a million combinations are too coarse to mean anything.
const CONSTANTS_MAX: usize = 5;
/// Ranges of source document 003. Its 15 and 20 us of latency are those of 14 steps inside a node
/// and 2 between two.
const SOFTWARE_US: (f64, f64) = (0.0, 20.0);
const STEP_INSIDE_US: (f64, f64) = (0.0, 30.0 / 14.0);
const STEP_ACROSS_US: (f64, f64) = (0.0, 50.0 / 2.0);
const SHARE_OF_NVLINK: (f64, f64) = (0.85, 0.98);
/// 50 to 400 GB/s of 400.
const SHARE: (f64, f64) = (0.125, 1.0);

/// Returns the best combination.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solution, CalibrateError> {
    let free = &problem.free;
    let n = free.len();
    if n > CONSTANTS_MAX {
        return Err(CalibrateError::Method {
            method: Method::Grid,
            why: format!("tries at most {CONSTANTS_MAX} constants, and here are {n}"),
            hint: "force the algorithm and the protocol, or use `fit`",
        });
    }
    let model = problem.model;
    let values = values_per_axis(n);
    let axes: Vec<(f64, f64)> = free
        .iter()
        .map(|at| range(&model.keys()[*at], model.priors()[*at], model))
        .collect();
    let mut constants = model.priors().to_vec();
    let mut best = (f64::INFINITY, constants.clone());
    let mut digits = vec![0_u32; n];
    let mut evaluations = 0;
    loop {
        for ((at, digit), (low, high)) in free.iter().zip(&digits).zip(&axes) {
            let part = f64::from(*digit) / f64::from(values - 1);
            constants[*at] = low + part * (high - low);
        }
        evaluations += 1;
        let squares = sum_of_squares(model, problem.observed, &constants);
        if squares < best.0 {
            best = (squares, constants.clone());
        }
        let Some(next) = digits.iter().rposition(|digit| *digit + 1 < values) else {
            break;
        };
        digits[next] += 1;
        digits[next + 1..].fill(0);
    }
    let log = |at: &usize| {
        let ratio = best.1[*at] / model.priors()[*at];
        ratio.max(f64::MIN_POSITIVE).ln()
    };
    let logs = free.iter().map(log).collect();
    Ok(problem.solution(logs, evaluations))
}

/// Returns how many values each of n constants takes.
fn values_per_axis(n: usize) -> u32 {
    let root = COMBINATIONS.powf(1.0 / n.max(1) as f64).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 2 and the number of combinations"
    )]
    let values = root as u32;
    values.max(2)
}

fn range(key: &Key, prior: f64, model: &Model) -> (f64, f64) {
    match (key, key.quantity()) {
        (Key::Software, _) => SOFTWARE_US,
        (Key::Step(link, _), _) if model.is_inside(link) => STEP_INSIDE_US,
        (_, Quantity::Time) => STEP_ACROSS_US,
        (Key::Efficiency(link), _) if link.starts_with("nvlink") => SHARE_OF_NVLINK,
        (_, Quantity::Share) => SHARE,
        (_, Quantity::Rate) => (0.5 * prior, 1.5 * prior),
    }
}

fn sum_of_squares(model: &Model, observed: &[&Observed], constants: &[f64]) -> f64 {
    let Ok(priced) = model.at(constants) else {
        return f64::INFINITY;
    };
    let mut sum = 0.0;
    for (set, call) in observed.iter().zip(&priced) {
        for point in &set.points {
            sum += (call.time(point.bytes) / point.time.get() - 1.0).powi(2);
        }
    }
    sum
}
