//! From a sheet with known columns to runs of series.

use super::columns::{Column, Rate};
use super::generic_bandwidth::{Evidence, Meaning, decide};
use super::line_reader::{Keyed, LineReader};
use super::{Bound, Sheet};
use crate::read::rows::{Row, series};
use crate::read::{ReadOptions, command};
use crate::{Run, RunEnd, RunSetup, Warning, WarningCode};
use std::collections::BTreeMap;

/// What a time without a unit in its header is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    /// The format is known to use us.
    Documented,
    /// Nothing is known; us is assumed, and said.
    Assumed,
}

/// Reads the rows of a sweep; the sheet is freed before its rows are grouped.
pub(crate) fn read_rows(
    sheet: Sheet,
    bound: &Bound,
    time_unit: TimeUnit,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> Vec<Run> {
    note_columns(&sheet, bound, time_unit, warnings);
    let reader = LineReader::new(&sheet, bound, options, warnings);
    let mut keyed = Vec::new();
    for row in &sheet.rows {
        let before = keyed.len();
        match reader.read(row, &mut keyed) {
            Ok(()) if keyed.len() == before => {
                warnings.push(bad_row(row.line, "the row holds no time and no bandwidth"));
            }
            Ok(()) => {}
            Err(message) => warnings.push(bad_row(row.line, &message)),
        }
    }
    place_bandwidth(&sheet, bound, options, &mut keyed, warnings);
    let left_out = names_of(&sheet, bound, |column| column == Some(Column::Prediction));
    let header_line = sheet.header_line;
    drop(sheet);
    into_runs(keyed, &left_out, header_line, options, warnings)
}

fn bad_row(line: u64, message: &str) -> Warning {
    Warning {
        code: WarningCode::BadRow,
        line: Some(line),
        message: message.to_owned(),
    }
}

fn names_of(sheet: &Sheet, bound: &Bound, is: impl Fn(Option<Column>) -> bool) -> Vec<String> {
    let columns = sheet.header.iter().zip(&bound.columns);
    let found = columns.filter(|(name, column)| is(**column) && !name.trim().is_empty());
    found
        .map(|(name, _)| format!("`{}`", name.trim_start_matches('~')))
        .collect()
}

/// Tells which columns were left out, and whose unit was assumed.
fn note_columns(sheet: &Sheet, bound: &Bound, time_unit: TimeUnit, warnings: &mut Vec<Warning>) {
    let mut note = |message: String| {
        warnings.push(Warning {
            code: WarningCode::Note,
            line: Some(sheet.header_line),
            message,
        });
    };
    let unknown = names_of(sheet, bound, |column| column.is_none());
    if !unknown.is_empty() {
        note(format!(
            "columns {} are not known and left out",
            unknown.join(", ")
        ));
    }
    let without_unit = names_of(sheet, bound, |column| {
        matches!(column, Some(Column::Time(_, None) | Column::Median(None)))
    });
    if time_unit == TimeUnit::Assumed && !without_unit.is_empty() {
        note(format!(
            "column {} names no unit; read as us",
            without_unit.join(", ")
        ));
    }
    let rates = names_of(sheet, bound, |column| {
        matches!(
            column,
            Some(Column::Algbw(_, Rate::Ambiguous) | Column::Busbw(_, Rate::Ambiguous))
        )
    });
    if !rates.is_empty() {
        note(format!(
            "column {} may mean bits or bytes; read as GB/s",
            rates.join(", ")
        ));
    }
}

/// Puts the values of a column `bandwidth` where they belong.
fn place_bandwidth(
    sheet: &Sheet,
    bound: &Bound,
    options: &ReadOptions,
    keyed: &mut Vec<Keyed>,
    warnings: &mut Vec<Warning>,
) {
    let at = bound.find(|column| matches!(column, Column::Bandwidth(_)));
    let Some((at, unit)) = at.and_then(|at| match bound.columns[at] {
        Some(Column::Bandwidth(unit)) => Some((at, unit)),
        _ => None,
    }) else {
        return;
    };
    let evidence: Vec<Evidence> = keyed
        .iter()
        .map(|keyed| Evidence {
            bytes: keyed.row.bytes,
            time: keyed.row.time,
            bandwidth: keyed.bandwidth,
            factor: (keyed.row.signature.collective.or(options.collective))
                .zip(keyed.row.signature.ranks)
                .map(|(collective, ranks)| collective.bus_factor(ranks)),
        })
        .collect();
    let meaning = decide(&sheet.header[at], unit, &evidence, warnings);
    for keyed in keyed.iter_mut() {
        match meaning {
            // A bandwidth that only roughly follows from the time adds nothing to it.
            Meaning::Algbw(scale) if keyed.row.time.is_none() => {
                keyed.row.algbw = keyed.bandwidth.map(|value| value.scaled(scale));
            }
            Meaning::Busbw(scale) if keyed.row.time.is_none() => {
                keyed.row.busbw = keyed.bandwidth.map(|value| value.scaled(scale));
            }
            Meaning::Algbw(_) | Meaning::Busbw(_) | Meaning::Neither => {}
        }
    }
    keyed.retain(|keyed| keyed.row.has_value());
}

/// Groups rows into runs: by command, and by settings where one size was measured under several.
fn into_runs(
    keyed: Vec<Keyed>,
    left_out: &[String],
    first_line: u64,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> Vec<Run> {
    let by_settings = settings_differ(&keyed) || settings_agree(&keyed);
    let mut groups: Vec<(RunKey, Vec<Row>)> = Vec::new();
    let mut index: BTreeMap<RunKey, usize> = BTreeMap::new();
    for keyed in keyed {
        let key = RunKey {
            command: keyed.command,
            settings: if by_settings {
                keyed.settings
            } else {
                Vec::new()
            },
        };
        let group = *index.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(keyed.row);
    }
    let runs = groups.into_iter().map(|(key, rows)| {
        let mut setup = RunSetup::default();
        let mut rows = rows;
        if let Some(command) = &key.command {
            command::apply(command, &mut setup);
            let ranks = command::ranks(command, &setup);
            for row in &mut rows {
                row.signature.ranks = row.signature.ranks.or(ranks);
            }
            warnings.extend(
                command::timing_notes(&setup)
                    .into_iter()
                    .map(|message| Warning {
                        code: WarningCode::Note,
                        line: rows.first().map(|row| row.line),
                        message,
                    }),
            );
        }
        setup.command = key.command;
        setup.extra = key.settings;
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            setup.extra.push(("predictions left out".to_owned(), names));
        }
        Run {
            setup,
            rows: rows.len() as u64,
            series: series(rows, options, warnings),
            footer: None,
            end: RunEnd::NotStated,
            first_line,
        }
    });
    runs.collect()
}

/// What makes the rows of a sheet one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RunKey {
    command: Option<String>,
    settings: Vec<(String, String)>,
}

/// Says whether one size on one path was measured under different settings.
fn settings_differ(keyed: &[Keyed]) -> bool {
    let mut settings_of = BTreeMap::new();
    keyed.iter().any(|keyed| {
        let row = &keyed.row;
        let key = (
            row.signature,
            row.placement,
            row.bytes,
            row.path,
            &keyed.command,
        );
        *settings_of.entry(key).or_insert(&keyed.settings) != &keyed.settings
    })
}

/// Says whether all rows were measured under the same settings, which then are the run's.
fn settings_agree(keyed: &[Keyed]) -> bool {
    keyed
        .windows(2)
        .all(|pair| pair[0].settings == pair[1].settings)
}
