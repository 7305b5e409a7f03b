//! Systems with a name: communicators that NCCL's own search found on described machines.
//!
//! The search of a release may find other graphs than that of the one before, so a name
//! stands for one communicator per release; equal ones are kept once, at the oldest. The data
//! come from the same runs as the oracle tables.

use crate::communicator::{CommunicatorSource, read_communicator};
use crate::release::Release;
use tier6_collective::LibraryVersion;

/// One line per system and release that changed it, releases ascending.
const SYSTEMS: &str = include_str!("../data/systems.jsonl");

/// The system has no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown system `{name}`{}", hint(.nearest))]
pub struct UnknownSystemError {
    /// The name.
    pub name: String,
    /// Names that start alike.
    pub nearest: Vec<&'static str>,
}

fn hint(nearest: &[&str]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; hint: {}", nearest.join(", "))
    }
}

struct Label {
    id: &'static str,
    version: LibraryVersion,
}

/// Returns every line with what it starts with; the rest is read only when asked for.
fn labels() -> impl Iterator<Item = (&'static str, Label)> {
    SYSTEMS.lines().map(|line| {
        let label = label(line)
            .expect("Invariant: every line of the bundled systems starts with name and version");
        (line, label)
    })
}

fn label(line: &'static str) -> Option<Label> {
    let rest = line.strip_prefix("{\"id\":\"")?;
    let (id, rest) = rest.split_once("\",\"version\":\"")?;
    let (version, _) = rest.split_once('"')?;
    let version = version.parse().ok()?;
    Some(Label { id, version })
}

/// Returns the names of all systems, in the order of their generations.
pub fn system_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, label) in labels() {
        if names.last() != Some(&label.id) {
            names.push(label.id);
        }
    }
    names
}

/// Returns the system as the search of `release`, or of the nearest older one on record, found
/// it; where all are newer, the oldest.
///
/// ```
/// use tier6_nccl::{Release, named_system};
/// let source = named_system("v100x4-nv2", Release::newest()).unwrap();
/// assert_eq!(source.communicator.n_ranks, 4);
/// ```
///
/// # Errors
///
/// Fails when no system has the name.
///
/// # Panics
///
/// Never, as long as the bundled systems are communicators.
pub fn named_system(
    name: &str,
    release: &'static Release,
) -> Result<CommunicatorSource, UnknownSystemError> {
    let mut found = None;
    for (line, label) in labels().filter(|(_, label)| label.id == name) {
        if found.is_none() || label.version <= release.version() {
            found = Some(line);
        }
    }
    let Some(line) = found else {
        return Err(unknown(name));
    };
    Ok(read_communicator(line, release)
        .expect("Invariant: the bundled systems are communicators; a test reads them all"))
}

fn unknown(name: &str) -> UnknownSystemError {
    let start: String = name.chars().take(4).collect();
    let nearest = if start.is_empty() {
        Vec::new()
    } else {
        let alike = system_names()
            .into_iter()
            .filter(|known| known.starts_with(&start));
        alike.take(6).collect()
    };
    UnknownSystemError {
        name: name.to_owned(),
        nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::RELEASES;

    #[test]
    fn every_system_reads_for_every_release() {
        let names = system_names();
        assert_eq!(names.len(), 66);
        for release in &RELEASES {
            for name in &names {
                let source = named_system(name, release).unwrap();
                assert_eq!(source.id.as_deref(), Some(*name));
            }
        }
    }

    #[test]
    fn a_name_stands_for_what_the_search_of_its_release_found() {
        for (lines, version) in [
            (
                include_str!("../tests/data/oracle/systems/2.22.3.jsonl"),
                "2.22.3",
            ),
            (
                include_str!("../tests/data/oracle/systems/2.28.9.jsonl"),
                "2.28.9",
            ),
            (
                include_str!("../tests/data/oracle/systems/2.30.7.jsonl"),
                "2.30.7",
            ),
        ] {
            let version: LibraryVersion = version.parse().unwrap();
            let release = Release::for_version(version).unwrap().release;
            for line in lines.lines() {
                let theirs = read_communicator(line, release).unwrap();
                let ours = named_system(theirs.id.as_deref().unwrap(), release).unwrap();
                assert_eq!(ours.communicator, theirs.communicator, "{:?}", theirs.id);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_names_alike() {
        let error = named_system("v100x5", Release::newest()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("unknown system `v100x5`; hint: v100x4-nv2, ")
        );
        let error = named_system("tpu", Release::newest()).unwrap_err();
        assert_eq!(error.to_string(), "unknown system `tpu`");
    }
}
