//! The way from a measured series to its analysis: reduce, join, segment, fit, judge, tell.

use crate::fit::{fit_points, reject_if_split};
use crate::point::summarise;
use crate::residual::residual_findings;
use crate::segment::{Segment, segments, switches};
use crate::{
    Basis, Fit, FitLabel, Loss, PointSummary, SeriesAnalysis, finding, region, run_finding,
};
use tier6_measure::{Run, Selection, Series};
use tier6_units::GbPerSec;

/// What an analysis may be told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisOptions {
    /// Coefficient of variation above which a size is unstable, in percent.
    pub cv_limit_pct: f64,
    /// Share of the peak algbw that counts as saturated, in percent.
    pub saturation_pct: f64,
    /// Line rate per rank and direction, when the user knows it: the yardstick for busbw.
    pub line_rate: Option<GbPerSec>,
}

impl AnalysisOptions {
    /// The criteria of source document 000: CV 5 %, saturation 80 %.
    pub const STANDARD: Self = Self {
        cv_limit_pct: 5.0,
        saturation_pct: 80.0,
        line_rate: None,
    };
}

/// Analyses one series. `run` is the index of its run within the input; `selections` are what
/// NCCL logged, from the same input or another.
pub fn analyze(
    series: &Series,
    run: usize,
    selections: &[Selection],
    options: &AnalysisOptions,
) -> SeriesAnalysis {
    let mut summary = summarise(series, selections, options);
    let usable: Vec<&PointSummary> = summary
        .points
        .iter()
        .filter(|point| point.excluded.is_none())
        .collect();
    let segments = segments(&usable);
    let fits = fit_all(&usable, &segments);
    let mut analysis = SeriesAnalysis {
        run,
        collective: series.collective,
        ranks: series.ranks,
        nodes: series.nodes,
        datatype: series.datatype,
        redop: series.redop,
        placement: series.placement,
        switches: switches(&segments, &usable),
        regions: region::regions(&usable, options.saturation_pct),
        residuals: fits
            .iter()
            .filter(|fit| fit.loss == Loss::Relative)
            .flat_map(residual_findings)
            .collect(),
        points: Vec::new(),
        fits,
        findings: Vec::new(),
    };
    analysis.points = std::mem::take(&mut summary.points);
    analysis.findings = finding::findings(&analysis, &summary, options);
    analysis
}

/// Analyses every series of a run and adds what its set-up and footer say about the numbers:
/// times shared by a group, averages over sizes.
pub fn analyze_run(
    run: &Run,
    index: usize,
    selections: &[Selection],
    options: &AnalysisOptions,
) -> Vec<SeriesAnalysis> {
    let mut analyses: Vec<SeriesAnalysis> = run
        .series
        .iter()
        .map(|series| analyze(series, index, selections, options))
        .collect();
    run_finding::add_run_findings(run, &mut analyses);
    analyses
}

/// Fits every range with both losses: the global line first, then the segments.
fn fit_all(usable: &[&PointSummary], segments: &[Segment]) -> Vec<Fit> {
    let losses = [Loss::Relative, Loss::Absolute];
    let mut fits: Vec<Fit> = losses
        .iter()
        .map(|loss| fit_points(FitLabel::Global, Basis::All, *loss, usable))
        .collect();
    for segment in segments {
        for loss in losses {
            let points = &usable[segment.range.clone()];
            fits.push(fit_points(
                segment.label.clone(),
                segment.basis,
                loss,
                points,
            ));
        }
    }
    let (global, parts) = fits.split_at_mut(losses.len());
    for line in global {
        let same_loss: Vec<&Fit> = parts.iter().filter(|fit| fit.loss == line.loss).collect();
        reject_if_split(line, &same_loss);
    }
    fits
}
