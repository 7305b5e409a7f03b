//! Finds times that something else disturbed: a warm-up in the first row, a neighbour on the
//! network, a daemon on one rank. Such a disturbance only ever slows a size down.
//!
//! Two witnesses speak against a time. The other placement of the same run measured the same
//! size a moment later; and the sizes on both sides are rarely both far faster. Real dips exist
//! (a tuner that switches late gives a falling time), so the second witness only counts half, and
//! not at all where the first one confirms the time.

use super::{Knot, KnownPoint};
use tier6_stats::{median, relative_center};

/// Logarithm of the ratio by which the other placement must be faster, beyond what is usual in
/// that part of the sweep. Two placements of one run differ by 5 % in the median.
const WITNESS: f64 = 0.1;
/// Sizes to each side whose placements tell what is usual.
const USUAL_REACH: usize = 2;
/// How many times slower than both its neighbours a size must be.
const BUMP: f64 = 1.5;

/// Returns the points, in the order given (ascending), with disturbed times replaced.
pub(super) fn without_spikes(points: &[KnownPoint]) -> Vec<Knot> {
    let witnessed: Vec<Knot> = (0..points.len())
        .map(|index| Knot {
            us: by_other_placement(points, index),
            ..Knot::from(&points[index])
        })
        .collect();
    (0..witnessed.len())
        .map(|index| Knot {
            us: if is_confirmed(&points[index]) {
                witnessed[index].us
            } else {
                by_neighbours(&witnessed, index)
            },
            ..witnessed[index]
        })
        .collect()
}

/// Says of each point whether something else disturbed it, so that its time is not what the call
/// costs.
pub(crate) fn disturbed(points: &[KnownPoint]) -> Vec<bool> {
    let cleaned = without_spikes(points);
    let pairs = points.iter().zip(cleaned);
    pairs
        .map(|(point, knot)| (point.time.get() / knot.us).ln() > WITNESS)
        .collect()
}

/// Returns ln(other placement / time).
fn log_ratio(point: &KnownPoint) -> Option<f64> {
    let other = point.other_placement?.get();
    Some((other / point.time.get()).ln())
}

/// Says whether both placements saw about the same.
fn is_confirmed(point: &KnownPoint) -> bool {
    log_ratio(point).is_some_and(|ratio| ratio.abs() < WITNESS)
}

/// Returns the time that the other placement stands for where it is clearly faster, less the
/// usual difference between the two.
fn by_other_placement(points: &[KnownPoint], index: usize) -> f64 {
    let us = points[index].time.get();
    let near =
        index.saturating_sub(USUAL_REACH)..points.len().min(index.saturating_add(USUAL_REACH + 1));
    let ratios: Vec<f64> = points[near].iter().filter_map(log_ratio).collect();
    match (log_ratio(&points[index]), median(&ratios)) {
        (Some(own), Some(usual)) if own - usual < -WITNESS => us * (own - usual).exp(),
        (Some(_) | None, Some(_) | None) => us,
    }
}

/// Returns a time between a lone bump and the line through its neighbours.
fn by_neighbours(knots: &[Knot], index: usize) -> f64 {
    let knot = &knots[index];
    let Some(next) = knots.get(index + 1) else {
        return knot.us;
    };
    let (wall, even) = match index.checked_sub(1).map(|before| &knots[before]) {
        None => (next.us, next.us),
        Some(previous) => (
            previous.us.max(next.us),
            previous.toward(next, knot.bytes.as_f64()),
        ),
    };
    if knot.us > BUMP * wall {
        relative_center(&[(knot.us, 1.0), (even, 1.0)])
            .expect("Invariant: times between positive times are positive")
    } else {
        knot.us
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::{Bytes, Micros};

    fn cleaned(times: &[f64], others: &[f64]) -> Vec<f64> {
        let points: Vec<KnownPoint> = times
            .iter()
            .enumerate()
            .map(|(index, us)| KnownPoint {
                other_placement: others.get(index).map(|us| Micros::new(*us)),
                ..KnownPoint::new(Bytes::new(8 << index), Micros::new(*us))
            })
            .collect();
        without_spikes(&points).iter().map(|knot| knot.us).collect()
    }

    fn close(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got / want - 1.0).abs() < 1e-3, "{got} is not {want}");
        }
    }

    #[test]
    fn the_other_placement_unmasks_a_spike() {
        // In place is 10 % faster throughout; only what exceeds that speaks against a time.
        let others = [18.0, 18.0, 18.0, 18.0, 18.0];
        close(
            &cleaned(&[20.0, 20.0, 26.0, 20.0, 20.0], &others),
            &[20.0; 5],
        );
        close(&cleaned(&[20.0; 5], &others), &[20.0; 5]);
    }

    #[test]
    fn a_faster_time_is_never_replaced() {
        let times = [20.0, 20.0, 14.0, 20.0, 20.0];
        assert_eq!(cleaned(&times, &[20.0; 5]), times);
    }

    #[test]
    fn a_lone_bump_counts_half_without_a_witness() {
        // Against 20: (1/90 + 1/20) / (1/90^2 + 1/20^2) = 23.294.
        close(
            &cleaned(&[20.0, 90.0, 20.0, 21.0], &[]),
            &[20.0, 23.294, 20.0, 21.0],
        );
        close(&cleaned(&[90.0, 20.0, 20.0], &[]), &[23.294, 20.0, 20.0]);
    }

    #[test]
    fn a_bump_in_both_placements_is_real() {
        let times = [20.0, 90.0, 20.0, 21.0];
        assert_eq!(cleaned(&times, &[19.0, 88.0, 19.0, 20.0]), times);
    }

    #[test]
    fn growth_and_small_dips_stay() {
        for times in [
            &[20.0, 40.0, 80.0, 160.0][..],
            &[20.0, 28.0, 20.0],
            &[20.0, 20.0, 90.0],
        ] {
            assert_eq!(cleaned(times, &[]), times);
        }
    }
}
