//! The communicator as NCCL's tuner sees it: counts, capabilities, and one graph per
//! algorithm.
//!
//! A [`Communicator`] is complete and checked: from here on nobody asks again whether a
//! bandwidth is a number. Counts are C's `int`, since the model computes with them and wraps
//! where NCCL wraps.

mod check;
mod read;

use crate::candidate::NcclAlgorithm;
use crate::path_type::PathType;
pub use check::CommunicatorError;
pub use read::{
    CommunicatorSource, ReadCommunicatorError, UnknownKey, read_communicator, unknown_keys,
};
pub(crate) use read::{RawCommunicator, cpu_from_numbers};

/// What NCCL's search found for one algorithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Graph {
    /// The shape of the channels; `None` when the search was not run.
    pub pattern: Option<Pattern>,
    /// Channels of the graph; the communicator usually has twice as many.
    pub n_channels: i32,
    /// Bandwidth of a channel inside a node, GB/s.
    pub intra_gbs: f32,
    /// Bandwidth of a channel between nodes, GB/s.
    pub inter_gbs: f32,
    /// Latency that the network adds, us.
    pub inter_latency_us: f32,
    /// The worst path between GPUs.
    pub intra_path: PathType,
    /// The worst path between GPU and NIC.
    pub inter_path: PathType,
    /// All channels run through the same order of GPUs.
    pub same_channels: bool,
}

impl Graph {
    /// The graph of an algorithm whose search was not run.
    pub const ABSENT: Self = Self {
        pattern: None,
        n_channels: 0,
        intra_gbs: 0.0,
        inter_gbs: 0.0,
        inter_latency_us: 0.0,
        intra_path: PathType::Loc,
        inter_path: PathType::Loc,
        same_channels: false,
    };
}

/// The shape of a graph's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are NCCL's own terms")]
pub enum Pattern {
    BalancedTree,
    SplitTree,
    Tree,
    Ring,
    Nvls,
    CollNetDirect,
}

impl Pattern {
    /// Returns the pattern with NCCL's number, 1 to 6; 0 is a graph without a search.
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            1 => Some(Self::BalancedTree),
            2 => Some(Self::SplitTree),
            3 => Some(Self::Tree),
            4 => Some(Self::Ring),
            5 => Some(Self::Nvls),
            6 => Some(Self::CollNetDirect),
            _ => None,
        }
    }
}

/// The architecture of the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum CpuArch {
    X86,
    Power,
    Arm,
    Mixed,
    Unknown,
}

/// The vendor of the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum CpuVendor {
    Intel,
    Amd,
    Zhaoxin,
    Mixed,
    Unknown,
}

/// The kind of CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The architecture.
    pub arch: CpuArch,
    /// The vendor.
    pub vendor: CpuVendor,
}

/// Everything that NCCL's tuner knows of a communicator.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own, as NCCL reports them"
)]
pub struct Communicator {
    /// Nodes.
    pub n_nodes: i32,
    /// Ranks.
    pub n_ranks: i32,
    /// Ranks on each node.
    pub node_local_ranks: Vec<i32>,
    /// Ranks on the tuning rank's node.
    pub local_ranks: i32,
    /// Ranks on the fullest node.
    pub local_ranks_max: i32,
    /// The least compute capability of all GPUs: 70, 80, 90.
    pub comp_cap_min: i32,
    /// The largest compute capability.
    pub comp_cap_max: i32,
    /// The CPU of all ranks together.
    pub cpu: Cpu,
    /// The first CPU of the local topology.
    pub local_cpu: Cpu,
    /// The node has NVSwitches.
    pub has_nvswitch: bool,
    /// The network can reduce.
    pub has_collnet: bool,
    /// CollNetChain can be used as well; asked for from 2.30 on.
    pub has_collnet_chain: bool,
    /// Ranks of a node that talk to the reducing network.
    pub collnet_heads: i32,
    /// The CollNet plugin offers AllGather.
    pub collnet_all_gather: bool,
    /// The CollNet plugin offers ReduceScatter.
    pub collnet_reduce_scatter: bool,
    /// The pattern of the least tree of all ranks, from 2.26 on.
    pub tree_pattern_max: Option<Pattern>,
    /// Nodes share one NVLink domain.
    pub is_mnnvl: bool,
    /// GPUs can use NVLink multicast.
    pub has_nvls: bool,
    /// Channels of NVLS.
    pub nvls_channels: i32,
    /// Chunk of NVLS, bytes.
    pub nvls_chunk_bytes: u64,
    /// Largest chunk of NVLSTree, bytes, where the release computes one (2.30).
    pub nvls_tree_chunk_bytes_max: Option<u64>,
    /// Channels.
    pub n_channels: i32,
    /// The network is driven by the host rather than by a device.
    pub net_is_host: bool,
    /// Heads of CollNetDirect on channel 0.
    pub direct_heads: i32,
    /// Depth of CollNetDirect on channel 0.
    pub direct_depth: i32,
    /// Depth of CollNetChain on channel 0.
    pub chain_depth: i32,
    /// Heads of NVLS on channel 0.
    pub nvls_heads: i32,
    /// Buffers of LL, LL128 and Simple, bytes.
    pub buffer_bytes: [u64; 3],
    /// The graphs, by algorithm in NCCL's order.
    pub graphs: [Graph; 7],
}

impl Communicator {
    /// Returns the graph that `algorithm` uses.
    pub fn graph(&self, algorithm: NcclAlgorithm) -> &Graph {
        &self.graphs[algorithm as usize]
    }
}
