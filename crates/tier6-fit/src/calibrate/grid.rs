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
    search(problem, COMBINATIONS)
}

/// Returns the best of so many combinations.
fn search(problem: &Problem<'_>, combinations: f64) -> Result<Solution, CalibrateError> {
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
    let values = values_per_axis(n, combinations);
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
fn values_per_axis(n: usize, combinations: f64) -> u32 {
    let root = combinations.powf(1.0 / n.max(1) as f64).ceil();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::site::Sites;
    use crate::calibrate::solve::Starts;
    use crate::calibrate::{Call, least_squares};
    use crate::identify::{Setting, TwoLevel};
    use tier6_collective::{Algorithm, Collective, Protocol};
    use tier6_system::preset;
    use tier6_units::{Bytes, GbPerSec, Micros};

    /// Values per axis of these tests; the method itself takes 16.
    const VALUES: u32 = 6;
    /// Three settings tell all five constants.
    const SETTINGS: [(u32, u32); 3] = [(4, 2), (8, 2), (8, 4)];

    /// Value number `at` of an axis.
    fn node((low, high): (f64, f64), at: u32) -> f64 {
        low + (high - low) * f64::from(at) / f64::from(VALUES - 1)
    }

    /// Constants in the middle of the ranges, each on a value of the grid.
    fn truth() -> TwoLevel {
        TwoLevel {
            inside: GbPerSec::new(450.0 * node(SHARE_OF_NVLINK, 2)),
            rail: GbPerSec::new(50.0 * node(SHARE, 3)),
            step_inside: Micros::new(node(STEP_INSIDE_US, 2)),
            step_across: Micros::new(node(STEP_ACROSS_US, 1)),
            software: Micros::new(node(SOFTWARE_US, 3)),
        }
    }

    /// Times of a setting, 1 % above and below in turn.
    fn sweep((per_node, nodes): (u32, u32)) -> Observed {
        let points: Vec<(Bytes, Micros)> = (10..34)
            .map(|bits| {
                let bytes = Bytes::new(1 << bits);
                let noise = if bits % 2 == 0 { 1.01 } else { 0.99 };
                let time = truth().time(Setting { per_node, nodes }, bytes);
                (bytes, Micros::new(noise * time.get()))
            })
            .collect();
        let call = Call {
            collective: Collective::AllReduce,
            algorithm: Some(Algorithm::Hierarchical),
            protocol: Some(Protocol::Simple),
            ranks: per_node * nodes,
            nodes,
        };
        Observed::new(format!("{per_node} x {nodes}"), call, &points)
    }

    /// Calls the check with the problem of all three settings.
    fn with_problem(check: impl Fn(&Problem<'_>)) {
        let system = preset("h100-x8-ib-ndr").unwrap();
        let observed = SETTINGS.map(sweep);
        let observed: Vec<&Observed> = observed.iter().collect();
        let sites = Sites::of(&system, &observed).unwrap();
        let model = Model::new(&observed, &sites).unwrap();
        let (free, refused) = least_squares::free(&model, &observed);
        assert!(refused.is_empty(), "{refused:?}");
        check(&Problem {
            model: &model,
            observed: &observed,
            free,
            pull: 0.1,
            starts: Starts::All,
        });
    }

    /// Name, low end and high end of the axes, in the order of the problem.
    fn axes(problem: &Problem<'_>) -> Vec<(String, (f64, f64))> {
        let model = problem.model;
        let axis = |at: &usize| {
            let key = &model.keys()[*at];
            (key.to_string(), range(key, model.priors()[*at], model))
        };
        problem.free.iter().map(axis).collect()
    }

    #[test]
    fn ranges_are_those_of_the_document() {
        with_problem(|problem| {
            let mut found = axes(problem);
            found.sort_by(|a, b| a.0.cmp(&b.0));
            let expected = [
                ("links.ib-ndr.efficiency", (0.125, 1.0)),
                ("links.ib-ndr.step.simple", (0.0, 25.0)),
                ("links.nvlink4.efficiency", (0.85, 0.98)),
                ("links.nvlink4.step.simple", (0.0, 30.0 / 14.0)),
                ("software.call", (0.0, 20.0)),
            ];
            assert_eq!(found, expected.map(|(name, axis)| (name.to_owned(), axis)));
        });
    }

    #[test]
    fn a_million_combinations_are_as_many_on_each_axis() {
        for (constants, values) in [(1, 1_000_000), (2, 1000), (3, 100), (4, 32), (5, 16)] {
            assert_eq!(
                values_per_axis(constants, COMBINATIONS),
                values,
                "{constants}"
            );
        }
    }

    #[test]
    fn the_best_combination_is_the_fit_within_the_spacing() {
        with_problem(|problem| {
            // Half a combination less: a root of the whole number may come out above it.
            let grid = search(problem, f64::from(VALUES.pow(5)) - 0.5).unwrap();
            let fit = problem.solve().unwrap();
            assert_eq!(grid.evaluations, VALUES.pow(5));
            assert!(fit.evaluations < 50, "{}", fit.evaluations);
            assert!(fit.sum_of_squares <= grid.sum_of_squares);
            for (at, (name, (low, high))) in problem.free.iter().zip(axes(problem)) {
                let spacing = (high - low) / f64::from(VALUES - 1);
                let (found, best) = (grid.constants[*at], fit.constants[*at]);
                assert!(
                    (found - best).abs() <= spacing,
                    "{name}: {found}, not {best}"
                );
                assert!((low..=high).contains(&found), "{name}: {found}");
            }
        });
    }
}
