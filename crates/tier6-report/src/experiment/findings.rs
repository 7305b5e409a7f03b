//! What an experiment shows, as sentences.

use super::{line_name, place_name};
use crate::number::fixed;
use tier6_study::{Cell, Engine, ExperimentView, FastestSpan, Outcome};

/// Ratios of G5 to Math within this of 1 are no finding.
const AGREES_WITHIN: f64 = 0.05;

/// Returns the findings, each with a short head.
pub(super) fn findings(outcome: &Outcome) -> Vec<(String, String)> {
    let mut findings = Vec::new();
    for view in outcome.experiment.views() {
        let by_engine = outcome.experiment.engines.iter();
        let spans: Vec<_> = by_engine
            .map(|engine| (engine.name(), outcome.fastest(view, *engine)))
            .filter(|(_, spans)| !spans.is_empty())
            .collect();
        let together = spans.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let head = match view {
            ExperimentView::Sizes { ranks } if outcome.experiment.ranks.len() > 1 => {
                format!("N = {ranks}")
            }
            _ => "fastest".to_owned(),
        };
        match spans.as_slice() {
            [] => {}
            [(_, first), ..] if together => {
                findings.push((head, fastest(outcome, view, first)));
            }
            _ => findings.extend(spans.iter().map(|(engine, spans)| {
                let sentence = fastest(outcome, view, spans);
                (head.clone(), format!("by {engine}, {sentence}"))
            })),
        }
    }
    let largest = outcome.experiment.lines.iter().filter_map(|line| {
        let mut cells = outcome.cells.iter();
        cells.rfind(|cell| cell.line == *line && cell.engine == Engine::G5)
    });
    findings.extend(largest.map(|cell| ("limit".to_owned(), limit(outcome, cell))));
    findings
}

/// `ring from 2 MiB, halving_doubling below`, in order.
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
