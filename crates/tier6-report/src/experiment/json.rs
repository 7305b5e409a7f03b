//! `tier6.experiment/1`: every answer of every experiment, and what is read from them.

use crate::analysis::json::pretty;
use serde::Serialize;
use tier6_collective::Algorithm;
use tier6_study::{Cell, ExperimentView, FastestSpan, Outcome, Refused};
use tier6_units::{Bytes, GbPerSec};

/// Returns the experiments as JSON of schema `tier6.experiment/1`, indented, with a final newline.
pub fn experiments_json(outcomes: &[Outcome]) -> String {
    pretty(&ReportDto {
        schema: "tier6.experiment/1",
        experiments: outcomes.iter().map(ExperimentDto::new).collect(),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    experiments: Vec<ExperimentDto<'a>>,
}

#[derive(Serialize)]
struct ExperimentDto<'a> {
    name: &'a str,
    title: &'a str,
    system: &'a str,
    fidelity: &'static str,
    baseline: Option<&'static str>,
    results: Vec<ResultDto<'a>>,
    refused: Vec<RefusedDto<'a>>,
    fastest: Vec<FastestDto>,
    references: Vec<ReferenceDto<'a>>,
}

#[derive(Serialize)]
struct ResultDto<'a> {
    engine: &'static str,
    collective: &'static str,
    algorithm: &'static str,
    ranks: u32,
    bytes: u64,
    time_us: f64,
    busbw_gbs: Option<f64>,
    over_math: Option<f64>,
    speedup: Option<f64>,
    bottleneck: &'a str,
}

#[derive(Serialize)]
struct RefusedDto<'a> {
    engine: &'static str,
    collective: &'static str,
    algorithm: &'static str,
    ranks: u32,
    bytes: Option<u64>,
    why: &'a str,
}

/// Where one line is the fastest, by one engine: over sizes at `ranks`, or over ranks at `bytes`.
#[derive(Serialize)]
struct FastestDto {
    engine: &'static str,
    ranks: Option<u32>,
    bytes: Option<u64>,
    collective: &'static str,
    algorithm: &'static str,
    first: u64,
    last: u64,
}

#[derive(Serialize)]
struct ReferenceDto<'a> {
    source: &'a str,
    collective: &'static str,
    algorithm: &'static str,
    ranks: u32,
    bytes: u64,
    time_us: f64,
}

impl<'a> ExperimentDto<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        let experiment = &outcome.experiment;
        let views = experiment.views().into_iter();
        let fastest = views.flat_map(|view| {
            let engines = experiment.engines.iter();
            engines.flat_map(move |engine| {
                let collectives = experiment.collectives().into_iter();
                let spans = collectives
                    .flat_map(move |collective| outcome.fastest(view, *engine, collective));
                spans.map(move |span| FastestDto::new(view, engine.name(), span))
            })
        });
        Self {
            name: &experiment.name,
            title: &experiment.title,
            system: &experiment.system,
            fidelity: experiment.fidelity.name(),
            baseline: experiment.baseline.map(Algorithm::name),
            results: outcome
                .cells
                .iter()
                .map(|cell| ResultDto::new(outcome, cell))
                .collect(),
            refused: outcome.refused.iter().map(RefusedDto::new).collect(),
            fastest: fastest.collect(),
            references: experiment
                .references
                .iter()
                .map(|reference| ReferenceDto {
                    source: &reference.source,
                    collective: reference.line.collective.name(),
                    algorithm: reference.line.algorithm.name(),
                    ranks: reference.ranks,
                    bytes: reference.bytes.get(),
                    time_us: reference.time.get(),
                })
                .collect(),
        }
    }
}

impl<'a> ResultDto<'a> {
    fn new(outcome: &Outcome, cell: &'a Cell) -> Self {
        Self {
            engine: cell.engine.name(),
            collective: cell.line.collective.name(),
            algorithm: cell.line.algorithm.name(),
            ranks: cell.ranks,
            bytes: cell.bytes.get(),
            time_us: cell.time.get(),
            busbw_gbs: cell.busbw.map(GbPerSec::get),
            over_math: outcome.over_math(cell),
            speedup: outcome.speedup(cell),
            bottleneck: &cell.bottleneck,
        }
    }
}

impl<'a> RefusedDto<'a> {
    fn new(refused: &'a Refused) -> Self {
        Self {
            engine: refused.engine.name(),
            collective: refused.line.collective.name(),
            algorithm: refused.line.algorithm.name(),
            ranks: refused.ranks,
            bytes: refused.bytes.map(Bytes::get),
            why: &refused.why,
        }
    }
}

impl FastestDto {
    fn new(view: ExperimentView, engine: &'static str, span: FastestSpan) -> Self {
        let (ranks, bytes) = match view {
            ExperimentView::Sizes { ranks } => (Some(ranks), None),
            ExperimentView::Ranks { bytes } => (None, Some(bytes.get())),
        };
        Self {
            engine,
            ranks,
            bytes,
            collective: span.line.collective.name(),
            algorithm: span.line.algorithm.name(),
            first: span.first,
            last: span.last,
        }
    }
}
