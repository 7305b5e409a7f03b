//! From ready to sent.

use tier6_collective::{Handshake, Transfer, TransferId};
use tier6_units::SimTime;

use super::engines::Waiting;
use super::pending::Part;
use super::route::PathFacts;
use super::slices::Slices;
use super::{
    ChipEvent, Chips, Flight, FlightId, HeadWait, Held, Node, Queue, QueueId, QueueOwner, SeatId,
};
use crate::FabricError;
use crate::Needs;
use crate::account::{Chain, Doing, Nominal, Step};
use crate::network::{Message, MessageId, Network};
use crate::run::World;

impl Chips<'_> {
    /// Issues what it can from the head of a queue. `chain` is the way until now.
    pub(super) fn try_queue<N: Network>(
        &mut self,
        queue: QueueId,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let is_unstaged = self.cdma.start == SimTime::ZERO;
        // A queue takes at most half of an engine's threads ahead of what it sends: slices of one
        // transfer must not keep the others from starting.
        let ahead = (self.cdma.threads as usize / 2).max(1);
        while let Some(node) = self.queues[queue].next {
            let state = &self.queues[queue];
            if is_unstaged && state.sending
                || state.staged.len() >= ahead
                || matches!(state.head, HeadWait::Thread | HeadWait::Context)
            {
                break;
            }
            if !self.has_data(node) {
                break;
            }
            let transfer = self.program(node.job).transfer(node.transfer);
            if !self.may_send(node, &transfer) {
                self.begin_credit_wait(queue, node.job, &transfer, world);
                break;
            }
            if let Some(seat) = self.still_outside(node.job, &transfer) {
                self.seats[seat as usize].held.push(Held::Queue(queue));
                break;
            }
            if !self.issue(node, transfer, Some(queue), chain, world)? {
                break;
            }
        }
        Ok(())
    }

    /// Issues a transfer that has no port, if it is ready.
    pub(super) fn try_loose<N: Network>(
        &mut self,
        job: u32,
        transfer: TransferId,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let body = self.program(job).transfer(transfer);
        let node = Node {
            job,
            transfer,
            slice: 0,
        };
        let slices = Slices::of(self.program(job).grain(), body.bytes);
        if slices.count > 1 {
            let queue = self.loose_queue(node);
            return self.try_queue(queue, chain, world);
        }
        if !self.has_data(node) || !self.may_send(node, &body) {
            return Ok(());
        }
        if let Some(seat) = self.still_outside(job, &body) {
            self.seats[seat as usize].held.push(Held::Loose(node));
            return Ok(());
        }
        self.issue(node, body, None, chain, world).map(|_| ())
    }

    /// Returns the queue of the slices of a transfer that has no port.
    fn loose_queue(&mut self, node: Node) -> QueueId {
        let loose = &mut self.jobs[node.job as usize].loose;
        *loose.entry(node.transfer).or_insert_with(|| {
            self.queues.insert(Queue {
                next: Some(node),
                owner: QueueOwner::Transfer,
                ..Queue::default()
            })
        })
    }

    /// Says whether what a slice waits for has happened, the receiver's credit apart.
    fn has_data(&self, node: Node) -> bool {
        let job = &self.jobs[node.job as usize];
        let Needs { whole, by_slice } = job.program.needs(node.transfer);
        let has = |part, needed| needed == 0 || job.pending.count(node.transfer, part) >= needed;
        has(Part::Whole, whole) && has(Part::Slice(node.slice), by_slice)
    }

    /// Says whether the receiver has posted its credit, if it has to.
    fn may_send(&self, node: Node, transfer: &Transfer) -> bool {
        let pending = &self.jobs[node.job as usize].pending;
        !self.is_rendezvous(node.job, transfer) || pending.count(node.transfer, Part::Credit) > 0
    }

    /// Issues one slice: gives it threads and a flight, or queues it for threads. Says whether it
    /// was issued.
    fn issue<N: Network>(
        &mut self,
        node: Node,
        transfer: Transfer,
        queue: Option<QueueId>,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<bool, FabricError> {
        self.end_credit_wait(queue, node.job, &transfer, world);
        let seat = self.issuer(node.job, &transfer);
        let slices = Slices::of(self.program(node.job).grain(), transfer.bytes);
        let bytes = slices.bytes(node.slice);
        let path = if self.is_local(node.job, &transfer) {
            None
        } else {
            Some(self.path(node.job, seat, transfer.route, world)?)
        };
        let way = path.map(|facts| facts.path);
        if !self.may_aggregate(node.job, transfer.route, way, world) {
            self.wait_in_line(node, queue);
            return Ok(false);
        }
        // A slice goes over the engines of its transfer.
        let engines = path.map_or(0, |_| self.cdma.engines(transfer.bytes).max(1));
        if !self.hardware_of(seat).take_threads(engines) {
            let who = queue.map_or(Waiting::Loose(node), Waiting::Queue);
            self.hardware_of(seat).wait(who);
            if let Some(queue) = queue {
                self.queues[queue].head = HeadWait::Thread;
            }
            return Ok(false);
        }
        self.aggregate(node.job, transfer.route, way, world);
        let nominal = path.map_or_else(Nominal::default, |path| self.nominal(path, engines, bytes));
        let ready = world.now();
        let flight = Flight {
            node,
            route: transfer.route,
            op: transfer.op,
            handshake: self.handshake_of(node.job, &transfer),
            queue,
            seat,
            bytes,
            slices: slices.count,
            path: way,
            nominal,
            engines,
            is_started: false,
            start: self.cdma.start,
            holds: 1,
            parts: chain.parts,
            ready,
            step: self.log.add(Step {
                before: chain.step,
                job: node.job,
                transfer: node.transfer,
                ready,
            }),
            left: ready,
        };
        self.advance(node, slices, queue);
        self.begin_flight(flight, world);
        Ok(true)
    }

    /// Returns what bytes would take along an unloaded path.
    fn nominal(&self, path: PathFacts, engines: u32, bytes: u64) -> Nominal {
        let byte_time = path.byte_time.max(self.cdma.pace_of(engines));
        Nominal {
            latency: self.cdma.start + path.latency,
            transfer: byte_time.of_bytes(bytes),
            reduce: SimTime::ZERO,
        }
    }

    /// Sets a flight going: its copy in memory, its start, or at once its message.
    fn begin_flight<N: Network>(&mut self, flight: Flight, world: &mut World<'_, '_, N>) {
        let (queue, is_local, ready) = (flight.queue, flight.path.is_none(), flight.ready);
        let id = self.flights.insert(flight);
        if is_local {
            self.begin_local(id, world);
        } else if self.cdma.start > SimTime::ZERO {
            if let Some(queue) = queue {
                self.queues[queue].staged.push_back(id);
            }
            world.at(ready + self.cdma.start, ChipEvent::Started(id));
        } else {
            self.send(id, world);
        }
    }

    /// Forgets what was counted for a slice that has been issued, and moves its queue on.
    fn advance(&mut self, node: Node, slices: Slices, queue: Option<QueueId>) {
        let job = &mut self.jobs[node.job as usize];
        let needs = job.program.needs(node.transfer);
        if needs.by_slice > 0 {
            job.pending.forget(node.transfer, Part::Slice(node.slice));
        }
        let is_last = node.slice + 1 == slices.count;
        if is_last {
            if needs.whole > 0 {
                job.pending.forget(node.transfer, Part::Whole);
            }
            if job.program.handshake() == Handshake::Rendezvous {
                job.pending.forget(node.transfer, Part::Credit);
            }
        }
        let Some(id) = queue else { return };
        let queue = &mut self.queues[id];
        queue.next = if !is_last {
            Some(Node {
                slice: node.slice + 1,
                ..node
            })
        } else if queue.owner == QueueOwner::Transfer {
            None
        } else {
            let next = job.program.next(node.transfer);
            next.map(|transfer| Node {
                transfer,
                slice: 0,
                ..node
            })
        };
    }

    /// The bytes of a flight are ready to go; if they go, the next may get ready.
    pub(super) fn started<N: Network>(
        &mut self,
        flight: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        self.flights[flight].is_started = true;
        let Some(queue) = self.flights[flight].queue else {
            self.send(flight, world);
            return Ok(());
        };
        let chain = self.flights[flight].chain_at_sender(world.now());
        self.try_staged(queue, None, world);
        self.try_queue(queue, chain, world)
    }

    /// Sends the first flight of a queue whose bytes are ready, if the port is free.
    /// With the way until now when it is the port that it has waited for.
    pub(super) fn try_staged<N: Network>(
        &mut self,
        queue: QueueId,
        chain: Option<Chain>,
        world: &mut World<'_, '_, N>,
    ) {
        if self.queues[queue].sending {
            return;
        }
        let Some(&id) = self.queues[queue].staged.front() else {
            return;
        };
        if !self.flights[id].is_started {
            return;
        }
        self.queues[queue].staged.pop_front();
        if let Some(chain) = chain {
            let flight = &mut self.flights[id];
            let ready = world.now();
            flight.nominal.latency = flight.nominal.latency - flight.start;
            flight.start = SimTime::ZERO;
            flight.parts = chain.parts;
            flight.ready = ready;
            flight.step = self.log.add(Step {
                before: chain.step,
                job: flight.node.job,
                transfer: flight.node.transfer,
                ready,
            });
        }
        self.send(id, world);
    }

    /// Hands a flight to the network.
    fn send<N: Network>(&mut self, id: FlightId, world: &mut World<'_, '_, N>) {
        let now = world.now();
        let flight = &mut self.flights[id];
        flight.left = now;
        let (bytes, engines) = (flight.bytes, flight.engines);
        let path = flight
            .path
            .expect("Invariant: only what leaves a chip is sent");
        if let Some(queue) = flight.queue {
            self.queues[queue].sending = true;
        }
        let seat = flight.seat;
        self.clock(seat).begin(Doing::Sending, now);
        self.totals.messages += 1;
        self.totals.bytes_sent += bytes;
        world.inject(Message {
            id: MessageId(id),
            path,
            bytes,
            pace: self.cdma.pace_of(engines),
        });
    }

    /// The last byte has left the sender: the port, and eagerly the threads, are free.
    pub(super) fn sent<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let now = world.now();
        let flight = &self.flights[id];
        let (seat, node, queue) = (flight.seat, flight.node, flight.queue);
        let (engines, handshake) = (flight.engines, flight.handshake);
        let chain = flight.chain_at_sender(now);
        if let Some(timeline) = world.timeline.as_deref_mut() {
            timeline.spans.push(self.span(flight, now));
        }
        self.clock(seat).end(Doing::Sending, now);
        if let Some(queue) = queue {
            self.queues[queue].sending = false;
            self.try_staged(queue, Some(chain), world);
            self.try_queue(queue, chain, world)?;
            self.drop_loose(queue, node);
        }
        if handshake == Handshake::Eager {
            self.free_threads(seat, engines, chain, world)?;
        }
        Ok(())
    }

    /// Gives the queue of a transfer without port back, when its last slice has left.
    pub(super) fn drop_loose(&mut self, queue: QueueId, node: Node) {
        let state = &self.queues[queue];
        let is_over = state.next.is_none() && !state.sending && state.staged.is_empty();
        if state.owner == QueueOwner::Transfer && is_over {
            let loose = &mut self.jobs[node.job as usize].loose;
            if loose.remove(&node.transfer).is_some() {
                self.queues.free(queue);
            }
        }
    }

    /// Gives threads of a rank's chip back and lets those go on who waited for threads.
    pub(super) fn free_threads<N: Network>(
        &mut self,
        seat: SeatId,
        engines: u32,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        self.hardware_of(seat).give_threads(engines);
        let mut tries = self.hardware_of(seat).waiting();
        while tries > 0 {
            tries -= 1;
            let Some(who) = self.hardware_of(seat).next_waiting() else {
                break;
            };
            let before = self.hardware_of(seat).waiting();
            match who {
                Waiting::Queue(queue) => {
                    self.queues[queue].head = HeadWait::Nothing;
                    self.try_queue(queue, chain, world)?;
                }
                Waiting::Loose(node) => {
                    self.try_loose(node.job, node.transfer, chain, world)?;
                }
            }
            if self.hardware_of(seat).waiting() > before {
                // No thread for the first: none for those behind it.
                self.hardware_of(seat).last_to_front();
                break;
            }
        }
        Ok(())
    }
}
