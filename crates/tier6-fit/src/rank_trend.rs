//! Large-message busbw against the number of GPUs of one node: which fabric is this?
//!
//! A ring through a switch keeps busbw flat. Reduction in the switch keeps algbw nearly flat, so
//! that busbw rises as 2(n - 1)/n (FACTS B.6). Direct links between all pairs give each GPU
//! n - 1 of them, so that busbw rises as n - 1.

use tier6_collective::Collective;
use tier6_units::GbPerSec;

/// What stays the same while ranks are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankTrend {
    /// busbw: a ring through a switch.
    FlatBusbw,
    /// algbw: reduction in the switch.
    FlatAlgbw,
    /// busbw / (n - 1): a direct link between each pair.
    PerLink,
}

impl RankTrend {
    /// Returns what the trend suggests, cautiously.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FlatBusbw => {
                "busbw does not depend on the number of GPUs: a ring through a switch"
            }
            Self::FlatAlgbw => {
                "algbw does not depend on the number of GPUs, busbw follows 2(n-1)/n: reduction in \
                 the switch (NVLS); busbw is not the wire rate"
            }
            Self::PerLink => {
                "busbw follows the n-1 links of each GPU: direct links between all pairs, no switch"
            }
        }
    }
}

/// A trend and how well it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendFit {
    /// The trend with the least spread.
    pub trend: RankTrend,
    /// (largest - smallest) / mean of what should be constant, in percent.
    pub spread_pct: f64,
    /// The same for the next best trend.
    pub runner_up_pct: f64,
    /// The mean of what should be constant, in GB/s.
    pub constant: GbPerSec,
    collective: Collective,
}

/// Finds the trend of busbw over numbers of ranks; `None` for fewer than two different numbers of
/// ranks, for a rank alone, or for a bandwidth that is not positive.
pub fn rank_trend(collective: Collective, busbw: &[(u32, GbPerSec)]) -> Option<TrendFit> {
    let usable =
        |(ranks, rate): &(u32, GbPerSec)| *ranks >= 2 && rate.get() > 0.0 && rate.get().is_finite();
    let first = busbw.first()?.0;
    if !busbw.iter().all(usable) || busbw.iter().all(|(ranks, _)| *ranks == first) {
        return None;
    }
    let mut trends = [
        RankTrend::FlatBusbw,
        RankTrend::FlatAlgbw,
        RankTrend::PerLink,
    ]
    .map(|trend| {
        let constants: Vec<f64> = busbw
            .iter()
            .map(|(ranks, rate)| rate.get() / scale(trend, collective, *ranks))
            .collect();
        let mean = constants.iter().sum::<f64>() / constants.len() as f64;
        let high = constants.iter().copied().fold(0.0, f64::max);
        let low = constants.iter().copied().fold(f64::INFINITY, f64::min);
        (trend, 100.0 * (high - low) / mean, mean)
    });
    trends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [(trend, spread_pct, mean), (_, runner_up_pct, _), _] = trends;
    Some(TrendFit {
        trend,
        spread_pct,
        runner_up_pct,
        constant: GbPerSec::new(mean),
        collective,
    })
}

impl TrendFit {
    /// Estimates busbw for another number of ranks on the same node.
    pub fn estimate(&self, ranks: u32) -> GbPerSec {
        self.constant
            .scaled(scale(self.trend, self.collective, ranks))
    }
}

/// Returns busbw per unit of what is constant.
fn scale(trend: RankTrend, collective: Collective, ranks: u32) -> f64 {
    match trend {
        RankTrend::FlatBusbw => 1.0,
        RankTrend::FlatAlgbw => collective.bus_factor(ranks),
        RankTrend::PerLink => f64::from(ranks.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(values: &[(u32, f64)]) -> Option<TrendFit> {
        let rates: Vec<_> = values
            .iter()
            .map(|(n, rate)| (*n, GbPerSec::new(*rate)))
            .collect();
        rank_trend(Collective::AllReduce, &rates)
    }

    #[test]
    fn each_fabric_has_its_trend() {
        let ring = trend(&[(4, 340.0), (6, 342.0), (8, 341.0)]).unwrap();
        assert_eq!(ring.trend, RankTrend::FlatBusbw);
        let switch = trend(&[(5, 400.0), (6, 417.0), (7, 429.0), (8, 438.0)]).unwrap();
        assert_eq!(switch.trend, RankTrend::FlatAlgbw);
        assert!(switch.spread_pct < 1.0 && switch.runner_up_pct > 5.0);
        let mesh = trend(&[(2, 45.0), (8, 300.0)]).unwrap();
        assert_eq!(mesh.trend, RankTrend::PerLink);
        assert!((mesh.estimate(4).get() - 132.0).abs() < 3.0);
    }

    #[test]
    fn one_number_of_ranks_shows_nothing() {
        assert!(trend(&[(8, 340.0), (8, 341.0)]).is_none());
        assert!(trend(&[(1, 10.0), (8, 341.0)]).is_none());
        assert!(trend(&[]).is_none());
        assert!(trend(&[(2, f64::NAN), (4, 1.0)]).is_none());
    }
}
