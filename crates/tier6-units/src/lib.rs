//! Quantities of collective communication as types: message sizes in bytes, times in
//! microseconds, rates in decimal gigabytes per second.
//!
//! A number without a unit is how a factor of 1.07 (GiB against GB) or of 8 (bits against
//! bytes) gets lost. Here a constructor names its unit, every printed value carries it, and
//! there is no `From<f64>`.
//!
//! Deliberately absent: simulation time in integer picoseconds, which comes with the
//! event-driven engine.

mod bytes;
mod rate;
mod size_range;
mod time;

pub use bytes::{Bytes, ParseBytesError};
pub use rate::{GbPerSec, ParseGbPerSecError};
pub use size_range::{ParseSizeRangeError, SizeRange};
pub use time::{Micros, ParseMicrosError};
