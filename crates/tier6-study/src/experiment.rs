//! Experiments: collectives and algorithms over message sizes or rank counts, each call asked of
//! the Math engine and of G5, and the answers side by side.
//!
//! An experiment is a text ([`Experiment::from_toml`]); [`document_experiments`] has the four of
//! source document 004. Who prices the calls is the caller's: an [`Outcome`] is what came of them.

mod outcome;
mod read;

pub use outcome::{Cell, FastestSpan, Outcome, Refused};
pub use read::ExperimentError;

use crate::Engine;
use tier6_collective::{Algorithm, Collective};
use tier6_g5::Fidelity;
use tier6_units::{Bytes, Micros, SizeRange};

/// What to ask, of whom, on which system.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// A short name for files: `allreduce-by-size`.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// What to look at, for the reader of the result.
    pub note: Option<String>,
    /// A preset's name or a file.
    pub system: String,
    /// The curves, one or more.
    pub lines: Vec<ExperimentLine>,
    /// Numbers of ranks, ascending, at least one.
    pub ranks: Vec<u32>,
    /// Message sizes.
    pub sizes: SizeRange,
    /// [`Engine::Math`], [`Engine::G5`] or both, each once.
    pub engines: Vec<Engine>,
    /// How closely G5 looks at the network.
    pub fidelity: Fidelity,
    /// The algorithm by which the others are divided; of the same collective.
    pub baseline: Option<Algorithm>,
    /// Times that somebody else has for some of the calls.
    pub references: Vec<Reference>,
}

/// One curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExperimentLine {
    /// The collective.
    pub collective: Collective,
    /// The algorithm.
    pub algorithm: Algorithm,
}

/// A time from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Whose time.
    pub line: ExperimentLine,
    /// N.
    pub ranks: u32,
    /// M.
    pub bytes: Bytes,
    /// The time.
    pub time: Micros,
    /// Where it stands.
    pub source: String,
}

/// Over what a chart of an experiment runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentView {
    /// Message size, at this number of ranks.
    Sizes {
        /// N.
        ranks: u32,
    },
    /// Number of ranks, at this message size.
    Ranks {
        /// M.
        bytes: Bytes,
    },
}

impl Experiment {
    /// Returns the charts that show all of it: one over sizes per number of ranks, or, for a
    /// single size, one over ranks.
    pub fn views(&self) -> Vec<ExperimentView> {
        if let ([bytes], 2..) = (self.sizes.sizes(), self.ranks.len()) {
            return vec![ExperimentView::Ranks { bytes: *bytes }];
        }
        let ranks = self.ranks.iter();
        ranks
            .map(|ranks| ExperimentView::Sizes { ranks: *ranks })
            .collect()
    }

    /// Returns the collectives of the lines, each once.
    pub fn collectives(&self) -> Vec<Collective> {
        let mut collectives: Vec<Collective> = Vec::new();
        for line in &self.lines {
            if !collectives.contains(&line.collective) {
                collectives.push(line.collective);
            }
        }
        collectives
    }

    /// Returns the line by which a line is divided; `None` for the baseline itself, and without
    /// one.
    pub fn baseline_of(&self, line: ExperimentLine) -> Option<ExperimentLine> {
        let algorithm = self.baseline?;
        let baseline = ExperimentLine { algorithm, ..line };
        (baseline != line && self.lines.contains(&baseline)).then_some(baseline)
    }
}

impl std::fmt::Display for ExperimentLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.collective, self.algorithm)
    }
}

/// The four experiments of source document 004, in its order, as their texts: `name`, text.
pub fn document_experiments() -> [(&'static str, &'static str); 4] {
    [
        (
            "allreduce-by-size",
            include_str!("../experiments/allreduce-by-size.toml"),
        ),
        (
            "allreduce-by-ranks",
            include_str!("../experiments/allreduce-by-ranks.toml"),
        ),
        (
            "collectives-on-a-ring",
            include_str!("../experiments/collectives-on-a-ring.toml"),
        ),
        (
            "both-directions",
            include_str!("../experiments/both-directions.toml"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_experiments_of_document_004_are_well_formed() {
        let shapes = document_experiments().map(|(name, text)| {
            let experiment = Experiment::from_toml(text, name).unwrap();
            assert_eq!(experiment.name, name);
            let (lines, ranks) = (experiment.lines.len(), experiment.ranks.len());
            (lines, ranks, experiment.sizes.sizes().len() > 1)
        });
        assert_eq!(
            shapes,
            [(5, 1, true), (4, 5, false), (5, 1, true), (6, 4, false)]
        );
    }

    #[test]
    fn one_size_and_many_ranks_are_seen_by_ranks() {
        let text = "system = 'h100-x8'\nranks = [2, 4]\nsizes = '1M'\n[[line]]\n\
            collective = 'all_reduce'\nalgorithms = ['ring', 'tree']\n";
        let experiment = Experiment::from_toml(text, "mine").unwrap();
        let bytes = Bytes::new(1 << 20);
        assert_eq!(experiment.views(), [ExperimentView::Ranks { bytes }]);
        let text = text.replace("'1M'", "'1M,2M'");
        let experiment = Experiment::from_toml(&text, "mine").unwrap();
        assert_eq!(
            experiment.views(),
            [
                ExperimentView::Sizes { ranks: 2 },
                ExperimentView::Sizes { ranks: 4 }
            ]
        );
    }
}
