//! The latency of a ring over rank counts: a fixed part per call and a part per step.

use super::{SetSeries, by_ranks, shared_sizes};
use crate::finding::note;
use crate::rank_latency::{RingSteps, fit_ring_steps, ring_steps};
use crate::{Finding, Interval};
use tier6_collective::Algorithm;
use tier6_units::{Bytes, Micros};

/// Largest message whose time is all latency on today's links: 8 KiB cross in under 1 us.
const LATENCY_BOUND_BYTES: u64 = 8 << 10;
/// Largest residual, relative to its time, with which the steps still explain the times.
const EXPLAINED: f64 = 0.1;
/// Fewest rank counts: two always lie on a line.
const RANK_COUNTS_MIN: usize = 3;

pub(super) fn findings(group: &[SetSeries]) -> Vec<Finding> {
    by_ranks(group)
        .iter()
        .filter_map(|set| finding(set))
        .collect()
}

fn finding(set: &[(u32, SetSeries)]) -> Option<Finding> {
    if set.len() < RANK_COUNTS_MIN || set.iter().any(|(_, one)| is_no_ring(one)) {
        return None;
    }
    let collective = set[0].1.analysis.collective?;
    let bytes = shared_sizes(set.iter().map(|(_, one)| *one))
        .into_iter()
        .min()?;
    if bytes.get() > LATENCY_BOUND_BYTES {
        return None;
    }
    let times: Vec<(u32, Micros)> = set
        .iter()
        .filter_map(|(ranks, one)| Some((*ranks, one.at(bytes)?.median)))
        .collect();
    let steps = fit_ring_steps(collective, &times)?;
    is_explained(&steps, &times).then(|| {
        let count = if ring_steps(collective, 2) == Some(2) {
            "2(n-1)"
        } else {
            "n-1"
        };
        note("ring-latency", worded(&steps, &times, bytes, count, set))
    })
}

/// Says whether a path or a setting names another algorithm.
fn is_no_ring(one: &SetSeries) -> bool {
    let other = |algorithm: Algorithm| algorithm != Algorithm::Ring;
    let by_path = one
        .points()
        .any(|point| point.path.is_some_and(|path| other(path.algorithm)));
    by_path || stated_algorithm(one).is_some_and(other)
}

fn stated_algorithm(one: &SetSeries) -> Option<Algorithm> {
    let settings = one.setup.extra.iter().chain(&one.setup.environment);
    let named = |name: &str| {
        name.eq_ignore_ascii_case("algo")
            || name.eq_ignore_ascii_case("algorithm")
            || name == "NCCL_ALGO"
    };
    let mut values = settings.filter(|(name, _)| named(name));
    values.find_map(|(_, value)| value.parse().ok())
}

fn is_explained(steps: &RingSteps, times: &[(u32, Micros)]) -> bool {
    let close = steps
        .residuals
        .iter()
        .zip(times)
        .all(|((_, residual), (_, time))| residual.get().abs() <= EXPLAINED * time.get());
    close && steps.per_step_ci.is_some_and(|ci| ci.low > 0.0)
}

fn worded(
    steps: &RingSteps,
    times: &[(u32, Micros)],
    bytes: Bytes,
    count: &str,
    set: &[(u32, SetSeries)],
) -> String {
    let (fewest, most) = (times[0].0, times[times.len() - 1].0);
    let largest = steps
        .residuals
        .iter()
        .max_by(|a, b| a.1.get().abs().total_cmp(&b.1.get().abs()));
    let mut parts = vec![format!(
        "{bytes} on {fewest} to {most} ranks{}: t = a + b x {count} with a = {:.2} us{} per call and \
         b = {:.2} us{} per dependent step of a ring; largest residual {:+.2} us (n = {})",
        match stated_algorithm(&set[0].1) {
            Some(_) => "",
            None => ", if a ring ran",
        },
        steps.fixed.get(),
        interval(steps.fixed_ci),
        steps.per_step.get(),
        interval(steps.per_step_ci),
        largest.map_or(0.0, |(_, residual)| residual.get()),
        largest.map_or(0, |(ranks, _)| *ranks),
    )];
    parts.extend(fixed_part(steps));
    parts.extend(curvature(steps));
    parts.extend(ahead(steps, most));
    parts.join("; ")
}

fn interval(ci: Option<Interval>) -> String {
    ci.map_or_else(String::new, |ci| {
        format!(" [{:.2}, {:.2}]", ci.low, ci.high)
    })
}

/// What leaving out the fixed part would do to the step.
fn fixed_part(steps: &RingSteps) -> Option<String> {
    let (first, last) = (steps.apparent_steps.first()?, steps.apparent_steps.last()?);
    let ci = steps.fixed_ci?;
    Some(if ci.low > 0.0 {
        format!(
            "the fixed part (launch and set-up) is not zero; without it the step seems to change from \
             {:.2} us (n = {}) to {:.2} us (n = {})",
            first.1.get(),
            first.0,
            last.1.get(),
            last.0
        )
    } else {
        "these ranks do not show whether the fixed part differs from zero".to_owned()
    })
}

/// Names a bend of more than a tenth in the time per added rank.
fn curvature(steps: &RingSteps) -> Option<String> {
    let (low, high) = steps.per_added_rank?;
    let (low, high) = (low.get(), high.get());
    ((high - low).abs() > 0.1 * low.abs()).then(|| {
        format!(
            "slightly curved: an added rank costs {low:.1} us in the lower half and {high:.1} us in \
             the upper half"
        )
    })
}

/// The next power of two.
fn ahead(steps: &RingSteps, most: u32) -> Option<String> {
    let next = most.checked_add(1)?.checked_next_power_of_two()?;
    let latency = steps.predict(next);
    let time = latency.time.get();
    Some(format!(
        "extrapolated, if the new hops are like these: {next} ranks {time:.0} us{}",
        latency.interval.map_or_else(String::new, |ci| format!(
            " [{:.0}, {:.0}]",
            ci.low, ci.high
        ))
    ))
}
