//! What every format says of a comparison in words.

use super::{ComparedSeries, ComparisonReport};
use crate::analysis::configuration;
use crate::naming;
use crate::style::Tone;
use tier6_fit::{Cause, ComparisonVerdict, SegmentComparison, SizeVerdict};

pub(super) const fn verdict_tone(verdict: ComparisonVerdict) -> Tone {
    match verdict {
        ComparisonVerdict::Failed | ComparisonVerdict::Regressed => Tone::Bad,
        ComparisonVerdict::Undecided => Tone::Caution,
        ComparisonVerdict::Improved | ComparisonVerdict::Unchanged => Tone::Good,
    }
}

/// Returns the outcome as a sentence.
pub(super) const fn verdict_sentence(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Failed => {
            "FAILED: a run has wrong data or aborted, so that no speed counts"
        }
        ComparisonVerdict::Regressed => "REGRESSED: the new run is slower",
        ComparisonVerdict::Undecided => "UNDECIDED: not enough evidence",
        ComparisonVerdict::Improved => "IMPROVED: the new run is faster",
        ComparisonVerdict::Unchanged => "UNCHANGED within the smallest effect that matters",
    }
}

pub(super) const fn cause(cause: Option<Cause>) -> &'static str {
    match cause {
        Some(Cause::FixedCost) => "fixed cost",
        Some(Cause::Bandwidth) => "bandwidth",
        Some(Cause::Selection) => "selection",
        Some(Cause::Tail) => "tail",
        None => "",
    }
}

pub(super) const fn size_verdict(verdict: SizeVerdict) -> (&'static str, Tone) {
    match verdict {
        SizeVerdict::Slower => ("slower", Tone::Bad),
        SizeVerdict::Faster => ("faster", Tone::Good),
        SizeVerdict::NotShown => ("~", Tone::Dim),
    }
}

/// Returns the name of a size's outcome in CSV and JSON.
pub(super) const fn size_verdict_name(verdict: SizeVerdict) -> &'static str {
    match verdict {
        SizeVerdict::Slower => "slower",
        SizeVerdict::Faster => "faster",
        SizeVerdict::NotShown => "not_shown",
    }
}

/// Returns what was compared.
pub(super) fn title(series: &ComparedSeries) -> Vec<String> {
    let analysis = &series.new.analysis;
    let mut parts = configuration(analysis);
    parts.push(naming::placement(analysis.placement).to_owned());
    parts
}

/// Returns the evidence of each segment that has any.
pub(super) fn evidence(series: &ComparedSeries) -> Vec<String> {
    let told = series
        .comparison
        .segments
        .iter()
        .filter(|segment| !segment.evidence.is_empty());
    told.map(|segment| format!("{}: {}", segment_name(segment), segment.evidence))
        .collect()
}

fn segment_name(segment: &SegmentComparison) -> String {
    let sizes = naming::size_span(segment.first, segment.last);
    format!("{}, {sizes}", naming::label(&segment.label))
}

/// Returns what is wrong and what makes the comparison doubtful, as one list.
pub(super) fn faults_and_doubts(series: &ComparedSeries) -> Vec<String> {
    let faults = series.comparison.faults.iter();
    let faults = faults.map(|sentence| format!("FAILED: {sentence}"));
    let doubts = series.comparison.warnings.iter().cloned();
    faults.chain(doubts).collect()
}

/// Returns the names of both sides, without the series.
pub(super) fn inputs(report: &ComparisonReport) -> String {
    let names = |inputs: &[crate::InputReport]| {
        inputs
            .iter()
            .map(|input| input.path.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!("{} against {}", names(&report.new), names(&report.baseline))
}
