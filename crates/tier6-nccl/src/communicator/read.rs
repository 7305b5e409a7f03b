//! Reads a communicator from JSON: the `inputs` object of an oracle line, or the whole line.
//!
//! Names are NCCL's own. Path types may be numbers, which are those of the file's release, or
//! names. Fields that older releases do not write are optional.

mod unknown;

use super::{Communicator, CommunicatorError, Cpu, CpuArch, CpuVendor, Graph, Pattern};
use crate::candidate::NcclAlgorithm;
use crate::release::{Release, UnknownVersionError};
use serde::Deserialize;
use std::collections::BTreeMap;
use tier6_collective::{LibraryVersion, ParseVersionError};
pub use unknown::{UnknownKey, unknown_keys};

/// A communicator with what its file says about its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct CommunicatorSource {
    /// The file's name of the communicator.
    pub id: Option<String>,
    /// The version whose search found the graphs.
    pub version: Option<LibraryVersion>,
    /// The environment of that run, already contained in the communicator's counts.
    pub env: BTreeMap<String, String>,
    /// The communicator.
    pub communicator: Communicator,
}

/// Why a text is not a communicator.
#[derive(Debug, thiserror::Error)]
pub enum ReadCommunicatorError {
    /// The text is not JSON of this shape.
    #[error("expected a communicator as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The file's version is no version.
    #[error(transparent)]
    Version(#[from] ParseVersionError),
    /// The file's version is too old.
    #[error(transparent)]
    UnknownVersion(#[from] UnknownVersionError),
    /// A graph names an algorithm that does not exist.
    #[error("unknown algorithm `{0}` in `graphs`")]
    UnknownAlgorithm(String),
    /// Two graphs are for one algorithm.
    #[error("`graphs` holds two graphs for `{0}`")]
    TwoGraphs(NcclAlgorithm),
    /// A path type is neither a number of the release nor a name.
    #[error("unknown path type `{path}` in the {algorithm} graph for NCCL {version}")]
    UnknownPath {
        /// The graph's algorithm.
        algorithm: NcclAlgorithm,
        /// What the file holds.
        path: String,
        /// The release whose numbers were used.
        version: LibraryVersion,
    },
    /// The values contradict each other.
    #[error(transparent)]
    Values(#[from] CommunicatorError),
}

/// Reads one communicator from JSON.
///
/// Numbers of path types are those of the version that the text names itself, else those of
/// `release`.
///
/// # Errors
///
/// Fails when the text is no JSON, lacks a field, names an unknown algorithm or path, or holds
/// values that cannot be right.
pub fn read_communicator(
    text: &str,
    release: &'static Release,
) -> Result<CommunicatorSource, ReadCommunicatorError> {
    let json: serde_json::Value = serde_json::from_str(text)?;
    let is_line = json.get("inputs").is_some();
    let (raw, line) = if is_line {
        let mut line: RawLine = serde_json::from_value(json)?;
        (line.inputs.take(), line)
    } else {
        (Some(serde_json::from_value(json)?), RawLine::default())
    };
    let raw: RawCommunicator = raw.ok_or_else(|| {
        ReadCommunicatorError::Json(serde::de::Error::custom("`inputs` is not an object"))
    })?;
    let version: Option<LibraryVersion> = line.version.as_deref().map(str::parse).transpose()?;
    let numbers_of = match version {
        Some(version) => Release::for_version(version)?.release,
        None => release,
    };
    Ok(CommunicatorSource {
        id: line.id,
        version,
        env: line.env,
        communicator: raw.resolve(numbers_of)?,
    })
}

#[derive(Debug, Default, Deserialize)]
struct RawLine {
    id: Option<String>,
    version: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    inputs: Option<RawCommunicator>,
}

/// The `inputs` object as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RawCommunicator {
    n_nodes: i32,
    n_ranks: i32,
    local_ranks: i32,
    max_local_ranks: i32,
    min_comp_cap: i32,
    max_comp_cap: i32,
    cpu_arch: i32,
    cpu_vendor: i32,
    topo_cpu_arch: Option<i32>,
    topo_cpu_vendor: Option<i32>,
    nvs_count: i32,
    coll_net_support: i32,
    coll_net_heads_num: i32,
    coll_net_iallgather: i32,
    coll_net_ireducescatter: i32,
    coll_net_chain_support: Option<i32>,
    nvls_tree_max_chunk_size: Option<u64>,
    max_tree_pattern: Option<i32>,
    #[serde(rename = "MNNVL")]
    mnnvl: i32,
    nvls_support: i32,
    nvls_channels: i32,
    nvls_chunk_size: u64,
    n_channels: i32,
    net_device_type: i32,
    #[serde(rename = "directNHeads")]
    direct_n_heads: i32,
    direct_depth: i32,
    chain_depth: i32,
    #[serde(rename = "nvlsNHeads")]
    nvls_n_heads: i32,
    buff_sizes: [u64; 3],
    node_local_ranks: Vec<i32>,
    graphs: Vec<RawGraph>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawGraph {
    algo: String,
    pattern: i32,
    n_channels: i32,
    #[serde(deserialize_with = "number")]
    bw_intra: f32,
    #[serde(deserialize_with = "number")]
    bw_inter: f32,
    #[serde(deserialize_with = "number")]
    latency_inter: f32,
    type_intra: RawPath,
    type_inter: RawPath,
    same_channels: i32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum RawPath {
    Number(u32),
    Name(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawNumber {
    Number(f32),
    Text(String),
}

/// Reads a number, or one of the texts `nan`, `inf`, `-inf` that JSON has no number for.
fn number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    match RawNumber::deserialize(deserializer)? {
        RawNumber::Number(value) => Ok(value),
        RawNumber::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

impl RawCommunicator {
    /// Returns the communicator as meant, with path numbers as `release` counts them.
    pub(crate) fn resolve(self, release: &Release) -> Result<Communicator, ReadCommunicatorError> {
        let graphs = self.resolve_graphs(release)?;
        let communicator = Communicator {
            n_nodes: self.n_nodes,
            n_ranks: self.n_ranks,
            node_local_ranks: self.node_local_ranks,
            local_ranks: self.local_ranks,
            local_ranks_max: self.max_local_ranks,
            comp_cap_min: self.min_comp_cap,
            comp_cap_max: self.max_comp_cap,
            cpu: cpu_from_numbers(self.cpu_arch, self.cpu_vendor),
            local_cpu: cpu_from_numbers(
                self.topo_cpu_arch.unwrap_or(self.cpu_arch),
                self.topo_cpu_vendor.unwrap_or(self.cpu_vendor),
            ),
            has_nvswitch: self.nvs_count != 0,
            has_collnet: self.coll_net_support != 0,
            has_collnet_chain: self.coll_net_chain_support.unwrap_or(self.coll_net_support) != 0,
            collnet_heads: self.coll_net_heads_num,
            collnet_all_gather: self.coll_net_iallgather != 0,
            collnet_reduce_scatter: self.coll_net_ireducescatter != 0,
            tree_pattern_max: self.max_tree_pattern.and_then(Pattern::from_number),
            is_mnnvl: self.mnnvl != 0,
            has_nvls: self.nvls_support != 0,
            nvls_channels: self.nvls_channels,
            nvls_chunk_bytes: self.nvls_chunk_size,
            nvls_tree_chunk_bytes_max: self.nvls_tree_max_chunk_size,
            n_channels: self.n_channels,
            net_is_host: self.net_device_type == 0,
            direct_heads: self.direct_n_heads,
            direct_depth: self.direct_depth,
            chain_depth: self.chain_depth,
            nvls_heads: self.nvls_n_heads,
            buffer_bytes: self.buff_sizes,
            graphs,
        };
        Ok(communicator.check()?)
    }

    fn resolve_graphs(&self, release: &Release) -> Result<[Graph; 7], ReadCommunicatorError> {
        let mut found: [Option<Graph>; 7] = [None; 7];
        for raw in &self.graphs {
            let algorithm = NcclAlgorithm::from_plain_name(&raw.algo)
                .ok_or_else(|| ReadCommunicatorError::UnknownAlgorithm(raw.algo.clone()))?;
            let slot = &mut found[algorithm as usize];
            if slot.is_some() {
                return Err(ReadCommunicatorError::TwoGraphs(algorithm));
            }
            *slot = Some(raw.resolve(algorithm, release)?);
        }
        // Releases before 2.23 write no PAT graph; later ones use the tree's.
        let pat = NcclAlgorithm::Pat as usize;
        found[pat] = found[pat].or(found[NcclAlgorithm::Tree as usize]);
        Ok(found.map(|graph| graph.unwrap_or(Graph::ABSENT)))
    }
}

impl RawGraph {
    fn resolve(
        &self,
        algorithm: NcclAlgorithm,
        release: &Release,
    ) -> Result<Graph, ReadCommunicatorError> {
        let path = |raw: &RawPath| {
            let known = match raw {
                RawPath::Number(number) => release.path_numbers.path(*number),
                RawPath::Name(name) => name.parse().ok(),
            };
            known.ok_or_else(|| ReadCommunicatorError::UnknownPath {
                algorithm,
                path: match raw {
                    RawPath::Number(number) => number.to_string(),
                    RawPath::Name(name) => name.clone(),
                },
                version: release.version,
            })
        };
        Ok(Graph {
            // NCCL sets the pattern of a search before it runs.
            pattern: Pattern::from_number(self.pattern).filter(|_| self.n_channels > 0),
            n_channels: self.n_channels,
            intra_gbs: self.bw_intra,
            inter_gbs: self.bw_inter,
            inter_latency_us: self.latency_inter,
            intra_path: path(&self.type_intra)?,
            inter_path: path(&self.type_inter)?,
            same_channels: self.same_channels != 0,
        })
    }
}

/// Returns the CPU of NCCL's numbers.
pub(crate) fn cpu_from_numbers(arch: i32, vendor: i32) -> Cpu {
    Cpu {
        arch: match arch {
            1 => CpuArch::X86,
            2 => CpuArch::Power,
            3 => CpuArch::Arm,
            4 => CpuArch::Mixed,
            _ => CpuArch::Unknown,
        },
        vendor: match vendor {
            1 => CpuVendor::Intel,
            2 => CpuVendor::Amd,
            3 => CpuVendor::Zhaoxin,
            4 => CpuVendor::Mixed,
            _ => CpuVendor::Unknown,
        },
    }
}
