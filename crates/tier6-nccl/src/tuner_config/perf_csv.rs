//! The measurements that NVIDIA's `optimize_config.py` reads: one row per candidate and size.
//!
//! Columns go by name: `collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,
//! regBuff,bandwidth_gbps,latency_us`; others are ignored. `bandwidth_gbps` is in GB/s, its
//! name notwithstanding. Rows that cannot be read are skipped and said.

use csv::{ReaderBuilder, StringRecord, Trim};

const COLUMNS: [&str; 11] = [
    "collective",
    "size_bytes",
    "algorithm",
    "protocol",
    "channels",
    "nodes",
    "ranks",
    "pipeOps",
    "regBuff",
    "bandwidth_gbps",
    "latency_us",
];

/// One measurement. Names and conditions are as written, -1 for any.
#[derive(Debug, Clone, PartialEq)]
pub struct PerfRow {
    /// The collective's name.
    pub collective: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The algorithm's name.
    pub algorithm: String,
    /// The protocol's name.
    pub protocol: String,
    /// Channels.
    pub channels: i64,
    /// Nodes.
    pub nodes: i64,
    /// Ranks.
    pub ranks: i64,
    /// Pipelined operations.
    pub pipe_ops: i64,
    /// Registered buffers.
    pub reg_buff: i64,
    /// Bandwidth, GB/s.
    pub bandwidth_gbs: f64,
    /// Time of one call, us.
    pub latency_us: f64,
}

/// Measurements, and what was skipped.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerfRows {
    /// The rows in the order of the file.
    pub rows: Vec<PerfRow>,
    /// One sentence per row that was skipped.
    pub warnings: Vec<String>,
}

/// Why a text is no file of measurements.
#[derive(Debug, thiserror::Error)]
pub enum PerfCsvError {
    /// The header cannot be read.
    #[error("failed to read the header line: {0}")]
    Header(#[from] csv::Error),
    /// A column is missing.
    #[error("line 1: no column `{0}`")]
    Column(&'static str),
}

/// Reads measurements.
///
/// # Errors
///
/// Fails when the header lacks a column.
pub fn read_perf_csv(text: &str) -> Result<PerfRows, PerfCsvError> {
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = headers
            .iter()
            .position(|header| header == column)
            .ok_or(PerfCsvError::Column(column))?;
    }
    let mut rows = PerfRows::default();
    for record in reader.records() {
        let row = match &record {
            Ok(record) => read_row(record, &places).map_err(|why| {
                let line = record.position().map_or(0, csv::Position::line);
                format!("line {line}: {why}; the row is skipped")
            }),
            Err(error) => Err(format!("{error}; the row is skipped")),
        };
        match row {
            Ok(row) => rows.rows.push(row),
            Err(warning) => rows.warnings.push(warning),
        }
    }
    Ok(rows)
}

fn read_row(record: &StringRecord, places: &[usize; 11]) -> Result<PerfRow, String> {
    let text = |column: usize| record.get(places[column]).unwrap_or_default();
    let int = |column: usize| -> Result<i64, String> { parse(text(column), column) };
    let float = |column: usize| -> Result<f64, String> { parse(text(column), column) };
    Ok(PerfRow {
        collective: text(0).to_owned(),
        bytes: parse(text(1), 1)?,
        algorithm: text(2).to_owned(),
        protocol: text(3).to_owned(),
        channels: int(4)?,
        nodes: int(5)?,
        ranks: int(6)?,
        pipe_ops: int(7)?,
        reg_buff: int(8)?,
        bandwidth_gbs: float(9)?,
        latency_us: float(10)?,
    })
}

fn parse<T: std::str::FromStr>(text: &str, column: usize) -> Result<T, String> {
    let name = COLUMNS[column];
    text.parse()
        .map_err(|_| format!("{name} is `{}`", text.escape_debug()))
}
