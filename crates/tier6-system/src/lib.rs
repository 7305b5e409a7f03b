//! Systems of chips, links and switches: described in TOML as written ([`SystemSpec`]),
//! resolved to what is meant ([`Topology`]), with presets for public machines.
//!
//! ```
//! use tier6_system::{ChipId, preset};
//!
//! let spec = preset("h100-x8-ib-ndr").unwrap().with_outer_count(4);
//! let topology = spec.resolve().unwrap();
//! assert_eq!(topology.n_chips(), 32);
//! assert_eq!(topology.injection_rate(ChipId::new(0)).get(), 450.0);
//! assert_eq!(topology.network_rate(ChipId::new(0)).unwrap().get(), 50.0);
//! ```
//!
//! Rates are per direction, in decimal GB/s; latencies are one way. Every constant may carry
//! its origin ([`Provenance`]), and what is only believed says so ([`Evidence::Assumed`]).
//!
//! Deliberately absent: time. What a schedule costs on a topology is the engines' business.

mod catalog;
mod constant;
mod error;
mod fabric;
mod place;
mod preset;
mod resolve;
mod spec;
mod suggest;
mod topology;

pub use catalog::{Catalog, catalog};
pub use constant::{Constant, Efficiency, Evidence, Provenance};
pub use error::{SystemError, SystemProblem};
pub use place::{Place, Spelled};
pub use preset::{Preset, UnknownPresetError, preset, presets};
pub use spec::{
    Attach, ChipSpec, Direction, DragonflySpec, EdgeSpec, FabricSpec, FatTreeSpec, LinkSpec,
    NicSpec, NvlsSpec, PcieTreeSpec, ProtocolSteps, SharpSpec, SoftwareSpec, StepSpec,
    SwitchAbility, SwitchSpec, SystemSpec, TierSpec, VertexSpec, Wiring,
};
pub use topology::{
    Chip, ChipId, ConstantDescription, Constants, Link, LinkClass, LinkClassId, LinkDescription,
    LinkId, Nic, NicId, Node, NodeId, Port, PortId, RouteTree, Switch, SwitchClass, SwitchClassId,
    SwitchDescription, SwitchId, SystemDescription, Tier, TierDescription, Topology, Vertex,
    VertexId,
};
