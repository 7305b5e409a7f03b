//! A system as written: the meaning of a TOML file, names not yet looked up.
//!
//! A system is a stack of tiers. The first joins chips into a node, each further one joins what
//! the tier below made, through NICs. Link and switch classes may come from the file or from
//! the bundled catalog. Deliberately absent: groups that contain each other by name; tiers are
//! a list, so they cannot contain themselves.

mod fabric;
pub(crate) mod g5;
mod protocol;
mod ramp;
mod read;
mod write;

pub use fabric::{
    CrossRail, Direction, DragonflySpec, EdgeSpec, FabricSpec, FatTreeSpec, PcieTreeSpec,
    VertexSpec, Wiring,
};
pub use g5::G5Spec;
pub(crate) use protocol::shares_or_priors;
pub use protocol::{ByProtocol, ProtocolShares, ProtocolSteps};
pub use ramp::Ramp;
pub(crate) use read::COUNT_MAX;

use crate::catalog;
use crate::constant::{Constant, Efficiency};
use crate::place::{Place, Spelled};
use tier6_units::{Bytes, GbPerSec, Micros};

/// A system as written.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSpec {
    /// The name.
    pub name: String,
    /// One line on what it is.
    pub title: Option<String>,
    /// The chips, all alike.
    pub chip: ChipSpec,
    /// What every call costs before a link is used.
    pub software: SoftwareSpec,
    /// `NVSwitch` reduction and multicast as a collective sees them (FACTS B.6).
    pub nvls: Option<NvlsSpec>,
    /// Reduction in the network's switches as a collective sees it (FACTS B.7).
    pub sharp: Option<SharpSpec>,
    /// What the event-driven engine does at its layers, where it is not the engine's own prior.
    pub g5: Option<G5Spec>,
    /// Link classes of this file, by name; the catalog has more.
    pub links: Vec<LinkSpec>,
    /// Switch classes of this file, by name; the catalog has more.
    pub switches: Vec<SwitchSpec>,
    /// The tiers, from the chips outwards; at least one.
    pub tiers: Vec<TierSpec>,
}

/// The chips.
#[derive(Debug, Clone, PartialEq)]
pub struct ChipSpec {
    /// Product name.
    pub name: String,
    /// Lanes that the first tier may use; `None` for no limit.
    pub lanes: Option<u32>,
    /// Chips of a host, where the first tier joins several hosts (a rack of trays); `None` where
    /// what it joins is one host. Benchmarks count hosts as nodes.
    pub per_host: Option<u32>,
    /// Rate of the chip's memory.
    pub memory_rate: Option<Constant<GbPerSec>>,
    /// Rate at which the chip reduces bytes that arrive (1/γ).
    pub reduce_rate: Option<Constant<GbPerSec>>,
    /// Parts of a step for method A of the calibration.
    pub step: Option<StepSpec>,
}

/// Parts of a step: α = 2·c2c + memory read + memory write + `NoC` + 2·die-to-die (source
/// document 001, method A).
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are the terms of the formula")]
pub struct StepSpec {
    pub chip_to_chip: Constant<Micros>,
    pub memory_read: Constant<Micros>,
    pub memory_write: Constant<Micros>,
    pub noc: Constant<Micros>,
    pub die_to_die: Constant<Micros>,
}

/// What software adds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SoftwareSpec {
    /// Fixed time of a call, `T_sw`; `None` lets [`SystemSpec::resolve`] assume one.
    pub call: Option<Constant<Micros>>,
    /// Bytes that a rank of a ring forwards at a time, by protocol; `None` for whole messages
    /// (FACTS B.2).
    pub grain: ByProtocol<Option<Bytes>>,
    /// Channels that a message of rings and trees takes, by protocol; `None` when every message
    /// has all of them.
    pub ramp: ByProtocol<Option<Constant<Ramp>>>,
}

/// Constants of T = α + M(1 + 1/N)/rate.
#[derive(Debug, Clone, PartialEq)]
pub struct NvlsSpec {
    /// `B_nvls`, per chip and direction.
    pub rate: Constant<GbPerSec>,
    /// α of a call.
    pub alpha: Option<Constant<Micros>>,
}

/// Constants of T = α + M/(R·`B_nic`).
#[derive(Debug, Clone, PartialEq)]
pub struct SharpSpec {
    /// α of a call.
    pub alpha: Constant<Micros>,
    /// Share of the NICs' payload rate that aggregation reaches.
    pub efficiency: Option<Constant<Efficiency>>,
    /// Aggregations that a switch can hold at a time.
    pub contexts: Option<u32>,
}

/// A class of links. What is not given comes from the class it is `like`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// The name that tiers use.
    pub name: Spelled<String>,
    /// Another class, of this file or the catalog, that fills the gaps.
    pub like: Option<Spelled<String>>,
    /// Wire rate per lane and direction.
    pub rate: Option<Constant<GbPerSec>>,
    /// One traversal, both ends included, no software.
    pub latency: Option<Constant<Micros>>,
    /// Share of the wire rate that large transfers reach.
    pub efficiency: Option<Constant<Efficiency>>,
    /// Time of a ring step by protocol, as NCCL's model has it.
    pub step: Option<ProtocolSteps>,
    /// What a protocol's payload reaches of the rate times the efficiency.
    pub share: Option<ProtocolShares>,
    /// Largest payload of a packet.
    pub mtu: Option<Bytes>,
}

/// A class of switches.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchSpec {
    /// The name that tiers use.
    pub name: Spelled<String>,
    /// Lanes that one switch can take; `None` for no limit.
    pub ports: Option<u32>,
    /// Port to port, unloaded.
    pub latency: Constant<Micros>,
    /// What it does beside forwarding, sorted.
    pub abilities: Vec<SwitchAbility>,
}

/// What a switch does beside forwarding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SwitchAbility {
    /// Copies a packet to several ports.
    Multicast,
    /// Reduces the data of several ports.
    Reduction,
}

impl SwitchAbility {
    /// Every ability.
    pub const ALL: [Self; 2] = [Self::Multicast, Self::Reduction];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Multicast => "multicast",
            Self::Reduction => "reduction",
        }
    }
}

/// One level of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct TierSpec {
    /// The name: `node`, `network`.
    pub name: Spelled<String>,
    /// Chips of a node in the first tier, then groups of the tier below.
    pub count: Spelled<u32>,
    /// How they are joined.
    pub fabric: FabricSpec,
    /// Class of the links.
    pub link: Spelled<String>,
    /// Parallel lanes of each cable.
    pub lanes: u32,
    /// How a group reaches this tier; `None` in the first, required in the others.
    pub nics: Option<NicSpec>,
}

/// The NICs of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct NicSpec {
    /// NICs per group; NIC r is on rail r.
    pub count: Spelled<u32>,
    /// Class of the link between chip and NIC.
    pub host_link: Spelled<String>,
    /// Where the NIC is plugged in.
    pub attach: Attach,
}

/// Where a NIC is plugged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attach {
    /// At its chips.
    Chip,
    /// At the switch or root complex behind its first chip.
    Host,
}

impl StepSpec {
    /// Returns α of a step by method A: 2·c2c + memory read + memory write + `NoC` +
    /// 2·die-to-die.
    ///
    /// ```
    /// let h200 = tier6_system::preset("h200-x8").unwrap().resolve().unwrap();
    /// assert!((h200.constants().step.alpha().get() - 0.59).abs() < 1e-12);
    /// ```
    pub fn alpha(&self) -> Micros {
        let us = |part: &Constant<Micros>| part.value.get();
        Micros::new(
            2.0 * us(&self.chip_to_chip)
                + us(&self.memory_read)
                + us(&self.memory_write)
                + us(&self.noc)
                + 2.0 * us(&self.die_to_die),
        )
    }
}

impl TierSpec {
    /// Where the tier is named, for errors about the whole of it.
    pub(crate) fn place(&self) -> Option<Place> {
        self.name.place
    }
}

impl SystemSpec {
    /// Describes chips on one fabric with links of the class `link`: the shape that tests and
    /// experiments start from. The class is named `link`, has efficiency 1, and one lane.
    ///
    /// ```
    /// use tier6_system::{FabricSpec, SystemSpec};
    /// use tier6_units::{GbPerSec, Micros};
    /// let spec = SystemSpec::uniform(8, FabricSpec::ring(), GbPerSec::new(450.0), Micros::new(0.5));
    /// assert_eq!(spec.resolve().unwrap().n_chips(), 8);
    /// ```
    pub fn uniform(n_chips: u32, fabric: FabricSpec, rate: GbPerSec, latency: Micros) -> Self {
        Self {
            name: format!("{}-{n_chips}", fabric.name()),
            title: None,
            chip: ChipSpec {
                name: "chip".to_owned(),
                lanes: None,
                per_host: None,
                memory_rate: None,
                reduce_rate: None,
                step: None,
            },
            software: SoftwareSpec::default(),
            nvls: None,
            sharp: None,
            g5: None,
            links: vec![LinkSpec {
                name: "link".into(),
                like: None,
                rate: Some(Constant::stated(rate)),
                latency: Some(Constant::stated(latency)),
                efficiency: Some(Constant::stated(Efficiency::FULL)),
                step: None,
                share: None,
                mtu: None,
            }],
            switches: vec![SwitchSpec {
                name: fabric::UNIFORM_SWITCH.into(),
                ports: None,
                latency: Constant::stated(Micros::new(0.0)),
                abilities: Vec::new(),
            }],
            tiers: vec![TierSpec {
                name: "node".into(),
                count: n_chips.into(),
                fabric,
                link: "link".into(),
                lanes: 1,
                nics: None,
            }],
        }
    }

    /// Returns the system with another count in its outermost tier: nodes of a multi-node
    /// system, chips of a single node.
    pub fn with_outer_count(mut self, count: u32) -> Self {
        if let Some(tier) = self.tiers.last_mut() {
            tier.count.value = count;
        }
        self
    }

    /// Returns the nodes, in the meaning of this system, of a run that a benchmark counts on
    /// `hosts` hosts: where the first tier joins several hosts, those that share one are one node.
    pub fn nodes_of_hosts(&self, hosts: u32) -> u32 {
        let per_node = self.tiers.first().map_or(1, |tier| tier.count.value);
        match self.chip.per_host {
            Some(per_host) => hosts
                .saturating_mul(per_host)
                .div_ceil(per_node.max(1))
                .max(1),
            None => hosts,
        }
    }

    /// Returns whether a tier joins nodes, so that their number can be chosen.
    pub fn is_multi_node(&self) -> bool {
        self.tiers.len() > 1
    }

    /// Returns this file's class of the name to write to, adding one that is `like` the
    /// catalog's when the file has none; `None` when neither knows the name.
    ///
    /// Calibration writes fitted constants through this.
    pub fn link_mut(&mut self, name: &str) -> Option<&mut LinkSpec> {
        let known = |links: &[LinkSpec]| links.iter().position(|link| link.name.value == name);
        let at = if let Some(at) = known(&self.links) {
            at
        } else {
            known(&catalog().links)?;
            self.links.push(LinkSpec {
                name: name.into(),
                like: Some(name.into()),
                rate: None,
                latency: None,
                efficiency: None,
                step: None,
                share: None,
                mtu: None,
            });
            self.links.len() - 1
        };
        self.links.get_mut(at)
    }
}

/// The fixed time of a call when a system does not say: between the floors of source document
/// 003, 19 us on A100 and 22 us on H200.
pub(crate) fn assumed_call() -> Constant<Micros> {
    let source = "prior: floors of 19 us (A100) and 22 us (H200) in [S3]";
    Constant::assumed(Micros::new(20.0), source)
}

/// The parts of a step when a system does not say: 0.59 us together (FACTS A.2).
pub(crate) fn assumed_step() -> StepSpec {
    let part = |us| Constant::assumed(Micros::new(us), "prior: method A's example, 0.59 us a step");
    StepSpec {
        chip_to_chip: part(0.15),
        memory_read: part(0.15),
        memory_write: part(0.01),
        noc: part(0.05),
        die_to_die: part(0.04),
    }
}
