//! The formats of a validation: in-sample and held-out error side by side, yardsticks below,
//! the noise of the measurement under all. Text and Markdown write the same tables.

mod json;

pub use json::validation_json;

use crate::analysis::csv::{number, push_row, quoted, text};
use crate::grid::{Columns, Grid, markdown_text};
use crate::number::count;
use crate::style::{Detail, Style, Tone};
use std::fmt::Write as _;
use tier6_study::{
    DocumentBand, DocumentEngine, DocumentFigure, Engine, EngineSummary, Errors, ExcludedSet,
    LARGE_ABOVE, Role, SMALL_BELOW, SUMMARY_SIZES_MIN, Score, SetValidation, Spread, Summary,
    ValidationReport, document_figures,
};

/// How many sets the short text shows.
const SETS_MAX: usize = 12;

/// A row of the summary: what it is, in sample, held out.
type SummaryRow = (&'static str, Option<Spread>, Option<Spread>);

/// Returns the report as text for a terminal: the summary, then the sets; the short form shows
/// those with the largest held-out error.
pub fn validation_table(report: &ValidationReport, style: Style, detail: Detail) -> String {
    let mut out = String::new();
    if report.summary.sets > 0 {
        let _ = writeln!(
            out,
            "{} of {SUMMARY_SIZES_MIN} sizes or more, held out: {}; RMSPE in %\n",
            count(report.summary.sets, "set"),
            report.holdout
        );
        out += &summary_grid(&report.summary).text(style);
        out.push('\n');
    }
    let mut sets: Vec<&SetValidation> = report.sets.iter().collect();
    if detail == Detail::Short && sets.len() > SETS_MAX {
        // A set that the summary counts comes before one that it does not.
        let counts = |set: &SetValidation| set.points >= SUMMARY_SIZES_MIN;
        sets.sort_by(|a, b| {
            (counts(b).cmp(&counts(a))).then_with(|| first_error(b).total_cmp(&first_error(a)))
        });
        sets.truncate(SETS_MAX);
        let _ = writeln!(out, "the {SETS_MAX} sets with the largest held-out error\n");
    }
    if sets.is_empty() {
        out += "no set was scored\n";
    } else {
        out += &sets_grid(&sets).text(style);
    }
    if sets.len() < report.sets.len() {
        let hint = format!("\nhint: `--wide` shows all {} sets\n", report.sets.len());
        out += &style.paint(Tone::Dim, &hint);
    }
    if !report.excluded.is_empty() {
        let _ = writeln!(out, "\n{} not scored", count(report.excluded.len(), "set"));
        if detail == Detail::Wide || report.excluded.len() <= SETS_MAX {
            out.push('\n');
            out += &excluded_grid(&report.excluded).text(style);
        }
    }
    out
}

/// Returns the report as a page of Markdown: what was done, the summary, every set, and what was
/// left out.
pub fn validation_markdown(report: &ValidationReport) -> String {
    let mut out = format!(
        "# Validation\n\n\
         Root mean square percentage error, 100 sqrt(mean((predicted / measured - 1)^2)), of sizes that \
         were not fitted on (held out: `{}`) next to the error on all points when all are fitted (in sample). \
         Small is below {SMALL_BELOW}, large above {LARGE_ABOVE}. The yardsticks are computed in the same run \
         from the same points. Two placements of one run measure the same thing twice: their difference is the \
         noise below which no model can be told from the truth.\n\n",
        report.holdout
    );
    if report.summary.sets > 0 {
        let _ = write!(
            out,
            "## Summary\n\nOver {} of {SUMMARY_SIZES_MIN} sizes or more, in percent.\n\n{}\n",
            count(report.summary.sets, "set"),
            summary_grid(&report.summary).markdown()
        );
        if let Some(coverage) = report.summary.band_coverage_pct {
            let _ = write!(
                out,
                "In the median set {coverage:.0} % of the held-out times lie within the predicted band.\n\n"
            );
        }
    }
    let sets: Vec<&SetValidation> = report.sets.iter().collect();
    let _ = write!(out, "## Sets\n\n{}\n", sets_grid(&sets).markdown());
    let asked = offered(&sets);
    let is_theirs = asked.contains(&Engine::Math) || asked.contains(&Engine::G5);
    if let Some(grid) = documents_grid(&report.sets).filter(|_| is_theirs) {
        let _ = write!(
            out,
            "## Figures of the source documents\n\nTheirs are in sample: fitted on the points that they are scored on.\n\n{}\n",
            grid.markdown()
        );
    }
    let unscored: Vec<String> = report.sets.iter().flat_map(unscored_of).collect();
    if !unscored.is_empty() {
        out += "## Engines without a score\n\n";
        for line in unscored {
            let _ = writeln!(out, "- {}", markdown_text(&line));
        }
        out.push('\n');
    }
    let left_out: Vec<String> = report.sets.iter().flat_map(left_out_of).collect();
    if !left_out.is_empty() {
        out += "## Sizes left out\n\n";
        for line in left_out {
            let _ = writeln!(out, "- {}", markdown_text(&line));
        }
        out.push('\n');
    }
    if !report.excluded.is_empty() {
        let grid = excluded_grid(&report.excluded);
        let _ = write!(out, "## Sets not scored\n\n{}", grid.markdown());
    }
    out
}

/// Returns one row per set and engine as CSV with a header line; errors in percent.
pub fn validation_csv(report: &ValidationReport) -> String {
    let mut out = "holdout,id,points,tier,engine,\
        in_sample_small,in_sample_medium,in_sample_large,in_sample_overall,\
        held_out_small,held_out_medium,held_out_large,held_out_overall,\
        placement_noise_pct,band_coverage_pct\n"
        .to_owned();
    let holdout = report.holdout.to_string();
    for set in &report.sets {
        for score in &set.scores {
            let coverage = set
                .band_coverage_pct
                .filter(|_| score.engine == Engine::Fit);
            let mut fields = vec![
                quoted(&holdout),
                quoted(&set.id),
                set.points.to_string(),
                text(set.tier),
                score.engine.name().to_owned(),
            ];
            for errors in [score.in_sample, score.held_out] {
                fields.extend(bands(&errors).map(number));
            }
            fields.extend([number(set.placement_noise_pct), number(coverage)]);
            push_row(&mut out, fields.iter());
        }
    }
    out
}

fn summary_grid(summary: &Summary) -> Grid {
    let row = |engine: &EngineSummary| (engine.engine.title(), engine.in_sample, engine.held_out);
    let mut rows: Vec<SummaryRow> = summary.engines.iter().map(row).collect();
    rows.push(("two placements of one run", None, summary.placement_noise));
    let median = |spread: Option<Spread>| Some(spread?.median);
    Columns::of(&rows)
        .left("model", |row| row.0.to_owned())
        .numbers("in-sample median", 1, move |row| median(row.1))
        .numbers("held-out median", 1, move |row| median(row.2))
        .numbers("p75", 1, |row| Some(row.2?.p75))
        .numbers("p90", 1, |row| Some(row.2?.p90))
        .grid()
}

/// One engine: its bands. Several: in sample and held out of each.
fn sets_grid(sets: &[&SetValidation]) -> Grid {
    let engines = offered(sets);
    let held_out =
        |set: &SetValidation, engine: Engine| score(set, engine).map(|score| score.held_out);
    let mut columns = Columns::of(sets)
        .left("set", |set| set.id.clone())
        .right("sizes", |set| set.points.to_string())
        .left("tier", |set| text(set.tier));
    for &engine in &engines {
        let head = |what: &str| match engines.len() {
            1 => what.to_owned(),
            _ => format!("{} {what}", engine.name()),
        };
        columns = columns
            .numbers(&head("in sample"), 1, move |set| {
                score(set, engine)?.in_sample.overall
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
    }
    for engine in Engine::ALL {
        match engine.role() {
            Role::Engine => {}
            Role::Yardstick => {
                columns = columns.numbers(engine.title(), 1, move |set| {
                    score(set, engine)?.held_out.overall
                });
            }
        }
    }
    columns
        .numbers("placements", 1, |set| set.placement_noise_pct)
        .grid()
}

/// The engines that were asked for.
fn offered(sets: &[&SetValidation]) -> Vec<Engine> {
    let scored = |engine: &Engine| sets.iter().any(|set| score(set, *engine).is_some());
    let offered = |engine: &Engine| engine.role() == Role::Engine && scored(engine);
    Engine::ALL.into_iter().filter(offered).collect()
}

/// What the source documents claim for sets that were scored, beside our errors; `None` when no
/// such set was.
fn documents_grid(sets: &[SetValidation]) -> Option<Grid> {
    let rows: Vec<(&SetValidation, &DocumentFigure)> = sets
        .iter()
        .flat_map(|set| document_figures(&set.id).map(move |figure| (set, figure)))
        .collect();
    let ours = |set: &SetValidation, figure: &DocumentFigure, pick: fn(&Score) -> Errors| {
        let engine = match figure.engine {
            DocumentEngine::Math => Engine::Math,
            DocumentEngine::G5 => Engine::G5,
        };
        let errors = pick(score(set, engine)?);
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

fn excluded_grid(excluded: &[ExcludedSet]) -> Grid {
    Columns::of(excluded)
        .left("set", |set| set.id.clone())
        .left("reason", |set| set.reason.clone())
        .grid()
}

fn left_out_of(set: &SetValidation) -> impl Iterator<Item = String> {
    set.left_out
        .iter()
        .map(|sentence| format!("{}: {sentence}", set.id))
}

fn unscored_of(set: &SetValidation) -> impl Iterator<Item = String> {
    set.unscored
        .iter()
        .map(|sentence| format!("{}: {sentence}", set.id))
}

fn score(set: &SetValidation, engine: Engine) -> Option<&Score> {
    set.scores.iter().find(|score| score.engine == engine)
}

/// Held-out error of the first engine that was asked for.
fn first_error(set: &SetValidation) -> f64 {
    let mut offered = set
        .scores
        .iter()
        .filter(|score| score.engine.role() == Role::Engine);
    offered
        .find_map(|score| score.held_out.overall)
        .unwrap_or(0.0)
}

fn bands(errors: &Errors) -> [Option<f64>; 4] {
    [errors.small, errors.medium, errors.large, errors.overall]
}
