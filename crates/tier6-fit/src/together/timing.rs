//! Runs that were timed differently: their numbers do not compare.

use super::{SetSeries, listed, may_be_same_ranks};
use crate::Finding;
use crate::finding::warning;
use crate::set_up::{Difference, timing_differences};
use tier6_units::Bytes;

/// Most pairs that are told one by one.
const TOLD_MAX: usize = 3;

pub(super) fn findings(series: &[SetSeries]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, one) in series.iter().enumerate() {
        for other in &series[index + 1..] {
            let differences = timing_differences(one.setup, other.setup);
            let is_same = one.is_same_operation(other)
                && may_be_same_ranks(one.analysis.ranks, other.analysis.ranks);
            if is_same && !differences.is_empty() {
                found.extend(timed_differently(one, other, &differences));
            }
        }
    }
    found.truncate(TOLD_MAX);
    found.extend(across_operations(series));
    found
}

fn timed_differently(
    one: &SetSeries,
    other: &SetSeries,
    differences: &[Difference],
) -> Option<Finding> {
    let (bytes, first, second) = shared(one, other)?;
    let ratio = first.max(second) / first.min(second);
    let told: Vec<String> = differences
        .iter()
        .map(|difference| {
            format!(
                "{} ({} and {})",
                difference.what, difference.first, difference.second
            )
        })
        .collect();
    let at_once = if differences.len() > 1 {
        " at the same time; change one at a time"
    } else {
        ""
    };
    Some(warning(
        "timed-differently",
        format!(
            "two runs of {} at {bytes} took {first:.2} and {second:.2} us, a ratio of {ratio:.1}, but \
             differ in {}{at_once}. The ratio says nothing about the network; measure latency with -m \
             1, with and without -G",
            one.analysis.collective?,
            listed(&told)
        ),
    ))
}

/// Returns the smallest size that both have, with both times in us.
fn shared(one: &SetSeries, other: &SetSeries) -> Option<(Bytes, f64, f64)> {
    one.points().find_map(|point| {
        let second = other.at(point.bytes)?;
        Some((point.bytes, point.median.get(), second.median.get()))
    })
}

/// Different operations that share groups overlap differently.
fn across_operations(series: &[SetSeries]) -> Option<Finding> {
    let grouped = |one: &&SetSeries| one.setup.aggregated_iterations.is_some_and(|n| n > 1);
    let amortised: Vec<&SetSeries> = series.iter().filter(grouped).collect();
    let first = amortised.first()?;
    let other = amortised.iter().find(|other| {
        other.analysis.collective.is_some()
            && other.analysis.collective != first.analysis.collective
            && shared(first, other).is_some()
    })?;
    let (bytes, a, b) = shared(first, other)?;
    Some(warning(
        "grouped-operations",
        format!(
            "{} {a:.2} us and {} {b:.2} us at {bytes} are shares of groups: operations of a group \
             overlap or merge, differently for each collective, so this does not show which of \
             them is faster",
            first.analysis.collective?, other.analysis.collective?
        ),
    ))
}
