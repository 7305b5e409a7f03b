//! The public measurements that travel inside the binary.

use tier6_measure::{ReadOptions, SetFacts};

/// Id and CSV text of every bundled set, sorted by id.
static SETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Facts of the sets, one line each.
static INDEX: &str = include_str!("../../../data/measurements/INDEX.tsv");

/// Id of the 31-point scan of source document 000.
pub(crate) const V100_SCAN: &str = "s0_v100_ar_4gpu_nv2";

/// One bundled set.
pub(crate) struct Bundled {
    pub(crate) id: &'static str,
    pub(crate) text: &'static str,
    pub(crate) facts: Option<SetFacts>,
}

impl Bundled {
    /// Returns what the index states, as options for the reader.
    pub(crate) fn read_options(&self) -> ReadOptions {
        self.facts.as_ref().map_or_else(ReadOptions::default, |facts| ReadOptions {
            collective: facts.collective,
            ranks: facts.ranks,
            nodes: facts.nodes,
            ..ReadOptions::default()
        })
    }
}

/// Returns every bundled set.
pub(crate) fn sets() -> Vec<Bundled> {
    let index = tier6_measure::read_index(INDEX).value;
    let facts = |id: &str| index.iter().find(|facts| facts.id == id).cloned();
    SETS.iter().map(|&(id, text)| Bundled { id, text, facts: facts(id) }).collect()
}

/// Returns one bundled set by its id.
pub(crate) fn set(id: &str) -> Option<Bundled> {
    sets().into_iter().find(|set| set.id == id)
}
