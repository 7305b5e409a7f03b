//! The chips: they start transfers when all that a transfer waits for has happened, hand messages
//! to the network, reduce what arrives, and tell those who wait.
//!
//! A transfer goes through these stages; the ideal parameters skip all but the marked ones.
//!
//! * *ready*\*: what it depends on is complete, it is first in the queue of its port, its rank has
//!   entered the call, and (rendezvous) the receiver has posted its credit;
//! * it takes a thread on each engine that it goes over, and after `start` its bytes are ready to
//!   go; the next transfers of the port may get as far meanwhile, if there are threads;
//! * *sent*\*: the message of the transfer before has left the port, and now its own leaves;
//! * *arrived*\*: with rendezvous, a response goes back and then a note that all is written;
//! * reduced: the memory of the receiver has added it, one thing after another;
//! * *complete*\* after `sync`: now those who wait for it are told.
//!
//! With slices as grain all that happens slice by slice; only the receiver's credit is for the
//! transfer as a whole. Local transfers take the memory only.

mod begin;
mod contexts;
mod engines;
mod finish;
mod issue;
mod never;
mod pending;
mod rendezvous;
mod route;
mod slab;
mod slices;
mod waits;

use std::collections::{HashMap, VecDeque};

use tier6_collective::{Handshake, Op, RankId, Route, Transfer, TransferId};
use tier6_system::ChipId;
use tier6_units::SimTime;

use crate::FabricError;
use crate::account::{Chain, Clock, Nominal, PathLog, StepId};
use crate::network::{Network, Notice, PathId};
use crate::program::Dependency;
use crate::run::World;
use crate::{Call, Cdma, Job, Memory, Parts, Program};

pub(crate) use waits::Shape;

use contexts::Contexts;
use engines::Hardware;
use pending::Pending;
use route::{PathFacts, PathKey};
use slab::Slab;

/// What happens on chips at a time of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChipEvent {
    /// A rank enters the call.
    Enter(SeatId),
    /// The bytes of a flight are ready to go.
    Started(FlightId),
    /// The sender holds the response.
    Answered(FlightId),
    /// The receiver knows that all is written.
    Written(FlightId),
    /// The memory of the receiver is done with it.
    Reduced(FlightId),
    /// Those who wait may be told.
    Complete(FlightId),
    /// A credit is with the sender.
    Credit(u32),
}

/// A rank of a job, over all jobs.
pub(crate) type SeatId = u32;
pub(crate) type QueueId = u32;
pub(crate) type FlightId = u32;

/// A slice of a transfer of a job: one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) job: u32,
    pub(crate) transfer: TransferId,
    pub(crate) slice: u32,
}

pub(crate) struct Chips<'a> {
    pub(crate) cdma: Cdma,
    pub(crate) memory: Memory,
    pub(crate) jobs: Vec<JobState<'a>>,
    /// The calls that they belong to, where there is more than one.
    calls: Vec<Call>,
    pub(crate) seats: Vec<Seat>,
    hardware: Vec<Hardware>,
    contexts: Contexts,
    queues: Slab<Queue>,
    flights: Slab<Flight>,
    /// Credits on their way to the sender.
    credits: Slab<(u32, TransferId, Chain)>,
    /// What was complete at once.
    work: VecDeque<FlightId>,
    /// Lists that are filled and emptied within one event.
    told: Vec<Dependency>,
    pub(crate) log: PathLog,
    pub(crate) totals: Totals,
}

/// What a run counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) transfers: u64,
    pub(crate) done: u64,
    pub(crate) messages: u64,
    /// Bytes handed to the network and come out of it.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_arrived: u64,
    /// When the last transfer of any call was complete.
    pub(crate) over: SimTime,
    /// When the last transfer of the call was complete that the run is about.
    pub(crate) end: SimTime,
    /// Why then.
    pub(crate) last: Chain,
}

pub(crate) struct JobState<'a> {
    pub(crate) program: &'a dyn Program,
    pub(crate) start: SimTime,
    pub(crate) flow: u32,
    /// The call that it is a channel of, and which one.
    call: u32,
    channel: u32,
    pub(crate) first_seat: SeatId,
    /// Number of its rank 0 in a timeline.
    first_track: u32,
    first_queue: QueueId,
    pending: Pending,
    /// Queues of transfers in several slices that have no port.
    loose: HashMap<TransferId, QueueId>,
    /// Ranks that have not entered.
    outside: u32,
    pub(crate) done: u64,
    pub(crate) end: SimTime,
}

/// A rank of a job.
pub(crate) struct Seat {
    pub(crate) chip: ChipId,
    /// Its index among the chips in use.
    hardware: u32,
    entered: bool,
    enters: SimTime,
    /// Who goes on when it enters.
    held: Vec<Held>,
    /// The last path that it sent along.
    route: Option<(PathKey, PathFacts)>,
    pub(crate) clock: Clock,
}

/// Who waits for a rank to enter, or for switches to have room for an aggregation.
#[derive(Debug, Clone, Copy)]
enum Held {
    Queue(QueueId),
    Loose(Node),
    Receive(u32, TransferId),
}

/// A queue of a rank's port, or of the slices of a transfer that has none.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    next: Option<Node>,
    /// Flights whose bytes are not on their way yet, in order.
    staged: VecDeque<FlightId>,
    /// Whether a message of it is on its way out.
    sending: bool,
    head: HeadWait,
    owner: QueueOwner,
}

/// What the head of a queue waits for, data apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum HeadWait {
    #[default]
    Nothing,
    Thread,
    Credit,
    Context,
}

/// Whose queue it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum QueueOwner {
    #[default]
    Port,
    /// A transfer in several slices that has no port.
    Transfer,
}

/// A message between the moment in which it became ready and its completion.
#[derive(Debug, Clone, Copy)]
struct Flight {
    node: Node,
    route: Route,
    op: Op,
    handshake: Handshake,
    queue: Option<QueueId>,
    /// Who issued it.
    seat: SeatId,
    bytes: u64,
    slices: u32,
    /// The path; `None` for what stays on a chip.
    path: Option<PathId>,
    /// What it would take unloaded, but for the memory.
    nominal: Nominal,
    engines: u32,
    is_started: bool,
    /// How much of the time since `ready` it takes to start.
    start: SimTime,
    /// What must still be over before its place is used again: itself, and the response when
    /// the network sends one.
    holds: u8,
    /// Where the time went until it was ready, and when that was.
    parts: Parts,
    ready: SimTime,
    step: Option<StepId>,
    /// When it left, for the timeline.
    left: SimTime,
}

impl Chips<'_> {
    /// Says whether all transfers are complete.
    pub(crate) fn are_done(&self) -> bool {
        self.totals.done == self.totals.transfers
    }

    /// Says whether [`Chips::work`] has something to do.
    pub(crate) fn have_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// Completes what was complete at once.
    pub(crate) fn work<N: Network>(
        &mut self,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        match self.work.pop_front() {
            Some(flight) => self.complete(flight, world),
            None => Ok(()),
        }
    }

    /// Handles an event.
    pub(crate) fn handle<N: Network>(
        &mut self,
        event: ChipEvent,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        match event {
            ChipEvent::Enter(seat) => self.enter(seat, world),
            ChipEvent::Started(flight) => self.started(flight, world),
            ChipEvent::Answered(flight) => self.answered(flight, world),
            ChipEvent::Written(flight) => self.land(flight, world),
            ChipEvent::Reduced(flight) => self.reduced(flight, world),
            ChipEvent::Complete(flight) => self.complete(flight, world),
            ChipEvent::Credit(credit) => self.credit_arrives(credit, world),
        }
    }

    /// Handles what the network says.
    pub(crate) fn notice<N: Network>(
        &mut self,
        notice: Notice,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        match notice {
            Notice::Sent(id) => self.sent(id.0, world),
            Notice::Arrived(id) => self.arrived(id.0, world),
            Notice::Answered(id) => self.response(id.0, world),
            // The run has stopped.
            Notice::Fatal { .. } => Ok(()),
        }
    }

    fn program(&self, job: u32) -> &dyn Program {
        self.jobs[job as usize].program
    }

    fn seat_of(&self, job: u32, rank: RankId) -> SeatId {
        self.jobs[job as usize].first_seat + rank.0
    }

    fn hardware_of(&mut self, seat: SeatId) -> &mut Hardware {
        let hardware = self.seats[seat as usize].hardware;
        &mut self.hardware[hardware as usize]
    }

    fn clock(&mut self, seat: SeatId) -> &mut Clock {
        &mut self.seats[seat as usize].clock
    }

    /// Returns who issues a transfer; the first member for an aggregation.
    fn issuer(&self, job: u32, transfer: &Transfer) -> SeatId {
        let rank = transfer.issuer().or_else(|| match transfer.route {
            Route::Aggregate { group } => self.program(job).group(group).first().copied(),
            Route::Send { .. } | Route::Multicast { .. } | Route::LoadReduce { .. } => None,
        });
        self.seat_of(job, rank.unwrap_or(RankId(0)))
    }

    /// Returns how sender and receiver of a transfer agree; first only on a send between chips.
    fn handshake_of(&self, job: u32, transfer: &Transfer) -> Handshake {
        match self.program(job).handshake() {
            Handshake::Rendezvous
                if matches!(transfer.route, Route::Send { .. })
                    && !self.is_local(job, transfer) =>
            {
                Handshake::Rendezvous
            }
            Handshake::Rendezvous | Handshake::Eager => Handshake::Eager,
        }
    }

    /// Says whether sender and receiver agree on a transfer first.
    fn is_rendezvous(&self, job: u32, transfer: &Transfer) -> bool {
        self.handshake_of(job, transfer) == Handshake::Rendezvous
    }

    /// Says whether a transfer stays on one chip and crosses no link.
    fn is_local(&self, job: u32, transfer: &Transfer) -> bool {
        let Route::Send { src, dst } = transfer.route else {
            return false;
        };
        let chip = |rank| self.seats[self.seat_of(job, rank) as usize].hardware;
        src == dst || chip(src) == chip(dst)
    }
}

impl Flight {
    /// Returns the way until `now`, the bytes still on the path.
    fn chain_at_sender(&self, now: SimTime) -> Chain {
        let nominal = Nominal {
            latency: self.start,
            ..self.nominal
        };
        self.chain().after(now - self.ready, nominal)
    }

    /// Returns the way until `now`, the bytes at the receiver.
    fn chain_at_receiver(&self, now: SimTime) -> Chain {
        self.chain().after(now - self.ready, self.nominal)
    }

    /// Returns the way until it was ready, as the step that it is.
    const fn chain(&self) -> Chain {
        Chain {
            parts: self.parts,
            step: self.step,
        }
    }
}

impl JobState<'_> {
    /// Says whether it is of the call that the run is about.
    pub(crate) const fn is_measured(&self) -> bool {
        self.call == 0
    }
}

impl<'a> From<&Job<'a>> for JobState<'a> {
    fn from(job: &Job<'a>) -> Self {
        Self {
            program: job.program,
            start: job.start,
            flow: job.flow,
            call: 0,
            channel: 0,
            first_seat: 0,
            first_track: 0,
            first_queue: 0,
            pending: Pending::default(),
            loose: HashMap::new(),
            outside: job.program.ranks(),
            done: 0,
            end: job.start,
        }
    }
}
