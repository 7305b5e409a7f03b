//! How far two measurements of one thing lie apart: the yardstick of every comparison of
//! paths.
//!
//! Four sources, in the order of what they see: repeated runs under the same settings see
//! everything that changes from run to run; the two placements of one run and the cycles of a
//! point see only what changes within a run; and where nothing was measured twice, the
//! scatter of each curve around its own neighbours stands in. At each size the largest of
//! what is known counts, since each source can only miss noise, not invent it.
//!
//! All numbers are standard deviations of the natural logarithm of one measured time, which
//! for small ones is the relative standard deviation.

use super::Sweep;
use std::collections::BTreeMap;
use tier6_stats::median;

/// Below this nobody measures a collective.
const FLOOR: f64 = 0.005;
/// Sizes to each side that share their evidence.
const WINDOW: usize = 2;
/// Fewest differences that tell of noise.
const DIFFERENCES_MIN: usize = 3;
/// The median of the absolute value of a standard normal number.
const MEDIAN_OF_ABS_NORMAL: f64 = 0.6745;

/// The noise of a set of sweeps, by size.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Sizes, ascending, with the standard deviation of ln(time) and what showed it.
    pub sizes: Vec<SizeNoise>,
}

/// The noise at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeNoise {
    /// Message size in bytes.
    pub bytes: u64,
    /// Standard deviation of ln(time), which is about the relative one.
    pub sigma: f64,
    /// What showed it.
    pub source: NoiseSource,
}

/// What showed how large the noise is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseSource {
    /// Nothing; half a percent is assumed.
    Assumed,
    /// The scatter of curves around their own neighbours.
    Scatter,
    /// The cycles of each point.
    Cycles,
    /// The two placements of each run.
    Placements,
    /// Runs that were repeated under the same settings.
    RepeatedRuns,
}

impl NoiseSource {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assumed => "assumed",
            Self::Scatter => "scatter",
            Self::Cycles => "cycles",
            Self::Placements => "placements",
            Self::RepeatedRuns => "repeated_runs",
        }
    }
}

impl Noise {
    /// Estimates the noise from sweeps of one call.
    pub fn of(sweeps: &[Sweep]) -> Self {
        let evidence = Evidence::collect(sweeps);
        let sizes: Vec<u64> = evidence.sizes.keys().copied().collect();
        let scatter = scatter(sweeps);
        let sizes = sizes
            .iter()
            .enumerate()
            .map(|(index, &bytes)| {
                let first = index.saturating_sub(WINDOW);
                let last = (index + WINDOW).min(sizes.len() - 1);
                let near = &sizes[first..=last];
                evidence.noise_at(bytes, near, scatter)
            })
            .collect();
        Self { sizes }
    }

    /// Returns the noise at the size nearest to `bytes` on a logarithmic scale.
    pub fn at(&self, bytes: u64) -> f64 {
        let distance = |other: u64| ((other as f64).ln() - (bytes.max(1) as f64).ln()).abs();
        let nearest = self
            .sizes
            .iter()
            .min_by(|a, b| distance(a.bytes).total_cmp(&distance(b.bytes)));
        nearest.map_or(FLOOR, |nearest| nearest.sigma)
    }
}

/// Differences of things measured twice, at one size.
#[derive(Default)]
struct SizeEvidence {
    /// |ln| of the ratio of two runs.
    runs: Vec<f64>,
    /// |ln| of the ratio of two placements.
    placements: Vec<f64>,
    /// Standard deviations of medians over cycles.
    cycles: Vec<f64>,
}

struct Evidence {
    sizes: BTreeMap<u64, SizeEvidence>,
}

impl Evidence {
    fn collect(sweeps: &[Sweep]) -> Self {
        let mut sizes: BTreeMap<u64, SizeEvidence> = BTreeMap::new();
        for (index, sweep) in sweeps.iter().enumerate() {
            let repeats = sweeps[index + 1..]
                .iter()
                .filter(|other| (other.forced, other.channels) == (sweep.forced, sweep.channels));
            let repeats: Vec<_> = repeats.map(Sweep::by_size).collect();
            for (bytes, point) in sweep.by_size() {
                let here = sizes.entry(bytes).or_default();
                let us = point.time.get();
                here.placements.extend(
                    point
                        .other_placement
                        .filter(|other| super::sweep::is_time(*other))
                        .map(|other| (us / other.get()).ln().abs()),
                );
                here.cycles
                    .extend(point.spread.filter(|spread| spread.is_finite()));
                let same = repeats.iter().filter_map(|other| other.get(&bytes));
                here.runs.extend(
                    same.filter(|other| other.path == point.path)
                        .map(|other| (us / other.time.get()).ln().abs()),
                );
            }
        }
        Self { sizes }
    }

    /// The largest of what the sizes near tell.
    fn noise_at(&self, bytes: u64, near: &[u64], scatter: Option<f64>) -> SizeNoise {
        let gather = |part: fn(&SizeEvidence) -> &Vec<f64>| -> Vec<f64> {
            let near = near.iter().filter_map(|size| self.sizes.get(size));
            near.flat_map(|size| part(size).iter().copied()).collect()
        };
        let runs = sigma_of_differences(&gather(|size| &size.runs));
        let placements = sigma_of_differences(&gather(|size| &size.placements));
        let cycles = median(&gather(|size| &size.cycles));
        // Repeated runs see what scatter can see; without them it stands in.
        let scatter = scatter.filter(|_| runs.is_none());
        let mut noise = SizeNoise {
            bytes,
            sigma: FLOOR,
            source: NoiseSource::Assumed,
        };
        for (sigma, source) in [
            (runs, NoiseSource::RepeatedRuns),
            (placements, NoiseSource::Placements),
            (cycles, NoiseSource::Cycles),
            (scatter, NoiseSource::Scatter),
        ] {
            if let Some(sigma) = sigma
                && sigma > noise.sigma
            {
                noise.sigma = sigma;
                noise.source = source;
            }
        }
        noise
    }
}

/// Returns sigma of one value from |differences| of two: their median over 0.6745 sqrt 2. A
/// median, so that one disturbed point does not hide every real difference near it.
fn sigma_of_differences(differences: &[f64]) -> Option<f64> {
    if differences.len() < DIFFERENCES_MIN {
        return None;
    }
    let sigma = median(differences)? / (MEDIAN_OF_ABS_NORMAL * std::f64::consts::SQRT_2);
    sigma.is_finite().then_some(sigma)
}

/// Returns how far times lie from T = alpha + n/beta through both neighbours, over all sweeps.
/// With times a, b and weights p, q of the neighbours, the variance of the difference in
/// logarithms is `sigma^2 (1 + (p a / t)^2 + (q b / t)^2)`.
fn scatter(sweeps: &[Sweep]) -> Option<f64> {
    let mut misses = Vec::new();
    for sweep in sweeps {
        let points: Vec<(f64, f64)> = sweep
            .by_size()
            .into_iter()
            .map(|(bytes, point)| (bytes as f64, point.time.get()))
            .collect();
        for three in points.windows(3) {
            let [(n0, t0), (n1, t1), (n2, t2)] = [three[0], three[1], three[2]];
            let q = (n1 - n0) / (n2 - n0);
            let between = (1.0 - q) * t0 + q * t2;
            let parts = [(1.0 - q) * t0 / between, q * t2 / between];
            let spread = (1.0 + parts[0].powi(2) + parts[1].powi(2)).sqrt();
            misses.push((t1 / between).ln().abs() / spread);
        }
    }
    if misses.len() < DIFFERENCES_MIN {
        return None;
    }
    misses.retain(|miss| miss.is_finite());
    median(&misses).map(|median| median / MEDIAN_OF_ABS_NORMAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuner::{Forced, SweepPoint};
    use tier6_collective::{DataType, RedOp};
    use tier6_nccl::NcclCollective;
    use tier6_stats::Rng;
    use tier6_units::{Bytes, Micros};

    fn sweep(rng: &mut Rng, sigma: f64) -> Sweep {
        let points = (3..28).map(|exponent| {
            let bytes = 1_u64 << exponent;
            let us = (20.0 + bytes as f64 / 20e3) * (sigma * rng.normal()).exp();
            SweepPoint {
                bytes: Bytes::new(bytes),
                time: Micros::new(us),
                other_placement: None,
                spread: None,
                path: None,
                predicted: None,
            }
        });
        Sweep {
            label: "run".to_owned(),
            collective: NcclCollective::AllReduce,
            ranks: Some(8),
            nodes: Some(1),
            datatype: DataType::Float,
            redop: RedOp::Sum,
            forced: Forced::NOTHING,
            channels: None,
            points: points.collect(),
        }
    }

    #[test]
    fn scatter_finds_the_noise_of_a_single_run() {
        let mut rng = Rng::new(1);
        let found: Vec<f64> = (0..40)
            .map(|_| Noise::of(&[sweep(&mut rng, 0.03)]).at(1 << 20))
            .collect();
        let middle = median(&found).unwrap();
        assert!((0.024..0.038).contains(&middle), "{middle}");
    }

    #[test]
    fn repeated_runs_find_it_at_each_size() {
        let mut rng = Rng::new(2);
        let runs: Vec<Sweep> = (0..3).map(|_| sweep(&mut rng, 0.03)).collect();
        let noise = Noise::of(&runs);
        assert_eq!(noise.sizes.len(), 25);
        let sources = noise.sizes.iter().map(|size| size.source);
        assert!(sources.into_iter().all(|s| s == NoiseSource::RepeatedRuns));
        let sigmas: Vec<f64> = noise.sizes.iter().map(|size| size.sigma).collect();
        let middle = median(&sigmas).unwrap();
        assert!((0.022..0.04).contains(&middle), "{middle}");
    }

    #[test]
    fn nothing_measured_twice_leaves_half_a_percent() {
        let mut sweep = sweep(&mut Rng::new(3), 0.0);
        sweep.points.truncate(2);
        let noise = Noise::of(&[sweep]);
        assert_eq!(noise.sizes[0].source, NoiseSource::Assumed);
        assert!((noise.at(1 << 30) - FLOOR).abs() < 1e-12);
        assert!((Noise::of(&[]).at(0) - FLOOR).abs() < 1e-12);
    }
}
