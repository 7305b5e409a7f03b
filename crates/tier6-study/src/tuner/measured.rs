//! Sweeps of one call made comparable: noise, paths, contenders, NCCL's own choice.

use super::attribution::{Attribution, Paths, attribute};
use super::contender::{Contender, Level, contenders};
use super::{Noise, Sweep};
use std::collections::{BTreeMap, BTreeSet};
use tier6_nccl::CostTable;
use tier6_units::Bytes;

/// Everything that sweeps of one call say about paths.
pub(crate) struct Measured {
    pub(crate) noise: Noise,
    pub(crate) paths: Vec<Paths>,
    pub(crate) contenders: Vec<Contender>,
    /// NCCL's own choice, from all runs without force.
    pub(crate) own: BTreeMap<u64, Level>,
}

/// Sizes in a row on which a sweep took one path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathRange {
    /// First measured size.
    pub first: Bytes,
    /// Last measured size.
    pub last: Bytes,
    /// The path with the reason; `None` when it is not known.
    pub path: Option<Attribution>,
}

impl Measured {
    pub(crate) fn new(sweeps: &[Sweep], table: Option<&CostTable>) -> Self {
        let noise = Noise::of(sweeps);
        let paths = attribute(sweeps, &noise, table);
        let contenders = contenders(sweeps, &paths, &noise);
        let mut own_runs: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for sweep in sweeps.iter().filter(|sweep| sweep.is_own_choice()) {
            for (bytes, point) in sweep.by_size() {
                let ln_us = point.time.get().ln();
                own_runs.entry(bytes).or_default().push(ln_us);
            }
        }
        let own = own_runs.into_iter().map(|(bytes, runs)| {
            let level = Level {
                ln_us: runs.iter().sum::<f64>() / runs.len() as f64,
                variance: noise.at(bytes).powi(2) / runs.len() as f64,
            };
            (bytes, level)
        });
        let own = own.collect();
        Self {
            noise,
            paths,
            contenders,
            own,
        }
    }

    /// Returns all sizes at which something contends.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let known = self.contenders.iter().flat_map(|c| c.known.keys());
        let sizes: BTreeSet<u64> = known.copied().collect();
        sizes.into_iter().collect()
    }

    /// Returns the least ln(us) of everything that contends at a size.
    pub(crate) fn optimum(&self, bytes: u64) -> Option<f64> {
        let levels = self.contenders.iter().filter_map(|c| c.known.get(&bytes));
        levels.map(|level| level.ln_us).min_by(f64::total_cmp)
    }

    /// Returns what is known of a sweep's path, equal sizes joined.
    pub(crate) fn path_ranges(&self, sweep: &Sweep, index: usize) -> Vec<PathRange> {
        let mut ranges: Vec<PathRange> = Vec::new();
        for bytes in sweep.by_size().into_keys() {
            let path = self.paths[index].get(&bytes).copied();
            match ranges.last_mut() {
                Some(range) if range.path == path => range.last = Bytes::new(bytes),
                _ => ranges.push(PathRange {
                    first: Bytes::new(bytes),
                    last: Bytes::new(bytes),
                    path,
                }),
            }
        }
        ranges
    }
}
