//! Sweeps for the tests: files of the measurements, and truths with noise.

use std::path::{Path, PathBuf};
use tier6_collective::{Collective, DataType, Protocol, RedOp};
use tier6_fit::{AnalysisOptions, SeriesAnalysis, analyze_run};
use tier6_measure::{ReadOptions, read};
use tier6_nccl::{Candidate, NcclAlgorithm, NcclCollective};
use tier6_stats::Rng;
use tier6_study::{Forced, Sweep, SweepPoint, sweeps_of_run};
use tier6_units::{Bytes, Micros};

pub const RING_LL: Candidate = Candidate {
    algorithm: NcclAlgorithm::Ring,
    protocol: Protocol::Ll,
};
pub const RING_SIMPLE: Candidate = Candidate {
    algorithm: NcclAlgorithm::Ring,
    protocol: Protocol::Simple,
};
pub const TREE_LL: Candidate = Candidate {
    algorithm: NcclAlgorithm::Tree,
    protocol: Protocol::Ll,
};
pub const TREE_SIMPLE: Candidate = Candidate {
    algorithm: NcclAlgorithm::Tree,
    protocol: Protocol::Simple,
};

fn folder() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["data/measurements", "../shared/data"].map(|place| workspace.join(place));
    let found = places
        .iter()
        .find(|place| place.join("INDEX.tsv").is_file());
    let found = found.expect("neither data/measurements nor ../shared/data is there");
    eprintln!("measurements of {}", found.display());
    found.clone()
}

/// Reads and analyses a text; without ranks they are in the text, as is the collective.
pub fn analyzed(text: &str, ranks: Option<u32>) -> Vec<SeriesAnalysis> {
    let options = ReadOptions {
        dialect: None,
        collective: ranks.map(|_| Collective::AllReduce),
        ranks,
        nodes: ranks.map(|_| 1),
        columns: Vec::new(),
    };
    let dataset = read(text.as_bytes(), &options).unwrap().value;
    analyze_run(&dataset.runs[0], 0, &[], &AnalysisOptions::STANDARD)
}

/// Reads one AllReduce file; forced is what the words of its name say.
pub fn file(name: &str, ranks: u32) -> Sweep {
    let text = std::fs::read_to_string(folder().join(format!("{name}.csv"))).unwrap();
    let forced = Forced::from_file_name(name).unwrap();
    let sweeps = sweeps_of_run(name, forced, &analyzed(&text, Some(ranks))).unwrap();
    assert_eq!(sweeps.len(), 1, "{name}");
    sweeps.into_iter().next().unwrap()
}

/// Returns the L40S family of some ranks.
pub fn l40s(ranks: u32) -> Vec<Sweep> {
    let runs: &[&str] = match ranks {
        2 => &[
            "default1", "default3", "ring", "tree", "ll", "ll128", "simple",
        ],
        _ => &[
            "default1", "default2", "default3", "ring", "ll128", "simple",
        ],
    };
    runs.iter()
        .map(|run| file(&format!("l40s_ar_{ranks}gpu_{run}_yumibyte"), ranks))
        .collect()
}

/// Returns a sweep of sizes from 8 B to 128 MiB, the truth with noise of `sigma`.
pub fn drawn(forced: Forced, truth: impl Fn(f64) -> f64, sigma: f64, rng: &mut Rng) -> Sweep {
    let points = (3..28).map(|exponent| {
        let bytes = 1_u64 << exponent;
        let us = truth(bytes as f64) * (1.0 + sigma * rng.normal());
        SweepPoint {
            bytes: Bytes::new(bytes),
            time: Micros::new(us),
            other_placement: None,
            spread: None,
            path: None,
            predicted: None,
        }
    });
    Sweep {
        label: forced.to_string(),
        collective: NcclCollective::AllReduce,
        ranks: Some(8),
        nodes: Some(1),
        datatype: DataType::Float,
        redop: RedOp::Sum,
        forced,
        channels: None,
        points: points.collect(),
    }
}

/// T = alpha + n/beta, in us and GB/s.
pub fn line(alpha: f64, beta: f64) -> impl Fn(f64) -> f64 {
    move |bytes| alpha + bytes / beta / 1e3
}

/// Two regions: LL is best below some hundred KiB, Simple above; in each, Tree is as good as
/// Ring or nearly so.
pub fn two_regions(sigma: f64, rng: &mut Rng) -> Vec<Sweep> {
    vec![
        drawn(Forced::path(RING_LL), line(10.0, 12.0), sigma, rng),
        drawn(Forced::path(RING_SIMPLE), line(24.0, 80.0), sigma, rng),
        drawn(Forced::path(TREE_LL), line(10.0, 9.0), sigma, rng),
        drawn(Forced::path(TREE_SIMPLE), line(24.0, 79.0), sigma, rng),
    ]
}
