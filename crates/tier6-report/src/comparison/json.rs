//! `tier6.comparison/1`: the contract of the command line as types. Segments of all series stand
//! in one list, as the contract has it; `series` says which they belong to.

use super::summary::size_verdict_name;
use super::{ComparedSeries, ComparisonReport};
use crate::analysis::{ends, pretty};
use crate::report::Status;
use serde::Serialize;
use tier6_fit::{ComparisonVerdict, SegmentComparison, SizeComparison};

/// Returns the report as JSON of schema `tier6.comparison/1`, indented, with a final newline.
pub fn comparison_json(report: &ComparisonReport) -> String {
    let segments = report
        .series
        .iter()
        .enumerate()
        .flat_map(|(index, series)| {
            let segments = series.comparison.segments.iter();
            segments.map(move |segment| SegmentDto::new(index, segment))
        });
    pretty(&ComparisonDto {
        schema: "tier6.comparison/1",
        verdict: contract_verdict(report.verdict),
        segments: segments.collect(),
        status: status(report.verdict),
        series: report
            .series
            .iter()
            .map(|series| SeriesDto::new(report, series))
            .collect(),
        not_compared: &report.not_compared,
    })
}

/// The verdict in the contract's four words: of a failed run no speed can be told.
const fn contract_verdict(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Failed => ComparisonVerdict::Undecided.name(),
        ComparisonVerdict::Regressed
        | ComparisonVerdict::Undecided
        | ComparisonVerdict::Improved
        | ComparisonVerdict::Unchanged => verdict.name(),
    }
}

/// Whether both runs count: no wrong data, no abort, as in the analysis.
const fn status(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Failed => Status::Failed.name(),
        ComparisonVerdict::Regressed
        | ComparisonVerdict::Undecided
        | ComparisonVerdict::Improved
        | ComparisonVerdict::Unchanged => Status::Ok.name(),
    }
}

#[derive(Serialize)]
struct ComparisonDto<'a> {
    schema: &'static str,
    verdict: &'static str,
    segments: Vec<SegmentDto<'a>>,
    status: &'static str,
    series: Vec<SeriesDto<'a>>,
    not_compared: &'a [String],
}

#[derive(Serialize)]
struct SegmentDto<'a> {
    label: String,
    first_bytes: u64,
    last_bytes: u64,
    delta_alpha_us: Option<f64>,
    delta_beta_pct: Option<f64>,
    verdict: &'static str,
    cause: Option<&'static str>,
    evidence: &'a str,
    sizes: u32,
    delta_alpha_ci_us: Option<[f64; 2]>,
    mean_change_pct: f64,
    mean_change_ci_pct: Option<[f64; 2]>,
    series: usize,
}

#[derive(Serialize)]
struct SeriesDto<'a> {
    collective: Option<&'static str>,
    ranks: Option<u32>,
    nodes: Option<u32>,
    datatype: Option<&'static str>,
    redop: Option<&'static str>,
    placement: &'static str,
    baseline: Option<&'a str>,
    new: Option<&'a str>,
    verdict: &'static str,
    wrong_data: &'a [String],
    warnings: &'a [String],
    unmatched_sizes: u32,
    sizes: Vec<SizeDto>,
}

#[derive(Serialize)]
struct SizeDto {
    bytes: u64,
    baseline_us: f64,
    new_us: f64,
    change_pct: f64,
    p_value: Option<f64>,
    verdict: &'static str,
}

impl<'a> SegmentDto<'a> {
    fn new(series: usize, segment: &'a SegmentComparison) -> Self {
        Self {
            label: segment.label.to_string(),
            first_bytes: segment.first.get(),
            last_bytes: segment.last.get(),
            delta_alpha_us: segment.delta_alpha.map(tier6_units::Micros::get),
            delta_beta_pct: segment.delta_beta_pct,
            verdict: segment.verdict.name(),
            cause: segment.cause.map(tier6_fit::Cause::name),
            evidence: &segment.evidence,
            sizes: segment.sizes,
            delta_alpha_ci_us: ends(segment.delta_alpha_ci),
            mean_change_pct: segment.mean_change_pct,
            mean_change_ci_pct: ends(segment.mean_change_ci_pct),
            series,
        }
    }
}

impl<'a> SeriesDto<'a> {
    fn new(report: &'a ComparisonReport, series: &'a ComparedSeries) -> Self {
        let analysis = &series.new.analysis;
        let baseline = report.baseline.get(series.baseline.input);
        let new = report.new.get(series.new.input);
        Self {
            collective: analysis.collective.map(tier6_collective::Collective::name),
            ranks: analysis.ranks.exact(),
            nodes: analysis.nodes,
            datatype: analysis.datatype.map(tier6_collective::DataType::name),
            redop: analysis.redop.map(tier6_collective::RedOp::name),
            placement: analysis.placement.name(),
            baseline: baseline.map(|input| input.path.as_str()),
            new: new.map(|input| input.path.as_str()),
            verdict: series.comparison.verdict.name(),
            wrong_data: &series.comparison.faults,
            warnings: &series.comparison.warnings,
            unmatched_sizes: series.comparison.unmatched_sizes,
            sizes: series.comparison.sizes.iter().map(SizeDto::new).collect(),
        }
    }
}

impl SizeDto {
    fn new(size: &SizeComparison) -> Self {
        Self {
            bytes: size.bytes.get(),
            baseline_us: size.base.get(),
            new_us: size.new.get(),
            change_pct: size.change_pct,
            p_value: size.p_value,
            verdict: size_verdict_name(size.verdict),
        }
    }
}
