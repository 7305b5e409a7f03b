//! The tables of an analysis, once for all formats.

use super::summary::{facts, point_note, shown_fits, verdict_tone};
use crate::grid::{Align, Cell, Grid};
use crate::naming;
use crate::number::{ABSENT, fixed, fixed_or_absent, signed, with_interval};
use crate::report::{AnalysisReport, SeriesReport};
use crate::style::{Charset, Detail, Tone};
use tier6_fit::{Fit, Loss, PointSummary, SeriesAnalysis};

/// Returns the table of fits: segments in order of size, then the single line. `Wide` adds the
/// other loss, the held-out error and the reasons.
pub(crate) fn fits(
    analysis: &SeriesAnalysis,
    loss: Loss,
    detail: Detail,
    charset: Charset,
) -> Grid {
    let shown = shown_fits(analysis, loss);
    let mut rows: Vec<&Fit> = shown.all().collect();
    let other = shown_fits(analysis, other_loss(loss));
    match detail {
        Detail::Wide => rows.extend(other.all()),
        // The line that a spreadsheet gives, for comparison.
        Detail::Short => rows.extend(other.one_line),
    }
    let name = |fit: &Fit| {
        let label = naming::label(&fit.label);
        if fit.loss == loss || detail == Detail::Wide {
            label
        } else {
            format!("{label}, {} loss", fit.loss)
        }
    };
    let cells = |cell: &dyn Fn(&Fit) -> String| -> Vec<Cell> {
        rows.iter().map(|fit| Cell::new(cell(fit))).collect()
    };
    let max_error = |fit: &Fit| {
        fit.max_error.map_or_else(
            || ABSENT.to_owned(),
            |(error, bytes)| format!("{} at {bytes}", fixed(error, 2)),
        )
    };
    let alpha = charset.pick("α us [95 %]", "alpha us [95 %]");
    let beta = charset.pick("β GB/s [95 %]", "beta GB/s [95 %]");
    let mut grid = Grid::new()
        .column("path", Align::Left, cells(&name))
        .column(
            "sizes",
            Align::Left,
            cells(&|fit| naming::size_span(fit.first, fit.last)),
        )
        .column("n", Align::Right, cells(&|fit| fit.points.to_string()));
    if detail == Detail::Wide {
        grid = grid.column("loss", Align::Left, cells(&|fit| fit.loss.to_string()));
    }
    grid = grid
        .column(alpha, Align::Right, cells(&alpha_text))
        .column(beta, Align::Right, cells(&beta_text))
        .column(
            charset.pick("R²", "R2"),
            Align::Right,
            cells(&|fit| fixed_or_absent(fit.r2, 6)),
        )
        .column(
            "MAPE %",
            Align::Right,
            cells(&|fit| fixed_or_absent(fit.mape_pct, 2)),
        )
        .column("max error %", Align::Right, cells(&max_error));
    if detail == Detail::Wide {
        grid = grid
            .column(
                "RMSPE %",
                Align::Right,
                cells(&|fit| fixed_or_absent(fit.rmspe_pct, 2)),
            )
            .column(
                "held out %",
                Align::Right,
                cells(&|fit| fixed_or_absent(fit.held_out_rmspe_pct, 2)),
            );
    }
    let verdicts = rows
        .iter()
        .map(|fit| Cell::toned(naming::verdict(fit.verdict), verdict_tone(fit.verdict)));
    grid = grid.column("verdict", Align::Left, verdicts);
    if detail == Detail::Wide {
        grid = grid.column("why", Align::Left, cells(&|fit| fit.why.clone()));
    }
    grid
}

const fn other_loss(loss: Loss) -> Loss {
    match loss {
        Loss::Relative => Loss::Absolute,
        Loss::Absolute => Loss::Relative,
    }
}

fn alpha_text(fit: &Fit) -> String {
    let interval = fit.alpha_ci.map(|ci| (ci.low, ci.high));
    fit.line.map_or_else(
        || ABSENT.to_owned(),
        |line| with_interval(line.alpha.get(), interval, 4),
    )
}

fn beta_text(fit: &Fit) -> String {
    let interval = fit.beta_ci.map(|ci| (ci.low, ci.high));
    fit.line.map_or_else(
        || ABSENT.to_owned(),
        |line| with_interval(line.beta.get(), interval, 4),
    )
}

/// Returns the table of points. Columns that no point fills are left out.
pub(crate) fn points(analysis: &SeriesAnalysis, loss: Loss, detail: Detail) -> Grid {
    let rows = &analysis.points;
    let cells = |cell: &dyn Fn(&PointSummary) -> String| -> Vec<Cell> {
        rows.iter().map(|point| Cell::new(cell(point))).collect()
    };
    let any = |has: &dyn Fn(&PointSummary) -> bool| rows.iter().any(has);
    let mut grid = Grid::new().column(
        "size",
        Align::Right,
        cells(&|point| point.bytes.to_string()),
    );
    if detail == Detail::Wide {
        grid = grid
            .column(
                "bytes",
                Align::Right,
                cells(&|point| point.bytes.get().to_string()),
            )
            .column(
                "samples",
                Align::Right,
                cells(&|point| point.samples.to_string()),
            );
    }
    let unstable = rows.iter().map(|point| {
        let tone = if point.stable == Some(false) {
            Tone::Caution
        } else {
            Tone::Plain
        };
        Cell::toned(fixed_or_absent(point.cv_pct, 2), tone)
    });
    grid = grid
        .column(
            "median us",
            Align::Right,
            cells(&|point| fixed(point.median.get(), 3)),
        )
        .column(
            "P95 us",
            Align::Right,
            cells(&|point| fixed_or_absent(point.p95.map(|p95| p95.get()), 3)),
        )
        .column("CV %", Align::Right, unstable)
        .column(
            "algbw GB/s",
            Align::Right,
            cells(&|point| fixed(point.algbw.get(), 2)),
        )
        .column(
            "busbw GB/s",
            Align::Right,
            cells(&|point| fixed_or_absent(point.busbw.map(|busbw| busbw.get()), 2)),
        );
    if any(&|point| point.wire.is_some()) {
        let wire = cells(&|point| fixed_or_absent(point.wire.map(|wire| wire.get()), 2));
        grid = grid.column("wire GB/s", Align::Right, wire);
    }
    if any(&|point| point.path.is_some()) {
        let path =
            |point: &PointSummary| point.path.map_or_else(|| ABSENT.to_owned(), naming::path);
        grid = grid.column("path", Align::Left, cells(&path));
    }
    if any(&|point| point.tuner.is_some()) {
        let error = |point: &PointSummary| {
            point
                .tuner_error_pct
                .map_or_else(|| ABSENT.to_owned(), |error| signed(error, 2))
        };
        grid = grid
            .column(
                "tuner us",
                Align::Right,
                cells(&|point| fixed_or_absent(point.tuner.map(|tuner| tuner.get()), 3)),
            )
            .column("tuner error %", Align::Right, cells(&error));
    }
    let shown = shown_fits(analysis, loss);
    if !shown.segments.is_empty() {
        let error = |point: &PointSummary| {
            shown
                .error_at(point.bytes)
                .map_or_else(|| ABSENT.to_owned(), |error| signed(error, 2))
        };
        grid = grid.column("model error %", Align::Right, cells(&error));
    }
    if any(&|point| point.wrong.is_some_and(|wrong| wrong > 0)) {
        let wrong = |point: &PointSummary| {
            point
                .wrong
                .map_or_else(|| ABSENT.to_owned(), |n| n.to_string())
        };
        grid = grid.column("wrong", Align::Right, cells(&wrong));
    }
    if any(&|point| !point_note(point).0.is_empty()) {
        let notes = rows.iter().map(|point| {
            let (note, tone) = point_note(point);
            Cell::toned(note, tone)
        });
        grid = grid.column("note", Align::Left, notes);
    }
    grid
}

/// Returns one row per series.
pub(crate) fn overview(report: &AnalysisReport) -> Grid {
    let cells = |cell: &dyn Fn(&SeriesReport) -> String| -> Vec<Cell> {
        report
            .series
            .iter()
            .map(|series| Cell::new(cell(series)))
            .collect()
    };
    let input = |series: &SeriesReport| {
        report
            .inputs
            .get(series.input)
            .map_or_else(|| ABSENT.to_owned(), |input| input.path.clone())
    };
    let fact = |series: &SeriesReport, title: &str| {
        let facts = facts(&series.analysis, report.loss);
        let found = facts.into_iter().find(|fact| fact.title == title);
        found.map_or_else(|| ABSENT.to_owned(), |fact| fact.value)
    };
    let sizes = |series: &SeriesReport| {
        let points = &series.analysis.points;
        match (points.first(), points.last()) {
            (Some(first), Some(last)) => naming::size_span(first.bytes, last.bytes),
            _ => ABSENT.to_owned(),
        }
    };
    let mut grid = Grid::new()
        .column(
            "#",
            Align::Right,
            (1..=report.series.len()).map(|nth| Cell::new(nth.to_string())),
        )
        .column(
            "collective",
            Align::Left,
            cells(&|series| naming::collective(series.analysis.collective).to_owned()),
        )
        .column(
            "ranks",
            Align::Right,
            cells(&|series| {
                series
                    .analysis
                    .ranks
                    .exact()
                    .map_or_else(|| ABSENT.to_owned(), |n| n.to_string())
            }),
        )
        .column(
            "placement",
            Align::Left,
            cells(&|series| naming::placement(series.analysis.placement).to_owned()),
        )
        .column("sizes", Align::Left, cells(&sizes));
    for title in [
        "latency floor",
        "peak algbw",
        "saturated from",
        "stable sizes",
        "validated segments",
    ] {
        grid = grid.column(title, Align::Right, cells(&|series| fact(series, title)));
    }
    grid.column("input", Align::Left, cells(&input))
}
