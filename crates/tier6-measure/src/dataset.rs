//! What a measurement file holds: runs of series of points of samples.

use crate::{Run, Trace};
use std::fmt;
use tier6_collective::{Collective, DataType, Path, RedOp};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Everything that one input holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The format that the content was recognised as.
    pub dialect: Dialect,
    /// The benchmark runs, in the order of the input.
    pub runs: Vec<Run>,
    /// What NCCL logged about itself.
    pub trace: Trace,
}

/// A format that a reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// The table that nccl-tests and rccl-tests print, with or without log lines in it.
    NcclTestsText,
    /// NCCL or RCCL log lines without a benchmark table.
    NcclLog,
    /// The `-J` file of nccl-tests.
    NcclTestsJson,
    /// JSON printed by forks of nccl-tests: sizes as object keys.
    ForkJson,
    /// rccl-tests' JSON lines, one object per placement.
    RcclJsonLines,
    /// rccl-tests' CSV.
    RcclCsv,
    /// tier6's own CSV, the columns of the bundled data.
    Tier6Csv,
    /// tier6's own JSON lines, an object per sample.
    Tier6Json,
    /// Any other CSV whose columns were recognised by name or mapped by the user.
    ForeignCsv,
    /// Text tables of tab-separated columns, as in the source documents.
    TextTable,
    /// OSU micro-benchmarks.
    Osu,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 11] = [
        Self::NcclTestsText,
        Self::NcclLog,
        Self::NcclTestsJson,
        Self::ForkJson,
        Self::RcclJsonLines,
        Self::RcclCsv,
        Self::Tier6Csv,
        Self::Tier6Json,
        Self::ForeignCsv,
        Self::TextTable,
        Self::Osu,
    ];

    /// Returns the name in JSON and for `--as`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NcclTestsText => "nccl-tests",
            Self::NcclLog => "nccl-log",
            Self::NcclTestsJson => "nccl-tests-json",
            Self::ForkJson => "fork-json",
            Self::RcclJsonLines => "rccl-json-lines",
            Self::RcclCsv => "rccl-csv",
            Self::Tier6Csv => "tier6-csv",
            Self::Tier6Json => "tier6-json",
            Self::ForeignCsv => "csv",
            Self::TextTable => "table",
            Self::Osu => "osu",
        }
    }

    /// Says whether the user may name the columns.
    pub(crate) const fn is_mapped(self) -> bool {
        matches!(self, Self::Tier6Csv | Self::ForeignCsv | Self::TextTable)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The sweep of one call signature: points that may be fitted together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The collective, when the input or the user names it.
    pub collective: Option<Collective>,
    /// How many ranks took part.
    pub ranks: Ranks,
    /// How many nodes, when known.
    pub nodes: Option<u32>,
    /// Element type.
    pub datatype: Option<DataType>,
    /// Reduction operator; `None` for collectives without one, or when not given.
    pub redop: Option<RedOp>,
    /// Root rank of a rooted collective.
    pub root: Option<u32>,
    /// Whether send and receive buffers are the same.
    pub placement: Placement,
    /// The points in ascending order of size, each size once.
    pub points: Vec<Point>,
}

/// Whether the operation ran on one buffer or on two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "nccl-tests' own terms")]
pub enum Placement {
    OutOfPlace,
    InPlace,
}

impl Placement {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfPlace => "out_of_place",
            Self::InPlace => "in_place",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is known of the number of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// The input or the user says so, or printed digits leave one value only.
    Stated(u32),
    /// Inferred from busbw / algbw within the rounding of the printed digits.
    Estimated {
        /// Fewest ranks that fit.
        low: u32,
        /// Most ranks that fit.
        high: u32,
    },
    /// Nothing is known.
    Unknown,
}

impl Ranks {
    /// Returns the number when it is certain: stated, or an interval of one.
    pub const fn exact(self) -> Option<u32> {
        match self {
            Self::Stated(n) => Some(n),
            Self::Estimated { low, high } if low == high => Some(low),
            Self::Estimated { .. } | Self::Unknown => None,
        }
    }
}

/// One message size with everything measured at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Message size, in nccl-tests' meaning for the collective.
    pub bytes: Bytes,
    /// Element count as printed (per peer for gather-like collectives).
    pub count: Option<u64>,
    /// One sample per cycle or repetition, in the order of the input.
    pub samples: Vec<Sample>,
    /// Times of single iterations where the tool wrote them, else empty.
    pub iterations: Vec<Micros>,
    /// Statistics that the source published instead of samples.
    pub published: Option<PublishedStats>,
    /// The path that ran, from a path column (a trace is joined later).
    pub path: Option<Path>,
    /// NCCL's own predicted time, from a column (a trace is joined later).
    pub tuner: Option<Micros>,
}

/// One measured time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Time per operation; `None` when only a bandwidth is given.
    pub time: Option<Micros>,
    /// Algorithm bandwidth as printed.
    pub algbw: Option<GbPerSec>,
    /// Bus bandwidth as printed.
    pub busbw: Option<GbPerSec>,
    /// What the correctness check said.
    pub wrong: Wrong,
    /// Line of the input, from 1; 0 when the format has no lines.
    pub line: u64,
}

/// The correctness column of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// Number of wrong elements.
    Elements(u64),
    /// nccl-tests before 2.13: largest deviation from the reference, a magnitude and not a count.
    LargestError(f64),
    /// `N/A`, null, or no such column.
    NotChecked,
}

impl Wrong {
    /// Says whether the check proved wrong data.
    ///
    /// Old nccl-tests print the rounding error of a float sum, which is ordinary below 1e-3;
    /// a larger or non-finite one is wrong data.
    pub fn is_wrong(self) -> bool {
        match self {
            Self::Elements(n) => n > 0,
            Self::LargestError(error) => error.is_nan() || error.abs() >= 1e-3,
            Self::NotChecked => false,
        }
    }
}

/// Statistics over samples that the source does not give one by one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedStats {
    /// Number of samples behind them, when stated.
    pub samples: Option<u32>,
    /// Median time.
    pub median: Micros,
    /// 95th percentile of the time.
    pub p95: Option<Micros>,
    /// Coefficient of variation in percent.
    pub cv_pct: Option<f64>,
}
