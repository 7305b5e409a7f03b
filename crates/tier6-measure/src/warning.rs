//! What a reader skipped or doubted, and where.

use std::fmt;

/// A value with what was skipped or doubted on the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// The warnings, in the order of the input.
    pub warnings: Vec<Warning>,
}

/// One thing that a reader skipped or doubted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind of thing, stable across releases.
    pub code: WarningCode,
    /// Line of the input, from 1; `None` when it concerns the whole input.
    pub line: Option<u64>,
    /// The sentence to show: a lowercase fragment without a final dot.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {} [{}]", self.message, self.code),
            None => write!(f, "{} [{}]", self.message, self.code),
        }
    }
}

/// How many warnings of one kind are kept; a log can break a million rows the same way.
const WARNINGS_MAX: u64 = 50;

/// Collects warnings, and counts those that would only repeat what was said.
#[derive(Debug, Default)]
pub(crate) struct WarningList {
    warnings: Vec<Warning>,
    counts: std::collections::BTreeMap<WarningCode, u64>,
}

impl WarningList {
    /// Adds a warning, unless there are many of its kind already.
    pub(crate) fn push(
        &mut self,
        code: WarningCode,
        line: impl Into<Option<u64>>,
        message: String,
    ) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= WARNINGS_MAX {
            self.warnings.push(Warning {
                code,
                line: line.into(),
                message,
            });
        }
    }

    /// Returns the warnings in the order of the input, those of the whole input last.
    pub(crate) fn finish(mut self) -> Vec<Warning> {
        self.warnings
            .sort_by_key(|warning| warning.line.unwrap_or(u64::MAX));
        for (code, count) in self.counts {
            if count > WARNINGS_MAX {
                self.warnings.push(Warning {
                    code,
                    line: None,
                    message: format!("{} more like that", count - WARNINGS_MAX),
                });
            }
        }
        self.warnings
    }
}

impl Extend<Warning> for WarningList {
    fn extend<I: IntoIterator<Item = Warning>>(&mut self, warnings: I) {
        for warning in warnings {
            self.push(warning.code, warning.line, warning.message);
        }
    }
}

/// The kind of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningCode {
    /// The last row or record is cut and was not used.
    CutRow,
    /// A row whose columns do not fit the header was not used.
    BadRow,
    /// Numbers without the start of their row, or the reverse, were not used.
    Unattached,
    /// Header, device list, versions or footer are missing.
    Missing,
    /// The run stopped before the end of its sweep.
    Unfinished,
    /// The run failed.
    Aborted,
    /// A row or the footer says that data was wrong.
    WrongData,
    /// Results were not checked.
    NotChecked,
    /// Sizes of zero are kept out of statistics.
    ZeroSize,
    /// A printed bandwidth does not follow from size and time.
    Inconsistent,
    /// The number of ranks is inferred or unknown.
    RankCount,
    /// One placement is absent.
    Placement,
    /// Several runs stand in one input.
    SeveralRuns,
    /// Something that the reader does not know, and left out.
    Unknown,
    /// The text had to be repaired: encoding, prefixes, lost `#`.
    Repaired,
    /// A line of another layer (MPI, CUDA, the shell) that says something is wrong.
    Foreign,
    /// Something that a reader of the numbers should know.
    Note,
}

impl WarningCode {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CutRow => "cut-row",
            Self::BadRow => "bad-row",
            Self::Unattached => "unattached",
            Self::Missing => "missing",
            Self::Unfinished => "unfinished",
            Self::Aborted => "aborted",
            Self::WrongData => "wrong-data",
            Self::NotChecked => "not-checked",
            Self::ZeroSize => "zero-size",
            Self::Inconsistent => "inconsistent",
            Self::RankCount => "rank-count",
            Self::Placement => "placement",
            Self::SeveralRuns => "several-runs",
            Self::Unknown => "unknown",
            Self::Repaired => "repaired",
            Self::Foreign => "foreign",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
