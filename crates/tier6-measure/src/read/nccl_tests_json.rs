//! The file that nccl-tests writes with `-J`, versions 1 to 3.
//!
//! Written by hand in `src/util.cu`: booleans are strings, roots are padded strings, `nan` is a
//! string, unchecked results have a null for `nwrong`. Until 2.17.9 two keys are misspelt. An
//! aborted run leaves the file open before 2.18.4. There is one device per process, whatever the
//! number of GPUs it drives, and the whole environment, of which only an allow-list is kept.

mod setup;

use super::json_fields::{correctness, lower, positive, whole};
use super::json_scan::{newlines, read_lenient};
use super::rows::{Row, Signature, in_input_order, ranks_by_count, series};
use super::{ReadError, ReadOptions, command, rank_count};
use crate::{
    Dataset, Dialect, Footer, Parsed, Placement, Ranks, Run, RunEnd, RunSetup, Trace, Warning,
    WarningCode,
};
use serde_json::Value;
use tier6_collective::Collective;
use tier6_units::{GbPerSec, Micros};

/// The newest version that is known.
const VERSION_MAX: u64 = 3;

/// Levels above a result: the document, its list of results.
const DEPTH: usize = 2;

/// Says whether a text starts as nccl-tests' JSON does.
pub(crate) fn looks_like(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with('{')
        && head.contains("\"version\"")
        && (head.contains("\"nccl_version\"")
            || (head.contains("\"start_time\"") && head.contains("\"args\"")))
}

/// Reads one document, or several that were appended to one file.
///
/// # Errors
///
/// When not even a part of the document can be read.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let mut warnings = Vec::new();
    let mut runs = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        line += newlines(&text[at..start]);
        let Some(document) = read_lenient(&text[start..], DEPTH) else {
            if runs.is_empty() {
                let message = "the document is cut before its first result".to_owned();
                return Err(ReadError::Malformed { line, message });
            }
            break;
        };
        at = start + document.length;
        let first_line = line;
        line += newlines(&text[start..at]);
        let is_cut = document.cut.is_some();
        if let Some((cut_line, why)) = document.cut {
            warnings.push(Warning {
                code: WarningCode::CutRow,
                line: Some(first_line + cut_line - 1),
                message: format!("the document is cut ({why}); its whole results are used"),
            });
        }
        runs.push(run(
            &document.value,
            first_line,
            is_cut,
            options,
            &mut warnings,
        ));
    }
    let rest = text[at..].trim();
    if !rest.is_empty() {
        warnings.push(Warning {
            code: WarningCode::Unknown,
            line: Some(line),
            message: format!("{} bytes after the document are left out", rest.len()),
        });
    }
    if runs.is_empty() {
        return Err(ReadError::NotRecognised { line: None });
    }
    if runs.len() > 1 {
        warnings.push(Warning {
            code: WarningCode::SeveralRuns,
            line: None,
            message: format!("the file holds {} documents", runs.len()),
        });
    }
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::NcclTestsJson,
            runs,
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

fn run(
    document: &Value,
    first_line: u64,
    is_cut: bool,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> Run {
    let warn = |code, message: String| Warning {
        code,
        line: None,
        message,
    };
    if let Some(version) = whole::<u64>(document.get("version"))
        && version > VERSION_MAX
    {
        let message = format!("format version {version} is newer than {VERSION_MAX}; read as that");
        warnings.push(warn(WarningCode::Unknown, message));
    }
    let setup = setup::read(document);
    let collective = setup.command.as_deref().and_then(command::collective);
    let collective = collective.or(options.collective);
    let results = document.get("results").and_then(Value::as_array);
    let results = results.map_or(&[][..], Vec::as_slice);
    let mut rows = Vec::new();
    for (index, result) in results.iter().enumerate() {
        if !push_rows(result, collective, &mut rows) {
            let message = format!("result {} holds no size or no time", index + 1);
            warnings.push(warn(WarningCode::BadRow, message));
        }
    }
    if results
        .iter()
        .any(|result| result.pointer("/in_place/cpu_time").is_some())
    {
        let message = "`cpu_time` (`-C`) is the time of the call on the CPU, not of the \
                       operation; only the bandwidths are used";
        warnings.push(warn(WarningCode::Note, message.to_owned()));
    }
    if setup.validation == Some(false) {
        warnings.push(warn(
            WarningCode::NotChecked,
            "results were not checked (`-c 0`)".to_owned(),
        ));
    }
    let notes = command::timing_notes(&setup).into_iter();
    warnings.extend(notes.map(|message| warn(WarningCode::Note, message)));
    let ranks = setup_ranks(&setup, collective, &rows, warnings);
    let nodes = setup::hosts(&setup);
    for row in &mut rows {
        row.signature.ranks = ranks;
        row.signature.nodes = nodes;
    }
    let footer = footer(document, warnings);
    let end = end(document, &setup, is_cut, &rows, warnings);
    Run {
        footer,
        end,
        rows: results.len() as u64,
        first_line,
        series: series(rows, options, warnings),
        setup,
    }
}

/// Reads one result into a row per placement; `false` when nothing can be used.
fn push_rows(result: &Value, collective: Option<Collective>, rows: &mut Vec<Row>) -> bool {
    let Some(bytes) = whole(result.get("size")) else {
        return false;
    };
    let before = rows.len();
    for (placement, name) in [
        (Placement::OutOfPlace, "out_of_place"),
        (Placement::InPlace, "in_place"),
    ] {
        let Some(body) = result.get(name) else {
            continue;
        };
        let row = Row {
            line: 0,
            signature: Signature {
                collective,
                ranks: None,
                nodes: None,
                datatype: lower(result.get("type")).and_then(|text| text.parse().ok()),
                redop: lower(result.get("redop")).and_then(|text| text.parse().ok()),
                root: whole(result.get("root")),
            },
            placement,
            bytes,
            count: whole(result.get("count")),
            // `cpu_time` (`-C`) is the time of the call on the CPU, not of the operation.
            time: positive(body.get("time")),
            algbw: positive(body.get("alg_bw")),
            busbw: positive(body.get("bus_bw")),
            wrong: correctness(body.get("nwrong")),
            iterations: iterations(result.get(format!("{name}_per_iter").as_str())),
            published: None,
            path: None,
            tuner: None,
        };
        if row.has_value() {
            rows.push(row);
        }
    }
    rows.len() > before
}

/// Reads times per iteration: the list over iterations, else the largest over processes.
fn iterations(report: Option<&Value>) -> Vec<Micros> {
    let times = |list: &Value| -> Vec<f64> {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_f64).collect()
    };
    let Some(report) = report else {
        return Vec::new();
    };
    let mut largest = report.get("times_us").map(times).unwrap_or_default();
    if largest.is_empty() {
        let processes = report
            .get("per_process_max_times_us")
            .and_then(Value::as_array);
        for process in processes.into_iter().flatten().map(times) {
            largest.resize(largest.len().max(process.len()), 0.0);
            for (known, time) in largest.iter_mut().zip(process) {
                *known = known.max(time);
            }
        }
    }
    largest.into_iter().map(Micros::new).collect()
}

/// Returns processes x threads x GPUs where the numbers do not object.
fn setup_ranks(
    setup: &RunSetup,
    collective: Option<Collective>,
    rows: &[Row],
    warnings: &mut Vec<Warning>,
) -> Option<u32> {
    let listed = u32::try_from(setup.devices.len())
        .ok()
        .filter(|listed| *listed > 0)?;
    let per_process = setup
        .threads
        .unwrap_or(1)
        .max(1)
        .checked_mul(setup.gpus.unwrap_or(1).max(1))?;
    let by_count = ranks_by_count(rows);
    let by_factor = collective.map_or(Ranks::Unknown, |collective| {
        let pairs = rows.iter().filter_map(|row| Some((row.algbw?, row.busbw?)));
        rank_count::from_printed(collective, pairs)
    });
    let fits = |ranks: u32| {
        by_count.is_none_or(|counted| counted == ranks)
            && match by_factor {
                Ranks::Estimated { low, high } => (low..=high).contains(&ranks),
                Ranks::Stated(_) | Ranks::Unknown => true,
            }
    };
    // A later release may list every GPU; then the list is the ranks.
    let candidates = [listed.checked_mul(per_process)?, listed];
    let found = candidates.into_iter().find(|ranks| fits(*ranks));
    if found.is_none() {
        warnings.push(Warning {
            code: WarningCode::RankCount,
            line: None,
            message: format!(
                "{listed} processes of {per_process} GPUs are listed, which the bandwidths and \
                 counts contradict"
            ),
        });
    }
    found
}

fn footer(document: &Value, warnings: &mut Vec<Warning>) -> Option<Footer> {
    let bounds = document.get("out_of_bounds")?;
    let average = document
        .get("average_bus_bandwidth")
        .or_else(|| document.get("average_bus_bandwidith"));
    let average = average.and_then(|of| of.get("bandwidth").or_else(|| of.get("bandwidith")));
    let passed = match lower(bounds.get("okay")).as_deref() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    if passed == Some(false) {
        warnings.push(Warning {
            code: WarningCode::WrongData,
            line: None,
            message: "the run says FAILED: values are out of bounds".to_owned(),
        });
    }
    Some(Footer {
        out_of_bounds: whole(bounds.get("count")),
        passed,
        average_busbw: average.and_then(Value::as_f64).map(GbPerSec::new),
    })
}

fn end(
    document: &Value,
    setup: &RunSetup,
    is_cut: bool,
    rows: &[Row],
    warnings: &mut Vec<Warning>,
) -> RunEnd {
    let errors = document.get("errors").and_then(Value::as_array);
    for error in errors.into_iter().flatten().filter_map(Value::as_str) {
        if !error.trim().is_empty() {
            warnings.push(Warning {
                code: WarningCode::Foreign,
                line: None,
                message: format!("NCCL's last error: {}", error.trim()),
            });
        }
    }
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let announced = setup::announced_sizes(setup);
    let is_short = announced.is_some_and(|announced| (sizes.len() as u64) < announced);
    if let Some(announced) = announced.filter(|_| is_short) {
        warnings.push(Warning {
            code: WarningCode::Unfinished,
            line: None,
            message: format!("{} of {announced} announced sizes are present", sizes.len()),
        });
    }
    if is_cut || is_short || document.get("end_time").is_none() {
        RunEnd::Unfinished
    } else {
        RunEnd::Complete
    }
}
