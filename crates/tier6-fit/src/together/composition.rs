//! AllReduce against ReduceScatter followed by AllGather: the same bytes on the same links.
//!
//! A ring AllReduce is its two halves in a row, with one launch instead of two (FACTS E.7). Where
//! it is slower by more than noise, composing it would be faster; where it is faster by more than
//! noise and the saved launch, another algorithm ran, such as reduction in the switch.

use super::{SetSeries, is_one};
use crate::finding::note;
use crate::{Finding, PointSummary};
use tier6_collective::Collective;
use tier6_measure::Ranks;
use tier6_units::Bytes;

/// Relative difference that two placements of one run show at worst in their ordinary course;
/// the median over the published sets is 5 %.
const NOISE: f64 = 0.15;

/// No launch of a collective costs more, in us.
const LAUNCH_MAX_US: f64 = 100.0;

/// One size: AllReduce and the sum of its halves, in us.
struct Size {
    bytes: Bytes,
    whole: f64,
    halves: f64,
}

pub(super) fn findings(series: &[SetSeries]) -> Vec<Finding> {
    let of = |collective| {
        let all = series.iter();
        all.filter(move |one| one.analysis.collective == Some(collective))
    };
    let mut found: Vec<(Option<u32>, Finding)> = Vec::new();
    for whole in of(Collective::AllReduce) {
        let scatter: Vec<_> = of(Collective::ReduceScatter)
            .filter(|half| is_half_of(half, whole))
            .collect();
        let gather: Vec<_> = of(Collective::AllGather)
            .filter(|half| is_half_of(half, whole))
            .collect();
        // Of several candidates nobody knows which one belongs.
        if let ([scatter], [gather]) = (scatter.as_slice(), gather.as_slice()) {
            // The other placement would only repeat it.
            let is_new = !found.iter().any(|(ranks, _)| *ranks == whole.ranks());
            let finding = finding(whole, scatter, gather).filter(|_| is_new);
            found.extend(finding.map(|finding| (whole.ranks(), finding)));
        }
    }
    found.into_iter().map(|(_, finding)| finding).collect()
}

fn is_half_of(half: &SetSeries, whole: &SetSeries) -> bool {
    let (a, b) = (half.analysis, whole.analysis);
    half.may_stand_beside(whole)
        && a.placement == b.placement
        && a.ranks.exact().is_some()
        && a.ranks.exact() == b.ranks.exact()
        && is_one(a.nodes, b.nodes)
        && is_one(a.datatype, b.datatype)
}

fn finding(whole: &SetSeries, scatter: &SetSeries, gather: &SetSeries) -> Option<Finding> {
    let steady = |point: &&PointSummary| point.stable != Some(false);
    let sizes: Vec<Size> = whole
        .points()
        .filter(steady)
        .filter_map(|point| {
            let first = scatter.at(point.bytes).filter(steady)?;
            let second = gather.at(point.bytes).filter(steady)?;
            Some(Size {
                bytes: point.bytes,
                whole: point.median.get(),
                halves: first.median.get() + second.median.get(),
            })
        })
        .collect();
    // One launch is saved; its cost is at most the shortest time of a half.
    let launch = scatter
        .points()
        .chain(gather.points())
        .map(|point| point.median.get())
        .reduce(f64::min)
        .filter(|_| sizes.len() > 1)
        .map_or(0.0, |shortest| shortest.min(LAUNCH_MAX_US));
    let slower = tail(&sizes, |size| size.whole > size.halves * (1.0 + NOISE));
    let faster = tail(&sizes, |size| {
        size.whole < (size.halves - launch) * (1.0 - NOISE)
    });
    let (off, meaning) = match (slower, faster) {
        (Some(off), _) => (
            off,
            "composing the two would be faster: likely all_reduce runs on another algorithm or protocol",
        ),
        (None, Some(off)) => (
            off,
            "more than a ring can save: likely all_reduce runs on another path, such as reduction in \
             the switch (NVLS, SHARP)",
        ),
        (None, None) => return None,
    };
    Some(note(
        "allreduce-against-halves",
        worded(off, meaning, whole),
    ))
}

/// Returns the sizes from the largest down that all satisfy `is_off`: at least three, or all.
fn tail(sizes: &[Size], is_off: impl Fn(&Size) -> bool) -> Option<&[Size]> {
    let count = sizes.iter().rev().take_while(|size| is_off(size)).count();
    (count >= 3.min(sizes.len()).max(1)).then(|| &sizes[sizes.len() - count..])
}

fn worded(off: &[Size], meaning: &str, whole: &SetSeries) -> String {
    let (first, last) = (&off[0], &off[off.len() - 1]);
    let range = if off.len() == 1 {
        format!("at {}", last.bytes)
    } else {
        format!("from {} to {}", first.bytes, last.bytes)
    };
    let ranks = match whole.analysis.ranks {
        Ranks::Stated(n) => format!(" on {n} ranks"),
        Ranks::Estimated { .. } | Ranks::Unknown => String::new(),
    };
    let settings: Vec<String> = whole
        .setup
        .extra
        .iter()
        .map(|(name, value)| format!(" ({name} {value})"))
        .collect();
    format!(
        "all_reduce{ranks}, {}{}, {range} against reduce_scatter plus all_gather: {:.1} us against {:.1} \
         us at {} ({:+.1} %); {meaning}",
        whole.analysis.placement,
        settings.join(""),
        last.whole,
        last.halves,
        last.bytes,
        100.0 * (last.whole / last.halves - 1.0),
    )
}
