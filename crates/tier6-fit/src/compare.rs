//! What changed between two runs of one configuration, and why.
//!
//! A change is attributed to its cause by its shape: the same microseconds at every size are a
//! fixed cost, microseconds in proportion to bytes are bandwidth, a change where another path
//! ran is selection, a longer P95 over unchanged medians is tail (source document 000).
//!
//! A change counts when it is both believable and large enough to matter. Believable: the
//! p-values of all sizes, segments and tails together pass Benjamini and Hochberg's procedure,
//! so that at most a stated share of what is reported is chance. Samples decide where each side
//! has at least three; where only medians exist, the scatter of the fits' residuals stands in
//! for the noise, and a shift must leave it far behind. Three outcomes: changed, unchanged
//! (the interval of the mean change lies within the smallest effect that matters), or not
//! enough evidence.

mod evidence;
mod identity;
mod noise;
mod partition;
mod shift;
mod size;
mod tail;

use crate::finding::list_bytes;
use crate::{FitLabel, Interval, SeriesAnalysis};
use std::fmt;
use tier6_measure::{Correctness, RunEnd, RunSetup, Series};
use tier6_units::{Bytes, Micros};

pub use identity::CompareError;
pub use size::{SizeComparison, SizeVerdict};

/// One run's side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    /// The measured series.
    pub series: &'a Series,
    /// Its analysis.
    pub analysis: &'a SeriesAnalysis,
    /// The set-up of its run: what must agree for a fair comparison.
    pub setup: &'a RunSetup,
    /// Whether its data was right.
    pub correctness: Correctness,
    /// How its run ended.
    pub end: &'a RunEnd,
}

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// Smallest change of a time that matters, in percent.
    pub min_effect_pct: f64,
    /// Smallest change of P95 / median that matters, in percent.
    pub min_tail_effect_pct: f64,
    /// Share of reported changes that may be chance, in percent.
    pub false_discovery_pct: f64,
    /// Seed of the permutation test of the tail.
    pub seed: u64,
}

impl CompareOptions {
    /// 3 % of the time, 10 % of the tail, one false report in twenty.
    pub const STANDARD: Self = Self {
        min_effect_pct: 3.0,
        min_tail_effect_pct: 10.0,
        false_discovery_pct: 5.0,
        seed: 1,
    };
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// One of the runs has wrong data or aborted: no speed counts.
    Failed,
    /// Slower.
    Regressed,
    /// Not enough evidence.
    Undecided,
    /// Faster.
    Improved,
    /// The same, within the smallest effect that matters.
    Unchanged,
}

impl ComparisonVerdict {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Regressed => "regressed",
            Self::Undecided => "undecided",
            Self::Improved => "improved",
            Self::Unchanged => "unchanged",
        }
    }
}

impl fmt::Display for ComparisonVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a change is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// alpha: the same time at every size.
    FixedCost,
    /// beta: time in proportion to bytes.
    Bandwidth,
    /// Another path runs at these sizes.
    Selection,
    /// Only the slowest samples changed.
    Tail,
}

impl Cause {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FixedCost => "fixed_cost",
            Self::Bandwidth => "bandwidth",
            Self::Selection => "selection",
            Self::Tail => "tail",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What changed between two series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesComparison {
    /// The outcome over all segments: failed, else the worst of regressed and undecided, else
    /// improved when any segment is.
    pub verdict: ComparisonVerdict,
    /// Whose data is wrong, and at which sizes, and which run aborted; a sentence each.
    pub faults: Vec<String>,
    /// Differences in set-up that make the comparison doubtful.
    pub warnings: Vec<String>,
    /// The segments, in order of size.
    pub segments: Vec<SegmentComparison>,
    /// The sizes that both series have.
    pub sizes: Vec<SizeComparison>,
    /// Number of usable sizes that only one of them has.
    pub unmatched_sizes: u32,
}

/// What changed on one range of sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentComparison {
    /// The baseline's segment.
    pub label: FitLabel,
    /// Smallest size.
    pub first: Bytes,
    /// Largest size.
    pub last: Bytes,
    /// Number of sizes compared.
    pub sizes: u32,
    /// Change of the fixed part; `None` for one size.
    pub delta_alpha: Option<Micros>,
    /// Its 95 % interval in us.
    pub delta_alpha_ci: Option<Interval>,
    /// Change of the bandwidth in percent; `None` for one size or a baseline without slope.
    pub delta_beta_pct: Option<f64>,
    /// Mean change of the time in percent, precise sizes counting more.
    pub mean_change_pct: f64,
    /// Its 95 % interval; `None` when nothing shows the noise.
    pub mean_change_ci_pct: Option<Interval>,
    /// The outcome.
    pub verdict: ComparisonVerdict,
    /// What a change is attributed to; `None` without a change or when its shape fits none.
    pub cause: Option<Cause>,
    /// The numbers behind the outcome.
    pub evidence: String,
}

/// Compares a new run with a baseline.
///
/// # Errors
///
/// When the collectives or the numbers of ranks differ, or no size is usable in both.
pub fn compare(
    base: &ComparedRun,
    new: &ComparedRun,
    options: &CompareOptions,
) -> Result<SeriesComparison, CompareError> {
    let mut warnings = identity::check(base, new)?;
    let (sizes, alone) = size::matched(base, new);
    if sizes.is_empty() {
        return Err(CompareError::NoCommonSize);
    }
    let (sizes, segments) = evidence::weigh(&sizes, base, new, options);
    let both = [("baseline", base), ("new run", new)];
    let wrong = both.iter().filter_map(|(name, run)| wrong_sizes(name, run));
    let aborted = both.iter().filter_map(|(name, run)| abort(name, run));
    let faults: Vec<String> = wrong.chain(aborted).collect();
    warnings.extend(alone.sentences());
    let verdict = if faults.is_empty() {
        overall(&segments)
    } else {
        ComparisonVerdict::Failed
    };
    Ok(SeriesComparison {
        verdict,
        faults,
        warnings,
        segments,
        sizes,
        unmatched_sizes: alone.count(),
    })
}

/// Says what is wrong with the data of a run, and at which sizes; `None` when nothing is.
fn wrong_sizes(name: &str, run: &ComparedRun) -> Option<String> {
    let excluded = Some(crate::Exclusion::WrongData);
    let points = run.analysis.points.iter();
    let sizes: Vec<Bytes> = points
        .filter(|point| point.excluded == excluded)
        .map(|point| point.bytes)
        .collect();
    if !sizes.is_empty() {
        let listed = list_bytes(&sizes);
        return Some(format!("the data of the {name} is wrong at {listed}"));
    }
    (run.correctness == Correctness::Failed)
        .then(|| format!("the {name} has wrong data, in another series or by its footer"))
}

/// Says how a run aborted; `None` when it did not.
fn abort(name: &str, run: &ComparedRun) -> Option<String> {
    let RunEnd::Aborted { message, .. } = run.end else {
        return None;
    };
    Some(format!("the {name} aborted: {message}"))
}

fn overall(segments: &[SegmentComparison]) -> ComparisonVerdict {
    use ComparisonVerdict::{Improved, Regressed, Unchanged, Undecided};
    [Regressed, Undecided, Improved]
        .into_iter()
        .find(|verdict| segments.iter().any(|segment| segment.verdict == *verdict))
        .unwrap_or(Unchanged)
}
