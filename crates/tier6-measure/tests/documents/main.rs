//! The readers of documents (CSV, tables, JSON, OSU) and the writers, against small fixtures with
//! one trap each, against the published measurements, and, where they are at hand, against the
//! published inputs with the same traps.

mod csv;
mod csv_mapping;
mod fork_json;
mod material;
mod nccl_tests_json;
mod osu;
mod rccl_csv;
mod rccl_json;
mod round_trip;
mod table;

use tier6_measure::{Dataset, Parsed, ReadOptions, read};

/// The warnings as people read them.
fn said(parsed: &Parsed<Dataset>) -> String {
    let lines: Vec<String> = parsed.warnings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// The error of an input that cannot be read.
fn fails(text: &str) -> String {
    read(text.as_bytes(), &ReadOptions::default())
        .unwrap_err()
        .to_string()
}
