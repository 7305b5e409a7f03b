//! Latency of a ring against the number of ranks: t = a + b x 2(n - 1).
//!
//! A ring AllReduce makes 2(n - 1) dependent steps (n - 1 for AllGather and ReduceScatter), so
//! at a size too small to see bandwidth the time is a fixed part per call plus a part per step
//! (NVIDIA/nccl-tests#123: the count of steps is right, the step is that of the slowest hop).
//! Leaving out the fixed part makes the step look inconsistent.

use tier6_collective::Collective;
use tier6_stats::{LineFit, Weighting, fit_line};
use tier6_units::Micros;

use crate::Interval;

/// The fixed part and the part per step, with the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct RingSteps {
    /// Cost per call.
    pub fixed: Micros,
    /// Cost per dependent step.
    pub per_step: Micros,
    /// 95 % interval of the fixed part in us; one that excludes 0 shows that it is real.
    pub fixed_ci: Option<Interval>,
    /// 95 % interval of the part per step in us.
    pub per_step_ci: Option<Interval>,
    /// Per number of ranks: measured - fitted.
    pub residuals: Vec<(u32, Micros)>,
    /// Per number of ranks: time / steps, the apparent step when the fixed part is left out.
    pub apparent_steps: Vec<(u32, Micros)>,
    /// Mean time per added rank in the lower and in the upper half of the ranks; a difference is
    /// curvature. `None` for fewer than five ranks.
    pub per_added_rank: Option<(Micros, Micros)>,
    collective: Collective,
    fit: LineFit,
}

/// A predicted latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RingLatency {
    /// The time.
    pub time: Micros,
    /// Interval of a single new measurement in us.
    pub interval: Option<Interval>,
    /// Whether the number of ranks lies within those measured.
    pub evidence: RankEvidence,
}

/// Whether a number of ranks lies within those measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankEvidence {
    /// Between the fewest and the most ranks measured.
    Interpolated,
    /// Outside.
    Extrapolated,
}

/// Returns the number of dependent steps of a ring; `None` for collectives that are no ring.
pub fn ring_steps(collective: Collective, ranks: u32) -> Option<u32> {
    let around = ranks.checked_sub(1)?;
    match collective {
        Collective::AllReduce => around.checked_mul(2),
        Collective::AllGather | Collective::ReduceScatter => Some(around),
        Collective::AllToAll
        | Collective::AllToAllV
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => None,
    }
}

/// Fits the steps of a ring to times of one small size over numbers of ranks; `None` for fewer
/// than two different numbers of ranks, a time that is not finite, or a collective that is
/// no ring.
///
/// ```
/// use tier6_collective::Collective;
/// use tier6_fit::fit_ring_steps;
/// use tier6_units::Micros;
/// let times = [(2, 9.0), (4, 17.0), (8, 33.0)].map(|(ranks, us)| (ranks, Micros::new(us)));
/// let steps = fit_ring_steps(Collective::AllReduce, &times).unwrap();
/// assert!((steps.fixed.get() - 5.0).abs() < 1e-9 && (steps.per_step.get() - 2.0).abs() < 1e-9);
/// assert!((steps.predict(16).time.get() - 65.0).abs() < 1e-9);
/// ```
pub fn fit_ring_steps(collective: Collective, times: &[(u32, Micros)]) -> Option<RingSteps> {
    let mut times = times.to_vec();
    times.sort_by_key(|(ranks, _)| *ranks);
    let steps: Option<Vec<f64>> = times
        .iter()
        .map(|(ranks, _)| ring_steps(collective, *ranks).map(f64::from))
        .collect();
    let steps = steps?;
    let measured: Vec<f64> = times.iter().map(|(_, time)| time.get()).collect();
    let fit = fit_line(&steps, &measured, Weighting::Absolute)?;
    let per_rank = |value: &dyn Fn(usize) -> f64| {
        times
            .iter()
            .enumerate()
            .map(|(i, (ranks, _))| (*ranks, Micros::new(value(i))))
            .collect()
    };
    Some(RingSteps {
        fixed: Micros::new(fit.intercept),
        per_step: Micros::new(fit.slope),
        fixed_ci: fit.intercept_interval(0.95).map(|ci| Interval {
            low: ci.low,
            high: ci.high,
        }),
        per_step_ci: fit.slope_interval(0.95).map(|ci| Interval {
            low: ci.low,
            high: ci.high,
        }),
        residuals: per_rank(&|i| measured[i] - fit.predict(steps[i])),
        apparent_steps: per_rank(&|i| measured[i] / steps[i]),
        per_added_rank: per_added_rank(&times),
        collective,
        fit,
    })
}

/// Splits the increments in two halves of equal count and averages each.
fn per_added_rank(times: &[(u32, Micros)]) -> Option<(Micros, Micros)> {
    let increments: Vec<f64> = times
        .windows(2)
        .filter(|pair| pair[1].0 > pair[0].0)
        .map(|pair| (pair[1].1.get() - pair[0].1.get()) / f64::from(pair[1].0 - pair[0].0))
        .collect();
    let half = increments.len() / 2;
    let mean = |part: &[f64]| tier6_stats::mean(part).map(Micros::new);
    (half >= 2)
        .then(|| {
            Some((
                mean(&increments[..half])?,
                mean(&increments[increments.len() - half..])?,
            ))
        })
        .flatten()
}

impl RingSteps {
    /// Predicts the latency for a number of ranks.
    pub fn predict(&self, ranks: u32) -> RingLatency {
        let steps = ring_steps(self.collective, ranks).map_or(0.0, f64::from);
        let measured = self.residuals.iter().map(|(ranks, _)| *ranks);
        let inside = measured.clone().min() <= Some(ranks) && Some(ranks) <= measured.max();
        RingLatency {
            time: Micros::new(self.fit.predict(steps)),
            interval: self
                .fit
                .prediction_interval(steps, 0.95)
                .map(|ci| Interval {
                    low: ci.low,
                    high: ci.high,
                }),
            evidence: if inside {
                RankEvidence::Interpolated
            } else {
                RankEvidence::Extrapolated
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[(u32, f64)]) -> Vec<(u32, Micros)> {
        values
            .iter()
            .map(|(ranks, us)| (*ranks, Micros::new(*us)))
            .collect()
    }

    #[test]
    fn the_fixed_part_explains_the_falling_step() {
        let noisy = times(&[(2, 9.6), (3, 13.1), (4, 17.2), (6, 25.4), (8, 33.3)]);
        let steps = fit_ring_steps(Collective::AllReduce, &noisy).unwrap();
        assert!((steps.per_step.get() - 2.0).abs() < 0.05);
        assert!(
            steps.fixed_ci.unwrap().low > 0.0,
            "the intercept is significant"
        );
        let apparent: Vec<f64> = steps.apparent_steps.iter().map(|(_, t)| t.get()).collect();
        assert!(apparent.is_sorted_by(|a, b| a > b), "{apparent:?}");
        assert_eq!(steps.predict(5).evidence, RankEvidence::Interpolated);
        assert_eq!(steps.predict(16).evidence, RankEvidence::Extrapolated);
    }

    #[test]
    fn curvature_shows_in_the_time_per_added_rank() {
        let bent = times(&[(2, 10.0), (3, 13.0), (4, 16.0), (5, 20.0), (6, 24.0)]);
        let steps = fit_ring_steps(Collective::AllGather, &bent).unwrap();
        let (low, high) = steps.per_added_rank.unwrap();
        assert!((low.get() - 3.0).abs() < 1e-12 && (high.get() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let two = times(&[(2, 9.0), (4, 17.0)]);
        assert!(fit_ring_steps(Collective::SendRecv, &two).is_none());
        assert!(fit_ring_steps(Collective::AllReduce, &two[..1]).is_none());
        assert!(fit_ring_steps(Collective::AllReduce, &times(&[(0, 1.0), (2, 2.0)])).is_none());
        assert!(
            fit_ring_steps(Collective::AllReduce, &two)
                .unwrap()
                .fixed_ci
                .is_none()
        );
    }
}
