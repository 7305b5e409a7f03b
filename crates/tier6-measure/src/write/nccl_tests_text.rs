//! The table that nccl-tests prints, for pasting where people expect it.

use super::{Pair, pairs};
use crate::{Dataset, Footer, Point, Run, RunSetup, Sample, SizeStep, Wrong};
use std::collections::BTreeMap;
use std::fmt::Write;
use tier6_units::{Bytes, GbPerSec, Micros};

/// Width of `time algbw busbw #wrong` with the blanks before them.
const BODY_WIDTH: usize = 33;

/// Writes a table per call signature with nccl-tests' header and widths.
///
/// Numbers are rounded as nccl-tests rounds them. A time that was not measured follows from the
/// bandwidth; a row that has neither is left out and counted in a comment. Paths and published
/// P95 are not part of the format; a published median stands as the time.
pub fn to_nccl_tests_text(dataset: &Dataset) -> String {
    let mut text = String::new();
    for run in &dataset.runs {
        for pair in pairs(run) {
            table(&mut text, run, pair);
        }
    }
    text
}

fn table(text: &mut String, run: &Run, pair: Pair<'_>) {
    let mut rows = rows(pair);
    let left_out = rows
        .iter()
        .filter(|row| row.halves == Halves::Neither)
        .count();
    rows.retain(|row| row.halves != Halves::Neither);
    // A table whose rows differ in their halves looks cut; every kind gets its own.
    let kinds = [Halves::Both, Halves::OutOfPlace, Halves::InPlace];
    let tables: Vec<Vec<&TableRow>> = kinds
        .into_iter()
        .map(|halves| rows.iter().filter(|row| row.halves == halves).collect())
        .filter(|table: &Vec<&TableRow>| !table.is_empty())
        .collect();
    for table in &tables {
        header(text, &run.setup, pair);
        for row in table {
            put(text, &row.line);
        }
        match &run.footer {
            Some(known) if tables.len() == 1 => footer(text, known),
            _ => footer(text, &footer_of(table)),
        }
        put(text, "#");
    }
    if left_out > 0 {
        let message = format!("# {left_out} rows without a time or bandwidth are left out");
        put(text, &message);
    }
}

/// Which placements a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halves {
    Both,
    OutOfPlace,
    InPlace,
    Neither,
}

struct TableRow {
    halves: Halves,
    line: String,
    bodies: Vec<Body>,
}

/// One placement of a row.
struct Body {
    text: String,
    busbw: Option<GbPerSec>,
    wrong: Wrong,
}

fn rows(pair: Pair<'_>) -> Vec<TableRow> {
    let Some(series) = pair.either() else {
        return Vec::new();
    };
    let mut sizes: BTreeMap<u64, [Option<&Point>; 2]> = BTreeMap::new();
    for (at, half) in [pair.out_of_place, pair.in_place].into_iter().enumerate() {
        for point in half.into_iter().flat_map(|series| &series.points) {
            sizes.entry(point.bytes.get()).or_default()[at] = Some(point);
        }
    }
    let factor = series
        .collective
        .zip(series.ranks.exact())
        .map(|(collective, ranks)| collective.bus_factor(ranks));
    let redop = series.redop.map_or("none", tier6_collective::RedOp::name);
    let datatype = series
        .datatype
        .map_or("unknown", tier6_collective::DataType::name);
    let root = series.root.map_or(-1, i64::from);
    let mut rows = Vec::new();
    for (bytes, points) in sizes {
        let count = points.iter().flatten().find_map(|point| point.count);
        let count = count.unwrap_or_else(|| count_of(series, bytes));
        let repeats = points
            .iter()
            .flatten()
            .map(|point| point.samples.len().max(1))
            .max();
        for nth in 0..repeats.unwrap_or(0) {
            let [out_of_place, in_place] = points.map(|point| body(point?, nth, factor));
            let halves = match (&out_of_place, &in_place) {
                (Some(_), Some(_)) => Halves::Both,
                (Some(_), None) => Halves::OutOfPlace,
                (None, Some(_)) => Halves::InPlace,
                (None, None) => Halves::Neither,
            };
            let text = |body: &Option<Body>| {
                body.as_ref()
                    .map_or(" ".repeat(BODY_WIDTH), |body| body.text.clone())
            };
            let line = format!(
                "{bytes:>12}  {count:>12}  {datatype:>8}  {redop:>6}  {root:>6}{}{}",
                text(&out_of_place),
                text(&in_place)
            );
            rows.push(TableRow {
                halves,
                line: line.trim_end().to_owned(),
                bodies: [out_of_place, in_place].into_iter().flatten().collect(),
            });
        }
    }
    rows
}

/// Returns the count that nccl-tests prints beside a size. Elements of an unknown type are taken
/// as bytes: a row without a number there is no row to any reader.
fn count_of(series: &crate::Series, bytes: u64) -> u64 {
    let elements = bytes / series.datatype.map_or(1, tier6_collective::DataType::bytes);
    let is_per_peer = series
        .collective
        .is_some_and(tier6_collective::Collective::counts_per_peer);
    let ranks = series.ranks.exact().filter(|_| is_per_peer);
    elements / u64::from(ranks.unwrap_or(1).max(1))
}

fn footer(text: &mut String, footer: &Footer) {
    if let Some(count) = footer.out_of_bounds {
        let verdict = if count == 0 { "OK" } else { "FAILED" };
        put(text, &format!("# Out of bounds values : {count} {verdict}"));
    }
    if let Some(average) = footer.average_busbw {
        put(text, &format!("# Avg bus bandwidth    : {}", average.get()));
    }
}

/// Makes the footer that nccl-tests would print: wrong rows, and the mean busbw of all rows.
fn footer_of(table: &[&TableRow]) -> Footer {
    let bodies = || table.iter().flat_map(|row| &row.bodies);
    let is_checked = bodies().any(|body| body.wrong != Wrong::NotChecked);
    let wrong = bodies().filter(|body| body.wrong.is_wrong()).count() as u64;
    let rates: Vec<f64> = bodies()
        .filter_map(|body| body.busbw)
        .map(GbPerSec::get)
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    Footer {
        out_of_bounds: is_checked.then_some(wrong),
        passed: is_checked.then_some(wrong == 0),
        average_busbw: mean.is_finite().then_some(GbPerSec::new(mean)),
    }
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("Invariant: a String takes any text");
}

fn header(text: &mut String, setup: &RunSetup, pair: Pair<'_>) {
    let series = pair.either();
    if let Some(collective) = series.and_then(|series| series.collective) {
        let name = match collective {
            tier6_collective::Collective::AllToAll => "alltoall",
            tier6_collective::Collective::AllToAllV => "alltoallv",
            tier6_collective::Collective::SendRecv => "sendrecv",
            other => other.name(),
        };
        put(text, &format!("# Collective test starting: {name}_perf"));
    }
    if let Some(line) = parameters(setup) {
        put(text, &line);
    }
    put(text, "#");
    if !setup.devices.is_empty() {
        put(text, "# Using devices");
    }
    for device in &setup.devices {
        put(
            text,
            &format!(
                "#  Rank {:>2} Group  0 Pid      0 on {:>10} device {:>2} [{}] {}",
                device.rank,
                device.host,
                device.device.unwrap_or(device.rank),
                device.bus_id.as_deref().unwrap_or("?"),
                device.name
            ),
        );
    }
    if let Some(ranks) = series.and_then(|series| series.ranks.exact()) {
        put(text, &format!("# nRanks {ranks}"));
    }
    put(text, "#");
    let names = format!(
        "  {:>7}  {:>6}  {:>6}  {:>6}",
        "time", "algbw", "busbw", "#wrong"
    );
    let units = format!(
        "  {:>7}  {:>6}  {:>6}  {:>6}",
        "(us)", "(GB/s)", "(GB/s)", ""
    );
    put(
        text,
        &format!("#{:56}out-of-place                       in-place", ""),
    );
    put(
        text,
        &format!(
            "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{names}{names}",
            "size", "count", "type", "redop", "root"
        ),
    );
    let line = format!(
        "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{units}{units}",
        "(B)", "(elements)", "", "", ""
    );
    put(text, line.trim_end());
}

/// The line `# nThread 1 nGpus 8 minBytes ..`, when the run states what it needs.
fn parameters(setup: &RunSetup) -> Option<String> {
    let (step, unit) = match setup.step? {
        SizeStep::Factor(factor) => (factor.to_string(), "factor"),
        SizeStep::Bytes(bytes) => (bytes.get().to_string(), "bytes"),
    };
    Some(format!(
        "# nThread {} nGpus {} minBytes {} maxBytes {} step: {step}({unit}) warmup iters: {} \
         iters: {} agg iters: {} validation: {} graph: {}",
        setup.threads?,
        setup.gpus?,
        setup.min_bytes?.get(),
        setup.max_bytes?.get(),
        setup.warmup_iterations?,
        setup.iterations?,
        setup.aggregated_iterations.unwrap_or(1),
        u8::from(setup.validation?),
        setup.graph_launches.unwrap_or(0),
    ))
}

/// Formats `time algbw busbw #wrong` of a sample, or of the published median.
fn body(point: &Point, nth: usize, factor: Option<f64>) -> Option<Body> {
    let sample = point.samples.get(nth);
    // What the check said of a published median stands in a sample without a time.
    let published = point.published.filter(|_| nth == 0).map(|stats| Sample {
        time: Some(stats.median),
        algbw: None,
        busbw: None,
        wrong: sample.map_or(Wrong::NotChecked, |sample| sample.wrong),
        line: 0,
    });
    let is_measured = |sample: &&Sample| speed(sample, point.bytes, factor).is_some();
    let sample = sample.filter(is_measured).or(published.as_ref())?;
    let (time, algbw) = speed(sample, point.bytes, factor)?;
    let busbw = sample
        .busbw
        .or_else(|| factor.map(|factor| algbw.scaled(factor)));
    let wrong = match sample.wrong {
        Wrong::Elements(elements) => elements.to_string(),
        Wrong::LargestError(error) => c_exponent(error, 0),
        Wrong::NotChecked => "N/A".to_owned(),
    };
    let text = format!(
        "  {:>7}  {:>6}  {:>6}  {wrong:>6}",
        float(time.get(), 7),
        float(algbw.get(), 6),
        busbw.map_or("N/A".to_owned(), |busbw| float(busbw.get(), 6)),
    );
    Some(Body {
        text,
        busbw,
        wrong: sample.wrong,
    })
}

/// Returns time and algbw of a sample, each from the other where one is absent.
fn speed(sample: &Sample, bytes: Bytes, factor: Option<f64>) -> Option<(Micros, GbPerSec)> {
    let from_busbw = || {
        let factor = factor.filter(|factor| *factor > 0.0)?;
        Some(sample.busbw?.scaled(1.0 / factor))
    };
    let from_time = || GbPerSec::from_transfer(bytes, sample.time?);
    let algbw = sample.algbw.or_else(from_time).or_else(from_busbw)?;
    let time = sample.time.or_else(|| algbw.time_for(bytes))?;
    Some((time, algbw))
}

/// Rounds as nccl-tests' `getFloatStr` does: as many decimals as the width leaves, then an
/// exponent.
fn float(value: f64, width: usize) -> String {
    let mut digits = 0;
    let mut limit = 1.0;
    while value >= limit && digits <= width {
        digits += 1;
        limit *= 10.0;
    }
    if digits + 2 < width {
        format!("{value:.2}")
    } else if digits + 1 < width {
        format!("{value:.1}")
    } else if digits <= width {
        format!("{value:.0}")
    } else {
        c_exponent(value, 1)
    }
}

/// Writes `1.2e+06`, with the sign and two digits that C prints.
fn c_exponent(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_rounded_as_the_program_rounds_them() {
        assert_eq!(float(18.435, 7), "18.43");
        assert_eq!(float(9999.994, 7), "9999.99");
        assert_eq!(float(13246.06, 7), "13246.1");
        assert_eq!(float(132_460.5, 7), "132460");
        assert_eq!(float(12_345_678.0, 7), "1.2e+07");
        assert_eq!(float(0.0, 6), "0.00");
        assert_eq!(float(1234.5, 6), "1234.5");
        assert_eq!(c_exponent(5e-7, 0), "5e-07");
    }
}
