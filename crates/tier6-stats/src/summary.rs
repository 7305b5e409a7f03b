//! One number for many: mean, median, percentile, spread.

/// Returns the arithmetic mean; `None` for no values or one that is not finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// Returns the median: the middle value, or the mean of the two middle ones.
///
/// ```
/// assert_eq!(tier6_stats::median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(values, 50.0)
}

/// Returns a percentile (`percent` from 0 to 100) by linear interpolation between the closest
/// ranks: position (n - 1) p / 100, as numpy's default. `None` for no values, a value that is
/// not finite, or a percentage outside 0..=100.
///
/// ```
/// assert_eq!(tier6_stats::percentile(&[1.0, 2.0, 3.0, 4.0, 5.0], 95.0), Some(4.8));
/// ```
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    if values.is_empty()
        || !(0.0..=100.0).contains(&percent)
        || values.iter().any(|value| !value.is_finite())
    {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = (sorted.len() - 1) as f64 * percent / 100.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    // As a weighted mean, the difference of two huge values cannot overflow.
    let share = position - below as f64;
    Some(sorted[below] * (1.0 - share) + sorted[above] * share)
}

/// Returns the sample standard deviation (divisor n - 1); `None` for fewer than two values.
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (squares / (values.len() - 1) as f64).sqrt();
    sd.is_finite().then_some(sd)
}

/// Returns the coefficient of variation, sample standard deviation / mean, as a fraction;
/// `None` for fewer than two values or a mean of zero or less.
pub fn cv(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|mean| *mean > 0.0)?;
    Some(sample_sd(values)? / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_answer_is_none() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(percentile(&[1.0], 101.0), None);
        assert_eq!(sample_sd(&[1.0]), None);
        assert_eq!(cv(&[0.0, 0.0]), None);
    }

    #[test]
    fn spread_uses_the_sample_divisor() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((sample_sd(&values).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((cv(&values).unwrap() - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
    }

    proptest::proptest! {
        #[test]
        fn a_percentile_lies_between_the_extremes(
            values in proptest::collection::vec(-1e12..1e12_f64, 1..40), percent in 0.0..100.0_f64,
        ) {
            let got = percentile(&values, percent).unwrap();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let slack = 1e-9 * low.abs().max(high.abs());
            proptest::prop_assert!((low - slack..=high + slack).contains(&got));
        }
    }
}
