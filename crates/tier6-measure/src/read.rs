//! From bytes to a [`Dataset`]: find the dialect by content, then read it.
//!
//! Tables and logs are read line by line in constant memory; documents (JSON, CSV, tables) are
//! held whole, up to [`DOCUMENT_BYTES_MAX`].

mod cleaning;
pub(crate) mod command;
pub(crate) mod consistency;
pub(crate) mod csv;
mod decode;
pub(crate) mod environment;
pub(crate) mod fork_json;
mod json_fields;
mod json_scan;
mod lines;
mod nccl_log;
mod nccl_tests;
pub(crate) mod nccl_tests_json;
pub(crate) mod osu;
pub(crate) mod rank_count;
pub(crate) mod rccl_csv;
pub(crate) mod rccl_json;
mod rows;
mod sheet;
pub(crate) mod table;
pub(crate) mod tier6_json;

use crate::{Dataset, Dialect, Parsed, Warning, WarningCode};
use decode::{decode, read_error};
use std::io::{BufRead, Read};
use tier6_collective::Collective;

/// The longest document that is held in memory; a CSV of short rows takes some twenty
/// times its size.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 128 << 20;

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
    /// A header that starts with `=` is a constant for every row: (`size_bytes`, `=8GiB`).
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
    /// Nothing of the format that the caller asked for was found.
    #[error("this is no `{dialect}`")]
    NotDialect {
        /// The format.
        dialect: Dialect,
    },
    /// The compressed data is damaged.
    #[error("damaged {format} data: {message}")]
    Compressed {
        /// `gzip` or `zstd`.
        format: &'static str,
        /// What the decoder said.
        message: String,
    },
    /// The data is compressed in a way that is not undone here.
    #[error("{format} data is not unpacked here")]
    Packed {
        /// `xz`, `bzip2` or `zip`.
        format: &'static str,
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
            Self::NotDialect { .. } => Some("without `--as` the content tells the format"),
            Self::Compressed { .. } => Some("was the download or the copy complete?"),
            Self::Packed { .. } => Some(
                "tier6 reads .gz and .zst; unpack others first: `xz -dc FILE | tier6 analyze -`",
            ),
            Self::TooLarge { .. } => {
                Some("split the file, or give the text output of the benchmark")
            }
            Self::Malformed { .. } => Some("`--as DIALECT` forces another reader"),
            Self::Contradiction { .. } => {
                Some("the log mixes runs, collectives or operators; give one log per run")
            }
        }
    }
}

/// A reader of documents, which are held whole.
struct DocumentReader {
    dialect: Dialect,
    looks_like: fn(&str) -> bool,
    read: fn(&str, &ReadOptions) -> Result<Parsed<Dataset>, ReadError>,
}

/// The readers that are asked before that of text streams, specific before general: the noise
/// around a JSON document may hold log lines, a benchmark's text never holds such a document.
const BEFORE_TEXT: [DocumentReader; 5] = [
    DocumentReader {
        dialect: Dialect::Tier6Json,
        looks_like: tier6_json::looks_like,
        read: tier6_json::read,
    },
    DocumentReader {
        dialect: Dialect::NcclTestsJson,
        looks_like: nccl_tests_json::looks_like,
        read: nccl_tests_json::read,
    },
    DocumentReader {
        dialect: Dialect::ForkJson,
        looks_like: fork_json::looks_like,
        read: fork_json::read,
    },
    DocumentReader {
        dialect: Dialect::RcclJsonLines,
        looks_like: rccl_json::looks_like,
        read: rccl_json::read,
    },
    DocumentReader {
        dialect: Dialect::Osu,
        looks_like: osu::looks_like,
        read: osu::read,
    },
];

/// The readers that are asked after it: log lines hold commas and tabs, too.
const AFTER_TEXT: [DocumentReader; 3] = [
    DocumentReader {
        dialect: Dialect::RcclCsv,
        looks_like: rccl_csv::looks_like,
        read: rccl_csv::read,
    },
    DocumentReader {
        dialect: Dialect::ForeignCsv,
        looks_like: csv::looks_like,
        read: csv::read,
    },
    DocumentReader {
        dialect: Dialect::TextTable,
        looks_like: table::looks_like,
        read: table::read,
    },
];

/// Reads one input, whatever it is.
///
/// # Errors
///
/// When nothing can be read; what can be read in part is returned with warnings instead.
///
/// ```
/// use tier6_measure::{ReadOptions, read};
/// let text = "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n\
///             1048576  262144  float  sum  -1  52.43  20.00  35.00  0\n";
/// let parsed = read(text.as_bytes(), &ReadOptions::default()).unwrap();
/// let series = &parsed.value.runs[0].series[0];
/// assert_eq!(series.ranks.exact(), Some(8));
/// ```
pub fn read(input: impl BufRead, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let decoded = decode(input)?;
    let parsed = match document_reader(&decoded.head, options.dialect) {
        Some(reader) => read_document(reader, decoded, options),
        None => nccl_tests::read(decoded, options),
    };
    let mut parsed = parsed.map_err(|error| match (error, options.dialect) {
        (ReadError::NotRecognised { .. }, Some(dialect)) => ReadError::NotDialect { dialect },
        (error, _) => error,
    })?;
    let dialect = parsed.value.dialect;
    if !options.columns.is_empty() && !dialect.is_mapped() {
        parsed.warnings.push(Warning {
            code: WarningCode::Unknown,
            line: None,
            message: format!(
                "`--map` names columns of a CSV or a table; this is {dialect}, whose columns are known"
            ),
        });
    }
    Ok(parsed)
}

/// Reads a whole text, whatever it holds: compression and encodings undone, what is not UTF-8
/// replaced.
///
/// # Errors
///
/// When the source fails or its compressed data is damaged.
pub fn read_text(input: impl BufRead) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    decode(input)?
        .text
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Chooses a reader of documents; `None` for a stream of text.
fn document_reader(head: &str, forced: Option<Dialect>) -> Option<&'static DocumentReader> {
    let fits = |reader: &&DocumentReader| (reader.looks_like)(head);
    let Some(forced) = forced else {
        let specific = BEFORE_TEXT.iter().find(fits);
        return specific.or_else(|| {
            let is_text = nccl_tests::looks_like(head);
            AFTER_TEXT.iter().filter(|_| !is_text).find(fits)
        });
    };
    let dialect = match forced {
        Dialect::Tier6Csv => Dialect::ForeignCsv,
        other => other,
    };
    let mut readers = BEFORE_TEXT.iter().chain(&AFTER_TEXT);
    readers.find(|reader| reader.dialect == dialect)
}

fn read_document(
    reader: &DocumentReader,
    decoded: decode::Decoded<'_>,
    options: &ReadOptions,
) -> Result<Parsed<Dataset>, ReadError> {
    let mut bytes = Vec::new();
    let mut text = decoded.text.take(DOCUMENT_BYTES_MAX + 1);
    text.read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(ReadError::TooLarge {
            dialect: reader.dialect,
        });
    }
    let (text, is_repaired) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut parsed = (reader.read)(&text, options)?;
    let lossy = is_repaired.then(|| "bytes that are not UTF-8 were replaced".to_owned());
    let converted = decoded
        .repaired
        .map(|encoding| format!("the text was {encoding} and was converted"));
    for message in [converted, lossy].into_iter().flatten() {
        parsed.warnings.push(Warning {
            code: WarningCode::Repaired,
            line: None,
            message,
        });
    }
    Ok(parsed)
}
