//! The event kernel: an agenda of events in integer picoseconds, limits on a run, seeded random
//! numbers. It knows no network.

mod agenda;
mod limits;
mod random;

pub use agenda::Agenda;
pub use limits::{LimitReached, Limits};
pub use random::Random;
