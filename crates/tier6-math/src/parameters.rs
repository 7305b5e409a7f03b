//! What a prediction assumes beside the topology: software, steps, forwarding, and which form of
//! an algorithm runs.

use crate::StepCost;
use crate::law::{InSwitch, Overlap};
use std::num::NonZeroU32;
use tier6_collective::{
    BidirForm, BuildOptions, Distance, Fold, GatherForm, Grain, Partner, Protocol, SecondShot,
    TorusPorts, Trees,
};
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
    /// Which trees `tree` lays; `None` for those over nodes where there are several nodes of
    /// several ranks, as NCCL has them, and the double tree elsewhere.
    pub trees: Option<Trees>,
    /// How `scatter_all_gather` gathers.
    pub gather: GatherForm,
    /// What the second shot of `two_shot` is.
    pub second_shot: SecondShot,
    /// Which bidirectional ring.
    pub bidir: BidirForm,
    /// Which partner comes first in halving-doubling.
    pub distance: Distance,
    /// How halving-doubling takes in the ranks beyond a power of two.
    pub fold: Fold,
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
    /// Returns what a system says, and for the rest: no protocol, whole messages on rings, pieces
    /// of 512 KiB in chains and trees (a step of NCCL's Simple buffer, FACTS B.2), serial stages,
    /// rings that gather, direct second shots, the short side of bidirectional rings, near
    /// partners first, whole folds, packed ranks. On rings and tori flows take the preferred
    /// route, elsewhere they spread.
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
            trees: None,
            gather: GatherForm::Ring,
            second_shot: SecondShot::Direct,
            bidir: BidirForm::ShortSide,
            distance: Distance::Doubling,
            fold: Fold::Whole,
            partner: Partner::Shift,
            torus,
            torus_ports: TorusPorts::All,
            pat_blocks: None,
        }
    }

    /// Returns what a builder is told of these assumptions: the forms of the algorithms, for N
    /// ranks in nodes of `per_node` and M bytes; the message in one piece.
    pub fn build_options(&self, ranks: u32, per_node: u32, bytes: Bytes) -> BuildOptions {
        let has_nodes = 1 < per_node && per_node < ranks && ranks.is_multiple_of(per_node);
        BuildOptions {
            ranks_per_node: Some(per_node),
            trees: self.trees.unwrap_or(match self.channels {
                Channels::Rotated | Channels::AllPeers if has_nodes => Trees::OverNodes,
                Channels::One | Channels::Rotated | Channels::AllPeers => Trees::Double,
            }),
            gather: self.gather,
            second_shot: self.second_shot,
            bidir: self.bidir,
            distance: self.distance,
            fold: self.fold,
            partner: self.partner,
            torus: self.torus.clone(),
            torus_ports: self.torus_ports,
            pat_blocks: self.pat_blocks,
            ..BuildOptions::new(ranks, bytes)
        }
    }
}
