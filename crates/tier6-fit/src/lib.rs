//! From measurements to segmented models with verdicts.

mod analysis;
mod predict;

pub use analysis::{
    Basis, Exclusion, Finding, Fit, FitLabel, Interval, LatencyRegion, Line, Loss, Pattern,
    PointSummary, Regions, ResidualFinding, Saturation, SeriesAnalysis, Severity, Switch, Verdict,
};
pub use predict::{Band, Evidence, Grounds, KnownPoint, Prediction, Predictor, PredictorError};
