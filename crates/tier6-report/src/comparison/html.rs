//! One HTML file that holds the whole comparison.

use super::summary::{
    cause, evidence, faults_and_doubts, inputs, title, verdict_sentence, verdict_tone,
};
use super::svg::series_chart;
use super::{ComparedSeries, ComparisonReport, grids};
use crate::naming;
use crate::number::{count, signed};
use crate::page::{card, escape, list, page};
use crate::style::Charset;
use std::fmt::Write as _;

/// How many series stand open; the others unfold.
const OPEN_MAX: usize = 4;

/// Returns the report as one self-contained HTML file.
pub fn comparison_html(report: &ComparisonReport) -> String {
    let verdict = verdict_sentence(report.verdict);
    let tone = verdict_tone(report.verdict).class();
    let mut body = format!("<header><h1 class=\"{tone}\">{}</h1>\n", escape(verdict));
    if report.series.len() != 1 {
        let _ = writeln!(body, "<p class=\"dim\">{}</p>", escape(&inputs(report)));
    }
    body += "</header>\n";
    for (index, series) in report.series.iter().enumerate() {
        push_series(&mut body, report, series, index);
    }
    if !report.not_compared.is_empty() {
        body += "<h2>Not compared</h2>\n";
        body += &list("", &report.not_compared);
    }
    page(&format!("tier6: {verdict}"), &body)
}

fn push_series(
    body: &mut String,
    report: &ComparisonReport,
    series: &ComparedSeries,
    index: usize,
) {
    let name = title(series).join(" · ");
    let folded = report.series.len() > OPEN_MAX;
    if folded {
        let open = if index == 0 { " open" } else { "" };
        let verdict = series.comparison.verdict;
        let _ = write!(
            body,
            "<details{open}><summary>{}: {verdict}</summary>",
            escape(&name)
        );
    }
    let _ = writeln!(body, "<section>\n<h2>{}</h2>", escape(&name));
    let _ = writeln!(
        body,
        "<p class=\"origin\">{}</p>",
        escape(&report.sides_of(series))
    );
    push_cards(body, series);
    *body += &list("findings", &faults_and_doubts(series));
    let chart = series_chart(series, report.loss, &format!("{name}, both runs"));
    let _ = writeln!(
        body,
        "<figure data-points=\"sizes-{index}\"><div class=\"scroll\">{chart}</div></figure>"
    );
    *body += "<h3>Segments</h3>\n";
    let segments = grids::segments(series, Charset::Unicode);
    let caption = "change of T = α + n/β from the baseline; 95 % intervals in brackets";
    *body += &segments.html(&format!("segments-{index}"), caption);
    *body += &list("", &evidence(series));
    *body += "<h3>Sizes</h3>\n";
    let caption = count(series.comparison.sizes.len(), "size");
    *body += &grids::sizes(series).html(&format!("sizes-{index}"), &caption);
    *body += "</section>\n";
    if folded {
        *body += "</details>\n";
    }
}

fn push_cards(body: &mut String, series: &ComparedSeries) {
    if series.comparison.segments.is_empty() {
        return;
    }
    *body += "<div class=\"cards\">";
    for segment in &series.comparison.segments {
        let sizes = naming::size_span(segment.first, segment.last);
        let title = format!("{}, {sizes}", naming::label(&segment.label));
        let note = match cause(segment.cause) {
            "" => format!("mean time {} %", signed(segment.mean_change_pct, 2)),
            cause => format!(
                "{cause}, mean time {} %",
                signed(segment.mean_change_pct, 2)
            ),
        };
        let tone = verdict_tone(segment.verdict).class();
        *body += &card(&title, segment.verdict.name(), &note, tone);
    }
    *body += "</div>\n";
}
