//! A validation as a page of Markdown: what was done, the summary, every set, and what was left
//! out with the reason.

use super::grids::{documents_grid, reasons_grid, sets_grid, summary_grid};
use super::{offered, parted, unscored};
use crate::grid::markdown_text;
use crate::number::count;
use std::fmt::Write as _;
use tier6_study::{
    Cause, Engine, ExcludedSet, FromRanks, Holdout, LARGE_ABOVE, Role, SMALL_BELOW, SetValidation,
    ValidationReport,
};

/// Returns the report as a page of Markdown.
pub fn validation_markdown(report: &ValidationReport) -> String {
    let mut out = format!(
        "# {}\n\n{}\n\n",
        title(report.holdout),
        introduction(report)
    );
    if report.summary.sets > 0 {
        out += &summary(report);
    }
    if let Holdout::Ranks(_) = report.holdout {
        out += &families(report);
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
    out += &list("Engines without a score", &unscored(report));
    out += &excluded(report, Cause::KnownBad, "Known-bad sets");
    let left_out = report.sets.iter().flat_map(|set| {
        let sentences = set.left_out.iter();
        sentences.map(|sentence| format!("{}: {sentence}", set.id))
    });
    out += &list("Sizes left out", &left_out.collect::<Vec<_>>());
    out += &excluded(report, Cause::Scheme, "Sets not scored");
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn title(holdout: Holdout) -> &'static str {
    match holdout {
        Holdout::Alternate | Holdout::Large | Holdout::KFold(_) => "Validation",
        Holdout::Plan(_) => "Validation from few planned sizes",
        Holdout::Ranks(_) => "Validation across ranks",
    }
}

/// Says what the figures are.
fn introduction(report: &ValidationReport) -> String {
    let holdout = report.holdout;
    let bands = format!("Small is below {SMALL_BELOW}, large above {LARGE_ABOVE}.");
    let noise = "Two placements of one run measure the same thing twice: their difference is the \
         noise below which no model can be told from the truth.";
    let error = "Root mean square percentage error, 100 sqrt(mean((predicted / measured - 1)^2)),";
    let same_run = "The yardsticks are computed in the same run from the same points.";
    match holdout {
        Holdout::Alternate | Holdout::Large | Holdout::KFold(_) => format!(
            "{error} of sizes that were not fitted on (held out: `{holdout}`) next to the error on all \
             points when all are fitted (in sample). {bands} {same_run} {noise}"
        ),
        Holdout::Plan(sizes) => format!(
            "{error} of all sizes of a sweep but {sizes}. Those {sizes} are chosen by `tier6 calibrate \
             --plan {sizes}`, which sees the described system and no time, and every model knows them \
             alone; a calibrated system is held to their times. In sample is the error on all points when all \
             are fitted. Only sweeps whose machine is described by a preset take part. {bands} {same_run} {noise}"
        ),
        Holdout::Ranks(_) => format!(
            "{error} of whole sweeps that were not fitted on (held out: `{holdout}`). The sweeps of a \
             family share machine, library, set-up and collective; those of the smaller numbers of ranks \
             calibrate its system together, which then predicts the held-out one with an interval. Inside is \
             the share of the measured times within it, meant to be 90 %; in sample is the error when the held-out \
             sweep is among those that are calibrated on. Models of a single sweep know nothing of ranks and have no score. The yardstick \
             prolongs the times of each size over the two nearest smaller numbers of ranks by a straight line \
             in log-log, or repeats those of the one. {bands} {noise}"
        ),
    }
}

fn summary(report: &ValidationReport) -> String {
    let mut out = format!(
        "## Summary\n\nOver {} of {} sizes or more, in percent.\n\n{}\n",
        count(report.summary.sets, "set"),
        report.holdout.summary_sizes_min(),
        summary_grid(&report.summary).markdown()
    );
    for row in &report.summary.engines {
        if let (Role::Engine, Some(inside)) = (row.engine.role(), row.inside_pct) {
            let _ = write!(
                out,
                "{}: in the median set {inside:.0} % of the held-out times lie within the predicted band.\n\n",
                row.engine.title()
            );
        }
    }
    for group in parted(report) {
        let sets = count(group.summary.sets, "set");
        let grid = summary_grid(&group.summary).markdown();
        let _ = write!(out, "### {}\n\n{sets}.\n\n{grid}\n", group.group.title());
    }
    out
}

/// What the families of held-out sweeps are made of: a line for each.
fn families(report: &ValidationReport) -> String {
    let mut families: Vec<(&FromRanks, Vec<&str>)> = Vec::new();
    for set in &report.sets {
        let Some(from) = &set.from_ranks else {
            continue;
        };
        let is_same = |known: &FromRanks| known.trained_on == from.trained_on;
        match families.last_mut() {
            Some((known, ids)) if is_same(known) => ids.push(&set.id),
            Some(_) | None => families.push((from, vec![&set.id])),
        }
    }
    let line = |(from, ids): &(&FromRanks, Vec<&str>)| {
        let (family, collective) = (&from.family, from.collective);
        let trained = from.trained_on.join(", ");
        format!(
            "{family}, {collective}: {trained} predict {}",
            ids.join(", ")
        )
    };
    list("Families", &families.iter().map(line).collect::<Vec<_>>())
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("## {title}\n\n");
    for line in lines {
        let _ = writeln!(out, "- {}", markdown_text(line));
    }
    out.push('\n');
    out
}

fn excluded(report: &ValidationReport, cause: Cause, title: &str) -> String {
    let excluded = report.excluded.iter();
    let sets: Vec<&ExcludedSet> = excluded.filter(|set| set.cause == cause).collect();
    if sets.is_empty() {
        return String::new();
    }
    format!("## {title}\n\n{}\n", reasons_grid(&sets).markdown())
}
