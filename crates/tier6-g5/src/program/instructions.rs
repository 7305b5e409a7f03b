//! What each chip executes, in order: a program seen from one rank.
//!
//! The engine runs transfers; this is the same said in the instructions of the chips, for people
//! who read or compare streams. A receive is an instruction of the receiver, and a rank whose
//! memory a switch reads stands at a barrier of its group until then.

use std::fmt;

use tier6_collective::{GroupId, Op, RankId, Route, Transfer, TransferId};

use super::Program;

/// One instruction of a chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The transfer that it is part of.
    pub transfer: TransferId,
    /// What the chip does.
    pub what: Action,
    /// Payload in bytes.
    pub bytes: u64,
}

/// What an instruction does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Waits until these transfers are complete.
    Wait(Vec<TransferId>),
    /// Sends to a rank.
    Send(RankId),
    /// Receives from a rank.
    Recv(RankId),
    /// Receives from a rank and adds.
    RecvReduce(RankId),
    /// Copies in its own memory.
    Copy,
    /// Adds in its own memory.
    Reduce,
    /// Stores at every member of a group.
    Multicast(GroupId),
    /// Gets the sum of a group's members.
    LoadReduce(GroupId),
    /// Gives to and gets the sum of a group's members.
    Aggregate(GroupId),
    /// Stands still while a switch reads at the members of a group.
    Barrier(GroupId),
}

/// Returns what the chip of a rank executes, in the order of the transfers. Takes time in
/// proportion to all transfers of the program.
///
/// ```
/// use tier6_collective::{Collective, Grain, RankId};
/// use tier6_g5::{RingPace, RingProgram, instructions};
/// use tier6_units::Bytes;
///
/// let bytes = Bytes::new(3000);
/// let pace = RingPace::Arrival;
/// let ring = RingProgram::new(Collective::ReduceScatter, 3, bytes, Grain::Message, pace)?;
/// let stream: Vec<String> = instructions(&ring, RankId(0)).iter().map(|i| i.to_string()).collect();
/// assert_eq!(stream, [
///     "0: SEND to rank 1, 1000 B",
///     "2: RECV_REDUCE from rank 2, 1000 B",
///     "3: WAIT for 2",
///     "3: SEND to rank 1, 1000 B",
///     "5: RECV_REDUCE from rank 2, 1000 B",
/// ]);
/// # Ok::<(), tier6_g5::ProgramError>(())
/// ```
pub fn instructions(program: &dyn Program, rank: RankId) -> Vec<Instruction> {
    let mut stream = Vec::new();
    for id in (0..program.transfers()).map(TransferId) {
        let transfer = program.transfer(id);
        let actions = actions(program, &transfer, rank);
        if actions.first().is_some_and(Action::is_issued) {
            let mut before = Vec::new();
            program.dependencies(id, &mut before);
            if !before.is_empty() {
                stream.push(Instruction {
                    transfer: id,
                    what: Action::Wait(before.iter().map(|one| one.transfer).collect()),
                    bytes: 0,
                });
            }
        }
        stream.extend(actions.into_iter().map(|what| Instruction {
            transfer: id,
            what,
            bytes: transfer.bytes,
        }));
    }
    stream
}

/// Returns what a rank does for a transfer.
fn actions(program: &dyn Program, transfer: &Transfer, rank: RankId) -> Vec<Action> {
    let is_member = |group| program.group(group).contains(&rank);
    let receive = |from| match transfer.op {
        Op::Copy => Action::Recv(from),
        Op::Reduce => Action::RecvReduce(from),
    };
    let mut actions = Vec::new();
    match transfer.route {
        Route::Send { src, dst } if src == dst => {
            actions.extend((src == rank).then_some(match transfer.op {
                Op::Copy => Action::Copy,
                Op::Reduce => Action::Reduce,
            }));
        }
        Route::Send { src, dst } => {
            actions.extend((src == rank).then_some(Action::Send(dst)));
            actions.extend((dst == rank).then(|| receive(src)));
        }
        Route::Multicast { src, group } => {
            actions.extend((src == rank).then_some(Action::Multicast(group)));
            actions.extend(is_member(group).then(|| receive(src)));
        }
        Route::LoadReduce { group, dst } => {
            actions.extend((dst == rank).then_some(Action::LoadReduce(group)));
            let is_read = dst != rank && is_member(group);
            actions.extend(is_read.then_some(Action::Barrier(group)));
        }
        Route::Aggregate { group } => {
            actions.extend(is_member(group).then_some(Action::Aggregate(group)));
        }
    }
    actions
}

impl Action {
    /// Says whether the rank starts something, so that it waits first.
    const fn is_issued(&self) -> bool {
        match self {
            Self::Send(_)
            | Self::Copy
            | Self::Reduce
            | Self::Multicast(_)
            | Self::LoadReduce(_)
            | Self::Aggregate(_) => true,
            Self::Wait(_) | Self::Recv(_) | Self::RecvReduce(_) | Self::Barrier(_) => false,
        }
    }
}

impl fmt::Display for Instruction {
    /// Prints `17: SEND to rank 4, 65536 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.transfer)?;
        match &self.what {
            Action::Wait(before) => {
                let before: Vec<String> = before.iter().map(ToString::to_string).collect();
                return write!(f, "WAIT for {}", before.join(", "));
            }
            Action::Send(to) => write!(f, "SEND to rank {to}")?,
            Action::Recv(from) => write!(f, "RECV from rank {from}")?,
            Action::RecvReduce(from) => write!(f, "RECV_REDUCE from rank {from}")?,
            Action::Copy => write!(f, "COPY")?,
            Action::Reduce => write!(f, "REDUCE")?,
            Action::Multicast(group) => write!(f, "MULTICAST to group {group}")?,
            Action::LoadReduce(group) => write!(f, "LOAD_REDUCE of group {group}")?,
            Action::Aggregate(group) => write!(f, "AGGREGATE in group {group}")?,
            Action::Barrier(group) => return write!(f, "BARRIER of group {group}"),
        }
        write!(f, ", {} B", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lowered;
    use tier6_collective::{Algorithm, BuildOptions, Collective, build};
    use tier6_units::Bytes;

    fn streams(collective: Collective, algorithm: Algorithm, n: u32) -> Vec<Vec<Instruction>> {
        let options = BuildOptions::new(n, Bytes::new(n.into()));
        let program = Lowered::new(&build(collective, algorithm, &options).unwrap());
        (0..n)
            .map(|rank| instructions(&program, RankId(rank)))
            .collect()
    }

    #[test]
    fn every_send_has_its_receive() {
        for (collective, algorithm) in [
            (Collective::AllReduce, Algorithm::Tree),
            (Collective::AllReduce, Algorithm::HalvingDoubling),
            (Collective::AllToAll, Algorithm::Bruck),
        ] {
            let streams = streams(collective, algorithm, 8);
            let mut sends = 0;
            for (rank, stream) in (0..).map(RankId).zip(&streams) {
                for instruction in stream {
                    let Action::Send(to) = instruction.what else {
                        continue;
                    };
                    sends += 1;
                    let there = streams[to.index()].iter().find(|other| {
                        other.transfer == instruction.transfer
                            && matches!(other.what, Action::Recv(from) | Action::RecvReduce(from)
                                if from == rank)
                    });
                    assert_eq!(there.map(|other| other.bytes), Some(instruction.bytes));
                }
            }
            assert!(sends > 8, "{algorithm} sends");
        }
    }

    #[test]
    fn what_a_switch_reads_stands_still() {
        let streams = streams(Collective::AllReduce, Algorithm::Nvls, 4);
        let text: Vec<String> = streams[1].iter().map(ToString::to_string).collect();
        let group = "group";
        assert_eq!(
            text.iter().filter(|line| line.contains("BARRIER")).count(),
            3
        );
        assert_eq!(
            text.iter()
                .filter(|line| line.contains("LOAD_REDUCE"))
                .count(),
            1
        );
        assert_eq!(
            text.iter()
                .filter(|line| line.contains("MULTICAST"))
                .count(),
            1
        );
        assert_eq!(
            text.iter()
                .filter(|line| line.contains("RECV from"))
                .count(),
            4
        );
        assert!(
            text.iter()
                .all(|line| line.contains(group) || line.contains("rank") || line.contains("WAIT"))
        );
    }
}
