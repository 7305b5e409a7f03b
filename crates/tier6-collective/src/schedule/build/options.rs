//! What a builder may need to know, and the forms that it may choose between.

use tier6_units::Bytes;

use crate::schedule::ids::RankId;
use crate::schedule::transfer::Grain;

/// What a builder may need to know. Start from [`BuildOptions::new`] and change what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOptions {
    /// N, from 2 to [`RANKS_MAX`](super::RANKS_MAX).
    pub ranks: u32,
    /// M, in nccl-tests' meaning; see [`Schedule::bytes`](crate::Schedule::bytes).
    pub bytes: Bytes,
    /// The root of Broadcast, Reduce, Gather and Scatter.
    pub root: RankId,
    /// K: in how many pieces chains, trees and hierarchies pipeline the message (`num_chunks`).
    /// Two trees cut each of their halves into K.
    pub pieces: u32,
    /// g: ranks per node, for algorithms that tell nodes apart. Rank r is on node r / g.
    pub ranks_per_node: Option<u32>,
    /// Which trees `tree` lays over the ranks.
    pub trees: Trees,
    /// How `scatter_all_gather` gathers.
    pub gather: GatherForm,
    /// What the second shot of `two_shot` is.
    pub second_shot: SecondShot,
    /// Which form of the bidirectional ring.
    pub bidir: BidirForm,
    /// Which partner comes first in halving-doubling.
    pub distance: Distance,
    /// How halving-doubling takes in the ranks beyond a power of two.
    pub fold: Fold,
    /// Who talks to whom in a step of a pairwise exchange.
    pub partner: Partner,
    /// The dimensions of the torus, their product N; rank r has the coordinates of r in mixed
    /// radix, the last dimension fastest.
    pub torus: Option<Vec<u32>>,
    /// How many ports the torus algorithm uses.
    pub torus_ports: TorusPorts,
    /// The most blocks that PAT puts in one message; `None` aggregates as much as there is.
    pub pat_blocks: Option<u32>,
    /// The grain of forwarding, passed on to the schedule.
    pub grain: Grain,
}

impl BuildOptions {
    /// Returns the options for N ranks and M bytes: root 0, one piece, nodes unknown, the double
    /// tree, rings that gather, direct second shots, the short side of bidirectional rings,
    /// distance halving, whole folds, partners by shift, all ports of a torus, unlimited
    /// aggregation, whole messages.
    pub const fn new(ranks: u32, bytes: Bytes) -> Self {
        Self {
            ranks,
            bytes,
            root: RankId(0),
            pieces: 1,
            ranks_per_node: None,
            trees: Trees::Double,
            gather: GatherForm::Ring,
            second_shot: SecondShot::Direct,
            bidir: BidirForm::ShortSide,
            distance: Distance::Halving,
            fold: Fold::Whole,
            partner: Partner::Shift,
            torus: None,
            torus_ports: TorusPorts::All,
            pat_blocks: None,
            grain: Grain::Message,
        }
    }
}

/// The trees of `tree`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trees {
    /// Two, half of the message each, so that few ranks work twice: 2M/B for AllReduce.
    Double,
    /// One: an inner rank sends each piece twice, which halves the bandwidth.
    Single,
    /// Two over the nodes, with a chain inside each, as NCCL has them; needs the ranks per node.
    OverNodes,
}

/// How a scattered message is gathered by all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatherForm {
    /// Around a ring: N - 1 steps.
    Ring,
    /// Twice as many blocks in each step: ceil(lg N) steps.
    Doubling,
}

/// The second shot of `two_shot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecondShot {
    /// Each rank sends its sum to every peer.
    Direct,
    /// Each rank stores its sum once and the switch multicasts it (`TensorRT-LLM`'s multi-shot).
    Multicast,
}

/// The forms of the bidirectional ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BidirForm {
    /// Two rings in opposite directions, half of the message each: 2(N-1) steps.
    SplitData,
    /// Each chunk goes the short way; for even N the half of the chunk of the rank across goes
    /// either way: 2 ceil((N-1)/2) steps and the same bytes.
    ShortSide,
}

/// Which partner comes first in the reducing half of halving-doubling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distance {
    /// The farthest, then half as far: recursive halving in the textbooks' form.
    Halving,
    /// The nearest, then twice as far: kinder to rings.
    Doubling,
}

/// How halving-doubling takes in the ranks beyond the largest power of two p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Rank p + i hands all to rank i and gets the result from it: 2 steps and about 2M/B more.
    Whole,
    /// Ranks i and p + i each work for half of the message: 2 steps and about M/B more.
    Halves,
}

/// Who talks to whom in step k of a pairwise exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Partner {
    /// Rank r sends to r + k and receives from r - k.
    Shift,
    /// Rank r exchanges with r xor k; N must be a power of two.
    Xor,
}

/// How many ports the torus algorithm uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TorusPorts {
    /// One dimension and direction after another.
    One,
    /// The message in 2D parts, each starting in another dimension and direction.
    All,
}
