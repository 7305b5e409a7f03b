//! Compares the model with tables that NCCL's own code printed, row by row.
//!
//! Files are given as text under their names in a folder laid out like the oracle's:
//! `systems/2.22.3.jsonl`, `cost/2.22.3.csv`, `sched/`, `types/`, `env/`, `fuzz/`. Every field
//! of a row must be equal, floats to the last bit. A row that cannot be read or whose
//! communicator is unknown counts as different; none is left out.

mod calls;
mod tables;

use crate::cost_table::CostTable;
use crate::release::{FoundRelease, Release, UnknownVersionError};
use std::collections::BTreeMap;
use tier6_collective::{LibraryVersion, ParseVersionError};

/// How many examples of differences a report keeps per file.
const EXAMPLES_MAX: usize = 20;

/// How many of them may come from one row, so that other rows are seen, too.
const EXAMPLES_PER_ROW: usize = 4;

/// One file of an oracle folder.
#[derive(Debug, Clone, Copy)]
pub struct OracleFile<'a> {
    /// The name inside the folder: `env/2.30.7.cost.csv`.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifyReport {
    /// One entry per file, in the order given.
    pub tables: Vec<TableReport>,
    /// Some of the rows that differ.
    pub examples: Vec<Difference>,
    /// What is to be known: a release in place of an unknown version, files left aside.
    pub notes: Vec<String>,
}

/// The outcome for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// The name of the file.
    pub file: String,
    /// Rows of the file.
    pub rows: u64,
    /// Rows with every field equal.
    pub equal: u64,
    /// The others.
    pub different: u64,
    /// Rows and equal rows by system and collective, in the order of their names.
    pub groups: BTreeMap<Group, Tally>,
}

/// What rows are counted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The system, without the name of the environment setting.
    pub system: String,
    /// The collective as the file writes it; `None` for tables, which hold all of them.
    pub collective: Option<String>,
}

/// Counts of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Rows.
    pub rows: u64,
    /// Rows with every field equal.
    pub equal: u64,
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The name of the file.
    pub file: String,
    /// The row's communicator.
    pub id: String,
    /// The line of the file, from 1.
    pub row: u64,
    /// The field.
    pub field: String,
    /// The model's value.
    pub ours: String,
    /// The file's value.
    pub theirs: String,
}

impl VerifyReport {
    /// Returns the rows of all files.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Returns the rows with every field equal.
    pub fn equal(&self) -> u64 {
        self.tables.iter().map(|table| table.equal).sum()
    }

    /// Returns the rows that differ.
    pub fn different(&self) -> u64 {
        self.tables.iter().map(|table| table.different).sum()
    }
}

/// Why a folder cannot be compared at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A file's name does not say what it holds.
    #[error(
        "`{0}` is none of VERSION.jsonl, VERSION.cost.csv, VERSION.sched.csv, cost/VERSION.csv, \
         sched/VERSION.csv"
    )]
    UnknownFile(String),
    /// A file's name holds no version.
    #[error("failed to read the version in the name `{file}`")]
    Version {
        /// The name.
        file: String,
        /// What is wrong with it.
        source: ParseVersionError,
    },
    /// A version is too old.
    #[error("failed to compare `{file}`")]
    UnknownVersion {
        /// The name.
        file: String,
        /// What is wrong with it.
        source: UnknownVersionError,
    },
}

/// What a file of the folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tables,
    Costs,
    Schedules,
}

/// A file's name, understood.
struct Place<'a> {
    folder: &'a str,
    version: LibraryVersion,
    release: FoundRelease,
    kind: Kind,
}

/// Communicators with their tables, by folder, version and id. One that NCCL refuses has no
/// table.
type Known<'a> = BTreeMap<(&'a str, LibraryVersion), BTreeMap<String, CostTable>>;

/// Compares every row of every file.
///
/// Files of communicators (`.jsonl`) may come in any order; rows of other files find theirs
/// beside them, else in `systems/`, of the same version.
///
/// # Errors
///
/// Fails when a file's name does not follow the layout, or names a version that is too old.
pub fn verify(files: &[OracleFile<'_>]) -> Result<VerifyReport, VerifyError> {
    let places = files
        .iter()
        .map(|file| place(file.name))
        .collect::<Result<Vec<_>, _>>()?;
    let mut known = Known::new();
    let mut reports: Vec<Option<Sheet>> = files.iter().map(|_| None).collect();
    for ((file, place), report) in files.iter().zip(&places).zip(&mut reports) {
        if place.kind == Kind::Tables {
            let mut sheet = Sheet::new(file.name);
            let tables = tables::compare(file.text, place, &mut sheet);
            known
                .entry((place.folder, place.version))
                .or_default()
                .extend(tables);
            *report = Some(sheet);
        }
    }
    let none = BTreeMap::new();
    for ((file, place), report) in files.iter().zip(&places).zip(&mut reports) {
        let tables = [place.folder, "systems"]
            .into_iter()
            .find_map(|folder| known.get(&(folder, place.version)))
            .unwrap_or(&none);
        let mut sheet = Sheet::new(file.name);
        match place.kind {
            Kind::Tables => continue,
            Kind::Costs => calls::compare_costs(file.text, tables, &mut sheet),
            Kind::Schedules => calls::compare_schedules(file.text, tables, &mut sheet),
        }
        *report = Some(sheet);
    }
    let mut report = VerifyReport::default();
    for (file, place) in files.iter().zip(&places) {
        let note = place.release.substitute_note();
        report
            .notes
            .extend(note.map(|note| format!("`{}`: {note}", file.name)));
    }
    for sheet in reports.into_iter().flatten() {
        report.tables.push(sheet.report);
        report.examples.extend(sheet.examples);
    }
    Ok(report)
}

fn place(name: &str) -> Result<Place<'_>, VerifyError> {
    let unknown = || VerifyError::UnknownFile(name.to_owned());
    let (folder, file) = name.rsplit_once('/').ok_or_else(unknown)?;
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    // The longest suffix first: `2.30.7.cost.csv` is not version `2.30.7.cost`.
    let (version, suffix) = [".cost.csv", ".sched.csv", ".csv", ".jsonl"]
        .into_iter()
        .find_map(|suffix| Some((file.strip_suffix(suffix)?, suffix)))
        .ok_or_else(unknown)?;
    let kind = match (folder, suffix) {
        (_, ".jsonl") => Kind::Tables,
        (_, ".cost.csv") | ("cost", ".csv") => Kind::Costs,
        (_, ".sched.csv") | ("sched", ".csv") => Kind::Schedules,
        _ => return Err(unknown()),
    };
    let version: LibraryVersion = version.parse().map_err(|source| VerifyError::Version {
        file: name.to_owned(),
        source,
    })?;
    let release = Release::for_version(version).map_err(|source| VerifyError::UnknownVersion {
        file: name.to_owned(),
        source,
    })?;
    Ok(Place {
        folder,
        version,
        release,
        kind,
    })
}

/// The report of one file in the making.
struct Sheet {
    report: TableReport,
    examples: Vec<Difference>,
}

impl Sheet {
    fn new(file: &str) -> Self {
        Self {
            report: TableReport {
                file: file.to_owned(),
                rows: 0,
                equal: 0,
                different: 0,
                groups: BTreeMap::new(),
            },
            examples: Vec::new(),
        }
    }

    /// Counts a row; `row` holds the fields that differ.
    fn count(&mut self, row: Row<'_>) {
        let is_equal = row.differences.is_empty();
        let report = &mut self.report;
        report.rows += 1;
        report.equal += u64::from(is_equal);
        report.different += u64::from(!is_equal);
        let system = row.id.split('@').next().unwrap_or(row.id);
        let group = Group {
            system: system.to_owned(),
            collective: row.collective.map(str::to_owned),
        };
        let tally = report.groups.entry(group).or_default();
        tally.rows += 1;
        tally.equal += u64::from(is_equal);
        for (field, ours, theirs) in row.differences.into_iter().take(EXAMPLES_PER_ROW) {
            if self.examples.len() < EXAMPLES_MAX {
                self.examples.push(Difference {
                    file: self.report.file.clone(),
                    id: row.id.to_owned(),
                    row: row.line,
                    field,
                    ours,
                    theirs,
                });
            }
        }
    }
}

/// One row and what differs in it.
struct Row<'a> {
    id: &'a str,
    collective: Option<&'a str>,
    line: u64,
    differences: Vec<(String, String, String)>,
}

impl<'a> Row<'a> {
    fn new(id: &'a str, collective: Option<&'a str>, line: u64) -> Self {
        Self {
            id,
            collective,
            line,
            differences: Vec::new(),
        }
    }

    /// Notes a field that differs; what the file leaves empty is missing.
    fn differs(&mut self, field: &str, ours: &dyn ToString, theirs: &dyn ToString) {
        let shown = |value: &dyn ToString, empty: &str| match value.to_string() {
            text if text.is_empty() => empty.to_owned(),
            text => text,
        };
        let (ours, theirs) = (shown(ours, "none"), shown(theirs, "missing"));
        self.differences.push((field.to_owned(), ours, theirs));
    }

    /// Compares a single that the file writes as text, to the last bit.
    fn check_single(&mut self, field: &str, ours: f32, theirs: &str) {
        let is_equal = theirs
            .parse::<f32>()
            .is_ok_and(|theirs| same_bits(ours, theirs));
        if !is_equal {
            self.differs(field, &ours, &theirs);
        }
    }

    /// Compares a whole number that the file writes as text.
    fn check_whole(&mut self, field: &str, ours: i64, theirs: &str) {
        if theirs.parse() != Ok(ours) {
            self.differs(field, &ours, &theirs);
        }
    }

    fn check_text(&mut self, field: &str, ours: &str, theirs: &str) {
        if ours != theirs {
            self.differs(field, &ours, &theirs);
        }
    }
}

/// Says whether two singles are the same value; all NaN are one.
fn same_bits(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
