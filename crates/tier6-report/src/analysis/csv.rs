//! One row per point with everything that identifies it, for spreadsheets and data frames.
//! Names are the contract's, absent values are empty fields.

use super::summary::shown_fits;
use crate::report::{AnalysisReport, SeriesReport};
use std::fmt::Display;

const HEADER: &str = "input,run,library_version,collective,ranks,nodes,datatype,redop,placement,\
bytes,samples,median_us,p95_us,cv_pct,stable,wrong,algbw_gbs,busbw_gbs,wire_gbs,\
algorithm,protocol,tuner_us,tuner_error_pct,segment,model_us,model_error_pct,excluded\n";

/// Returns the points of all series as CSV with a header line.
pub fn analysis_csv(report: &AnalysisReport) -> String {
    let mut out = HEADER.to_owned();
    for series in &report.series {
        push_series(&mut out, report, series);
    }
    out
}

fn push_series(out: &mut String, report: &AnalysisReport, series: &SeriesReport) {
    let analysis = &series.analysis;
    let shown = shown_fits(analysis, report.loss);
    let input = report.inputs.get(series.input);
    let version = report
        .run_of(series)
        .and_then(|run| run.setup.library_version);
    let identity = [
        input.map_or_else(String::new, |input| quoted(&input.path)),
        (analysis.run + 1).to_string(),
        text(version),
        text(analysis.collective),
        text(analysis.ranks.exact()),
        text(analysis.nodes),
        text(analysis.datatype),
        text(analysis.redop),
        analysis.placement.to_string(),
    ];
    for point in &analysis.points {
        let segment = shown
            .segment_at(point.bytes)
            .map(|index| shown.segments[index]);
        let line = segment.and_then(|fit| fit.line);
        let fields = [
            point.bytes.get().to_string(),
            point.samples.to_string(),
            number(Some(point.median.get())),
            number(point.p95.map(tier6_units::Micros::get)),
            number(point.cv_pct),
            text(point.stable),
            text(point.wrong),
            number(Some(point.algbw.get())),
            number(point.busbw.map(tier6_units::GbPerSec::get)),
            number(point.wire.map(tier6_units::GbPerSec::get)),
            text(point.path.map(|path| path.algorithm)),
            text(point.path.map(|path| path.protocol)),
            number(point.tuner.map(tier6_units::Micros::get)),
            number(point.tuner_error_pct),
            segment.map_or_else(String::new, |fit| quoted(&fit.label.to_string())),
            number(line.map(|line| line.predict(point.bytes).get())),
            number(shown.error_at(point.bytes)),
            text(point.excluded),
        ];
        push_row(out, identity.iter().chain(&fields));
    }
}

/// Writes fields as a line.
pub(crate) fn push_row<'a>(out: &mut String, fields: impl Iterator<Item = &'a String>) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        *out += field;
    }
    out.push('\n');
}

/// Returns the text of a value, or an empty field.
pub(crate) fn text(value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Returns the shortest text that reads back to the same number; empty when not finite.
pub(crate) fn number(value: Option<f64>) -> String {
    text(value.filter(|value| value.is_finite()))
}

/// Returns a field in quotes when it needs them.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
