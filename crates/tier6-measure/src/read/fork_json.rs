//! JSON that a fork of nccl-tests prints to stdout: sizes are the keys of objects.
//!
//! `{"identifier": "nccl-tests structured output", "version": "2.26.6", "benchmark": [{"33554432":
//! {"count": .., "oop_time": .., "ip_error": "N/A"}, ..}]}` after whatever MPI and NCCL printed.
//! `version` is NCCL's, not the format's. The collective is not named.

use super::json_fields::{correctness, lower, positive, whole};
use super::json_scan::read_lenient;
use super::rows::{Row, Signature, in_input_order, series};
use super::{ReadError, ReadOptions};
use crate::{
    Dataset, Dialect, LibraryVersion, Parsed, Placement, Run, RunEnd, RunSetup, Trace, Warning,
    WarningCode,
};
use serde_json::Value;

/// Levels above one size: the document, the benchmark list, the object of sizes.
const DEPTH: usize = 3;

/// How many lines of other programs are told one by one.
const FOREIGN_MAX: usize = 5;

/// Says whether a text holds the fork's document.
pub(crate) fn looks_like(head: &str) -> bool {
    document_start(head).is_some()
}

/// Finds the brace before `"identifier"`.
fn document_start(text: &str) -> Option<usize> {
    let (key_at, _) = text.match_indices("\"identifier\"").find(|(at, _)| {
        text[..*at].trim_end().ends_with('{') && text[*at..].contains("\"benchmark\"")
    })?;
    text[..key_at].rfind('{')
}

/// Reads the fork's document out of its noise.
///
/// # Errors
///
/// When there is no such document, or nothing in it is whole.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let start = document_start(text).ok_or(ReadError::NotRecognised {
        line: Some(text.lines().count() as u64),
    })?;
    let mut warnings = Vec::new();
    note_noise(&text[..start], &mut warnings);
    let first_line = 1 + text[..start].matches('\n').count() as u64;
    let document = read_lenient(&text[start..], DEPTH).ok_or_else(|| ReadError::Malformed {
        line: first_line,
        message: "the document is cut before its first size".to_owned(),
    })?;
    let is_cut = document.cut.is_some();
    if let Some((cut_line, why)) = document.cut {
        warnings.push(Warning {
            code: WarningCode::CutRow,
            line: Some(first_line + cut_line - 1),
            message: format!("the document is cut ({why}); its whole sizes are used"),
        });
    }
    let mut rows = Vec::new();
    let blocks = document.value.get("benchmark").and_then(Value::as_array);
    for block in blocks.into_iter().flatten().filter_map(Value::as_object) {
        for (size, body) in block {
            if !push_rows(size, body, first_line, &mut rows) {
                warnings.push(Warning {
                    code: WarningCode::BadRow,
                    line: Some(first_line),
                    message: format!("`{size}` holds no time; not used"),
                });
            }
        }
    }
    let version = document.value.get("version").and_then(Value::as_str);
    let version: Option<LibraryVersion> = version.and_then(|version| version.parse().ok());
    let run = Run {
        setup: RunSetup {
            library_version: version,
            ..RunSetup::default()
        },
        rows: rows.len() as u64,
        series: series(rows, options, &mut warnings),
        footer: None,
        end: if is_cut {
            RunEnd::Unfinished
        } else {
            RunEnd::NotStated
        },
        first_line,
    };
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::ForkJson,
            runs: vec![run],
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

/// Reads one size into a row per placement; `false` when nothing can be used.
fn push_rows(size: &str, body: &Value, line: u64, rows: &mut Vec<Row>) -> bool {
    let Ok(bytes) = size.trim().parse() else {
        return false;
    };
    let before = rows.len();
    for (placement, prefix) in [(Placement::OutOfPlace, "oop"), (Placement::InPlace, "ip")] {
        let of = |name: &str| body.get(format!("{prefix}_{name}").as_str());
        let time = positive(of("time"));
        if time.is_none() {
            continue;
        }
        rows.push(Row {
            line,
            signature: Signature {
                collective: None,
                ranks: None,
                nodes: None,
                datatype: lower(body.get("type")).and_then(|text| text.parse().ok()),
                redop: lower(body.get("redop")).and_then(|text| text.parse().ok()),
                root: whole(body.get("root")),
            },
            placement,
            bytes,
            count: whole(body.get("count")),
            time,
            algbw: positive(of("algbw")),
            busbw: positive(of("busbw")),
            wrong: correctness(of("error")),
            iterations: Vec::new(),
            published: None,
            path: None,
            tuner: None,
        });
    }
    rows.len() > before
}

/// Tells of lines before the document that report something wrong in another layer.
fn note_noise(noise: &str, warnings: &mut Vec<Warning>) {
    let lines = noise.lines().enumerate().filter(|(_, line)| {
        let lower = line.to_ascii_lowercase();
        lower.contains("error") || lower.contains("warn")
    });
    for (index, line) in lines.take(FOREIGN_MAX) {
        warnings.push(Warning {
            code: WarningCode::Foreign,
            line: Some(index as u64 + 1),
            message: format!("another program says: {}", line.trim()),
        });
    }
}
