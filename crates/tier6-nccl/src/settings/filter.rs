//! `NCCL_ALGO` and `NCCL_PROTO`: which candidates may be weighed.
//!
//! Up to 2.23 one list serves all collectives and unknown names are ignored, so that a typing
//! error switches everything off. From 2.24 on every collective has its list and an unknown
//! name is refused at start. Source: `TUNER_SPEC.md` section 11.

use crate::candidate::{NcclAlgorithm, NcclCollective};
use crate::release::{FilterSyntax, Release};
use tier6_collective::Protocol;

/// Whether a protocol may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolState {
    Off,
    On,
    /// On where NCCL holds it for safe.
    Auto,
}

/// The candidates that the environment allows, by collective.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) algorithms: [[bool; 7]; 5],
    pub(crate) protocols: [[ProtocolState; 3]; 5],
}

/// Why NCCL refuses a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The name before the colon is no collective.
    #[error(
        "{variable}: unknown function `{name}`; use broadcast, reduce, allgather, reducescatter or allreduce"
    )]
    UnknownFunction {
        /// The variable.
        variable: &'static str,
        /// The unknown name.
        name: String,
    },
    /// A listed name is unknown.
    #[error("{variable}: unknown name `{name}`; use {known}")]
    UnknownName {
        /// The variable.
        variable: &'static str,
        /// The unknown name.
        name: String,
        /// The names that exist.
        known: &'static str,
    },
    /// Only the first entry may speak for all collectives.
    #[error("{variable}: entry `{entry}` names no function; only the first entry may leave it out")]
    NoFunction {
        /// The variable.
        variable: &'static str,
        /// The entry.
        entry: String,
    },
}

const ALGORITHM_NAMES: &str = "tree, ring, collnetdirect, collnetchain, nvls, nvlstree or pat";
const PROTOCOL_NAMES: &str = "ll, ll128 or simple";

/// One of the two variables, with what its names mean.
struct Variable {
    name: &'static str,
    known: &'static str,
    index: fn(&str) -> Option<usize>,
}

const ALGO: Variable = Variable {
    name: "NCCL_ALGO",
    known: ALGORITHM_NAMES,
    index: |name| NcclAlgorithm::from_plain_name(name).map(|algorithm| algorithm as usize),
};

const PROTO: Variable = Variable {
    name: "NCCL_PROTO",
    known: PROTOCOL_NAMES,
    index: |name| {
        Protocol::ALL
            .into_iter()
            .position(|protocol| protocol.name().eq_ignore_ascii_case(name))
    },
};

impl Filter {
    /// Returns the filter of an empty environment: everything on, LL128 where it is safe.
    pub(crate) fn open(release: &Release) -> Self {
        let mut algorithms = [true; 7];
        algorithms[NcclAlgorithm::Pat as usize] = release.has_pat();
        Self {
            algorithms: [algorithms; 5],
            protocols: [[ProtocolState::On, ProtocolState::Auto, ProtocolState::On]; 5],
        }
    }

    pub(crate) fn read_algorithms(
        &mut self,
        text: &str,
        release: &Release,
    ) -> Result<(), FilterError> {
        read(text, release, &ALGO, &mut self.algorithms, |on| on)
    }

    pub(crate) fn read_protocols(
        &mut self,
        text: &str,
        release: &Release,
    ) -> Result<(), FilterError> {
        read(text, release, &PROTO, &mut self.protocols, |on| {
            if on {
                ProtocolState::On
            } else {
                ProtocolState::Off
            }
        })
    }
}

/// Returns the names that `release` passes over without a word in the value of a variable.
pub(super) fn passed_over<'a>(variable: &str, text: &'a str, release: &Release) -> Vec<&'a str> {
    let known = [&ALGO, &PROTO]
        .into_iter()
        .find(|known| known.name == variable);
    match (known, release.filter) {
        (Some(known), FilterSyntax::List) => {
            let mut names = List::split(text).names;
            names.retain(|name| (known.index)(name).is_none());
            names
        }
        _ => Vec::new(),
    }
}

fn read<T: Copy, const N: usize>(
    text: &str,
    release: &Release,
    variable: &Variable,
    rows: &mut [[T; N]; 5],
    state: fn(bool) -> T,
) -> Result<(), FilterError> {
    match release.filter {
        FilterSyntax::List => {
            let listed = List::split(text);
            let known = listed
                .names
                .iter()
                .filter_map(|name| (variable.index)(name));
            *rows = [listed.row(known, state); 5];
            Ok(())
        }
        FilterSyntax::PerCollective => read_entries(text, variable, rows, state),
    }
}

fn read_entries<T: Copy, const N: usize>(
    text: &str,
    variable: &Variable,
    rows: &mut [[T; N]; 5],
    state: fn(bool) -> T,
) -> Result<(), FilterError> {
    let starts_late = text.starts_with(';');
    for (position, entry) in text
        .split(';')
        .filter(|entry| !entry.is_empty())
        .enumerate()
    {
        let mut parts = entry.split(':').filter(|part| !part.is_empty());
        let (function, list) = match (parts.next(), parts.next()) {
            (Some(function), Some(list)) => (Some(function), list),
            (Some(list), None) => (None, list),
            (None, _) => continue,
        };
        let listed = List::split(list);
        let mut indexes = Vec::with_capacity(listed.names.len());
        for name in &listed.names {
            let unknown = || FilterError::UnknownName {
                variable: variable.name,
                name: (*name).to_owned(),
                known: variable.known,
            };
            indexes.push((variable.index)(name).ok_or_else(unknown)?);
        }
        let row = listed.row(indexes.into_iter(), state);
        match function {
            Some(name) => {
                let collective = NcclCollective::from_plain_name(name).ok_or_else(|| {
                    FilterError::UnknownFunction {
                        variable: variable.name,
                        name: name.to_owned(),
                    }
                })?;
                rows[collective as usize] = row;
            }
            None if position == 0 && !starts_late => *rows = [row; 5],
            None => {
                return Err(FilterError::NoFunction {
                    variable: variable.name,
                    entry: entry.to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// `[^]name,name,…`
struct List<'a> {
    lists_the_unwanted: bool,
    names: Vec<&'a str>,
}

impl<'a> List<'a> {
    fn split(text: &'a str) -> Self {
        let (lists_the_unwanted, names) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Self {
            lists_the_unwanted,
            names: names.split(',').filter(|name| !name.is_empty()).collect(),
        }
    }

    fn row<T: Copy, const N: usize>(
        &self,
        indexes: impl Iterator<Item = usize>,
        state: fn(bool) -> T,
    ) -> [T; N] {
        let mut row = [state(self.lists_the_unwanted); N];
        for index in indexes {
            row[index] = state(!self.lists_the_unwanted);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_collective::LibraryVersion;

    fn algorithms(version: LibraryVersion, text: &str) -> Result<Filter, FilterError> {
        let release = Release::for_version(version).unwrap().release;
        let mut filter = Filter::open(release);
        filter.read_algorithms(text, release)?;
        Ok(filter)
    }

    const OLD: LibraryVersion = LibraryVersion::new(2, 22, 3);
    const NEW: LibraryVersion = LibraryVersion::new(2, 30, 7);

    #[test]
    fn an_old_list_ignores_what_it_does_not_know() {
        let filter = algorithms(OLD, "Tree,foo").unwrap();
        let only_tree = [true, false, false, false, false, false, false];
        assert_eq!(filter.algorithms, [only_tree; 5]);
        assert_eq!(algorithms(OLD, "rnig").unwrap().algorithms, [[false; 7]; 5]);
        assert_eq!(algorithms(OLD, "").unwrap().algorithms, [[false; 7]; 5]);
        let all_but_ring = [true, false, true, true, true, true, true];
        assert_eq!(
            algorithms(OLD, "^ring").unwrap().algorithms,
            [all_but_ring; 5]
        );
    }

    #[test]
    fn a_new_list_speaks_per_collective() {
        let filter = algorithms(NEW, "ring;;AllReduce:^Tree").unwrap();
        let only_ring = [false, true, false, false, false, false, false];
        let all_but_tree = [false, true, true, true, true, true, true];
        assert_eq!(filter.algorithms[0], only_ring);
        assert_eq!(filter.algorithms[4], all_but_tree);
        assert_eq!(algorithms(NEW, "").unwrap().algorithms, [[true; 7]; 5]);
    }

    #[test]
    fn a_new_list_refuses_what_it_does_not_know() {
        let message = |text: &str| algorithms(NEW, text).unwrap_err().to_string();
        assert_eq!(
            message("rnig"),
            "NCCL_ALGO: unknown name `rnig`; use tree, ring, collnetdirect, collnetchain, nvls, nvlstree or pat"
        );
        assert!(message("alltoall:ring").contains("unknown function `alltoall`"));
        assert!(message("tree;ring").contains("entry `ring` names no function"));
        assert!(message(";ring").contains("entry `ring` names no function"));
        assert!(message("allreduce: tree").contains("unknown name ` tree`"));
        assert!(message("allreduce:").contains("unknown name `allreduce`"));
    }
}
