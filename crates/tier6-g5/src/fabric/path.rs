//! Paths: which links a message uses, and how much of each.

use std::ops::Range;

use tier6_system::{ChipId, LinkId, VertexId};
use tier6_units::{ByteTime, SimTime};

use super::FabricLinkId;

/// Between whom a path is wanted. `flow` turns equal choices, for channels and sub-flows that
/// should not share a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRequest<'a> {
    /// From one chip to another.
    Send {
        /// The sender.
        from: ChipId,
        /// The receiver.
        to: ChipId,
        /// Which of equal paths.
        flow: u32,
    },
    /// One chip stores, the switch writes at every member (NVLS store).
    Multicast {
        /// The sender.
        from: ChipId,
        /// Who receives.
        members: &'a [ChipId],
        /// Which of equal trees.
        flow: u32,
    },
    /// The switch reads at every member and hands one chip the sum (NVLS load-reduce).
    LoadReduce {
        /// Who is read.
        members: &'a [ChipId],
        /// Who gets the sum.
        to: ChipId,
        /// Which of equal trees.
        flow: u32,
    },
    /// Every member sends up, every member gets the sum (SHARP).
    Aggregate {
        /// Who gives and gets.
        members: &'a [ChipId],
        /// Which of equal trees.
        flow: u32,
    },
}

/// A path as both fidelities see it.
#[derive(Debug, Clone, Copy)]
pub struct Path<'f> {
    /// The links that a message occupies, engines included, and the share of its bytes on each.
    pub uses: &'f [Use],
    /// Unloaded time of the first byte, the transaction layer included.
    pub latency: SimTime,
    /// What a byte takes when nobody else is there.
    pub byte: ByteTime,
    pub(super) shape: &'f Shape,
    pub(super) routes: &'f [LinkId],
}

/// How much of a link a message occupies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use {
    /// The link.
    pub link: FabricLinkId,
    /// Bytes on it per byte of the message: 1 on a plain route, a share of it on spread ones, and
    /// more than 1 where a switch serves slower than its links could carry.
    pub weight: f64,
}

/// The links by which a switch serves a group, for one kind of message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreePath {
    /// Links towards the root; each comes after those that feed it.
    pub up: Vec<LinkId>,
    /// The switch that copies or adds.
    pub root: VertexId,
    /// Links away from the root; each comes after the one that feeds it.
    pub down: Vec<LinkId>,
    /// Switches where ways to the root meet, each once.
    pub adders: Vec<VertexId>,
}

/// A path as it is kept, apart from its uses: those are asked for more often.
#[derive(Debug)]
pub(super) struct Trunk {
    pub(super) shape: Shape,
    pub(super) latency: SimTime,
    pub(super) byte: ByteTime,
}

#[derive(Debug)]
pub(super) enum Shape {
    /// One route.
    Route(Run),
    /// Several, over which packets or sub-flows spread.
    Spread(Box<[Run]>),
    Tree(Box<TreePath>),
}

/// A run of a vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    start: u32,
    length: u32,
}

impl Run {
    /// Appends to a vector and returns where.
    pub(super) fn append<T>(vector: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Self {
        let start = vector.len();
        vector.extend(items);
        let short = |n| u32::try_from(n).expect("Invariant: fewer than 2^32 hops fit the memory");
        Self {
            start: short(start),
            length: short(vector.len() - start),
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

impl<'f> Path<'f> {
    /// Returns how many routes packets may take: 1, or those over which the path spreads, the
    /// same one perhaps more than once; 0 for a tree.
    pub fn n_routes(&self) -> usize {
        match self.shape {
            Shape::Route(_) => 1,
            Shape::Spread(routes) => routes.len(),
            Shape::Tree(_) => 0,
        }
    }

    /// Returns one of the routes, without the engines.
    ///
    /// # Panics
    ///
    /// When there are not that many.
    pub fn route(&self, number: usize) -> &'f [LinkId] {
        match self.shape {
            Shape::Route(run) => {
                assert!(number == 0, "Invariant: the path has one route");
                &self.routes[run.range()]
            }
            Shape::Spread(routes) => &self.routes[routes[number].range()],
            Shape::Tree(_) => panic!("Invariant: a tree has no route"),
        }
    }

    /// Returns the tree, if a switch serves a group on this path.
    pub fn tree(&self) -> Option<&'f TreePath> {
        match self.shape {
            Shape::Tree(tree) => Some(tree),
            Shape::Route(_) | Shape::Spread(_) => None,
        }
    }
}
