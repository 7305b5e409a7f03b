//! What people and programs read, as snapshots and as rules that hold for any input.

mod comparison;
mod formats;
mod measured;
mod safety;
mod scan;
