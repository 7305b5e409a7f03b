//! A system as meant: chips, switches, NICs and directed links with numbers, every name looked
//! up, every chip reachable.
//!
//! A cable is two links, one per direction, each with its own [`LinkId`]. A NIC stands between
//! chips and network as two vertices, one that sends and one that receives, so that no route
//! uses it as a bridge between the chips of its node. Routes are computed on demand
//! ([`Topology::routes_to`]); nothing here grows with the square of the chips.

mod cut;
mod describe;
mod id;
mod route;
mod switch_tree;

use crate::constant::{Constant, Efficiency};
use crate::spec::{
    ByProtocol, FabricSpec, G5Spec, NvlsSpec, ProtocolSteps, Ramp, SharpSpec, StepSpec,
    SwitchAbility, SystemSpec,
};
use std::ops::Range;
use tier6_units::{Bytes, GbPerSec, Micros};

pub use describe::{
    ConstantDescription, LinkDescription, SwitchDescription, SystemDescription, TierDescription,
};
pub(crate) use id::count;
pub use id::{
    ChipId, LinkClassId, LinkId, NicId, NodeId, PortId, SwitchClassId, SwitchId, VertexId,
};
pub use route::RouteTree;
pub(crate) use route::link_weight;
pub use switch_tree::SwitchTree;

/// A resolved system.
#[derive(Debug, Clone)]
pub struct Topology {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) constants: Constants,
    pub(crate) link_classes: Vec<LinkClass>,
    pub(crate) switch_classes: Vec<SwitchClass>,
    pub(crate) tiers: Vec<Tier>,
    pub(crate) chips: Vec<Chip>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) nics: Vec<Nic>,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) links: Vec<Link>,
    pub(crate) ports: Vec<Port>,
    /// Links that leave each vertex, in the order in which a route prefers them.
    pub(crate) out: Vec<Vec<LinkId>>,
    pub(crate) into: Vec<Vec<LinkId>>,
    /// What each link adds to the cost of a route, relays apart.
    pub(crate) weights: Vec<u64>,
}

/// What a system costs apart from its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    /// Fixed time of a call, `T_sw`.
    pub call: Constant<Micros>,
    /// Bytes that a rank of a ring forwards at a time, by protocol.
    pub grain: ByProtocol<Option<Bytes>>,
    /// Channels that a message takes, by protocol.
    pub ramp: ByProtocol<Option<Constant<Ramp>>>,
    /// Product name of the chips.
    pub chip: String,
    /// Rate of a chip's memory.
    pub memory_rate: Option<Constant<GbPerSec>>,
    /// Rate at which a chip reduces (1/γ).
    pub reduce_rate: Option<Constant<GbPerSec>>,
    /// Parts of a step, for method A.
    pub step: StepSpec,
    /// In-switch reduction inside a node.
    pub nvls: Option<NvlsSpec>,
    /// In-switch reduction between nodes.
    pub sharp: Option<SharpSpec>,
    /// Layers of the event-driven engine.
    pub g5: Option<G5Spec>,
}

/// A class of links with everything filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClass {
    /// The name.
    pub name: String,
    /// Wire rate per lane and direction.
    pub rate: Constant<GbPerSec>,
    /// One traversal.
    pub latency: Constant<Micros>,
    /// Payload share for large transfers.
    pub efficiency: Constant<Efficiency>,
    /// Step times of NCCL's model.
    pub step: Option<ProtocolSteps>,
    /// Payload shares by protocol, on top of the efficiency.
    pub share: ByProtocol<Constant<Efficiency>>,
    /// Largest payload of a packet.
    pub mtu: Option<Bytes>,
}

/// A class of switches.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchClass {
    /// The name.
    pub name: String,
    /// Lanes one switch can take.
    pub ports: Option<u32>,
    /// Port to port, unloaded.
    pub latency: Constant<Micros>,
    /// What it does beside forwarding.
    pub abilities: Vec<SwitchAbility>,
}

/// One level of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// The name.
    pub name: String,
    /// What each of its fabrics joins: chips, then groups of the tier below.
    pub count: u32,
    /// How.
    pub fabric: FabricSpec,
    /// Class of its links.
    pub link: LinkClassId,
    /// Parallel lanes of the cables to its ends.
    pub lanes: u32,
    /// NICs of a group; 0 in the first tier.
    pub nics_per_group: u32,
}

/// A chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    /// Its node.
    pub node: NodeId,
    /// Its NICs in the second tier, if there is one; shared when a NIC serves several chips.
    pub nics: Vec<NicId>,
    /// Position among the ends of the outermost tier, over which switches spread routes.
    pub(crate) spread_key: u32,
}

/// The chips that the first tier joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its chips, consecutive.
    pub chips: Range<u32>,
    /// Its NICs by rail.
    pub nics: Vec<NicId>,
}

/// A switch, PCIe switch or root complex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Its class.
    pub class: SwitchClassId,
    /// Its name within its fabric: `leaf 3`.
    pub name: String,
    /// Chips it is made of.
    pub planes: u32,
    /// The tier it belongs to.
    pub tier: u32,
    /// Its vertex.
    pub vertex: VertexId,
}

/// A NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// Its rail: its number within its group.
    pub rail: u32,
    /// Chips it serves.
    pub chips: Vec<ChipId>,
    /// Where data leave towards the network.
    pub send: VertexId,
    /// Where data arrive.
    pub receive: VertexId,
    /// The tier that it joins.
    pub tier: u32,
}

/// What a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vertex {
    /// A chip.
    Chip(ChipId),
    /// A switch.
    Switch(SwitchId),
    /// The half of a NIC that sends to the network.
    NicSend(NicId),
    /// The half of a NIC that receives from it.
    NicReceive(NicId),
}

/// One direction of a cable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Where data enter it.
    pub from: VertexId,
    /// Where they leave it.
    pub to: VertexId,
    /// Port of the sender.
    pub from_port: PortId,
    /// Port of the receiver.
    pub to_port: PortId,
    /// Its class.
    pub class: LinkClassId,
    /// Parallel lanes.
    pub lanes: u32,
    /// The tier it belongs to; links between chips and NICs count to the NIC's tier.
    pub tier: u32,
    /// The other direction, if the cable has one.
    pub reverse: Option<LinkId>,
    /// Wire rate of all lanes.
    pub rate: GbPerSec,
    /// Rate times efficiency.
    pub payload_rate: GbPerSec,
    /// One traversal.
    pub latency: Micros,
}

/// One end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// What the cable is plugged into; for a NIC its sending half.
    pub owner: VertexId,
    /// The link that leaves here.
    pub out: Option<LinkId>,
    /// The link that arrives here.
    pub into: Option<LinkId>,
}

impl Topology {
    /// Reads and resolves a system file.
    ///
    /// # Errors
    ///
    /// Fails on the first thing wrong, with its place.
    pub fn from_toml(text: &str) -> Result<Self, crate::SystemError> {
        SystemSpec::from_toml(text)?.resolve()
    }

    /// Returns the name of the system.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the system costs apart from its links.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Returns the number of chips.
    pub fn n_chips(&self) -> u32 {
        id::count(self.chips.len())
    }

    /// Returns the number of nodes.
    pub fn n_nodes(&self) -> u32 {
        id::count(self.nodes.len())
    }

    /// Returns the chips of each node.
    pub fn chips_per_node(&self) -> u32 {
        self.tiers[0].count
    }

    /// Returns the chips, by [`ChipId`].
    pub fn chips(&self) -> &[Chip] {
        &self.chips
    }

    /// Returns the nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the switches, by [`SwitchId`].
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Returns the NICs, by [`NicId`].
    pub fn nics(&self) -> &[Nic] {
        &self.nics
    }

    /// Returns what each vertex is, by [`VertexId`].
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// Returns the links, by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the ports, by [`PortId`].
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns the tiers, from the chips outwards.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// Returns the link classes in use, by [`LinkClassId`].
    pub fn link_classes(&self) -> &[LinkClass] {
        &self.link_classes
    }

    /// Returns the switch classes in use, by [`SwitchClassId`].
    pub fn switch_classes(&self) -> &[SwitchClass] {
        &self.switch_classes
    }

    /// Returns one link.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()]
    }

    /// Returns the class of a link.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn class_of(&self, link: LinkId) -> &LinkClass {
        &self.link_classes[self.link(link).class.index()]
    }

    /// Returns the vertex of a chip.
    pub fn chip_vertex(&self, chip: ChipId) -> VertexId {
        // Chips are the first vertices.
        VertexId::new(chip.get())
    }

    /// Returns the links that leave a vertex, preferred ones first.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn links_from(&self, vertex: VertexId) -> &[LinkId] {
        &self.out[vertex.index()]
    }

    /// Returns the links that arrive at a vertex.
    ///
    /// # Panics
    ///
    /// Panics when the id is of another topology.
    pub fn links_into(&self, vertex: VertexId) -> &[LinkId] {
        &self.into[vertex.index()]
    }

    /// Returns the unloaded time of the head of a message along `route`: all links and the
    /// switches between them.
    pub fn route_latency(&self, route: &[LinkId]) -> Micros {
        let links: f64 = route
            .iter()
            .map(|&link| self.link(link).latency.get())
            .sum();
        let between = route.iter().skip(1).map(|&link| self.link(link).from);
        let switches: f64 = between
            .map(|vertex| self.vertex_latency(vertex).get())
            .sum();
        Micros::new(links + switches)
    }

    /// Returns what it takes to cross a vertex; only switches have a latency of their own.
    pub fn vertex_latency(&self, vertex: VertexId) -> Micros {
        match self.vertices[vertex.index()] {
            Vertex::Switch(switch) => {
                let class = self.switches[switch.index()].class;
                self.switch_classes[class.index()].latency.value
            }
            Vertex::Chip(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => Micros::new(0.0),
        }
    }

    /// Returns the wire rate at which a chip can send into the first tier: all its links of
    /// that tier's class together. Cables of another class, such as PCIe beside `NVLink`, are
    /// not counted.
    pub fn injection_rate(&self, chip: ChipId) -> GbPerSec {
        let rates = self.scale_up_links(chip).map(|link| link.rate.get());
        GbPerSec::new(rates.sum())
    }

    /// Returns the payload rate of [`Topology::injection_rate`]: each link times its
    /// efficiency.
    pub fn injection_payload_rate(&self, chip: ChipId) -> GbPerSec {
        let rates = self
            .scale_up_links(chip)
            .map(|link| link.payload_rate.get());
        GbPerSec::new(rates.sum())
    }

    /// Links that leave a chip in the first tier's class.
    pub(crate) fn scale_up_links(&self, chip: ChipId) -> impl Iterator<Item = &Link> {
        let class = self.tiers[0].link;
        let links = self.links_from(self.chip_vertex(chip)).iter();
        links
            .map(|&link| self.link(link))
            .filter(move |link| link.tier == 0 && link.class == class)
    }

    /// Returns a chip's share of its NICs' wire rate; `None` in a system of one node.
    pub fn network_rate(&self, chip: ChipId) -> Option<GbPerSec> {
        self.share_of_nics(chip, |link| link.rate)
    }

    /// Returns the payload rate of [`Topology::network_rate`]: each link times its efficiency.
    pub fn network_payload_rate(&self, chip: ChipId) -> Option<GbPerSec> {
        self.share_of_nics(chip, |link| link.payload_rate)
    }

    fn share_of_nics(&self, chip: ChipId, rate: impl Fn(&Link) -> GbPerSec) -> Option<GbPerSec> {
        let nics = &self.chips[chip.index()].nics;
        if nics.is_empty() {
            return None;
        }
        let share = |nic: &NicId| {
            let nic = &self.nics[nic.index()];
            let links = self.links_from(nic.send).iter();
            let all: f64 = links.map(|&link| rate(self.link(link)).get()).sum();
            all / nic.chips.len() as f64
        };
        Some(GbPerSec::new(nics.iter().map(share).sum()))
    }

    /// Returns whether some switch has the ability.
    pub fn can(&self, ability: SwitchAbility) -> bool {
        self.switches.iter().any(|switch| {
            let class = &self.switch_classes[switch.class.index()];
            class.abilities.contains(&ability)
        })
    }
}
