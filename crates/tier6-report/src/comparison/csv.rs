//! One row per size that both sides have.

use super::summary::size_verdict_name;
use super::{ComparedSeries, ComparisonReport};
use crate::analysis::csv::{number, push_row, quoted, text};

const HEADER: &str = "baseline,new,collective,ranks,nodes,datatype,redop,placement,\
bytes,baseline_us,new_us,change_pct,p_value,verdict,segment,segment_verdict,cause\n";

/// Returns the sizes of all compared series as CSV with a header line.
pub fn comparison_csv(report: &ComparisonReport) -> String {
    let mut out = HEADER.to_owned();
    for series in &report.series {
        push_series(&mut out, report, series);
    }
    out
}

fn push_series(out: &mut String, report: &ComparisonReport, series: &ComparedSeries) {
    let analysis = &series.new.analysis;
    let path = |inputs: &[crate::InputReport], index: usize| {
        inputs
            .get(index)
            .map_or_else(String::new, |input| quoted(&input.path))
    };
    let identity = [
        path(&report.baseline, series.baseline.input),
        path(&report.new, series.new.input),
        text(analysis.collective),
        text(analysis.ranks.exact()),
        text(analysis.nodes),
        text(analysis.datatype),
        text(analysis.redop),
        analysis.placement.to_string(),
    ];
    let segments = &series.comparison.segments;
    for size in &series.comparison.sizes {
        let holds = |first, last| (first..=last).contains(&size.bytes);
        let segment = segments
            .iter()
            .find(|segment| holds(segment.first, segment.last));
        let fields = [
            size.bytes.get().to_string(),
            number(Some(size.base.get())),
            number(Some(size.new.get())),
            number(Some(size.change_pct)),
            number(size.p_value),
            size_verdict_name(size.verdict).to_owned(),
            segment.map_or_else(String::new, |segment| quoted(&segment.label.to_string())),
            text(segment.map(|segment| segment.verdict)),
            text(segment.and_then(|segment| segment.cause)),
        ];
        push_row(out, identity.iter().chain(&fields));
    }
}
