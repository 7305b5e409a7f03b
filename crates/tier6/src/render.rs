//! A result in the form that the user asked for.

use tier6_report::{
    AnalysisReport, Detail, Style, analysis_csv, analysis_html, analysis_json, analysis_markdown,
    analysis_svg, analysis_table,
};

/// The forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text for people, with its look.
    Table(Style, Detail),
    /// The JSON of the contract.
    Json,
    /// One row per point.
    Csv,
    /// Tables for issues and wikis.
    Markdown,
    /// The charts.
    Svg,
    /// One page with everything in it.
    Html,
}

/// Renders an analysis.
pub fn render_analysis(report: &AnalysisReport, form: Form) -> String {
    match form {
        Form::Table(style, detail) => analysis_table(report, style, detail),
        Form::Json => analysis_json(report),
        Form::Csv => analysis_csv(report),
        Form::Markdown => analysis_markdown(report),
        Form::Svg => analysis_svg(report),
        Form::Html => analysis_html(report),
    }
}
