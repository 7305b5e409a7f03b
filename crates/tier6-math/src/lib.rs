//! The Math engine: what a collective costs on a described system, in closed form.
//!
//! Three things are kept apart. [`law`] holds the textbook costs of FACTS B on a network where
//! nobody shares a link, each with its domain. [`LinkLoads`] says what a schedule puts on the
//! links of any graph, step by step and all together. A [`Plan`] joins them for one call on one
//! [`Topology`](tier6_system::Topology): latency from the routes, the bandwidth term from the
//! loads, reduction in switches by its own law; it prices a size without allocating.
//! [`MathEngine`] predicts and ranks, and [`lower_bound`] is what no prediction may undercut;
//! [`oddities`] holds other people's times to the same rules.
//!
//! What a plan knows of constants is in its [`Prices`]: the call, steps by tier, payload shares by
//! link class, in-switch reduction. NCCL's protocols are such prices, and calibration makes others:
//! [`Plan::at`] prices a call again without looking at a route, and [`Plan::terms`] says how much
//! of each price a message needs, which is the derivative of its time.
//!
//! Times are in microseconds, rates in decimal GB/s per direction, sizes in nccl-tests' meaning.
//!
//! Deliberately absent: queues, loss, congestion control and link states, which are the
//! event-driven engine's; and fitting, which is calibration's.

mod bounds;
mod channels;
mod engine;
pub mod law;
mod loads;
mod pace;
mod parameters;
mod parts;
mod plan;
mod prediction;
mod sanity;
mod step_cost;
mod traffic;

pub use bounds::{Adder, Bound, all_to_all_cut, lower_bound};
pub use channels::{chain_orders, ring_orders};
pub use engine::{MathEngine, Ranking};
pub use loads::{ClassLoad, LinkLoad, LinkLoads, NoSwitchError, StepLoad, TierFlight};
pub use parameters::{Channels, Parameters, Pieces, Placement, Sharp, Spread};
pub use parts::Parts;
pub use plan::{Bottleneck, Plan, PlanError, Planner, Prices, StepPrices, Terms};
pub use prediction::{Basis, LinkBytes, Prediction};
pub use sanity::{Oddity, against_its_halves, oddities, over_ranks};
pub use step_cost::{StepCost, method_a, method_b};
