//! What every format says of a series in words: who it is, what stands out, what the models
//! are worth.

use crate::naming;
use crate::number::{count, fixed, significant};
use crate::report::{AnalysisReport, RunReport, SeriesReport, Status};
use crate::style::Tone;
use tier6_fit::{
    Basis, Exclusion, Fit, FitLabel, Loss, Pattern, PointSummary, SeriesAnalysis, Severity, Verdict,
};
use tier6_measure::{Correctness, RunEnd};
use tier6_units::{Bytes, GbPerSec};

/// The fits of one loss: the segments in order of size, the ranges that someone asked for, and
/// the single line over all points beside them. Where nothing splits the points, that line is
/// the only segment.
pub(crate) struct ShownFits<'a> {
    pub(crate) segments: Vec<&'a Fit>,
    pub(crate) ranges: Vec<&'a Fit>,
    pub(crate) one_line: Option<&'a Fit>,
}

/// A short fact about a series: what it is about, its value, and what to know beside it.
pub(crate) struct Fact {
    pub(crate) title: &'static str,
    pub(crate) value: String,
    pub(crate) note: String,
    pub(crate) tone: Tone,
}

/// Returns the fits of one loss.
pub(crate) fn shown_fits(analysis: &SeriesAnalysis, loss: Loss) -> ShownFits<'_> {
    let mut shown = ShownFits {
        segments: Vec::new(),
        ranges: Vec::new(),
        one_line: None,
    };
    for fit in analysis.fits.iter().filter(|fit| fit.loss == loss) {
        match fit.label {
            FitLabel::Global => shown.one_line = Some(fit),
            FitLabel::Path(..) | FitLabel::Detected(_) => shown.segments.push(fit),
            FitLabel::Range(..) => shown.ranges.push(fit),
        }
    }
    if shown.segments.is_empty() {
        shown.segments.extend(shown.one_line.take());
    }
    shown
}

impl<'a> ShownFits<'a> {
    /// Returns all of them in the order of a table.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Fit> {
        let listed = self.segments.iter().chain(&self.ranges);
        listed.chain(self.one_line.as_ref()).copied()
    }

    /// Returns the position of the segment that holds a size.
    pub(crate) fn segment_at(&self, bytes: Bytes) -> Option<usize> {
        let holds = |fit: &&Fit| (fit.first..=fit.last).contains(&bytes);
        self.segments.iter().position(holds)
    }

    /// Returns predicted / measured - 1 in percent of the segment at a size.
    pub(crate) fn error_at(&self, bytes: Bytes) -> Option<f64> {
        let fit = self.segments[self.segment_at(bytes)?];
        let residual = fit.residuals.iter().find(|(size, ..)| *size == bytes)?;
        Some(residual.2)
    }
}

/// Heading of what several series say together.
pub(crate) const TOGETHER: &str = "What the series say together, taken to come from one machine";

/// Returns why a report is failed and, among several inputs, in which; `None` when it is not.
pub(crate) fn failure(report: &AnalysisReport) -> Option<String> {
    if report.status == Status::Ok {
        return None;
    }
    let inputs_where = |is: &dyn Fn(&RunReport) -> bool| -> Vec<&str> {
        let inputs = report.inputs.iter();
        let hit = inputs.filter(|input| input.runs.iter().any(is));
        hit.map(|input| &input.path[report.common_folder().len()..])
            .collect()
    };
    let wrong = inputs_where(&|run| run.correctness == Correctness::Failed);
    let (text, which) = if wrong.is_empty() {
        let cut = inputs_where(&|run| matches!(run.end, RunEnd::Aborted { .. }));
        ("FAILED: at least one run did not end as it should", cut)
    } else {
        (
            "FAILED: the data of at least one run is wrong; no number of it is a result",
            wrong,
        )
    };
    let shown = which[..which.len().min(FAILED_MAX)].join(", ");
    let more = match which.len().saturating_sub(FAILED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(if report.inputs.len() > 1 && !which.is_empty() {
        format!("{text}: {shown}{more}")
    } else {
        text.to_owned()
    })
}

/// How many failed inputs are named.
const FAILED_MAX: usize = 8;

/// Says whether any fit of a series is a line.
pub(crate) fn has_lines(analysis: &SeriesAnalysis) -> bool {
    analysis.fits.iter().any(|fit| fit.line.is_some())
}

/// Returns what identifies a series, most telling first.
pub(crate) fn identity(report: &AnalysisReport, series: &SeriesReport) -> Vec<String> {
    let analysis = &series.analysis;
    let run = report.run_of(series);
    let version = run.and_then(|run| run.setup.library_version);
    let mut parts = configuration(analysis);
    parts.extend(version.map(|version| format!("library {version}")));
    parts.push(naming::placement(analysis.placement).to_owned());
    parts.push(sweep(analysis));
    parts
}

/// Returns what was called and by how many: collective, type, ranks, nodes.
pub(crate) fn configuration(analysis: &SeriesAnalysis) -> Vec<String> {
    let redop = analysis
        .redop
        .map_or(String::new(), |redop| format!(" {redop}"));
    let parts = [
        Some(naming::collective(analysis.collective).to_owned() + &redop),
        analysis.datatype.map(|datatype| datatype.to_string()),
        Some(naming::ranks(analysis.ranks)),
        analysis.nodes.map(|nodes| count(nodes as usize, "node")),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns `31 sizes x 10 samples, 1 B to 1 GiB`.
fn sweep(analysis: &SeriesAnalysis) -> String {
    let points = &analysis.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "no sizes".to_owned();
    };
    let samples = points.iter().map(|point| point.samples);
    let (fewest, most) = (samples.clone().min(), samples.max());
    let samples = match (fewest, most) {
        (Some(0) | None, _) | (_, None) => String::new(),
        (Some(fewest), Some(most)) if fewest == most => {
            format!(" x {}", count(most as usize, "sample"))
        }
        (Some(fewest), Some(most)) => format!(" x {fewest} to {most} samples"),
    };
    let span = naming::size_span(first.bytes, last.bytes);
    format!("{}{samples}, {span}", count(points.len(), "size"))
}

/// Returns where a series comes from.
pub(crate) fn source(report: &AnalysisReport, series: &SeriesReport) -> Option<String> {
    let input = report.inputs.get(series.input)?;
    let run = match input.runs.len() {
        0 | 1 => String::new(),
        runs => format!(", run {} of {runs}", series.analysis.run + 1),
    };
    Some(format!("{} ({}{run})", input.path, input.dialect))
}

/// Returns how sure one can be of the data of a run, and how it ended.
pub(crate) fn run_state(run: &RunReport) -> (String, Tone) {
    let end = match &run.end {
        RunEnd::Complete | RunEnd::NotStated => String::new(),
        RunEnd::Unfinished => ", run unfinished".to_owned(),
        RunEnd::Aborted { message, .. } => format!(", run aborted: {message}"),
    };
    let tone = match correctness_tone(run.correctness) {
        Tone::Good | Tone::Plain if !end.is_empty() => Tone::Caution,
        tone => tone,
    };
    (naming::correctness(run).to_owned() + &end, tone)
}

pub(crate) const fn correctness_tone(correctness: Correctness) -> Tone {
    match correctness {
        Correctness::Passed => Tone::Good,
        Correctness::Failed => Tone::Bad,
        Correctness::NotChecked => Tone::Caution,
        Correctness::NotStated => Tone::Plain,
    }
}

pub(crate) const fn severity_tone(severity: Severity) -> Tone {
    match severity {
        Severity::Failed => Tone::Bad,
        Severity::Warning => Tone::Caution,
        Severity::Note => Tone::Dim,
    }
}

pub(crate) const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Validated => Tone::Good,
        Verdict::DescribesOnly => Tone::Caution,
        Verdict::Refused => Tone::Bad,
    }
}

/// Returns the facts that a reader looks for first.
pub(crate) fn facts(analysis: &SeriesAnalysis, loss: Loss) -> Vec<Fact> {
    let facts = [
        latency_fact(analysis),
        peak_fact(analysis),
        saturation_fact(analysis),
        stability_fact(analysis),
        model_fact(analysis, loss),
    ];
    facts.into_iter().flatten().collect()
}

fn latency_fact(analysis: &SeriesAnalysis) -> Option<Fact> {
    let region = analysis.regions.latency?;
    let (low, high) = (
        significant(region.low.get(), 3),
        significant(region.high.get(), 3),
    );
    Some(Fact {
        title: "latency floor",
        value: if low == high {
            format!("{low} us")
        } else {
            format!("{low} to {high} us")
        },
        note: naming::size_span(region.first, region.last),
        tone: Tone::Plain,
    })
}

/// Largest message whose rate says nothing about a link.
const TINY_BYTES: u64 = 4 << 10;

fn peak_fact(analysis: &SeriesAnalysis) -> Option<Fact> {
    let usable = |point: &&PointSummary| point.excluded.is_none() && point.algbw.get().is_finite();
    let peak = analysis
        .points
        .iter()
        .filter(usable)
        .max_by(|a, b| a.algbw.get().total_cmp(&b.algbw.get()))?;
    if peak.bytes.get() <= TINY_BYTES {
        return None;
    }
    let rate = |name: &str, rate: Option<GbPerSec>| {
        rate.map_or_else(String::new, |rate| {
            format!("{name} {} GB/s, ", fixed(rate.get(), 2))
        })
    };
    let (busbw, wire) = (rate("busbw", peak.busbw), rate("on the wire", peak.wire));
    Some(Fact {
        title: "peak algbw",
        value: format!("{} GB/s", fixed(peak.algbw.get(), 2)),
        note: format!("{busbw}{wire}at {}", peak.bytes),
        tone: Tone::Plain,
    })
}

fn saturation_fact(analysis: &SeriesAnalysis) -> Option<Fact> {
    let saturation = analysis.regions.saturation?;
    Some(Fact {
        title: "saturated from",
        value: saturation.entry.to_string(),
        note: format!(
            "algbw stays at or above {} % of its peak",
            significant(saturation.threshold_pct, 2)
        ),
        tone: Tone::Plain,
    })
}

fn stability_fact(analysis: &SeriesAnalysis) -> Option<Fact> {
    let known: Vec<bool> = analysis
        .points
        .iter()
        .filter_map(|point| point.stable)
        .collect();
    if known.is_empty() {
        return None;
    }
    let stable = known.iter().filter(|stable| **stable).count();
    let unstable = unstable_sizes(analysis);
    Some(Fact {
        title: "stable sizes",
        value: format!("{stable} of {}", known.len()),
        note: if unstable.is_empty() {
            "every CV within the limit".to_owned()
        } else {
            format!("unstable: {unstable}")
        },
        tone: if unstable.is_empty() {
            Tone::Good
        } else {
            Tone::Caution
        },
    })
}

/// Returns the unstable sizes, neighbours joined: `128 B, 4 KiB to 128 KiB`.
fn unstable_sizes(analysis: &SeriesAnalysis) -> String {
    let groups = analysis.points.chunk_by(|a, b| a.stable == b.stable);
    let unstable = groups.filter(|group| group[0].stable == Some(false));
    let names =
        unstable.map(|group| naming::size_span(group[0].bytes, group[group.len() - 1].bytes));
    names.collect::<Vec<_>>().join(", ")
}

fn model_fact(analysis: &SeriesAnalysis, loss: Loss) -> Option<Fact> {
    let shown = shown_fits(analysis, loss);
    if !has_lines(analysis) {
        return None;
    }
    let validated = shown
        .segments
        .iter()
        .filter(|fit| fit.verdict == Verdict::Validated)
        .count();
    let worst = |fits: &[&Fit]| {
        let errors = fits
            .iter()
            .filter_map(|fit| fit.mape_pct)
            .filter(|error| error.is_finite());
        errors.reduce(f64::max).map(|error| match error {
            small if small < 0.1 => format!("{} %", fixed(small, 2)),
            _ => format!("{} %", significant(error, 2)),
        })
    };
    let segmented = worst(&shown.segments).map(|mape| format!("MAPE up to {mape}"));
    let single = shown
        .one_line
        .and_then(|fit| worst(&[fit]))
        .map(|mape| format!("one line {mape}"));
    let note = segmented
        .into_iter()
        .chain(single)
        .collect::<Vec<_>>()
        .join("; ");
    let all = validated == shown.segments.len();
    Some(Fact {
        title: "validated segments",
        value: format!("{validated} of {}", shown.segments.len()),
        note,
        tone: if all { Tone::Good } else { Tone::Caution },
    })
}

/// Returns a sentence per switch that a path shows, and one for all that were detected.
pub(crate) fn switches(analysis: &SeriesAnalysis) -> Vec<String> {
    let of = |basis: Basis| {
        analysis
            .switches
            .iter()
            .filter(move |switch| switch.basis == basis)
    };
    let seen = of(Basis::Path).map(|switch| {
        let (from, to) = (naming::label(&switch.from), naming::label(&switch.to));
        format!("{}: {from} to {to} (seen in the path)", switch.bytes)
    });
    let detected: Vec<String> = of(Basis::Detected)
        .map(|switch| switch.bytes.to_string())
        .collect();
    let detected =
        (!detected.is_empty()).then(|| format!("{} (detected in the times)", detected.join(", ")));
    seen.chain(detected).collect()
}

/// Returns a sentence per residual pattern that is more than noise.
pub(crate) fn patterns(analysis: &SeriesAnalysis) -> Vec<String> {
    let told = analysis
        .residuals
        .iter()
        .filter(|finding| finding.pattern != Pattern::Scatter);
    told.map(|finding| {
        let suspects = match finding.suspects {
            "" => String::new(),
            suspects => format!("; suspects: {suspects}"),
        };
        let label = naming::label(&finding.fit);
        format!(
            "{label}: {}, {}{suspects}",
            finding.pattern, finding.evidence
        )
    })
    .collect()
}

/// Returns why fits of a loss are not validated, one sentence each.
pub(crate) fn reservations(analysis: &SeriesAnalysis, loss: Loss) -> Vec<String> {
    let shown = shown_fits(analysis, loss);
    shown
        .all()
        .filter(|fit| fit.verdict != Verdict::Validated && !fit.why.is_empty())
        .map(|fit| format!("{}: {}", naming::label(&fit.label), fit.why))
        .collect()
}

/// Returns why each fit of either loss has its verdict, one sentence each.
pub(crate) fn reasons(analysis: &SeriesAnalysis) -> Vec<String> {
    let fits = analysis.fits.iter().filter(|fit| !fit.why.is_empty());
    fits.map(|fit| {
        let label = naming::label(&fit.label);
        format!("{label}, {} loss: {}", fit.loss, fit.why)
    })
    .collect()
}

/// Returns what a reader should know of a point.
pub(crate) fn point_note(point: &PointSummary) -> (&'static str, Tone) {
    match (point.excluded, point.stable) {
        (Some(Exclusion::WrongData), _) => ("wrong data", Tone::Bad),
        (Some(Exclusion::ZeroSize), _) => ("size zero", Tone::Dim),
        (None, Some(false)) => ("unstable", Tone::Caution),
        (None, Some(true) | None) => ("", Tone::Plain),
    }
}
