//! The transaction layer (PAXI): messages as segments, requests that await a response, classes
//! that share a link (FACTS A.2, A.4).
//!
//! State machines without I/O. What the layer adds to a path is [`crate::Paxi::latency`], both
//! ends together: a burst is buffered whole and sent as one frame, so nothing of it overlaps with
//! the bus. The buses themselves are not modelled.
//!
//! Laws that they keep: P requests of L bytes carry min(B, P·L/T), T from sending a request to its
//! response; waiting classes share a link by their weights, and a class alone has all of it.

mod arbiter;
mod buffer;
mod outstanding;
mod segments;

pub use arbiter::{Arbiter, Class};
pub use buffer::ClassBuffer;
pub use outstanding::Outstanding;
pub use segments::Segments;
