//! Sender and receiver agree first (FACTS A.4).
//!
//! The receiver's instruction posts a credit when what *it* waits for has happened: the transfers
//! among the sender's dependencies that touch the receiver's own memory. The credit takes one
//! flight back to the sender. After the last byte a response goes back, which ends the send, and
//! then a note that all is written goes forth, which ends the receive. A chip can have only so
//! many receives posted; the others queue.

use tier6_collective::{Handshake, RankId, Route, Transfer, TransferId};
use tier6_units::SimTime;

use super::pending::{Extent, Part};
use super::{ChipEvent, Chips, FlightId, HeadWait, Held, Node, QueueId};
use crate::FabricError;
use crate::PathRequest;
use crate::account::{Chain, Doing};
use crate::network::Network;
use crate::run::World;

/// Where something is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// At both ends at once.
    Both,
    /// At the sender: it holds the response.
    Sender,
    /// At the receiver: it knows that all is written.
    Receiver,
}

/// What is complete, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completed {
    pub(super) node: Node,
    pub(super) extent: Extent,
    pub(super) side: Side,
    /// The way until it was.
    pub(super) chain: Chain,
}

/// Returns the side of a transfer on which a rank is, if it takes part.
fn side_of(transfer: &Transfer, rank: RankId, group_has: impl Fn() -> bool) -> Option<Side> {
    match transfer.route {
        Route::Send { src, .. } if src == rank => Some(Side::Sender),
        Route::Send { dst, .. } => (dst == rank).then_some(Side::Receiver),
        Route::Multicast { src, .. } if src == rank => Some(Side::Sender),
        Route::Multicast { .. } | Route::LoadReduce { .. } | Route::Aggregate { .. } => {
            group_has().then_some(Side::Receiver)
        }
    }
}

/// Returns the rank to which a route sends; `None` for routes through groups.
pub(super) const fn receiver(route: Route) -> Option<RankId> {
    match route {
        Route::Send { dst, .. } => Some(dst),
        Route::Multicast { .. } | Route::LoadReduce { .. } | Route::Aggregate { .. } => None,
    }
}

impl Chips<'_> {
    /// Returns the transfers whose receive waits for nothing.
    pub(super) fn open_receives(&mut self, job: u32) -> Vec<TransferId> {
        let program = self.jobs[job as usize].program;
        if program.handshake() == Handshake::Eager {
            return Vec::new();
        }
        let ids = (0..program.transfers()).map(TransferId);
        ids.filter(|&id| {
            self.is_rendezvous(job, &program.transfer(id)) && self.receive_needs(job, id) == 0
        })
        .collect()
    }

    /// Returns how many of a transfer's dependencies touch its receiver.
    fn receive_needs(&self, job: u32, id: TransferId) -> u32 {
        let program = self.jobs[job as usize].program;
        let mut asked = Vec::new();
        program.dependencies(id, &mut asked);
        let Some(rank) = receiver(program.transfer(id).route) else {
            return 0;
        };
        let touching = asked
            .iter()
            .filter(|before| self.side_of(job, before.transfer, rank).is_some());
        u32::try_from(touching.count()).expect("Invariant: dependencies fit u32")
    }

    fn side_of(&self, job: u32, id: TransferId, rank: RankId) -> Option<Side> {
        let program = self.program(job);
        let transfer = program.transfer(id);
        side_of(&transfer, rank, || match transfer.route {
            Route::Send { .. } => false,
            Route::LoadReduce { group, dst } => dst == rank || program.group(group).contains(&rank),
            Route::Multicast { group, .. } | Route::Aggregate { group } => {
                program.group(group).contains(&rank)
            }
        })
    }

    /// Something is complete on one side: tells a transfer that waits for it, and its receive.
    pub(super) fn met_at<N: Network>(
        &mut self,
        completed: Completed,
        waiting: TransferId,
        part: Part,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let Completed {
            node,
            extent,
            side,
            chain,
        } = completed;
        let body = self.program(node.job).transfer(waiting);
        // Somebody who takes no part learns of it with the receiver.
        let seen_by = |rank: RankId| {
            self.side_of(node.job, node.transfer, rank)
                .unwrap_or(Side::Receiver)
        };
        let sender = body.issuer().map_or(Side::Receiver, seen_by);
        let receive = receiver(body.route)
            .filter(|_| extent == Extent::Whole && self.is_rendezvous(node.job, &body))
            .and_then(|rank| self.side_of(node.job, node.transfer, rank));
        if receive == Some(side) {
            self.receive_met(node.job, waiting, chain, world)?;
        }
        if sender == side {
            self.met(node.job, waiting, part, chain, world)?;
        }
        Ok(())
    }

    /// Something that a receive waits for has happened.
    fn receive_met<N: Network>(
        &mut self,
        job: u32,
        transfer: TransferId,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let needed = self.receive_needs(job, transfer);
        let pending = &mut self.jobs[job as usize].pending;
        if pending.add(transfer, Part::Receive) < needed {
            return Ok(());
        }
        pending.forget(transfer, Part::Receive);
        self.post(job, transfer, chain, world)
    }

    /// Posts a receive, when its rank has entered and the chip may post one more.
    pub(super) fn post<N: Network>(
        &mut self,
        job: u32,
        transfer: TransferId,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let body = self.program(job).transfer(transfer);
        let Some(rank) = receiver(body.route) else {
            return Ok(());
        };
        let seat = self.seat_of(job, rank);
        if !self.seats[seat as usize].entered {
            let held = Held::Receive(job, transfer);
            self.seats[seat as usize].held.push(held);
            return Ok(());
        }
        if self.hardware_of(seat).take_credit(job, transfer) {
            self.credit_leaves(job, transfer, chain, world)?;
        }
        Ok(())
    }

    fn credit_leaves<N: Network>(
        &mut self,
        job: u32,
        transfer: TransferId,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let body = self.program(job).transfer(transfer);
        let flight = self.latency_back(job, &body, world)?;
        let chain = chain.after_latency(flight);
        let credit = self.credits.insert((job, transfer, chain));
        world.at(world.now() + flight, ChipEvent::Credit(credit));
        Ok(())
    }

    /// A credit is with the sender.
    pub(super) fn credit_arrives<N: Network>(
        &mut self,
        credit: u32,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let (job, transfer, chain) = self.credits[credit];
        self.credits.free(credit);
        self.met(job, transfer, Part::Credit, chain, world)
    }

    /// A receive is over: the chip may post the next one.
    pub(super) fn receive_over<N: Network>(
        &mut self,
        job: u32,
        body: &Transfer,
        chain: Chain,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let Some(rank) = receiver(body.route) else {
            return Ok(());
        };
        let seat = self.seat_of(job, rank);
        match self.hardware_of(seat).give_credit() {
            Some((job, transfer)) => self.credit_leaves(job, transfer, chain, world),
            None => Ok(()),
        }
    }

    /// The sender holds the response: the send is over, and the note that all is written leaves.
    pub(super) fn answered<N: Network>(
        &mut self,
        id: FlightId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let now = world.now();
        let flight = &self.flights[id];
        let (node, slices, path) = (flight.node, flight.slices, flight.path);
        let (seat, engines) = (flight.seat, flight.engines);
        let chain = flight.chain_at_receiver(now);
        self.free_threads(seat, engines, chain, world)?;
        let pending = &mut self.jobs[node.job as usize].pending;
        let completed = Completed {
            node,
            extent: pending.add_slice(node.transfer, Part::Answered, slices),
            side: Side::Sender,
            chain,
        };
        self.tell(completed, world)?;
        let forth = path.map_or(SimTime::ZERO, |path| world.fabric.latency(path));
        self.flights[id].nominal.latency += forth;
        world.at(now + forth, ChipEvent::Written(id));
        Ok(())
    }

    /// Returns the latency from the receiver of a transfer back to its sender.
    pub(super) fn latency_back<N: Network>(
        &self,
        job: u32,
        transfer: &Transfer,
        world: &mut World<'_, '_, N>,
    ) -> Result<SimTime, FabricError> {
        let Route::Send { src, dst } = transfer.route else {
            return Ok(SimTime::ZERO);
        };
        let chip = |rank| self.seats[self.seat_of(job, rank) as usize].chip;
        let path = world.fabric.lay(PathRequest::Send {
            from: chip(dst),
            to: chip(src),
            flow: self.jobs[job as usize].flow,
        })?;
        Ok(world.fabric.latency(path))
    }

    /// The head of a queue waits for nothing but its credit.
    pub(super) fn begin_credit_wait<N: Network>(
        &mut self,
        queue: QueueId,
        job: u32,
        transfer: &Transfer,
        world: &World<'_, '_, N>,
    ) {
        if self.queues[queue].head != HeadWait::Credit {
            self.queues[queue].head = HeadWait::Credit;
            let seat = self.issuer(job, transfer);
            self.clock(seat).begin(Doing::WaitingForCredit, world.now());
        }
    }

    /// The head of a queue waits for its credit no longer.
    pub(super) fn end_credit_wait<N: Network>(
        &mut self,
        queue: Option<QueueId>,
        job: u32,
        transfer: &Transfer,
        world: &World<'_, '_, N>,
    ) {
        let Some(queue) = queue else { return };
        if self.queues[queue].head == HeadWait::Credit {
            self.queues[queue].head = HeadWait::Nothing;
            let seat = self.issuer(job, transfer);
            self.clock(seat).end(Doing::WaitingForCredit, world.now());
        }
    }
}
