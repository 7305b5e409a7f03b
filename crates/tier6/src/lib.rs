//! The use cases of tier6 as functions.
//!
//! Everything below this crate is pure: bytes and values in, values and text out. This is the
//! only library that opens files, reads a clock or starts threads; the doors above it (the
//! command line today) parse arguments, call one function of this crate, and show its result.

mod analyze;
mod bundled;
mod calibrate;
mod compare;
mod convert;
mod demo;
mod error;
mod experiment;
mod input;
mod output;
mod predict;
mod progress;
mod render;
mod simulate;
mod systems;
mod text;
mod tuner;
mod validate;
mod variant;

pub use analyze::{AnalyzeRequest, Analyzed, analyze};
pub use calibrate::{
    CalibrateRequest, PlanRequest, calibrate, parse_algorithm, parse_method, parse_protocol,
    plan_sizes, render_calibration, render_plan,
};
pub use compare::{CompareRequest, compare, comparison_exit, render_comparison};
pub use convert::{ConvertForm, Converted, convert};
pub use demo::{Demo, demo, render_demo};
pub use error::{Error, Exit};
pub use experiment::{
    experiments_exit, load_experiments, render_experiments, run_experiment, write_experiments,
};
pub use input::keep_inputs;
pub use output::{make_folder, write_file};
pub use predict::{
    PredictRequest, parse_algorithms, parse_collective, parse_protocols, predict, render_prediction,
};
pub use progress::{NoProgress, Progress};
pub use render::{Form, render_analysis};
pub use simulate::{
    SimulateRequest, Simulated, SimulatedWork, render_simulation, render_statistics, render_trace,
    simulate, simulation_exit,
};
pub use systems::{list_systems, render_system, render_systems, show_system};
pub use tuner::{
    AuditRequest, CommunicatorInput, ConfigRequest, DiffRequest, LintRequest, Repair, Tuner,
    TunerCall, TunerRequest, audit, audit_exit, choices_exit, diff_tuners, explain_choice,
    lint_exit, lint_files, load_tuner, make_config, parse_variable, render_audit, render_choices,
    render_config, render_diff, render_explanation, render_lint, render_verification,
    verification_exit, verify_folder, weigh,
};
pub use validate::{ValidateRequest, parse_engine, render_validation, validate, validation_exit};
pub use variant::Variant;

pub use tier6_collective::{Collective, DataType, Grain, Handshake, RedOp};
pub use tier6_fit::{AnalysisOptions, CompareOptions, Loss};
pub use tier6_g5::{Fidelity, Recording};
pub use tier6_measure::{Dialect, Placement, ReadOptions};
pub use tier6_nccl::{
    Cpu, CpuArch, CpuVendor, Dialect as TunerDialect, LibraryVersion, Machine, NcclCollective,
    Release as NcclRelease, system_names,
};
pub use tier6_report::{
    AlgorithmChoice, Charset, Color, Detail, ProtocolChoice, StoppedCall, Style, TunerView,
};
pub use tier6_study::{Engine, Holdout, Ll128, ValidationReport};
pub use tier6_units::{Bytes, SizeRange};

use input::Input;
