//! Intervals by resampling, for statistics without a formula for their error.

use crate::{Interval, Rng, percentile};

/// Returns the percentile interval of a statistic over `resamples` draws with replacement of
/// `n` indices (Efron 1979). Draws for which the statistic has no value are left out; `None`
/// when fewer than half of them have one, or for fewer than two values to draw from.
///
/// ```
/// use tier6_stats::{Rng, bootstrap_interval, mean};
/// let data = [4.0, 5.0, 6.0, 5.0, 4.0, 6.0];
/// let draw = |indices: &[usize]| mean(&indices.iter().map(|i| data[*i]).collect::<Vec<_>>());
/// let interval = bootstrap_interval(data.len(), 500, 0.95, &mut Rng::new(1), draw).unwrap();
/// assert!(interval.low < 5.0 && interval.high > 5.0);
/// ```
pub fn bootstrap_interval(
    n: usize,
    resamples: usize,
    level: f64,
    rng: &mut Rng,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    if n < 2 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let mut indices = vec![0; n];
    let mut values = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        indices.fill_with(|| rng.below(n));
        values.extend(statistic(&indices).filter(|value| value.is_finite()));
    }
    if values.len() < resamples.div_ceil(2) {
        return None;
    }
    let tail = (1.0 - level) / 2.0 * 100.0;
    Some(Interval {
        low: percentile(&values, tail)?,
        high: percentile(&values, 100.0 - tail)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_agrees_with_theory() {
        let mut rng = Rng::new(5);
        let data: Vec<f64> = (0..400).map(|_| 10.0 + rng.normal()).collect();
        let interval = bootstrap_interval(data.len(), 1000, 0.95, &mut rng, |indices| {
            crate::mean(&indices.iter().map(|i| data[*i]).collect::<Vec<_>>())
        })
        .unwrap();
        // 1.96 / sqrt(400) on each side.
        assert!(((interval.high - interval.low) / 2.0 - 0.098).abs() < 0.015);
        assert!(interval.low < 10.1 && interval.high > 9.9);
    }

    #[test]
    fn a_statistic_that_mostly_fails_has_no_interval() {
        assert_eq!(
            bootstrap_interval(9, 100, 0.9, &mut Rng::new(1), |_| None),
            None
        );
        assert_eq!(
            bootstrap_interval(1, 100, 0.9, &mut Rng::new(1), |_| Some(1.0)),
            None
        );
    }
}
