//! What can be wrong with a system, with the place and, where we know it, the way out.

use crate::Place;
use std::fmt;

/// Why a system cannot be read or resolved.
///
/// Printed as `line 7, column 1: unknown key `raet` in `links.fast`; hint: did you mean
/// `rate`?`. The file's name is the caller's to add.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemError {
    /// Where; `None` for a system made by a program.
    pub place: Option<Place>,
    /// What.
    pub problem: SystemProblem,
    /// The way out.
    pub hint: Option<String>,
}

impl SystemError {
    pub(crate) fn new(place: Option<Place>, problem: SystemProblem) -> Self {
        Self {
            place,
            problem,
            hint: None,
        }
    }

    /// Gives a place to an error that has none yet.
    pub(crate) fn or_at(self, place: Option<Place>) -> Self {
        Self {
            place: self.place.or(place),
            ..self
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    pub(crate) fn did_you_mean(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

impl std::error::Error for SystemError {}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.problem)?;
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

/// The kinds of trouble.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "fields are named in the message of their variant"
)]
pub enum SystemProblem {
    /// The text is not TOML.
    #[error("not TOML: {message}")]
    Syntax { message: String },
    /// A key that no one reads.
    #[error("unknown key `{key}` in {table}")]
    UnknownKey { key: String, table: String },
    /// A key that must be there.
    #[error("{table} has no `{key}`")]
    MissingKey { key: &'static str, table: String },
    /// A value of another kind.
    #[error("`{key}` must be {expected}, found {found}")]
    WrongType {
        key: String,
        expected: &'static str,
        found: String,
    },
    /// A value that its key does not allow.
    #[error("`{key}`: {reason}")]
    BadValue { key: String, reason: String },
    /// A name that nothing has.
    #[error("unknown {kind} `{name}`")]
    UnknownName { kind: &'static str, name: String },
    /// One name, two things.
    #[error("{kind} `{name}` is defined twice")]
    DefinedTwice { kind: &'static str, name: String },
    /// Link classes that are each like the next.
    #[error("links are like each other in a circle: {}", .names.join(" -> "))]
    CircularLinks { names: Vec<String> },
    /// A key of another fabric.
    #[error("`{key}` means nothing to fabric `{fabric}`")]
    KeyOfAnotherFabric { key: String, fabric: &'static str },
    /// A fabric that cannot join NICs.
    #[error("fabric `{fabric}` cannot join the nodes of tier `{tier}`")]
    FabricNeedsChips { fabric: &'static str, tier: String },
    /// Numbers that must fit together.
    #[error("{what} = {left} does not fit {other} = {right}")]
    Mismatch {
        what: String,
        left: u64,
        other: String,
        right: u64,
    },
    /// More cables than ports.
    #[error("{what} needs {needed} ports, and has {available}")]
    TooFewPorts {
        what: String,
        needed: u64,
        available: u64,
    },
    /// Beyond what a topology may hold.
    #[error("the system has {found} {what}, at most {limit} are supported")]
    TooLarge {
        what: &'static str,
        found: u64,
        limit: u64,
    },
    /// No way between two chips.
    #[error("chip {to} cannot be reached from chip {from}")]
    Unreachable { from: u32, to: u32 },
    /// In-network work without a switch that does it.
    #[error("`{table}` is described, but no switch of the system can {ability}")]
    NoSuchSwitch {
        table: &'static str,
        ability: &'static str,
    },
}
