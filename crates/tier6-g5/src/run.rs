//! One run: jobs on chips, a network between them, and the loop over their events.
//!
//! Within one instant events leave the agenda in the order in which they were added; what the
//! network has to say about an event reaches the chips before the next event. A run ends with a
//! result, or with a [`RunStop`] that says why and who waits for whom: limits are always set.

mod stop;
#[cfg(test)]
mod tests;
mod world;

use tier6_des::{Agenda, LimitReached, Limits};
use tier6_system::ChipId;
use tier6_units::SimTime;

use crate::account::{Ended, conclude};
use crate::chip::{ChipEvent, Chips, Totals};
use crate::network::{Context, Network, Notice};
use crate::{
    Fabric, FabricError, Fault, G5Parameters, ParameterError, Program, RunResult, RunStop,
    StopReason, Timeline,
};

pub(crate) use world::{RunEvent, World};

/// A program on chips.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// What its ranks run.
    pub program: &'a dyn Program,
    /// The chip of each rank; ranks may share a chip.
    pub chips: &'a [ChipId],
    /// When its ranks begin.
    pub start: SimTime,
    /// Which of equal paths its messages prefer: channels of one call differ in it.
    pub flow: u32,
}

/// How a run is done, physics apart.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Where it stops at the latest.
    pub limits: Limits,
    /// Ranks that are late; faults of links are the network's.
    pub faults: Vec<Fault>,
    /// Whether spans are written down.
    pub timeline: Recording,
    /// Whether the steps of the critical path are written down; its parts always are.
    pub critical_path: Recording,
    /// The calls that the jobs belong to, in order; none when all are channels of one. The run is
    /// about the first: its time, its parts, its late ranks. The others run beside it.
    pub calls: Vec<Call>,
}

/// Jobs of one call: its channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What it is called where somebody waits.
    pub name: String,
    /// How many jobs it has.
    pub jobs: u32,
}

/// Whether something is written down; it takes memory for every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// It is.
    On,
    /// It is not, and what would hold it stays empty.
    Off,
}

impl RunOptions {
    /// Returns the options of a run without faults and without a timeline, up to 10^11 events.
    pub const fn new() -> Self {
        Self {
            limits: Limits {
                events: 100_000_000_000,
                time: SimTime::NEVER,
            },
            faults: Vec::new(),
            timeline: Recording::Off,
            critical_path: Recording::On,
            calls: Vec::new(),
        }
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Why a run cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// Nothing to run.
    #[error("no job")]
    NoJob,
    /// Ranks and chips do not match.
    #[error("job {job} has {ranks} ranks and {chips} chips")]
    Placement {
        /// The job.
        job: u32,
        /// Its ranks.
        ranks: u32,
        /// Its chips.
        chips: usize,
    },
    /// A rank that the call does not have is late.
    #[error("rank {rank} is late and does not exist; hint: ranks are 0 to {}", ranks.saturating_sub(1))]
    LateRank {
        /// The rank.
        rank: u32,
        /// N.
        ranks: u32,
    },
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Chips that talk have no path.
    #[error(transparent)]
    Path(#[from] FabricError),
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// It could not begin.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// It did not end by itself.
    #[error(transparent)]
    Stop(Box<RunStop>),
}

impl From<FabricError> for RunError {
    fn from(error: FabricError) -> Self {
        Self::Setup(error.into())
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headway {
    /// Transfers that are complete.
    pub done: u64,
    /// Transfers of all jobs.
    pub transfers: u64,
}

/// Runs jobs over a network until all their transfers are complete.
///
/// # Errors
///
/// When a parameter is outside its domain, the jobs do not fit their chips, and when the run stops:
/// a deadlock, a stall, a limit, a broken law.
pub fn run<N: Network>(
    jobs: &[Job<'_>],
    fabric: &mut Fabric<'_>,
    network: &mut N,
    parameters: &G5Parameters,
    options: &RunOptions,
) -> Result<RunResult, RunError> {
    run_watched(jobs, fabric, network, parameters, options, &mut |_| {})
}

/// Events between two reports of a run on its headway.
const WATCHED_EVERY: u64 = 1 << 16;

/// As [`run`], and tells now and then how far it has come. What is told changes nothing.
///
/// # Errors
///
/// As [`run`].
pub fn run_watched<N: Network>(
    jobs: &[Job<'_>],
    fabric: &mut Fabric<'_>,
    network: &mut N,
    parameters: &G5Parameters,
    options: &RunOptions,
    watch: &mut dyn FnMut(Headway),
) -> Result<RunResult, RunError> {
    parameters.check().map_err(SetupError::from)?;
    check(jobs, options)?;
    loop {
        if let Some(result) = attempt(jobs, fabric, network, parameters, options, watch)? {
            return Ok(result);
        }
    }
}

/// Returns the result, unless the network asks to begin again.
fn attempt<N: Network>(
    jobs: &[Job<'_>],
    fabric: &mut Fabric<'_>,
    network: &mut N,
    parameters: &G5Parameters,
    options: &RunOptions,
    watch: &mut dyn FnMut(Headway),
) -> Result<Option<RunResult>, RunError> {
    let mut run = Run {
        chips: Chips::new(jobs, parameters, options),
        agenda: Agenda::new(),
        notices: Vec::new(),
        timeline: match options.timeline {
            Recording::On => Some(Timeline::default()),
            Recording::Off => None,
        },
        fabric,
        network,
    };
    let events = run.until_done(options.limits, watch);
    if run.network.must_begin_again() {
        return Ok(None);
    }
    let events = events?;
    // What links carry afterwards is not of the call.
    let links = run.network.accounts(run.fabric);
    // Timers that never stop must not keep a run that has ended.
    let most = events.saturating_mul(2).saturating_add(1 << 20);
    let rest = run.come_to_rest(most.min(options.limits.events))?;
    let ended = Ended {
        events,
        links,
        rest,
        timeline: run.timeline,
    };
    conclude(run.chips, run.fabric, run.network, parameters, ended)
        .map(Some)
        .map_err(RunError::Stop)
}

fn check(jobs: &[Job<'_>], options: &RunOptions) -> Result<(), SetupError> {
    if jobs.is_empty() {
        return Err(SetupError::NoJob);
    }
    for (index, job) in (0..).zip(jobs) {
        let ranks = job.program.ranks();
        if ranks as usize != job.chips.len() {
            return Err(SetupError::Placement {
                job: index,
                ranks,
                chips: job.chips.len(),
            });
        }
    }
    let of_call = options.calls.first().map_or(u32::MAX, |call| call.jobs);
    let ranks = (0..of_call).zip(jobs).map(|(_, job)| job.program.ranks());
    let ranks = ranks.max().unwrap_or(0);
    for fault in &options.faults {
        match *fault {
            Fault::LateRank { rank, .. } if rank >= ranks => {
                return Err(SetupError::LateRank { rank, ranks });
            }
            Fault::LateRank { .. }
            | Fault::SlowLink { .. }
            | Fault::FailedLink { .. }
            | Fault::Loss { .. } => {}
        }
    }
    Ok(())
}

/// Whether anything moves after the last completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Still,
    Moving,
}

/// A run in progress.
struct Run<'r, 'a, 't, N: Network> {
    chips: Chips<'a>,
    fabric: &'r mut Fabric<'t>,
    network: &'r mut N,
    agenda: Agenda<RunEvent<N::Event>>,
    notices: Vec<Notice>,
    timeline: Option<Timeline>,
}

impl<'a, 't, N: Network> Run<'_, 'a, 't, N> {
    /// Returns the number of events that it took, those inside the network included.
    fn until_done(
        &mut self,
        limits: Limits,
        watch: &mut dyn FnMut(Headway),
    ) -> Result<u64, RunError> {
        let mut events = 0_u64;
        self.network.start(&mut Context {
            fabric: self.fabric,
            agenda: &mut self.agenda,
            notices: &mut self.notices,
            timeline: self.timeline.as_mut(),
        });
        let (chips, mut world) = self.parts();
        chips.begin(&mut world)?;
        self.settle()?;
        while !self.chips.are_done() {
            let Some(time) = self.agenda.next_time() else {
                return Err(self.stop(None));
            };
            if let Err(reached) = limits.check(events + self.network.events(), time) {
                return Err(self.stop(Some(match reached {
                    LimitReached::Events(limit) => StopReason::Events(limit),
                    LimitReached::Time(limit) => StopReason::Time(limit),
                })));
            }
            let (now, event) = self.agenda.pop().expect("Invariant: it has a next time");
            events += 1;
            if events.is_multiple_of(WATCHED_EVERY) {
                let Totals {
                    done, transfers, ..
                } = self.chips.totals;
                watch(Headway { done, transfers });
            }
            match event {
                RunEvent::Network(event) => {
                    self.network_event(event, now);
                    if self.network.is_in_doubt() {
                        return Ok(events);
                    }
                }
                RunEvent::Chip(event) => {
                    let (chips, mut world) = self.parts();
                    chips.handle(event, &mut world)?;
                }
            }
            if !self.notices.is_empty() || self.chips.have_work() {
                self.settle()?;
            }
        }
        // The last one may have been many inside the network.
        let events = events + self.network.events();
        if events > limits.events {
            return Err(self.stop(Some(StopReason::Events(limits.events))));
        }
        Ok(events)
    }

    /// Lets what is still under way between the links end: acknowledgements, credits.
    fn come_to_rest(&mut self, events_max: u64) -> Result<Rest, RunError> {
        let before = self.network.events();
        let mut events = 0;
        while events + self.network.events() - before < events_max {
            let Some((now, event)) = self.agenda.pop() else {
                return Ok(Rest::Still);
            };
            events += 1;
            if let RunEvent::Network(event) = event {
                self.network_event(event, now);
            }
            self.settle()?;
        }
        Ok(Rest::Moving)
    }

    fn network_event(&mut self, event: N::Event, now: SimTime) {
        let mut context = Context {
            fabric: self.fabric,
            agenda: &mut self.agenda,
            notices: &mut self.notices,
            timeline: self.timeline.as_mut(),
        };
        self.network.handle(event, now, &mut context);
    }

    /// Lets the chips react until nobody has anything more to say at this instant.
    fn settle(&mut self) -> Result<(), RunError> {
        let mut heard = 0;
        loop {
            if self.chips.have_work() {
                let (chips, mut world) = self.parts();
                chips.work(&mut world)?;
            } else if let Some(&notice) = self.notices.get(heard) {
                heard += 1;
                if let Notice::Fatal { retries, .. } = notice {
                    return Err(self.stop(Some(StopReason::QueuePairFatal { retries })));
                }
                let (chips, mut world) = self.parts();
                chips.notice(notice, &mut world)?;
            } else {
                self.notices.clear();
                return Ok(());
            }
        }
    }

    /// Returns the chips, and what they reach.
    fn parts(&mut self) -> (&mut Chips<'a>, World<'_, 't, N>) {
        let world = World {
            fabric: self.fabric,
            agenda: &mut self.agenda,
            notices: &mut self.notices,
            network: self.network,
            timeline: self.timeline.as_mut(),
        };
        (&mut self.chips, world)
    }
}

const _: () = assert!(size_of::<ChipEvent>() == 8);
