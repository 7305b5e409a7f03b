//! What came of an experiment, and what can be read from it.

use super::{Experiment, ExperimentLine, ExperimentView, Reference};
use crate::Engine;
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec, Micros};

/// The answers to an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was asked.
    pub experiment: Experiment,
    /// One answer per line, number of ranks, size and engine that could answer.
    pub cells: Vec<Cell>,
    /// Calls that an engine has no answer for.
    pub refused: Vec<Refused>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Of which line.
    pub line: ExperimentLine,
    /// N.
    pub ranks: u32,
    /// M.
    pub bytes: Bytes,
    /// Who answers.
    pub engine: Engine,
    /// Time of the call.
    pub time: Micros,
    /// Bus bandwidth in nccl-tests' definition; `None` for a time of zero.
    pub busbw: Option<GbPerSec>,
    /// What limits it, as a sentence.
    pub bottleneck: String,
}

/// Why an engine has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Of which line.
    pub line: ExperimentLine,
    /// N.
    pub ranks: u32,
    /// M, when other sizes have an answer.
    pub bytes: Option<Bytes>,
    /// Who.
    pub engine: Engine,
    /// The reason.
    pub why: String,
}

/// Neighbouring places of a view where one line is the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastestSpan {
    /// The line.
    pub line: ExperimentLine,
    /// The first size or number of ranks.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl Outcome {
    /// Returns one answer.
    pub fn cell(
        &self,
        line: ExperimentLine,
        engine: Engine,
        ranks: u32,
        bytes: Bytes,
    ) -> Option<&Cell> {
        self.cells.iter().find(|cell| {
            (cell.line, cell.engine, cell.ranks, cell.bytes) == (line, engine, ranks, bytes)
        })
    }

    /// Returns G5's time over Math's for the same call.
    pub fn over_math(&self, cell: &Cell) -> Option<f64> {
        let math = self.cell(cell.line, Engine::Math, cell.ranks, cell.bytes)?;
        (cell.engine == Engine::G5).then(|| cell.time.get() / math.time.get())
    }

    /// Returns how many times faster a call is than its baseline by the same engine.
    pub fn speedup(&self, cell: &Cell) -> Option<f64> {
        let baseline = self.experiment.baseline_of(cell.line)?;
        let baseline = self.cell(baseline, cell.engine, cell.ranks, cell.bytes)?;
        Some(baseline.time.get() / cell.time.get())
    }

    /// Returns the answers of a line and engine along a view, ascending, each with its place.
    pub fn along(
        &self,
        view: ExperimentView,
        line: ExperimentLine,
        engine: Engine,
    ) -> impl Iterator<Item = (u64, &Cell)> {
        let places = places(&self.experiment, view);
        places.into_iter().filter_map(move |(at, ranks, bytes)| {
            Some((at, self.cell(line, engine, ranks, bytes)?))
        })
    }

    /// Returns which line of a collective is the fastest along a view, by one engine. Of equal
    /// times the first line of the experiment. Nothing for a collective with one line.
    pub fn fastest(
        &self,
        view: ExperimentView,
        engine: Engine,
        collective: Collective,
    ) -> Vec<FastestSpan> {
        let lines = self.experiment.lines.iter();
        let lines: Vec<_> = lines.filter(|line| line.collective == collective).collect();
        if lines.len() < 2 {
            return Vec::new();
        }
        let mut spans: Vec<FastestSpan> = Vec::new();
        for (at, ranks, bytes) in places(&self.experiment, view) {
            let cells = lines
                .iter()
                .filter_map(|line| self.cell(**line, engine, ranks, bytes));
            let fastest = cells.min_by(|a, b| a.time.get().total_cmp(&b.time.get()));
            match (fastest, spans.last_mut()) {
                (Some(cell), Some(span)) if span.line == cell.line => span.last = at,
                (Some(cell), _) => spans.push(FastestSpan {
                    line: cell.line,
                    first: at,
                    last: at,
                }),
                (None, _) => {}
            }
        }
        spans
    }

    /// Returns each reference with the answers of the engines to the same call.
    pub fn against_references(&self) -> Vec<(&Reference, Vec<&Cell>)> {
        let references = self.experiment.references.iter();
        let answers = references.map(|reference| {
            let engines = self.experiment.engines.iter();
            let cells = engines.filter_map(|engine| {
                self.cell(reference.line, *engine, reference.ranks, reference.bytes)
            });
            (reference, cells.collect())
        });
        answers.collect()
    }
}

/// The calls of a view, each with its place: its size in bytes or its number of ranks.
fn places(experiment: &Experiment, view: ExperimentView) -> Vec<(u64, u32, Bytes)> {
    match view {
        ExperimentView::Sizes { ranks } => {
            let sizes = experiment.sizes.sizes().iter();
            sizes.map(|bytes| (bytes.get(), ranks, *bytes)).collect()
        }
        ExperimentView::Ranks { bytes } => {
            let ranks = experiment.ranks.iter();
            ranks
                .map(|ranks| (u64::from(*ranks), *ranks, bytes))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_collective::Algorithm;

    const LINES: [ExperimentLine; 2] = [
        ExperimentLine {
            collective: Collective::AllReduce,
            algorithm: Algorithm::Ring,
        },
        ExperimentLine {
            collective: Collective::AllReduce,
            algorithm: Algorithm::Tree,
        },
    ];

    /// Ring: 10 us and a microsecond per KiB; tree: 5 and two by Math, three by G5.
    fn outcome() -> Outcome {
        let text = "system = 'x'\nranks = [8]\nsizes = '1K..16K'\nbaseline = 'ring'\n[[line]]\n\
            collective = 'all_reduce'\nalgorithms = ['ring', 'tree']\n[[reference]]\n\
            collective = 'all_reduce'\nalgorithm = 'tree'\nranks = 8\nbytes = '4K'\n\
            time_us = 26.0\nsource = 's'\n";
        let experiment = Experiment::from_toml(text, "x").unwrap();
        let mut cells = Vec::new();
        for &bytes in experiment.sizes.sizes() {
            let kib = bytes.as_f64() / 1024.0;
            for (line, engine, time) in [
                (LINES[0], Engine::Math, 10.0 + kib),
                (LINES[0], Engine::G5, 10.0 + kib),
                (LINES[1], Engine::Math, 5.0 + 2.0 * kib),
                (LINES[1], Engine::G5, 5.0 + 3.0 * kib),
            ] {
                cells.push(Cell {
                    line,
                    ranks: 8,
                    bytes,
                    engine,
                    time: Micros::new(time),
                    busbw: None,
                    bottleneck: String::new(),
                });
            }
        }
        Outcome {
            experiment,
            cells,
            refused: Vec::new(),
        }
    }

    #[test]
    fn the_fastest_line_changes_where_the_curves_cross() {
        let outcome = outcome();
        let view = ExperimentView::Sizes { ranks: 8 };
        let spans = |engine| {
            let spans = outcome.fastest(view, engine, Collective::AllReduce);
            let spans = spans.iter().map(|s| (s.line.algorithm, s.first, s.last));
            spans.collect::<Vec<_>>()
        };
        let (ring, tree) = (Algorithm::Ring, Algorithm::Tree);
        assert_eq!(
            spans(Engine::Math),
            [(tree, 1 << 10, 4 << 10), (ring, 8 << 10, 16 << 10)]
        );
        assert_eq!(
            spans(Engine::G5),
            [(tree, 1 << 10, 2 << 10), (ring, 4 << 10, 16 << 10)]
        );
    }

    #[test]
    fn ratios_are_of_the_same_call() {
        let outcome = outcome();
        let cell = outcome
            .cell(LINES[1], Engine::G5, 8, Bytes::new(4 << 10))
            .unwrap();
        assert_eq!(outcome.over_math(cell), Some(17.0 / 13.0));
        assert_eq!(outcome.speedup(cell), Some(14.0 / 17.0));
        let ring = outcome
            .cell(LINES[0], Engine::Math, 8, Bytes::new(4 << 10))
            .unwrap();
        assert_eq!(
            (outcome.over_math(ring), outcome.speedup(ring)),
            (None, None)
        );
        let (reference, cells) = &outcome.against_references()[0];
        assert_eq!(reference.time, Micros::new(26.0));
        let times: Vec<f64> = cells.iter().map(|cell| cell.time.get()).collect();
        assert_eq!(times, [13.0, 17.0]);
    }
}
