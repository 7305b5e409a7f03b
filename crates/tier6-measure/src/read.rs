//! From bytes to a [`Dataset`]: find the dialect by content, then read it.
//!
//! Tables and logs are read line by line in constant memory; documents (JSON, CSV, tables) are
//! held whole, up to [`DOCUMENT_BYTES_MAX`].

pub(crate) mod command;
pub(crate) mod consistency;
pub(crate) mod csv;
pub(crate) mod environment;
pub(crate) mod fork_json;
mod json_fields;
mod json_scan;
pub(crate) mod nccl_tests_json;
pub(crate) mod osu;
pub(crate) mod rank_count;
pub(crate) mod rccl_csv;
pub(crate) mod rccl_json;
mod rows;
mod sheet;
pub(crate) mod table;

use crate::{Dataset, Dialect, Parsed};
use std::io::BufRead;
use tier6_collective::Collective;

/// The longest document that is held in memory.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 512 << 20;

/// What the user says about an input that the input may not say itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Read as this dialect, whatever the content looks like.
    pub dialect: Option<Dialect>,
    /// The collective, for inputs that do not name it.
    pub collective: Option<Collective>,
    /// The number of ranks, for inputs that do not state it.
    pub ranks: Option<u32>,
    /// The number of nodes, for inputs that do not state it.
    pub nodes: Option<u32>,
    /// Columns of a foreign CSV: (our name, their header), for example (`time_us`, `Latency`).
    pub columns: Vec<(String, String)>,
}

/// Why an input cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source failed while being read.
    #[error("read failed: {0}")]
    Io(#[from] std::io::Error),
    /// The input has no bytes, or only blanks.
    #[error("the input is empty")]
    Empty,
    /// Nothing that a reader knows was found.
    #[error("no benchmark table or NCCL log line found{}", .line.map_or(String::new(), |line| format!(" (looked at {line} lines)")))]
    NotRecognised {
        /// How many lines were looked at.
        line: Option<u64>,
    },
    /// The compressed data is damaged.
    #[error("damaged {format} data: {message}")]
    Compressed {
        /// `gzip` or `zstd`.
        format: &'static str,
        /// What the decoder said.
        message: String,
    },
    /// A document is larger than is held in memory.
    #[error("a {dialect} document of more than {} MiB is not read", DOCUMENT_BYTES_MAX >> 20)]
    TooLarge {
        /// The dialect.
        dialect: Dialect,
    },
    /// The document breaks its own syntax where nothing can be recovered.
    #[error("line {line}: {message}")]
    Malformed {
        /// Line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// Two TUNING lines say different things of one size.
    #[error(
        "lines {first_line} and {second_line}: contradictory choices for {bytes} bytes: `{first}` and `{second}`"
    )]
    Contradiction {
        /// Size in question.
        bytes: u64,
        /// Line of the first choice.
        first_line: u64,
        /// Line of the second choice.
        second_line: u64,
        /// The first choice.
        first: String,
        /// The second choice.
        second: String,
    },
}

impl ReadError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(_) => None,
            Self::Empty => Some("the benchmark may have written to stderr or another file"),
            Self::NotRecognised { .. } => Some(
                "tier6 reads nccl-tests, rccl-tests and OSU output, NCCL logs, JSON and CSV; \
                 `--as DIALECT` forces one, `--map time_us=HEADER` names the columns of a CSV",
            ),
            Self::Compressed { .. } => Some("was the download or the copy complete?"),
            Self::TooLarge { .. } => {
                Some("split the file, or give the text output of the benchmark")
            }
            Self::Malformed { .. } => Some("`--as DIALECT` forces another reader"),
            Self::Contradiction { .. } => {
                Some("the log mixes runs or communicators; give one log per run")
            }
        }
    }
}

/// Reads one input, whatever it is.
///
/// # Errors
///
/// When nothing can be read; what can be read in part is returned with warnings instead.
pub fn read(_input: impl BufRead, _options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    Err(ReadError::NotRecognised { line: None })
}
