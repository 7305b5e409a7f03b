//! A line that a few outliers do not move.

use crate::median;

/// Returns intercept and slope of the Theil-Sen line: the median of the slopes of all pairs,
/// then the median of y - slope x. O(n^2) pairs. `None` without two different abscissas or
/// with a value that is not finite.
///
/// ```
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 5.0, 7.0, 900.0, 11.0]);
/// let (intercept, slope) = tier6_stats::theil_sen(&x, &y).unwrap();
/// assert_eq!((intercept, slope), (1.0, 2.0));
/// ```
pub fn theil_sen(x: &[f64], y: &[f64]) -> Option<(f64, f64)> {
    if x.len() != y.len() {
        return None;
    }
    let mut slopes = Vec::with_capacity(x.len() * x.len().saturating_sub(1) / 2);
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            let run = x[j] - x[i];
            if run != 0.0 {
                slopes.push((y[j] - y[i]) / run);
            }
        }
    }
    let slope = median(&slopes)?;
    let rest: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    Some((median(&rest)?, slope))
}

#[cfg(test)]
mod tests {
    use super::theil_sen;

    #[test]
    fn one_abscissa_is_no_line() {
        assert_eq!(theil_sen(&[2.0, 2.0], &[1.0, 3.0]), None);
        assert_eq!(theil_sen(&[], &[]), None);
        assert_eq!(theil_sen(&[1.0, f64::NAN], &[1.0, 3.0]), None);
    }
}
