//! A straight line by weighted least squares, free or with intercept and slope kept at zero
//! or above, with everything needed to judge it.
//!
//! Values are scaled by their largest and centred before sums are formed, so that abscissas up
//! to 2^34 and ordinates from 1e-3 to 1e7 lose no digits.

use crate::t_quantile;

/// Which residuals count how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// Ordinary least squares: every squared residual counts alike.
    Absolute,
    /// Weights 1 / y^2: squared relative residuals, so that the fit minimises RMSPE.
    Relative,
}

/// Which coefficient a constraint holds at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// None.
    Free,
    /// The intercept.
    Intercept,
    /// The slope.
    Slope,
}

/// Two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A fitted line y = intercept + slope x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineFit {
    /// Value at x = 0.
    pub intercept: f64,
    /// Change of y per unit of x.
    pub slope: f64,
    /// The coefficient that a constraint holds at zero.
    pub bound: Bound,
    /// Number of points.
    pub points: usize,
    /// Weighted sum of squared residuals: of relative ones under [`Weighting::Relative`].
    pub rss: f64,
    weighting: Weighting,
    moments: Moments,
}

/// Weighted sums of x scaled by `x_scale`, with the weights scaled by `y_scale`^2.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    x_scale: f64,
    y_scale: f64,
    weight: f64,
    mean_x: f64,
    /// About the mean.
    spread_x: f64,
}

/// Fits a line without constraint. `None` for fewer than two different abscissas, different
/// lengths, a value that is not finite, or a y of zero or less under relative weights.
pub fn fit_line(x: &[f64], y: &[f64], weighting: Weighting) -> Option<LineFit> {
    let scaled = Scaled::new(x, y, weighting)?;
    scaled.finish(scaled.free()?, Bound::Free)
}

/// Fits a line with intercept >= 0 and slope >= 0 (Lawson and Hanson's non-negative least
/// squares; with two coefficients the active sets can be tried one by one). `None` as for
/// [`fit_line`].
///
/// ```
/// use tier6_stats::{Bound, Weighting, fit_line_non_negative};
/// let fit = fit_line_non_negative(&[1.0, 2.0, 3.0], &[0.5, 2.0, 3.5], Weighting::Absolute).unwrap();
/// assert_eq!((fit.intercept, fit.bound), (0.0, Bound::Intercept));
/// ```
pub fn fit_line_non_negative(x: &[f64], y: &[f64], weighting: Weighting) -> Option<LineFit> {
    let scaled = Scaled::new(x, y, weighting)?;
    let free = scaled.free()?;
    if free.0 >= 0.0 && free.1 >= 0.0 {
        return scaled.finish(free, Bound::Free);
    }
    let through_origin = scaled.finish(scaled.through_origin(), Bound::Intercept);
    let level = scaled.finish((scaled.mean_y, 0.0), Bound::Slope);
    [through_origin, level]
        .into_iter()
        .flatten()
        .filter(|fit| fit.intercept >= 0.0 && fit.slope >= 0.0)
        .min_by(|a, b| a.rss.total_cmp(&b.rss))
}

/// The points with their weights, scaled so that the largest |x| and |y| are 1.
struct Scaled {
    weighting: Weighting,
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
    moments: Moments,
    mean_y: f64,
}

impl Scaled {
    fn new(x: &[f64], y: &[f64], weighting: Weighting) -> Option<Self> {
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let finite = x.iter().chain(y).all(|value| value.is_finite());
        if x.len() < 2 || x.len() != y.len() || !finite {
            return None;
        }
        // An all-zero column keeps its zeros.
        let positive = |scale: f64| if scale > 0.0 { scale } else { 1.0 };
        let (x_scale, y_scale) = (positive(largest(x)), positive(largest(y)));
        let x: Vec<f64> = x.iter().map(|value| value / x_scale).collect();
        let y: Vec<f64> = y.iter().map(|value| value / y_scale).collect();
        let weights: Vec<f64> = match weighting {
            Weighting::Absolute => vec![1.0; y.len()],
            Weighting::Relative if y.iter().any(|y| *y <= 0.0) => return None,
            Weighting::Relative => y.iter().map(|y| 1.0 / (y * y)).collect(),
        };
        let weight: f64 = weights.iter().sum();
        let mean = |values: &[f64]| dot(&weights, values) / weight;
        let (mean_x, mean_y) = (mean(&x), mean(&y));
        let spread_x: f64 = (weights.iter().zip(&x))
            .map(|(w, x)| w * (x - mean_x).powi(2))
            .sum();
        let moments = Moments {
            x_scale,
            y_scale,
            weight,
            mean_x,
            spread_x,
        };
        (weight.is_finite() && spread_x.is_finite() && spread_x > 0.0).then_some(Self {
            weighting,
            x,
            y,
            weights,
            moments,
            mean_y,
        })
    }

    /// Returns scaled intercept and slope of the unconstrained line.
    fn free(&self) -> Option<(f64, f64)> {
        let Moments {
            mean_x, spread_x, ..
        } = self.moments;
        let cross: f64 = (self.weights.iter().zip(&self.x).zip(&self.y))
            .map(|((w, x), y)| w * (x - mean_x) * (y - self.mean_y))
            .sum();
        let slope = cross / spread_x;
        let intercept = self.mean_y - slope * mean_x;
        (slope.is_finite() && intercept.is_finite()).then_some((intercept, slope))
    }

    fn through_origin(&self) -> (f64, f64) {
        let pairs = || self.weights.iter().zip(&self.x).zip(&self.y);
        let cross: f64 = pairs().map(|((w, x), y)| w * x * y).sum();
        let squares: f64 = pairs().map(|((w, x), _)| w * x * x).sum();
        (0.0, cross / squares)
    }

    fn finish(&self, (intercept, slope): (f64, f64), bound: Bound) -> Option<LineFit> {
        let Moments {
            x_scale, y_scale, ..
        } = self.moments;
        let rss: f64 = (self.weights.iter().zip(&self.x).zip(&self.y))
            .map(|((w, x), y)| w * (y - intercept - slope * x).powi(2))
            .sum();
        let fit = LineFit {
            intercept: intercept * y_scale,
            slope: slope / x_scale * y_scale,
            bound,
            points: self.x.len(),
            rss: match self.weighting {
                Weighting::Absolute => rss * y_scale * y_scale,
                // The weights already carry y_scale^2.
                Weighting::Relative => rss,
            },
            weighting: self.weighting,
            moments: self.moments,
        };
        let finite = fit.intercept.is_finite() && fit.slope.is_finite() && fit.rss.is_finite();
        finite.then_some(fit)
    }
}

impl LineFit {
    /// Returns the value of the line at `x`.
    pub fn predict(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Returns the degrees of freedom left for the noise.
    pub fn freedom(&self) -> usize {
        let coefficients = match self.bound {
            Bound::Free => 2,
            Bound::Intercept | Bound::Slope => 1,
        };
        self.points.saturating_sub(coefficients)
    }

    /// Returns the leverage of a point of the fit: the share of its own y in the line's value
    /// there, from 0 to 1. The residual when the point is left out is residual / (1 - leverage),
    /// with a constraint taken as it stands.
    pub fn leverage(&self, x: f64, y: f64) -> f64 {
        let weight = match self.weighting {
            Weighting::Absolute => 1.0,
            Weighting::Relative => (self.moments.y_scale / y).powi(2),
        };
        (weight * self.shape(x)).min(1.0)
    }

    /// Returns the interval of the intercept; `None` without a degree of freedom or when a
    /// constraint holds it.
    pub fn intercept_interval(&self, level: f64) -> Option<Interval> {
        match self.bound {
            Bound::Free | Bound::Slope => self.around(self.intercept, self.shape(0.0), level),
            Bound::Intercept => None,
        }
    }

    /// Returns the interval of the slope; `None` without a degree of freedom or when a
    /// constraint holds it.
    pub fn slope_interval(&self, level: f64) -> Option<Interval> {
        let Moments {
            x_scale,
            weight,
            mean_x,
            spread_x,
            ..
        } = self.moments;
        let squares = match self.bound {
            Bound::Free => spread_x,
            Bound::Intercept => spread_x + weight * mean_x * mean_x,
            Bound::Slope => return None,
        };
        self.around(self.slope, 1.0 / squares / (x_scale * x_scale), level)
    }

    /// Returns the interval in which one new observation at `x` falls; `None` without a degree
    /// of freedom.
    pub fn prediction_interval(&self, x: f64, level: f64) -> Option<Interval> {
        let y = self.predict(x);
        let own = match self.weighting {
            Weighting::Absolute => 1.0,
            Weighting::Relative => (y / self.moments.y_scale).powi(2),
        };
        self.around(y, self.shape(x) + own, level)
    }

    /// Returns x' (X'WX)^-1 x in scaled units: the variance of the line at `x` per unit of noise.
    fn shape(&self, x: f64) -> f64 {
        let Moments {
            x_scale,
            weight,
            mean_x,
            spread_x,
            ..
        } = self.moments;
        let x = x / x_scale;
        match self.bound {
            Bound::Free => 1.0 / weight + (x - mean_x).powi(2) / spread_x,
            Bound::Intercept => x * x / (spread_x + weight * mean_x * mean_x),
            Bound::Slope => 1.0 / weight,
        }
    }

    fn around(&self, centre: f64, variance: f64, level: f64) -> Option<Interval> {
        let freedom = self.freedom() as f64;
        let noise = match self.weighting {
            Weighting::Absolute => self.rss / freedom,
            Weighting::Relative => self.rss / freedom * self.moments.y_scale.powi(2),
        };
        let half = t_quantile(level, freedom)? * (noise * variance).sqrt();
        half.is_finite().then_some(Interval {
            low: centre - half,
            high: centre + half,
        })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-9 * want.abs().max(1e-12),
            "{got} against {want}"
        );
    }

    #[test]
    fn known_regression_with_its_intervals() {
        // y = 2.2 + 0.6 x; residual sum 2.4, three degrees of freedom: s.e. of the slope
        // sqrt(0.8 / 10), t = 3.18245.
        let fit = fit_line(
            &[1., 2., 3., 4., 5.],
            &[2., 4., 5., 4., 5.],
            Weighting::Absolute,
        )
        .unwrap();
        close(fit.intercept, 2.2);
        close(fit.slope, 0.6);
        close(fit.rss, 2.4);
        let slope = fit.slope_interval(0.95).unwrap();
        assert!((slope.high - 0.6 - 3.182_446 * 0.08_f64.sqrt()).abs() < 1e-5);
        let intercept = fit.intercept_interval(0.95).unwrap();
        assert!((intercept.high - 2.2 - 3.182_446 * (0.8 * 1.1_f64).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn relative_weights_minimise_relative_errors() {
        let (x, y) = ([1.0, 2.0, 1e9, 3e10], [18.0, 19.0, 1.3e4, 3.6e5]);
        let fit = fit_line(&x, &y, Weighting::Relative).unwrap();
        let loss = |intercept: f64, slope: f64| -> f64 {
            x.iter()
                .zip(&y)
                .map(|(x, y)| ((intercept + slope * x) / y - 1.0).powi(2))
                .sum()
        };
        close(fit.rss, loss(fit.intercept, fit.slope));
        for (up, right) in [(1.001, 1.0), (0.999, 1.0), (1.0, 1.001), (1.0, 0.999)] {
            assert!(loss(fit.intercept * up, fit.slope * right) > fit.rss);
        }
    }

    #[test]
    fn constraints_hold_and_are_named() {
        let falling =
            fit_line_non_negative(&[1., 2., 3.], &[3., 2., 1.], Weighting::Absolute).unwrap();
        assert_eq!((falling.bound, falling.slope), (Bound::Slope, 0.0));
        close(falling.intercept, 2.0);
        let steep =
            fit_line_non_negative(&[1., 2., 3.], &[1., 5., 9.], Weighting::Relative).unwrap();
        assert_eq!((steep.bound, steep.intercept), (Bound::Intercept, 0.0));
        assert!(steep.slope_interval(0.95).is_some() && steep.intercept_interval(0.95).is_none());
    }

    #[test]
    fn what_is_not_a_line_is_none() {
        for weighting in [Weighting::Absolute, Weighting::Relative] {
            assert_eq!(fit_line(&[], &[], weighting), None);
            assert_eq!(fit_line(&[1.0], &[1.0], weighting), None);
            assert_eq!(fit_line(&[2.0, 2.0], &[1.0, 3.0], weighting), None);
            assert_eq!(fit_line(&[1.0, f64::NAN], &[1.0, 3.0], weighting), None);
            assert_eq!(
                fit_line(&[1.0, 2.0], &[1.0, f64::INFINITY], weighting),
                None
            );
        }
        assert_eq!(
            fit_line(&[1.0, 2.0], &[0.0, 1.0], Weighting::Relative),
            None
        );
    }

    #[test]
    fn leverage_gives_the_held_out_residual() {
        let (x, y) = ([1.0, 2.0, 4.0, 8.0], [2.0, 3.5, 5.0, 11.0]);
        for weighting in [Weighting::Absolute, Weighting::Relative] {
            let all = fit_line(&x, &y, weighting).unwrap();
            for out in 0..x.len() {
                let keep = |values: &[f64]| -> Vec<f64> {
                    (0..4).filter(|i| *i != out).map(|i| values[i]).collect()
                };
                let without = fit_line(&keep(&x), &keep(&y), weighting).unwrap();
                let quick = (y[out] - all.predict(x[out])) / (1.0 - all.leverage(x[out], y[out]));
                close(quick, y[out] - without.predict(x[out]));
            }
        }
    }

    #[test]
    fn intervals_cover_at_the_stated_rate() {
        let x: Vec<f64> = (0..20).map(|i| f64::from(1_u32 << i)).collect();
        let mut rng = Rng::new(2);
        let mut covered = 0;
        for _ in 0..1000 {
            let y: Vec<f64> = x
                .iter()
                .map(|x| (18.0 + x / 4e4) * (1.0 + 0.02 * rng.normal()))
                .collect();
            let fit = fit_line(&x, &y, Weighting::Relative).unwrap();
            let interval = fit.intercept_interval(0.95).unwrap();
            covered += u32::from(interval.low <= 18.0 && 18.0 <= interval.high);
        }
        // 950 expected; three standard deviations of a binomial are 21.
        assert!((925..=975).contains(&covered), "{covered}");
    }

    proptest::proptest! {
        #[test]
        fn exact_lines_come_back(
            intercept in 1e-3..1e4_f64, slope in 1e-8..1e2_f64,
            powers in proptest::collection::btree_set(0_u32..34, 2..20),
        ) {
            let x: Vec<f64> = powers.iter().map(|p| f64::from(*p).exp2()).collect();
            let y: Vec<f64> = x.iter().map(|x| intercept + slope * x).collect();
            let fit = fit_line(&x, &y, Weighting::Relative).unwrap();
            for (x, y) in x.iter().zip(&y) {
                proptest::prop_assert!((fit.predict(*x) / y - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn no_numbers_panic(
            points in proptest::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 0..8),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            for weighting in [Weighting::Absolute, Weighting::Relative] {
                for fit in [fit_line(&x, &y, weighting), fit_line_non_negative(&x, &y, weighting)]
                    .into_iter().flatten()
                {
                    let _ = (fit.slope_interval(0.95), fit.prediction_interval(1.0, 0.9));
                    proptest::prop_assert!(fit.intercept.is_finite() && fit.slope.is_finite());
                }
            }
        }
    }
}
