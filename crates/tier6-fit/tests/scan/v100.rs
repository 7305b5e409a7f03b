//! The scan of source document 000 (4 x V100, NVLink pairs, NCCL 2.22.3, AllReduce int8), as a
//! table: bytes, median us, P95 us, CV %, protocol, tuner us.

use tier6_collective::{Algorithm, Collective, DataType, Path, Protocol, RedOp};
use tier6_fit::{AnalysisOptions, SeriesAnalysis, analyze};
use tier6_measure::{Placement, Point, PublishedStats, Ranks, Selection, Series};
use tier6_units::{Bytes, Micros};

/// Whether the analysis is told which path ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    FromTrace,
    Unknown,
}

/// log2 bytes, median, P95, CV, tuner's prediction where the document prints it.
const SCAN: [(u32, f64, f64, f64, Option<f64>); 31] = [
    (0, 18.435, 19.763, 4.71, Some(10.2)),
    (1, 18.315, 19.012, 3.78, None),
    (2, 18.410, 19.810, 4.27, None),
    (3, 18.465, 18.765, 3.29, None),
    (4, 18.400, 19.301, 3.07, None),
    (5, 18.285, 19.105, 2.37, None),
    (6, 18.385, 18.892, 2.41, None),
    (7, 18.110, 31.925, 36.12, None),
    (8, 18.215, 19.035, 2.85, None),
    (9, 18.350, 18.975, 2.60, None),
    (10, 18.330, 19.336, 2.55, Some(10.239)),
    (11, 18.490, 19.314, 2.30, None),
    (12, 18.845, 27.651, 23.75, None),
    (13, 18.370, 27.343, 23.11, None),
    (14, 18.305, 26.983, 23.19, None),
    (15, 19.010, 31.525, 24.07, None),
    (16, 19.640, 28.465, 21.70, None),
    (17, 20.595, 30.901, 24.79, None),
    (18, 23.390, 24.389, 1.92, Some(20.282)),
    (19, 33.515, 35.008, 2.03, Some(30.365)),
    (20, 49.620, 51.313, 1.68, Some(39.647)),
    (21, 73.985, 76.617, 1.80, Some(53.894)),
    (22, 105.105, 107.268, 1.04, Some(81.229)),
    (23, 155.030, 157.361, 0.79, None),
    (24, 269.645, 272.896, 0.62, Some(238.515)),
    (25, 469.645, 473.039, 0.36, None),
    (26, 865.005, 869.207, 0.25, Some(867.661)),
    (27, 1692.910, 1694.500, 0.04, None),
    (28, 3347.170, 3349.381, 0.04, Some(3384.243)),
    (29, 6629.795, 6633.874, 0.03, None),
    (30, 13246.050, 13261.500, 0.06, Some(13450.572)),
];

/// Returns the scan as a series without paths, and what NCCL logged.
pub fn series() -> (Series, Vec<Selection>) {
    let points = SCAN
        .iter()
        .map(|(power, median, p95, cv, _)| Point {
            bytes: Bytes::new(1 << power),
            count: None,
            samples: Vec::new(),
            iterations: Vec::new(),
            published: Some(PublishedStats {
                samples: Some(10),
                median: Micros::new(*median),
                p95: Some(Micros::new(*p95)),
                cv_pct: Some(*cv),
            }),
            path: None,
            tuner: None,
        })
        .collect();
    let selections = SCAN
        .iter()
        .map(|(power, .., tuner)| Selection {
            collective: None,
            bytes: Bytes::new(1 << power),
            path: Path {
                algorithm: Algorithm::Ring,
                protocol: match power {
                    0..=19 => Protocol::Ll,
                    20..=21 => Protocol::Ll128,
                    _ => Protocol::Simple,
                },
            },
            time: tuner.map(Micros::new),
            channels: None,
            line: 1,
            repeats: 3,
        })
        .collect();
    let series = Series {
        collective: Some(Collective::AllReduce),
        ranks: Ranks::Stated(4),
        nodes: Some(1),
        datatype: Some(DataType::Int8),
        redop: Some(RedOp::Sum),
        root: None,
        placement: Placement::OutOfPlace,
        points,
    };
    (series, selections)
}

/// Analyses the scan.
pub fn scan(paths: Paths) -> SeriesAnalysis {
    let (series, selections) = series();
    let selections = match paths {
        Paths::FromTrace => selections,
        Paths::Unknown => Vec::new(),
    };
    analyze(&series, 0, &selections, &AnalysisOptions::STANDARD)
}
