//! From the program to the schedule.

use std::collections::BTreeMap;

use crate::Collective;
use crate::schedule::draft::{Draft, Title};
use crate::schedule::ids::{PortId, RankId, Slot, TransferId};
use crate::schedule::json::has_blocks;
use crate::schedule::memory::{Memory, Placement};
use crate::schedule::script::Script;
use crate::schedule::transfer::{Grain, Handshake, Leg, Op, Piece};

use super::ReadMscclError;
use super::program::{BufferRun, Program, Step, StepBuffer, StepKind, TextPlace};

/// A step of the program: GPU, position of its thread block, step.
type StepId = (usize, usize, usize);

/// The two ends of a message and where it arrives.
struct Message {
    receiver: u32,
    /// First slot of the message at the receiver, counted from the first of all messages there.
    arrival: u32,
}

struct Lowering<'a> {
    program: &'a Program,
    draft: Draft,
    connected: Connected,
    /// What must be complete before what waits for the step starts; absent before it ran.
    done: BTreeMap<StepId, Vec<TransferId>>,
    /// First scratch slot for messages.
    arrivals: u32,
    /// Waits of transfers for steps that had not run when they were added.
    late: Vec<(TransferId, StepId)>,
    unsent: Vec<(TransferId, RankId)>,
    names: Vec<String>,
}

/// Lowers a program; beside it comes what keeps it from ending, if something does.
pub(super) fn lower(
    program: &Program,
    bytes: u64,
) -> Result<(Script, Option<ReadMscclError>), ReadMscclError> {
    let fail = |message: String| Err(program.place.error(message));
    let exchanges = program.collective == Collective::AllToAll;
    let placement = if program.in_place.unwrap_or(!exchanges) {
        Placement::InPlace
    } else {
        Placement::OutOfPlace
    };
    if exchanges && placement == Placement::InPlace {
        return fail("`alltoall` in place would change the size of blocks under way".to_owned());
    }
    if has_blocks(program.collective) && !program.chunks.is_multiple_of(program.ranks) {
        return fail(format!(
            "{} chunks are not a multiple of {} ranks",
            program.chunks, program.ranks
        ));
    }
    let connected = connect(program)?;
    let own_scratch = program
        .gpus
        .iter()
        .map(|gpu| gpu.scratch)
        .max()
        .unwrap_or(0);
    let memory = Memory::new(
        program.collective,
        program.ranks,
        bytes,
        program.chunks,
        placement,
    );
    let capacity = memory.chunk_bytes_max();
    let memory = memory.with_scratch(vec![capacity; (own_scratch + connected.arrivals) as usize]);
    let title = Title {
        collective: program.collective,
        algorithm: None,
        root: RankId(0),
        grain: Grain::Message,
        handshake: Handshake::Eager,
    };
    let mut lowering = Lowering {
        program,
        draft: Draft::plain(title, memory, 0),
        connected,
        done: BTreeMap::new(),
        arrivals: own_scratch,
        late: Vec::new(),
        unsent: Vec::new(),
        names: Vec::new(),
    };
    let stuck = lowering.run()?;
    let error = lowering.connected.lone_receive(program).or(stuck);
    Ok((lowering.finish(), error))
}

/// Which sends and receives meet.
struct Connected {
    /// The message that a step sends.
    sent: BTreeMap<StepId, Message>,
    /// The step whose message a step receives.
    received: BTreeMap<StepId, StepId>,
    /// Steps that receive what no step sends, with the rank that should and the place.
    lone: BTreeMap<StepId, (u32, u32)>,
    /// Slots that messages take at one rank.
    arrivals: u32,
}

impl Connected {
    /// Returns the slot in which a step finds its message, counted from the first of them.
    fn arrival(&self, receive: StepId) -> Option<u32> {
        let sent = self
            .received
            .get(&receive)
            .map(|send| self.sent[send].arrival);
        sent.or_else(|| self.lone.get(&receive).map(|(_, arrival)| *arrival))
    }

    fn lone_receive(&self, program: &Program) -> Option<ReadMscclError> {
        let first = self.lone.iter().min_by_key(|(id, (from, _))| (*from, **id));
        first.map(|(id, (from, _))| {
            let message = format!("rank {from} has no send for this receive");
            step_at(program, *id).place.error(message)
        })
    }
}

/// Pairs the k-th send of each connection with its k-th receive, and finds each message a place.
fn connect(program: &Program) -> Result<Connected, ReadMscclError> {
    // By sender, receiver and channel.
    let mut sends: BTreeMap<(u32, u32, u32), Vec<StepId>> = BTreeMap::new();
    let mut receives = sends.clone();
    for (rank, (gpu, g)) in (0..).zip(program.gpus.iter().zip(0..)) {
        for (block, b) in gpu.blocks.iter().zip(0..) {
            for peer in block.send.into_iter().chain(block.recv) {
                if peer >= program.ranks {
                    return Err(block.place.error(format!("peer {peer} does not exist")));
                }
            }
            for (step, s) in block.steps.iter().zip(0..) {
                if let Some(peer) = block.send.filter(|_| step.kind.sends()) {
                    let connection = sends.entry((rank, peer, block.channel)).or_default();
                    connection.push((g, b, s));
                }
                if let Some(peer) = block.recv.filter(|_| step.kind.receives()) {
                    let connection = receives.entry((peer, rank, block.channel)).or_default();
                    connection.push((g, b, s));
                }
            }
        }
    }
    let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
    let mut used = vec![0_u32; program.ranks as usize];
    for (connection, list) in &sends {
        let others = receives.remove(connection).unwrap_or_default();
        for (nth, send) in list.iter().enumerate() {
            let step = step_at(program, *send);
            let Some(receive) = others.get(nth) else {
                let message = format!("rank {} has no receive for this send", connection.1);
                return Err(step.place.error(message));
            };
            if step_at(program, *receive).count != step.count {
                let message = format!("the receive at rank {} has another `cnt`", connection.1);
                return Err(step.place.error(message));
            }
            let arrival = &mut used[connection.1 as usize];
            let message = Message {
                receiver: connection.1,
                arrival: *arrival,
            };
            *arrival = arrival.saturating_add(step.count);
            sent.insert(*send, message);
            received.insert(*receive, *send);
        }
        receives.insert(*connection, others.into_iter().skip(list.len()).collect());
    }
    let mut lone = BTreeMap::new();
    for ((from, to, _), receives) in &receives {
        for receive in receives {
            let arrival = &mut used[*to as usize];
            lone.insert(*receive, (*from, *arrival));
            *arrival = arrival.saturating_add(step_at(program, *receive).count);
        }
    }
    let most = used.into_iter().max().unwrap_or(0);
    if most > 1 << 24 {
        let message = format!("{most} chunks arrive at one rank; that is too many");
        return Err(program.place.error(message));
    }
    Ok(Connected {
        sent,
        received,
        lone,
        arrivals: most,
    })
}

fn step_at(program: &Program, (gpu, block, step): StepId) -> &Step {
    &program.gpus[gpu].blocks[block].steps[step]
}

impl Lowering<'_> {
    /// Runs every thread block as far as it gets, in turn, until all are through; returns the error
    /// of the first step that never is.
    fn run(&mut self) -> Result<Option<ReadMscclError>, ReadMscclError> {
        let program = self.program;
        let mut next: Vec<Vec<usize>> = program
            .gpus
            .iter()
            .map(|gpu| vec![0; gpu.blocks.len()])
            .collect();
        loop {
            let (mut has_moved, mut stuck) = (false, None);
            for (g, gpu) in program.gpus.iter().enumerate() {
                for (b, block) in gpu.blocks.iter().enumerate() {
                    while next[g][b] < block.steps.len() {
                        let id = (g, b, next[g][b]);
                        let waits = self.waits(id)?;
                        let Some(after) = self.all_done(&waits) else {
                            stuck = stuck.or(Some(id));
                            break;
                        };
                        let done = self.step(id, after)?;
                        self.done.insert(id, done);
                        next[g][b] += 1;
                        has_moved = true;
                    }
                }
            }
            match stuck {
                None => return Ok(None),
                Some(id) if !has_moved => {
                    let message = "deadlock: this step waits for one that waits for it";
                    self.add_stuck(&next)?;
                    return Ok(Some(step_at(program, id).place.error(message.to_owned())));
                }
                Some(_) => (),
            }
        }
    }

    /// Adds the steps that never run, each with its waits for those that do not run either.
    fn add_stuck(&mut self, next: &[Vec<usize>]) -> Result<(), ReadMscclError> {
        let program = self.program;
        for (g, gpu) in program.gpus.iter().enumerate() {
            for (b, block) in gpu.blocks.iter().enumerate() {
                for s in next[g][b]..block.steps.len() {
                    let id = (g, b, s);
                    let waits = self.waits(id)?;
                    let (done, late): (Vec<StepId>, Vec<StepId>) = waits
                        .into_iter()
                        .partition(|step| self.done.contains_key(step));
                    let after = self.all_done(&done).expect("Invariant: these are done");
                    let first = self.names.len();
                    let mut done = self.step(id, after.clone())?;
                    if self.names.len() == first {
                        // A step that moves nothing waits all the same.
                        let slot = self.draft.memory().recv(0);
                        let piece = Piece {
                            from: slot,
                            to: slot,
                            count: 1,
                        };
                        let rank = u32::try_from(g).expect("Invariant: ranks fit u32");
                        done = self.add(id, Leg::local(rank, Op::Copy), piece, &after)?;
                    }
                    let first = u32::try_from(first).expect("Invariant: transfers fit u32");
                    self.late
                        .extend(late.into_iter().map(|step| (TransferId(first), step)));
                    self.done.insert(id, done);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Script {
        let done = self.done;
        let late = self.late.iter();
        let late = late.flat_map(|(id, step)| done[step].iter().map(move |on| (*id, *on)));
        Script {
            late_waits: late.collect(),
            unsent: self.unsent,
            names: self.names,
            schedule: self.draft.finish(),
        }
    }

    /// Returns the transfers that end these steps, or `None` when some have not run.
    fn all_done(&self, steps: &[StepId]) -> Option<Vec<TransferId>> {
        let done = steps.iter().map(|step| self.done.get(step));
        let done: Option<Vec<&Vec<TransferId>>> = done.collect();
        let mut after: Vec<TransferId> = done?.into_iter().flatten().copied().collect();
        after.sort_unstable();
        after.dedup();
        Some(after)
    }

    /// Returns the steps that a step waits for.
    fn waits(&self, id: StepId) -> Result<Vec<StepId>, ReadMscclError> {
        let (g, b, s) = id;
        let step = step_at(self.program, id);
        let mut steps: Vec<StepId> = s.checked_sub(1).map(|s| (g, b, s)).into_iter().collect();
        if let Some((block_id, other)) = step.waits_for {
            let blocks = &self.program.gpus[g].blocks;
            let found = blocks.iter().position(|block| block.id == block_id);
            let found = found.filter(|found| (other as usize) < blocks[*found].steps.len());
            let Some(found) = found else {
                let message = format!(
                    "it waits for step {other} of thread block {block_id}, which does not exist"
                );
                return Err(step.place.error(message));
            };
            steps.push((g, found, other as usize));
        }
        steps.extend(self.connected.received.get(&id));
        Ok(steps)
    }

    /// Adds the step's transfers and returns what those that wait for the step wait for.
    fn step(
        &mut self,
        id: StepId,
        after: Vec<TransferId>,
    ) -> Result<Vec<TransferId>, ReadMscclError> {
        let step = step_at(self.program, id);
        let rank = u32::try_from(id.0).expect("Invariant: ranks fit u32");
        let (place, count) = (step.place, step.count);
        let piece = |from, to| Piece { from, to, count };
        let arrived = self.connected.arrival(id);
        let arrived = arrived.map(|arrival| self.draft.memory().scratch(self.arrivals + arrival));
        let first = self.names.len();
        let local = |op| Leg::local(rank, op);
        let (kind, mut done) = (step.kind, after);
        if kind == StepKind::Nop {
            return Ok(done);
        }
        let (src, dst) = (
            self.slot(rank, step.src, place)?,
            self.slot(rank, step.dst, place)?,
        );
        match (kind, arrived) {
            (StepKind::Recv | StepKind::RecvCopySend, Some(arrived)) => {
                done = self.add(id, local(Op::Copy), piece(arrived, dst), &done)?;
            }
            (StepKind::RecvReduceCopy | StepKind::RecvReduceCopySend, Some(arrived)) => {
                if src != dst {
                    done = self.add(id, local(Op::Copy), piece(src, dst), &done)?;
                }
                done = self.add(id, local(Op::Reduce), piece(arrived, dst), &done)?;
            }
            (StepKind::RecvReduceSend, Some(arrived)) => {
                done = self.add(id, local(Op::Reduce), piece(src, arrived), &done)?;
            }
            (StepKind::Copy, _) => {
                done = self.add(id, local(Op::Copy), piece(src, dst), &done)?;
            }
            (StepKind::Reduce, _) => {
                done = self.add(id, local(Op::Reduce), piece(src, dst), &done)?;
            }
            // A send alone; every receive has its message, and `nop` has left.
            _ => (),
        }
        if let Some(message) = self.connected.sent.get(&id) {
            let from = match (kind, arrived) {
                (StepKind::RecvReduceSend, Some(arrived)) => arrived,
                (StepKind::RecvCopySend | StepKind::RecvReduceCopySend, _) => dst,
                _ => src,
            };
            let to = self.draft.memory().scratch(self.arrivals + message.arrival);
            let mut leg = Leg::send(rank, message.receiver, Op::Copy);
            let block = self.program.gpus[id.0].blocks[id.1].id;
            leg.port = u8::try_from(block).ok().map(PortId);
            done = self.add(id, leg, piece(from, to), &done)?;
        }
        if let Some((from, _)) = self.connected.lone.get(&id) {
            let first = u32::try_from(first).expect("Invariant: transfers fit u32");
            self.unsent.push((TransferId(first), RankId(*from)));
        }
        Ok(done)
    }

    fn add(
        &mut self,
        id: StepId,
        leg: Leg,
        piece: Piece,
        after: &[TransferId],
    ) -> Result<Vec<TransferId>, ReadMscclError> {
        let place = step_at(self.program, id).place;
        let block = &self.program.gpus[id.0].blocks[id.1];
        self.names
            .push(format!("thread block {}, step {}", block.id, id.2));
        let flaw = self.draft.schedule().flaw(&leg, &[piece], after);
        flaw.map_err(|flaw| place.error(flaw.to_string()))?;
        Ok(vec![self.draft.push_after(leg, &[piece], after)])
    }

    /// Returns the slot of a buffer's chunk.
    fn slot(&self, rank: u32, run: BufferRun, place: TextPlace) -> Result<Slot, ReadMscclError> {
        let (program, memory) = (self.program, self.draft.memory());
        let share = program.chunks / program.ranks;
        let is_share = matches!(
            (run.buffer, program.collective),
            (StepBuffer::Input, Collective::AllGather)
                | (StepBuffer::Output, Collective::ReduceScatter)
        );
        let (limit, first) = match run.buffer {
            StepBuffer::Scratch => (self.arrivals, 0),
            _ if is_share => (share, rank * share),
            _ => (program.chunks, 0),
        };
        if run.offset >= limit {
            let message = format!("chunk {} is beyond a buffer of {limit}", run.offset);
            return Err(place.error(message));
        }
        let index = first + run.offset;
        Ok(match run.buffer {
            StepBuffer::Input => memory.send(index),
            StepBuffer::Output => memory.recv(index),
            StepBuffer::Scratch => memory.scratch(index),
        })
    }
}
