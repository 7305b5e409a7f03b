//! Why a use case did not give its answer, and the exit code that says so.

use std::collections::BTreeSet;
use std::io;
use tier6_measure::{Point, ReadError, Run};
use tier6_units::Bytes;

/// Exit codes of the command line, a documented interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// A bug of tier6, or the machine failed.
    Internal,
    /// The command was not understood.
    Usage,
    /// An input cannot be read or parsed.
    Input,
    /// The input is valid, but there is nothing to work on.
    Nothing,
    /// Outside a model's domain, or not identifiable.
    Domain,
    /// The answer is no: a regression, a failed check, wrong data.
    No,
    /// A simulation stopped: a stall, a deadlock, a limit.
    Stopped,
}

impl Exit {
    /// Returns the code, as in the table of the command-line contract.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Nothing => 4,
            Self::Domain => 5,
            Self::No => 10,
            Self::Stopped => 12,
        }
    }
}

/// Why a use case did not give its answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened.
    #[error("failed to open `{path}`: {source}")]
    Open {
        /// The path as given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file was opened but not understood.
    #[error("failed to read `{path}`: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// What the reader said.
        source: ReadError,
    },
    /// A pattern or a folder holds no file.
    #[error("no file matches `{pattern}`")]
    NoMatch {
        /// The pattern or folder.
        pattern: String,
    },
    /// A result cannot be written.
    #[error("failed to write `{path}`: {source}")]
    Write {
        /// The path as given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Inputs were read, but hold no measured size.
    #[error("no measured size in {inputs}")]
    NothingMeasured {
        /// The inputs, joined.
        inputs: String,
        /// What they hold instead, if anything.
        instead: Option<String>,
    },
    /// A run moved wrong data: no time of it counts.
    #[error("`{run}` moved wrong data{at}: nothing of it is used")]
    WrongData {
        /// The run.
        run: String,
        /// ` at 512 MiB, 1 GiB`; empty where only its footer tells.
        at: String,
    },
    /// Two runs have no series in common.
    #[error("nothing to compare: {0}")]
    NothingInCommon(String),
    /// A file of the tuner, or a schedule, was opened but not understood.
    #[error("failed to read `{path}`: {message}")]
    Malformed {
        /// The path as given.
        path: String,
        /// What is wrong, and where.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// An input was understood, but holds nothing of what was asked for.
    #[error("{message}")]
    Nothing {
        /// What is missing.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// The request lies outside of what a model knows.
    #[error("{message}")]
    Domain {
        /// What is outside.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// The request contradicts itself.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
}

impl Error {
    /// Says of a run that it moved wrong data, and at which sizes.
    pub(crate) fn wrong_data(run: String, measured: &Run) -> Self {
        let points = measured.series.iter().flat_map(|series| &series.points);
        let is_wrong = |point: &&Point| point.samples.iter().any(|s| s.wrong.is_wrong());
        let sizes: BTreeSet<Bytes> = points.filter(is_wrong).map(|point| point.bytes).collect();
        let sizes: Vec<String> = sizes.iter().map(Bytes::to_string).collect();
        let at = match sizes.as_slice() {
            [] => String::new(),
            [first, _, _, _, .., last] => format!(" at {} sizes, {first} to {last}", sizes.len()),
            few => format!(" at {}", few.join(", ")),
        };
        Self::WrongData { run, at }
    }

    /// Returns the exit code for this error.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Open { .. }
            | Self::Read { .. }
            | Self::NoMatch { .. }
            | Self::Malformed { .. } => Exit::Input,
            Self::NothingMeasured { .. } | Self::NothingInCommon(_) | Self::Nothing { .. } => {
                Exit::Nothing
            }
            Self::WrongData { .. } => Exit::No,
            Self::Domain { .. } => Exit::Domain,
            Self::Write { .. } => Exit::Internal,
            Self::Usage { .. } => Exit::Usage,
        }
    }

    /// Returns the exit code of a result beside which some inputs failed: wrong data weighs most.
    pub fn exit_of(failures: &[Self], otherwise: Exit) -> Exit {
        let exits = || failures.iter().map(Self::exit);
        if exits().any(|exit| exit == Exit::No) {
            Exit::No
        } else if failures.is_empty() {
            otherwise
        } else {
            Exit::Input
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => {
                    Some("check the path; quote a glob if the shell must not expand it".into())
                }
                io::ErrorKind::PermissionDenied => Some("check the permissions of the file".into()),
                io::ErrorKind::IsADirectory => Some("name a file in it".into()),
                _ => None,
            },
            Self::Read { source, .. } => source.hint().map(str::to_owned),
            Self::NoMatch { .. } => Some("check the path; `-` reads standard input".into()),
            Self::NothingMeasured { instead, .. } => instead.clone(),
            Self::WrongData { .. } => {
                Some("measure it again; `tier6 analyze` shows the run".into())
            }
            Self::NothingInCommon(_) => {
                Some("both runs need the same collective, rank count and placement".into())
            }
            Self::Usage { hint, .. }
            | Self::Malformed { hint, .. }
            | Self::Nothing { hint, .. }
            | Self::Domain { hint, .. } => hint.clone(),
            Self::Write { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some("the folder must exist".into()),
                io::ErrorKind::IsADirectory => Some("name a file in it".into()),
                _ => None,
            },
        }
    }
}
