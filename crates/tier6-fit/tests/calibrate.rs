//! Calibration on made-up and on published measurements.

#[path = "calibrate/step_methods.rs"]
mod step_methods;
