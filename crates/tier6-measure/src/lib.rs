//! Measurements as engineers store them, read into one shape.
//!
//! [`read`] takes any bytes, finds the dialect by content and returns a [`Dataset`] with
//! [`Warning`]s that name lines. It never panics and never turns a cut number into a value.
//!
//! Deliberately absent: opening files, globs and progress bars (the facade `tier6` does that),
//! statistics and fits (`tier6-fit`).

mod dataset;
mod index;
mod read;
mod run;
mod trace;
mod warning;
mod write;

pub use dataset::{
    Dataset, Dialect, Placement, Point, PublishedStats, Ranks, Sample, Series, Wrong,
};
pub use index::{SetFacts, read_index};
pub use read::{ReadError, ReadOptions, read, read_text};
pub use run::{Correctness, Device, Footer, Run, RunEnd, RunSetup, SizeStep};
pub use tier6_collective::LibraryVersion;
pub use trace::{Selection, Trace};
pub use warning::{Parsed, Warning, WarningCode};
pub use write::{CsvSheet, to_json_lines, to_nccl_tests_text, to_tier6_csv};
