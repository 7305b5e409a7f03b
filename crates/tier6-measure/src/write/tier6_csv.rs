//! tier6's own CSV: the columns of the bundled measurements.

use super::{Pair, pairs};
use crate::{Dataset, Point, Sample, Series, Wrong};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// One CSV of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvSheet {
    /// A name for the file, unique in the dataset: `all_reduce_8`, `all_reduce_8_2`.
    pub name: String,
    /// The CSV with its header.
    pub text: String,
}

/// Writes a sheet per call signature, out-of-place and in-place side by side.
///
/// Cycles stay repeated rows. Published statistics take the place of samples where a set has
/// them. Collective, ranks and nodes follow as columns when known, so a sheet stands alone. Times
/// of single iterations, the set-up of the run and an estimated range of ranks are not held;
/// [`super::to_json_lines`] holds the range.
pub fn to_tier6_csv(dataset: &Dataset) -> Vec<CsvSheet> {
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut sheets = Vec::new();
    for pair in dataset.runs.iter().flat_map(pairs) {
        let Some(series) = pair.either() else {
            continue;
        };
        let mut name = series
            .collective
            .map_or("measurements", |collective| collective.name())
            .to_owned();
        if let Some(ranks) = series.ranks.exact() {
            name = format!("{name}_{ranks}");
        }
        let repeats = names.entry(name.clone()).or_insert(0);
        *repeats += 1;
        if *repeats > 1 {
            name = format!("{name}_{repeats}");
        }
        let is_published = series.points.iter().any(|point| point.published.is_some());
        let text = if is_published {
            statistics(series)
        } else {
            samples(pair, series)
        };
        sheets.push(CsvSheet { name, text });
    }
    sheets
}

/// `size_bytes,median_us,..`: what sources publish instead of samples, with what the check said.
fn statistics(series: &Series) -> String {
    let tail = Tail::of(series);
    let check = |point: &Point| {
        let sample = point.samples.last();
        sample.map_or_else(String::new, |sample| wrong(sample.wrong))
    };
    let is_checked = series.points.iter().any(|point| !check(point).is_empty());
    let mut text = format!(
        "size_bytes,median_us,p95_us,cv_pct,algorithm,protocol,tuner_us{}{}\n",
        if is_checked { ",wrong" } else { "" },
        tail.header()
    );
    for point in &series.points {
        let Some(stats) = point.published else {
            continue;
        };
        let mut cells = vec![
            point.bytes.get().to_string(),
            stats.median.get().to_string(),
            cell(stats.p95.map(tier6_units::Micros::get)),
            cell(stats.cv_pct),
            path_and_tuner(point),
        ];
        if is_checked {
            cells.push(check(point));
        }
        line(&mut text, &cells, &tail);
    }
    text
}

/// `size_bytes,count,..,ip_wrong`, a line per sample.
fn samples(pair: Pair<'_>, series: &Series) -> String {
    let tail = Tail::of(series);
    let has_path = series
        .points
        .iter()
        .any(|point| point.path.is_some() || point.tuner.is_some());
    let path_header = if has_path {
        ",algorithm,protocol,tuner_us"
    } else {
        ""
    };
    let mut text = format!(
        "size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,\
         ip_time_us,ip_algbw,ip_busbw,ip_wrong{path_header}{}\n",
        tail.header()
    );
    let mut sizes: BTreeMap<u64, [Option<&Point>; 2]> = BTreeMap::new();
    for (at, half) in [pair.out_of_place, pair.in_place].into_iter().enumerate() {
        for point in half.into_iter().flat_map(|series| &series.points) {
            sizes.entry(point.bytes.get()).or_default()[at] = Some(point);
        }
    }
    for (bytes, halves) in sizes {
        let point = halves[0].or(halves[1]);
        let repeats = halves
            .iter()
            .flatten()
            .map(|point| point.samples.len())
            .max();
        for nth in 0..repeats.unwrap_or(0) {
            let sample = |half: Option<&Point>| {
                half.and_then(|point| point.samples.get(nth))
                    .map(sample_cells)
            };
            let empty = || ",,,".to_owned();
            let mut cells = vec![
                bytes.to_string(),
                cell(point.and_then(|point| point.count)),
                cell(series.datatype),
                cell(series.redop),
                cell(series.root),
                sample(halves[0]).unwrap_or_else(empty),
                sample(halves[1]).unwrap_or_else(empty),
            ];
            if has_path {
                cells.push(point.map_or(",,".to_owned(), path_and_tuner));
            }
            line(&mut text, &cells, &tail);
        }
    }
    text
}

fn sample_cells(sample: &Sample) -> String {
    format!(
        "{},{},{},{}",
        cell(sample.time.map(tier6_units::Micros::get)),
        cell(sample.algbw.map(tier6_units::GbPerSec::get)),
        cell(sample.busbw.map(tier6_units::GbPerSec::get)),
        wrong(sample.wrong),
    )
}

fn wrong(wrong: Wrong) -> String {
    match wrong {
        Wrong::Elements(elements) => elements.to_string(),
        Wrong::LargestError(error) => format!("{error:e}"),
        Wrong::NotChecked => String::new(),
    }
}

fn path_and_tuner(point: &Point) -> String {
    let path = point.path.map_or(",".to_owned(), |path| {
        format!("{},{}", path.algorithm, path.protocol)
    });
    format!("{path},{}", cell(point.tuner.map(tier6_units::Micros::get)))
}

fn cell(value: Option<impl Display>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn line(text: &mut String, cells: &[String], tail: &Tail) {
    writeln!(text, "{}{}", cells.join(","), tail.cells)
        .expect("Invariant: a String takes any text");
}

/// The columns that let a sheet stand alone.
struct Tail {
    header: &'static str,
    cells: String,
}

impl Tail {
    fn of(series: &Series) -> Self {
        let ranks = series.ranks.exact();
        if series.collective.is_none() && ranks.is_none() && series.nodes.is_none() {
            return Self {
                header: "",
                cells: String::new(),
            };
        }
        Self {
            header: ",collective,ranks,nodes",
            cells: format!(
                ",{},{},{}",
                cell(series.collective),
                cell(ranks),
                cell(series.nodes)
            ),
        }
    }

    fn header(&self) -> &'static str {
        self.header
    }
}
