//! Which sizes are judged together: the baseline's segments, cut where the new run took another
//! path.

use super::ComparedRun;
use super::size::{Matched, SizeVerdict};
use crate::{Basis, Fit, FitLabel, Loss, SeriesAnalysis};
use std::ops::Range;
use tier6_units::Bytes;

/// Sizes that are judged together.
pub(super) struct Part {
    pub(super) label: FitLabel,
    pub(super) range: Range<usize>,
    /// How the path changed here; `None` when it did not, or is not known.
    pub(super) moved: Option<String>,
}

/// Splits the sizes by the baseline's segments and by whether the known path changed.
pub(super) fn by_path(sizes: &[Matched], base: &ComparedRun) -> Vec<Part> {
    let moved = |size: &Matched| match (size.base.path, size.new.path) {
        (Some(before), Some(after)) if before != after => Some(format!("{before} to {after}")),
        _ => None,
    };
    split(sizes, base.analysis, moved)
}

/// Splits the sizes by the baseline's segments and by the zones over which a detected switch
/// point moved; `None` when no change looks like that.
///
/// Such a zone is a run of changed sizes, all in one direction, with unchanged sizes on both
/// sides, that reaches from a switch of one run to a switch of the other. Detection places a
/// switch to within one size, so a run must be longer than that.
pub(super) fn by_detected_switch(
    sizes: &[Matched],
    verdicts: &[SizeVerdict],
    base: &ComparedRun,
    new: &ComparedRun,
) -> Option<Vec<Part>> {
    let place = |bytes: Bytes| sizes.iter().filter(|size| size.bytes < bytes).count();
    let near = |switches: &[Bytes], index: usize| {
        let close = |bytes: &&Bytes| place(**bytes).abs_diff(index) <= 1;
        switches.iter().find(close).copied()
    };
    let (before, after) = (detected(base.analysis), detected(new.analysis));
    let mut zones: Vec<(Range<usize>, String)> = Vec::new();
    let mut start = 0;
    for run in verdicts.chunk_by(|a, b| a == b) {
        let zone = start..start + run.len();
        start = zone.end;
        let inside = zone.start > 0 && zone.end < verdicts.len();
        if run[0] == SizeVerdict::NotShown || run.len() < 2 || !inside {
            continue;
        }
        let upwards = near(&before, zone.start).zip(near(&after, zone.end));
        let downwards = near(&before, zone.end).zip(near(&after, zone.start));
        if let Some((old, new)) = upwards.or(downwards) {
            zones.push((zone, format!("a switch at {old} to one at {new}")));
        }
    }
    let moved = |size: &Matched| {
        let index = place(size.bytes);
        let zone = zones.iter().find(|(zone, _)| zone.contains(&index));
        zone.map(|(_, words)| words.clone())
    };
    (!zones.is_empty()).then(|| split(sizes, base.analysis, moved))
}

fn detected(analysis: &SeriesAnalysis) -> Vec<Bytes> {
    let switches = analysis.switches.iter();
    switches
        .filter(|switch| switch.basis == Basis::Detected)
        .map(|switch| switch.bytes)
        .collect()
}

fn split(
    sizes: &[Matched],
    analysis: &SeriesAnalysis,
    moved: impl Fn(&Matched) -> Option<String>,
) -> Vec<Part> {
    let segments: Vec<&Fit> = analysis
        .fits
        .iter()
        .filter(|fit| fit.loss == Loss::Relative)
        .filter(|fit| matches!(fit.label, FitLabel::Path(..) | FitLabel::Detected(_)))
        .collect();
    let label = |bytes: Bytes| {
        let around = segments
            .iter()
            .find(|fit| (fit.first..=fit.last).contains(&bytes));
        around.map_or(FitLabel::Global, |fit| fit.label.clone())
    };
    let mut parts: Vec<Part> = Vec::new();
    for (index, size) in sizes.iter().enumerate() {
        let (label, moved) = (label(size.bytes), moved(size));
        match parts.last_mut() {
            Some(part) if part.label == label && part.moved == moved => part.range.end = index + 1,
            _ => parts.push(Part {
                label,
                range: index..index + 1,
                moved,
            }),
        }
    }
    parts
}
