//! Tables in running text: tab-separated columns, Markdown pipes, columns set apart by blanks.
//!
//! A document may hold several. Each that names sizes and a measurement is read; one that repeats
//! sizes and times of a larger one only adds what it knows more, such as NCCL's own prediction.

use super::csv::fit_to_header;
use super::rows::in_input_order;
use super::sheet::{Bound, Sheet, SheetRow, TimeUnit, apply_mapping, bind, read_rows};
use super::{ReadError, ReadOptions};
use crate::{Dataset, Dialect, Parsed, Run, Trace, Warning, WarningCode};

/// Fewest rows that make a table of lines.
const ROWS_MIN: usize = 2;

/// Says whether a text holds a table of sizes and measurements.
pub(crate) fn looks_like(head: &str) -> bool {
    !sweeps(head, &ReadOptions::default()).is_empty()
}

/// Reads the tables of a text.
///
/// # Errors
///
/// When no table names sizes and a measurement.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let mut warnings = Vec::new();
    let sweeps = sweeps(text, options);
    let mut runs: Vec<Run> = Vec::new();
    // Largest first, so that a short table finds the one that it repeats.
    let mut order: Vec<&(Sheet, Bound)> = sweeps.iter().collect();
    order.sort_by_key(|(sheet, _)| std::cmp::Reverse(sheet.rows.len()));
    for (sheet, bound) in order {
        let mut found = Vec::new();
        let mut sheet = sheet.clone();
        drop_cut_row(&mut sheet, text, &mut found);
        fit_to_header(&mut sheet, &mut found);
        for run in read_rows(sheet, bound, TimeUnit::Assumed, options, &mut found) {
            if !runs.iter_mut().any(|larger| absorb(larger, &run)) {
                runs.push(run);
                warnings.append(&mut found);
            }
        }
    }
    runs.retain(|run| !run.series.is_empty());
    if runs.is_empty() {
        return Err(ReadError::NotRecognised {
            line: Some(text.lines().count() as u64),
        });
    }
    runs.sort_by_key(|run| run.first_line);
    if runs.len() > 1 {
        warnings.push(Warning {
            code: WarningCode::SeveralRuns,
            line: None,
            message: format!("the text holds {} tables of measurements", runs.len()),
        });
    }
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::TextTable,
            runs,
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

/// Reports a row that ends the text without a line break: it may be cut.
fn drop_cut_row(sheet: &mut Sheet, text: &str, warnings: &mut Vec<Warning>) {
    let last_line = text.lines().count() as u64;
    if text.ends_with('\n') || sheet.rows.last().is_none_or(|row| row.line != last_line) {
        return;
    }
    sheet.rows.pop();
    warnings.push(Warning {
        code: WarningCode::CutRow,
        line: Some(last_line),
        message: "the last row is cut (no line break at its end) and not used".to_owned(),
    });
}

/// Adds what a smaller table knows to a larger one that holds all its points; `false` when it
/// holds others.
fn absorb(larger: &mut Run, smaller: &Run) -> bool {
    let ([into], [from]) = (larger.series.as_mut_slice(), smaller.series.as_slice()) else {
        return false;
    };
    let mut matches = Vec::new();
    for point in &from.points {
        let found = into
            .points
            .iter()
            .position(|known| known.bytes == point.bytes);
        let Some(at) = found.filter(|at| central(&into.points[*at]) == central(point)) else {
            return false;
        };
        matches.push((at, point));
    }
    for (at, point) in matches {
        let known = &mut into.points[at];
        known.tuner = known.tuner.or(point.tuner);
        known.path = known.path.or(point.path);
        known.published = known.published.or(point.published);
    }
    true
}

/// The time that stands for a point in print.
fn central(point: &crate::Point) -> Option<f64> {
    let published = point.published.map(|stats| stats.median);
    let sampled = || point.samples.first().and_then(|sample| sample.time);
    published.or_else(sampled).map(tier6_units::Micros::get)
}

/// Finds the tables that are sweeps.
fn sweeps(text: &str, options: &ReadOptions) -> Vec<(Sheet, Bound)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match table_at(&lines, at) {
            Some((mut sheet, next)) => {
                // A mapping is for one table; the others keep their own headers.
                let mapped = apply_mapping(&mut sheet, options);
                let bound = bind(&sheet.header);
                if mapped.is_ok() && bound.is_sweep() && has_size(&sheet, &bound) {
                    found.push((sheet, bound));
                }
                at = next;
            }
            None => at += 1,
        }
    }
    found
}

fn has_size(sheet: &Sheet, bound: &Bound) -> bool {
    bound.size().is_some_and(|at| {
        sheet.rows.iter().any(|row| {
            row.cells
                .get(at)
                .is_some_and(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// How a line sets its cells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Tab,
    Pipe,
    Blanks,
}

/// Reads the table whose header is at a line, and says where the next one may start.
fn table_at(lines: &[&str], at: usize) -> Option<(Sheet, usize)> {
    let (separator, header) = split_header(lines[at])?;
    bind(&header).size()?;
    let mut rows = Vec::new();
    let mut next = at + 1;
    while next < lines.len() {
        let line = lines[next];
        if separator == Separator::Pipe && is_rule(line) {
            next += 1;
            continue;
        }
        let cells = split(line, separator);
        let fits = match separator {
            Separator::Tab => line.contains('\t'),
            Separator::Pipe => line.contains('|'),
            Separator::Blanks => cells.len() == header.len(),
        };
        if !fits {
            break;
        }
        rows.push(SheetRow {
            line: next as u64 + 1,
            cells: cells.into(),
        });
        next += 1;
    }
    (rows.len() >= ROWS_MIN).then(|| {
        let sheet = Sheet {
            header_line: at as u64 + 1,
            header,
            rows,
        };
        (sheet, next)
    })
}

fn split_header(line: &str) -> Option<(Separator, Vec<String>)> {
    let line = line.trim_start_matches(['#', '\u{feff}']);
    let separator = if line.contains('\t') {
        Separator::Tab
    } else if line.contains('|') {
        Separator::Pipe
    } else {
        Separator::Blanks
    };
    let header = split(line, separator);
    (header.len() >= 2).then_some((separator, header))
}

fn split(line: &str, separator: Separator) -> Vec<String> {
    let trimmed = line.trim();
    let cells: Vec<&str> = match separator {
        Separator::Tab => line.trim_end_matches(['\r', '\n']).split('\t').collect(),
        Separator::Pipe => {
            let inner = trimmed.strip_prefix('|').unwrap_or(trimmed);
            inner
                .strip_suffix('|')
                .unwrap_or(inner)
                .split('|')
                .collect()
        }
        Separator::Blanks => trimmed
            .split("  ")
            .filter(|cell| !cell.trim().is_empty())
            .collect(),
    };
    cells
        .into_iter()
        .map(|cell| cell.trim().trim_matches(['`', '*']).trim().to_owned())
        .collect()
}

/// Says whether a line is Markdown's rule between header and rows.
fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\r'))
}
