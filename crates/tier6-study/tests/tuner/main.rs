//! NCCL's tuner against measurements, on published and on made-up sweeps.

mod audit;
mod config;
mod diff;
mod never_panics;
mod sweeps;
