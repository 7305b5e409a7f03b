//! What an analysis report is made of: the inputs as they were read, and what was found in them.

use tier6_fit::{Finding, Loss, Prediction, SeriesAnalysis};
use tier6_measure::{Correctness, Dialect, Footer, Run, RunEnd, RunSetup, Warning};

/// The result of analysing one or more inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisReport {
    /// The inputs, in the order given.
    pub inputs: Vec<InputReport>,
    /// Whether any data was wrong.
    pub status: Status,
    /// The loss whose fits people see first; JSON always holds both.
    pub loss: Loss,
    /// One analysis per series, in the order of inputs, runs and placements.
    pub series: Vec<SeriesReport>,
    /// What several series say together, most severe first.
    pub findings: Vec<Finding>,
}

impl AnalysisReport {
    /// Returns the run that a series was measured in; `None` when the indices name none.
    pub fn run_of(&self, series: &SeriesReport) -> Option<&RunReport> {
        self.inputs.get(series.input)?.runs.get(series.analysis.run)
    }

    /// Returns the folder that all inputs are in, with its slash; empty for a single input, which
    /// keeps its whole name.
    pub(crate) fn common_folder(&self) -> &str {
        let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
        let Some((first, rest)) = self
            .inputs
            .split_first()
            .filter(|(_, rest)| !rest.is_empty())
        else {
            return "";
        };
        let mut common = &first.path[..folder(&first.path)];
        for input in rest {
            while !input.path.starts_with(common) {
                common = &common[..folder(&common[..common.len() - 1])];
            }
        }
        common
    }
}

/// Whether the data of a report can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No check failed.
    Ok,
    /// A run moved wrong data.
    Failed,
}

impl Status {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
        }
    }
}

/// One input and what its reader said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct InputReport {
    /// The path as the user gave it; `-` for stdin.
    pub path: String,
    /// The format that the content was recognised as.
    pub dialect: Dialect,
    /// Number of table rows read.
    pub rows: u64,
    /// What the reader skipped or doubted.
    pub warnings: Vec<Warning>,
    /// The runs that the input holds.
    pub runs: Vec<RunReport>,
}

/// One run without its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// What the header says.
    pub setup: RunSetup,
    /// Whether the data was right.
    pub correctness: Correctness,
    /// How the run ended.
    pub end: RunEnd,
    /// What the footer says.
    pub footer: Option<Footer>,
    /// Number of table rows read.
    pub rows: u64,
    /// Line of the input where the run starts, from 1.
    pub first_line: u64,
}

impl From<&Run> for RunReport {
    fn from(run: &Run) -> Self {
        Self {
            setup: run.setup.clone(),
            correctness: run.correctness(),
            end: run.end.clone(),
            footer: run.footer.clone(),
            rows: run.rows,
            first_line: run.first_line,
        }
    }
}

/// One series and the input that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesReport {
    /// Index into [`AnalysisReport::inputs`].
    pub input: usize,
    /// What was found; its `run` indexes the runs of that input.
    pub analysis: SeriesAnalysis,
    /// Times of sizes that were not measured, as far as the user asked for some.
    pub predictions: Vec<Prediction>,
}

impl SeriesReport {
    /// Makes a report without predictions.
    pub const fn new(input: usize, analysis: SeriesAnalysis) -> Self {
        Self {
            input,
            analysis,
            predictions: Vec::new(),
        }
    }
}
