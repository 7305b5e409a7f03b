//! Findings about bus bandwidth that no wire carried.

use super::{note, usable, warning};
use crate::analyze::AnalysisOptions;
use crate::wire::{RING_SHARE_MAX, nvls_wire};
use crate::{Finding, PointSummary, SeriesAnalysis};
use tier6_collective::{Algorithm, Collective, Path};
use tier6_units::GbPerSec;

/// busbw that a ring reaches on eight GPUs with 450 GB/s per direction: five sources give
/// 367 to 371 (FACTS C.1, finding 4).
const RING_ON_450: f64 = 371.0;

pub(super) fn add(found: &mut Vec<Finding>, analysis: &SeriesAnalysis, options: &AnalysisOptions) {
    let peak = usable(analysis)
        .into_iter()
        .filter_map(|point| Some((point, point.busbw?)))
        .max_by(|a, b| a.1.get().total_cmp(&b.1.get()));
    let Some((point, busbw)) = peak else { return };
    let rate = options.line_rate.filter(|rate| rate.get() > 0.0);
    let above = rate.filter(|rate| busbw.get() > RING_SHARE_MAX * rate.get());
    found.extend(match (point.path, point.wire, rate, above) {
        (Some(path), Some(wire), ..) => Some(reduced_in_switch(point, busbw, path, wire)),
        (.., Some(rate)) => Some(above_rate(point, busbw, rate, analysis)),
        (None, _, None, _) => may_exceed(point, busbw, analysis),
        (None, _, Some(_), None) | (Some(_), None, _, None) => None,
    });
}

/// The path says that the switch reduced.
fn reduced_in_switch(point: &PointSummary, busbw: GbPerSec, path: Path, wire: GbPerSec) -> Finding {
    let streamed = matches!(
        path.algorithm,
        Algorithm::CollNetDirect | Algorithm::CollNetChain
    );
    let law = if streamed {
        "algbw: M up and M down"
    } else {
        "algbw x (1 + 1/N)"
    };
    note(
        "busbw-is-not-wire",
        format!(
            "busbw {:.1} GB/s at {} assumes a ring, but {path} ran: the switch reduces, and each rank's \
             link carried about {:.1} GB/s ({law}); compare such values with other in-switch runs \
             only, and use algbw {:.1} GB/s in models",
            busbw.get(),
            point.bytes,
            wire.get(),
            point.algbw.get()
        ),
    )
}

/// The line rate is known, and busbw leaves a ring behind.
fn above_rate(
    point: &PointSummary,
    busbw: GbPerSec,
    rate: GbPerSec,
    analysis: &SeriesAnalysis,
) -> Finding {
    match nvls_estimate(point, analysis) {
        Some(wire) => note(
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
        ),
        None => warning(
            "busbw-above-ring",
            format!(
                "busbw {:.1} GB/s at {} is above {:.0} % of the line rate {:.0} GB/s: the bus factor \
                 or the number of ranks may be wrong",
                busbw.get(),
                point.bytes,
                100.0 * RING_SHARE_MAX,
                rate.get()
            ),
        ),
    }
}

/// Neither path nor line rate is known: only a pointer, above what a ring reaches on 450 GB/s.
fn may_exceed(point: &PointSummary, busbw: GbPerSec, analysis: &SeriesAnalysis) -> Option<Finding> {
    let wire = nvls_estimate(point, analysis).filter(|_| busbw.get() > RING_ON_450)?;
    Some(note(
        "busbw-may-exceed-wire",
        format!(
            "busbw {:.1} GB/s at {} is a scale that assumes a ring. A ring reaches about 367 of 450 \
             GB/s (H100, H200) and about 680 of 900 GB/s (B200); if this is more than that, the \
             switch likely reduces (NVLS), and each rank's link carries algbw x (1 + 1/N), about \
             {:.1} GB/s here. The log, or a run with NCCL_NVLS_ENABLE=0, tells",
            busbw.get(),
            point.bytes,
            wire.get()
        ),
    ))
}

/// What the wire would carry under NVLS, which pays from four ranks on (FACTS B.6).
fn nvls_estimate(point: &PointSummary, analysis: &SeriesAnalysis) -> Option<GbPerSec> {
    let ranks = analysis.ranks.exact().filter(|ranks| *ranks >= 4)?;
    (analysis.collective == Some(Collective::AllReduce)).then(|| nvls_wire(point.algbw, ranks))
}
