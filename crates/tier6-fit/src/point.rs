//! One size: its samples reduced to median, P95 and CV, its bandwidths, the path that ran.
//!
//! A selection of the trace belongs to a point when the sizes are equal and the collectives are
//! (or the log line names none, as before NCCL 2.23). The tuner's size is count x element size,
//! times the ranks for AllGather and ReduceScatter (NCCL `enqueue.cc`), which is nccl-tests'
//! `size` for the same calls, so no conversion is needed.

use crate::analyze::AnalysisOptions;
use crate::wire::wire_bandwidth;
use crate::{Exclusion, PointSummary};
use std::collections::BTreeMap;
use tier6_collective::Path;
use tier6_measure::{Point, Sample, Selection, Series, Wrong};
use tier6_stats::{cv, median, percentile};
use tier6_units::{Bytes, GbPerSec, Micros};

/// The points of a series, and what could not be used or joined.
pub(crate) struct Summary {
    pub(crate) points: Vec<PointSummary>,
    /// Sizes without any usable time.
    pub(crate) without_time: Vec<Bytes>,
    /// Sizes for which the trace names more than one path or predicted time.
    pub(crate) ambiguous: Vec<Bytes>,
    /// Sizes whose path column and trace disagree; the column is used.
    pub(crate) contradicted: Vec<Bytes>,
}

/// Reduces every point of a series, ascending in size.
pub(crate) fn summarise(
    series: &Series,
    selections: &[Selection],
    options: &AnalysisOptions,
) -> Summary {
    let trace = selections_by_size(series, selections);
    let mut summary = Summary {
        points: Vec::with_capacity(series.points.len()),
        without_time: Vec::new(),
        ambiguous: Vec::new(),
        contradicted: Vec::new(),
    };
    for point in &series.points {
        let Some(times) = Times::of(series, point) else {
            summary.without_time.push(point.bytes);
            continue;
        };
        let chosen = match trace.get(&point.bytes).map(Vec::as_slice) {
            None | Some([]) => None,
            Some([only]) => Some(*only),
            Some(_) => {
                summary.ambiguous.push(point.bytes);
                None
            }
        };
        let logged = chosen.map(|(path, _)| path);
        if point.path.is_some() && logged.is_some() && point.path != logged {
            summary.contradicted.push(point.bytes);
        }
        let path = point.path.or(logged);
        let tuner = point.tuner.or(chosen.and_then(|(_, time)| time));
        summary
            .points
            .push(reduce(series, point, &times, path, tuner, options));
    }
    summary.points.sort_by_key(|point| point.bytes);
    summary
}

fn reduce(
    series: &Series,
    point: &Point,
    times: &Times,
    path: Option<Path>,
    tuner: Option<Micros>,
    options: &AnalysisOptions,
) -> PointSummary {
    let algbw = GbPerSec::from_transfer(point.bytes, times.median).unwrap_or(GbPerSec::new(0.0));
    let tuner = tuner.filter(|time| time.get().is_finite() && time.get() > 0.0);
    PointSummary {
        bytes: point.bytes,
        samples: times.samples,
        median: times.median,
        p95: times.p95,
        cv_pct: times.cv_pct,
        stable: times.cv_pct.map(|cv| cv <= options.cv_limit_pct),
        wrong: wrong_elements(point),
        algbw,
        busbw: bus_bandwidth(series, point, algbw),
        wire: wire_bandwidth(series, path, algbw),
        path,
        tuner,
        tuner_error_pct: tuner.map(|time| (time.get() / times.median.get() - 1.0) * 100.0),
        excluded: if point.samples.iter().any(|sample| sample.wrong.is_wrong()) {
            Some(Exclusion::WrongData)
        } else if point.bytes.get() == 0 {
            Some(Exclusion::ZeroSize)
        } else {
            None
        },
    }
}

/// The times of one point, reduced.
struct Times {
    samples: u32,
    median: Micros,
    p95: Option<Micros>,
    cv_pct: Option<f64>,
}

impl Times {
    /// Two samples or more speak for themselves; below that published statistics say more.
    fn of(series: &Series, point: &Point) -> Option<Self> {
        let times = sample_times(series, point);
        let published = point
            .published
            .filter(|published| is_time(published.median.get()));
        match published {
            Some(published) if times.len() < 2 => Some(Self {
                samples: published.samples.unwrap_or(0),
                median: published.median,
                p95: published.p95.filter(|p95| is_time(p95.get())),
                cv_pct: published.cv_pct.filter(|cv| cv.is_finite() && *cv >= 0.0),
            }),
            _ => Some(Self {
                samples: u32::try_from(times.len()).unwrap_or(u32::MAX),
                median: Micros::new(median(&times)?),
                p95: (times.len() > 1)
                    .then(|| percentile(&times, 95.0).map(Micros::new))
                    .flatten(),
                cv_pct: cv(&times).map(|cv| cv * 100.0),
            }),
        }
    }
}

/// Returns all usable times of a point in us: single iterations where the tool wrote them, else
/// one per cycle.
pub(crate) fn sample_times(series: &Series, point: &Point) -> Vec<f64> {
    let iterations: Vec<f64> = point
        .iterations
        .iter()
        .map(|time| time.get())
        .filter(|time| is_time(*time))
        .collect();
    if !iterations.is_empty() {
        return iterations;
    }
    point
        .samples
        .iter()
        .filter_map(|sample| sample_time(series, point.bytes, sample))
        .collect()
}

/// Returns the time of a sample; where only a bandwidth is given, bytes / algbw, with algbw =
/// busbw / bus factor when need be.
fn sample_time(series: &Series, bytes: Bytes, sample: &Sample) -> Option<f64> {
    let from_busbw = || {
        let factor = bus_factor(series).filter(|factor| *factor > 0.0)?;
        Some(sample.busbw?.scaled(1.0 / factor))
    };
    sample
        .time
        .or_else(|| sample.algbw.or_else(from_busbw)?.time_for(bytes))
        .map(Micros::get)
        .filter(|time| is_time(*time))
}

fn is_time(us: f64) -> bool {
    us.is_finite() && us >= TIME_US_MIN
}

/// Shortest time that anything can take, one picosecond; below it a rate may overflow.
const TIME_US_MIN: f64 = 1e-6;

fn bus_factor(series: &Series) -> Option<f64> {
    Some(series.collective?.bus_factor(series.ranks.exact()?))
}

/// Returns algbw times the bus factor; without a certain number of ranks, the printed value
/// scaled to the median.
fn bus_bandwidth(series: &Series, point: &Point, algbw: GbPerSec) -> Option<GbPerSec> {
    if let Some(factor) = bus_factor(series) {
        return Some(algbw.scaled(factor));
    }
    let ratios: Vec<f64> = point
        .samples
        .iter()
        .filter_map(|sample| Some(sample.busbw?.get() / sample.algbw?.get()))
        .filter(|ratio| ratio.is_finite())
        .collect();
    median(&ratios).map(|ratio| algbw.scaled(ratio))
}

fn wrong_elements(point: &Point) -> Option<u64> {
    let counts = point
        .samples
        .iter()
        .filter_map(|sample| match sample.wrong {
            Wrong::Elements(count) => Some(count),
            Wrong::LargestError(_) | Wrong::NotChecked => None,
        });
    counts.fold(None, |sum, count| {
        Some(sum.unwrap_or(0_u64).saturating_add(count))
    })
}

type Choice = (Path, Option<Micros>);

/// Groups the distinct choices that concern this series by size. Lines that name the collective
/// outweigh lines that do not.
fn selections_by_size(series: &Series, selections: &[Selection]) -> BTreeMap<Bytes, Vec<Choice>> {
    let mut named: BTreeMap<Bytes, Vec<Choice>> = BTreeMap::new();
    let mut unnamed = named.clone();
    for selection in selections {
        let group = match (selection.collective, series.collective) {
            (None, _) => &mut unnamed,
            (Some(_), None) => &mut named,
            (Some(logged), Some(measured)) if logged == measured => &mut named,
            (Some(_), Some(_)) => continue,
        };
        // A line that logs one rank's part cannot be joined where the rank count is unknown.
        let Some(bytes) = selection.message_bytes(series.ranks.exact()) else {
            continue;
        };
        let choice = (selection.path, selection.time);
        let choices = group.entry(bytes).or_default();
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    unnamed.append(&mut named);
    unnamed
}
