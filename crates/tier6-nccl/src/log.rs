//! Reads communicators out of NCCL's log (`NCCL_DEBUG=INFO`, subsystems INIT, ENV, GRAPH and
//! TUNING).
//!
//! Lines of all ranks come mixed; what one rank says is told apart by the host, process and
//! thread in front. Only ranks whose `comm … rank 0 nRanks …` line or tables are in the log
//! make a communicator. Lines of choices (`N Bytes -> Algo …`) are read by `tier6-measure`.

mod identify;
mod line;
mod printed;

use crate::candidate::NcclAlgorithm;
use crate::communicator::{Cpu, Graph, Pattern};
pub use identify::{Identified, IdentifyError, TableBasis};
use line::Fact;
pub use printed::PrintedTable;
use std::collections::BTreeMap;
use tier6_collective::LibraryVersion;

/// What a log says about communicators.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NcclLog {
    /// The version line, if there is one.
    pub version: Option<LibraryVersion>,
    /// Variables that the log reports as set, in the order of their names.
    pub env: BTreeMap<String, String>,
    /// Communicators in the order of their first line.
    pub communicators: Vec<LoggedCommunicator>,
    /// What was seen but not understood, one sentence each.
    pub warnings: Vec<String>,
}

/// What one rank of a communicator says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoggedCommunicator {
    /// Host, process and thread.
    pub source: String,
    /// Line of the first fact, from 1.
    pub line: u64,
    /// The rank that speaks.
    pub rank: Option<i32>,
    /// Ranks.
    pub n_ranks: Option<i32>,
    /// Nodes.
    pub n_nodes: Option<i32>,
    /// Ranks on this node.
    pub local_ranks: Option<i32>,
    /// Nodes share one NVLink domain.
    pub is_mnnvl: Option<bool>,
    /// The first CPU of the topology.
    pub cpu: Option<Cpu>,
    /// The topology has NVSwitches.
    pub has_nvswitch: bool,
    /// Channels of the communicator.
    pub n_channels: Option<i32>,
    /// Channels of NVLS.
    pub nvls_channels: Option<i32>,
    /// Chunk of NVLS, bytes.
    pub nvls_chunk_bytes: Option<u64>,
    /// Largest chunk of NVLSTree, bytes.
    pub nvls_tree_chunk_bytes_max: Option<u64>,
    /// The graphs by algorithm.
    pub graphs: [Option<Graph>; 7],
    /// The latency and bandwidth tables, where the log prints them.
    pub table: Option<PrintedTable>,
}

/// Reads a log. Never fails: lines that say nothing about a communicator are skipped.
pub fn read_log(text: &str) -> NcclLog {
    let mut log = NcclLog::default();
    let mut speakers: Vec<LoggedCommunicator> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    for (number, raw) in text.lines().enumerate() {
        let Some((source, message)) = line::split(raw) else {
            continue;
        };
        let Some(fact) = line::read(message) else {
            continue;
        };
        match fact {
            Fact::Version(version) => {
                log.version.get_or_insert(version);
                continue;
            }
            Fact::Env { name, value } => {
                log.env.entry(name).or_insert(value);
                continue;
            }
            _ => {}
        }
        let line = number as u64 + 1;
        let known = index.get(source).copied();
        let at = match known {
            Some(at) if !speakers[at].is_over(&fact) => at,
            _ => {
                // A second communicator of a thread stands on the same topology.
                let before = known.map(|at| &speakers[at]);
                speakers.push(LoggedCommunicator {
                    source: source.to_owned(),
                    line,
                    cpu: before.and_then(|before| before.cpu),
                    has_nvswitch: before.is_some_and(|before| before.has_nvswitch),
                    ..LoggedCommunicator::default()
                });
                index.insert(source.to_owned(), speakers.len() - 1);
                speakers.len() - 1
            }
        };
        if let Some(warning) = speakers[at].learn(fact) {
            log.warnings.push(format!("line {line}: {warning}"));
        }
    }
    log.communicators = speakers
        .into_iter()
        .filter(|speaker| {
            let has_graphs = speaker.graphs.iter().any(Option::is_some);
            let speaks_for_all = speaker.rank == Some(0) || speaker.table.is_some();
            has_graphs && (speaks_for_all || speaker.rank.is_none())
        })
        .collect();
    log
}

impl LoggedCommunicator {
    /// Says whether the fact starts another communicator: a ring search after the line that
    /// ends the searches of this one.
    fn is_over(&self, fact: &Fact) -> bool {
        let is_ring = matches!(fact, Fact::Graph(graph) if graph.pattern == Some(Pattern::Ring));
        is_ring && self.n_ranks.is_some()
    }

    /// Takes a fact; returns a warning when it contradicts an earlier one.
    fn learn(&mut self, fact: Fact) -> Option<String> {
        match fact {
            Fact::Version(_) | Fact::Env { .. } => None,
            Fact::Communicator {
                rank,
                n_ranks,
                n_nodes,
                local_ranks,
                is_mnnvl,
            } => {
                self.rank = Some(rank);
                self.n_ranks = Some(n_ranks);
                self.n_nodes = Some(n_nodes);
                self.local_ranks = Some(local_ranks);
                self.is_mnnvl = Some(is_mnnvl);
                None
            }
            Fact::Cpu(cpu) => {
                self.cpu.get_or_insert(cpu);
                None
            }
            Fact::NvSwitch => {
                self.has_nvswitch = true;
                None
            }
            Fact::Channels { coll, nvls } => {
                self.n_channels = Some(coll);
                self.nvls_channels = nvls.or(self.nvls_channels);
                None
            }
            Fact::RingChannels(channels) => {
                self.n_channels.get_or_insert(channels);
                None
            }
            Fact::NvlsChannels(channels) => {
                self.nvls_channels.get_or_insert(channels);
                None
            }
            Fact::NvlsTuning {
                channels,
                chunk_bytes,
                tree_chunk_bytes,
            } => {
                self.nvls_channels = Some(channels);
                self.nvls_chunk_bytes = Some(chunk_bytes);
                self.nvls_tree_chunk_bytes_max = Some(tree_chunk_bytes);
                None
            }
            Fact::Graph(graph) => self.learn_graph(graph),
            Fact::Table(row) => self.table.get_or_insert_default().learn(&row),
        }
    }

    /// The searches run in a fixed order: ring, tree, CollNetChain, CollNetDirect, NVLS. Only
    /// CollNetChain shares its pattern with another, the tree before it.
    fn learn_graph(&mut self, graph: Graph) -> Option<String> {
        let tree = NcclAlgorithm::Tree as usize;
        let algorithm = match graph.pattern {
            Some(Pattern::Ring) => NcclAlgorithm::Ring,
            Some(Pattern::Nvls) => NcclAlgorithm::Nvls,
            Some(Pattern::CollNetDirect) => NcclAlgorithm::CollNetDirect,
            Some(Pattern::Tree) if self.graphs[tree].is_some() => NcclAlgorithm::CollNetChain,
            Some(Pattern::BalancedTree | Pattern::SplitTree | Pattern::Tree) => NcclAlgorithm::Tree,
            None => return None,
        };
        let slot = &mut self.graphs[algorithm as usize];
        if slot.is_some_and(|before| before != graph) {
            return Some(format!(
                "a second {algorithm} graph of {} that differs from the first; the first is kept",
                self.source
            ));
        }
        *slot = Some(graph);
        None
    }
}
