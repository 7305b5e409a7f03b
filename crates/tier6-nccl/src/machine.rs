//! A communicator from graphs alone: what a graph file or a log does not say is asked for,
//! derived or assumed, and every assumption is written down.

use crate::candidate::NcclAlgorithm;
use crate::communicator::{Communicator, CommunicatorError, Cpu, CpuArch, CpuVendor, Graph};
use crate::path_type::PathType;
use crate::release::Release;

/// What is known of a machine beside its graphs; an absent value is derived or assumed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// Ranks.
    pub n_ranks: Option<i32>,
    /// Nodes.
    pub n_nodes: Option<i32>,
    /// Ranks on the node of the graphs.
    pub local_ranks: Option<i32>,
    /// Compute capability of the GPUs: 70, 80, 90.
    pub comp_cap: Option<i32>,
    /// The CPU.
    pub cpu: Option<Cpu>,
    /// The nodes have NVSwitches.
    pub has_nvswitch: Option<bool>,
    /// Nodes share one NVLink domain.
    pub is_mnnvl: Option<bool>,
    /// Channels of the communicator.
    pub n_channels: Option<i32>,
    /// Channels of NVLS.
    pub nvls_channels: Option<i32>,
    /// Chunk of NVLS, bytes.
    pub nvls_chunk_bytes: Option<u64>,
    /// Largest chunk of NVLSTree, bytes.
    pub nvls_tree_chunk_bytes_max: Option<u64>,
    /// The network can reduce; else whether CollNetDirect was searched.
    pub has_collnet: Option<bool>,
    /// The CollNet plug-in offers AllGather and ReduceScatter.
    pub collnet_gathers: Option<bool>,
    /// Latency that the network adds, us.
    pub inter_latency_us: Option<f32>,
}

/// A communicator, with what had to be assumed for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// The communicator.
    pub communicator: Communicator,
    /// One sentence per assumption.
    pub assumptions: Vec<String>,
}

/// Why graphs do not make a communicator.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AssembleError {
    /// The number of ranks is nowhere.
    #[error("the number of ranks is not known; hint: pass it")]
    Ranks,
    /// A graph that NCCL always has is missing.
    #[error("the {0} graph is missing")]
    NoGraph(NcclAlgorithm),
    /// The values contradict each other.
    #[error(transparent)]
    Values(#[from] CommunicatorError),
}

const NVLS_CHUNK_BYTES: u64 = 128 << 10;
const NVLS_CHANNELS: i32 = 16;
const NVLS_CHANNELS_BLACKWELL: i32 = 32;
const NVLS_CHANNELS_BLACKWELL_NODE: i32 = 24;
const BUFFER_BYTES: [u64; 3] = [512 << 10, 4_915_200, 4 << 20];

impl Machine {
    /// Puts a communicator together from graphs by algorithm.
    ///
    /// # Errors
    ///
    /// Fails when the number of ranks is unknown, when the ring or the tree graph is missing,
    /// or when the values contradict each other.
    pub fn assemble(
        &self,
        graphs: [Option<Graph>; 7],
        release: &Release,
    ) -> Result<Assembled, AssembleError> {
        let mut assumptions = Vec::new();
        let need = |algorithm: NcclAlgorithm| {
            graphs[algorithm as usize].ok_or(AssembleError::NoGraph(algorithm))
        };
        let ring = need(NcclAlgorithm::Ring)?;
        let tree = need(NcclAlgorithm::Tree)?;
        let graphs = self.complete(graphs);
        let ranks = self.ranks()?;
        let comp_cap = self.comp_cap_or_guess(&ring, &mut assumptions);
        let cpu = self.cpu_or_intel(&mut assumptions);
        let direct = graphs[NcclAlgorithm::CollNetDirect as usize];
        let chain = graphs[NcclAlgorithm::CollNetChain as usize];
        let nvls = self.nvls(&graphs, comp_cap, ranks.nodes, release);
        // The chain's search runs without CollNet as well, in releases that have one search.
        let has_collnet = self.has_collnet.unwrap_or(direct.n_channels > 0);
        let gathers = has_collnet && self.gathers_or_not(ranks.nodes, &mut assumptions);
        let communicator = Communicator {
            n_nodes: ranks.nodes,
            n_ranks: ranks.all,
            node_local_ranks: ranks.per_node(),
            local_ranks: ranks.local,
            local_ranks_max: ranks.per_node().into_iter().fold(ranks.local, i32::max),
            comp_cap_min: comp_cap,
            comp_cap_max: comp_cap,
            cpu,
            local_cpu: cpu,
            has_nvswitch: (self.has_nvswitch).unwrap_or(nvls.heads > 0 || direct.n_channels > 0),
            has_collnet,
            has_collnet_chain: has_collnet && chain.n_channels > 0,
            collnet_heads: direct.n_channels,
            collnet_all_gather: gathers,
            collnet_reduce_scatter: gathers,
            tree_pattern_max: tree.pattern,
            is_mnnvl: self.is_mnnvl.unwrap_or(false),
            has_nvls: nvls.heads > 0,
            nvls_channels: nvls.channels,
            nvls_chunk_bytes: nvls.chunk_bytes,
            nvls_tree_chunk_bytes_max: self.nvls_tree_chunk_bytes_max,
            n_channels: self.channels(&ring, &tree, nvls.channels, release),
            net_is_host: true,
            direct_heads: direct.n_channels,
            direct_depth: if direct.n_channels > 0 { 2 } else { 0 },
            chain_depth: if has_collnet { ranks.local } else { 0 },
            nvls_heads: nvls.heads,
            buffer_bytes: BUFFER_BYTES,
            graphs,
        };
        Ok(Assembled {
            communicator: communicator.check()?,
            assumptions,
        })
    }

    /// Lets PAT use the tree's graph and NVLSTree that of NVLS, and adds the network's latency.
    fn complete(&self, mut graphs: [Option<Graph>; 7]) -> [Graph; 7] {
        let pat = NcclAlgorithm::Pat as usize;
        graphs[pat] = graphs[pat].or(graphs[NcclAlgorithm::Tree as usize]);
        let nvls_tree = NcclAlgorithm::NvlsTree as usize;
        graphs[nvls_tree] = graphs[nvls_tree].or(graphs[NcclAlgorithm::Nvls as usize]);
        graphs.map(|graph| match (graph, self.inter_latency_us) {
            (Some(graph), Some(inter_latency_us)) => Graph {
                inter_latency_us,
                ..graph
            },
            (Some(graph), None) => graph,
            (None, _) => Graph::ABSENT,
        })
    }

    fn cpu_or_intel(&self, assumptions: &mut Vec<String>) -> Cpu {
        self.cpu.unwrap_or_else(|| {
            assumptions.push("the CPU is not known; x86 of Intel is assumed".to_owned());
            Cpu {
                arch: CpuArch::X86,
                vendor: CpuVendor::Intel,
            }
        })
    }

    fn gathers_or_not(&self, nodes: i32, assumptions: &mut Vec<String>) -> bool {
        if self.collnet_gathers.is_none() && nodes > 1 {
            assumptions.push(
                "the CollNet plug-in is taken to offer neither AllGather nor ReduceScatter"
                    .to_owned(),
            );
        }
        self.collnet_gathers.unwrap_or(false)
    }

    fn nvls(&self, graphs: &[Graph; 7], comp_cap: i32, nodes: i32, release: &Release) -> NvlsShape {
        let heads = graphs[NcclAlgorithm::Nvls as usize].n_channels;
        if heads == 0 {
            return NvlsShape {
                heads,
                channels: 0,
                chunk_bytes: 0,
            };
        }
        let usual = self.usual_nvls_channels(comp_cap, nodes, release);
        NvlsShape {
            heads,
            channels: self.nvls_channels.unwrap_or(usual),
            chunk_bytes: self.nvls_chunk_bytes.unwrap_or(NVLS_CHUNK_BYTES),
        }
    }

    fn ranks(&self) -> Result<Ranks, AssembleError> {
        let nodes = self.n_nodes.unwrap_or(1);
        let ranks = match (self.n_ranks, self.local_ranks) {
            (Some(ranks), _) => ranks,
            (None, Some(local)) => local.saturating_mul(nodes),
            (None, None) => return Err(AssembleError::Ranks),
        };
        let nodes_or_one = nodes.max(1);
        Ok(Ranks {
            all: ranks,
            nodes,
            local: self
                .local_ranks
                .unwrap_or((ranks + nodes_or_one - 1) / nodes_or_one),
        })
    }

    /// Returns the compute capability, guessed from what the ring moves over NVLink if need
    /// be: no file of NCCL names it.
    fn comp_cap_or_guess(&self, ring: &Graph, assumptions: &mut Vec<String>) -> i32 {
        self.comp_cap.unwrap_or_else(|| {
            let guess = guess_comp_cap(ring);
            assumptions.push(format!(
                "compute capability {}.{} is guessed from the ring graph; hint: pass it",
                guess / 10,
                guess % 10
            ));
            guess
        })
    }

    fn usual_nvls_channels(&self, comp_cap: i32, nodes: i32, release: &Release) -> i32 {
        let knows_blackwell = release.channels_max == 64;
        let widens_in_node = release.nvls.gathers_over_nodes();
        match comp_cap {
            100.. if widens_in_node && (nodes == 1 || self.is_mnnvl == Some(true)) => {
                NVLS_CHANNELS_BLACKWELL_NODE
            }
            100.. if knows_blackwell => NVLS_CHANNELS_BLACKWELL,
            _ => NVLS_CHANNELS,
        }
    }

    /// NCCL doubles the channels of the search; up to 2.27 NVLS may raise them further.
    fn channels(&self, ring: &Graph, tree: &Graph, nvls_channels: i32, release: &Release) -> i32 {
        let doubled = ring.n_channels.min(tree.n_channels).saturating_mul(2);
        let channels = self.n_channels.unwrap_or(doubled.min(release.channels_max));
        if release.nvls_channels_limited {
            channels
        } else {
            channels.max(nvls_channels)
        }
    }
}

/// Returns the generation whose NVLink carries what the ring moves, in GB/s of one direction:
/// V100 to 150, A100 to 300, H100 to 450. Without NVLink, Ampere.
pub(crate) fn guess_comp_cap(ring: &Graph) -> i32 {
    let total = ring.intra_gbs * ring.n_channels as f32;
    match ring.intra_path {
        PathType::Nvl | PathType::Nvb if total <= 150.0 => 70,
        PathType::Nvl | PathType::Nvb if total <= 300.0 => 80,
        PathType::Nvl | PathType::Nvb if total <= 450.0 => 90,
        PathType::Nvl | PathType::Nvb => 100,
        _ => 80,
    }
}

struct NvlsShape {
    heads: i32,
    channels: i32,
    chunk_bytes: u64,
}

struct Ranks {
    all: i32,
    nodes: i32,
    local: i32,
}

impl Ranks {
    /// Spreads the ranks evenly; the first nodes take what is left over.
    fn per_node(&self) -> Vec<i32> {
        let nodes = self.nodes.max(1);
        let (share, rest) = (self.all / nodes, self.all % nodes);
        (0..nodes)
            .map(|node| share + i32::from(node < rest))
            .collect()
    }
}
