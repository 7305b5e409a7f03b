//! Findings about the curve: cliffs, falls, standstills, floors.

use super::{note, usable, warning};
use crate::cliff::{Cliff, find_cliffs};
use crate::rank_latency::ring_steps;
use crate::{Finding, Line, PointSummary, SeriesAnalysis};
use tier6_collective::Algorithm;
use tier6_measure::Ranks;
use tier6_units::{Bytes, Micros};

/// Ranks from which the steps of a ring add up to milliseconds.
const LONG_RING: u32 = 64;
/// Most places in one sentence.
const SHOWN_MAX: usize = 5;

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
    let (low, high) = (region.low.get(), region.high.get());
    let (low, high) = (format!("{low:.1}"), format!("{high:.1}"));
    let span = if low == high {
        low
    } else {
        format!("{low} to {high}")
    };
    Some(note(
        "latency-region",
        format!(
            "{} to {} all take {span} us: a fixed cost; the bandwidth column is small there \
             because the message is, and says nothing about the link",
            region.first, region.last,
        ),
    ))
}

/// Explains leading sizes that take the same time as the dependent steps of a long ring.
fn ring_floor(points: &[&PointSummary], analysis: &SeriesAnalysis) -> Option<Finding> {
    let (fewest, most) = match analysis.ranks {
        Ranks::Stated(n) => (n, n),
        Ranks::Estimated { low, high } => (low, high),
        Ranks::Unknown => return None,
    };
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
    if level == 0 || !ring || fewest < LONG_RING {
        return None;
    }
    let steps = |ranks| ring_steps(analysis.collective?, ranks);
    let (fewest_steps, most_steps) = (steps(fewest)?, steps(most)?);
    let range = |low: String, high: String| {
        if low == high {
            low
        } else {
            format!("{low} to {high}")
        }
    };
    let per_step = |steps: u32| format!("{:.1}", first.median.get() / f64::from(steps));
    let last = points[level];
    Some(note(
        "ring-latency-floor",
        format!(
            "{} to {} take almost the same time ({:.0} to {:.0} us): {} dependent ring steps over {} \
             ranks at {} us each; the low bandwidth there is this latency floor, not a slow link",
            first.bytes,
            last.bytes,
            first.median.get(),
            last.median.get(),
            range(fewest_steps.to_string(), most_steps.to_string()),
            range(fewest.to_string(), most.to_string()),
            range(per_step(most_steps), per_step(fewest_steps)),
        ),
    ))
}

/// Names neighbours beyond the latency region where time falls or stands still (FACTS E.7: a
/// change of path, or noise).
fn standstill(points: &[&PointSummary], latency_end: Bytes) -> Option<Finding> {
    let growth = |pair: &[&PointSummary]| pair[1].median.get() / pair[0].median.get();
    // Runs of neighbours in which each takes as long as the one before, or less.
    let mut runs: Vec<Vec<&PointSummary>> = Vec::new();
    for three in points.windows(3) {
        let (before, here) = (&three[..2], &three[1..]);
        let steady = here.iter().all(|point| point.stable != Some(false));
        let bytes = here[1].bytes.as_f64() / here[0].bytes.as_f64();
        let stands = bytes >= 1.5 && growth(before) > 1.2 && growth(here) < 1.05;
        if !steady || here[0].bytes < latency_end || (growth(here) >= 0.95 && !stands) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| last.bytes == here[0].bytes) => {
                run.push(here[1]);
            }
            Some(_) | None => runs.push(here.to_vec()),
        }
    }
    let named = |point: &&PointSummary| format!("{} {:.1} us", point.bytes, point.median.get());
    let texts: Vec<String> = runs
        .iter()
        .map(|run| run.iter().map(named).collect::<Vec<_>>().join(", "))
        .collect();
    let more = match texts.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(", and {more} more places"),
    };
    (!texts.is_empty()).then(|| {
        note(
            "time-stands-still",
            format!(
                "the larger message takes as long or less: {}{more}; a change of path between \
                 them, or noise",
                texts[..texts.len().min(SHOWN_MAX)].join("; ")
            ),
        )
    })
}
