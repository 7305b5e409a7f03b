//! From arrived to complete, and who is told.

use tier6_collective::{Follow, Handshake, Op, Route, TransferId};
use tier6_units::SimTime;

use super::pending::{Extent, Part};
use super::rendezvous::{Completed, Side, receiver};
use super::{ChipEvent, Chips, FlightId, Node};
use crate::FabricError;
use crate::account::{Chain, Doing};
use crate::network::{Network, Responses};
use crate::program::{Dependency, queue_of};
use crate::run::World;
use crate::{Span, Track};

/// Why a memory at work has a rank: what switches reduce is only written.
const SENDS_ONLY: &str = "Invariant: only sends are local or reduced by their receiver";

impl Chips<'_> {
    /// The last byte is at the receiver.
    pub(super) fn arrived<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let flight = &mut self.flights[id];
        self.totals.bytes_arrived += flight.bytes;
        let responses = world.network.responses();
        if responses == Responses::Modelled {
            flight.holds += 1;
        }
        if flight.handshake == Handshake::Eager {
            return self.land(id, world);
        }
        let Node { job, transfer, .. } = flight.node;
        let transfer = self.program(job).transfer(transfer);
        let back = self.latency_back(job, &transfer, world)?;
        self.flights[id].nominal.latency += back;
        if responses == Responses::Unmodelled {
            world.at(world.now() + back, ChipEvent::Answered(id));
        }
        Ok(())
    }

    /// The network says that the response has come.
    pub(super) fn response<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        if self.flights[id].handshake == Handshake::Rendezvous {
            self.answered(id, world)?;
        }
        self.release(id);
        Ok(())
    }

    /// What has arrived is there to be used: a reduction first takes the receiver's memory.
    pub(super) fn land<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let now = world.now();
        let flight = &self.flights[id];
        let (node, bytes) = (flight.node, flight.bytes);
        let reduces_at = match flight.op {
            Op::Reduce => receiver(flight.route),
            Op::Copy => None,
        };
        if let Some(rank) = reduces_at {
            let seat = self.seat_of(node.job, rank);
            let enters = self.seats[seat as usize].enters;
            let work = self.memory.reduce.of_bytes(bytes);
            if work > SimTime::ZERO || enters > now {
                self.flights[id].nominal.reduce += work;
                let done = self.hardware_of(seat).use_memory(now.max(enters), work);
                self.clock(seat).begin(Doing::Reducing, now);
                self.record_memory(seat, node, done - work, done, world);
                world.at(done, ChipEvent::Reduced(id));
                return Ok(());
            }
        }
        self.synchronise(id, world)
    }

    /// The memory is done.
    pub(super) fn reduced<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let flight = self.flights[id];
        let rank = receiver(flight.route).expect(SENDS_ONLY);
        let seat = self.seat_of(flight.node.job, rank);
        self.clock(seat).end(Doing::Reducing, world.now());
        if flight.path.is_some() {
            self.synchronise(id, world)
        } else {
            self.complete(id, world)
        }
    }

    fn synchronise<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let sync = self.cdma.sync;
        if sync == SimTime::ZERO {
            return self.complete(id, world);
        }
        self.flights[id].nominal.latency += sync;
        world.at(world.now() + sync, ChipEvent::Complete(id));
        Ok(())
    }

    /// Begins a copy or reduction inside a chip.
    pub(super) fn begin_local<N: Network>(&mut self, id: FlightId, world: &mut World<'_, '_, N>) {
        let now = world.now();
        let flight = self.flights[id];
        let per_byte = match flight.op {
            Op::Copy => self.memory.copy,
            Op::Reduce => self.memory.reduce,
        };
        let work = per_byte.of_bytes(flight.bytes);
        if let Some(queue) = flight.queue {
            self.queues[queue].sending = true;
        }
        if work == SimTime::ZERO {
            self.work.push_back(id);
            return;
        }
        self.flights[id].nominal.reduce = work;
        let rank = receiver(flight.route).expect(SENDS_ONLY);
        let seat = self.seat_of(flight.node.job, rank);
        let done = self.hardware_of(seat).use_memory(now, work);
        self.clock(seat).begin(Doing::Reducing, now);
        self.record_memory(seat, flight.node, done - work, done, world);
        world.at(done, ChipEvent::Reduced(id));
    }

    /// A slice is complete: those who wait for it are told, and when it was the last one also
    /// those who wait for the transfer.
    pub(super) fn complete<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let now = world.now();
        let flight = &self.flights[id];
        let (node, slices, queue) = (flight.node, flight.slices, flight.queue);
        let (route, seat, handshake) = (flight.route, flight.seat, flight.handshake);
        let is_local = flight.path.is_none();
        let Node { job, transfer, .. } = node;
        let chain = flight.chain_at_receiver(now);
        debug_assert_eq!(chain.parts.total(), now, "parts sum to the time");
        let pending = &mut self.jobs[job as usize].pending;
        let extent = pending.add_slice(transfer, Part::Complete, slices);
        if extent == Extent::Whole {
            self.count(&route, job, seat, chain, now);
        }
        let side = match handshake {
            Handshake::Eager => Side::Both,
            Handshake::Rendezvous => Side::Receiver,
        };
        self.release(id);
        let completed = Completed {
            node,
            extent,
            side,
            chain,
        };
        self.tell(completed, world)?;
        self.aggregated(job, route, chain, world)?;
        if handshake == Handshake::Rendezvous && extent == Extent::Whole {
            let body = self.program(job).transfer(transfer);
            self.receive_over(job, &body, chain, world)?;
        }
        if let Some(queue) = queue.filter(|_| is_local) {
            self.queues[queue].sending = false;
            self.try_staged(queue, Some(chain), world);
            self.try_queue(queue, chain, world)?;
            self.drop_loose(queue, node);
        }
        Ok(())
    }

    /// Counts a transfer that is complete.
    fn count(&mut self, route: &Route, job: u32, issuer: u32, chain: Chain, now: SimTime) {
        self.totals.done += 1;
        self.totals.over = now;
        let state = &mut self.jobs[job as usize];
        if state.is_measured() {
            self.totals.end = now;
            self.totals.last = chain;
        }
        state.done += 1;
        state.end = now;
        let (program, first) = (state.program, state.first_seat);
        self.clock(issuer).done(now);
        match *route {
            Route::Send { dst, .. } | Route::LoadReduce { dst, .. } => {
                let seat = self.seat_of(job, dst);
                self.clock(seat).done(now);
            }
            Route::Multicast { group, .. } | Route::Aggregate { group } => {
                for rank in program.group(group) {
                    self.seats[(first + rank.0) as usize].clock.done(now);
                }
            }
        }
    }

    /// Tells those who wait for a slice, and for its transfer when that is whole.
    pub(super) fn tell<N: Network>(
        &mut self,
        completed: Completed,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let Completed {
            node,
            extent,
            side,
            chain,
        } = completed;
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        let program = self.jobs[node.job as usize].program;
        program.dependents(node.transfer, &mut told);
        for &Dependency { transfer, follows } in &told {
            let part = match follows {
                Follow::Slices => Part::Slice(node.slice),
                Follow::Complete if extent == Extent::Whole => Part::Whole,
                Follow::Complete => continue,
            };
            if side == Side::Both {
                self.met(node.job, transfer, part, chain, world)?;
            } else {
                self.met_at(completed, transfer, part, world)?;
            }
        }
        self.told = told;
        Ok(())
    }

    /// Something that a transfer waits for has happened.
    pub(super) fn met<N: Network>(
        &mut self,
        job: u32,
        transfer: TransferId,
        part: Part,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let state = &mut self.jobs[job as usize];
        let count = state.pending.add(transfer, part);
        let needs = state.program.needs(transfer);
        let needed = match part {
            Part::Whole => needs.whole,
            Part::Slice(_) => needs.by_slice,
            Part::Credit | Part::Receive | Part::Complete | Part::Answered => 1,
        };
        if count < needed {
            return Ok(());
        }
        let body = state.program.transfer(transfer);
        let program = state.program;
        if let Some((rank, port)) = queue_of(&body, |group| program.group(group)) {
            let queue = state.first_queue + rank.0 * program.ports() + port;
            let is_first = self.queues[queue]
                .next
                .is_some_and(|next| next.transfer == transfer);
            if is_first {
                self.try_queue(queue, chain, world)?;
            }
            return Ok(());
        }
        self.try_loose(job, transfer, chain, world)
    }

    fn release(&mut self, id: FlightId) {
        let flight = &mut self.flights[id];
        flight.holds -= 1;
        if flight.holds == 0 {
            self.flights.free(id);
        }
    }

    fn record_memory<N: Network>(
        &self,
        seat: u32,
        node: Node,
        start: SimTime,
        end: SimTime,
        world: &mut World<'_, '_, N>,
    ) {
        if let Some(timeline) = world.timeline.as_deref_mut() {
            timeline.spans.push(Span {
                track: Track::Memory {
                    rank: self.track(node.job, seat),
                },
                name: format!("memory, transfer {}", node.transfer),
                start,
                end,
            });
        }
    }
}
