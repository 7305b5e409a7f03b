//! One HTML file with every experiment: chart, findings, tables.

use super::chart::view_chart;
use super::findings::findings;
use super::{
    COMPARISON, REFERENCES, comparison, gains, gains_caption, references, refusals, shown_engines,
    subtitle, times, times_caption,
};
use crate::page::{escape, list, page};
use crate::style::Detail;
use std::fmt::Write as _;
use tier6_study::{ExperimentView, Outcome};

/// Returns the experiments as one self-contained HTML file.
pub fn experiments_html(outcomes: &[Outcome]) -> String {
    let title = match outcomes {
        [only] => only.experiment.title.clone(),
        _ => format!("{} experiments", outcomes.len()),
    };
    let mut body = format!("<header><h1>{}</h1>\n", escape(&title));
    if outcomes.len() > 1 {
        body += "<ul>";
        for outcome in outcomes {
            let experiment = &outcome.experiment;
            let _ = write!(
                body,
                "<li><a href=\"#{}\">{}</a></li>",
                escape(&experiment.name),
                escape(&experiment.title)
            );
        }
        body += "</ul>\n";
    }
    body += "</header>\n";
    for outcome in outcomes {
        push_experiment(&mut body, outcome);
    }
    page(&format!("tier6: {title}"), &body)
}

fn push_experiment(body: &mut String, outcome: &Outcome) {
    let experiment = &outcome.experiment;
    let name = escape(&experiment.name);
    let _ = writeln!(
        body,
        "<section id=\"{name}\">\n<h2>{}</h2>\n<p class=\"origin\">{}</p>",
        escape(&experiment.title),
        escape(&subtitle(outcome))
    );
    if let Some(note) = &experiment.note {
        let _ = writeln!(body, "<p>{}</p>", escape(note));
    }
    let sentences = findings(outcome).into_iter().chain(refusals(outcome));
    let sentences: Vec<String> = sentences
        .map(|(head, sentence)| format!("{head}: {sentence}"))
        .collect();
    *body += &list("findings", &sentences);
    for view in experiment.views() {
        let chart = view_chart(outcome, view);
        let _ = writeln!(body, "<figure><div class=\"scroll\">{chart}</div></figure>");
    }
    if let Some(grid) = references(outcome) {
        *body += &grid.html(&format!("{name}-references"), REFERENCES);
    }
    if let Some(grid) = comparison(outcome) {
        *body += &grid.html(&format!("{name}-comparison"), COMPARISON);
    }
    for view in experiment.views() {
        push_times(body, outcome, view);
    }
    *body += "</section>\n";
}

fn push_times(body: &mut String, outcome: &Outcome, view: ExperimentView) {
    let name = escape(&outcome.experiment.name);
    let place = match view {
        ExperimentView::Sizes { ranks } => format!("{ranks} ranks"),
        ExperimentView::Ranks { bytes } => bytes.to_string(),
    };
    let _ = writeln!(
        body,
        "<details><summary>Times, {}</summary>",
        escape(&place)
    );
    for engine in shown_engines(outcome, Detail::Wide) {
        let id = format!("{name}-{}-{}", engine.name(), place.replace(' ', ""));
        let caption = times_caption(view, engine);
        *body += &times(outcome, view, engine).html(&id, &caption);
    }
    if let Some(grid) = gains(outcome, view) {
        let id = format!("{name}-gains-{}", place.replace(' ', ""));
        *body += &grid.html(&id, &gains_caption(outcome));
    }
    *body += "</details>\n";
}
