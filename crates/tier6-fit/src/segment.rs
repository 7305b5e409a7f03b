//! Ranges of sizes on one path: from the trace when it names paths, else from change points in
//! the measurement itself (FACTS E.4: relative error, at least 3 points each, BIC).

use crate::{Basis, FitLabel, PointSummary, Switch};
use std::collections::BTreeMap;
use std::ops::Range;
use tier6_collective::Path;
use tier6_stats::{SegmentRules, segment_lines};

/// What a detected segment may look like; with two points, noise is cut up (FACTS E.4).
const SEGMENT_RULES: SegmentRules = SegmentRules {
    min_points: 3,
    max_segments: 8,
    bic_gain_min: 6.0,
    // nccl-tests prints four to six digits.
    resolution: 1e-4,
};

/// Most sizes that the search looks at, since its cost grows with their square; of more, evenly
/// spaced ones stand for the others.
const SEARCHED_MAX: usize = 4000;

/// Returns where detected segments start, 0 first, for ascending sizes in bytes and times in
/// us; `None` when there are too few points for one line.
pub fn segment_starts(sizes: &[f64], times: &[f64]) -> Option<Vec<usize>> {
    let step = sizes.len().div_ceil(SEARCHED_MAX).max(1);
    let thin = |values: &[f64]| values.iter().step_by(step).copied().collect::<Vec<f64>>();
    let found = segment_lines(&thin(sizes), &thin(times), SEGMENT_RULES)?;
    Some(found.starts.iter().map(|start| start * step).collect())
}

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
    let starts = segment_starts(&sizes, &times).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sizes_are_searched_in_even_steps() {
        let sizes: Vec<f64> = (1..=9000).map(|n| f64::from(n) * 1024.0).collect();
        let time = |(index, size): (usize, &f64)| {
            if index < 5000 {
                10.0 + size / 20e3
            } else {
                60.0 + size / 80e3
            }
        };
        let times: Vec<f64> = sizes.iter().enumerate().map(time).collect();
        let starts = segment_starts(&sizes, &times).unwrap();
        assert_eq!(starts.len(), 2, "{starts:?}");
        assert!(starts[1].abs_diff(5000) <= 3, "{starts:?}");
    }
}
