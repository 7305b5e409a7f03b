//! Results as tables, plots, SVG, HTML, JSON, CSV and Markdown: values in, text out.
//!
//! A report is a value ([`AnalysisReport`], [`ComparisonReport`]); each format is one pure
//! function of it. The same report gives the same bytes: no clock, no environment, no hash order.
//!
//! Deliberately absent: files, terminals and their detection. The caller says whether colour
//! and Unicode are wanted ([`Style`]).

mod analysis;
mod axis;
mod calibration;
mod call;
mod chart;
mod comparison;
mod curve;
mod experiment;
mod flow;
mod grid;
mod naming;
mod number;
mod page;
mod plot;
mod prediction;
mod report;
mod simulation;
mod style;
mod system;
mod tuner;
mod validation;

pub use analysis::{
    analysis_csv, analysis_html, analysis_json, analysis_markdown, analysis_svg, analysis_table,
};
pub use calibration::{
    CalibrationReport, PlanReport, SetAside, calibration_csv, calibration_json,
    calibration_markdown, calibration_table, plan_json, plan_table,
};
pub use call::{AlgorithmChoice, ProtocolChoice, Refusal};
pub use comparison::{
    ComparedSeries, ComparisonReport, comparison_csv, comparison_html, comparison_json,
    comparison_markdown, comparison_svg, comparison_table,
};
pub use experiment::{
    experiment_svg, experiments_csv, experiments_html, experiments_json, experiments_markdown,
    experiments_table,
};
pub use plot::terminal_plot;
pub use prediction::{
    PredictedCall, PredictionReport, prediction_csv, prediction_json, prediction_markdown,
    prediction_svg, prediction_table,
};
pub use report::{AnalysisReport, InputReport, RunReport, SeriesReport, Status};
pub use simulation::{
    BesideCall, BesideTime, CallStatistics, LinkStatistics, RankStatistics, Sensitivity,
    SimulatedCall, SimulationReport, StoppedCall, Trace, bandwidths, simulation_csv,
    simulation_json, simulation_markdown, simulation_svg, simulation_table, statistics_csv,
    trace_json,
};
pub use style::{Charset, Color, Detail, Style};
pub use system::{
    ListedSystem, SystemReport, system_csv, system_json, system_markdown, system_table,
    systems_csv, systems_json, systems_markdown, systems_table,
};
pub use tuner::{
    AuditReport, AuditedCall, AuditedRun, ConfigReport, DiffReport, DiffSide, ExplainedCandidate,
    LintReport, LintedFile, TableCell, TunerChoices, TunerExplanation, TunerSubject, TunerView,
    WeighedCall, audit_csv, audit_json, audit_markdown, audit_table, config_csv, config_json,
    config_markdown, config_table, diff_csv, diff_json, diff_markdown, diff_table, lint_csv,
    lint_json, lint_markdown, lint_table, tuner_choices_csv, tuner_choices_json,
    tuner_choices_markdown, tuner_choices_table, tuner_explanation_csv, tuner_explanation_json,
    tuner_explanation_markdown, tuner_explanation_table, verify_csv, verify_json, verify_markdown,
    verify_table,
};
pub use validation::{validation_csv, validation_json, validation_markdown, validation_table};
