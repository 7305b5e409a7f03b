//! The result of an analysis: what a report shows and the JSON contract names.
//!
//! These are values only. How each is computed stands beside the formula: `fit.rs`,
//! `segment.rs`, `region.rs`, `residual.rs`.

use std::fmt;
use tier6_collective::{Collective, DataType, Path, RedOp};
use tier6_measure::{Placement, Ranks};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Everything that tier6 says about one series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesAnalysis {
    /// Index of the run within its input.
    pub run: usize,
    /// The collective, when known.
    pub collective: Option<Collective>,
    /// The number of ranks.
    pub ranks: Ranks,
    /// The number of nodes, when known.
    pub nodes: Option<u32>,
    /// Element type.
    pub datatype: Option<DataType>,
    /// Reduction operator.
    pub redop: Option<RedOp>,
    /// Out of place or in place.
    pub placement: Placement,
    /// The points, ascending in size.
    pub points: Vec<PointSummary>,
    /// One fit per (label, loss): global first, then the segments in order of size.
    pub fits: Vec<Fit>,
    /// Where one segment gives way to the next.
    pub switches: Vec<Switch>,
    /// Latency and saturation regions.
    pub regions: Regions,
    /// What the residuals of the segments look like.
    pub residuals: Vec<ResidualFinding>,
    /// What a reader should know, most severe first.
    pub findings: Vec<Finding>,
}

impl SeriesAnalysis {
    /// Says whether `other` is the same call of the same run with the other placement.
    pub fn is_other_placement_of(&self, other: &Self) -> bool {
        self.run == other.run
            && self.collective == other.collective
            && self.datatype == other.datatype
            && self.redop == other.redop
            && self.ranks == other.ranks
            && self.placement != other.placement
    }
}

/// One size, with its samples reduced to what is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSummary {
    /// Message size.
    pub bytes: Bytes,
    /// Number of samples (cycles, or iterations where the tool wrote them); 0 when the source
    /// published statistics without saying of how many.
    pub samples: u32,
    /// Median time.
    pub median: Micros,
    /// 95th percentile, linear interpolation; `None` for one sample.
    pub p95: Option<Micros>,
    /// Coefficient of variation in percent: sample standard deviation / mean; `None` for one sample.
    pub cv_pct: Option<f64>,
    /// CV within the limit; `None` when the CV is unknown.
    pub stable: Option<bool>,
    /// Wrong elements; `None` when not checked or not counted.
    pub wrong: Option<u64>,
    /// Bytes / median time.
    pub algbw: GbPerSec,
    /// algbw times the bus factor; `None` when the collective or the rank count is not known.
    pub busbw: Option<GbPerSec>,
    /// Bandwidth on the wire where it differs from busbw (reduction in the switch), with the
    /// law used; `None` when it is the same or not known.
    pub wire: Option<GbPerSec>,
    /// Algorithm and protocol that ran.
    pub path: Option<Path>,
    /// NCCL's own prediction.
    pub tuner: Option<Micros>,
    /// predicted / measured - 1, in percent.
    pub tuner_error_pct: Option<f64>,
    /// Why the point is not used in fits.
    pub excluded: Option<Exclusion>,
}

/// Why a point is not used in fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// A sample had wrong data.
    WrongData,
    /// The size is zero.
    ZeroSize,
}

/// What a fit describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FitLabel {
    /// All points on one line.
    Global,
    /// The points of one path; the number tells apart several segments on the same path, from 1.
    Path(Path, u32),
    /// A detected segment, from 1.
    Detected(u32),
    /// All points from one size to another, both included, because someone asked.
    Range(Bytes, Bytes),
}

impl fmt::Display for FitLabel {
    /// Prints `global`, `ring+ll`, `ring+ll#2`, `segment 1`, `16 MiB..1 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.pad("global"),
            Self::Path(path, 1) => path.fmt(f),
            Self::Path(path, nth) => f.pad(&format!("{path}#{nth}")),
            Self::Detected(nth) => f.pad(&format!("segment {nth}")),
            Self::Range(first, last) => f.pad(&format!("{first}..{last}")),
        }
    }
}

/// Where the borders of a fit come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// All points.
    All,
    /// A trace, a log or path columns.
    Path,
    /// Change points in the measurement itself.
    Detected,
}

/// What a fit minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Squared relative residuals: every size counts alike. The default.
    Relative,
    /// Squared residuals in microseconds: large messages rule.
    Absolute,
}

/// What may be claimed of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// At least four points, a held-out error, and that error is in keeping.
    Validated,
    /// The line describes its points; nothing shows that it predicts others.
    DescribesOnly,
    /// No line can be given.
    Refused,
}

/// T = alpha + n / beta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Intercept.
    pub alpha: Micros,
    /// Inverse slope.
    pub beta: GbPerSec,
}

impl Line {
    /// Returns the time for a message of `bytes`.
    pub fn predict(&self, bytes: Bytes) -> Micros {
        Micros::new(self.alpha.get() + bytes.as_f64() / self.beta.get() / 1e3)
    }
}

/// A 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A line through some points, with all that is needed to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// What it describes.
    pub label: FitLabel,
    /// Where its borders come from.
    pub basis: Basis,
    /// What it minimises.
    pub loss: Loss,
    /// Smallest size in it.
    pub first: Bytes,
    /// Largest size in it.
    pub last: Bytes,
    /// Number of points used.
    pub points: u32,
    /// The line; `None` when refused.
    pub line: Option<Line>,
    /// Interval of alpha in us.
    pub alpha_ci: Option<Interval>,
    /// Interval of beta in GB/s.
    pub beta_ci: Option<Interval>,
    /// Coefficient of determination.
    pub r2: Option<f64>,
    /// Mean absolute percentage error.
    pub mape_pct: Option<f64>,
    /// Largest absolute relative error in percent, and the size where it stands.
    pub max_error: Option<(f64, Bytes)>,
    /// Root mean square percentage error.
    pub rmspe_pct: Option<f64>,
    /// RMSPE when each point in turn is left out and predicted.
    pub held_out_rmspe_pct: Option<f64>,
    /// What may be claimed.
    pub verdict: Verdict,
    /// Why.
    pub why: String,
    /// Per point: size, measured - predicted in us, predicted / measured - 1 in percent.
    pub residuals: Vec<(Bytes, Micros, f64)>,
}

/// Where one segment gives way to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// First size of the new segment.
    pub bytes: Bytes,
    /// Label of the segment before.
    pub from: FitLabel,
    /// Label of the segment after.
    pub to: FitLabel,
    /// Seen in a trace, or detected.
    pub basis: Basis,
}

/// Latency and saturation regions of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Regions {
    /// Leading sizes near the small-message median.
    pub latency: Option<LatencyRegion>,
    /// Sizes near the peak bandwidth.
    pub saturation: Option<Saturation>,
}

/// Leading sizes within 5 % of the small-message median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyRegion {
    /// First size.
    pub first: Bytes,
    /// Last size.
    pub last: Bytes,
    /// Lowest median in it.
    pub low: Micros,
    /// Highest median in it.
    pub high: Micros,
}

/// From where on all sizes reach a share of the peak algbw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Share of the peak, in percent.
    pub threshold_pct: f64,
    /// First size from which every algbw reaches it.
    pub entry: Bytes,
    /// The peak.
    pub peak_algbw: GbPerSec,
}

/// A shape in the residuals of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct ResidualFinding {
    /// The fit it belongs to.
    pub fit: FitLabel,
    /// The shape.
    pub pattern: Pattern,
    /// The numbers that show it.
    pub evidence: String,
    /// What usually causes it.
    pub suspects: &'static str,
}

/// Shapes of residuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// No order: noise.
    Scatter,
    /// All on one side.
    Offset,
    /// Growing with size.
    Growth,
    /// A step at one size.
    Jump,
    /// One size far off.
    Spike,
    /// Ends on one side, middle on the other.
    Curve,
}

/// A sentence about the series that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Stable code, such as `unstable-sizes`.
    pub code: &'static str,
    /// The sentence, with its numbers.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The data is wrong.
    Failed,
    /// Something is likely not as it should be.
    Warning,
    /// Worth knowing.
    Note,
}

macro_rules! names {
    ($type:ty { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// Returns the name in JSON.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

names!(Basis { All => "all", Path => "path", Detected => "detected" });
names!(Loss { Relative => "relative", Absolute => "absolute" });
names!(Verdict { Validated => "validated", DescribesOnly => "describes_only", Refused => "refused" });
names!(Pattern {
    Scatter => "scatter", Offset => "offset", Growth => "growth",
    Jump => "jump", Spike => "spike", Curve => "curve",
});
names!(Severity { Failed => "failed", Warning => "warning", Note => "note" });
names!(Exclusion { WrongData => "wrong_data", ZeroSize => "zero_size" });
