//! What chips run: transfers, what each waits for, and the queues that they leave through.
//!
//! A [`Schedule`](tier6_collective::Schedule) is one way to have a program ([`Lowered`]); rings
//! and exchanges of thousands of ranks are computed instead of stored, so that the memory of a run
//! grows with its ranks and not with its messages.

mod exchange;
mod instructions;
mod lowered;
mod relabelled;
mod ring;
mod shares;
#[cfg(test)]
mod tests;

pub use exchange::{ExchangeOrder, ExchangeProgram};
pub use instructions::{Action, Instruction, instructions};
pub use lowered::Lowered;
pub use relabelled::Relabelled;
pub use ring::{RingPace, RingProgram};

use tier6_collective::{
    Collective, Follow, Grain, GroupId, Handshake, RankId, Route, Transfer, TransferId,
};
use tier6_units::Bytes;

/// A transfer that another waits for, or that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    /// The other transfer.
    pub transfer: TransferId,
    /// How the later of the two may follow the earlier.
    pub follows: Follow,
}

/// How many transfers a transfer waits for, by how it follows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Transfers that must be complete.
    pub whole: u32,
    /// Transfers of which the same slice must be complete; 0 when the grain is messages.
    pub by_slice: u32,
}

/// What a program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose {
    /// The collective.
    pub collective: Collective,
    /// M of FACTS B.0, as nccl-tests counts it.
    pub bytes: Bytes,
    /// What switches do for it.
    pub switches: Switches,
}

/// What switches do for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switches {
    /// They forward.
    Forward,
    /// They copy and add as well, so chips have less to send.
    Compute,
}

/// What the chips of one job run.
///
/// Ids are dense from 0. A transfer depends on transfers with smaller ids only, or nothing says
/// that the run ends (one that does not is a deadlock, and says so); the transfers of a port leave in the order that [`Program::next`] tells.
pub trait Program {
    /// Returns what it computes, where that is known for certain.
    fn purpose(&self) -> Option<Purpose> {
        None
    }

    /// Returns what its writer calls a transfer, where that is more than its number.
    fn name(&self, _: TransferId) -> Option<&str> {
        None
    }

    /// Returns the rank for whose message a transfer waits in vain; [`Program::needs`] counts it.
    fn unsent(&self, _: TransferId) -> Option<RankId> {
        None
    }

    /// Returns N.
    fn ranks(&self) -> u32;

    /// Returns the number of transfers.
    fn transfers(&self) -> u32;

    /// Returns the grain of forwarding.
    fn grain(&self) -> Grain;

    /// Returns how sender and receiver agree.
    fn handshake(&self) -> Handshake;

    /// Returns the number of queues of a rank: ports are below it.
    fn ports(&self) -> u32;

    /// Returns a transfer.
    fn transfer(&self, id: TransferId) -> Transfer;

    /// Returns the members of a group that switches serve.
    fn group(&self, group: GroupId) -> &[RankId];

    /// Returns for how many transfers a transfer waits.
    fn needs(&self, id: TransferId) -> Needs;

    /// Appends what a transfer waits for.
    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>);

    /// Appends what waits for a transfer.
    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>);

    /// Returns the first transfer of a rank's queue.
    fn first(&self, rank: RankId, port: u32) -> Option<TransferId>;

    /// Returns the transfer behind this one in its queue; `None` when it is the last or has no
    /// port.
    fn next(&self, id: TransferId) -> Option<TransferId>;

    /// Appends the transfers that wait for nothing and have no queue, in the order in which they
    /// begin.
    fn loose_starts(&self, into: &mut Vec<TransferId>);
}

/// Returns the rank and the port in whose queue a transfer leaves; `None` without a port. All
/// members of a group send an aggregation; it is in the queue of the first of them, so that those
/// of one port follow each other through the network instead of sharing it.
pub(crate) fn queue_of<'p>(
    transfer: &Transfer,
    members: impl FnOnce(GroupId) -> &'p [RankId],
) -> Option<(RankId, u32)> {
    let port = transfer.port?;
    let rank = match transfer.route {
        Route::Aggregate { group } => members(group).first().copied(),
        Route::Send { .. } | Route::Multicast { .. } | Route::LoadReduce { .. } => {
            transfer.issuer()
        }
    };
    rank.map(|rank| (rank, u32::from(port.0)))
}

/// A program that is not computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Only schedules do this collective.
    #[error("`{collective}` is not computed; hint: lower its schedule")]
    NotComputed {
        /// The collective.
        collective: Collective,
    },
    /// Nobody, or more transfers than ids.
    #[error("{ranks} ranks; hint: at least 1, and fewer than 2^32 transfers in all")]
    Ranks {
        /// N.
        ranks: u32,
    },
}
