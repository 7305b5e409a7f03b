//! The ring, computed: nothing is stored per transfer.
//!
//! Ids, blocks and dependencies are those of the built schedule of `tier6-collective` (FACTS B.1
//! in its aligned form): transfer s·N + p is what position p sends in step s, and it waits for
//! what position p - 1 sent in step s - 1.

use tier6_collective::{
    Collective, Follow, Grain, GroupId, Handshake, Op, PortId, RankId, Route, Transfer, TransferId,
};
use tier6_units::Bytes;

use super::{Dependency, Needs, Program, ProgramError, Purpose, Switches, shares::Shares};

/// AllReduce, ReduceScatter or AllGather on a ring in the order of the ranks.
///
/// ```
/// use tier6_collective::{Collective, Grain};
/// use tier6_g5::{Program, RingPace, RingProgram};
/// use tier6_units::Bytes;
///
/// let bytes = Bytes::new(16 << 20);
/// let ring = RingProgram::new(
///     Collective::AllReduce,
///     1024,
///     bytes,
///     Grain::Message,
///     RingPace::Arrival,
/// )?;
/// assert_eq!(ring.transfers(), 2 * 1023 * 1024);
/// # Ok::<(), tier6_g5::ProgramError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingProgram {
    ranks: u32,
    blocks: Shares,
    grain: Grain,
    pace: RingPace,
    handshake: Handshake,
    /// Steps that reduce, and steps in all.
    reducing: u32,
    steps: u32,
}

/// When a rank of a ring goes on to its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingPace {
    /// When the block to send has arrived: `ring`.
    Arrival,
    /// When its own send is over as well: `send_recv_ring`, which has a handshake per step.
    OwnSend,
}

impl RingProgram {
    /// Returns the ring of `ranks` ranks for M bytes.
    ///
    /// # Errors
    ///
    /// When the collective is none that a ring does block by block, or there are more transfers
    /// than ids.
    pub fn new(
        collective: Collective,
        ranks: u32,
        bytes: Bytes,
        grain: Grain,
        pace: RingPace,
    ) -> Result<Self, ProgramError> {
        let phase = ranks.saturating_sub(1);
        let (reducing, gathering) = match collective {
            Collective::AllReduce => (phase, phase),
            Collective::ReduceScatter => (phase, 0),
            Collective::AllGather => (0, phase),
            Collective::AllToAll
            | Collective::AllToAllV
            | Collective::Broadcast
            | Collective::Reduce
            | Collective::SendRecv
            | Collective::Gather
            | Collective::Scatter
            | Collective::HyperCube => return Err(ProgramError::NotComputed { collective }),
        };
        let steps = u64::from(reducing) + u64::from(gathering);
        let transfers = steps * u64::from(ranks);
        if ranks == 0 || u32::try_from(transfers).is_err() {
            return Err(ProgramError::Ranks { ranks });
        }
        Ok(Self {
            ranks,
            blocks: Shares::of(bytes, ranks),
            grain,
            pace,
            handshake: match pace {
                RingPace::Arrival => Handshake::Eager,
                RingPace::OwnSend => Handshake::Rendezvous,
            },
            reducing,
            steps: reducing + gathering,
        })
    }

    /// Returns the same ring with another way for sender and receiver to agree.
    pub const fn with_handshake(self, handshake: Handshake) -> Self {
        Self { handshake, ..self }
    }

    const fn step_and_position(&self, id: TransferId) -> (u32, u32) {
        (id.0 / self.ranks, id.0 % self.ranks)
    }

    const fn before(&self, position: u32) -> u32 {
        if position == 0 {
            self.ranks - 1
        } else {
            position - 1
        }
    }

    const fn behind(&self, position: u32) -> u32 {
        if position + 1 == self.ranks {
            0
        } else {
            position + 1
        }
    }

    const fn id(&self, step: u32, position: u32) -> TransferId {
        TransferId(step * self.ranks + position)
    }

    /// How a step follows the arrival of the block that it passes on.
    const fn follows(&self) -> Follow {
        match self.grain {
            Grain::Message => Follow::Complete,
            Grain::Slices { .. } => Follow::Slices,
        }
    }

    /// Appends the transfer at the neighbour and, when a rank waits for it, the rank's own.
    fn pair(&self, neighbour: TransferId, own: TransferId, into: &mut Vec<Dependency>) {
        let passes_on = Dependency {
            transfer: neighbour,
            follows: self.follows(),
        };
        let own = Dependency {
            transfer: own,
            follows: Follow::Complete,
        };
        match self.pace {
            RingPace::Arrival => into.push(passes_on),
            RingPace::OwnSend if neighbour < own.transfer => into.extend([passes_on, own]),
            RingPace::OwnSend => into.extend([own, passes_on]),
        }
    }
}

impl Program for RingProgram {
    fn purpose(&self) -> Option<Purpose> {
        let collective = match (self.reducing > 0, self.steps > self.reducing) {
            (true, true) => Collective::AllReduce,
            (true, false) => Collective::ReduceScatter,
            (false, _) => Collective::AllGather,
        };
        Some(Purpose {
            collective,
            bytes: self.blocks.all(),
            switches: Switches::Forward,
        })
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfers(&self) -> u32 {
        self.steps * self.ranks
    }

    fn grain(&self) -> Grain {
        self.grain
    }

    fn handshake(&self) -> Handshake {
        self.handshake
    }

    fn ports(&self) -> u32 {
        1
    }

    fn transfer(&self, id: TransferId) -> Transfer {
        let (step, position) = self.step_and_position(id);
        let (op, back) = if step < self.reducing {
            (Op::Reduce, step + 1)
        } else {
            (Op::Copy, step - self.reducing)
        };
        // Position p sends block p - back, and back < N.
        let block = if position >= back {
            position - back
        } else {
            position + self.ranks - back
        };
        Transfer {
            bytes: self.blocks.bytes(block),
            route: Route::Send {
                src: RankId(position),
                dst: RankId(self.behind(position)),
            },
            op,
            port: Some(PortId(0)),
        }
    }

    fn group(&self, _: GroupId) -> &[RankId] {
        &[]
    }

    fn needs(&self, id: TransferId) -> Needs {
        if id.0 < self.ranks {
            return Needs::default();
        }
        let own = match self.pace {
            RingPace::Arrival => 0,
            RingPace::OwnSend => 1,
        };
        match self.grain {
            Grain::Message => Needs {
                whole: 1 + own,
                by_slice: 0,
            },
            Grain::Slices { .. } => Needs {
                whole: own,
                by_slice: 1,
            },
        }
    }

    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>) {
        let (step, position) = self.step_and_position(id);
        if step > 0 {
            let neighbour = self.id(step - 1, self.before(position));
            self.pair(neighbour, self.id(step - 1, position), into);
        }
    }

    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>) {
        let (step, position) = self.step_and_position(id);
        if step + 1 < self.steps {
            let neighbour = self.id(step + 1, self.behind(position));
            self.pair(neighbour, self.id(step + 1, position), into);
        }
    }

    fn first(&self, rank: RankId, _: u32) -> Option<TransferId> {
        (self.steps > 0).then_some(TransferId(rank.0))
    }

    fn next(&self, id: TransferId) -> Option<TransferId> {
        let next = id.0 + self.ranks;
        (next < self.transfers()).then_some(TransferId(next))
    }

    fn loose_starts(&self, _: &mut Vec<TransferId>) {}
}
