//! Models held against data: validation and held-out error.

mod validate;

pub use validate::{
    Engine, EngineSummary, Errors, ExcludedSet, Holdout, KnownBad, LARGE_ABOVE, MeasuredSet,
    ParseHoldoutError, Role, SMALL_BELOW, SUMMARY_SIZES_MIN, Scope, Score, SetValidation, Spread,
    Summary, Tier, ValidationReport, known_bad, validate,
};
