//! The transaction layer (PAXI): messages as segments, requests that await a response (FACTS A.2,
//! A.4).
//!
//! State machines without I/O. What the layer adds to a path is [`crate::Paxi::latency`], both
//! ends together: a burst is buffered whole and sent as one frame, so nothing of it overlaps with
//! the bus. The buses themselves are not modelled.
//!
//! Law: P requests of L bytes carry min(B, P·L/T), T from sending a request to its response.
//!
//! Requests, responses and multicasts are classes of traffic, which may have virtual channels of
//! their own on every link ([`crate::Channels`]); [`Turns`] chooses among them at a port.

mod class;
mod outstanding;
mod segments;

pub(crate) use class::CLASSES;
pub use class::Turns;
pub use outstanding::Outstanding;
pub use segments::Segments;
