//! The comparison with tables that NCCL's own code printed: rows, equal, different, with
//! examples. By file, and in the wide and Markdown forms by version, kind, system and
//! collective.

use crate::analysis::csv::quoted;
use crate::analysis::json::pretty;
use crate::grid::{Align, Cell, Columns, Grid};
use crate::style::{Detail, Style, Tone};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tier6_nccl::{Difference, LibraryVersion, Tally, VerifyReport};

/// A line of a table of counts.
struct Counted {
    name: String,
    rows: u64,
    equal: u64,
}

impl Counted {
    const fn different(&self) -> u64 {
        self.rows - self.equal
    }
}

/// Returns the comparison as text for a terminal.
pub fn verify_table(report: &VerifyReport, style: Style, detail: Detail) -> String {
    let mut out = counts_grid("file", &by_file(report)).text(style);
    if detail == Detail::Wide {
        for (head, rows) in groupings(report) {
            let _ = write!(out, "\n{}", counts_grid(head, &rows).text(style));
        }
    }
    if !report.examples.is_empty() {
        let _ = write!(out, "\n{}", examples_grid(report).text(style));
    }
    let tone = if report.different() == 0 {
        Tone::Good
    } else {
        Tone::Bad
    };
    let _ = writeln!(out, "\n{}", style.paint(tone, &verdict(report)));
    out
}

fn verdict(report: &VerifyReport) -> String {
    let (rows, different) = (report.rows(), report.different());
    if different == 0 {
        format!("all {rows} rows equal")
    } else {
        format!("{different} of {rows} rows differ")
    }
}

/// Returns the comparison as a page of Markdown.
pub fn verify_markdown(report: &VerifyReport) -> String {
    let mut out = format!(
        "# Exactness of the tuner\n\n\
         Every row of tables that NCCL's own code printed, against the model: every field must be \
         equal, floats to the last bit. A row that cannot be read or whose communicator is unknown \
         counts as different; none is left out.\n\n\
         **{}.**\n",
        verdict(report)
    );
    for (head, rows) in groupings(report) {
        let _ = write!(
            out,
            "\n## By {head}\n\n{}",
            counts_grid(head, &rows).markdown()
        );
    }
    let _ = write!(
        out,
        "\n## By file\n\n{}",
        counts_grid("file", &by_file(report)).markdown()
    );
    if !report.examples.is_empty() {
        let _ = write!(
            out,
            "\n## Rows that differ\n\n{}",
            examples_grid(report).markdown()
        );
    }
    out
}

fn by_file(report: &VerifyReport) -> Vec<Counted> {
    let counted = report.tables.iter().map(|table| Counted {
        name: table.file.clone(),
        rows: table.rows,
        equal: table.equal,
    });
    counted.collect()
}

fn groupings(report: &VerifyReport) -> [(&'static str, Vec<Counted>); 4] {
    let tables = || report.tables.iter();
    let whole = |rows, equal| Tally { rows, equal };
    let versions = tables().map(|table| {
        let version = version_of(&table.file);
        let name = version.map_or_else(|| "?".to_owned(), |version| version.to_string());
        ((version, name), whole(table.rows, table.equal))
    });
    let kinds = tables().map(|table| (kind_of(&table.file), whole(table.rows, table.equal)));
    let groups = || tables().flat_map(|table| &table.groups);
    let systems = groups().map(|(group, tally)| (system_of(&group.system), *tally));
    let collectives = groups().map(|(group, tally)| {
        let name = group.collective.as_deref().unwrap_or("all (tables)");
        (name.to_owned(), *tally)
    });
    [
        ("version", sums(versions, |(_, name)| name)),
        ("kind", sums(kinds, |name| name)),
        ("collective", sums(collectives, |name| name)),
        ("system", sums(systems, |name| name)),
    ]
}

/// Adds tallies up by key, in the order of the keys.
fn sums<K: Ord>(tallies: impl Iterator<Item = (K, Tally)>, name: fn(K) -> String) -> Vec<Counted> {
    let mut sums: BTreeMap<K, Tally> = BTreeMap::new();
    for (key, tally) in tallies {
        let sum = sums.entry(key).or_default();
        sum.rows += tally.rows;
        sum.equal += tally.equal;
    }
    let counted = sums.into_iter().map(|(key, tally)| Counted {
        name: name(key),
        rows: tally.rows,
        equal: tally.equal,
    });
    counted.collect()
}

/// Returns what the rows of a file are: `env costs`, `systems`.
fn kind_of(file: &str) -> String {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    let rows = match folder {
        "env" | "fuzz" | "types" if file.ends_with(".cost.csv") => " choices",
        "env" if file.ends_with(".sched.csv") => " schedules",
        "env" | "fuzz" => " tables",
        _ => "",
    };
    format!("{folder}{rows}")
}

/// Returns the system of a row; random cases are one system.
fn system_of(name: &str) -> String {
    let is_random = name
        .strip_prefix("fz")
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_random { "random" } else { name }.to_owned()
}

fn version_of(file: &str) -> Option<LibraryVersion> {
    let name = file.rsplit('/').next()?;
    let end = name.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    name[..end].trim_end_matches('.').parse().ok()
}

fn counts_grid(head: &str, rows: &[Counted]) -> Grid {
    Columns::of(rows)
        .left(head, |row| row.name.clone())
        .right("rows", |row| row.rows.to_string())
        .right("equal", |row| row.equal.to_string())
        .cells("different", Align::Right, |row| {
            let tone = if row.different() == 0 {
                Tone::Plain
            } else {
                Tone::Bad
            };
            Cell::toned(row.different().to_string(), tone)
        })
        .grid()
}

fn examples_grid(report: &VerifyReport) -> Grid {
    Columns::of(&report.examples)
        .left("place", |example| {
            format!("{}:{}", example.file, example.row)
        })
        .left("id", |example| example.id.clone())
        .left("field", |example| example.field.clone())
        .left("ours", |example| example.ours.clone())
        .left("theirs", |example| example.theirs.clone())
        .grid()
}

/// Returns the counts per file as CSV.
pub fn verify_csv(report: &VerifyReport) -> String {
    let mut out = "file,rows,equal,different\n".to_owned();
    for table in &report.tables {
        let _ = writeln!(
            out,
            "{},{},{},{}",
            quoted(&table.file),
            table.rows,
            table.equal,
            table.different
        );
    }
    out
}

/// Returns the comparison as JSON of schema `tier6.verify/1`.
pub fn verify_json(report: &VerifyReport) -> String {
    pretty(&ReportDto {
        schema: "tier6.verify/1",
        tables: (report.tables.iter())
            .map(|table| TableDto {
                file: &table.file,
                rows: table.rows,
                equal: table.equal,
                different: table.different,
            })
            .collect(),
        rows: report.rows(),
        equal: report.equal(),
        different: report.different(),
        examples: report.examples.iter().map(ExampleDto::new).collect(),
        notes: &report.notes,
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    tables: Vec<TableDto<'a>>,
    rows: u64,
    equal: u64,
    different: u64,
    examples: Vec<ExampleDto<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct TableDto<'a> {
    file: &'a str,
    rows: u64,
    equal: u64,
    different: u64,
}

#[derive(Serialize)]
struct ExampleDto<'a> {
    file: &'a str,
    id: &'a str,
    row: u64,
    field: &'a str,
    ours: &'a str,
    theirs: &'a str,
}

impl<'a> ExampleDto<'a> {
    fn new(example: &'a Difference) -> Self {
        Self {
            file: &example.file,
            id: &example.id,
            row: example.row,
            field: &example.field,
            ours: &example.ours,
            theirs: &example.theirs,
        }
    }
}
