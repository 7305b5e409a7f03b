//! Do two samples differ? Welch's t for few values, ranks for many.

use crate::{mean, normal_p_value, sample_sd, t_p_value};

/// The difference of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Mean of the second minus mean of the first.
    pub shift: f64,
    /// Standard error of that shift.
    pub error: f64,
    /// Two-sided probability of such a difference by chance.
    pub p_value: f64,
}

/// Count, mean and sample standard deviation of one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleMoments {
    /// Number of values.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation.
    pub sd: f64,
}

impl SampleMoments {
    /// Returns the moments of a sample; `None` for fewer than two values or one that is not
    /// finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            count: values.len() as f64,
            mean: mean(values)?,
            sd: sample_sd(values)?,
        })
    }
}

/// Compares two means without assuming equal spread (Welch 1947). `None` for fewer than two
/// values on a side.
pub fn welch(first: SampleMoments, second: SampleMoments) -> Option<Difference> {
    if first.count < 2.0 || second.count < 2.0 {
        return None;
    }
    let variance = |sample: SampleMoments| sample.sd * sample.sd / sample.count;
    let (var_a, var_b) = (variance(first), variance(second));
    let shift = second.mean - first.mean;
    let error = (var_a + var_b).sqrt();
    if error == 0.0 {
        let p_value = if shift == 0.0 { 1.0 } else { 0.0 };
        return Some(Difference {
            shift,
            error,
            p_value,
        });
    }
    let part = |variance: f64, count: f64| variance * variance / (count - 1.0);
    let freedom = (var_a + var_b).powi(2) / (part(var_a, first.count) + part(var_b, second.count));
    Some(Difference {
        shift,
        error,
        p_value: t_p_value(shift / error, freedom)?,
    })
}

/// Returns the two-sided p-value of the Mann-Whitney U test, by the normal approximation with
/// correction for ties and continuity. Meant for eight values or more on each side; `None`
/// for an empty side or a value that is not a number.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let mut all: Vec<(f64, bool)> = first
        .iter()
        .map(|value| (*value, true))
        .chain(second.iter().map(|value| (*value, false)))
        .collect();
    if all.iter().any(|(value, _)| value.is_nan()) {
        return None;
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n_a, n_b, n) = (first.len() as f64, second.len() as f64, all.len() as f64);
    let (mut rank_sum, mut ties, mut done) = (0.0, 0.0, 0);
    for group in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let size = group.len() as f64;
        let rank = done as f64 + f64::midpoint(size, 1.0);
        rank_sum += rank * group.iter().filter(|(_, is_first)| *is_first).count() as f64;
        ties += size.powi(3) - size;
        done += group.len();
    }
    let u = rank_sum - n_a * (n_a + 1.0) / 2.0;
    let variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let distance = ((u - n_a * n_b / 2.0).abs() - 0.5).max(0.0);
    normal_p_value(distance / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn of(values: &[f64]) -> SampleMoments {
        SampleMoments::of(values).unwrap()
    }

    #[test]
    fn equal_samples_do_not_differ() {
        let a = [1.0, 2.0, 3.0, 4.0];
        assert!((welch(of(&a), of(&a)).unwrap().p_value - 1.0).abs() < 1e-12);
        assert!((mann_whitney(&a, &a).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&[5.0; 9], &[5.0; 9]), Some(1.0));
        assert_eq!(SampleMoments::of(&[1.0]), None);
        let one = SampleMoments {
            count: 1.0,
            ..of(&a)
        };
        assert_eq!(welch(one, of(&a)), None);
        assert_eq!(mann_whitney(&[], &a), None);
    }

    #[test]
    fn known_values() {
        // By hand: variances 2.5 and 3.7, so t = 3.2 / sqrt(0.5 + 0.74) with 7.71 degrees of freedom.
        let got = welch(of(&[1., 2., 3., 4., 5.]), of(&[4., 5., 6., 7., 9.])).unwrap();
        assert!((got.shift - 3.2).abs() < 1e-12);
        assert!((got.error - 1.24_f64.sqrt()).abs() < 1e-12);
        assert!((got.p_value - 0.0215).abs() < 5e-4, "{}", got.p_value);
    }

    #[test]
    fn false_alarms_come_at_the_stated_rate() {
        let mut rng = Rng::new(11);
        let mut alarms = [0_u32; 2];
        for _ in 0..2000 {
            let mut draw = |n: usize| (0..n).map(|_| rng.normal()).collect::<Vec<_>>();
            let (a, b) = (draw(10), draw(10));
            alarms[0] += u32::from(welch(of(&a), of(&b)).unwrap().p_value < 0.05);
            alarms[1] += u32::from(mann_whitney(&a, &b).unwrap() < 0.05);
        }
        // 100 expected; three standard deviations of a binomial are 29.
        assert!(
            alarms.iter().all(|count| (60..=130).contains(count)),
            "{alarms:?}"
        );
    }
}
