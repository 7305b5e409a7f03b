//! AllToAll, computed: nothing is stored per transfer.
//!
//! Ids and sizes are those of the built schedules of `tier6-collective`: first each rank's copy of
//! its block for itself, then, by distance d from 1, what rank r sends to r + d.

use tier6_collective::{
    Collective, Follow, Grain, GroupId, Handshake, Op, PortId, RankId, Route, Transfer, TransferId,
};
use tier6_units::Bytes;

use super::{Dependency, Needs, Program, ProgramError, Purpose, Switches, shares::Shares};

/// AllToAll by messages from each rank to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeProgram {
    ranks: u32,
    blocks: Shares,
    grain: Grain,
    order: ExchangeOrder,
}

/// In which order the messages of an exchange go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOrder {
    /// All at once: `direct`.
    AllAtOnce,
    /// Distance by distance, each when the sends and receives of the one before are over:
    /// `pairwise` by shifts.
    ByDistance,
}

impl ExchangeProgram {
    /// Returns the exchange among `ranks` ranks, each with M bytes to send.
    ///
    /// # Errors
    ///
    /// When there are more transfers than ids.
    pub fn new(
        ranks: u32,
        bytes: Bytes,
        grain: Grain,
        order: ExchangeOrder,
    ) -> Result<Self, ProgramError> {
        if ranks == 0 || ranks.checked_mul(ranks).is_none() {
            return Err(ProgramError::Ranks { ranks });
        }
        Ok(Self {
            ranks,
            blocks: Shares::of(bytes, ranks),
            grain,
            order,
        })
    }

    const fn distance_and_rank(&self, id: TransferId) -> (u32, u32) {
        (id.0 / self.ranks, id.0 % self.ranks)
    }

    const fn shifted(&self, rank: u32, by: u32) -> u32 {
        (rank + by) % self.ranks
    }

    /// Appends the transfers of one distance that a rank sends and receives, by id.
    fn both(&self, distance: u32, sends: u32, receives_from: u32, into: &mut Vec<Dependency>) {
        let first = distance * self.ranks;
        let (low, high) = (sends.min(receives_from), sends.max(receives_from));
        into.extend([low, high].map(|rank| Dependency {
            transfer: TransferId(first + rank),
            follows: Follow::Complete,
        }));
    }
}

impl Program for ExchangeProgram {
    fn purpose(&self) -> Option<Purpose> {
        Some(Purpose {
            collective: Collective::AllToAll,
            bytes: self.blocks.all(),
            switches: Switches::Forward,
        })
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfers(&self) -> u32 {
        self.ranks * self.ranks
    }

    fn grain(&self) -> Grain {
        self.grain
    }

    fn handshake(&self) -> Handshake {
        Handshake::Eager
    }

    fn ports(&self) -> u32 {
        match self.order {
            ExchangeOrder::AllAtOnce => 0,
            ExchangeOrder::ByDistance => u32::from(self.ranks > 1),
        }
    }

    fn transfer(&self, id: TransferId) -> Transfer {
        let (distance, rank) = self.distance_and_rank(id);
        Transfer {
            bytes: self.blocks.bytes(distance),
            route: Route::Send {
                src: RankId(rank),
                dst: RankId(self.shifted(rank, distance)),
            },
            op: Op::Copy,
            port: match self.order {
                ExchangeOrder::ByDistance if distance > 0 => Some(PortId(0)),
                ExchangeOrder::ByDistance | ExchangeOrder::AllAtOnce => None,
            },
        }
    }

    fn group(&self, _: GroupId) -> &[RankId] {
        &[]
    }

    fn needs(&self, id: TransferId) -> Needs {
        let waits = self.order == ExchangeOrder::ByDistance && id.0 >= 2 * self.ranks;
        Needs {
            whole: if waits { 2 } else { 0 },
            by_slice: 0,
        }
    }

    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>) {
        let (distance, rank) = self.distance_and_rank(id);
        if self.order == ExchangeOrder::ByDistance && distance > 1 {
            let before = distance - 1;
            self.both(before, rank, self.shifted(rank, self.ranks - before), into);
        }
    }

    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>) {
        let (distance, rank) = self.distance_and_rank(id);
        let has_next = (1..self.ranks - 1).contains(&distance);
        if self.order == ExchangeOrder::ByDistance && has_next {
            self.both(distance + 1, rank, self.shifted(rank, distance), into);
        }
    }

    fn first(&self, rank: RankId, _: u32) -> Option<TransferId> {
        (self.ranks > 1).then_some(TransferId(self.ranks + rank.0))
    }

    fn next(&self, id: TransferId) -> Option<TransferId> {
        if self.order == ExchangeOrder::AllAtOnce || id.0 < self.ranks {
            return None;
        }
        let next = id.0 + self.ranks;
        (next < self.transfers()).then_some(TransferId(next))
    }

    fn loose_starts(&self, into: &mut Vec<TransferId>) {
        let distances = match self.order {
            ExchangeOrder::AllAtOnce => self.ranks,
            ExchangeOrder::ByDistance => 1,
        };
        // Rank by rank: what a chip sends in a row lies in a row in memory from then on.
        for rank in 0..self.ranks {
            let of_rank = (0..distances).map(|distance| TransferId(distance * self.ranks + rank));
            into.extend(of_rank);
        }
    }
}
