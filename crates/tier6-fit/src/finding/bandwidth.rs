//! Findings about bus bandwidth that no wire carried.

use super::{note, usable, warning};
use crate::analyze::AnalysisOptions;
use crate::wire::{RING_SHARE_MAX, nvls_wire};
use crate::{Finding, PointSummary, SeriesAnalysis};
use tier6_collective::{Algorithm, Collective};
use tier6_units::GbPerSec;

/// busbw that a ring reaches on eight GPUs with 450 GB/s per direction: five sources give
/// 367 to 371 (FACTS C.1, finding 4).
const RING_ON_450: f64 = 371.0;

pub(super) fn add(found: &mut Vec<Finding>, analysis: &SeriesAnalysis, options: &AnalysisOptions) {
    let points = usable(analysis);
    let peak = points
        .iter()
        .filter_map(|point| Some((*point, point.busbw?)))
        .max_by(|a, b| a.1.get().total_cmp(&b.1.get()));
    if let Some((point, busbw)) = peak {
        found.extend(above_ring(point, busbw, analysis, options));
    }
}

/// Explains a busbw that a ring cannot reach. Certain when the path says so or the line rate is
/// known; otherwise only a pointer.
fn above_ring(
    point: &PointSummary,
    busbw: GbPerSec,
    analysis: &SeriesAnalysis,
    options: &AnalysisOptions,
) -> Option<Finding> {
    let all_reduce = analysis.collective == Some(Collective::AllReduce);
    let rate = options.line_rate.filter(|rate| rate.get() > 0.0);
    let above_rate = rate.filter(|rate| busbw.get() > RING_SHARE_MAX * rate.get());
    if let (Some(wire), Some(path)) = (point.wire, point.path) {
        return Some(note(
            "busbw-is-not-wire",
            format!(
                "busbw {:.1} GB/s at {} assumes a ring, but {path} ran: the switch reduces, and each \
                 rank's link carried about {:.1} GB/s ({}); compare such values with other \
                 in-switch runs only, and use algbw {:.1} GB/s in models",
                busbw.get(),
                point.bytes,
                wire.get(),
                law(path.algorithm),
                point.algbw.get()
            ),
        ));
    }
    if point.path.is_some() && above_rate.is_none() {
        return None;
    }
    let estimate = (all_reduce)
        .then(|| analysis.ranks.exact())
        .flatten()
        .filter(|ranks| *ranks >= 4)
        .map(|ranks| nvls_wire(point.algbw, ranks));
    match (above_rate, estimate) {
        (Some(rate), Some(wire)) => Some(note(
            "busbw-above-ring",
            format!(
                "busbw {:.1} GB/s at {} is more than a ring gets out of {:.0} GB/s: likely reduction \
                 in the switch (NVLS or SHARP). With NVLS each rank's link carries algbw x (1 + 1/N), \
                 about {:.1} GB/s here; check the log or compare with NCCL_NVLS_ENABLE=0",
                busbw.get(),
                point.bytes,
                rate.get(),
                wire.get()
            ),
        )),
        (Some(rate), None) => Some(warning(
            "busbw-above-ring",
            format!(
                "busbw {:.1} GB/s at {} is above {:.0} % of the line rate {:.0} GB/s: the bus factor \
                 or the number of ranks may be wrong",
                busbw.get(),
                point.bytes,
                100.0 * RING_SHARE_MAX,
                rate.get()
            ),
        )),
        (None, Some(wire)) if rate.is_none() && busbw.get() > RING_ON_450 => Some(note(
            "busbw-may-exceed-wire",
            format!(
                "busbw {:.1} GB/s at {} is a scale that assumes a ring. A ring reaches about 367 of \
                 450 GB/s (H100, H200) and about 680 of 900 GB/s (B200); if this is more than that, \
                 the switch likely reduces (NVLS), and each rank's link carries algbw x (1 + 1/N), \
                 about {:.1} GB/s here. The log, or a run with NCCL_NVLS_ENABLE=0, tells",
                busbw.get(),
                point.bytes,
                wire.get()
            ),
        )),
        (None, Some(_) | None) => None,
    }
}

const fn law(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::CollNetDirect | Algorithm::CollNetChain => "algbw: M up and M down",
        _ => "algbw x (1 + 1/N)",
    }
}
