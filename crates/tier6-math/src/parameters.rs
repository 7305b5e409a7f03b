//! What a prediction assumes beside the topology: software, steps, forwarding, and which form of
//! an algorithm runs.

use crate::StepCost;
use crate::law::{InSwitch, Overlap};
use std::num::NonZeroU32;
use tier6_collective::{BidirForm, Distance, Grain, Partner, Protocol, TorusPorts};
use tier6_system::{FabricSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

/// The assumptions of a prediction. Start from [`Parameters::of`] and change what differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The protocol whose steps and payload shares the system has; `None` prices a step by the
    /// latency of its route, and bytes by the efficiency of links alone.
    pub protocol: Option<Protocol>,
    /// `T_sw`, the fixed time of a call.
    pub software: Micros,
    /// What a rank adds to the route's latency per step; a protocol's step contains it.
    pub step: StepCost,
    /// The grain in which rings forward.
    pub grain: Grain,
    /// In how many pieces chains and trees pipeline a message.
    pub pieces: Pieces,
    /// How the stages of a hierarchy follow each other.
    pub overlap: Overlap,
    /// 1/γ; `None` for reductions that cost nothing beside the transfer.
    pub reduce_rate: Option<GbPerSec>,
    /// α and `B_nvls`.
    pub nvls: Option<InSwitch>,
    /// α of a call with SHARP, and the share of the NICs' payload rate that it reaches.
    pub sharp: Option<Sharp>,
    /// Which chips the ranks are on.
    pub placement: Placement,
    /// How the channels of rings and trees are laid out.
    pub channels: Channels,
    /// How a flow uses equal routes.
    pub spread: Spread,
    /// Which bidirectional ring.
    pub bidir: BidirForm,
    /// Which partner comes first in halving-doubling.
    pub distance: Distance,
    /// Who talks to whom in a pairwise exchange.
    pub partner: Partner,
    /// Dimensions for the torus bucket.
    pub torus: Option<Vec<u32>>,
    /// How many ports the torus bucket uses.
    pub torus_ports: TorusPorts,
    /// The most blocks in a message of PAT; `None` for no limit.
    pub pat_blocks: Option<u32>,
}

/// Constants of aggregation in the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharp {
    /// α of a call, software included.
    pub alpha: Micros,
    /// Share of the NICs' payload rate that is reached.
    pub efficiency: f64,
    /// Aggregations that a switch holds at a time; `None` for no limit.
    pub contexts: Option<u32>,
}

/// How many pieces a message goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pieces {
    /// K, whatever the size.
    Count(NonZeroU32),
    /// As many as there are pieces of this size, at least one.
    Of(Bytes),
    /// As many as make each message fastest: K* of FACTS B.1, at most one per byte.
    Best,
}

/// Which chips the ranks are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Rank r on chip r: node after node is filled.
    Packed,
    /// This many ranks on each node, on its first chips.
    PerNode(NonZeroU32),
}

/// How the channels of rings and trees are laid out. Each channel is a ring, or a pair of trees, of
/// its own over the same ranks, with its share of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channels {
    /// One ring in the order of the ranks, and a tree over all of them: the textbook's.
    One,
    /// Inside a node in the order of the ranks, each starting at another one, so that every
    /// rank's NIC takes a share of what crosses. Trees go over nodes, with chains inside.
    Rotated,
    /// As `Rotated`, in every order of a node's ranks: all links between them carry a share, as on
    /// a full mesh or a graph of chips with alike links.
    AllPeers,
}

/// How a flow uses routes of equal length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spread {
    /// The preferred one: on a ring of even size all antipodal traffic goes up (FACTS B.4).
    Preferred,
    /// Equal parts at every branch: ideal spraying over NICs, planes and spines.
    Even,
}

impl Parameters {
    /// Returns what a system says, and for the rest: no protocol, whole messages on rings, pieces of 512 KiB
    /// in chains and trees (a step of NCCL's Simple buffer, FACTS B.2), serial stages, the short side of bidirectional rings, near partners first, packed ranks. On rings and
    /// tori flows take the preferred route, elsewhere they spread.
    pub fn of(topology: &Topology) -> Self {
        let constants = topology.constants();
        let fabric = topology.tiers().first().map(|tier| &tier.fabric);
        let torus = match fabric {
            Some(FabricSpec::Torus { dims }) => Some(dims.clone()),
            _ => None,
        };
        let spread = match fabric {
            Some(FabricSpec::Torus { .. }) => Spread::Preferred,
            Some(FabricSpec::Ring { orders }) if orders.len() < 2 => Spread::Preferred,
            _ => Spread::Even,
        };
        let channels = match fabric {
            Some(FabricSpec::FullMesh | FabricSpec::Graph { .. }) => Channels::AllPeers,
            _ => Channels::Rotated,
        };
        Self {
            protocol: None,
            software: constants.call.value,
            step: StepCost::from_components(&constants.step),
            grain: Grain::Message,
            pieces: Pieces::Of(Bytes::new(512 << 10)),
            overlap: Overlap::Serial,
            reduce_rate: constants.reduce_rate.as_ref().map(|rate| rate.value),
            nvls: constants.nvls.as_ref().map(|nvls| InSwitch {
                alpha: nvls.alpha.as_ref().unwrap_or(&constants.call).value,
                rate: nvls.rate.value,
            }),
            sharp: constants.sharp.as_ref().map(|sharp| Sharp {
                alpha: sharp.alpha.value,
                efficiency: sharp.efficiency.as_ref().map_or(1.0, |e| e.value.get()),
                contexts: sharp.contexts,
            }),
            placement: Placement::Packed,
            channels,
            spread,
            bidir: BidirForm::ShortSide,
            distance: Distance::Doubling,
            partner: Partner::Shift,
            torus,
            torus_ports: TorusPorts::All,
            pat_blocks: None,
        }
    }
}
