//! The formats of a validation: in-sample and held-out error side by side, yardsticks below,
//! the noise of the measurement under all. Text and Markdown write the same tables.

mod csv;
mod grids;
mod json;
mod markdown;

pub use csv::validation_csv;
pub use json::validation_json;
pub use markdown::validation_markdown;

use crate::grid::terminal_text;
use crate::number::count;
use crate::style::{Detail, Style, Tone};
use grids::{excluded_grid, sets_grid, summary_grid};
use std::fmt::Write as _;
use tier6_study::{Engine, Errors, GroupSummary, Role, SetValidation, ValidationReport};

/// How many sets the short text shows.
const SETS_MAX: usize = 12;

/// Returns the report as text for a terminal: the summary, then the sets; the short form shows
/// those with the largest held-out error.
pub fn validation_table(report: &ValidationReport, style: Style, detail: Detail) -> String {
    let mut out = String::new();
    if report.summary.sets > 0 {
        let _ = writeln!(
            out,
            "{} of {} sizes or more, held out: {}; RMSPE in %\n",
            count(report.summary.sets, "set"),
            report.holdout.summary_sizes_min(),
            report.holdout
        );
        out += &summary_grid(&report.summary).text(style);
        out.push('\n');
        for group in parted(report) {
            let sets = count(group.summary.sets, "set");
            let _ = writeln!(out, "{}: {sets}\n", group.group.title());
            out += &summary_grid(&group.summary).text(style);
            out.push('\n');
        }
    }
    let mut sets: Vec<&SetValidation> = report.sets.iter().collect();
    if detail == Detail::Short && sets.len() > SETS_MAX {
        // A set that the summary counts comes before one that it does not.
        let counts = |set: &SetValidation| set.points >= report.holdout.summary_sizes_min();
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
    let unscored = unscored(report);
    if !unscored.is_empty() {
        let lines = count(unscored.len(), "score");
        let _ = writeln!(out, "\n{lines} missing\n");
        let shown = match detail {
            Detail::Short => SETS_MAX,
            Detail::Wide => usize::MAX,
        };
        for line in unscored.iter().take(shown) {
            let _ = writeln!(out, " {}", terminal_text(line));
        }
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

/// The groups that say something else than all sets together.
fn parted(report: &ValidationReport) -> impl Iterator<Item = &GroupSummary> {
    let groups = report.groups.iter();
    groups.filter(|group| group.summary.sets < report.summary.sets)
}

/// Why engines have no score, as sentences.
fn unscored(report: &ValidationReport) -> Vec<String> {
    let lines = report.sets.iter().flat_map(|set| {
        let sentences = set.unscored.iter();
        sentences.map(|sentence| format!("{}: {sentence}", set.id))
    });
    lines.collect()
}

/// Held-out error of the first engine that was asked for and has one.
fn first_error(set: &SetValidation) -> f64 {
    let mut offered = set
        .scores
        .iter()
        .filter(|score| score.engine.role() == Role::Engine);
    offered
        .find_map(|score| score.held_out.overall)
        .unwrap_or(0.0)
}

/// The engines that were asked for and have a score.
fn offered(sets: &[&SetValidation]) -> Vec<Engine> {
    scored(sets, Role::Engine)
}

/// The engines of a role that have a score of any set.
fn scored(sets: &[&SetValidation], role: Role) -> Vec<Engine> {
    let has_score = |engine: &Engine| {
        let mut scores = sets.iter().filter_map(|set| set.score(*engine));
        scores.any(|score| score.held_out.overall.is_some())
    };
    let found = |engine: &Engine| engine.role() == role && has_score(engine);
    Engine::ALL.into_iter().filter(found).collect()
}

fn bands(errors: &Errors) -> [Option<f64>; 4] {
    [errors.small, errors.medium, errors.large, errors.overall]
}
