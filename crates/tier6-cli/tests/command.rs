//! Whole commands: exit code, standard output, standard error.

#[path = "command/harness.rs"]
mod harness;

#[path = "command/bad_input.rs"]
mod bad_input;
#[path = "command/calibrate.rs"]
mod calibrate;
#[path = "command/documents.rs"]
mod documents;
#[path = "command/experiment.rs"]
mod experiment;
#[path = "command/grain.rs"]
mod grain;
#[path = "command/places.rs"]
mod places;
#[path = "command/predict.rs"]
mod predict;
#[path = "command/simulate.rs"]
mod simulate;
#[path = "command/simulate_auto.rs"]
mod simulate_auto;
#[path = "command/simulate_beside.rs"]
mod simulate_beside;
#[path = "command/simulate_deadlock.rs"]
mod simulate_deadlock;
#[path = "command/simulate_hints.rs"]
mod simulate_hints;
#[path = "command/simulate_layout.rs"]
mod simulate_layout;
#[path = "command/simulate_stops.rs"]
mod simulate_stops;
#[path = "command/streams.rs"]
mod streams;
#[path = "command/substance.rs"]
mod substance;
#[path = "command/tuner.rs"]
mod tuner;
#[path = "command/tuner_files.rs"]
mod tuner_files;
#[path = "command/validate.rs"]
mod validate;
#[path = "command/verbs.rs"]
mod verbs;
