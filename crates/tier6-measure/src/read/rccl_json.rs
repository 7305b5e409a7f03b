//! The JSON of rccl-tests' reporter (`-Z json -x FILE`): one object per size and placement.
//!
//! Older releases write one object per line, later ones an array. Builds with MPI write `nodes`,
//! `ranks`, `ranksPerNode` and `gpusPerRank` instead of `gpus`; `ranks` are processes.

use super::json_fields::{correctness, lower, positive, whole};
use super::json_scan::measured;
use super::rows::{Row, Signature, in_input_order, series};
use super::{ReadError, ReadOptions, rank_count};
use crate::{
    Dataset, Dialect, Parsed, Placement, Ranks, Run, RunEnd, RunSetup, Trace, Warning, WarningCode,
};
use serde_json::Value;
use std::collections::BTreeSet;
use tier6_collective::Collective;

/// Says whether a text holds the reporter's objects.
pub(crate) fn looks_like(head: &str) -> bool {
    let start =
        head.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '['));
    start.starts_with('{') && head.contains("\"inPlace\"") && head.contains("\"busBw\"")
}

/// Reads the reporter's objects, in lines or in an array.
///
/// # Errors
///
/// When no object holds a measurement.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let (mut rows, mut warnings) = measured(text, "measurement", row);
    if rows.is_empty() {
        return Err(ReadError::NotRecognised {
            line: Some(text.lines().count() as u64),
        });
    }
    set_ranks(&mut rows, &mut warnings);
    note_missing_partners(&rows, &mut warnings);
    let run = Run {
        setup: RunSetup::default(),
        rows: rows.len() as u64,
        first_line: rows.first().map_or(1, |row| row.line),
        series: series(rows, options, &mut warnings),
        footer: None,
        end: RunEnd::NotStated,
    };
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::RcclJsonLines,
            runs: vec![run],
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

/// Reads one object. Its ranks are processes until [`set_ranks`] knows better.
fn row(object: &Value, line: u64) -> Option<Row> {
    let of = |key: &str| object.get(key);
    let placement = match whole::<u8>(of("inPlace"))? {
        0 => Placement::OutOfPlace,
        _ => Placement::InPlace,
    };
    let per_process: u32 = whole(of("gpusPerRank"))
        .or_else(|| whole(of("gpus")))
        .unwrap_or(1);
    let processes: u32 = whole(of("ranks")).unwrap_or(1);
    let ranks = processes
        .checked_mul(per_process.max(1))
        .filter(|ranks| *ranks > 0);
    let collective: Option<Collective> = lower(of("name")).and_then(|name| name.parse().ok());
    let busbw = positive(of("busBw"));
    let algbw = positive(of("algBw"));
    Some(Row {
        line,
        signature: Signature {
            collective,
            ranks,
            nodes: whole(of("nodes")).filter(|nodes| *nodes > 0),
            datatype: lower(of("type")).and_then(|text| text.parse().ok()),
            redop: lower(of("redop")).and_then(|text| text.parse().ok()),
            root: whole(of("root")),
        },
        placement,
        bytes: whole(of("size"))?,
        count: None,
        time: Some(positive(of("time"))?),
        algbw,
        busbw,
        wrong: correctness(of("#wrong").or_else(|| of("wrong"))),
        iterations: Vec::new(),
        published: None,
        path: None,
        tuner: None,
    })
}

/// Checks processes x GPUs against the bandwidths, and leaves the ranks open when they object.
fn set_ranks(rows: &mut [Row], warnings: &mut Vec<Warning>) {
    let Some(first) = rows.first().map(|row| row.signature) else {
        return;
    };
    let is_one_run = rows.iter().all(|row| row.signature.ranks == first.ranks);
    let (Some(collective), Some(stated), true) = (first.collective, first.ranks, is_one_run) else {
        return;
    };
    let pairs = rows.iter().filter_map(|row| Some((row.algbw?, row.busbw?)));
    if let Ranks::Estimated { low, high } = rank_count::from_printed(collective, pairs)
        && !(low..=high).contains(&stated)
    {
        warnings.push(Warning {
            code: WarningCode::RankCount,
            line: None,
            message: format!("the objects say {stated} ranks, busbw / algbw says {low} to {high}"),
        });
        for row in rows {
            row.signature.ranks = None;
        }
    }
}

/// Tells of sizes that were measured in one placement only, where others were in both.
fn note_missing_partners(rows: &[Row], warnings: &mut Vec<Warning>) {
    let sizes = |placement| -> BTreeSet<u64> {
        let of = rows.iter().filter(|row| row.placement == placement);
        of.map(|row| row.bytes).collect()
    };
    let out_of_place = sizes(Placement::OutOfPlace);
    let in_place = sizes(Placement::InPlace);
    if out_of_place.is_empty() || in_place.is_empty() {
        return;
    }
    for (missing, name) in [
        (out_of_place.difference(&in_place), Placement::InPlace),
        (in_place.difference(&out_of_place), Placement::OutOfPlace),
    ] {
        let missing: Vec<String> = missing.map(u64::to_string).collect();
        if !missing.is_empty() {
            warnings.push(Warning {
                code: WarningCode::Placement,
                line: None,
                message: format!("{name} is missing at {} B", missing.join(", ")),
            });
        }
    }
}
