//! Where time stands still, and where bandwidth is near its peak.

use crate::{LatencyRegion, PointSummary, Regions, Saturation};
use tier6_stats::median;
use tier6_units::Micros;

/// Distance from the small-message median that still counts as the same time.
const NEAR: f64 = 0.05;
/// Fewest sizes of a latency region, and the growth in bytes over it. Two sizes close together
/// take about the same time on any line.
const SIZES_MIN: usize = 3;
const GROWTH_MIN: f64 = 4.0;

/// Returns the regions of the usable points, ascending in size.
pub(crate) fn regions(points: &[&PointSummary], saturation_pct: f64) -> Regions {
    Regions {
        latency: latency_region(points),
        saturation: saturation(points, saturation_pct),
    }
}

/// Finds the leading sizes whose medians all lie within 5 % of their common median, ending with
/// a stable size.
///
/// An unstable size (CV above the limit) may lie inside the region but cannot extend it: at a
/// CV of 24 % over ten cycles the median itself is only known to about 9 % (standard error 1.25
/// CV / sqrt(10)), so that it cannot show a plateau of 5 %. On the scan of source document 000
/// this ends the region at 2 KiB, before the long-tailed sizes from 4 to 128 KiB, although
/// their medians stay near 18.4 us up to 32 KiB.
fn latency_region(points: &[&PointSummary]) -> Option<LatencyRegion> {
    let times: Vec<f64> = points.iter().map(|point| point.median.get()).collect();
    let stable = |index: usize| points[index].stable != Some(false);
    let candidates = prefix_within(&times, (1.0 + NEAR) / (1.0 - NEAR));
    let longest = (SIZES_MIN..=candidates)
        .rev()
        .find(|count| stable(*count - 1) && is_level(&times[..*count]))?;
    let (first, last) = (points[0].bytes, points[longest - 1].bytes);
    if last.as_f64() < GROWTH_MIN * first.as_f64() {
        return None;
    }
    let head = &times[..longest];
    Some(LatencyRegion {
        first,
        last,
        low: Micros::new(head.iter().copied().fold(f64::INFINITY, f64::min)),
        high: Micros::new(head.iter().copied().fold(0.0, f64::max)),
    })
}

/// Returns how many leading times lie within a factor of each other; none more can be level.
fn prefix_within(times: &[f64], factor: f64) -> usize {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    times
        .iter()
        .take_while(|time| {
            (low, high) = (low.min(**time), high.max(**time));
            high <= factor * low
        })
        .count()
}

fn is_level(times: &[f64]) -> bool {
    median(times).is_some_and(|middle| times.iter().all(|time| (time / middle - 1.0).abs() <= NEAR))
}

/// Finds the first size from which every algbw reaches the share of the peak.
fn saturation(points: &[&PointSummary], threshold_pct: f64) -> Option<Saturation> {
    if points.len() < 2 {
        return None;
    }
    let peak = points
        .iter()
        .map(|point| point.algbw)
        .max_by(|a, b| a.get().total_cmp(&b.get()))?;
    let reaches = |point: &&&PointSummary| point.algbw.get() >= peak.get() * threshold_pct / 100.0;
    let entry = points.iter().rev().take_while(reaches).last()?;
    Some(Saturation {
        threshold_pct,
        entry: entry.bytes,
        peak_algbw: peak,
    })
}
