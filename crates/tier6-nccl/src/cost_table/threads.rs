//! Thread limits and thresholds.
//!
//! Source: `TUNER_SPEC.md` section 4 and the end of section 7.

use super::RING;
use super::model::Model;
use crate::candidate::NcclAlgorithm;
use crate::release::PerCandidate;
use tier6_collective::Protocol;

const WARP: i64 = 32;
const THREADS_MAX: i32 = 512;
const LL128_THREADS_MAX: i32 = 640;
/// Bandwidth at which half the threads saturate the link, GB/s: PCI.
const PCI_GBS: f32 = 12.0;

const LL: usize = Protocol::Ll as usize;
const SIMPLE: usize = Protocol::Simple as usize;

impl Model<'_> {
    pub(crate) fn threads_max(&self) -> PerCandidate<i32> {
        let ring = self.communicator.graph(NcclAlgorithm::Ring);
        let is_slow = ring.intra_gbs * ring.n_channels as f32 <= PCI_GBS;
        let ring_simple = if is_slow { 256 } else { THREADS_MAX };
        let pick = |default| pick(self.settings.threads, 64, THREADS_MAX, default);
        let ll128 = pick_ll128(self.settings.ll128_threads);
        let mut threads = [[0; 3]; 7];
        for algorithm in NcclAlgorithm::ALL {
            threads[algorithm as usize] = match algorithm {
                NcclAlgorithm::Tree => [pick(THREADS_MAX), ll128, pick(THREADS_MAX)],
                NcclAlgorithm::Ring => [pick(THREADS_MAX), ll128, pick(ring_simple)],
                NcclAlgorithm::CollNetDirect
                | NcclAlgorithm::CollNetChain
                | NcclAlgorithm::Nvls
                | NcclAlgorithm::NvlsTree => [0, 0, LL128_THREADS_MAX],
                NcclAlgorithm::Pat => [0; 3],
            };
        }
        threads
    }

    pub(crate) fn thread_thresholds(&self) -> PerCandidate<i64> {
        if self.communicator.n_ranks == 1 {
            // NCCL leaves before it fills them.
            return [[0; 3]; 7];
        }
        let mut thresholds = [[8, 8, 64]; 7];
        thresholds[RING][LL] *= i64::from(self.communicator.n_ranks);
        thresholds[NcclAlgorithm::CollNetDirect as usize][SIMPLE] = 512;
        thresholds[NcclAlgorithm::CollNetChain as usize][SIMPLE] = 512;
        for (row, wanted) in thresholds.iter_mut().zip(self.settings.thread_thresholds) {
            for (threshold, wanted) in row.iter_mut().zip(wanted) {
                *threshold = wanted.unwrap_or(*threshold);
            }
        }
        thresholds
    }
}

fn pick_ll128(wanted: Option<i64>) -> i32 {
    pick(wanted, 160, LL128_THREADS_MAX, LL128_THREADS_MAX)
}

/// Returns the wanted number of threads where it is a multiple of a warp inside the limits;
/// zero, a negative number and no wish mean the default.
fn pick(wanted: Option<i64>, least: i32, most: i32, default: i32) -> i32 {
    match wanted {
        None | Some(..=0) => default,
        Some(wanted) if wanted % WARP != 0 => most,
        Some(wanted) => i32::try_from(wanted).map_or(most, |wanted| wanted.clamp(least, most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_picked_as_nccl_picks_them() {
        let picked = |wanted| pick(wanted, 64, 512, 256);
        assert_eq!(picked(None), 256);
        assert_eq!(picked(Some(0)), 256);
        assert_eq!(picked(Some(-5)), 256);
        assert_eq!(picked(Some(128)), 128);
        assert_eq!(picked(Some(100)), 512);
        assert_eq!(picked(Some(1024)), 512);
        assert_eq!(picked(Some(32)), 64);
        assert_eq!(picked(Some(i64::MAX - 31)), 512);
    }
}
