//! What NVIDIA's `optimize_config.py` makes of measurements: the yardstick for a better file.
//!
//! Per group of conditions and per range of sizes the best row wins, whatever its size, and
//! touching ranges with the same winner are joined; noise is not looked at. Source:
//! `TUNER_SPEC.md` section 13, and the script's output on twenty inputs.

use super::Interval;
use super::perf_csv::PerfRow;

/// What the best row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptMetric {
    /// The least `latency_us`; the script's default.
    Latency,
    /// The most `bandwidth_gbps`.
    Bandwidth,
}

/// The ranges of sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptRanges {
    /// Halfway between the measured sizes of the same nodes and ranks; the default.
    Auto,
    /// Up to 1 KiB, 64 KiB, 1 MiB, 16 MiB and 4 GiB - 1.
    Fixed,
    /// These; a size outside is a range of its own.
    Given(Vec<Interval>),
}

struct Range<'a> {
    bytes: Interval,
    best: &'a PerfRow,
}

/// Returns the lines of the configuration that the script writes, without comments.
pub fn script_config(rows: &[PerfRow], metric: ScriptMetric, ranges: &ScriptRanges) -> Vec<String> {
    let mut chosen: Vec<Range<'_>> = Vec::new();
    for group in groups(rows) {
        let intervals = intervals(rows, group[0], ranges);
        let mut found: Vec<Range<'_>> = Vec::new();
        for &row in &group {
            let bytes = intervals
                .iter()
                .copied()
                .find(|interval| interval.contains(row.bytes))
                .unwrap_or(Interval::exactly(row.bytes));
            match found.iter_mut().find(|range| range.bytes == bytes) {
                Some(range) if is_better(row, range.best, metric) => range.best = row,
                Some(_) => {}
                None => found.push(Range { bytes, best: row }),
            }
        }
        found.sort_by_key(|range| range.bytes.least);
        chosen.extend(joined(found));
    }
    // A stable sort: groups that differ in other conditions keep their order.
    chosen.sort_by(|a, b| {
        let key = |range: &Range<'_>| {
            let row = range.best;
            (row.nodes, row.ranks, range.bytes.least)
        };
        let names = a.best.collective.cmp(&b.best.collective);
        names.then(key(a).cmp(&key(b)))
    });
    chosen.iter().map(line).collect()
}

/// Rows of equal conditions, groups in the order of their first row.
fn groups(rows: &[PerfRow]) -> Vec<Vec<&PerfRow>> {
    let mut groups: Vec<Vec<&PerfRow>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<&PerfRow>| {
            let first = group[0];
            first.collective == row.collective
                && (first.nodes, first.ranks, first.pipe_ops, first.reg_buff)
                    == (row.nodes, row.ranks, row.pipe_ops, row.reg_buff)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn intervals(rows: &[PerfRow], of: &PerfRow, ranges: &ScriptRanges) -> Vec<Interval> {
    match ranges {
        ScriptRanges::Given(ranges) => ranges.clone(),
        ScriptRanges::Fixed => between(&[1 << 10, 64 << 10, 1 << 20, 16 << 20, (4 << 30) - 1]),
        ScriptRanges::Auto => {
            let mut sizes: Vec<u64> = rows
                .iter()
                .filter(|row| (row.nodes, row.ranks) == (of.nodes, of.ranks))
                .map(|row| row.bytes)
                .collect();
            sizes.sort_unstable();
            sizes.dedup();
            // Halfway, rounded down; the last range ends at the largest size.
            let halfway = sizes.windows(2).map(|pair| pair[0].midpoint(pair[1]));
            let ends: Vec<u64> = halfway.chain(sizes.last().copied()).collect();
            between(&ends)
        }
    }
}

/// Ranges from zero, each ending at one of `ends`.
fn between(ends: &[u64]) -> Vec<Interval> {
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    starts
        .zip(ends)
        .map(|(start, &end)| Interval::new(start, end))
        .collect()
}

/// The first of equal rows stays.
fn is_better(row: &PerfRow, best: &PerfRow, metric: ScriptMetric) -> bool {
    match metric {
        ScriptMetric::Latency => row.latency_us < best.latency_us,
        ScriptMetric::Bandwidth => row.bandwidth_gbs > best.bandwidth_gbs,
    }
}

fn joined(ranges: Vec<Range<'_>>) -> Vec<Range<'_>> {
    let mut joined: Vec<Range<'_>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if last.bytes.most.checked_add(1) == Some(range.bytes.least)
                    && has_same_choice(last.best, range.best) =>
            {
                last.bytes.most = range.bytes.most;
            }
            _ => joined.push(range),
        }
    }
    joined
}

fn has_same_choice(a: &PerfRow, b: &PerfRow) -> bool {
    (&a.algorithm, &a.protocol, a.channels) == (&b.algorithm, &b.protocol, b.channels)
}

fn line(range: &Range<'_>) -> String {
    let row = range.best;
    format!(
        "{},{},{},{},{},{},{},{},{},{}",
        row.collective,
        range.bytes.least,
        range.bytes.most,
        row.algorithm,
        row.protocol,
        row.channels,
        row.nodes,
        row.ranks,
        row.pipe_ops,
        row.reg_buff
    )
}
