//! From rows, one per size and placement, to series: grouping, checks, ranks.
//!
//! Every reader of documents (CSV, tables, JSON) ends here, so a series means the same whatever
//! it was read from. Rows of one size are the samples of a point.

use super::consistency::{Printed, check_count, check_row};
use super::rank_count;
use crate::warning::WarningList;
use crate::{
    Placement, Point, PublishedStats, Ranks, ReadOptions, Sample, Series, Warning, WarningCode,
    Wrong,
};
use std::collections::{BTreeMap, BTreeSet};
use tier6_collective::{Collective, DataType, Path, RedOp};
use tier6_units::{Bytes, GbPerSec, Micros};

/// What must be the same for two rows to be of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature {
    pub collective: Option<Collective>,
    pub ranks: Option<u32>,
    pub nodes: Option<u32>,
    pub datatype: Option<DataType>,
    pub redop: Option<RedOp>,
    pub root: Option<u32>,
}

/// One measurement of one size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub line: u64,
    pub signature: Signature,
    pub placement: Placement,
    pub bytes: u64,
    pub count: Option<u64>,
    /// us.
    pub time: Option<Printed>,
    /// GB/s.
    pub algbw: Option<Printed>,
    /// GB/s.
    pub busbw: Option<Printed>,
    pub wrong: Wrong,
    pub iterations: Vec<Micros>,
    pub published: Option<PublishedStats>,
    pub path: Option<Path>,
    pub tuner: Option<Micros>,
}

impl Row {
    /// Says whether the row measures anything.
    pub(crate) fn has_value(&self) -> bool {
        self.time.is_some()
            || self.algbw.is_some()
            || self.busbw.is_some()
            || self.published.is_some()
    }
}

/// Puts warnings in the order of the input, each said once and not too many of a kind.
pub(crate) fn in_input_order(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut list = WarningList::default();
    list.extend(warnings);
    let mut ordered = list.finish();
    ordered.dedup();
    ordered
}

/// Groups rows into series, in the order of first appearance, out-of-place before in-place.
///
/// What the rows leave open is taken from `options`, then from the numbers themselves.
pub(crate) fn series(
    mut rows: Vec<Row>,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> Vec<Series> {
    drop_zero_sizes(&mut rows, warnings);
    let mut groups: Vec<Vec<Row>> = Vec::new();
    let mut index: BTreeMap<Signature, usize> = BTreeMap::new();
    for mut row in rows {
        let signature = &mut row.signature;
        signature.collective = signature.collective.or(options.collective);
        signature.ranks = signature.ranks.or(options.ranks);
        signature.nodes = signature.nodes.or(options.nodes);
        let group = *index.entry(*signature).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(row);
    }
    let mut unknown_ranks = 0;
    let mut all = Vec::new();
    for group in groups {
        let ranks = infer_ranks(&group, warnings);
        // Where no bus bandwidth stands, nothing was to be inferred: the report says "unknown".
        let has_busbw = group.iter().any(|row| row.busbw.is_some());
        unknown_ranks += usize::from(has_busbw && ranks == Ranks::Unknown);
        check(&group, ranks, warnings);
        let (out_of_place, in_place): (Vec<Row>, Vec<Row>) = group
            .into_iter()
            .partition(|row| row.placement == Placement::OutOfPlace);
        for half in [out_of_place, in_place] {
            for sweep in split_by_path(half) {
                all.push(one_series(sweep, ranks, warnings));
            }
        }
    }
    if unknown_ranks > 0 {
        warnings.push(Warning {
            code: WarningCode::RankCount,
            line: None,
            message: "the number of ranks is not stated and does not follow from the numbers"
                .to_owned(),
        });
    }
    all
}

/// Drops rows of size zero, which nccl-tests prints when a size is below one element per rank.
fn drop_zero_sizes(rows: &mut Vec<Row>, warnings: &mut Vec<Warning>) {
    let Some(first) = rows.iter().find(|row| row.bytes == 0) else {
        return;
    };
    let (line, all) = (first.line, rows.len());
    rows.retain(|row| row.bytes > 0);
    let message = match all - rows.len() {
        1 => "1 row of size 0 is left out".to_owned(),
        many => format!("{many} rows of size 0 are left out"),
    };
    warnings.push(Warning {
        code: WarningCode::ZeroSize,
        line: Some(line),
        message,
    });
}

/// Returns the ranks as stated, else by the counts, else by busbw / algbw.
fn infer_ranks(group: &[Row], warnings: &mut Vec<Warning>) -> Ranks {
    let Some(first) = group.first() else {
        return Ranks::Unknown;
    };
    if let Some(ranks) = first.signature.ranks {
        return Ranks::Stated(ranks);
    }
    let by_count = ranks_by_count(group);
    let by_factor = first
        .signature
        .collective
        .map_or(Ranks::Unknown, |collective| {
            let pairs = group
                .iter()
                .filter_map(|row| Some((row.algbw?, row.busbw?)));
            rank_count::from_printed(collective, pairs)
        });
    match (by_count, by_factor) {
        (Some(ranks), Ranks::Estimated { low, high }) if !(low..=high).contains(&ranks) => {
            warnings.push(Warning {
                code: WarningCode::RankCount,
                line: Some(first.line),
                message: format!(
                    "element counts say {ranks} ranks, busbw / algbw says {low} to {high}"
                ),
            });
            by_factor
        }
        (Some(ranks), _) => Ranks::Stated(ranks),
        (None, Ranks::Estimated { low, high }) => {
            let message = if low == high {
                format!("the number of ranks is not stated; busbw / algbw leaves only {low}")
            } else {
                format!("the number of ranks is not stated; busbw / algbw fits {low} to {high}")
            };
            warnings.push(Warning {
                code: WarningCode::RankCount,
                line: Some(first.line),
                message,
            });
            by_factor
        }
        (None, other) => other,
    }
}

/// Ranks by size = count x element size x ranks, when all rows agree on two or more.
pub(crate) fn ranks_by_count(group: &[Row]) -> Option<u32> {
    let datatype = group.first()?.signature.datatype?;
    let of = |row: &Row| {
        let part = row
            .count?
            .checked_mul(datatype.bytes())
            .filter(|part| *part > 0)?;
        let ranks = u32::try_from(row.bytes / part).ok()?;
        (row.bytes.is_multiple_of(part) && ranks >= 2).then_some(ranks)
    };
    let ranks = of(group.first()?)?;
    group
        .iter()
        .all(|row| of(row) == Some(ranks))
        .then_some(ranks)
}

/// Tells of rows whose numbers contradict each other or whose data was wrong.
fn check(group: &[Row], ranks: Ranks, warnings: &mut Vec<Warning>) {
    let ranks = ranks.exact();
    let mut inconsistent = Vec::new();
    let mut wrong = Vec::new();
    for row in group {
        let signature = &row.signature;
        let factor = signature
            .collective
            .zip(ranks)
            .map(|(collective, ranks)| collective.bus_factor(ranks));
        let rate = |rate: Option<Printed>| match row.published {
            Some(_) => rate.map(Printed::as_median),
            None => rate,
        };
        let (algbw, busbw) = (rate(row.algbw), rate(row.busbw));
        for finding in check_row(row.bytes, row.time, algbw, busbw, factor) {
            inconsistent.push((row.line, format!("{}: {finding}", row.placement)));
        }
        if let (Some(count), Some(datatype)) = (row.count, signature.datatype)
            && row.placement == Placement::OutOfPlace
            && let Some(finding) = check_count(row.bytes, count, datatype, ranks)
        {
            inconsistent.push((row.line, finding));
        }
        if row.wrong.is_wrong() {
            wrong.push((row.line, wrong_data(row)));
        }
    }
    push_findings(warnings, WarningCode::Inconsistent, inconsistent);
    push_findings(warnings, WarningCode::WrongData, wrong);
}

fn wrong_data(row: &Row) -> String {
    let what = match row.wrong {
        Wrong::Elements(n) => format!("{n} wrong elements"),
        Wrong::LargestError(error) => format!("an error of {error:e}"),
        Wrong::NotChecked => "no check".to_owned(),
    };
    format!("{what} at {} B, {}", row.bytes, row.placement)
}

fn push_findings(warnings: &mut Vec<Warning>, code: WarningCode, findings: Vec<(u64, String)>) {
    warnings.extend(findings.into_iter().map(|(line, message)| Warning {
        code,
        line: (line > 0).then_some(line),
        message,
    }));
}

/// Splits a sweep that measures one size on several paths into a sweep per path.
///
/// A sweep whose path changes with the size stays whole: that is a tuner at work.
fn split_by_path(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut path_of: BTreeMap<u64, Option<Path>> = BTreeMap::new();
    let is_forced = rows
        .iter()
        .any(|row| *path_of.entry(row.bytes).or_insert(row.path) != row.path);
    if !is_forced {
        return if rows.is_empty() {
            Vec::new()
        } else {
            vec![rows]
        };
    }
    let mut sweeps: Vec<Vec<Row>> = Vec::new();
    let mut index: BTreeMap<Option<Path>, usize> = BTreeMap::new();
    for row in rows {
        let sweep = *index.entry(row.path).or_insert_with(|| {
            sweeps.push(Vec::new());
            sweeps.len() - 1
        });
        sweeps[sweep].push(row);
    }
    sweeps
}

/// Makes the points of one sweep; repeated sizes become samples.
fn one_series(rows: Vec<Row>, ranks: Ranks, warnings: &mut Vec<Warning>) -> Series {
    let signature = rows.first().map(|row| row.signature);
    let placement = rows
        .first()
        .map_or(Placement::OutOfPlace, |row| row.placement);
    note_descent(&rows, warnings);
    let mut points: BTreeMap<u64, Point> = BTreeMap::new();
    for row in rows {
        if row.published.is_some() && points.contains_key(&row.bytes) {
            warnings.push(Warning {
                code: WarningCode::BadRow,
                line: Some(row.line),
                message: format!(
                    "size {} repeats; its second statistics are not used",
                    row.bytes
                ),
            });
            continue;
        }
        let point = points.entry(row.bytes).or_insert_with(|| Point {
            bytes: Bytes::new(row.bytes),
            count: row.count,
            samples: Vec::new(),
            iterations: Vec::new(),
            published: row.published,
            path: row.path,
            tuner: row.tuner,
        });
        // A published median is no sample, but what the check said must not be lost with it.
        let is_sample = row.published.is_none();
        if is_sample || row.wrong != Wrong::NotChecked {
            let rate = |rate: Option<Printed>| {
                rate.filter(|_| is_sample)
                    .map(|rate| GbPerSec::new(rate.value))
            };
            point.samples.push(Sample {
                time: row
                    .time
                    .filter(|_| is_sample)
                    .map(|time| Micros::new(time.value)),
                algbw: rate(row.algbw),
                busbw: rate(row.busbw),
                wrong: row.wrong,
                line: row.line,
            });
        }
        point.iterations.extend(row.iterations);
        point.tuner = point.tuner.or(row.tuner);
    }
    Series {
        collective: signature.and_then(|signature| signature.collective),
        ranks,
        nodes: signature.and_then(|signature| signature.nodes),
        datatype: signature.and_then(|signature| signature.datatype),
        redop: signature.and_then(|signature| signature.redop),
        root: signature.and_then(|signature| signature.root),
        placement,
        points: points.into_values().collect(),
    }
}

/// Tells when a size that was not seen before follows a larger one.
fn note_descent(rows: &[Row], warnings: &mut Vec<Warning>) {
    let mut seen = BTreeSet::new();
    for row in rows {
        let is_new = seen.insert(row.bytes);
        if is_new && seen.last() != Some(&row.bytes) {
            warnings.push(Warning {
                code: WarningCode::Inconsistent,
                line: (row.line > 0).then_some(row.line),
                message: format!(
                    "size {} follows a larger one; the sizes are sorted",
                    row.bytes
                ),
            });
            return;
        }
    }
}
