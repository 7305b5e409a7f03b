//! tier6's own JSON lines, as [`crate::to_json_lines`] writes them: an object per sample.
//!
//! The writer says what the keys mean. Unknown keys are later additions and are left alone; the
//! number in the schema's name changes only when an old key changes its meaning.

use super::json_fields::{positive, printed, whole};
use super::json_scan::measured;
use super::rows::{Row, Signature, in_input_order, series};
use super::{ReadError, ReadOptions};
use crate::write::SCHEMA;
use crate::{
    Dataset, Dialect, Parsed, Placement, PublishedStats, Run, RunEnd, RunSetup, Trace, Wrong,
};
use serde_json::Value;
use std::collections::BTreeMap;
use tier6_collective::Path;
use tier6_units::Micros;

/// Says whether a text starts with an object of the schema, whatever its number.
pub(crate) fn looks_like(head: &str) -> bool {
    let start = head.trim_start_matches('\u{feff}').trim_start();
    let name = SCHEMA.split_once('/').map_or(SCHEMA, |(name, _)| name);
    let line = start.lines().next().unwrap_or_default();
    line.starts_with('{') && line.contains("\"schema\"") && line.contains(name)
}

/// Reads the objects.
///
/// # Errors
///
/// When no object of a known schema holds a measurement.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let (samples, mut warnings) = measured(text, "sample", row);
    let mut runs: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    for (run, row) in samples {
        runs.entry(run).or_default().push(row);
    }
    if runs.is_empty() {
        return Err(ReadError::NotRecognised {
            line: Some(text.lines().count() as u64),
        });
    }
    let runs = runs.into_values().map(|rows| Run {
        setup: RunSetup::default(),
        rows: rows.len() as u64,
        first_line: rows.first().map_or(1, |row| row.line),
        series: series(rows, options, &mut warnings),
        footer: None,
        end: RunEnd::NotStated,
    });
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::Tier6Json,
            runs: runs.collect(),
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

/// Reads one object with the number of its run.
fn row(object: &Value, line: u64) -> Option<(u32, Row)> {
    if object.get("schema")?.as_str()? != SCHEMA {
        return None;
    }
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let placement = match text("placement")? {
        "out_of_place" => Placement::OutOfPlace,
        "in_place" => Placement::InPlace,
        _ => return None,
    };
    let micros = |key: &str| object.get(key).and_then(Value::as_f64).map(Micros::new);
    let published = micros("median_us").map(|median| PublishedStats {
        samples: None,
        median,
        p95: micros("p95_us"),
        cv_pct: object.get("cv_pct").and_then(Value::as_f64),
    });
    let path = || {
        Some(Path {
            algorithm: text("algorithm")?.parse().ok()?,
            protocol: text("protocol")?.parse().ok()?,
        })
    };
    let iterations = object.get("iterations_us").and_then(Value::as_array);
    let row = Row {
        line,
        signature: Signature {
            collective: text("collective").and_then(|name| name.parse().ok()),
            ranks: whole(object.get("ranks")),
            nodes: whole(object.get("nodes")),
            datatype: text("datatype").and_then(|name| name.parse().ok()),
            redop: text("redop").and_then(|name| name.parse().ok()),
            root: whole(object.get("root")),
        },
        placement,
        bytes: whole(object.get("bytes"))?,
        count: whole(object.get("count")),
        time: positive(object.get("time_us").or_else(|| object.get("median_us"))),
        algbw: printed(object.get("algbw_gbs")),
        busbw: printed(object.get("busbw_gbs")),
        wrong: correctness(object),
        iterations: iterations
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .map(Micros::new)
            .collect(),
        published,
        path: path(),
        tuner: micros("tuner_us"),
    };
    row.has_value()
        .then(|| (whole(object.get("run")).unwrap_or(0), row))
}

fn correctness(object: &Value) -> Wrong {
    let elements = whole(object.get("wrong")).map(Wrong::Elements);
    let error = || {
        object
            .get("largest_error")?
            .as_f64()
            .map(Wrong::LargestError)
    };
    elements.or_else(error).unwrap_or(Wrong::NotChecked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_json_lines;

    const LINES: &str = "\
{\"schema\":\"tier6.dataset/1\",\"run\":0,\"series\":0,\"collective\":\"all_reduce\",\"ranks\":8,\"placement\":\"out_of_place\",\"bytes\":1024,\"algorithm\":\"ring\",\"protocol\":\"ll\",\"sample\":0,\"time_us\":20.5,\"wrong\":0,\"iterations_us\":[20.0,21.0]}
{\"schema\":\"tier6.dataset/1\",\"run\":1,\"series\":0,\"collective\":\"all_reduce\",\"ranks\":8,\"placement\":\"in_place\",\"bytes\":2048,\"sample\":0,\"time_us\":21.5,\"largest_error\":5e-7}
";

    #[test]
    fn what_was_written_reads_back() {
        assert!(looks_like(LINES));
        let parsed = crate::read(LINES.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(parsed.warnings, []);
        assert_eq!(parsed.value.dialect, Dialect::Tier6Json);
        assert_eq!(parsed.value.runs.len(), 2);
        assert_eq!(to_json_lines(&parsed.value), LINES);
    }

    #[test]
    fn cut_and_foreign_objects_are_told() {
        let newer = LINES.replacen("dataset/1", "dataset/2", 1);
        let cut = &newer[..newer.len() - 20];
        let error = read(cut, &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, ReadError::NotRecognised { line: Some(2) }));
        let parsed = read(&newer, &ReadOptions::default()).unwrap();
        let said: Vec<String> = parsed.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["line 1: the object is no sample; not used [bad-row]"]
        );
        assert!(!looks_like("{\"version\":1}"));
    }

    proptest::proptest! {
        #[test]
        fn damaged_lines_are_taken(at in 0_usize..LINES.len(), byte in 0_u8..128) {
            let mut bytes = LINES.as_bytes().to_vec();
            bytes[at] = byte;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let _ = (looks_like(&text), read(&text, &ReadOptions::default()));
        }
    }
}
