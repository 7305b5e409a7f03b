//! Quantiles and tail probabilities of the t, F and normal distributions.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// Returns the two-sided quantile of Student's t: the value that |t| stays below with
/// probability `level`. `None` for fewer than one degree of freedom or a level outside 0..1.
///
/// ```
/// assert!((tier6_stats::t_quantile(0.95, 10.0).unwrap() - 2.228).abs() < 1e-3);
/// ```
pub fn t_quantile(level: f64, freedom: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0 && freedom >= 1.0) {
        return None;
    }
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let quantile = t.inverse_cdf(0.5 + level / 2.0);
    quantile.is_finite().then_some(quantile)
}

/// Returns the probability of a |t| at least this large; `None` without a degree of freedom.
pub fn t_p_value(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() || !(freedom > 0.0 && freedom.is_finite()) {
        return None;
    }
    if t.is_infinite() {
        return Some(0.0);
    }
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some((2.0 * distribution.sf(t.abs())).clamp(0.0, 1.0))
}

/// Returns the probability of a |z| at least this large under the normal distribution.
pub fn normal_p_value(z: f64) -> Option<f64> {
    let distribution = Normal::new(0.0, 1.0).ok()?;
    (!z.is_nan()).then(|| (2.0 * distribution.sf(z.abs())).clamp(0.0, 1.0))
}

/// Returns the probability that `extra` superfluous parameters reduce the sum of squares from
/// `rss_small` to `rss_large` or further, with `freedom` degrees of freedom left in the larger
/// model: the F test of nested linear models.
pub fn f_p_value(rss_small: f64, rss_large: f64, extra: usize, freedom: usize) -> Option<f64> {
    if extra == 0 || freedom == 0 || !rss_small.is_finite() || !rss_large.is_finite() {
        return None;
    }
    let gain = (rss_small - rss_large).max(0.0) / extra as f64;
    let noise = rss_large.max(0.0) / freedom as f64;
    if gain == 0.0 {
        return Some(1.0);
    }
    if noise == 0.0 {
        return Some(0.0);
    }
    let f = FisherSnedecor::new(extra as f64, freedom as f64).ok()?;
    Some(f.sf(gain / noise).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_quantiles_and_tails() {
        let close = |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 2e-4);
        close(t_quantile(0.95, 1.0), 12.7062);
        close(t_quantile(0.95, 29.0), 2.0452);
        close(t_p_value(2.0452, 29.0), 0.05);
        close(normal_p_value(1.95996), 0.05);
        // F(1, 10) at 4.9646 is the 5 % point.
        close(f_p_value(14.9646, 10.0, 1, 10), 0.05);
    }

    #[test]
    fn no_freedom_no_answer() {
        assert_eq!(t_quantile(0.95, 0.0), None);
        assert_eq!(t_quantile(1.0, 5.0), None);
        assert_eq!(t_p_value(f64::NAN, 5.0), None);
        assert_eq!(f_p_value(1.0, 1.0, 1, 0), None);
        assert_eq!(f_p_value(1.0, 0.0, 1, 3), Some(0.0));
    }
}
