//! From measurements to segmented models with verdicts.
//!
//! [`analyze`] turns one measured series into points, segments, lines with intervals and
//! verdicts, regions, residual shapes and findings; [`analyze_run`] adds what a run's set-up
//! says; [`findings_together`] adds what several series say together. [`compare`] attributes a
//! difference between two runs. [`calibrate`] finds the constants of a described system, after
//! [`Design`] said which of them the measurements can tell. [`Predictor`] answers for sizes that were not measured.
//! [`Launch`] lays a call out for the event-driven engine as the closed forms price it.
//!
//! Deliberately absent: reading files (`tier6-measure`), closed forms of algorithms
//! (`tier6-math`), showing results (`tier6-report`).

mod analysis;
mod analyze;
mod calibrate;
mod cliff;
mod compare;
mod finding;
mod fit;
mod identify;
mod launch;
mod point;
mod predict;
mod rank_latency;
mod rank_trend;
mod region;
mod residual;
mod run_finding;
mod segment;
mod set_up;
mod together;
mod wire;

pub use analysis::{
    Basis, Exclusion, Finding, Fit, FitLabel, Interval, LatencyRegion, Line, Loss, Pattern,
    PointSummary, Regions, ResidualFinding, Saturation, SeriesAnalysis, Severity, Switch, Verdict,
};
pub use analyze::{AnalysisOptions, analyze, analyze_run};
pub use calibrate::{
    Anchored, CalibrateError, CalibrateOptions, Calibration, Call, Confounded, Fitted, Forecast,
    HeldOut, Method, Miss, Observed, ObservedError, ObservedPoint, Refused, SetFit,
    UnknownMethodError, calibrate, calibrate_simulated, forecast, forecast_simulated, plan_sizes,
};
pub use cliff::{Cliff, find_cliffs};
pub use compare::{
    Cause, CompareError, CompareOptions, ComparedRun, ComparisonVerdict, SegmentComparison,
    SeriesComparison, SizeComparison, SizeVerdict, compare,
};
pub use fit::fit_range;
pub use identify::{Design, Identifiability, Setting, TWO_LEVEL_CONSTANTS, TwoLevel};
pub use launch::{
    CallSetup, FixedTime, Launch, LaunchError, chips_of, is_in_switch, simulated_protocols,
};
pub use predict::{Band, Evidence, Grounds, KnownPoint, Prediction, Predictor, PredictorError};
pub use rank_latency::{RankEvidence, RingLatency, RingSteps, fit_ring_steps, ring_steps};
pub use rank_trend::{RankTrend, TrendFit, rank_trend};
pub use residual::{PredictedPoint, PredictionOrigin, ResidualShape, residual_shapes, suspects};
pub use segment::segment_starts;
pub use together::{SetSeries, findings_together};
pub use wire::nvls_wire;
