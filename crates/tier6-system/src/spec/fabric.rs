//! How the ends of a tier are joined, as written.

use crate::place::Spelled;

/// The class of the switches of a system that is made of one kind of everything.
pub(super) const UNIFORM_SWITCH: &str = "switch";

/// How NICs spread over leaf switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wiring {
    /// All NICs of a node on one leaf, as far as they fit.
    ByNode,
    /// NIC r of every node on a leaf of rail r.
    ByRail,
}

/// How data for a chip on another rail travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossRail {
    /// Out of the sender's own NIC, from leaf to leaf through a spine.
    Spine,
    /// First to the chip of the sender's node that is on that rail, then along the rail: what
    /// NCCL calls PXN.
    Chip,
}

/// How a tier joins its ends: chips in the first tier, NICs in the others.
#[derive(Debug, Clone, PartialEq)]
pub enum FabricSpec {
    /// Each end to the next and the previous one; several rings when orders are given.
    Ring {
        /// Orders of the ends; empty for one ring in natural order.
        orders: Vec<Vec<u32>>,
    },
    /// Each end to each other.
    FullMesh,
    /// A torus of any number of dimensions, the last one varying fastest.
    Torus {
        /// Ends per dimension.
        dims: Vec<u32>,
    },
    /// All ends on one non-blocking switch, made of `planes` chips over which traffic spreads
    /// unseen by software.
    Crossbar {
        /// Class of the switch chips.
        switch: Spelled<String>,
        /// Switch chips.
        planes: u32,
    },
    /// Leaves and spines.
    FatTree(FatTreeSpec),
    /// Groups of routers, all to all inside and between groups.
    Dragonfly(DragonflySpec),
    /// PCIe: chips below switches below root complexes, sockets joined.
    PcieTree(PcieTreeSpec),
    /// Any graph.
    Graph {
        /// Switches.
        vertices: Vec<VertexSpec>,
        /// Cables.
        edges: Vec<EdgeSpec>,
    },
}

/// A two-level folded Clos network; one leaf alone needs no spine.
#[derive(Debug, Clone, PartialEq)]
pub struct FatTreeSpec {
    /// Class of the leaves.
    pub switch: Spelled<String>,
    /// Class of the spines; `None` for that of the leaves.
    pub spine: Option<Spelled<String>>,
    /// Ends per leaf; `None` for what the ports of a leaf allow.
    pub down: Option<u32>,
    /// Spines; `None` for the fewest that fit.
    pub spines: Option<u32>,
    /// Bandwidth down over bandwidth up, 1 or more.
    pub oversubscription: f64,
    /// Which NICs share a leaf.
    pub wiring: Wiring,
    /// How data reach a chip on another rail.
    pub cross_rail: CrossRail,
}

/// A dragonfly (Kim et al. 2008) with `routers` per group.
#[derive(Debug, Clone, PartialEq)]
pub struct DragonflySpec {
    /// Class of the routers.
    pub switch: Spelled<String>,
    /// Routers per group.
    pub routers: u32,
    /// Ends per router.
    pub endpoints: u32,
    /// Global cables per router.
    pub global: u32,
    /// Class of links inside a group; `None` for that of the ends.
    pub local_link: Option<Spelled<String>>,
    /// Class of links between groups; `None` for that of the ends.
    pub global_link: Option<Spelled<String>>,
}

/// Chips on PCIe.
#[derive(Debug, Clone, PartialEq)]
pub struct PcieTreeSpec {
    /// Class of the PCIe switches; `None` when chips hang on the root complex.
    pub switch: Option<Spelled<String>>,
    /// Chips per PCIe switch.
    pub per_switch: u32,
    /// Class of the root complexes, one per socket.
    pub root: Spelled<String>,
    /// Sockets.
    pub sockets: u32,
    /// Class of the links between sockets.
    pub socket_link: Option<Spelled<String>>,
}

/// A switch of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexSpec {
    /// The name that edges use.
    pub name: Spelled<String>,
    /// Its class.
    pub switch: Spelled<String>,
}

/// A cable of a graph between two ends `chip0..`, `nic0..` or switches.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeSpec {
    /// One end; the sender of a one-way link.
    pub from: Spelled<String>,
    /// The other.
    pub to: Spelled<String>,
    /// Whether data flows back.
    pub direction: Direction,
    /// Class; `None` for that of the tier.
    pub link: Option<Spelled<String>>,
    /// Parallel lanes; `None` for those of the tier.
    pub lanes: Option<u32>,
}

/// Which ways a cable carries data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the first end to the second only.
    OneWay,
    /// Both, each at full rate.
    BothWays,
}

impl FabricSpec {
    /// Returns the word in system files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ring { .. } => "ring",
            Self::FullMesh => "full_mesh",
            Self::Torus { .. } => "torus",
            Self::Crossbar { .. } => "crossbar",
            Self::FatTree(_) => "fat_tree",
            Self::Dragonfly(_) => "dragonfly",
            Self::PcieTree(_) => "pcie_tree",
            Self::Graph { .. } => "graph",
        }
    }

    /// Returns one ring in natural order.
    pub const fn ring() -> Self {
        Self::Ring { orders: Vec::new() }
    }

    /// Returns one switch, of the class that [`SystemSpec::uniform`](super::SystemSpec::uniform)
    /// has.
    pub fn star() -> Self {
        Self::Crossbar {
            switch: UNIFORM_SWITCH.into(),
            planes: 1,
        }
    }

    /// Returns leaves with `down` ends each below so many spines, all switches of the class that
    /// [`SystemSpec::uniform`](super::SystemSpec::uniform) has, as much bandwidth up as down.
    pub fn fat_tree(down: u32, spines: u32) -> Self {
        Self::FatTree(FatTreeSpec {
            switch: UNIFORM_SWITCH.into(),
            spine: None,
            down: Some(down),
            spines: Some(spines),
            oversubscription: 1.0,
            wiring: Wiring::ByNode,
            cross_rail: CrossRail::Spine,
        })
    }
}
