//! The fabric: links as a run uses them, and the paths that messages take.
//!
//! A topology says what is wired; a fabric adds what a run makes of it: rates with framing and
//! faults, latencies with the switches, a pseudo-link for the engines of each chip, and paths
//! with numbers. Both fidelities read the same fabric, so they disagree only in what they model.
//!
//! Paths are laid when asked for and kept: nothing grows with the square of the chips unless
//! messages go between that many pairs.

mod known;
mod laying;
mod link;
mod path;
mod routes_to;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tier6_system::{ChipId, LinkId, SwitchTree, Topology, VertexId};
use tier6_units::{ByteTime, SimTime};

use crate::network::PathId;
use crate::{Fault, G5Parameters, PathChoice};

use known::Known;
pub use link::{FabricLink, FabricLinkId, LinkOf};
pub use path::{Path, PathRequest, TreePath, Use};
use path::{Run, Trunk};
use routes_to::RoutesTo;

/// The links of a run and the paths over them.
///
/// ```
/// use tier6_g5::{Fabric, G5Parameters, PathRequest};
/// use tier6_system::{ChipId, preset};
/// use tier6_units::SimTime;
///
/// let h100 = preset("h100-x8").unwrap().resolve().unwrap();
/// let mut fabric = Fabric::new(&h100, &G5Parameters::ideal(), &[], 0)?;
/// let (from, to) = (ChipId::new(0), ChipId::new(5));
/// let path = fabric.lay(PathRequest::Send { from, to, flow: 0 })?;
/// assert_eq!(fabric.path(path).uses.len(), 2); // chip, NVSwitch, chip
/// assert!(fabric.latency(path) > SimTime::ZERO);
/// # Ok::<(), tier6_g5::FabricError>(())
/// ```
#[derive(Debug)]
pub struct Fabric<'t> {
    topology: &'t Topology,
    links: Vec<FabricLink>,
    /// Whether the engines of a chip are a pseudo-link of their own.
    has_engines: bool,
    /// What the transaction layer adds to every path.
    end_latency: SimTime,
    choice: PathChoice,
    seed: u64,
    trunks: Vec<Trunk>,
    /// Where the uses of each path are.
    uses_of: Vec<Run>,
    uses: Vec<Use>,
    routes: Vec<LinkId>,
    by_sender: Vec<Known>,
    routes_to: RoutesTo<'t>,
    /// Room to find a route in.
    route: Vec<LinkId>,
    trees: Vec<SwitchTree>,
    /// Trees by members.
    tree_of: BTreeMap<Vec<ChipId>, usize>,
    tree_paths: BTreeMap<(usize, Service), PathId>,
}

/// What a switch does for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Service {
    Multicast(ChipId),
    LoadReduce(ChipId),
    Aggregate,
}

/// A fabric that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FabricError {
    /// A fault names a link that the topology does not have.
    #[error("no link {0} in this topology")]
    NoLink(u32),
    /// A slow link must carry something.
    #[error("link {link} cannot carry {share} of its rate; expected above 0, at most 1")]
    Share {
        /// The link.
        link: u32,
        /// What was asked for.
        share: f64,
    },
    /// A probability is outside 0 to 1.
    #[error("a loss of {0} is no probability")]
    Loss(f64),
    /// No switch serves a group of chips.
    #[error(
        "no switch serves the {members} chips from chip {first} on; hint: in-switch algorithms need one switch that all their ranks reach"
    )]
    NoSwitch {
        /// How many.
        members: usize,
        /// The first of them; 0 when there is none.
        first: u32,
    },
    /// A path between these chips crosses no link, or one of them does not exist.
    #[error("no path from chip {from} to chip {to} in a system of {chips} chips")]
    NoPath {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// How many there are.
        chips: u32,
    },
    /// A chip asks for a tree that does not lead to it.
    #[error("chip {0} is not of the group that the switch serves")]
    NotOfGroup(u32),
}

impl<'t> Fabric<'t> {
    /// Returns the fabric of a run. The seed chooses among equal paths where the parameters leave
    /// it to chance.
    ///
    /// # Errors
    ///
    /// When a fault does not fit the topology.
    pub fn new(
        topology: &'t Topology,
        parameters: &G5Parameters,
        faults: &[Fault],
        seed: u64,
    ) -> Result<Self, FabricError> {
        let n_chips = topology.chips().len();
        Ok(Self {
            topology,
            links: link::resolve(topology, parameters, faults)?,
            has_engines: parameters.cdma.rate.is_some(),
            end_latency: parameters.paxi.map_or(SimTime::ZERO, |paxi| paxi.latency),
            choice: parameters.paths,
            seed,
            trunks: Vec::new(),
            uses_of: Vec::new(),
            uses: Vec::new(),
            routes: Vec::new(),
            by_sender: vec![Known::default(); n_chips],
            routes_to: RoutesTo::new(n_chips),
            route: Vec::new(),
            trees: Vec::new(),
            tree_of: BTreeMap::new(),
            tree_paths: BTreeMap::new(),
        })
    }

    /// Returns the topology below.
    pub const fn topology(&self) -> &'t Topology {
        self.topology
    }

    /// Returns the seed of what is left to chance.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns all links, by [`FabricLinkId`]: those of the topology under their own numbers, then
    /// the engines of each chip if they have a rate.
    pub fn links(&self) -> &[FabricLink] {
        &self.links
    }

    /// Returns one link.
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn link(&self, link: FabricLinkId) -> &FabricLink {
        &self.links[link.index()]
    }

    /// Returns the number of paths that have been laid.
    pub fn n_paths(&self) -> usize {
        self.trunks.len()
    }

    /// Returns one path.
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn path(&self, path: PathId) -> Path<'_> {
        let trunk = &self.trunks[path.0 as usize];
        Path {
            uses: self.uses(path),
            shape: &trunk.shape,
            routes: &self.routes,
            latency: trunk.latency,
            byte: trunk.byte,
        }
    }

    /// Returns the links of a path, as [`Path::uses`].
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn uses(&self, path: PathId) -> &[Use] {
        &self.uses[self.uses_of[path.0 as usize].range()]
    }

    /// Returns the unloaded time of a message of no bytes along a path, the transaction layer
    /// included: what a control message takes.
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn latency(&self, path: PathId) -> SimTime {
        self.trunks[path.0 as usize].latency
    }

    /// Returns what a byte of payload takes on an empty path: that of its slowest link.
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn byte_time(&self, path: PathId) -> ByteTime {
        self.trunks[path.0 as usize].byte
    }

    /// Returns the name of a link for people: `link chip 3 to switch leaf 0`.
    ///
    /// # Panics
    ///
    /// When the id is of another fabric.
    pub fn link_name(&self, link: FabricLinkId) -> String {
        match self.link(link).of {
            LinkOf::Wire(wire) => {
                let wire = self.topology.link(wire);
                let (from, to) = (self.vertex_name(wire.from), self.vertex_name(wire.to));
                format!("link {from} to {to}")
            }
            LinkOf::Engines(chip) => format!("engines of chip {}", chip.get()),
        }
    }

    fn vertex_name(&self, vertex: VertexId) -> String {
        use tier6_system::Vertex;
        match self.topology.vertices()[vertex.index()] {
            Vertex::Chip(chip) => format!("chip {}", chip.get()),
            Vertex::Switch(switch) => self.topology.switches()[switch.index()].name.clone(),
            Vertex::NicSend(nic) | Vertex::NicReceive(nic) => format!("nic {}", nic.get()),
        }
    }
}
