//! Nonlinear least squares between bounds: Levenberg-Marquardt with projection.
//!
//! The caller gives residuals and their derivatives; a model that is linear piece by piece, as
//! times are in latencies and inverse rates, is solved in a few steps. Parameters on a bound that
//! the gradient pushes outward are held for a step. Deterministic; no randomness, no clock.

use crate::linear::solve_symmetric;

/// How long to try.
const STEPS_MAX: u32 = 200;
/// A step that improves the sum of squares by less than this share ends the fit.
const GAIN_MIN: f64 = 1e-7;
/// A step that moves every parameter by less than this share ends it too.
const STEP_MIN: f64 = 1e-13;
/// Damping at the start and its largest value, relative to the diagonal.
const DAMPING: (f64, f64) = (1e-4, 1e12);
/// The smallest damping of a smooth model, and of one with kinks.
const DAMPING_MIN: (f64, f64) = (1e-7, 1e-12);
/// A step that gains less than this share of what slopes promised went too far.
const PROMISE_MIN: f64 = 0.5;

/// How a model depends on its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Where curvature outweighs slopes, undamped steps swing around the least and hardly come
    /// nearer: a step that gains less than it promised is damped.
    Smooth,
    /// Slopes jump: what a step promises says nothing, and a swing may find the better side.
    Kinked,
}

/// Residuals at some parameters, and their derivatives by parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Residuals {
    /// One per observation.
    pub values: Vec<f64>,
    /// `columns[j][i]`: the derivative of residual i by parameter j.
    pub columns: Vec<Vec<f64>>,
}

/// Where a fit ended.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedFit {
    /// The parameters, within their bounds.
    pub parameters: Vec<f64>,
    /// The sum of squared residuals.
    pub sum_of_squares: f64,
    /// How often the residuals were computed.
    pub evaluations: u32,
}

impl Residuals {
    fn sum_of_squares(&self) -> f64 {
        self.values.iter().map(|value| value * value).sum()
    }

    /// Returns the sum of squares at other parameters, were the residuals linear in them.
    fn linear_sum_of_squares(&self, from: &[f64], to: &[f64]) -> f64 {
        let mut values = self.values.clone();
        for ((column, from), to) in self.columns.iter().zip(from).zip(to) {
            let moved = to - from;
            for (value, slope) in values.iter_mut().zip(column) {
                *value += slope * moved;
            }
        }
        values.iter().map(|value| value * value).sum()
    }
}

/// Minimises the sum of squares of `residuals` from `start`, each parameter between its bounds.
/// The residuals may have kinks, where another of several branches becomes the least.
///
/// Returns `None` when the bounds and `start` differ in number, or the residuals at the start
/// are not finite.
pub fn fit_bounded(
    start: &[f64],
    bounds: &[(f64, f64)],
    residuals: impl FnMut(&[f64]) -> Residuals,
) -> Option<BoundedFit> {
    fit(start, bounds, residuals, Shape::Kinked)
}

/// The same of residuals without kinks: some parameters may be told only together, and a few steps
/// still find the least.
pub fn fit_bounded_smooth(
    start: &[f64],
    bounds: &[(f64, f64)],
    residuals: impl FnMut(&[f64]) -> Residuals,
) -> Option<BoundedFit> {
    fit(start, bounds, residuals, Shape::Smooth)
}

fn fit(
    start: &[f64],
    bounds: &[(f64, f64)],
    mut residuals: impl FnMut(&[f64]) -> Residuals,
    shape: Shape,
) -> Option<BoundedFit> {
    if start.len() != bounds.len() {
        return None;
    }
    let clamp = |value: f64, (low, high): (f64, f64)| value.max(low).min(high);
    let within = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(bounds);
        pairs.map(|(value, bound)| clamp(*value, *bound)).collect()
    };
    let mut at = within(start);
    let mut here = residuals(&at);
    let mut best = here.sum_of_squares();
    if !best.is_finite() {
        return None;
    }
    let mut evaluations = 1;
    let (mut damping, most) = DAMPING;
    let least = match shape {
        Shape::Smooth => DAMPING_MIN.0,
        Shape::Kinked => DAMPING_MIN.1,
    };
    let mut steps = 0;
    while steps < STEPS_MAX && damping < most {
        steps += 1;
        let Some(step) = step(&here, &at, bounds, damping) else {
            damping *= 10.0;
            continue;
        };
        let moved: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a + s).collect();
        let next = within(&moved);
        let stays = |(a, b): (&f64, &f64)| (a - b).abs() <= STEP_MIN * b.abs();
        if next.iter().zip(&at).all(stays) {
            break;
        }
        let there = residuals(&next);
        evaluations += 1;
        let found = there.sum_of_squares();
        if found.is_finite() && found < best {
            let gain = best - found;
            let is_kept = match shape {
                Shape::Smooth => {
                    let promised = best - here.linear_sum_of_squares(&at, &next);
                    gain >= PROMISE_MIN * promised
                }
                Shape::Kinked => true,
            };
            damping = if is_kept {
                (damping * 0.1).max(least)
            } else {
                damping * 10.0
            };
            (at, here) = (next, there);
            let is_settled = gain <= GAIN_MIN * best;
            best = found;
            if is_settled {
                break;
            }
        } else {
            damping *= 10.0;
        }
    }
    Some(BoundedFit {
        parameters: at,
        sum_of_squares: best,
        evaluations,
    })
}

/// Returns the damped Gauss-Newton step of the parameters that are free to move.
fn step(
    residuals: &Residuals,
    at: &[f64],
    bounds: &[(f64, f64)],
    damping: f64,
) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let gradient: Vec<f64> = residuals
        .columns
        .iter()
        .map(|column| dot(column, &residuals.values))
        .collect();
    let is_free = |j: &usize| {
        let (low, high) = bounds[*j];
        let pushes_out =
            (at[*j] <= low && gradient[*j] > 0.0) || (at[*j] >= high && gradient[*j] < 0.0);
        low < high && !pushes_out && residuals.columns[*j].iter().any(|value| *value != 0.0)
    };
    let free: Vec<usize> = (0..at.len()).filter(is_free).collect();
    let columns = &residuals.columns;
    let mut normal: Vec<Vec<f64>> = free
        .iter()
        .map(|a| {
            free.iter()
                .map(|b| dot(&columns[*a], &columns[*b]))
                .collect()
        })
        .collect();
    for (k, row) in normal.iter_mut().enumerate() {
        row[k] *= 1.0 + damping;
    }
    let downhill: Vec<f64> = free.iter().map(|j| -gradient[*j]).collect();
    let solved = solve_symmetric(normal, downhill)?;
    let mut step = vec![0.0; at.len()];
    for (j, value) in free.into_iter().zip(solved) {
        step[j] = value;
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = a + b x at x = 0, 1, 2, 3.
    fn line(y: [f64; 4]) -> impl FnMut(&[f64]) -> Residuals {
        move |p| Residuals {
            values: (0..4).map(|i| p[0] + p[1] * i as f64 - y[i]).collect(),
            columns: vec![vec![1.0; 4], (0..4).map(f64::from).collect()],
        }
    }

    #[test]
    fn a_line_is_found_in_a_few_steps() {
        let free = [(f64::NEG_INFINITY, f64::INFINITY); 2];
        let fit = fit_bounded(&[0.0, 0.0], &free, line([1.0, 3.0, 5.0, 7.0])).unwrap();
        assert!((fit.parameters[0] - 1.0).abs() < 1e-6);
        assert!((fit.parameters[1] - 2.0).abs() < 1e-6);
        assert!(fit.evaluations < 20);
    }

    #[test]
    fn a_bound_holds_and_the_rest_adapts() {
        // The free line has the intercept -1; at 0 the best slope is sum(xy) / sum(xx).
        let bounds = [(0.0, 10.0), (0.0, 10.0)];
        let fit = fit_bounded(&[5.0, 5.0], &bounds, line([-1.0, 1.0, 3.0, 5.0])).unwrap();
        assert!(fit.parameters[0].abs() < 1e-9);
        assert!((fit.parameters[1] - 22.0 / 14.0).abs() < 1e-6);
    }

    #[test]
    fn a_curved_valley_is_followed() {
        // Rosenbrock's function as two residuals.
        let valley = |p: &[f64]| Residuals {
            values: vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]],
            columns: vec![vec![-20.0 * p[0], -1.0], vec![10.0, 0.0]],
        };
        let fit = fit_bounded(&[-1.2, 1.0], &[(-5.0, 5.0); 2], valley).unwrap();
        assert!(
            fit.parameters.iter().all(|p| (p - 1.0).abs() < 1e-5),
            "{fit:?}"
        );
    }

    #[test]
    fn what_is_told_only_together_takes_few_steps() {
        // A time e^p + 4 e^q of 1, both parameters weakly held at 0.
        let together = |p: &[f64]| {
            let (a, b) = (p[0].exp(), 4.0 * p[1].exp());
            let weak = 0.1;
            Residuals {
                values: vec![(a + b).ln(), weak * p[0], weak * p[1]],
                columns: vec![vec![a / (a + b), weak, 0.0], vec![b / (a + b), 0.0, weak]],
            }
        };
        let (start, bounds) = ([0.0, 0.0], [(-5.0, 5.0); 2]);
        let smooth = fit_bounded_smooth(&start, &bounds, together).unwrap();
        let kinked = fit_bounded(&start, &bounds, together).unwrap();
        assert!((smooth.sum_of_squares / kinked.sum_of_squares - 1.0).abs() < 1e-6);
        assert!(smooth.evaluations <= 20, "{smooth:?}");
        assert!(kinked.evaluations > 2 * smooth.evaluations, "{kinked:?}");
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let broken = |_: &[f64]| Residuals {
            values: vec![f64::NAN],
            columns: vec![vec![1.0]],
        };
        assert_eq!(fit_bounded(&[1.0], &[(0.0, 2.0)], broken), None);
        assert_eq!(fit_bounded(&[1.0], &[], |_| Residuals::default()), None);
    }
}
