//! The formats of an experiment: times of its lines side by side, what the engines say of each
//! other, which line is the fastest where, and the times that others have.

mod chart;
mod findings;
mod html;
mod json;

pub use chart::experiment_svg;
pub use html::experiments_html;
pub use json::experiments_json;

use crate::analysis::csv::{number, push_row, quoted};
use crate::flow::push_sentence;
use crate::grid::{Columns, Grid, markdown_text, terminal_text};
use crate::naming;
use crate::number::count;
use crate::style::{Detail, Style, Tone};
use findings::findings;
use std::fmt::Write as _;
use tier6_collective::Algorithm;
use tier6_study::{Cell, Engine, ExperimentLine, ExperimentView, Outcome};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Returns the experiments as text for a terminal. The short form shows the times of one engine,
/// G5 where it was asked; the wide one those of both.
pub fn experiments_table(outcomes: &[Outcome], style: Style, detail: Detail) -> String {
    let texts = outcomes.iter().map(|outcome| {
        let mut out = terminal_text(&outcome.experiment.title);
        let _ = writeln!(out, "\n{}\n", terminal_text(&subtitle(outcome)));
        for view in outcome.experiment.views() {
            for engine in shown_engines(outcome, detail) {
                let _ = writeln!(out, "{}\n", times_caption(view, engine));
                out += &times(outcome, view, engine).text(style);
                out.push('\n');
            }
        }
        for view in outcome.experiment.views() {
            if let Some(grid) = gains(outcome, view).filter(|_| detail == Detail::Wide) {
                let _ = writeln!(out, "{}\n\n{}", gains_caption(outcome), grid.text(style));
            }
        }
        if let Some(grid) = comparison(outcome) {
            let _ = writeln!(out, "{COMPARISON}\n\n{}", grid.text(style));
        }
        if let Some(grid) = references(outcome) {
            let _ = writeln!(out, "{REFERENCES}\n\n{}", grid.text(style));
        }
        for (head, sentence) in findings(outcome) {
            push_sentence(&mut out, (&head, Tone::Dim), &sentence, style);
        }
        for (head, why) in refusals(outcome) {
            push_sentence(&mut out, (&head, Tone::Caution), &why, style);
        }
        if let Some(note) = &outcome.experiment.note {
            push_sentence(&mut out, ("note", Tone::Dim), note, style);
        }
        out
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the experiments as Markdown.
pub fn experiments_markdown(outcomes: &[Outcome]) -> String {
    let texts = outcomes.iter().map(|outcome| {
        let experiment = &outcome.experiment;
        let mut out = format!(
            "# {}\n\n{}\n\n",
            markdown_text(&experiment.title),
            markdown_text(&subtitle(outcome))
        );
        if let Some(note) = &experiment.note {
            let _ = writeln!(out, "{}\n", markdown_text(note));
        }
        for (head, sentence) in findings(outcome).into_iter().chain(refusals(outcome)) {
            let _ = writeln!(
                out,
                "- {}: {}",
                markdown_text(&head),
                markdown_text(&sentence)
            );
        }
        for view in experiment.views() {
            for engine in shown_engines(outcome, Detail::Wide) {
                let _ = writeln!(
                    out,
                    "\n## {}\n",
                    sentence_case(&times_caption(view, engine))
                );
                out += &times(outcome, view, engine).markdown();
            }
            if let Some(grid) = gains(outcome, view) {
                let head = sentence_case(&gains_caption(outcome));
                let _ = write!(out, "\n## {head}\n\n{}", grid.markdown());
            }
        }
        if let Some(grid) = comparison(outcome) {
            let _ = write!(
                out,
                "\n## {}\n\n{}",
                sentence_case(COMPARISON),
                grid.markdown()
            );
        }
        if let Some(grid) = references(outcome) {
            let _ = write!(
                out,
                "\n## {}\n\n{}",
                sentence_case(REFERENCES),
                grid.markdown()
            );
        }
        out
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns one row per answer as CSV with a header line.
pub fn experiments_csv(outcomes: &[Outcome]) -> String {
    let mut out = "experiment,system,engine,collective,algorithm,ranks,bytes,time_us,busbw_gbs,\
        over_math,speedup,bottleneck\n"
        .to_owned();
    for outcome in outcomes {
        for cell in &outcome.cells {
            let fields = [
                quoted(&outcome.experiment.name),
                quoted(&outcome.experiment.system),
                cell.engine.name().to_owned(),
                cell.line.collective.to_string(),
                cell.line.algorithm.to_string(),
                cell.ranks.to_string(),
                cell.bytes.get().to_string(),
                number(Some(cell.time.get())),
                number(cell.busbw.map(GbPerSec::get)),
                number(outcome.over_math(cell)),
                number(outcome.speedup(cell)),
                quoted(&cell.bottleneck),
            ];
            push_row(&mut out, fields.iter());
        }
    }
    out
}

const COMPARISON: &str = "time by g5 over time by math";
const REFERENCES: &str = "times from elsewhere, us";

/// What was asked, in one line.
fn subtitle(outcome: &Outcome) -> String {
    let experiment = &outcome.experiment;
    let ranks: Vec<String> = experiment.ranks.iter().map(u32::to_string).collect();
    let names = experiment.engines.iter().map(|engine| match engine {
        Engine::G5 => format!("g5 ({} fidelity)", experiment.fidelity),
        engine => engine.name().to_owned(),
    });
    format!(
        "{} ranks of {}, {}, by {}",
        ranks.join(", "),
        experiment.system,
        match experiment.sizes.sizes() {
            [bytes] => bytes.to_string(),
            sizes => count(sizes.len(), "size"),
        },
        names.collect::<Vec<_>>().join(" and ")
    )
}

fn times_caption(view: ExperimentView, engine: Engine) -> String {
    let engine = engine.name();
    match view {
        ExperimentView::Sizes { ranks } => format!("time by {engine}, us; {ranks} ranks"),
        ExperimentView::Ranks { bytes } => format!("time by {engine}, us; {bytes}"),
    }
}

/// The engines whose times are shown.
fn shown_engines(outcome: &Outcome, detail: Detail) -> Vec<Engine> {
    let engines = &outcome.experiment.engines;
    match detail {
        Detail::Short if engines.contains(&Engine::G5) => vec![Engine::G5],
        Detail::Short | Detail::Wide => engines.clone(),
    }
}

/// The name of a line among the others of its experiment: what they all share is left out.
fn line_name(outcome: &Outcome, line: ExperimentLine) -> String {
    let lines = &outcome.experiment.lines;
    let shares_collective = lines.iter().all(|l| l.collective == line.collective);
    if shares_collective {
        line.algorithm.to_string()
    } else {
        let collective = naming::collective(Some(line.collective));
        format!("{collective} {}", line.algorithm)
    }
}

/// The name of a place in a view: a size or a number of ranks.
fn place_name(view: ExperimentView, at: u64) -> String {
    match view {
        ExperimentView::Sizes { .. } => Bytes::new(at).to_string(),
        ExperimentView::Ranks { .. } => format!("N = {at}"),
    }
}

/// The places of a view.
fn places(outcome: &Outcome, view: ExperimentView) -> Vec<u64> {
    let experiment = &outcome.experiment;
    match view {
        ExperimentView::Sizes { .. } => {
            let sizes = experiment.sizes.sizes().iter();
            sizes.map(|bytes| bytes.get()).collect()
        }
        ExperimentView::Ranks { .. } => experiment.ranks.iter().map(|n| (*n).into()).collect(),
    }
}

/// Times by place, a column per line.
fn times(outcome: &Outcome, view: ExperimentView, engine: Engine) -> Grid {
    let lines = outcome.experiment.lines.clone();
    by_place(outcome, view, engine, &lines, 1, |cell| {
        Some(cell.time.get())
    })
}

/// Time of the baseline over that of each line, by place, as the last engine has it; `None`
/// without a baseline.
fn gains(outcome: &Outcome, view: ExperimentView) -> Option<Grid> {
    let experiment = &outcome.experiment;
    let lines = experiment.lines.iter().copied();
    let lines: Vec<_> = lines
        .filter(|line| experiment.baseline_of(*line).is_some())
        .collect();
    let engine = *experiment.engines.last()?;
    let grid = || {
        by_place(outcome, view, engine, &lines, 2, |cell| {
            outcome.speedup(cell)
        })
    };
    (!lines.is_empty()).then(grid)
}

fn gains_caption(outcome: &Outcome) -> String {
    let experiment = &outcome.experiment;
    let baseline = experiment.baseline.map_or("", Algorithm::name);
    let engine = experiment.engines.last().map_or("", |engine| engine.name());
    format!("time of {baseline} over time of the line, by {engine}")
}

/// A number of each answer by place, a column per line.
fn by_place(
    outcome: &Outcome,
    view: ExperimentView,
    engine: Engine,
    lines: &[ExperimentLine],
    decimals: usize,
    number: impl Fn(&Cell) -> Option<f64>,
) -> Grid {
    let places = places(outcome, view);
    let head = match view {
        ExperimentView::Sizes { .. } => "size",
        ExperimentView::Ranks { .. } => "ranks",
    };
    let first = Columns::of(&places).right(head, |at| match view {
        ExperimentView::Sizes { .. } => place_name(view, *at),
        ExperimentView::Ranks { .. } => at.to_string(),
    });
    let columns = lines.iter().fold(first, |columns, line| {
        let along: Vec<(u64, &Cell)> = outcome.along(view, *line, engine).collect();
        columns.numbers(&line_name(outcome, *line), decimals, |at| {
            let found = along.iter().find(|(place, _)| place == at)?;
            number(found.1)
        })
    });
    columns.grid()
}

/// What G5 says of Math, a row per line; `None` unless both were asked.
fn comparison(outcome: &Outcome) -> Option<Grid> {
    let lines = outcome.experiment.lines.iter();
    let rows = lines.filter_map(|line| {
        let cells = outcome.cells.iter().filter(|cell| cell.line == *line);
        let ratios: Vec<(f64, &Cell)> = cells
            .filter_map(|cell| Some((outcome.over_math(cell)?, cell)))
            .collect();
        let last = ratios.last()?.0;
        let least = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((*line, *least, *most, last))
    });
    let rows: Vec<_> = rows.collect();
    let one_size = outcome.experiment.sizes.sizes().len() == 1;
    let place = |cell: &Cell| {
        if one_size {
            format!("N = {}", cell.ranks)
        } else {
            cell.bytes.to_string()
        }
    };
    let grid = Columns::of(&rows)
        .left("line", |(line, ..)| line_name(outcome, *line))
        .numbers("least", 3, |(_, least, ..)| Some(least.0))
        .left("at", |(_, least, ..)| place(least.1))
        .numbers("most", 3, |(_, _, most, _)| Some(most.0))
        .left("at", |(_, _, most, _)| place(most.1))
        .numbers("at the end", 3, |(.., last)| Some(*last))
        .grid();
    (!rows.is_empty()).then_some(grid)
}

/// The times of others beside ours; `None` without any.
fn references(outcome: &Outcome) -> Option<Grid> {
    let rows = outcome.against_references();
    if rows.is_empty() {
        return None;
    }
    let engines = outcome.experiment.engines.iter();
    let first = Columns::of(&rows)
        .left("line", |(reference, _)| line_name(outcome, reference.line))
        .right("ranks", |(reference, _)| reference.ranks.to_string())
        .right("size", |(reference, _)| reference.bytes.to_string())
        .left("source", |(reference, _)| reference.source.clone())
        .numbers("theirs", 1, |(reference, _)| Some(reference.time.get()));
    let time = |cells: &[&Cell], engine: Engine| -> Option<Micros> {
        let found = cells.iter().find(|cell| cell.engine == engine)?;
        Some(found.time)
    };
    let columns = engines.fold(first, |columns, engine| {
        columns.numbers(engine.name(), 1, move |(_, cells)| {
            Some(time(cells, *engine)?.get())
        })
    });
    Some(columns.grid())
}

/// Calls without an answer, those with the same reason together.
fn refusals(outcome: &Outcome) -> Vec<(String, String)> {
    let groups = outcome.refused.chunk_by(|a, b| a.why == b.why);
    let sentence = |group: &[tier6_study::Refused]| {
        let first = &group[0];
        let more = match group.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let size = first
            .bytes
            .map_or(String::new(), |bytes| format!(", {bytes}"));
        let who = first.engine.name();
        let line = line_name(outcome, first.line);
        let head = format!("{who}: {line}, {} ranks{size}{more}", first.ranks);
        ("not run".to_owned(), format!("{head}: {}", first.why))
    };
    groups.map(sentence).collect()
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
