//! Schedules: who sends what to whom, in which order.
//!
//! A [`Schedule`] is what both engines run. It is a list of [`Transfer`]s over the ranks'
//! [`Memory`], each with the pieces it moves and the transfers that must be complete before it
//! starts. A closed-form engine adds up [`Schedule::pair_bytes`] on the links of a topology; an
//! event-driven engine turns each rank's transfers into an instruction stream, one queue per
//! port ([`Schedule::queues`]), and goes on from transfer to transfer
//! ([`Schedule::dependents`]).
//!
//! What holds for every schedule that [`build`] or a reader returns:
//!
//! * ids index vectors; a transfer depends on transfers with smaller ids only, so the list is in
//!   a topological order and no schedule can deadlock;
//! * a piece reads and writes slots that exist, of one size;
//! * the send vector of an out-of-place call is never written.
//!
//! What holds for those of [`build`] and can be proved for any by [`Schedule::check`]: the result
//! is the collective's, and no two transfers race for a cell, whatever order the dependencies
//! allow. Steps are derived ([`Schedule::steps`]), not stored. Times, protocols and channels are
//! the engines' business and deliberately absent.

mod ancestry;
mod build;
mod check;
mod dependents;
mod draft;
mod history;
mod ids;
mod json;
mod memory;
mod msccl;
mod queues;
mod rank_set;
mod rows;
mod script;
mod steps;
mod traffic;
mod transfer;
mod validity;

use tier6_units::Bytes;

use crate::{Algorithm, Collective};

pub use build::{
    BidirForm, BuildError, BuildOptions, Distance, Fold, GatherForm, Partner, RANKS_MAX,
    SecondShot, TorusPorts, Trees, build, offered, offers,
};
pub use check::Violation;
pub use dependents::{Dependent, Dependents, Follow};
pub use ids::{GroupId, PortId, RankId, Slot, TransferId};
pub use json::{ReadError, SCHEMA, read_json, read_json_script};
pub use memory::{Buffer, Layout, Memory, Place, Placement};
pub use msccl::{ReadMscclError, read_msccl, read_msccl_script};
pub use queues::Queue;
pub use script::Script;
pub use steps::Steps;
pub use traffic::{Endpoint, Flow, PairBytes};
pub use transfer::{Grain, Handshake, Op, Piece, Route, Transfer};
pub use validity::Flaw;

use draft::Title;
use rows::Rows;

/// Who sends what to whom, in which order: one call of a collective, unrolled.
///
/// ```
/// use tier6_collective::{Algorithm, BuildOptions, Collective, build};
/// use tier6_units::Bytes;
///
/// let options = BuildOptions::new(8, Bytes::new(8 << 20));
/// let ring = build(Collective::AllReduce, Algorithm::Ring, &options)?;
/// ring.check().expect("a ring reduces");
/// assert_eq!(ring.steps().count, 14);
/// assert_eq!(ring.sent_bytes()[3], 14 << 20);
/// # Ok::<(), tier6_collective::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    title: Title,
    memory: Memory,
    groups: Vec<Vec<RankId>>,
    transfers: Vec<Transfer>,
    pieces: Rows<Piece>,
    dependencies: Rows<TransferId>,
}

impl Schedule {
    /// Returns the collective that the schedule computes.
    pub const fn collective(&self) -> Collective {
        self.title.collective
    }

    /// Returns the algorithm, if it is one of ours.
    pub const fn algorithm(&self) -> Option<Algorithm> {
        self.title.algorithm
    }

    /// Returns N.
    pub const fn ranks(&self) -> u32 {
        self.memory.ranks()
    }

    /// Returns M in nccl-tests' meaning: the vector per rank for AllReduce, Broadcast, Reduce and
    /// SendRecv, the whole vector for AllGather, ReduceScatter, Gather and Scatter, one rank's
    /// send buffer for AllToAll.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.memory.bytes())
    }

    /// Returns the root of Broadcast, Reduce, Gather and Scatter; rank 0 and without meaning for
    /// the others.
    pub const fn root(&self) -> RankId {
        self.title.root
    }

    /// Returns the grain of forwarding.
    pub const fn grain(&self) -> Grain {
        self.title.grain
    }

    /// Returns how sender and receiver agree on a transfer.
    pub const fn handshake(&self) -> Handshake {
        self.title.handshake
    }

    /// Returns the slots of a rank and their sizes.
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the groups that switches serve.
    pub fn groups(&self) -> &[Vec<RankId>] {
        &self.groups
    }

    /// Returns the transfers in a topological order, which is also the order of each port.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Returns the transfers with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (TransferId, &Transfer)> {
        (0..).map(TransferId).zip(&self.transfers)
    }

    /// Returns what a transfer moves.
    ///
    /// # Panics
    ///
    /// When the id is not one of this schedule.
    pub fn pieces(&self, id: TransferId) -> &[Piece] {
        self.pieces.row(id.index())
    }

    /// Returns the transfers that must be complete before this one starts, in order of their ids.
    ///
    /// # Panics
    ///
    /// When the id is not one of this schedule.
    pub fn dependencies(&self, id: TransferId) -> &[TransferId] {
        self.dependencies.row(id.index())
    }

    /// Returns the ranks whose memory a route reads, and those whose memory it writes.
    fn readers_and_writers<'a>(&'a self, route: &'a Route) -> (&'a [RankId], &'a [RankId]) {
        use std::slice::from_ref;
        let members = |group: &GroupId| self.groups[group.index()].as_slice();
        match route {
            Route::Send { src, dst } => (from_ref(src), from_ref(dst)),
            Route::Multicast { src, group } => (from_ref(src), members(group)),
            Route::LoadReduce { group, dst } => (members(group), from_ref(dst)),
            Route::Aggregate { group } => (members(group), members(group)),
        }
    }

    /// Returns the payload of a piece: the size of its slots in a vector, or the capacity of the
    /// slots read when both ends are scratch.
    fn piece_bytes(&self, route: Route, piece: Piece) -> u64 {
        let (readers, writers) = self.readers_and_writers(&route);
        let at = |ranks: &[RankId], slot| {
            ranks
                .first()
                .map_or(0, |rank| self.memory.run_bytes(*rank, slot, piece.count))
        };
        match self.memory.place(piece.from).buffer {
            Buffer::Scratch if self.memory.place(piece.to).buffer != Buffer::Scratch => {
                at(writers, piece.to)
            }
            _ => at(readers, piece.from),
        }
    }
}
