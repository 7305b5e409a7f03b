//! Calibration on made-up and on published measurements.

#[path = "calibrate/least_squares.rs"]
mod least_squares;
#[path = "calibrate/published.rs"]
mod published;
#[path = "calibrate/step_methods.rs"]
mod step_methods;
