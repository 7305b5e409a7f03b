//! Whole collectives at `flow` fidelity against closed forms and against what others publish.

#[path = "flow/harness.rs"]
mod harness;

#[path = "flow/contention.rs"]
mod contention;
#[path = "flow/in_switch.rs"]
mod in_switch;
#[path = "flow/peers.rs"]
mod peers;
