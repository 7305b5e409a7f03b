//! How well predictions meet measurements: R2 and the relative errors, always together.
//!
//! R2 alone is ruled by the largest values: a line may reach 0.99997 and miss the small ones
//! by half.

/// The errors of a set of predictions. All but `r2` are fractions of the measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// 1 - SSE / SST, unweighted; `None` when the measured values are all equal.
    pub r2: Option<f64>,
    /// Mean of |predicted / measured - 1|.
    pub mape: f64,
    /// Largest |predicted / measured - 1|.
    pub max_relative: f64,
    /// Index where that largest error stands.
    pub max_at: usize,
    /// Root of the mean of (predicted / measured - 1)^2.
    pub rmspe: f64,
}

/// Returns the errors of `predicted` against `measured`; `None` for no points, different
/// lengths, a measured value of zero or less, or a value that is not finite.
pub fn accuracy(measured: &[f64], predicted: &[f64]) -> Option<Accuracy> {
    if measured.is_empty()
        || measured.len() != predicted.len()
        || measured.iter().any(|value| *value <= 0.0)
    {
        return None;
    }
    let n = measured.len() as f64;
    let pairs = || measured.iter().zip(predicted);
    let mut max_at = 0;
    let mut max_relative = 0.0_f64;
    let (mut absolute, mut squares) = (0.0, 0.0);
    for (index, (measured, predicted)) in pairs().enumerate() {
        let error = (predicted / measured - 1.0).abs();
        absolute += error;
        squares += error * error;
        if error > max_relative {
            (max_relative, max_at) = (error, index);
        }
    }
    let mean = measured.iter().sum::<f64>() / n;
    let sse: f64 = pairs().map(|(m, p)| (m - p).powi(2)).sum();
    let sst: f64 = measured.iter().map(|m| (m - mean).powi(2)).sum();
    let found = Accuracy {
        r2: (sst > 0.0)
            .then(|| 1.0 - sse / sst)
            .filter(|r2| r2.is_finite()),
        mape: absolute / n,
        max_relative,
        max_at,
        rmspe: (squares / n).sqrt(),
    };
    (found.mape.is_finite() && found.rmspe.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_the_measurement() {
        let got = accuracy(&[10.0, 20.0], &[11.0, 18.0]).unwrap();
        assert!((got.mape - 0.1).abs() < 1e-12);
        assert!((got.rmspe - 0.1).abs() < 1e-12);
        assert!((got.r2.unwrap() - (1.0 - 5.0 / 50.0)).abs() < 1e-12);
        assert_eq!(accuracy(&[0.0], &[1.0]), None);
        assert_eq!(accuracy(&[], &[]), None);
        assert_eq!(accuracy(&[1.0], &[f64::NAN]), None);
        assert_eq!(accuracy(&[2.0, 2.0], &[2.0, 2.0]).unwrap().r2, None);
    }
}
