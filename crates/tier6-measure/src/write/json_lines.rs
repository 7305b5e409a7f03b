//! One JSON object per sample, for tools that read lines.

use crate::{Dataset, Point, Ranks, Sample, Series, Wrong};
use serde::Serialize;

/// The name and version of the format; additions do not change it.
pub(crate) const SCHEMA: &str = "tier6.dataset/1";

/// Writes an object per sample: what was called, the size, and what was measured.
///
/// A point of published statistics is one object with `median_us`, `p95_us`, `cv_pct`. `run`,
/// `series` and `sample` count from 0. Absent values are absent keys.
pub fn to_json_lines(dataset: &Dataset) -> String {
    let mut text = String::new();
    for (run, series) in dataset.runs.iter().zip(0..).flat_map(|(run, at)| {
        let series = run.series.iter().zip(0_u32..);
        series.map(move |(series, nth)| ((at, nth), series))
    }) {
        for point in &series.points {
            // What the check said of published statistics stands in a sample without values.
            let has_value = |sample: &&Sample| {
                sample.time.is_some() || sample.algbw.is_some() || sample.busbw.is_some()
            };
            for (sample, nth) in point.samples.iter().filter(has_value).zip(0..) {
                push(
                    &mut text,
                    &Line::of(run, series, point).with_sample(nth, sample),
                );
            }
            if point.published.is_some() {
                let check = point.samples.iter().find(|sample| !has_value(sample));
                let line = Line::of(run, series, point);
                let checked = check.map_or(Wrong::NotChecked, |sample| sample.wrong);
                push(&mut text, &line.with_wrong(checked));
            }
        }
    }
    text
}

fn push(text: &mut String, line: &Line) {
    let json = serde_json::to_string(line).expect("Invariant: plain fields serialise");
    text.push_str(&json);
    text.push('\n');
}

#[derive(Debug, Default, Serialize)]
struct Line {
    schema: &'static str,
    run: u32,
    series: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    collective: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks_range: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    datatype: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redop: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<u32>,
    placement: &'static str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tuner_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p95_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cv_pct: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algbw_gbs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    busbw_gbs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_error: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    iterations_us: Vec<f64>,
}

impl Line {
    fn of((run, nth): (u32, u32), series: &Series, point: &Point) -> Self {
        let ranks_range = match series.ranks {
            Ranks::Estimated { low, high } if low < high => Some((low, high)),
            Ranks::Estimated { .. } | Ranks::Stated(_) | Ranks::Unknown => None,
        };
        let stats = point.published;
        Self {
            schema: SCHEMA,
            run,
            series: nth,
            collective: series.collective.map(tier6_collective::Collective::name),
            ranks: series.ranks.exact(),
            ranks_range,
            nodes: series.nodes,
            datatype: series.datatype.map(tier6_collective::DataType::name),
            redop: series.redop.map(tier6_collective::RedOp::name),
            root: series.root,
            placement: series.placement.name(),
            bytes: point.bytes.get(),
            count: point.count,
            algorithm: point.path.map(|path| path.algorithm.name()),
            protocol: point.path.map(|path| path.protocol.name()),
            tuner_us: point.tuner.map(tier6_units::Micros::get),
            median_us: stats.map(|stats| stats.median.get()),
            p95_us: stats
                .and_then(|stats| stats.p95)
                .map(tier6_units::Micros::get),
            cv_pct: stats.and_then(|stats| stats.cv_pct),
            ..Self::default()
        }
        .with_iterations(point)
    }

    /// The iterations stand with the first sample, which is what they make up.
    fn with_iterations(mut self, point: &Point) -> Self {
        self.iterations_us = point.iterations.iter().map(|time| time.get()).collect();
        self
    }

    fn with_sample(mut self, nth: u32, sample: &Sample) -> Self {
        if nth > 0 {
            self.iterations_us.clear();
        }
        self.median_us = None;
        self.p95_us = None;
        self.cv_pct = None;
        self.sample = Some(nth);
        self.time_us = sample.time.map(tier6_units::Micros::get);
        self.algbw_gbs = sample.algbw.map(tier6_units::GbPerSec::get);
        self.busbw_gbs = sample.busbw.map(tier6_units::GbPerSec::get);
        self.with_wrong(sample.wrong)
    }

    fn with_wrong(mut self, wrong: Wrong) -> Self {
        match wrong {
            Wrong::Elements(elements) => self.wrong = Some(elements),
            Wrong::LargestError(error) => self.largest_error = Some(error),
            Wrong::NotChecked => {}
        }
        self
    }
}
