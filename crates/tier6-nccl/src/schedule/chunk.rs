//! The chunk of a share: how many bytes move in one step.

use super::Work;
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::cost_table::{CostTable, floor_log2};
use crate::term::single;
use tier6_collective::Protocol;

const KIB: u64 = 1 << 10;
/// Steps that a buffer is cut into.
const STEPS: u64 = 8;
/// Below this bandwidth NVLS over several nodes uses small chunks, GB/s.
const NVLS_SLOW_GBS: f32 = 150.0;

impl CostTable {
    /// Returns the chunk in bytes for `count` elements on `channels` channels.
    pub(super) fn chunk_bytes(&self, work: &Work, count: u64, channels: u32) -> u64 {
        let candidate = work.choice.candidate;
        let ranks = u64::from(self.communicator.n_ranks.cast_unsigned());
        let factor = if work.collective.is_gather() {
            ranks
        } else {
            1
        };
        let share = Share {
            bytes: count * work.element * factor,
            channels: u64::from(channels.max(1)),
        };
        let start = self.start_bytes(work.collective, candidate);
        let chunk = match candidate.algorithm {
            NcclAlgorithm::CollNetDirect => self.direct_chunk(share, start),
            NcclAlgorithm::CollNetChain => self.chain_chunk(share),
            NcclAlgorithm::Nvls => self.nvls_chunk(share, start),
            NcclAlgorithm::NvlsTree => self.nvls_tree_chunk(share),
            NcclAlgorithm::Tree if candidate.protocol == Protocol::Ll128 => {
                self.tree_ll128_chunk(share, start)
            }
            NcclAlgorithm::Pat => pat_chunk(share, start, work.collective),
            NcclAlgorithm::Tree | NcclAlgorithm::Ring => start,
        };
        let grain = match candidate.protocol {
            Protocol::Ll => 16,
            Protocol::Ll128 => 1920,
            Protocol::Simple => 512,
        };
        // Rounds down to whole grains.
        chunk / grain * grain
    }

    fn start_bytes(&self, collective: NcclCollective, candidate: Candidate) -> u64 {
        let step = self.communicator.buffer_bytes[candidate.protocol as usize] / STEPS;
        match (candidate.protocol, candidate.algorithm) {
            (Protocol::Ll, _) => step / 2,
            (Protocol::Ll128, _) => step / 16 * 15,
            (Protocol::Simple, NcclAlgorithm::Ring) if !collective.is_rooted() => step * 4,
            (Protocol::Simple, _) => step,
        }
    }

    fn direct_chunk(&self, share: Share, start: u64) -> u64 {
        let heads = positive(self.communicator.direct_heads);
        let depth = positive(self.communicator.direct_depth);
        let pieces = |chunk: u64| share.bytes / (share.channels * heads * chunk);
        [
            (depth * 64, 128 * KIB),
            (depth * 8, 64 * KIB),
            (depth * 8, 32 * KIB),
        ]
        .into_iter()
        .fold(start, |chunk, (wanted, least)| {
            halve_while(chunk, least, |chunk| pieces(chunk) < wanted)
        })
    }

    fn chain_chunk(&self, share: Share) -> u64 {
        let depth = positive(self.communicator.chain_depth);
        let simple = self.communicator.buffer_bytes[Protocol::Simple as usize] / STEPS;
        let start = (256 * KIB).min(simple);
        [
            (depth * 64, 128 * KIB),
            (depth * 8, 64 * KIB),
            (depth, 32 * KIB),
        ]
        .into_iter()
        .fold(start, |chunk, (wanted, least)| {
            halve_while(chunk, least, |chunk| {
                share.bytes / (share.channels * chunk) < wanted
            })
        })
    }

    fn nvls_chunk(&self, share: Share, start: u64) -> u64 {
        let communicator = &self.communicator;
        let all_reduce = self.bandwidth_gbs(
            NcclCollective::AllReduce,
            Candidate {
                algorithm: NcclAlgorithm::Nvls,
                protocol: Protocol::Simple,
            },
        );
        let most = if communicator.n_nodes > 1 && all_reduce < NVLS_SLOW_GBS {
            32 * KIB
        } else {
            communicator.nvls_chunk_bytes
        };
        let heads = share.channels * positive(communicator.nvls_heads);
        shrink(
            start.min(most),
            share.bytes,
            [
                (64 * heads, 64 * KIB),
                (8 * heads, 32 * KIB),
                (2 * heads, 16 * KIB),
            ],
        )
    }

    fn nvls_tree_chunk(&self, share: Share) -> u64 {
        let communicator = &self.communicator;
        let usual = if communicator.n_nodes >= 4 {
            64 * KIB
        } else {
            communicator.nvls_chunk_bytes
        };
        let most = communicator
            .nvls_tree_chunk_bytes_max
            .or(self.settings.nvls_tree_chunk_bytes_max)
            .unwrap_or(usual);
        let heads = share.channels * positive(communicator.nvls_heads);
        shrink(
            communicator.nvls_chunk_bytes.min(most),
            share.bytes,
            [
                (32 * heads, 256 * KIB),
                (16 * heads, 128 * KIB),
                (4 * heads, 64 * KIB),
                (heads, 32 * KIB),
            ],
        )
    }

    fn tree_ll128_chunk(&self, share: Share, start: u64) -> u64 {
        let communicator = &self.communicator;
        let ranks_per_node = communicator.n_ranks as f32 / communicator.n_nodes as f32;
        let levels = f64::from(1 + floor_log2(communicator.n_nodes));
        let steps = single(levels + 0.1 * f64::from(ranks_per_node));
        [(64.0, 128 * KIB), (16.0, 32 * KIB)]
            .into_iter()
            .fold(start, |chunk, (factor, least)| {
                let wanted = steps * factor / ranks_per_node;
                halve_while(chunk, least, |chunk| {
                    ((share.bytes / (share.channels * chunk)) as f32) < wanted
                })
            })
    }
}

/// What a chunk is cut from.
#[derive(Clone, Copy)]
struct Share {
    bytes: u64,
    channels: u64,
}

fn pat_chunk(share: Share, start: u64, collective: NcclCollective) -> u64 {
    let pieces = if collective == NcclCollective::AllGather {
        32
    } else {
        16
    };
    halve_while(start, 64 * KIB, |chunk| {
        chunk * share.channels * pieces > share.bytes
    })
}

fn halve_while(mut chunk: u64, least: u64, is_wanted: impl Fn(u64) -> bool) -> u64 {
    while chunk > least && is_wanted(chunk) {
        chunk /= 2;
    }
    chunk
}

/// Lowers the chunk to each size in turn while fewer than so many pieces of it are at hand.
fn shrink<const N: usize>(chunk: u64, bytes: u64, steps: [(u64, u64); N]) -> u64 {
    steps.into_iter().fold(chunk, |chunk, (pieces, smaller)| {
        if bytes < pieces * chunk && chunk > smaller {
            smaller
        } else {
            chunk
        }
    })
}

fn positive(count: i32) -> u64 {
    u64::from(count.max(1).cast_unsigned())
}
