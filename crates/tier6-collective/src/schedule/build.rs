//! One entry point for every builder: [`build`].
//!
//! Each algorithm has a file of its own, and so have the options; this one holds the table of what
//! is offered, and the errors.

mod bidir_ring;
mod binomial;
mod bruck;
mod chain;
mod collnet;
mod direct;
mod halved_fold;
mod halving_doubling;
mod hierarchical;
mod moves;
mod node_tree;
mod nodes;
mod nvls;
mod options;
mod pairwise;
mod pat;
mod recursive_doubling;
mod ring;
mod shots;
mod swing;
mod torus_bucket;
mod tree;

use thiserror::Error;

use crate::{Algorithm, Collective};

use super::Schedule;
use super::draft::{Draft, Title};
use super::ids::RankId;
use super::memory::{Memory, Placement};
use super::transfer::Handshake;

pub use options::{
    BidirForm, BuildOptions, Distance, Fold, GatherForm, Partner, SecondShot, TorusPorts, Trees,
};

/// The most ranks that are unrolled; beyond, only closed forms are sensible.
pub const RANKS_MAX: u32 = 4096;

/// The most pieces x ranks that are unrolled.
const PIECES_MAX: u64 = 1 << 22;

/// Why there is no such schedule, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The algorithm does not compute the collective.
    #[error(
        "`{algorithm}` does not offer `{collective}`; hint: {}",
        instead(*collective, *algorithm)
    )]
    NotOffered {
        /// The algorithm.
        algorithm: Algorithm,
        /// The collective.
        collective: Collective,
    },
    /// Nobody to talk to, or more than is unrolled.
    #[error("{ranks} ranks; hint: schedules are unrolled for 2 to {RANKS_MAX} ranks")]
    Ranks {
        /// N.
        ranks: u32,
    },
    /// The form needs a power of two.
    #[error("`{algorithm}` needs a power of two, not {ranks} ranks; hint: {hint}")]
    NeedsPowerOfTwo {
        /// The algorithm.
        algorithm: Algorithm,
        /// N.
        ranks: u32,
        /// What else would do.
        hint: &'static str,
    },
    /// The form needs an even number.
    #[error(
        "`{algorithm}` needs an even number, not {ranks} ranks; hint: use halving_doubling, which \
         folds the other ranks, or ring"
    )]
    NeedsEven {
        /// The algorithm.
        algorithm: Algorithm,
        /// N.
        ranks: u32,
    },
    /// The number of ranks per node is not known.
    #[error("`{algorithm}` tells nodes apart; hint: set the ranks per node")]
    NeedsNodes {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The nodes are not all full.
    #[error(
        "{ranks} ranks do not fill nodes of {ranks_per_node}; hint: the ranks per node must \
         divide the ranks"
    )]
    UnevenNodes {
        /// N.
        ranks: u32,
        /// g.
        ranks_per_node: u32,
    },
    /// The algorithm reduces between nodes, and there is one.
    #[error("`{algorithm}` reduces between nodes, and there is one node; hint: use nvls or ring")]
    OneNode {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The dimensions are missing or make another number of ranks.
    #[error(
        "`torus_bucket` needs dimensions of at least 2 whose product is {ranks}, not \
         {dimensions:?}; hint: for example [4, 4] for 16 ranks"
    )]
    Torus {
        /// N.
        ranks: u32,
        /// The dimensions.
        dimensions: Vec<u32>,
    },
    /// The root does not exist.
    #[error("root {root} does not exist; hint: the ranks are 0 to {}", ranks - 1)]
    Root {
        /// The root.
        root: RankId,
        /// N.
        ranks: u32,
    },
    /// No piece, or more than is unrolled.
    #[error("{pieces} pieces; hint: use at least 1, and pieces x ranks up to {PIECES_MAX}")]
    Pieces {
        /// K.
        pieces: u32,
    },
    /// PAT cannot send messages of no block.
    #[error("0 blocks per message; hint: allow PAT at least 1")]
    NoBlocks,
}

/// Returns the collectives that an algorithm's builder offers.
pub const fn offered(algorithm: Algorithm) -> &'static [Collective] {
    use Collective::{
        AllGather, AllReduce, AllToAll, Broadcast, Gather, HyperCube, Reduce, ReduceScatter,
        Scatter, SendRecv,
    };
    match algorithm {
        Algorithm::Ring | Algorithm::SendRecvRing => &[
            AllReduce,
            AllGather,
            ReduceScatter,
            Broadcast,
            Reduce,
            SendRecv,
        ],
        Algorithm::BidirRing => &[AllReduce, AllGather, ReduceScatter, Broadcast, Reduce],
        Algorithm::Tree => &[AllReduce, Broadcast, Reduce],
        Algorithm::HalvingDoubling
        | Algorithm::Hierarchical
        | Algorithm::Nvls
        | Algorithm::TorusBucket
        | Algorithm::Swing => &[AllReduce, AllGather, ReduceScatter],
        Algorithm::RecursiveDoubling => &[AllReduce, AllGather, HyperCube],
        Algorithm::Pairwise => &[AllToAll, AllGather, ReduceScatter, Gather, Scatter],
        Algorithm::Bruck => &[AllToAll, AllGather, ReduceScatter],
        Algorithm::Direct => &[
            AllToAll,
            AllGather,
            ReduceScatter,
            Broadcast,
            Reduce,
            Gather,
            Scatter,
            SendRecv,
        ],
        Algorithm::OneShot
        | Algorithm::TwoShot
        | Algorithm::NvlsTree
        | Algorithm::CollNetDirect
        | Algorithm::CollNetChain => &[AllReduce],
        Algorithm::Pat => &[AllGather, ReduceScatter],
        Algorithm::Binomial => &[Broadcast, Reduce, Gather, Scatter],
        Algorithm::ScatterAllGather => &[Broadcast],
    }
}

/// Says whether an algorithm's builder offers a collective.
pub fn offers(algorithm: Algorithm, collective: Collective) -> bool {
    offered(algorithm).contains(&collective)
}

fn instead(collective: Collective, algorithm: Algorithm) -> String {
    if (algorithm, collective) == (Algorithm::Direct, Collective::AllReduce) {
        return "direct reduce-scatter and all-gather together are two_shot".to_owned();
    }
    let names: Vec<&str> = Algorithm::ALL
        .into_iter()
        .filter(|other| offers(*other, collective))
        .map(Algorithm::name)
        .collect();
    if names.is_empty() {
        return "describe the transfers in a schedule file".to_owned();
    }
    format!("use {}", names.join(", "))
}

/// Returns the schedule of a collective by an algorithm.
///
/// Which collectives an algorithm offers is said by [`offered`]; each schedule passes
/// [`Schedule::check`]. Shapes and costs follow FACTS B.1 to B.8.
///
/// # Errors
///
/// When the algorithm does not offer the collective, or the options do not fit; each error names
/// a way out.
pub fn build(
    collective: Collective,
    algorithm: Algorithm,
    options: &BuildOptions,
) -> Result<Schedule, BuildError> {
    if !offers(algorithm, collective) {
        return Err(BuildError::NotOffered {
            algorithm,
            collective,
        });
    }
    let ranks = options.ranks;
    if !(2..=RANKS_MAX).contains(&ranks) {
        return Err(BuildError::Ranks { ranks });
    }
    if options.root.0 >= ranks {
        let root = options.root;
        return Err(BuildError::Root { root, ranks });
    }
    let pieces = options.pieces;
    if pieces == 0 || u64::from(pieces) * u64::from(ranks) > PIECES_MAX {
        return Err(BuildError::Pieces { pieces });
    }
    let job = Job {
        collective,
        algorithm,
        options,
    };
    Ok(match algorithm {
        Algorithm::Ring | Algorithm::SendRecvRing => ring::build(&job),
        Algorithm::BidirRing => bidir_ring::build(&job),
        Algorithm::Tree => tree::build(&job)?,
        Algorithm::HalvingDoubling => halving_doubling::build(&job),
        Algorithm::RecursiveDoubling => recursive_doubling::build(&job)?,
        Algorithm::Pairwise => pairwise::build(&job)?,
        Algorithm::Bruck => bruck::build(&job),
        Algorithm::Direct => direct::build(&job),
        Algorithm::OneShot => shots::one_shot(&job),
        Algorithm::TwoShot => shots::two_shot(&job),
        Algorithm::Hierarchical => hierarchical::build(&job)?,
        Algorithm::Nvls => nvls::build(&job)?,
        Algorithm::NvlsTree => nvls::build_tree(&job)?,
        Algorithm::CollNetDirect => collnet::direct(&job)?,
        Algorithm::CollNetChain => collnet::chain(&job)?,
        Algorithm::Pat => pat::build(&job)?,
        Algorithm::Binomial => binomial::build(&job),
        Algorithm::ScatterAllGather => binomial::scatter_all_gather(&job),
        Algorithm::TorusBucket => torus_bucket::build(&job)?,
        Algorithm::Swing => swing::build(&job)?,
    })
}

/// What a builder is asked for.
struct Job<'a> {
    collective: Collective,
    algorithm: Algorithm,
    options: &'a BuildOptions,
}

impl Job<'_> {
    const fn ranks(&self) -> u32 {
        self.options.ranks
    }

    const fn root(&self) -> u32 {
        self.options.root.0
    }

    /// Returns the rank `offset` after the root.
    const fn after_root(&self, offset: u32) -> u32 {
        (self.options.root.0 + offset) % self.options.ranks
    }

    const fn title(&self) -> Title {
        Title {
            collective: self.collective,
            algorithm: Some(self.algorithm),
            root: self.options.root,
            grain: self.options.grain,
            handshake: match self.algorithm {
                Algorithm::SendRecvRing => Handshake::Rendezvous,
                _ => Handshake::Eager,
            },
        }
    }

    fn memory(&self, chunks: u32, placement: Placement) -> Memory {
        Memory::new(
            self.collective,
            self.ranks(),
            self.options.bytes.get(),
            chunks,
            placement,
        )
    }

    /// Returns a draft in place that derives dependencies.
    fn in_place(&self, chunks: u32) -> Draft {
        Draft::tracked(self.title(), self.memory(chunks, Placement::InPlace))
    }

    /// Returns the same with `count` scratch slots for a chunk each.
    fn in_place_with_scratch(&self, chunks: u32, count: u32) -> Draft {
        let memory = self.memory(chunks, Placement::InPlace);
        let capacity = memory.chunk_bytes_max();
        let memory = memory.with_scratch(vec![capacity; count as usize]);
        Draft::tracked(self.title(), memory)
    }

    /// Returns a draft out of place that derives dependencies.
    fn out_of_place(&self, chunks: u32) -> Draft {
        Draft::tracked(self.title(), self.memory(chunks, Placement::OutOfPlace))
    }

    const fn needs_power_of_two(&self, hint: &'static str) -> Result<(), BuildError> {
        if self.options.ranks.is_power_of_two() {
            return Ok(());
        }
        Err(BuildError::NeedsPowerOfTwo {
            algorithm: self.algorithm,
            ranks: self.options.ranks,
            hint,
        })
    }
}
