//! CSV: tier6's own, and anybody's whose header can be understood.
//!
//! The delimiter and the header line are found by what is recognised, not by their place: title
//! lines, comments, a byte-order mark and Excel's `sep=;` may come first. Quoting is the `csv`
//! crate's. A last line without its line break is reported and not used: nobody can tell whether
//! `13.4` was to become `13.46`.

use super::rows::in_input_order;
use super::sheet::{
    Bound, Sheet, SheetRow, TimeUnit, apply_mapping, bind, read_rows, readings, require_sweep,
};
use super::{ReadError, ReadOptions};
use crate::{Dataset, Dialect, Parsed, Trace, Warning, WarningCode};

/// How many lines may come before the header.
const PREAMBLE_MAX: usize = 40;

/// How many lines below the header are looked at to recognise a CSV.
const BODY_LOOKED_AT: usize = 100;

/// Columns of the bundled data; a CSV of these alone is tier6's own.
const TIER6_COLUMNS: [&str; 27] = [
    "size_bytes",
    "count",
    "dtype",
    "redop",
    "root",
    "oop_time_us",
    "oop_algbw",
    "oop_busbw",
    "oop_wrong",
    "ip_time_us",
    "ip_algbw",
    "ip_busbw",
    "ip_wrong",
    "median_us",
    "p95_us",
    "cv_pct",
    "algorithm",
    "protocol",
    "tuner_us",
    "measured_us",
    "g5_hw_us",
    "g5_total_us",
    "math_us",
    "collective",
    "ranks",
    "nodes",
    "wrong",
];

/// Says whether a text looks like a CSV with at least one column of a benchmark.
pub(crate) fn looks_like(head: &str) -> bool {
    let Some(layout) = find_layout(head) else {
        return false;
    };
    let bound = bind(&layout.header);
    let names_something = bound.columns.iter().flatten().next().is_some()
        || layout.header.iter().any(|name| {
            let name = name.to_lowercase();
            ["busbw", "algbw", "latency"]
                .iter()
                .any(|word| name.contains(word))
        });
    names_something && is_sheet(&head[layout.body_at..], &layout)
}

/// Says whether most lines have the header's cells: prose has commas, too.
fn is_sheet(body: &str, layout: &Layout) -> bool {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = || body.lines().filter(is_content).take(BODY_LOOKED_AT);
    let fitting =
        lines().filter(|line| split_line(line, layout.delimiter).len() == layout.header.len());
    fitting.count() * 2 >= lines().count()
}

/// Reads a CSV.
///
/// # Errors
///
/// When no column of sizes or none of times or bandwidths is found, or a mapping names a column
/// that is not there.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let mut warnings = Vec::new();
    let layout = find_layout(text).ok_or(ReadError::NotRecognised {
        line: Some(text.lines().count() as u64),
    })?;
    let mut sheet = read_sheet(text, &layout, &mut warnings);
    fit_to_header(&mut sheet, &mut warnings);
    let dialect = if sheet
        .header
        .iter()
        .all(|name| TIER6_COLUMNS.contains(&name.as_str()))
    {
        Dialect::Tier6Csv
    } else {
        Dialect::ForeignCsv
    };
    let mut all: Option<Parsed<Dataset>> = None;
    let readings = readings(options);
    let sheets = std::iter::repeat_n(sheet, readings.len());
    for ((header, options), mut sheet) in readings.into_iter().zip(sheets) {
        apply_mapping(&mut sheet, &options)?;
        let bound = bind(&sheet.header);
        require_sweep(&sheet, &bound)?;
        let warnings = std::mem::take(&mut warnings);
        let mut read = dataset(
            dialect,
            sheet,
            &bound,
            TimeUnit::Assumed,
            &options,
            warnings,
        );
        for run in &mut read.value.runs {
            let column = header
                .iter()
                .map(|header| ("column".to_owned(), header.clone()));
            run.setup.extra.extend(column);
        }
        match &mut all {
            None => all = Some(read),
            Some(all) => {
                all.value.runs.append(&mut read.value.runs);
                all.warnings.append(&mut read.warnings);
            }
        }
    }
    let mut all = all.expect("Invariant: there is at least one reading");
    all.warnings = in_input_order(all.warnings);
    Ok(all)
}

/// Makes the dataset of a sheet.
pub(super) fn dataset(
    dialect: Dialect,
    sheet: Sheet,
    bound: &Bound,
    time_unit: TimeUnit,
    options: &ReadOptions,
    mut warnings: Vec<Warning>,
) -> Parsed<Dataset> {
    let runs = read_rows(sheet, bound, time_unit, options, &mut warnings);
    Parsed {
        value: Dataset {
            dialect,
            runs,
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    }
}

/// Where the header is and how cells are set apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    delimiter: u8,
    /// Line of the header, from 1, and where the line after it starts.
    header_line: u64,
    body_at: usize,
    pub(super) header: Vec<String>,
    next_row_fits: bool,
}

/// Finds the header: the first line that names a size and a measurement, else the first line of
/// several cells.
pub(super) fn find_layout(text: &str) -> Option<Layout> {
    let mut fallback: Option<Layout> = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').take(PREAMBLE_MAX).enumerate() {
        let body_at = at + line.len();
        at = body_at;
        let content = line.trim_start_matches('\u{feff}').trim();
        let (content, is_comment) = match content.strip_prefix('#') {
            // `#wrong` may be a header's first word; `# size,time` is a header behind a comment.
            Some(rest) => (rest.trim(), true),
            None => (content, false),
        };
        if content.is_empty() || content.to_lowercase().starts_with("sep=") {
            continue;
        }
        for delimiter in [b',', b';', b'\t'] {
            let header = split_line(content, delimiter);
            if header.len() < 2 {
                continue;
            }
            let is_sweep = bind(&header).is_sweep();
            if is_comment && !is_sweep {
                continue;
            }
            let next = text[body_at..].lines().find(|line| !line.trim().is_empty());
            let next_row_fits =
                next.is_some_and(|next| split_line(next, delimiter).len() == header.len());
            let layout = Layout {
                delimiter,
                header_line: index as u64 + 1,
                body_at,
                header,
                next_row_fits,
            };
            if is_sweep {
                return Some(layout);
            }
            let is_better = fallback.as_ref().is_none_or(|best| {
                best.header_line == layout.header_line
                    && layout.next_row_fits
                    && !best.next_row_fits
            });
            if is_better {
                fallback = Some(layout);
            }
        }
    }
    fallback
}

fn split_line(line: &str, delimiter: u8) -> Vec<String> {
    let mut reader = reader(delimiter).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    record.map_or(Vec::new(), |record| {
        record.iter().map(str::to_owned).collect()
    })
}

fn reader(delimiter: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'));
    builder
}

/// Reads the rows below the header; those that do not fit it are told and left out.
pub(super) fn read_sheet(text: &str, layout: &Layout, warnings: &mut Vec<Warning>) -> Sheet {
    let body = &text[layout.body_at..];
    let mut sheet = Sheet {
        header_line: layout.header_line,
        header: layout.header.clone(),
        rows: Vec::new(),
    };
    for record in reader(layout.delimiter)
        .from_reader(body.as_bytes())
        .records()
    {
        // The reader is fed from UTF-8 text with flexible lengths, so no record is an error.
        let Ok(cells) = record else { continue };
        let line = cells.position().map_or(0, csv::Position::line) + layout.header_line;
        if cells.iter().any(|cell| !cell.is_empty()) {
            sheet.rows.push(SheetRow { line, cells });
        }
    }
    drop_cut_row(&mut sheet, body.ends_with('\n'), warnings);
    sheet
}

/// Reports a last row that stops too early.
fn drop_cut_row(sheet: &mut Sheet, is_terminated: bool, warnings: &mut Vec<Warning>) {
    let width = sheet.header.len();
    let is_cut = sheet
        .rows
        .last()
        .is_some_and(|row| !is_terminated || row.cells.len() < width);
    if !is_cut {
        return;
    }
    let Some(row) = sheet.rows.pop() else { return };
    let found = row.cells.len();
    let why = if found < width {
        format!("{found} of {width} cells")
    } else {
        "no line break at its end".to_owned()
    };
    warnings.push(Warning {
        code: WarningCode::CutRow,
        line: Some(row.line),
        message: format!("the last row is cut ({why}) and not used"),
    });
}

/// Leaves out rows that have more or fewer cells than the header; empty cells at the end are
/// forgiven.
pub(super) fn fit_to_header(sheet: &mut Sheet, warnings: &mut Vec<Warning>) {
    let width = sheet.header.len();
    sheet.rows.retain_mut(|row| {
        if row.cells.iter().skip(width).all(str::is_empty) {
            row.cells.truncate(width);
        }
        let found = row.cells.len();
        if found != width {
            warnings.push(Warning {
                code: WarningCode::BadRow,
                line: Some(row.line),
                message: format!("expected {width} cells, found {found}; the row is not used"),
            });
        }
        found == width
    });
}
