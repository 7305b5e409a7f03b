//! Findings about bus bandwidth that no wire carried.

use super::{note, usable, warning};
use crate::analyze::AnalysisOptions;
use crate::wire::{RING_SHARE_MAX, nvls_wire};
use crate::{Finding, PointSummary, SeriesAnalysis};
use tier6_collective::{Algorithm, Collective, Path};
use tier6_measure::Ranks;
use tier6_units::GbPerSec;

/// busbw that a ring reaches on eight GPUs with 450 GB/s per direction: five sources give
/// 367 to 371 (FACTS C.1, finding 4).
const RING_ON_450: f64 = 371.0;

/// What a NIC of 200 Gb/s moves in practice, of 25 GB/s raw (maintainer in NVIDIA/nccl-tests#119).
const NIC_200G: f64 = 24.0;

/// Ranks above which several nodes are likely when nobody tells.
const ONE_NODE_RANKS: u32 = 8;

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
        (.., Some(rate)) if spans_nodes(analysis) => Some(network_ceiling(point, busbw, rate)),
        (.., Some(rate)) => Some(above_rate(point, busbw, rate, analysis)),
        (None, _, None, _) => {
            may_exceed(point, busbw, analysis).or_else(|| nic_ceiling(point, busbw, analysis))
        }
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

/// Says whether the ranks likely sit on several nodes.
fn spans_nodes(analysis: &SeriesAnalysis) -> bool {
    match (analysis.nodes, analysis.ranks) {
        (Some(nodes), _) => nodes > 1,
        (None, Ranks::Stated(ranks) | Ranks::Estimated { low: ranks, .. }) => {
            ranks > ONE_NODE_RANKS
        }
        (None, Ranks::Unknown) => false,
    }
}

/// Across nodes the rate of the network is the limit, and almost all of it can be had.
fn network_ceiling(point: &PointSummary, busbw: GbPerSec, rate: GbPerSec) -> Finding {
    let share = busbw.get() / rate.get();
    let text = format!(
        "busbw {:.1} GB/s at {} is {:.0} % of the line rate {:.0} GB/s",
        busbw.get(),
        point.bytes,
        100.0 * share,
        rate.get()
    );
    if share <= 1.0 {
        let at = "a network gives about 24 of 25 GB/s per 200 Gb/s, so this is the ceiling";
        note("at-line-rate", format!("{text}: {at}"))
    } else {
        let doubt =
            "the rate, the number of ranks or the bus factor may be wrong, or a switch reduces";
        warning("busbw-above-rate", format!("{text}: {doubt}"))
    }
}

/// Nobody tells the rate: a pointer where busbw is what 2, 4 or 8 NICs give at their best.
fn nic_ceiling(
    point: &PointSummary,
    busbw: GbPerSec,
    analysis: &SeriesAnalysis,
) -> Option<Finding> {
    let fits = |nics: &u32| (0.97..=1.03).contains(&(busbw.get() / (f64::from(*nics) * NIC_200G)));
    let nics = [2, 4, 8].into_iter().find(fits)?;
    // busbw is the load of a node's cables on a ring only, and slow pairs look like one NIC.
    let is_ring = matches!(
        analysis.collective,
        Some(Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter)
    );
    (is_ring && spans_nodes(analysis)).then(|| {
        note(
            "nic-ceiling",
            format!(
                "busbw {:.1} GB/s at {} is {nics} x {:.1} GB/s. A NIC of 200 Gb/s gives about 24 of 25 \
                 GB/s raw, so with {nics} of them per node this is the ceiling (estimate; state \
                 --line-rate to check)",
                busbw.get(),
                point.bytes,
                busbw.get() / f64::from(nics)
            ),
        )
    })
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
