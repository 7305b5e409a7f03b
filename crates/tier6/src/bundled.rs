//! The public measurements that travel inside the binary.

use crate::Error;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tier6_measure::{Dataset, Parsed, ReadOptions, SetFacts};

/// Id and CSV text of every bundled set, sorted by id.
static SETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Facts of the sets, one line each.
static INDEX: &str = include_str!("../../../data/measurements/INDEX.tsv");

/// The preset that describes the machine of a set, where one does: id, tab, name.
static SYSTEMS: &str = include_str!("../../../data/measurements/SYSTEMS.tsv");

/// One bundled set.
pub(crate) struct Bundled {
    pub(crate) id: &'static str,
    /// The preset that describes its machine.
    pub(crate) system: Option<&'static str>,
    text: &'static str,
    facts: Option<SetFacts>,
}

impl Bundled {
    /// Returns what sweeps of one machine and set-up share: its chips, the library, what was set
    /// and who published it.
    pub(crate) fn family(&self) -> Option<String> {
        let facts = self.facts.as_ref()?;
        let publisher = facts.source.split_whitespace().next()?;
        let (gpu, library, flags) = (&facts.gpu, &facts.library, &facts.env_flags);
        Some(format!("{gpu}, library {library}, {flags}, {publisher}"))
    }

    /// Returns the environment and flags that differ from the defaults.
    pub(crate) fn flags(&self) -> &str {
        self.facts.as_ref().map_or("", |facts| &facts.env_flags)
    }

    /// Reads the set with what the index states of it.
    pub(crate) fn read(&self) -> Result<Parsed<Dataset>, Error> {
        let options = self
            .facts
            .as_ref()
            .map_or_else(ReadOptions::default, SetFacts::read_options);
        tier6_measure::read(self.text.as_bytes(), &options).map_err(|source| Error::Read {
            path: self.id.to_owned(),
            source,
        })
    }
}

/// Returns every bundled set.
pub(crate) fn sets() -> Vec<Bundled> {
    let index = tier6_measure::read_index(INDEX).value;
    let facts = |id: &str| index.iter().find(|facts| facts.id == id).cloned();
    let systems: BTreeMap<&str, &str> = SYSTEMS
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t'))
        .collect();
    SETS.iter()
        .map(|&(id, text)| Bundled {
            id,
            system: systems.get(id).copied(),
            text,
            facts: facts(id),
        })
        .collect()
}

/// Returns the bundled set that a file is a copy of, name and text.
pub(crate) fn copied(path: &Path, id: &str) -> Option<Bundled> {
    let set = sets().into_iter().find(|set| set.id == id)?;
    let text = fs::read(path).ok()?;
    (text == set.text.as_bytes()).then_some(set)
}

/// Returns the bundled set of this id.
pub(crate) fn set(id: &'static str) -> Result<Bundled, Error> {
    sets()
        .into_iter()
        .find(|set| set.id == id)
        .ok_or_else(|| Error::NoMatch {
            pattern: id.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_a_preset_and_every_line_names_a_set() {
        let sets = sets();
        let named = sets.iter().filter_map(|set| set.system);
        for name in named.clone() {
            assert!(tier6_system::preset(name).is_ok(), "no preset `{name}`");
        }
        let lines = SYSTEMS.lines().skip(1).count();
        let unbundled = SYSTEMS.lines().skip(1).filter(|line| {
            let id = line.split_once('\t').map(|(id, _)| id);
            !sets.iter().any(|set| Some(set.id) == id)
        });
        assert_eq!(named.count() + unbundled.clone().count(), lines);
        assert_eq!(unbundled.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
