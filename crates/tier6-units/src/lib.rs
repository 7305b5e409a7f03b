//! Quantities of collective communication as types: message sizes in bytes, times in
//! microseconds, rates in decimal gigabytes per second.
//!
//! A number without a unit is how a factor of 1.07 (GiB against GB) or of 8 (bits against
//! bytes) gets lost. Here a constructor names its unit, every printed value carries it, and
//! there is no `From<f64>`. Measured and predicted times are [`Micros`]; the event-driven engine
//! counts integer picoseconds, [`SimTime`].

mod bytes;
mod rate;
mod sim_time;
mod size_range;
mod time;

pub use bytes::{Bytes, ParseBytesError};
pub use rate::{GbPerSec, ParseGbPerSecError};
pub use sim_time::{ByteTime, SimTime};
pub use size_range::{ParseSizeRangeError, SizeRange};
pub use time::{Micros, ParseMicrosError};
