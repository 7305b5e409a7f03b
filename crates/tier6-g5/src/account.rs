//! Where the time went: chains of causes, what chips did, what limited the run.

mod bound;
mod chain;
mod clock;
mod conclude;

pub(crate) use chain::{Chain, Nominal, PathLog, Step, StepId};
pub(crate) use clock::{Clock, Doing};
pub(crate) use conclude::{Ended, conclude};
