//! The beginning: who sits where, and ranks that enter the call.

use std::collections::{BTreeMap, HashMap};

use tier6_collective::{RankId, Route};
use tier6_units::SimTime;

use super::contexts::Contexts;
use super::engines::Hardware;
use super::slab::Slab;
use super::{ChipEvent, Chips, Held, JobState, Node, Queue, Seat, SeatId};
use crate::FabricError;
use crate::account::{Chain, Clock, PathLog};
use crate::network::Network;
use crate::run::World;
use crate::{Call, Fault, G5Parameters, Job, RunOptions};

impl<'a> Chips<'a> {
    pub(crate) fn new(jobs: &[Job<'a>], parameters: &G5Parameters, options: &RunOptions) -> Self {
        let mut chips = Self {
            cdma: parameters.cdma,
            memory: parameters.memory,
            jobs: states(jobs, &options.calls),
            calls: options.calls.clone(),
            seats: Vec::new(),
            hardware: Vec::new(),
            contexts: Contexts::new(parameters.contexts),
            queues: Slab::new(),
            flights: Slab::new(),
            credits: Slab::new(),
            work: std::collections::VecDeque::new(),
            told: Vec::new(),
            log: match options.critical_path {
                crate::Recording::On => PathLog::kept(),
                crate::Recording::Off => PathLog::default(),
            },
            totals: super::Totals::default(),
        };
        let late = lateness(&options.faults);
        let mut numbers = BTreeMap::new();
        for (index, job) in (0..).zip(jobs) {
            let state = &mut chips.jobs[index as usize];
            let is_measured = state.is_measured();
            state.first_seat = u32::try_from(chips.seats.len()).expect("Invariant: seats fit u32");
            for (rank, &chip) in (0..).zip(job.chips) {
                let hardware = *numbers.entry(chip).or_insert_with(|| {
                    chips.hardware.push(Hardware::new(&parameters.cdma));
                    u32::try_from(chips.hardware.len() - 1).expect("Invariant: chips fit u32")
                });
                chips.seats.push(Seat {
                    chip,
                    hardware,
                    entered: false,
                    enters: job.start
                        + late
                            .get(&rank)
                            .filter(|_| is_measured)
                            .copied()
                            .unwrap_or_default(),
                    held: Vec::new(),
                    route: None,
                    clock: Clock::default(),
                });
            }
            let ports = job.program.ports();
            for rank in (0..job.program.ranks()).map(RankId) {
                for port in 0..ports {
                    let next = job.program.first(rank, port).map(|transfer| Node {
                        job: index,
                        transfer,
                        slice: 0,
                    });
                    let queue = chips.queues.insert(Queue {
                        next,
                        ..Queue::default()
                    });
                    if (rank.0, port) == (0, 0) {
                        chips.jobs[index as usize].first_queue = queue;
                    }
                }
            }
            chips.totals.transfers += u64::from(job.program.transfers());
        }
        chips
    }

    /// Lets everybody in who is on time, and sets the hour for the others.
    pub(crate) fn begin<N: Network>(
        &mut self,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        for seat in 0..self.seats.len() {
            let seat_id = SeatId::try_from(seat).expect("Invariant: seats fit u32");
            let enters = self.seats[seat].enters;
            if enters == SimTime::ZERO {
                self.seats[seat].entered = true;
                self.seats[seat].clock.start(enters);
                let job = self.job_of(seat_id);
                self.jobs[job as usize].outside -= 1;
            } else {
                world.at(enters, ChipEvent::Enter(seat_id));
            }
        }
        for job in 0..self.jobs.len() {
            let state = &self.jobs[job];
            let job = u32::try_from(job).expect("Invariant: jobs fit u32");
            let (first, ports) = (state.first_queue, state.program.ports());
            let queues = first..first + ports * state.program.ranks();
            for transfer in self.open_receives(job) {
                self.post(job, transfer, Chain::default(), world)?;
            }
            for queue in queues {
                self.try_queue(queue, Chain::default(), world)?;
            }
            let mut starts = Vec::new();
            self.program(job).loose_starts(&mut starts);
            self.flights.reserve(starts.len());
            world.make_room(starts.len());
            for transfer in starts {
                self.try_loose(job, transfer, Chain::default(), world)?;
            }
        }
        Ok(())
    }

    /// Lets a rank in, and everybody who waited for it.
    pub(super) fn enter<N: Network>(
        &mut self,
        seat: SeatId,
        world: &mut World<'_, '_, N>,
    ) -> Result<(), FabricError> {
        let now = world.now();
        let job = self.job_of(seat);
        self.jobs[job as usize].outside -= 1;
        let place = &mut self.seats[seat as usize];
        place.entered = true;
        place.clock.start(now);
        let chain = Chain::default().after(now, crate::account::Nominal::default());
        for held in std::mem::take(&mut place.held) {
            match held {
                Held::Queue(queue) => self.try_queue(queue, chain, world)?,
                Held::Loose(node) => self.try_loose(node.job, node.transfer, chain, world)?,
                Held::Receive(job, transfer) => self.post(job, transfer, chain, world)?,
            }
        }
        Ok(())
    }

    /// Returns a rank that must enter before a transfer can go: who sends, or who is read.
    pub(super) fn still_outside(
        &self,
        job: u32,
        transfer: &tier6_collective::Transfer,
    ) -> Option<SeatId> {
        if self.jobs[job as usize].outside == 0 {
            return None;
        }
        let is_outside = |rank: &RankId| {
            let seat = self.seat_of(job, *rank);
            (!self.seats[seat as usize].entered).then_some(seat)
        };
        match transfer.route {
            Route::Send { src, .. } | Route::Multicast { src, .. } => is_outside(&src),
            Route::LoadReduce { group, .. } | Route::Aggregate { group } => {
                self.program(job).group(group).iter().find_map(is_outside)
            }
        }
    }

    pub(super) fn job_of(&self, seat: SeatId) -> u32 {
        let after = self.jobs.partition_point(|job| job.first_seat <= seat);
        // Jobs without ranks share their first seat with the job behind them.
        u32::try_from(after - 1).expect("Invariant: jobs fit u32")
    }
}

/// Returns the jobs before they begin, each with its call.
fn states<'a>(jobs: &[Job<'a>], calls: &[Call]) -> Vec<JobState<'a>> {
    let mut states: Vec<JobState<'a>> = jobs.iter().map(JobState::from).collect();
    let (mut rest, mut first_track) = (states.as_mut_slice(), 0);
    for (call, Call { jobs, .. }) in (0..).zip(calls) {
        let channels = rest.len().min(*jobs as usize);
        let (of_call, others) = rest.split_at_mut(channels);
        for (channel, state) in (0..).zip(&mut *of_call) {
            (state.call, state.channel, state.first_track) = (call, channel, first_track);
        }
        first_track += of_call.first().map_or(0, |job| job.program.ranks());
        rest = others;
    }
    states
}

fn lateness(faults: &[Fault]) -> HashMap<u32, SimTime> {
    let mut late = HashMap::new();
    for fault in faults {
        if let Fault::LateRank { rank, by } = *fault {
            late.insert(rank, by);
        }
    }
    late
}
