//! One number in place of several possible ones, under the relative loss.

/// Returns the number `p` that makes the weighted mean of (p / value - 1)^2 smallest:
/// p = Σ w/v / Σ w/v^2, the one-parameter case of relative least squares.
///
/// It lies between the smallest and the largest value, below their mean: predicting twice the
/// truth costs 1, predicting half of it only 1/4. `None` for no pairs, a value that is not
/// finite or not above zero, a negative weight, or weights that sum to zero.
///
/// ```
/// let p = tier6_stats::relative_center(&[(1.0, 1.0), (2.0, 1.0)]).unwrap();
/// assert!((p - 1.2).abs() < 1e-12);
/// ```
pub fn relative_center(weighted_values: &[(f64, f64)]) -> Option<f64> {
    let usable = |&(value, weight): &(f64, f64)| {
        value.is_finite() && value > 0.0 && weight.is_finite() && weight >= 0.0
    };
    if !weighted_values.iter().all(usable) {
        return None;
    }
    let weighing = || weighted_values.iter().filter(|(_, weight)| *weight > 0.0);
    // Ratios to the smallest value keep 1/v^2 within range for any v.
    let least = weighing().map(|(value, _)| *value).reduce(f64::min)?;
    let (mut first, mut second) = (0.0, 0.0);
    for (value, weight) in weighing() {
        let ratio = least / value;
        first += weight * ratio;
        second += weight * ratio * ratio;
    }
    Some(least * (first / second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(values: &[(f64, f64)], p: f64) -> f64 {
        values.iter().map(|(v, w)| w * (p / v - 1.0).powi(2)).sum()
    }

    #[test]
    fn equal_values_are_their_own_center() {
        assert_eq!(
            relative_center(&[(7.25, 4.0), (7.25, 1.0), (7.25, 1.0)]),
            Some(7.25)
        );
        assert_eq!(relative_center(&[(1e300, 1.0), (1e300, 2.0)]), Some(1e300));
    }

    #[test]
    fn what_has_no_center_has_none() {
        assert_eq!(relative_center(&[]), None);
        assert_eq!(relative_center(&[(1.0, 0.0)]), None);
        assert_eq!(relative_center(&[(0.0, 1.0)]), None);
        assert_eq!(relative_center(&[(1.0, -1.0)]), None);
        assert_eq!(relative_center(&[(f64::NAN, 1.0)]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_other_number_costs_less(
            values in proptest::collection::vec((0.1..100.0_f64, 0.1..5.0_f64), 1..6),
            shift in 0.5..2.0_f64,
        ) {
            let p = relative_center(&values).unwrap();
            proptest::prop_assert!(loss(&values, p) <= loss(&values, p * shift) * (1.0 + 1e-12));
        }
    }
}
