//! One invocation of a benchmark: its set-up, series, footer, and how it ended.

use crate::{LibraryVersion, Series};
use tier6_units::{Bytes, GbPerSec};

/// One invocation of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What the header says.
    pub setup: RunSetup,
    /// The measured series, out-of-place first.
    pub series: Vec<Series>,
    /// What the footer says; `None` when there is none.
    pub footer: Option<Footer>,
    /// How the run ended.
    pub end: RunEnd,
    /// Number of table rows read.
    pub rows: u64,
    /// Line of the input where the run starts, from 1.
    pub first_line: u64,
}

/// Whether the data that the run moved was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correctness {
    /// Checked, nothing wrong.
    Passed,
    /// Wrong data in a row, or a footer that says so.
    Failed,
    /// The check was switched off.
    NotChecked,
    /// The input does not tell.
    NotStated,
}

impl Run {
    /// Returns what the rows and the footer together say of correctness.
    ///
    /// A footer of `0 OK` over rows that were not checked is not a pass.
    pub fn correctness(&self) -> Correctness {
        let samples = || {
            self.series
                .iter()
                .flat_map(|series| &series.points)
                .flat_map(|point| &point.samples)
        };
        let footer_failed = self.footer.as_ref().is_some_and(|footer| {
            footer.passed == Some(false) || footer.out_of_bounds.is_some_and(|n| n > 0)
        });
        let counted = samples().any(|sample| matches!(sample.wrong, crate::Wrong::Elements(_)));
        if footer_failed || samples().any(|sample| sample.wrong.is_wrong()) {
            Correctness::Failed
        } else if matches!(self.end, RunEnd::Aborted { .. }) {
            // What was checked was right, but nobody may call such a run passed.
            Correctness::NotStated
        } else if self.setup.validation == Some(false) {
            Correctness::NotChecked
        } else if counted
            || (self.setup.validation != Some(false) && self.footer_passed_with_errors())
        {
            Correctness::Passed
        } else if self.footer.is_some() {
            Correctness::NotChecked
        } else {
            Correctness::NotStated
        }
    }

    /// Says whether the footer passed rows that print the old error magnitude.
    fn footer_passed_with_errors(&self) -> bool {
        let magnitude = self
            .series
            .iter()
            .flat_map(|series| &series.points)
            .flat_map(|point| &point.samples)
            .any(|sample| matches!(sample.wrong, crate::Wrong::LargestError(_)));
        let passed = self
            .footer
            .as_ref()
            .is_some_and(|footer| footer.passed == Some(true) || footer.out_of_bounds == Some(0));
        magnitude && passed
    }
}

/// What a run's header says. Absent values were not printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSetup {
    /// Program and arguments, when the input has them.
    pub command: Option<String>,
    /// Threads per process.
    pub threads: Option<u32>,
    /// GPUs per thread.
    pub gpus: Option<u32>,
    /// First size of the sweep.
    pub min_bytes: Option<Bytes>,
    /// Last size asked for.
    pub max_bytes: Option<Bytes>,
    /// `Reducing maxBytes to N due to memory limitation`.
    pub reduced_max_bytes: Option<Bytes>,
    /// Distance between sizes.
    pub step: Option<SizeStep>,
    /// Warm-up iterations.
    pub warmup_iterations: Option<u32>,
    /// Timed iterations.
    pub iterations: Option<u32>,
    /// Operations per group (`-m`); a time of an aggregated run is no single-call latency.
    pub aggregated_iterations: Option<u32>,
    /// Cycles (`-N`).
    pub cycles: Option<u32>,
    /// Whether results were checked (`-c`).
    pub validation: Option<bool>,
    /// CUDA graph launches (`-G`), 0 for none.
    pub graph_launches: Option<u32>,
    /// Blocking mode (`-z`) as printed.
    pub blocking: Option<String>,
    /// Other `key: value` pairs of the parameter line, in order.
    pub extra: Vec<(String, String)>,
    /// The device list as far as it was printed.
    pub devices: Vec<Device>,
    /// NCCL or RCCL version.
    pub library_version: Option<LibraryVersion>,
    /// Environment variables, only those on the allow-list.
    pub environment: Vec<(String, String)>,
    /// Whether the parameter line or device list was seen at all.
    pub header_seen: bool,
}

/// Distance between the sizes of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeStep {
    /// Each size is the one before times this.
    Factor(f64),
    /// Each size is the one before plus this.
    Bytes(Bytes),
}

/// A line of the device list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Rank that uses it.
    pub rank: u32,
    /// Host name.
    pub host: String,
    /// Device index on the host.
    pub device: Option<u32>,
    /// PCI bus id as printed.
    pub bus_id: Option<String>,
    /// Device name.
    pub name: String,
}

/// What a run's footer says.
#[derive(Debug, Clone, PartialEq)]
pub struct Footer {
    /// `Out of bounds values : N`.
    pub out_of_bounds: Option<u64>,
    /// `OK` or `FAILED` as printed.
    pub passed: Option<bool>,
    /// `Avg bus bandwidth`: mean over all sizes and both placements.
    pub average_busbw: Option<GbPerSec>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The footer was read.
    Complete,
    /// No footer, or the sweep stops before its announced end.
    Unfinished,
    /// Failure lines follow the rows.
    Aborted {
        /// Hosts that reported a failure, sorted.
        hosts: Vec<String>,
        /// The first failure message.
        message: String,
    },
    /// The format has no notion of an end (a CSV, a table in a document).
    NotStated,
}
