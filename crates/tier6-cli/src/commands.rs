//! One file per command: from arguments to a request, from the answer to text.

pub mod analyze;
pub mod calibrate;
pub mod compare;
pub mod convert;
pub mod demo;
pub mod experiment;
pub mod pages;
pub mod predict;
pub mod simulate;
pub mod systems;
pub mod tuner;
pub mod validate;
