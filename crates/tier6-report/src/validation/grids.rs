//! The tables of a validation.

use super::{offered, scored};
use crate::analysis::csv::text;
use crate::grid::{Columns, Grid};
use tier6_study::{
    DocumentBand, DocumentEngine, DocumentFigure, Engine, EngineSummary, Errors, ExcludedSet,
    FromRanks, Role, Score, SetValidation, Spread, Summary, document_figures,
};

/// A row of the summary: what it is, on how many sets, in sample, held out, inside its interval.
struct SummaryRow {
    title: &'static str,
    sets: Option<usize>,
    in_sample: Option<Spread>,
    held_out: Option<Spread>,
    inside_pct: Option<f64>,
}

/// What engines meet over all sets; engines without a score are left out.
pub(super) fn summary_grid(summary: &Summary) -> Grid {
    let row = |engine: &EngineSummary| SummaryRow {
        title: engine.engine.title(),
        sets: Some(engine.sets),
        in_sample: engine.in_sample,
        held_out: engine.held_out,
        inside_pct: engine.inside_pct,
    };
    let has_score = |engine: &&EngineSummary| engine.sets > 0;
    let mut rows: Vec<SummaryRow> = summary.engines.iter().filter(has_score).map(row).collect();
    if let Some(noise) = summary.placement_noise {
        rows.push(SummaryRow {
            title: "two placements of one run",
            sets: None,
            in_sample: None,
            held_out: Some(noise),
            inside_pct: None,
        });
    }
    Columns::of(&rows)
        .left("model", |row| row.title.to_owned())
        .right("sets", |row| text(row.sets))
        .numbers("in-sample median", 1, |row| Some(row.in_sample?.median))
        .numbers("p75", 1, |row| Some(row.in_sample?.p75))
        .numbers("p90", 1, |row| Some(row.in_sample?.p90))
        .numbers("held-out median", 1, |row| Some(row.held_out?.median))
        .numbers("p75", 1, |row| Some(row.held_out?.p75))
        .numbers("p90", 1, |row| Some(row.held_out?.p90))
        .numbers("inside %", 0, |row| row.inside_pct)
        .grid()
}

/// One engine: its bands. Several: in sample and held out of each.
pub(super) fn sets_grid(sets: &[&SetValidation]) -> Grid {
    let engines = offered(sets);
    let held_out =
        |set: &SetValidation, engine: Engine| set.score(engine).map(|score| score.held_out);
    let mut columns = Columns::of(sets)
        .left("set", |set| set.id.clone())
        .right("sizes", |set| set.points.to_string())
        .left("tier", |set| text(set.tier));
    if sets.iter().any(|set| set.from_ranks.is_some()) {
        columns = columns
            .left("from ranks", |set| trained_ranks(set.from_ranks.as_ref()))
            .numbers("scale", 1, |set| Some(set.from_ranks.as_ref()?.scale()));
    }
    for &engine in &engines {
        let head = |what: &str| match engines.len() {
            1 => what.to_owned(),
            _ => format!("{} {what}", engine.name()),
        };
        columns = columns
            .numbers(&head("in sample"), 1, move |set| {
                set.score(engine)?.in_sample.overall
            })
            .numbers(&head("held out"), 1, move |set| {
                held_out(set, engine)?.overall
            });
        if engines.len() == 1 {
            columns = columns
                .numbers("small", 1, move |set| held_out(set, engine)?.small)
                .numbers("medium", 1, move |set| held_out(set, engine)?.medium)
                .numbers("large", 1, move |set| held_out(set, engine)?.large);
        }
        if sets.iter().any(|set| set.from_ranks.is_some()) {
            columns = columns.numbers(&head("inside %"), 0, move |set| {
                Some(set.score(engine)?.interval?.inside_pct)
            });
        }
    }
    for engine in scored(sets, Role::Yardstick) {
        columns = columns.numbers(engine.title(), 1, move |set| held_out(set, engine)?.overall);
    }
    columns
        .numbers("placements", 1, |set| set.placement_noise_pct)
        .grid()
}

/// `4, 8 .. 512 to 1024`.
fn trained_ranks(from: Option<&FromRanks>) -> String {
    let Some(from) = from else {
        return String::new();
    };
    let ranks: Vec<String> = from.trained_ranks.iter().map(u32::to_string).collect();
    let trained = match ranks.as_slice() {
        [first, second, _, _, .., last] => format!("{first}, {second} .. {last}"),
        few => few.join(", "),
    };
    format!("{trained} to {}", from.ranks)
}

/// What the source documents claim for sets that were scored, beside our errors; `None` when no
/// such set was.
pub(super) fn documents_grid(sets: &[SetValidation]) -> Option<Grid> {
    let rows: Vec<(&SetValidation, &DocumentFigure)> = sets
        .iter()
        .flat_map(|set| document_figures(&set.id).map(move |figure| (set, figure)))
        .collect();
    let ours = |set: &SetValidation, figure: &DocumentFigure, pick: fn(&Score) -> Errors| {
        let engine = match figure.engine {
            DocumentEngine::Math => Engine::Math,
            DocumentEngine::G5 => Engine::G5,
        };
        let errors = pick(set.score(engine)?);
        match figure.band {
            DocumentBand::Overall => errors.overall,
            DocumentBand::Large => errors.large,
        }
    };
    let grid = Columns::of(&rows)
        .left("set", |(set, _)| set.id.clone())
        .left("engine", |(_, figure)| figure.engine.name().to_owned())
        .left("sizes", |(_, figure)| figure.band.name().to_owned())
        .numbers("document", 1, |(_, figure)| Some(figure.rmspe_pct))
        .numbers("in sample", 1, move |(set, figure)| {
            ours(set, figure, |score| score.in_sample)
        })
        .numbers("held out", 1, move |(set, figure)| {
            ours(set, figure, |score| score.held_out)
        })
        .grid();
    (!rows.is_empty()).then_some(grid)
}

/// A row per set.
pub(super) fn excluded_grid(excluded: &[ExcludedSet]) -> Grid {
    Columns::of(excluded)
        .left("set", |set| set.id.clone())
        .left("reason", |set| set.reason.clone())
        .grid()
}

/// A row per reason, in the order in which reasons first appear.
pub(super) fn reasons_grid(excluded: &[&ExcludedSet]) -> Grid {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for set in excluded {
        match rows.iter_mut().find(|(reason, _)| *reason == set.reason) {
            Some((_, ids)) => ids.push(&set.id),
            None => rows.push((&set.reason, vec![&set.id])),
        }
    }
    Columns::of(&rows)
        .left("reason", |(reason, _)| (*reason).to_owned())
        .right("sets", |(_, ids)| ids.len().to_string())
        .left("which", |(_, ids)| ids.join(", "))
        .grid()
}
