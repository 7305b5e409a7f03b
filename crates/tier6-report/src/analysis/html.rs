//! One HTML file that holds the whole analysis: cards, charts, tables, warnings, provenance.

use super::grids;
use super::summary::{
    TOGETHER, facts, failure, has_lines, identity, patterns, reservations, run_state,
    severity_tone, source, switches,
};
use super::svg::series_chart;
use crate::grid::{Align, Cell, Columns};
use crate::number::{ABSENT, count};
use crate::page::{card, escape, list, page};
use crate::report::{AnalysisReport, InputReport, RunReport, SeriesReport};
use crate::style::{Charset, Detail, Tone};
use std::fmt::Write as _;
use tier6_fit::Finding;
use tier6_measure::Warning;

/// How many series stand open; the others unfold.
const OPEN_MAX: usize = 4;

/// How many warnings of an input are listed one by one.
const WARNINGS_MAX: usize = 100;

/// Returns the report as one self-contained HTML file.
pub fn analysis_html(report: &AnalysisReport) -> String {
    let title = title(report);
    let mut body = format!("<header><h1>{}</h1>\n", escape(&title));
    let _ = writeln!(
        body,
        "<p class=\"dim\">{}</p></header>",
        escape(&subtitle(report))
    );
    if let Some(failure) = failure(report) {
        let _ = writeln!(
            body,
            "<div class=\"banner\" role=\"alert\">{}</div>",
            escape(&failure)
        );
    }
    if report.series.len() > 1 {
        body += "<h2>Overview</h2>\n";
        body += &grids::overview(report).html("overview", "one row per series");
    }
    if !report.findings.is_empty() {
        let _ = writeln!(body, "<h2>{TOGETHER}</h2>");
        push_findings(&mut body, &report.findings);
    }
    for (index, series) in report.series.iter().enumerate() {
        push_series(&mut body, report, series, index);
    }
    push_provenance(&mut body, report);
    page(&format!("tier6: {title}"), &body)
}

fn title(report: &AnalysisReport) -> String {
    match report.series.as_slice() {
        [] => "No series".to_owned(),
        [series] => heading(report, series),
        all => {
            let names = all.iter().map(|series| heading(report, series));
            let mut distinct: Vec<String> = Vec::new();
            for name in names {
                if !distinct.contains(&name) {
                    distinct.push(name);
                }
            }
            match distinct.as_slice() {
                [only] => only.clone(),
                _ => format!("{} series", all.len()),
            }
        }
    }
}

/// Returns the first parts of the identity: collective, type, ranks, nodes.
fn heading(report: &AnalysisReport, series: &SeriesReport) -> String {
    let parts = identity(report, series);
    let kept = parts.len() - 2;
    parts[..kept].join(" · ")
}

/// Returns what stands below the title: the rest of the identity, or the inputs.
fn subtitle(report: &AnalysisReport) -> String {
    if let [series] = report.series.as_slice() {
        let parts = identity(report, series);
        return parts[parts.len() - 2..].join(" · ");
    }
    let inputs: Vec<&str> = report
        .inputs
        .iter()
        .map(|input| input.path.as_str())
        .collect();
    match inputs.as_slice() {
        [] => "no input".to_owned(),
        few if few.len() <= 3 => few.join(", "),
        many => format!("{} and {} more", many[..2].join(", "), many.len() - 2),
    }
}

fn push_series(body: &mut String, report: &AnalysisReport, series: &SeriesReport, index: usize) {
    let name = format!("{}. {}", index + 1, identity(report, series).join(" · "));
    let folded = report.series.len() > OPEN_MAX;
    if folded {
        let open = if index == 0 { " open" } else { "" };
        let _ = write!(body, "<details{open}><summary>{}</summary>", escape(&name));
    }
    *body += "<section>\n";
    if report.series.len() > 1 {
        let _ = writeln!(body, "<h2>{}</h2>", escape(&name));
    }
    if let Some(source) = source(report, series) {
        let _ = write!(body, "<p class=\"origin\">{}", escape(&source));
        if let Some(run) = report.run_of(series) {
            let (text, tone) = run_state(run);
            let _ = write!(
                body,
                ": <span class=\"{}\">{}</span>",
                tone.class(),
                escape(&text)
            );
        }
        *body += "</p>\n";
    }
    push_cards(body, report, series);
    push_chart(body, report, series, index);
    push_models(body, report, series, index);
    push_points(body, report, series, index);
    if !series.predictions.is_empty() {
        let predictions = grids::predictions(&series.predictions);
        let caption = count(series.predictions.len(), "size that was not measured");
        *body += "<h3>Predictions</h3>\n";
        *body += &predictions.html(&format!("predictions-{index}"), &caption);
    }
    *body += "</section>\n";
    if folded {
        *body += "</details>\n";
    }
}

fn push_cards(body: &mut String, report: &AnalysisReport, series: &SeriesReport) {
    let facts = facts(&series.analysis, report.loss);
    if !facts.is_empty() {
        *body += "<div class=\"cards\">";
        for fact in &facts {
            *body += &card(fact.title, &fact.value, &fact.note, fact.tone.class());
        }
        *body += "</div>\n";
    }
    push_findings(body, &series.analysis.findings);
}

fn push_findings(body: &mut String, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    *body += "<ul class=\"findings\">";
    for finding in findings {
        let class = severity_tone(finding.severity).class();
        let class = if class == "dim" { "" } else { class };
        let _ = write!(
            body,
            "<li class=\"{class}\"><b>{}</b>{}<code>{}</code></li>",
            escape(finding.severity.name()),
            escape(&finding.message),
            escape(finding.code)
        );
    }
    *body += "</ul>\n";
}

fn push_chart(body: &mut String, report: &AnalysisReport, series: &SeriesReport, index: usize) {
    let title = format!(
        "time, bandwidth and model error of {}",
        identity(report, series)[0]
    );
    let chart = series_chart(&series.analysis, report.loss, &title);
    let _ = writeln!(
        body,
        "<figure data-points=\"points-{index}\"><div class=\"scroll\">{chart}</div></figure>"
    );
}

fn push_models(body: &mut String, report: &AnalysisReport, series: &SeriesReport, index: usize) {
    let analysis = &series.analysis;
    if has_lines(analysis) {
        let caption = format!(
            "T = α + n/β, {} loss; 95 % intervals in brackets",
            report.loss
        );
        let fits = grids::fits(analysis, report.loss, Detail::Short, Charset::Unicode);
        *body += "<h3>Models</h3>\n";
        *body += &fits.html(&format!("fits-{index}"), &caption);
    }
    *body += &list("", &reservations(analysis, report.loss));
    if !analysis.switches.is_empty() {
        *body += "<h3>Switches</h3>\n";
        *body += &list("", &switches(analysis));
    }
    if !analysis.residuals.is_empty() {
        *body += "<h3>Residuals</h3>\n";
        *body += &list("", &patterns(analysis));
    }
}

fn push_points(body: &mut String, report: &AnalysisReport, series: &SeriesReport, index: usize) {
    if series.analysis.points.is_empty() {
        return;
    }
    let points = grids::points(&series.analysis, report.loss, Detail::Short);
    let caption = count(series.analysis.points.len(), "size");
    *body += "<h3>Points</h3>\n";
    *body += &points.html(&format!("points-{index}"), &caption);
}

fn push_provenance(body: &mut String, report: &AnalysisReport) {
    let rows: Vec<(&InputReport, Option<&RunReport>)> = report
        .inputs
        .iter()
        .flat_map(|input| {
            let runs = input.runs.iter().map(move |run| (input, Some(run)));
            let none = input.runs.is_empty().then_some((input, None));
            runs.chain(none)
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let of_run = |run: Option<&RunReport>, text: &dyn Fn(&RunReport) -> Option<String>| {
        run.and_then(text).unwrap_or_else(|| ABSENT.to_owned())
    };
    let grid = Columns::of(&rows)
        .left("input", |(input, _)| input.path.clone())
        .left("format", |(input, _)| input.dialect.to_string())
        .right("line", |(_, run)| {
            of_run(*run, &|run| Some(run.first_line.to_string()))
        })
        .right("rows", |(input, run)| {
            run.map_or(input.rows, |run| run.rows).to_string()
        })
        .left("library", |(_, run)| {
            of_run(*run, &|run| Some(run.setup.library_version?.to_string()))
        })
        .cells("state", Align::Left, |(_, run)| {
            let state = run.map(run_state);
            let (text, tone) = state.unwrap_or_else(|| ("no runs".to_owned(), Tone::Dim));
            Cell::toned(text, tone)
        })
        .left("command", |(_, run)| {
            of_run(*run, &|run| run.setup.command.clone())
        })
        .grid();
    *body += "<h2>Provenance</h2>\n";
    *body += &grid.html("inputs", "the inputs as they were read");
    for input in report
        .inputs
        .iter()
        .filter(|input| !input.warnings.is_empty())
    {
        push_warnings(body, input);
    }
}

fn push_warnings(body: &mut String, input: &InputReport) {
    let title = format!(
        "{} in {}",
        count(input.warnings.len(), "warning"),
        input.path
    );
    let _ = writeln!(body, "<h3>{}</h3>", escape(&title));
    let mut entries: Vec<String> = input
        .warnings
        .iter()
        .take(WARNINGS_MAX)
        .map(Warning::to_string)
        .collect();
    if input.warnings.len() > WARNINGS_MAX {
        entries.push(format!("and {} more", input.warnings.len() - WARNINGS_MAX));
    }
    *body += &list("warnings", &entries);
}
