//! Schedules: every builder against the checker, costs and contention against FACTS B.1 and B.4,
//! the checker against broken schedules, and the readers.

#[path = "schedule/cases.rs"]
mod cases;
#[path = "schedule/contention.rs"]
mod contention;
#[path = "schedule/costs.rs"]
mod costs;
#[path = "schedule/errors.rs"]
mod errors;
#[path = "schedule/forwarding.rs"]
mod forwarding;
#[path = "schedule/json.rs"]
mod json;
#[path = "schedule/msccl.rs"]
mod msccl;
#[path = "schedule/mutations.rs"]
mod mutations;
#[path = "schedule/results.rs"]
mod results;
#[path = "schedule/script.rs"]
mod script;
#[path = "schedule/short_side.rs"]
mod short_side;
