//! Findings about the curve: cliffs, falls, standstills, floors.

use super::{note, usable, warning};
use crate::cliff::{Cliff, find_cliffs};
use crate::point::likely_ranks;
use crate::rank_latency::ring_steps;
use crate::{Finding, Line, PointSummary, SeriesAnalysis};
use tier6_collective::Algorithm;
use tier6_units::{Bytes, Micros};

pub(super) fn add(found: &mut Vec<Finding>, analysis: &SeriesAnalysis) {
    let points = usable(analysis);
    let steady: Vec<(Bytes, Micros)> = points
        .iter()
        .filter(|point| point.stable != Some(false))
        .map(|point| (point.bytes, point.median))
        .collect();
    found.extend(
        find_cliffs(&steady)
            .iter()
            .map(|cliff| cliff_finding(cliff, analysis)),
    );
    found.extend(latency_region(analysis));
    found.extend(ring_floor(&points, analysis));
    let after = analysis
        .regions
        .latency
        .map_or(Bytes::new(0), |region| region.last);
    found.extend(standstill(&points, after));
}

/// Words a cliff: the interval, the two lines, where they cross.
fn cliff_finding(cliff: &Cliff, analysis: &SeriesAnalysis) -> Finding {
    let line = |regime: &Option<(Line, usize)>| match regime {
        Some((line, points)) => format!(
            "{:.1} us + n / {:.2} GB/s ({points} points)",
            line.alpha.get(),
            line.beta.get()
        ),
        None => "too few points on one line".to_owned(),
    };
    let mut parts = vec![
        format!(
            "time grows {:.2}-fold for {:.2}-fold bytes above {}: another regime begins in \
             ({}, {}] bytes",
            cliff.time_ratio,
            cliff.bytes_ratio,
            cliff.after,
            cliff.after.get(),
            cliff.until.get()
        ),
        format!(
            "below: {}, above: {}",
            line(&cliff.below),
            line(&cliff.above)
        ),
    ];
    parts.push(match cliff.crossing.filter(|crossing| *crossing > cliff.until) {
        Some(crossing) => format!(
            "the lines cross near {:.0} MB, so the change comes too early: up to there the regime \
             below would be faster",
            crossing.as_f64() / 1e6
        ),
        None => "measure more sizes around it".to_owned(),
    });
    if analysis.points.iter().all(|point| point.path.is_none()) {
        parts.push(
            "likely a change of algorithm or protocol: force each one (NCCL_ALGO, NCCL_PROTO) and \
             compare"
                .to_owned(),
        );
    }
    warning("cliff", parts.join("; "))
}

fn latency_region(analysis: &SeriesAnalysis) -> Option<Finding> {
    let region = analysis.regions.latency?;
    Some(note(
        "latency-region",
        format!(
            "{} to {} all take {:.1} to {:.1} us: a fixed cost; the bandwidth column is small there \
             because the message is, and says nothing about the link",
            region.first,
            region.last,
            region.low.get(),
            region.high.get()
        ),
    ))
}

/// Explains leading sizes that take the same time as the dependent steps of a long ring.
fn ring_floor(points: &[&PointSummary], analysis: &SeriesAnalysis) -> Option<Finding> {
    let ranks = likely_ranks(analysis.ranks).filter(|ranks| *ranks >= 64.0)?;
    let level = points
        .windows(2)
        .take_while(|pair| {
            pair[1].bytes.as_f64() >= 1.5 * pair[0].bytes.as_f64()
                && pair[1].median.get() <= 1.1 * pair[0].median.get()
        })
        .count();
    let first = points.first()?;
    let ring = first
        .path
        .is_none_or(|path| path.algorithm == Algorithm::Ring);
    if level == 0 || !ring {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 64, and it came from 32-bit numbers"
    )]
    let steps = ring_steps(analysis.collective?, ranks.round() as u32)?;
    let last = points[level];
    let per_step = first.median.get() / f64::from(steps);
    Some(note(
        "ring-latency-floor",
        format!(
            "{} to {} take almost the same time ({:.0} to {:.0} us): about {steps} dependent ring steps \
             over about {ranks:.0} ranks at {per_step:.1} us each; the low bandwidth there is this \
             latency floor, not a slow link",
            first.bytes,
            last.bytes,
            first.median.get(),
            last.median.get()
        ),
    ))
}

/// Names neighbours beyond the latency region where time falls or stands still (FACTS E.7: a
/// change of path, or noise).
fn standstill(points: &[&PointSummary], latency_end: Bytes) -> Vec<Finding> {
    let steady = |point: &PointSummary| point.stable != Some(false);
    let growth = |pair: &[&PointSummary]| pair[1].median.get() / pair[0].median.get();
    let mut found = Vec::new();
    for three in points.windows(3) {
        let (before, here) = (&three[..2], &three[1..]);
        if here[0].bytes < latency_end || !here.iter().all(|point| steady(point)) {
            continue;
        }
        let bytes = here[1].bytes.as_f64() / here[0].bytes.as_f64();
        let stands = bytes >= 1.5 && growth(before) > 1.2 && growth(here) < 1.05;
        if growth(here) < 0.95 || stands {
            found.push(note(
                "time-stands-still",
                format!(
                    "{} takes {:.1} us and {} takes {:.1} us: {}; a change of path between them, \
                     or noise",
                    here[0].bytes,
                    here[0].median.get(),
                    here[1].bytes,
                    here[1].median.get(),
                    if growth(here) < 0.95 {
                        "time falls"
                    } else {
                        "time hardly grows"
                    }
                ),
            ));
        }
    }
    found
}
