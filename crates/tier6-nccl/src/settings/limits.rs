//! Variables that change the communicator rather than the model: channels, buffers, chunks,
//! and which offload is used at all.
//!
//! What a changed search would find (`NCCL_CROSS_NIC`, `NCCL_P2P_LEVEL` and the like) is not
//! known without the search, so those variables are left alone. Source: `TUNER_SPEC.md`
//! sections 10 and 11, and the communicators of the oracle with and without each variable.

use super::{Reading, Settings};
use crate::c_number::integer;
use crate::candidate::NcclAlgorithm;
use crate::communicator::{Communicator, Graph};
use crate::release::Release;

/// The nodes from which on CollNet is used.
const COLLNET_NODES: i64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Limits {
    channels_min: Option<i32>,
    channels_max: Option<i32>,
    ctas_min: Option<i32>,
    ctas_max: Option<i32>,
    nvls_channels: Option<i32>,
    nvls_chunk_bytes: Option<u64>,
    /// Of LL, LL128 and Simple.
    buffer_bytes: [Option<u64>; 3],
    nvls: Option<i64>,
    collnet: Option<i64>,
    collnet_nodes: Option<i64>,
}

impl Limits {
    /// Takes a variable; returns whether it is one of these.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Reading {
        match name {
            "NCCL_MIN_NCHANNELS" => self.channels_min = positive(value),
            "NCCL_MAX_NCHANNELS" => self.channels_max = positive(value),
            // The old names count only where the new ones are not set.
            "NCCL_MIN_NRINGS" => self.channels_min = self.channels_min.or(positive(value)),
            "NCCL_MAX_NRINGS" => self.channels_max = self.channels_max.or(positive(value)),
            "NCCL_MIN_CTAS" => self.ctas_min = positive(value),
            "NCCL_MAX_CTAS" => self.ctas_max = positive(value),
            "NCCL_NVLS_NCHANNELS" => self.nvls_channels = positive(value),
            "NCCL_NVLS_CHUNKSIZE" => self.nvls_chunk_bytes = positive(value),
            "NCCL_LL_BUFFSIZE" => self.buffer_bytes[0] = positive(value),
            "NCCL_LL128_BUFFSIZE" => self.buffer_bytes[1] = positive(value),
            "NCCL_BUFFSIZE" => self.buffer_bytes[2] = positive(value),
            "NCCL_NVLS_ENABLE" => self.nvls = integer(value),
            "NCCL_COLLNET_ENABLE" => self.collnet = integer(value),
            "NCCL_COLLNET_NODE_THRESHOLD" => self.collnet_nodes = integer(value),
            _ => return Reading::Unread,
        }
        Reading::Read
    }
}

impl Settings {
    /// Returns `communicator` as it would be under these variables.
    ///
    /// Doing it twice changes nothing, so a communicator that was recorded under the same
    /// environment stays as it is.
    pub fn applied_to(&self, mut communicator: Communicator, release: &Release) -> Communicator {
        let limits = &self.limits;
        self.switch_offloads(&mut communicator);
        if communicator.has_nvls {
            let wanted = limits.nvls_channels.unwrap_or(communicator.nvls_channels);
            communicator.nvls_channels = clip(wanted, limits.ctas_min, limits.ctas_max);
            if let Some(bytes) = limits.nvls_chunk_bytes {
                communicator.nvls_chunk_bytes = bytes;
            }
            if let Some(most) = &mut communicator.nvls_tree_chunk_bytes_max {
                *most = (self.nvls_tree_chunk_bytes_max)
                    .unwrap_or((*most).min(communicator.nvls_chunk_bytes));
            }
        }
        let most = [limits.channels_max, limits.ctas_max]
            .into_iter()
            .flatten()
            .min();
        let least = limits.channels_min.max(limits.ctas_min);
        let wanted = clip(communicator.n_channels, least, most);
        communicator.n_channels = wanted.min(release.channels_max);
        if communicator.has_nvls && !release.nvls_channels_limited {
            communicator.n_channels = communicator.n_channels.max(communicator.nvls_channels);
        }
        for (bytes, wanted) in communicator
            .buffer_bytes
            .iter_mut()
            .zip(limits.buffer_bytes)
        {
            *bytes = wanted.unwrap_or(*bytes);
        }
        communicator
    }

    fn switch_offloads(&self, communicator: &mut Communicator) {
        let limits = &self.limits;
        if limits.nvls == Some(0) {
            communicator.has_nvls = false;
            communicator.nvls_channels = 0;
            communicator.nvls_chunk_bytes = 0;
            communicator.nvls_heads = 0;
            communicator.nvls_tree_chunk_bytes_max =
                communicator.nvls_tree_chunk_bytes_max.map(|_| 0);
            for algorithm in [NcclAlgorithm::Nvls, NcclAlgorithm::NvlsTree] {
                communicator.graphs[algorithm as usize] = Graph::ABSENT;
            }
        }
        let nodes = limits.collnet_nodes.unwrap_or(COLLNET_NODES);
        if limits.collnet == Some(0) || i64::from(communicator.n_nodes) < nodes {
            communicator.has_collnet = false;
            communicator.has_collnet_chain = false;
            communicator.collnet_heads = 0;
            communicator.direct_heads = 0;
            communicator.direct_depth = 0;
            communicator.chain_depth = 0;
        }
    }
}

/// Clips to the limits; the lower one wins where they contradict each other.
fn clip(value: i32, least: Option<i32>, most: Option<i32>) -> i32 {
    let value = most.map_or(value, |most| value.min(most));
    least.map_or(value, |least| value.max(least))
}

fn positive<T: TryFrom<i64>>(value: &str) -> Option<T> {
    integer(value)
        .filter(|&number| number > 0)
        .and_then(|number| T::try_from(number).ok())
}
