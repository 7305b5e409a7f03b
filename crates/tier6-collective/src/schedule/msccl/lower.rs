//! From the program to the schedule.

use std::collections::BTreeMap;

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::{Draft, Title};
use crate::schedule::ids::{PortId, RankId, Slot, TransferId};
use crate::schedule::json::has_blocks;
use crate::schedule::memory::{Memory, Placement};
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
    /// The message that a step sends, and the one that it receives.
    sent: BTreeMap<StepId, Message>,
    received: BTreeMap<StepId, StepId>,
    /// What must be complete before what waits for the step starts; absent before it ran.
    done: BTreeMap<StepId, Vec<TransferId>>,
    /// First scratch slot for messages.
    arrivals: u32,
}

pub(super) fn lower(program: &Program, bytes: u64) -> Result<Schedule, ReadMscclError> {
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
    let (sent, received, n_arrivals) = connect(program)?;
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
    let memory = memory.with_scratch(vec![capacity; (own_scratch + n_arrivals) as usize]);
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
        sent,
        received,
        done: BTreeMap::new(),
        arrivals: own_scratch,
    };
    lowering.run()?;
    Ok(lowering.draft.finish())
}

type Connected = (BTreeMap<StepId, Message>, BTreeMap<StepId, StepId>, u32);

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
    if let Some((connection, lone)) = receives.iter().find(|(_, list)| !list.is_empty()) {
        let message = format!("rank {} has no send for this receive", connection.0);
        return Err(step_at(program, lone[0]).place.error(message));
    }
    let most = used.into_iter().max().unwrap_or(0);
    if most > 1 << 24 {
        let message = format!("{most} chunks arrive at one rank; that is too many");
        return Err(program.place.error(message));
    }
    Ok((sent, received, most))
}

fn step_at(program: &Program, (gpu, block, step): StepId) -> &Step {
    &program.gpus[gpu].blocks[block].steps[step]
}

impl Lowering<'_> {
    /// Runs every thread block as far as it gets, in turn, until all are through.
    fn run(&mut self) -> Result<(), ReadMscclError> {
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
                        let Some(after) = self.ready(id)? else {
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
                None => return Ok(()),
                Some(id) if !has_moved => {
                    let message = "deadlock: this step waits for one that waits for it";
                    return Err(step_at(program, id).place.error(message.to_owned()));
                }
                Some(_) => (),
            }
        }
    }

    /// Returns what the step waits for, or `None` when some of that has not run.
    fn ready(&self, id: StepId) -> Result<Option<Vec<TransferId>>, ReadMscclError> {
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
        steps.extend(self.received.get(&id));
        let mut after = Vec::new();
        for step in steps {
            match self.done.get(&step) {
                Some(done) => after.extend(done),
                None => return Ok(None),
            }
        }
        after.sort_unstable();
        after.dedup();
        Ok(Some(after))
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
        let arrived = self.received.get(&id).map(|send| {
            let message = &self.sent[send];
            self.draft.memory().scratch(self.arrivals + message.arrival)
        });
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
                done = self.add(local(Op::Copy), piece(arrived, dst), &done, place)?;
            }
            (StepKind::RecvReduceCopy | StepKind::RecvReduceCopySend, Some(arrived)) => {
                if src != dst {
                    done = self.add(local(Op::Copy), piece(src, dst), &done, place)?;
                }
                done = self.add(local(Op::Reduce), piece(arrived, dst), &done, place)?;
            }
            (StepKind::RecvReduceSend, Some(arrived)) => {
                done = self.add(local(Op::Reduce), piece(src, arrived), &done, place)?;
            }
            (StepKind::Copy, _) => {
                done = self.add(local(Op::Copy), piece(src, dst), &done, place)?;
            }
            (StepKind::Reduce, _) => {
                done = self.add(local(Op::Reduce), piece(src, dst), &done, place)?;
            }
            // A send alone; every receive has its message, and `nop` has left.
            _ => (),
        }
        if let Some(message) = self.sent.get(&id) {
            let from = match (kind, arrived) {
                (StepKind::RecvReduceSend, Some(arrived)) => arrived,
                (StepKind::RecvCopySend | StepKind::RecvReduceCopySend, _) => dst,
                _ => src,
            };
            let to = self.draft.memory().scratch(self.arrivals + message.arrival);
            let mut leg = Leg::send(rank, message.receiver, Op::Copy);
            let block = self.program.gpus[id.0].blocks[id.1].id;
            leg.port = u8::try_from(block).ok().map(PortId);
            done = self.add(leg, piece(from, to), &done, place)?;
        }
        Ok(done)
    }

    fn add(
        &mut self,
        leg: Leg,
        piece: Piece,
        after: &[TransferId],
        place: TextPlace,
    ) -> Result<Vec<TransferId>, ReadMscclError> {
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
