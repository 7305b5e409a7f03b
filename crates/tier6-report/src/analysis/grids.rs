//! The tables of an analysis, once for all formats.

use super::summary::{facts, point_note, shown_fits, verdict_tone};
use crate::grid::{Align, Cell, Columns, Grid};
use crate::naming;
use crate::number::{ABSENT, count, fixed, fixed_or_absent, with_interval};
use crate::report::{AnalysisReport, SeriesReport};
use crate::style::{Charset, Detail, Tone};
use tier6_fit::{
    Fit, FitLabel, Interval, Loss, PointSummary, Prediction, SeriesAnalysis, Severity,
};
use tier6_measure::Ranks;

/// Returns the table of fits: segments in order of size, then the single line. `Wide` adds the
/// other loss and the held-out error.
pub(crate) fn fits(
    analysis: &SeriesAnalysis,
    loss: Loss,
    detail: Detail,
    charset: Charset,
) -> Grid {
    let other = shown_fits(analysis, other_loss(loss));
    let mut rows: Vec<&Fit> = shown_fits(analysis, loss).all().collect();
    match detail {
        Detail::Wide => rows.extend(other.all()),
        // The line that a spreadsheet gives, for comparison.
        Detail::Short => rows.extend(other.all().find(|fit| fit.label == FitLabel::Global)),
    }
    let name = |fit: &&Fit| match detail {
        Detail::Short if fit.loss != loss => {
            format!("{}, {} loss", naming::label(&fit.label), fit.loss)
        }
        Detail::Short | Detail::Wide => naming::label(&fit.label),
    };
    let mut columns = Columns::of(&rows)
        .left("path", name)
        .left("sizes", |fit| naming::size_span(fit.first, fit.last))
        .right("n", |fit| fit.points.to_string());
    if detail == Detail::Wide {
        columns = columns.left("loss", |fit| fit.loss.to_string());
    }
    let alpha = charset.pick("α us [95 %]", "alpha us [95 %]");
    let beta = charset.pick("β GB/s [95 %]", "beta GB/s [95 %]");
    columns = columns
        .right(alpha, |fit| {
            parameter(fit.line.map(|line| line.alpha.get()), fit.alpha_ci)
        })
        .right(beta, |fit| {
            parameter(fit.line.map(|line| line.beta.get()), fit.beta_ci)
        })
        .numbers(charset.pick("R²", "R2"), 6, |fit| fit.r2)
        .numbers("MAPE %", 2, |fit| fit.mape_pct)
        .right("max error %", |fit| max_error(fit));
    if detail == Detail::Wide {
        columns =
            columns
                .numbers("RMSPE %", 2, |fit| fit.rmspe_pct)
                .numbers("held out %", 2, |fit| fit.held_out_rmspe_pct);
    }
    columns = columns.cells("verdict", Align::Left, |fit| {
        Cell::toned(naming::verdict(fit.verdict), verdict_tone(fit.verdict))
    });
    columns.grid()
}

const fn other_loss(loss: Loss) -> Loss {
    match loss {
        Loss::Relative => Loss::Absolute,
        Loss::Absolute => Loss::Relative,
    }
}

fn parameter(value: Option<f64>, interval: Option<Interval>) -> String {
    let interval = interval.map(|interval| (interval.low, interval.high));
    value.map_or_else(
        || ABSENT.to_owned(),
        |value| with_interval(value, interval, 4),
    )
}

fn max_error(fit: &Fit) -> String {
    match fit.max_error {
        Some((error, bytes)) => format!("{} at {bytes}", fixed(error, 2)),
        None => ABSENT.to_owned(),
    }
}

/// Returns the table of predictions.
pub(crate) fn predictions(predictions: &[Prediction]) -> Grid {
    Columns::of(predictions)
        .right("size", |prediction| prediction.bytes.to_string())
        .right("predicted us", |prediction| fixed(prediction.time.get(), 3))
        .right("band us", |prediction| match prediction.band {
            Some(band) => format!(
                "{} to {}",
                fixed(band.low.get(), 3),
                fixed(band.high.get(), 3)
            ),
            None => ABSENT.to_owned(),
        })
        .left("evidence", |prediction| prediction.evidence.to_string())
        .left("how", |prediction| prediction.grounds.to_string())
        .grid()
}

/// Returns the table of points. Columns that no point fills are left out.
pub(crate) fn points(analysis: &SeriesAnalysis, loss: Loss, detail: Detail) -> Grid {
    let mut columns = Columns::of(&analysis.points).right("size", |point| point.bytes.to_string());
    if detail == Detail::Wide {
        columns = columns
            .right("bytes", |point| point.bytes.get().to_string())
            .right("samples", |point| point.samples.to_string());
    }
    let any = |has: &dyn Fn(&PointSummary) -> bool| analysis.points.iter().any(has);
    columns = columns.numbers("median us", 3, |point| Some(point.median.get()));
    if any(&|point| point.p95.is_some()) {
        columns = columns.numbers("P95 us", 3, |point| Some(point.p95?.get()));
    }
    if any(&|point| point.cv_pct.is_some()) {
        columns = columns.cells("CV %", Align::Right, |point| {
            let tone = if point.stable == Some(false) {
                Tone::Caution
            } else {
                Tone::Plain
            };
            Cell::toned(fixed_or_absent(point.cv_pct, 2), tone)
        });
    }
    columns = columns.numbers("algbw GB/s", 2, |point| Some(point.algbw.get()));
    if any(&|point| point.busbw.is_some()) {
        columns = columns.numbers("busbw GB/s", 2, |point| Some(point.busbw?.get()));
    }
    if any(&|point| point.wire.is_some()) {
        columns = columns.numbers("wire GB/s", 2, |point| Some(point.wire?.get()));
    }
    if any(&|point| point.path.is_some()) {
        columns = columns.left("path", |point| {
            point.path.map_or_else(|| ABSENT.to_owned(), naming::path)
        });
    }
    if any(&|point| point.tuner.is_some()) {
        columns = columns
            .numbers("tuner us", 3, |point| Some(point.tuner?.get()))
            .signed("tuner error %", 2, |point| point.tuner_error_pct);
    }
    let shown = shown_fits(analysis, loss);
    if analysis
        .points
        .iter()
        .any(|point| shown.error_at(point.bytes).is_some())
    {
        columns = columns.signed("model error %", 2, |point| shown.error_at(point.bytes));
    }
    if any(&|point| point.wrong.is_some_and(|wrong| wrong > 0)) {
        columns = columns.right("wrong", |point| {
            point
                .wrong
                .map_or_else(|| ABSENT.to_owned(), |wrong| wrong.to_string())
        });
    }
    if any(&|point| !point_note(point).0.is_empty()) {
        columns = columns.cells("note", Align::Left, |point| {
            let (note, tone) = point_note(point);
            Cell::toned(note, tone)
        });
    }
    columns.grid()
}

/// Returns one row per series.
pub(crate) fn overview(report: &AnalysisReport) -> Grid {
    let rows: Vec<(usize, &SeriesReport)> = (1..).zip(&report.series).collect();
    let fact = |series: &SeriesReport, title: &str| {
        let facts = facts(&series.analysis, report.loss);
        let found = facts.into_iter().find(|fact| fact.title == title);
        found.map_or_else(|| ABSENT.to_owned(), |fact| fact.value)
    };
    let mut columns = Columns::of(&rows)
        .right("#", |(nth, _)| nth.to_string())
        .left("collective", |(_, series)| {
            naming::collective(series.analysis.collective).to_owned()
        })
        .right("ranks", |(_, series)| match series.analysis.ranks {
            Ranks::Stated(n) => n.to_string(),
            Ranks::Estimated { low, high } if low == high => low.to_string(),
            Ranks::Estimated { low, high } => format!("{low} to {high}"),
            Ranks::Unknown => ABSENT.to_owned(),
        })
        .left("placement", |(_, series)| {
            naming::placement(series.analysis.placement).to_owned()
        })
        .left("sizes", |(_, series)| {
            match series.analysis.points.as_slice() {
                [] => ABSENT.to_owned(),
                [first, .., last] => naming::size_span(first.bytes, last.bytes),
                [only] => only.bytes.to_string(),
            }
        });
    for title in [
        "latency floor",
        "peak algbw",
        "saturated from",
        "stable sizes",
        "validated segments",
    ] {
        // Series of one size each have no floor, no saturation and no line.
        if rows.iter().any(|(_, series)| fact(series, title) != ABSENT) {
            columns = columns.right(title, |(_, series)| fact(series, title));
        }
    }
    if rows
        .iter()
        .all(|(_, series)| series.analysis.points.len() == 1)
    {
        columns = columns.numbers("median us", 3, |(_, series)| {
            Some(series.analysis.points.first()?.median.get())
        });
    }
    let folder = report.common_folder();
    columns
        .cells("told", Align::Left, |(_, series)| told(&series.analysis))
        .left("input", |(_, series)| {
            let input = report.inputs.get(series.input);
            input.map_or_else(
                || ABSENT.to_owned(),
                |input| input.path[folder.len()..].to_owned(),
            )
        })
        .grid()
}

/// Returns what is wrong or doubtful about a series, in a word.
fn told(analysis: &SeriesAnalysis) -> Cell {
    let count_of = |severity: Severity| {
        let findings = analysis.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    };
    match (count_of(Severity::Failed), count_of(Severity::Warning)) {
        (0, 0) => Cell::toned("", Tone::Plain),
        (0, warnings) => Cell::toned(count(warnings, "warning"), Tone::Caution),
        (_, _) => Cell::toned("WRONG DATA", Tone::Bad),
    }
}
