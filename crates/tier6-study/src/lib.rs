//! Models held against data: validation and held-out error, and NCCL's tuner against
//! measurements; and experiments, which hold the engines against each other.

mod experiment;
mod tuner;
mod validate;

pub use experiment::{
    Cell, Experiment, ExperimentError, ExperimentLine, ExperimentView, FastestSpan, Outcome,
    Reference, Refused, document_experiments,
};
pub use tuner::{
    Alternative, Ask, Attribution, AttributionBasis, ChoiceAudit, ChoiceBasis, ChoiceVerdict,
    Chooser, Chosen, ConfigError, ConfigOptions, ConfigPlan, Crossover, DiffChoice, DiffRange,
    DiffSize, Difference, EmitError, EmittedRules, Follows, Forced, ForcedError, Gain, GainVerdict,
    Half, HeldOut, Ll128, Noise, NoiseSource, PathRange, PerformanceSweeps, PlannedRow,
    PredictedSize, Predictions, Refusal, RefusalReason, Regret, SizeAudit, SizeNoise, Sweep,
    SweepError, SweepPoint, TunerDiff, Way, WeakSpot, audit_choices, config_from_sweeps,
    diff_choosers, emit_rules, group_sweeps, predicted_against_measured, prediction_accuracy,
    read_performance_csv, sweeps_of_run, write_plans,
};
pub use validate::{
    Cause, Coverage, DocumentBand, DocumentEngine, DocumentFigure, Engine, EngineSummary, Errors,
    ExcludedSet, FromRanks, Group, GroupSummary, HeldOutRanks, Holdout, KnownBad, LARGE_ABOVE,
    MeasuredSet, ParseHoldoutError, Role, SMALL_BELOW, Scope, Score, SetValidation, Spread,
    Summary, Tier, ValidationReport, document_figures, known_bad, validate, validate_by,
};
