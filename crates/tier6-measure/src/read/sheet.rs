//! A table of cells under a header, whatever it was written in: CSV, tabs, Markdown.
//!
//! The writing is taken apart by [`super::csv`] and [`super::table`]; here the columns get their
//! meaning and the rows become series. Nothing is guessed from the position of a column.

pub(crate) mod cells;
pub(crate) mod columns;
mod generic_bandwidth;
mod line_reader;
mod read_rows;

pub(crate) use line_reader::wrong;
pub(crate) use read_rows::{TimeUnit, read_rows};

use super::{ReadError, ReadOptions};
use columns::{Column, recognise};

/// A table as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sheet {
    /// Line of the header, from 1.
    pub header_line: u64,
    pub header: Vec<String>,
    pub rows: Vec<SheetRow>,
}

/// A row as text, with as many cells as the header.
///
/// A record keeps its cells in one buffer, which takes half the memory of a string for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SheetRow {
    pub line: u64,
    pub cells: csv::StringRecord,
}

/// The columns of a sheet with their meaning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// Meaning by column; `None` for columns that are not known.
    pub columns: Vec<Option<Column>>,
}

impl Bound {
    /// Finds a column by meaning.
    pub(crate) fn find(&self, is: impl Fn(Column) -> bool) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.is_some_and(&is))
    }

    pub(crate) fn size(&self) -> Option<usize> {
        self.find(|column| matches!(column, Column::Size(_)))
    }

    /// Says whether the sheet is a sweep: it has sizes and something measured.
    pub(crate) fn is_sweep(&self) -> bool {
        self.size().is_some() && self.find(Column::is_value).is_some()
    }
}

/// Gives every header its meaning; of two columns that mean the same, the first.
pub(crate) fn bind(header: &[String]) -> Bound {
    let mut columns: Vec<Option<Column>> = Vec::new();
    for cell in header {
        let meaning = recognise(cell);
        let is_taken =
            meaning.is_some_and(|meaning| !may_repeat(meaning) && columns.contains(&Some(meaning)));
        columns.push(if is_taken { None } else { meaning });
    }
    Bound { columns }
}

fn may_repeat(column: Column) -> bool {
    matches!(
        column,
        Column::Setting | Column::Prediction | Column::LeftOut
    )
}

/// Applies the user's mapping: renames headers to our names, and adds a column for each constant
/// (`size_bytes` = `=8GiB`).
///
/// # Errors
///
/// When a header that the user names is not there, or our name is not known.
pub(crate) fn apply_mapping(sheet: &mut Sheet, options: &ReadOptions) -> Result<(), ReadError> {
    for (ours, theirs) in &options.columns {
        let Some(meaning) = recognise(ours) else {
            return Err(malformed(
                sheet.header_line,
                format!(
                    "`{ours}` is no column that tier6 knows; use size_bytes, time_us, algbw, busbw, collective, ranks, .."
                ),
            ));
        };
        // What the user says goes before what a header seems to say.
        for header in &mut sheet.header {
            if header != theirs && recognise(header) == Some(meaning) {
                header.insert(0, '~');
            }
        }
        if let Some(constant) = theirs.strip_prefix('=') {
            sheet.header.push(ours.clone());
            for row in &mut sheet.rows {
                row.cells.push_field(constant);
            }
        } else {
            let wanted = theirs.trim();
            let found = sheet
                .header
                .iter()
                .position(|header| header.trim_start_matches('~').eq_ignore_ascii_case(wanted));
            match found {
                Some(at) => sheet.header[at].clone_from(ours),
                None => {
                    return Err(malformed(
                        sheet.header_line,
                        format!(
                            "no column `{wanted}`; the columns are {}",
                            list(&sheet.header)
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Splits a mapping that gives several headers to one value, such as two columns of busbw, into
/// one reading of the sheet for each, with the header that it reads.
pub(crate) fn readings(options: &ReadOptions) -> Vec<(Option<String>, ReadOptions)> {
    let is_value = |ours: &str| recognise(ours).is_some_and(Column::is_value);
    let meaning = |ours: &str| recognise(ours).filter(|_| is_value(ours));
    let repeated = options.columns.iter().find(|(ours, _)| {
        let same = |(name, _): &&(String, String)| meaning(name) == meaning(ours);
        is_value(ours) && options.columns.iter().filter(same).count() > 1
    });
    let Some((ours, _)) = repeated else {
        return vec![(None, options.clone())];
    };
    let (same, rest): (Vec<_>, Vec<_>) = options
        .columns
        .iter()
        .cloned()
        .partition(|(name, _)| meaning(name) == meaning(ours));
    let reading = |one: (String, String)| {
        let header = one.1.clone();
        let mut columns = rest.clone();
        columns.push(one);
        let options = ReadOptions {
            columns,
            ..options.clone()
        };
        (Some(header), options)
    };
    same.into_iter().map(reading).collect()
}

/// Checks that the sheet is a sweep, and says what is missing when it is none.
pub(crate) fn require_sweep(sheet: &Sheet, bound: &Bound) -> Result<(), ReadError> {
    let columns = list(&sheet.header);
    if bound.find(Column::is_value).is_none() {
        let mapping = likely_value(&sheet.header);
        let message =
            format!("no column of times or bandwidths among {columns}; `--map {mapping}` names it");
        return Err(malformed(sheet.header_line, message));
    }
    if bound.size().is_none() {
        return Err(malformed(
            sheet.header_line,
            format!(
                "no column of message sizes among {columns}, so this is no size sweep; \
                 `--map size_bytes=HEADER` names the column, `--map size_bytes==8GiB` gives \
                 every row the same size"
            ),
        ));
    }
    Ok(())
}

/// Suggests a mapping for the first header that names a measurement among other words.
fn likely_value(header: &[String]) -> String {
    for ours in ["busbw", "algbw", "time"] {
        let found = header
            .iter()
            .find(|name| name.to_lowercase().contains(ours));
        if let Some(name) = found {
            let unit = if ours == "time" { "_us" } else { "" };
            return format!("{ours}{unit}={name}");
        }
    }
    "time_us=HEADER".to_owned()
}

fn malformed(line: u64, message: String) -> ReadError {
    ReadError::Malformed { line, message }
}

fn list(header: &[String]) -> String {
    let names: Vec<String> = header
        .iter()
        .map(|name| format!("`{}`", name.trim_start_matches('~')))
        .collect();
    names.join(", ")
}
