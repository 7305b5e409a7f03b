//! The public measurements that travel inside the binary.

use crate::Error;
use tier6_measure::{Dataset, Parsed, ReadOptions, SetFacts};

/// Id and CSV text of every bundled set, sorted by id.
static SETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Facts of the sets, one line each.
static INDEX: &str = include_str!("../../../data/measurements/INDEX.tsv");

/// One bundled set.
pub(crate) struct Bundled {
    pub(crate) id: &'static str,
    text: &'static str,
    facts: Option<SetFacts>,
}

impl Bundled {
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
    SETS.iter()
        .map(|&(id, text)| Bundled {
            id,
            text,
            facts: facts(id),
        })
        .collect()
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
