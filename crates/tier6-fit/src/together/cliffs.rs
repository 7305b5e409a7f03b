//! Cliffs that several sweeps of one call show together: a narrower interval, a line on each side.

use super::{SetSeries, may_be_same_ranks};
use crate::cliff::{Cliff, find_cliffs};
use crate::finding::warning;
use crate::{Finding, Line};
use tier6_measure::Placement;
use tier6_units::{Bytes, Micros};

/// Largest ratio of two times of one size that still measure the same thing.
const SAME_TIME: f64 = 1.15;
/// Growth of the time below which it stands still.
const STANDS: f64 = 1.05;

pub(super) fn findings(group: &[SetSeries]) -> Vec<Finding> {
    let mut found = Vec::new();
    for sweeps in repeated(group) {
        let other: Vec<SetSeries> = group
            .iter()
            .filter(|one| is_other_placement(&sweeps[0], one))
            .copied()
            .collect();
        // Both placements tell the same; the first one speaks.
        if sweeps[0].analysis.placement == Placement::InPlace && !other.is_empty() {
            continue;
        }
        let points = times(&sweeps);
        let witness = find_cliffs(&times(&other));
        for cliff in find_cliffs(&points) {
            let is_confirmed = witness
                .iter()
                .any(|seen| seen.after == cliff.after && seen.until == cliff.until);
            if other.is_empty() || is_confirmed {
                let placements = usize::from(is_confirmed) + 1;
                let message = worded(&cliff, &points, sweeps.len(), placements, &sweeps);
                found.push(warning("pooled-cliff", message));
            }
        }
    }
    found
}

/// Returns sweeps of the same call, two or more, that agree where they overlap and are not all
/// over the same sizes.
fn repeated<'a>(group: &[SetSeries<'a>]) -> Vec<Vec<SetSeries<'a>>> {
    let mut sets: Vec<Vec<SetSeries<'a>>> = Vec::new();
    for one in group {
        let same = |set: &&mut Vec<SetSeries>| {
            set.iter()
                .all(|member| is_same_call(member, one) && agree(member, one))
        };
        match sets.iter_mut().find(same) {
            Some(set) => set.push(*one),
            None => sets.push(vec![*one]),
        }
    }
    let sizes = |one: &SetSeries| one.points().map(|point| point.bytes).collect::<Vec<_>>();
    sets.retain(|set| set.iter().any(|one| sizes(one) != sizes(&set[0])));
    sets
}

fn is_same_call(a: &SetSeries, b: &SetSeries) -> bool {
    a.is_same_operation(b) && may_be_same_ranks(a.analysis.ranks, b.analysis.ranks)
}

fn is_other_placement(a: &SetSeries, b: &SetSeries) -> bool {
    let (first, second) = (a.analysis, b.analysis);
    first.placement != second.placement
        && first.collective == second.collective
        && first.datatype == second.datatype
        && first.redop == second.redop
        && may_be_same_ranks(first.ranks, second.ranks)
}

/// Says whether two sweeps share a size, and took about the same time on the same path at each.
fn agree(a: &SetSeries, b: &SetSeries) -> bool {
    let mut shared = a
        .points()
        .filter_map(|point| Some((point, b.at(point.bytes)?)))
        .peekable();
    shared.peek().is_some()
        && shared.all(|(first, second)| {
            let ratio = first.median.get() / second.median.get();
            let paths = first.path.zip(second.path);
            (1.0 / SAME_TIME..=SAME_TIME).contains(&ratio) && paths.is_none_or(|(a, b)| a == b)
        })
}

fn times(series: &[SetSeries]) -> Vec<(Bytes, Micros)> {
    let points = series.iter().flat_map(SetSeries::points);
    points.map(|point| (point.bytes, point.median)).collect()
}

fn worded(
    cliff: &Cliff,
    points: &[(Bytes, Micros)],
    sweeps: usize,
    placements: usize,
    series: &[SetSeries],
) -> String {
    let both = if placements > 1 {
        " in both placements"
    } else {
        ""
    };
    let mut parts = vec![format!(
        "{sweeps} sweeps of {} show one cliff{both}: the change lies in ({}, {}] bytes, time x{:.2} for \
         x{:.2} bytes there",
        series[0]
            .analysis
            .collective
            .map_or("one call", tier6_collective::Collective::name),
        cliff.after.get(),
        cliff.until.get(),
        cliff.time_ratio,
        cliff.bytes_ratio
    )];
    parts.push(format!(
        "below: {}; above: {}",
        line(cliff.below),
        line(cliff.above)
    ));
    if let Some(crossing) = cliff.crossing.filter(|crossing| *crossing > cliff.until) {
        parts.push(format!(
            "the lines cross near {:.0} MB, so the change comes too early: from the border to there \
             the regime below would be faster, beyond it the regime above is",
            crossing.as_f64() / 1e6
        ));
    }
    parts.extend(smaller_step(cliff, points));
    let path = series
        .iter()
        .flat_map(SetSeries::points)
        .any(|point| point.path.is_some());
    if !path {
        parts.push(
            "repeated like this it is no noise; most likely the library changes algorithm or protocol \
             there. To prove it sweep with NCCL_ALGO=Ring, then Tree, and with NCCL_PROTO=Simple, \
             then LL128, and compare with the default"
                .to_owned(),
        );
    }
    parts.join("; ")
}

fn line(regime: Option<(Line, usize)>) -> String {
    match regime {
        Some((line, sizes)) => format!(
            "{:.0} us + n / {:.1} GB/s ({sizes} sizes)",
            line.alpha.get(),
            line.beta.get()
        ),
        None => "too few sizes on one line".to_owned(),
    }
}

/// Below the cliff: a size that takes as long as the next one of about twice the bytes.
fn smaller_step(cliff: &Cliff, points: &[(Bytes, Micros)]) -> Option<String> {
    let mut below: Vec<_> = points
        .iter()
        .filter(|point| point.0 <= cliff.after)
        .copied()
        .collect();
    below.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.get().total_cmp(&b.1.get())));
    let level = below.windows(3).find(|three| {
        let (low, high) = (three[1], three[2]);
        high.0.as_f64() >= 1.5 * low.0.as_f64()
            && high.1.get() < STANDS * low.1.get()
            && low.1.get() > STANDS * three[0].1.get()
    })?;
    Some(format!(
        "a second, smaller step lies below: {} takes {:.0} us, about as long as {} ({:.0} us)",
        level[1].0,
        level[1].1.get(),
        level[2].0,
        level[2].1.get()
    ))
}
