//! The report of a comparison, and its formats.

mod csv;
mod grids;
mod html;
mod json;
mod markdown;
mod summary;
mod svg;
mod table;

pub use {
    csv::comparison_csv, html::comparison_html, json::comparison_json,
    markdown::comparison_markdown, svg::comparison_svg, table::comparison_table,
};

use crate::report::{InputReport, SeriesReport};
use tier6_fit::{ComparisonVerdict, Loss, SeriesComparison};

/// The result of comparing a new measurement with a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonReport {
    /// The inputs of the baseline, in the order given.
    pub baseline: Vec<InputReport>,
    /// The inputs of the new measurement.
    pub new: Vec<InputReport>,
    /// The outcome over all series.
    pub verdict: ComparisonVerdict,
    /// The loss whose fits are drawn.
    pub loss: Loss,
    /// The series that both sides have.
    pub series: Vec<ComparedSeries>,
    /// A sentence per series that was not compared, and why.
    pub not_compared: Vec<String>,
}

/// One series on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSeries {
    /// The baseline's; its `input` indexes [`ComparisonReport::baseline`].
    pub baseline: SeriesReport,
    /// The new one; its `input` indexes [`ComparisonReport::new`].
    pub new: SeriesReport,
    /// What changed.
    pub comparison: SeriesComparison,
}

impl ComparisonReport {
    /// Returns `new.txt (library 2.27.7) against base.txt (library 2.22.3)`.
    fn sides_of(&self, series: &ComparedSeries) -> String {
        let new = side(&self.new, &series.new);
        let baseline = side(&self.baseline, &series.baseline);
        format!("{new} against {baseline}")
    }
}

/// Names the input of a series, with the library where it is known.
fn side(inputs: &[InputReport], series: &SeriesReport) -> String {
    let Some(input) = inputs.get(series.input) else {
        return "unknown input".to_owned();
    };
    let run = input.runs.get(series.analysis.run);
    match run.and_then(|run| run.setup.library_version) {
        Some(version) => format!("{} (library {version})", input.path),
        None => input.path.clone(),
    }
}
