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
//! # A system file
//!
//! ```toml
//! name = "two nodes"                  # and `title`
//! [chip]                              # name, lanes, memory_rate, reduce_rate, [chip.step]
//! name = "toy"
//! [software]                          # call: fixed time of a call; grain: bytes that a ring
//! call = "20 us"                      # forwards at a time, whole messages when not given
//! grain = { ll = "1 KiB" }
//! ramp = { simple = "4 x 32 KiB" }    # small messages have fewer channels: one per 32 KiB up to 4
//! [nvls]                              # rate, alpha; needs switches that multicast and reduce
//! [sharp]                             # alpha, efficiency, contexts; needs switches that reduce
//! [g5.cdma]                           # layers of the event-driven engine, see below
//! rate = "441 GB/s"
//! [links.wire]                        # like, rate, latency, efficiency, mtu
//! rate = "400 Gb/s"
//! latency = { value = "0.6 us", evidence = "fitted", datasets = ["a"], method = "fit" }
//! efficiency = 0.9
//! step = { ll = "0.6 us", simple = "3.4 us" }     # of NCCL's protocols: ll, ll128, simple;
//! share = { ll = 0.5 }                            # of the efficiency; 0.5, 0.92, 1 when not given
//! [switches.hub]                      # ports, latency, abilities
//! latency = "300 ns"
//! [[tier]]                            # chips to a node
//! name = "node"
//! count = 8
//! fabric = "crossbar"
//! link = "wire"                       # of this file or the catalog
//! lanes = 4
//! switch = "hub"
//! [[tier]]                            # nodes to a cluster
//! name = "network"
//! count = 2
//! nics = 8                            # per node; host_link, attach = "chip" | "host"
//! host_link = "pcie5-x16"
//! link = "ib-ndr"
//! fabric = "fat_tree"
//! switch = "ib-ndr-switch"
//! wiring = "by_rail"
//! ```
//!
//! | fabric | its keys |
//! |---|---|
//! | `ring` | `orders` for several rings |
//! | `full_mesh` | |
//! | `torus` | `dims` |
//! | `crossbar` | `switch`, `planes` |
//! | `fat_tree` | `switch`, `spine`, `down`, `spines`, `oversubscription`, `wiring` = `by_node` or `by_rail`, `cross_rail` = `spine` or `chip` |
//! | `dragonfly` | `switch`, `routers`, `endpoints`, `global`, `local_link`, `global_link` |
//! | `pcie_tree` | `root`, `sockets`, `socket_link`, `switch`, `per_switch` |
//! | `graph` | `vertices`, `edges` |
//!
//! `[g5]` holds what the event-driven engine does at its layers. What is not given is the engine's
//! prior, a table with `enabled = false` turns its layer off, `[g5]` with it all of them.
//!
//! | table | its keys beside `enabled` |
//! |---|---|
//! | `[g5.cdma]` | `units`, `threads`, `split` = a size or `"all"`, `credits`, `start`, `sync`, `rate` |
//! | `[g5.memory]` | `reduce`, `copy`: rates |
//! | `[g5.paxi]` | `latency`, `segment`, `outstanding` |
//! | `[g5.rc_link]` | `overhead`, `headers` = `ip` or `compressed`, `sequence_bits`, `window`, `recovery` = `go_back_n` or `selective` (with `reorder`), `ack_merge` = a time or `"never"`, `ack`, `timeout`, `retries`, `loss`; `credits` with `unit`, `count`, `period`, `scope` = `per_link` or `end_to_end` |
//! | `[g5.ll]`, `[g5.ll128]` | `sync`, `share`: messages of these protocols; the rest is Simple's |
//! | `[g5.switch]` | `buffer`, `threshold`; `pfc` with `reserve`, `resume`, `headroom`; `ecn` with `k_min`, `k_max`, `p_max` |
//! | `[g5.paths]` | `choice` = `preferred`, `per_flow`, `sub_flows` (with `flows`), `spray` or `round_robin`; no `enabled` |
//! | `[g5.dcqcn]` | `preset` = `sigcomm15`, `nvidia`, `hpcc`, `hpcc_code` or `simai`, `g`, `alpha_period`, `initial_alpha`, `cut_interval`, `cnp_interval`, `timer`, `byte_counter` = a size or `"none"`, `fast_recovery`, `additive`, `hyper`, `min_rate`, `budget`; off without its table |
//!
//! A constant is a value, or a table of `value`, `low`, `high`, `evidence`, `source`, `datasets`,
//! `bytes`, `method`, `error_pct`.
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
pub use place::{Place, Spelled, place_of_key};
pub use preset::{Preset, UnknownPresetError, preset, presets};
pub use spec::g5::{
    AckMergeSpec, ArbiterSpec, ByteCounterSpec, CdmaSpec, ChannelsSpec, CreditScopeSpec,
    CreditsSpec, DcqcnPreset, DcqcnSpec, EcnSpec, G5Spec, HeadersSpec, LayerState, MemorySpec,
    MessageSpec, PathRule, PaxiSpec, PfcSpec, QueueSpec, RcLinkSpec, RecoverySpec, SplitSpec,
};
pub use spec::{
    Attach, ByProtocol, ChipSpec, CrossRail, Direction, DragonflySpec, EdgeSpec, FabricSpec,
    FatTreeSpec, LinkSpec, NicSpec, NvlsSpec, PcieTreeSpec, ProtocolShares, ProtocolSteps, Ramp,
    SharpSpec, SoftwareSpec, StepSpec, SwitchAbility, SwitchSpec, SystemSpec, TierSpec, VertexSpec,
    Wiring,
};
pub use suggest::nearest;
pub use topology::{
    Chip, ChipId, ConstantDescription, Constants, Link, LinkClass, LinkClassId, LinkDescription,
    LinkId, Nic, NicId, Node, NodeId, Port, PortId, RouteTree, Switch, SwitchClass, SwitchClassId,
    SwitchDescription, SwitchId, SwitchTree, SystemDescription, Tier, TierDescription, Topology,
    Vertex, VertexId,
};
