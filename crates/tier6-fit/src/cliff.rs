//! Sizes where time jumps by more than the bytes do.
//!
//! On one path T = alpha + n / beta with alpha >= 0, so time never grows by a larger factor than
//! the bytes. Where it does, another regime begins. The lines of both regimes and the size
//! where they cross say whether the change comes too early: between the border and the crossing
//! the regime below would have been faster.

use tier6_stats::{Weighting, accuracy, fit_line_non_negative};
use tier6_units::{Bytes, GbPerSec, Micros};

use crate::Line;

/// Growth of time over growth of bytes that makes a cliff.
const STEEPNESS: f64 = 1.2;
/// Largest relative error of a point that still belongs to a regime's line.
const ON_LINE: f64 = 0.05;

/// A change of regime between two neighbouring sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// Last size of the regime below: the change lies above it.
    pub after: Bytes,
    /// First size of the regime above: the change lies at it or below.
    pub until: Bytes,
    /// Growth of the time between the two.
    pub time_ratio: f64,
    /// Growth of the bytes between the two.
    pub bytes_ratio: f64,
    /// The line below, with its number of points, when at least three lie on one.
    pub below: Option<(Line, usize)>,
    /// The line above, likewise.
    pub above: Option<(Line, usize)>,
    /// Where the two lines cross, when they do above the border.
    pub crossing: Option<Bytes>,
}

/// Finds the cliffs in points of any order; equal sizes are averaged, so that points of several
/// sweeps of one configuration may be given together and narrow the interval.
pub fn find_cliffs(points: &[(Bytes, Micros)]) -> Vec<Cliff> {
    let points = pool(points);
    let is_cliff = |index: usize| {
        let (low, high) = (points[index], points[index + 1]);
        // One slow size is a spike; after a cliff the time stays up.
        let stays = points.get(index + 2).is_none_or(|next| next.1 >= high.1);
        stays && high.1 / low.1 > STEEPNESS * high.0.as_f64() / low.0.as_f64()
    };
    let edges: Vec<usize> = (0..points.len().saturating_sub(1))
        .filter(|index| is_cliff(*index))
        .collect();
    edges
        .iter()
        .enumerate()
        .map(|(nth, edge)| {
            let start = if nth == 0 { 0 } else { edges[nth - 1] + 1 };
            let end = edges.get(nth + 1).map_or(points.len(), |next| next + 1);
            let (low, high) = (points[*edge], points[edge + 1]);
            let below = regime(points[start..=*edge].iter().rev());
            let above = regime(points[edge + 1..end].iter());
            Cliff {
                after: low.0,
                until: high.0,
                time_ratio: high.1 / low.1,
                bytes_ratio: high.0.as_f64() / low.0.as_f64(),
                below,
                above,
                crossing: below
                    .zip(above)
                    .and_then(|((below, _), (above, _))| crossing(below, above))
                    .filter(|bytes| *bytes > low.0),
            }
        })
        .collect()
}

/// Sorts by size, drops what has no time or no bytes, averages equal sizes.
fn pool(points: &[(Bytes, Micros)]) -> Vec<(Bytes, f64)> {
    let mut sorted: Vec<(Bytes, f64)> = points
        .iter()
        .map(|(bytes, time)| (*bytes, time.get()))
        .filter(|(bytes, time)| bytes.get() > 0 && time.is_finite() && *time > 0.0)
        .collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            (
                same[0].0,
                same.iter().map(|(_, t)| t).sum::<f64>() / same.len() as f64,
            )
        })
        .collect()
}

/// Returns the line through as many points from the cliff outwards as lie on one.
fn regime<'a>(outwards: impl Iterator<Item = &'a (Bytes, f64)>) -> Option<(Line, usize)> {
    let (mut sizes, mut times) = (Vec::new(), Vec::new());
    let mut found = None;
    for (bytes, time) in outwards {
        sizes.push(bytes.as_f64());
        times.push(*time);
        if sizes.len() < 3 {
            continue;
        }
        let Some(fit) = fit_line_non_negative(&sizes, &times, Weighting::Relative) else {
            break;
        };
        let predicted: Vec<f64> = sizes.iter().map(|size| fit.predict(*size)).collect();
        let close = accuracy(&times, &predicted).is_some_and(|got| got.max_relative <= ON_LINE);
        if !close || fit.slope <= 0.0 {
            break;
        }
        let line = Line {
            alpha: Micros::new(fit.intercept),
            beta: GbPerSec::from_us_per_byte(fit.slope),
        };
        found = Some((line, sizes.len()));
    }
    found
}

fn crossing(below: Line, above: Line) -> Option<Bytes> {
    let rise = above.alpha.get() - below.alpha.get();
    let bytes = rise / (below.beta.us_per_byte() - above.beta.us_per_byte());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range, checked here; a crossing is known to a few percent, not to a byte"
    )]
    (bytes.is_finite() && (1.0..1e18).contains(&bytes)).then(|| Bytes::new(bytes.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn on(line: (f64, f64), mib: u64) -> (Bytes, Micros) {
        let time = line.0 + (mib * MIB) as f64 / line.1 / 1e3;
        (Bytes::new(mib * MIB), Micros::new(time))
    }

    #[test]
    fn two_sweeps_narrow_the_interval_and_show_the_crossing() {
        let (below, above) = ((300.0, 20.0), (4000.0, 40.0));
        let coarse = [
            on(below, 8),
            on(below, 32),
            on(above, 64),
            on(above, 128),
            on(above, 256),
        ];
        let fine = [on(below, 32), on(below, 36), on(below, 40), on(below, 44)];
        let alone = find_cliffs(&coarse);
        assert_eq!(
            (alone.len(), alone[0].crossing),
            (1, None),
            "two points below are no line"
        );
        let both: Vec<_> = coarse.iter().chain(&fine).copied().collect();
        let [cliff] = find_cliffs(&both).try_into().expect("one cliff");
        assert_eq!(
            (cliff.after, cliff.until),
            (Bytes::new(44 * MIB), Bytes::new(64 * MIB))
        );
        let (line, points) = cliff.below.unwrap();
        assert_eq!(points, 5);
        assert!((line.beta.get() - 20.0).abs() < 1e-6);
        // 300 + n / 20e3 = 4000 + n / 40e3 at n = 148e6.
        assert!((cliff.crossing.unwrap().as_f64() - 148e6).abs() < 10.0);
    }

    #[test]
    fn one_slow_size_is_no_cliff() {
        let mut points: Vec<_> = (3..9).map(|power| on((20.0, 40.0), 1 << power)).collect();
        points[2].1 = Micros::new(5.0 * points[2].1.get());
        assert!(find_cliffs(&points).is_empty());
    }

    #[test]
    fn a_line_has_no_cliff() {
        let points: Vec<_> = (0..12).map(|power| on((0.0, 10.0), 1 << power)).collect();
        assert!(find_cliffs(&points).is_empty());
        assert!(find_cliffs(&[]).is_empty());
        assert!(find_cliffs(&points[..1]).is_empty());
    }
}
