//! What an experiment shows, as sentences.

use super::{line_name, place_name};
use crate::number::fixed;
use tier6_collective::Collective;
use tier6_study::{Cell, Engine, ExperimentView, FastestSpan, Outcome};

/// Ratios of G5 to Math within this of 1 are no finding.
const AGREES_WITHIN: f64 = 0.05;

/// Returns the findings, each with a short head.
pub(super) fn findings(outcome: &Outcome) -> Vec<(String, String)> {
    let experiment = &outcome.experiment;
    let mut findings = Vec::new();
    for view in experiment.views() {
        let head = match view {
            ExperimentView::Sizes { ranks } if experiment.ranks.len() > 1 => {
                format!("N = {ranks}")
            }
            ExperimentView::Sizes { .. } | ExperimentView::Ranks { .. } => "fastest".to_owned(),
        };
        for collective in experiment.collectives() {
            let sentences = contest(outcome, view, collective);
            findings.extend(
                sentences
                    .into_iter()
                    .map(|sentence| (head.clone(), sentence)),
            );
        }
    }
    let largest = outcome.experiment.lines.iter().filter_map(|line| {
        let mut cells = outcome.cells.iter();
        cells.rfind(|cell| cell.line == *line && cell.engine == Engine::G5)
    });
    findings.extend(largest.map(|cell| ("limit".to_owned(), limit(outcome, cell))));
    findings
}

/// Says which line of a collective is the fastest where: once, or by each engine when they differ.
fn contest(outcome: &Outcome, view: ExperimentView, collective: Collective) -> Vec<String> {
    let engines = outcome.experiment.engines.iter();
    let by_engine: Vec<(&str, Vec<FastestSpan>)> = engines
        .map(|engine| (engine.name(), outcome.fastest(view, *engine, collective)))
        .filter(|(_, spans)| !spans.is_empty())
        .collect();
    let agree = by_engine.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match by_engine.as_slice() {
        [] => Vec::new(),
        [(_, spans), ..] if agree => vec![fastest(outcome, view, spans)],
        differing => {
            let sentence = |(engine, spans): &(&str, Vec<FastestSpan>)| {
                format!("by {engine}, {}", fastest(outcome, view, spans))
            };
            differing.iter().map(sentence).collect()
        }
    }
}

/// `tree to 1 MiB, ring from 2 MiB`.
fn fastest(outcome: &Outcome, view: ExperimentView, spans: &[FastestSpan]) -> String {
    let name = |span: &FastestSpan| line_name(outcome, span.line);
    match spans {
        [] => String::new(),
        [only] => format!("{} throughout", name(only)),
        [all @ .., last] => {
            let mut parts: Vec<String> = all
                .iter()
                .map(|span| format!("{} to {}", name(span), place_name(view, span.last)))
                .collect();
            parts.push(format!(
                "{} from {}",
                name(last),
                place_name(view, last.first)
            ));
            parts.join(", ")
        }
    }
}

/// What holds a line up at the end of its curve, and what Math makes of it.
fn limit(outcome: &Outcome, cell: &Cell) -> String {
    let line = line_name(outcome, cell.line);
    let beside = match outcome.over_math(cell) {
        Some(ratio) if (ratio - 1.0).abs() > AGREES_WITHIN => {
            format!(" ({} times the time by math)", fixed(ratio, 2))
        }
        Some(_) | None => String::new(),
    };
    format!(
        "{line}, {} ranks, {}{beside}: {}",
        cell.ranks, cell.bytes, cell.bottleneck
    )
}
