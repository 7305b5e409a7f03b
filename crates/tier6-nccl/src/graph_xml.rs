//! Reads the graphs that NCCL writes with `NCCL_GRAPH_DUMP_FILE`.
//!
//! The file holds what the search found for one node: per graph its pattern, channels,
//! bandwidths and path types, per channel the order of GPUs. It does not name the machine; see
//! [`crate::Machine`] for what has to be added.

use crate::candidate::NcclAlgorithm;
use crate::communicator::{Graph, Pattern};
use crate::path_type::PathType;
use crate::release::Release;
use roxmltree::{Document, Node};

/// The graphs of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphFile {
    /// The graphs by algorithm.
    pub graphs: [Option<Graph>; 7],
    /// GPUs of the ring's first channel.
    pub local_ranks: Option<i32>,
    /// The ring passes network devices, so there are several nodes.
    pub uses_network: bool,
}

/// Why a text is not a graph file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadGraphError {
    /// The text is not XML.
    #[error("failed to read the graph file as XML: {0}")]
    Xml(#[from] roxmltree::Error),
    /// The root element is something else: a topology, for example.
    #[error(
        "line 1: expected `<graphs>`, found `<{0}>`; hint: NCCL writes graphs with \
         `NCCL_GRAPH_DUMP_FILE`; a topology file holds none"
    )]
    Root(String),
    /// An attribute is missing.
    #[error("line {line}: graph without `{name}`")]
    Missing {
        /// The line of the graph.
        line: u32,
        /// The attribute.
        name: &'static str,
    },
    /// An attribute has no sensible value.
    #[error("line {line}: `{name}` is `{value}`; expected {expected}")]
    Value {
        /// The line of the graph.
        line: u32,
        /// The attribute.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Two graphs are for one algorithm.
    #[error("line {line}: a second graph for {algorithm}")]
    TwoGraphs {
        /// The line of the second one.
        line: u32,
        /// The algorithm.
        algorithm: NcclAlgorithm,
    },
}

/// Reads a graph file. Path types may be names, as NCCL writes them, or numbers of `release`.
///
/// # Errors
///
/// Fails when the text is not XML, holds no graphs, or a graph misses or misuses an attribute.
pub fn read_graph_xml(text: &str, release: &Release) -> Result<GraphFile, ReadGraphError> {
    let document = Document::parse(text)?;
    let root = document.root_element();
    if root.tag_name().name() != "graphs" {
        return Err(ReadGraphError::Root(root.tag_name().name().to_owned()));
    }
    let mut file = GraphFile {
        graphs: [None; 7],
        local_ranks: None,
        uses_network: false,
    };
    for node in root.children().filter(|node| node.has_tag_name("graph")) {
        let element = Element::new(node);
        let algorithm = element.algorithm()?;
        let slot = &mut file.graphs[algorithm as usize];
        if slot.is_some() {
            let line = element.line;
            return Err(ReadGraphError::TwoGraphs { line, algorithm });
        }
        *slot = Some(element.graph(release)?);
        if algorithm == NcclAlgorithm::Ring {
            let count = |name| node.descendants().filter(|n| n.has_tag_name(name)).count();
            let channels = count("channel").max(1);
            let gpus = i32::try_from(count("gpu") / channels).ok();
            file.local_ranks = gpus.filter(|&gpus| gpus > 0);
            file.uses_network = count("net") > 0;
        }
    }
    Ok(file)
}

struct Element<'a, 'input> {
    node: Node<'a, 'input>,
    line: u32,
}

impl<'a, 'input> Element<'a, 'input> {
    fn new(node: Node<'a, 'input>) -> Self {
        let line = node.document().text_pos_at(node.range().start).row;
        Self { node, line }
    }

    fn algorithm(&self) -> Result<NcclAlgorithm, ReadGraphError> {
        let pattern = self.pattern()?;
        Ok(match pattern {
            Pattern::Ring => NcclAlgorithm::Ring,
            Pattern::Nvls => NcclAlgorithm::Nvls,
            Pattern::CollNetDirect => NcclAlgorithm::CollNetDirect,
            // Both are plain trees; the third search of NCCL is that of CollNetChain.
            Pattern::Tree if self.node.attribute("id") == Some("2") => NcclAlgorithm::CollNetChain,
            Pattern::BalancedTree | Pattern::SplitTree | Pattern::Tree => NcclAlgorithm::Tree,
        })
    }

    fn pattern(&self) -> Result<Pattern, ReadGraphError> {
        let number: i32 = self.parse("pattern", "1 to 6")?;
        Pattern::from_number(number).ok_or_else(|| self.wrong("pattern", "1 to 6"))
    }

    fn graph(&self, release: &Release) -> Result<Graph, ReadGraphError> {
        let n_channels: i32 = self.parse("nchannels", "a number of channels")?;
        if n_channels < 0 {
            return Err(self.wrong("nchannels", "a number of channels"));
        }
        Ok(Graph {
            pattern: Some(self.pattern()?).filter(|_| n_channels > 0),
            n_channels,
            intra_gbs: self.gbs("speedintra")?,
            inter_gbs: self.gbs("speedinter")?,
            inter_latency_us: match self.node.attribute("latencyinter") {
                Some(_) => self.gbs("latencyinter")?,
                None => 0.0,
            },
            intra_path: self.path("typeintra", release)?,
            inter_path: self.path("typeinter", release)?,
            same_channels: self.parse::<i32>("samechannels", "0 or 1")? != 0,
        })
    }

    fn gbs(&self, name: &'static str) -> Result<f32, ReadGraphError> {
        let expected = "a finite number of 0 or more";
        let value: f32 = self.parse(name, expected)?;
        if value.is_finite() && value >= 0.0 {
            Ok(value)
        } else {
            Err(self.wrong(name, expected))
        }
    }

    fn path(&self, name: &'static str, release: &Release) -> Result<PathType, ReadGraphError> {
        let text = self.attribute(name)?;
        let path = match text.parse() {
            Ok(number) => release.path_numbers.path(number),
            Err(_) => text.parse().ok(),
        };
        path.ok_or_else(|| self.wrong(name, "a path type such as `NVL`"))
    }

    fn parse<T: std::str::FromStr>(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<T, ReadGraphError> {
        self.attribute(name)?
            .trim()
            .parse()
            .map_err(|_| self.wrong(name, expected))
    }

    fn attribute(&self, name: &'static str) -> Result<&'a str, ReadGraphError> {
        let line = self.line;
        self.node
            .attribute(name)
            .ok_or(ReadGraphError::Missing { line, name })
    }

    fn wrong(&self, name: &'static str, expected: &'static str) -> ReadGraphError {
        ReadGraphError::Value {
            line: self.line,
            name,
            value: self.node.attribute(name).unwrap_or_default().to_owned(),
            expected,
        }
    }
}
