//! NCCL's tuner held against measurements: audits, tuner files from sweeps, differences.
//!
//! A [`Sweep`] is one measured run with what was forced in it. [`predicted_against_measured`]
//! and [`audit_choices`] judge NCCL, [`config_from_sweeps`] makes the rows of a tuner file that
//! [`write_plans`] writes in a dialect, and [`diff_choosers`] compares two choosers without any
//! measurement.
//!
//! Deliberately absent: reading files, and sweeps of several calls in one plan; a caller groups
//! them first ([`group_sweeps`]).

mod attribution;
mod audit;
mod config;
mod contender;
mod crossover;
mod diff;
mod emit;
mod forced;
mod gain;
mod measured;
mod noise;
mod performance_csv;
mod prediction;
mod regions;
mod regret;
mod safety;
mod sweep;
mod weak_spot;

pub use attribution::{Attribution, AttributionBasis};
pub use audit::{
    Alternative, ChoiceAudit, ChoiceBasis, ChoiceVerdict, Chosen, Follows, SizeAudit, audit_choices,
};
pub use config::{
    ConfigError, ConfigOptions, ConfigPlan, Half, HeldOut, PlannedRow, config_from_sweeps,
};
pub use contender::{Ask, Way};
pub use crossover::Crossover;
pub use diff::{Chooser, DiffChoice, DiffRange, DiffSize, Difference, TunerDiff, diff_choosers};
pub use emit::{EmitError, EmittedRules, emit_rules, write_plans};
pub use forced::{Forced, ForcedError};
pub use gain::{Gain, GainVerdict};
pub use measured::PathRange;
pub use noise::{Noise, NoiseSource, SizeNoise};
pub use performance_csv::{PerformanceSweeps, read_performance_csv};
pub use prediction::{PredictedSize, Predictions, predicted_against_measured, prediction_accuracy};
pub use regret::Regret;
pub use safety::{Ll128, Refusal, RefusalReason};
pub use sweep::{Sweep, SweepError, SweepPoint, group_sweeps, sweeps_of_run};
pub use weak_spot::WeakSpot;
