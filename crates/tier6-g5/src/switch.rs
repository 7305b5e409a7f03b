//! What a switch decides about a packet: whether there is room, whether to pause the neighbour,
//! whether to mark, which of several equal paths (FACTS D.2, D.4).
//!
//! State machines without I/O. Chance comes in as a number drawn by the caller, or as a hash of
//! the seed, so that equal seeds give equal runs.
//!
//! Laws that they keep: K queues that always want more hold αB/(1+Kα) each of a buffer of B;
//! [`Pfc::headroom_for`](crate::Pfc::headroom_for) bytes of headroom lose nothing, whatever the
//! neighbour has in flight; flows hashed onto paths load the fullest of them as balls in bins.

mod buffer;
mod mark;
mod path;

pub use buffer::{Arrival, PauseSignal, SwitchBuffer};
pub use path::PathChooser;
