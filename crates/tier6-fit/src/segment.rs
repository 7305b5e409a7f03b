//! Ranges of sizes on one path: from the trace when it names paths, else from change points in
//! the measurement itself (FACTS E.4: relative error, at least 3 points each, BIC).

use crate::{Basis, FitLabel, PointSummary, Switch};
use std::collections::BTreeMap;
use std::ops::Range;
use tier6_collective::Path;
use tier6_stats::{SegmentRules, segment_lines};

/// What a detected segment may look like; with two points, noise is cut up (FACTS E.4).
pub const SEGMENT_RULES: SegmentRules = SegmentRules {
    min_points: 3,
    max_segments: 8,
    bic_gain_min: 6.0,
    // nccl-tests prints four to six digits.
    resolution: 1e-4,
};

/// A range of the usable points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment {
    pub(crate) label: FitLabel,
    pub(crate) basis: Basis,
    pub(crate) range: Range<usize>,
}

/// Returns the segments in order of size: by path when any point has one, else detected. A
/// curve that is one detected segment has none, since the global line is that segment.
pub(crate) fn segments(points: &[&PointSummary]) -> Vec<Segment> {
    if points.iter().any(|point| point.path.is_some()) {
        by_path(points)
    } else {
        detected(points)
    }
}

/// Runs of one path. A size without a path belongs to the run around it when both neighbours
/// agree; between two paths, or outside them all, it belongs to none.
fn by_path(points: &[&PointSummary]) -> Vec<Segment> {
    let mut runs: Vec<(Path, Range<usize>)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let Some(path) = point.path else { continue };
        match runs.last_mut() {
            Some((last, range)) if *last == path => range.end = index + 1,
            _ => runs.push((path, index..index + 1)),
        }
    }
    let mut seen: BTreeMap<Path, u32> = BTreeMap::new();
    runs.into_iter()
        .map(|(path, range)| {
            let nth = seen.entry(path).or_insert(0);
            *nth += 1;
            Segment {
                label: FitLabel::Path(path, *nth),
                basis: Basis::Path,
                range,
            }
        })
        .collect()
}

fn detected(points: &[&PointSummary]) -> Vec<Segment> {
    let sizes: Vec<f64> = points.iter().map(|point| point.bytes.as_f64()).collect();
    let times: Vec<f64> = points.iter().map(|point| point.median.get()).collect();
    let starts =
        segment_lines(&sizes, &times, SEGMENT_RULES).map_or(Vec::new(), |found| found.starts);
    if starts.len() < 2 {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).copied().chain([points.len()]);
    (1..)
        .zip(starts.iter().copied().zip(ends))
        .map(|(nth, (start, end))| Segment {
            label: FitLabel::Detected(nth),
            basis: Basis::Detected,
            range: start..end,
        })
        .collect()
}

/// Returns where one segment gives way to the next.
pub(crate) fn switches(segments: &[Segment], points: &[&PointSummary]) -> Vec<Switch> {
    segments
        .windows(2)
        .map(|pair| Switch {
            bytes: points[pair[1].range.start].bytes,
            from: pair[0].label.clone(),
            to: pair[1].label.clone(),
            basis: pair[1].basis,
        })
        .collect()
}
