//! The event kernel: an agenda of events in integer picoseconds, limits on a run, seeded random
//! numbers. It knows no network.

mod agenda;

pub use agenda::Agenda;
