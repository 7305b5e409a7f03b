//! Channels and warps of the chosen candidate.
//!
//! Source: `TUNER_SPEC.md` section 9.

use crate::call::Call;
use crate::candidate::{Candidate, NcclAlgorithm};
use crate::cost_table::CostTable;
use tier6_collective::Protocol;

impl CostTable {
    /// Returns the most channels and the warps of a chosen candidate.
    ///
    /// Products are C's 32-bit integers, compared with a 64-bit size, and wrap like them.
    pub(super) fn launch(&self, call: &Call, candidate: Candidate) -> (i8, i32) {
        let mut threads = self.threads_max(candidate);
        let threshold = self.thread_threshold(candidate);
        #[expect(clippy::cast_possible_truncation, reason = "NCCL keeps it in a C int")]
        let threshold = threshold as i32;
        let mut channels = self.communicator.n_channels;
        match candidate.algorithm {
            NcclAlgorithm::CollNetDirect => {
                channels = self.direct_channels(call, threads, threshold);
            }
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => {
                channels = self.nvls_channels(candidate.algorithm);
            }
            NcclAlgorithm::Tree
            | NcclAlgorithm::Ring
            | NcclAlgorithm::CollNetChain
            | NcclAlgorithm::Pat => {
                channels = fewer_channels(call.bytes, channels, threads.wrapping_mul(threshold));
                while is_below(call.bytes, &[channels, threads, threshold])
                    && threads % 128 == 0
                    && threads > 0
                {
                    threads /= 2;
                }
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "NCCL keeps it in 8 signed bits"
        )]
        let channels = channels as i8;
        (channels, self.warps(candidate, threads))
    }

    fn warps(&self, candidate: Candidate, threads: i32) -> i32 {
        let extra = match (candidate.algorithm, candidate.protocol) {
            (NcclAlgorithm::Ring, Protocol::Simple) => 32,
            (NcclAlgorithm::Tree, Protocol::Simple) => 128,
            _ => 0,
        };
        let threads = (threads + extra).max(96);
        let threads = match candidate.algorithm {
            NcclAlgorithm::Tree if self.release.tree_threads_640 => 640,
            NcclAlgorithm::Pat => 640,
            _ => threads,
        };
        threads / 32
    }

    fn direct_channels(&self, call: &Call, threads: i32, threshold: i32) -> i32 {
        let heads = self.communicator.direct_heads;
        let mut threshold = threshold;
        let mut channels = self.communicator.n_channels;
        for switch in [16, 8, 4, 2, 1] {
            loop {
                if !is_below(call.bytes, &[channels, threads, heads, threshold]) {
                    return channels;
                }
                if channels <= switch {
                    break;
                }
                if channels == switch + switch / 2 {
                    threshold /= 2;
                }
                channels -= 1;
            }
        }
        channels
    }

    pub(crate) fn nvls_channels(&self, algorithm: NcclAlgorithm) -> i32 {
        let communicator = &self.communicator;
        let is_limited = self.release.nvls_channels_limited
            && algorithm == NcclAlgorithm::Nvls
            && communicator.n_nodes > 1;
        if is_limited {
            communicator.nvls_channels.min(communicator.n_channels)
        } else {
            communicator.nvls_channels
        }
    }
}

/// Says whether a size is below a product of C integers, which wraps and, when negative,
/// counts as huge.
fn is_below(bytes: u64, factors: &[i32]) -> bool {
    let product = factors.iter().fold(1_i32, |a, &b| a.wrapping_mul(b));
    bytes < i64::from(product).cast_unsigned()
}

/// Takes channels away while each has fewer than `per_channel` bytes, down to one.
fn fewer_channels(bytes: u64, channels: i32, per_channel: i32) -> i32 {
    if per_channel > 0 && channels.checked_mul(per_channel).is_some() {
        // Nothing wraps: the count that NCCL steps down to, at once. Rounds down.
        let enough = bytes / u64::from(per_channel.unsigned_abs());
        return i32::try_from(enough).map_or(channels, |enough| channels.min(enough.max(1)));
    }
    let mut channels = channels;
    while is_below(bytes, &[channels, per_channel]) && channels >= 2 {
        channels -= 1;
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_step_down_to_what_the_bytes_fill() {
        assert_eq!(fewer_channels(0, 12, 4096), 1);
        assert_eq!(fewer_channels(4096 * 5, 12, 4096), 5);
        assert_eq!(fewer_channels(4096 * 5 - 1, 12, 4096), 4);
        assert_eq!(fewer_channels(u64::MAX, 12, 4096), 12);
        assert_eq!(fewer_channels(1, 12, 0), 12);
    }

    #[test]
    fn a_product_that_wraps_is_compared_as_c_compares_it() {
        // 64 * 2^26 wraps to 0, 63 * 2^26 to a negative number, which is huge as unsigned.
        assert_eq!(fewer_channels(1, 64, 1 << 26), 64);
        assert_eq!(fewer_channels(1, 63, 1 << 26), 1);
    }
}
