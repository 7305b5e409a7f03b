//! Lines of communicators: latency and bandwidth tables, thread limits and thresholds.

use super::{Place, Row, Sheet, same_bits};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::RawCommunicator;
use crate::cost_table::CostTable;
use crate::settings::{NcclError, Settings};
use serde::Deserialize;
use std::collections::BTreeMap;
use tier6_collective::Protocol;

/// A value per collective's plain name.
type PerCollective<T> = BTreeMap<String, T>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: String,
    version: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    error: Option<u8>,
    inputs: Option<RawCommunicator>,
    latencies: Option<PerCollective<Vec<Vec<Single>>>>,
    bandwidths: Option<PerCollective<Vec<Vec<Single>>>>,
    ringbdw: Option<PerCollective<Vec<Single>>>,
    max_threads: Option<Vec<Vec<i64>>>,
    thread_thresholds: Option<Vec<Vec<i64>>>,
}

/// A number, or the text of one that JSON cannot write.
#[derive(Deserialize)]
#[serde(untagged)]
enum Single {
    Number(f32),
    Text(String),
}

impl Single {
    fn value(&self) -> Option<f32> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
        }
    }
}

/// Compares every line and returns the tables by the communicators' names.
pub(super) fn compare(
    text: &str,
    place: &Place<'_>,
    sheet: &mut Sheet,
) -> Vec<(String, CostTable)> {
    let mut tables = Vec::new();
    for (index, json) in text.lines().enumerate() {
        if json.trim().is_empty() {
            continue;
        }
        let number = index as u64 + 1;
        match serde_json::from_str::<Line>(json) {
            Ok(line) => {
                let mut row = Row::new(&line.id, None, number);
                let table = compare_line(&line, place, &mut row);
                sheet.count(row);
                tables.extend(table.map(|table| (line.id, table)));
            }
            Err(error) => {
                let mut row = Row::new("", None, number);
                row.differs("line", &error, &"a communicator");
                sheet.count(row);
            }
        }
    }
    tables
}

fn compare_line(line: &Line, place: &Place<'_>, row: &mut Row<'_>) -> Option<CostTable> {
    let release = place.release.release;
    if let Some(version) = &line.version {
        row.check_text("version", &place.version.to_string(), version);
    }
    let env = line.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = match (Settings::from_env(env, release), line.error) {
        (Ok(settings), None) => settings,
        (Ok(_), Some(code)) => {
            row.differs("error", &"none", &code);
            return None;
        }
        (Err(_), Some(code)) => {
            // A refused setting ends NCCL's start with "invalid usage".
            row.check_whole(
                "error",
                i64::from(NcclError::InvalidUsage.code()),
                &code.to_string(),
            );
            return None;
        }
        (Err(error), None) => {
            row.differs("env", &error, &"no error");
            return None;
        }
    };
    let Some(inputs) = line.inputs.clone() else {
        row.differs("inputs", &"expected", &"missing");
        return None;
    };
    match inputs.resolve(release) {
        Ok(communicator) => {
            let table = CostTable::new(release, communicator, settings);
            compare_tables(line, &table, row);
            Some(table)
        }
        Err(error) => {
            row.differs("inputs", &error, &"accepted");
            None
        }
    }
}

fn compare_tables(line: &Line, table: &CostTable, row: &mut Row<'_>) {
    let algorithms = if table.release().has_pat() { 7 } else { 6 };
    compare_cells(
        "latencies",
        line.latencies.as_ref(),
        algorithms,
        row,
        |c, a| table.latency_us(c, a),
    );
    compare_cells(
        "bandwidths",
        line.bandwidths.as_ref(),
        algorithms,
        row,
        |c, a| table.bandwidth_gbs(c, a),
    );
    for collective in NcclCollective::ALL {
        for protocol in Protocol::ALL {
            let ours = table.ring_backup_gbs(collective, protocol);
            let theirs = line
                .ringbdw
                .as_ref()
                .and_then(|backup| backup.get(collective.plain_name()))
                .and_then(|protocols| protocols.get(protocol as usize))
                .and_then(Single::value);
            let is_equal = match (ours, theirs) {
                (Some(ours), Some(theirs)) => same_bits(ours, theirs),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !is_equal {
                let field = format!("ringbdw.{}.{protocol}", collective.plain_name());
                row.differs(&field, &show(ours), &show(theirs));
            }
        }
    }
    compare_whole(
        "maxThreads",
        line.max_threads.as_ref(),
        algorithms,
        row,
        |a| i64::from(table.threads_max(a)),
    );
    compare_whole(
        "threadThresholds",
        line.thread_thresholds.as_ref(),
        algorithms,
        row,
        |a| table.thread_threshold(a),
    );
}

fn compare_cells(
    field: &str,
    theirs: Option<&PerCollective<Vec<Vec<Single>>>>,
    algorithms: usize,
    row: &mut Row<'_>,
    ours: impl Fn(NcclCollective, Candidate) -> f32,
) {
    for collective in NcclCollective::ALL {
        let theirs = theirs.and_then(|cells| cells.get(collective.plain_name()));
        check_shape(field, theirs.map(Vec::len), algorithms, row);
        for candidate in candidates(algorithms) {
            let theirs = at(theirs, candidate).and_then(Single::value);
            let ours = ours(collective, candidate);
            if !theirs.is_some_and(|theirs| same_bits(ours, theirs)) {
                let field = format!("{field}.{}.{candidate}", collective.plain_name());
                row.differs(&field, &ours, &show(theirs));
            }
        }
    }
}

fn compare_whole(
    field: &str,
    theirs: Option<&Vec<Vec<i64>>>,
    algorithms: usize,
    row: &mut Row<'_>,
    ours: impl Fn(Candidate) -> i64,
) {
    check_shape(field, theirs.map(Vec::len), algorithms, row);
    for candidate in candidates(algorithms) {
        let theirs = at(theirs, candidate).copied();
        let ours = ours(candidate);
        if theirs != Some(ours) {
            row.differs(&format!("{field}.{candidate}"), &ours, &show(theirs));
        }
    }
}

fn check_shape(field: &str, found: Option<usize>, algorithms: usize, row: &mut Row<'_>) {
    if found != Some(algorithms) {
        row.differs(&format!("{field}: algorithms"), &algorithms, &show(found));
    }
}

fn candidates(algorithms: usize) -> impl Iterator<Item = Candidate> {
    Candidate::all().filter(move |candidate| (candidate.algorithm as usize) < algorithms)
}

fn at<T>(cells: Option<&Vec<Vec<T>>>, candidate: Candidate) -> Option<&T> {
    let Candidate {
        algorithm,
        protocol,
    } = candidate;
    cells?.get(index(algorithm))?.get(protocol as usize)
}

const fn index(algorithm: NcclAlgorithm) -> usize {
    algorithm as usize
}

fn show<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "missing".to_owned(), |value| value.to_string())
}
