//! G5: the event-driven, instruction-level engine of the interconnect.
//!
//! A [`Schedule`](tier6_collective::Schedule) runs on chips that execute instructions (`chip`),
//! over a network of one of two fidelities behind one interface ([`network::Network`]): `flow`
//! shares links max-min fairly, `packet` moves every segment through queues, credits, loss and
//! congestion control. Each layer can be turned off ([`G5Parameters::ideal`]), and then a run
//! equals the closed form.
//!
//! Time is integer picoseconds. A run is a function of its inputs and a seed: no clock, no I/O,
//! no order of a hash map.

mod account;
mod cdma;
mod chip;
mod circle;
pub mod congestion;
mod fabric;
mod fault;
mod fidelity;
mod flow;
pub mod network;
mod packet;
mod parameters;
pub mod paxi;
mod platform;
mod program;
pub mod rc_link;
mod result;
mod run;
pub mod switch;
mod timeline;

pub use fabric::{
    Fabric, FabricError, FabricLink, FabricLinkId, LinkOf, Path, PathRequest, TreePath, Use,
};
pub use fault::Fault;
pub use fidelity::Fidelity;
pub use flow::{EndGroup, FlowEvent, FlowNetwork, Passed};
pub use packet::{PacketEvent, PacketNetwork};
pub use parameters::{
    AckMerge, Arbiter, Cdma, CdmaSplit, Channels, Class, CreditScope, Credits, Dcqcn, Ecn,
    EcnCurve, G5Parameters, Headers, Memory, ParameterError, PathChoice, Paxi, Pfc, RateControl,
    RcLink, Recovery, SwitchQueue, TargetClamp,
};
pub use platform::moved;
pub use program::{
    Action, Dependency, ExchangeOrder, ExchangeProgram, Instruction, Lowered, Needs, Program,
    ProgramError, Purpose, Relabelled, RingPace, RingProgram, Switches, instructions,
};
pub use result::{
    Bottleneck, ChipAccount, LinkAccount, Parts, PathStep, RunResult, RunStop, SoFar, StopReason,
    Wait,
};
pub use run::{Call, Headway, Job, Recording, RunError, RunOptions, SetupError, run, run_watched};
pub use timeline::{Span, Timeline, Track};
