//! One run of the engine: the measured call, and those beside it.

use super::scene::{Call, Scene};
use crate::progress::Progress;
use tier6_fit::Launch;
use tier6_g5::{
    Fabric, Fault, Fidelity, FlowNetwork, G5Parameters, Headway, Job, PacketNetwork, Recording,
    RunError, RunOptions, RunResult, RunStop, SetupError, StopReason, run_watched,
};
use tier6_system::Topology;
use tier6_units::SimTime;

/// The measured call where somebody waits.
const MEASURED: &str = "the call";

/// What a run keeps, and which time it has to beat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Race {
    pub(super) timeline: Recording,
    /// The time of another run of the same call: this one ends when it cannot be faster.
    pub(super) to_beat: Option<SimTime>,
    /// How closely the network is looked at; `None` as the request says.
    pub(super) fidelity: Option<Fidelity>,
}

impl Race {
    /// A run that is not held against another one, and keeps nothing.
    pub(super) const ALONE: Self = Self::kept(Recording::Off);

    /// The same of which a timeline may be kept.
    pub(super) const fn kept(timeline: Recording) -> Self {
        Self {
            timeline,
            to_beat: None,
            fidelity: None,
        }
    }

    /// Says whether a stop is that of a run which was not fast enough.
    pub(super) fn is_lost(self, stop: &RunStop) -> bool {
        self.to_beat.is_some() && matches!(stop.reason, StopReason::Time(_))
    }
}

/// A call in a run.
#[derive(Clone, Copy)]
struct Party<'l> {
    launch: &'l Launch,
    /// The call beside that it is; `None` for the measured one.
    beside: Option<usize>,
    start: SimTime,
    first_flow: u32,
}

impl Scene<'_> {
    /// Runs one call with the parameters for it, and those beside it.
    pub(super) fn run(
        &mut self,
        call: &Call,
        topology: &Topology,
        parameters: &G5Parameters,
        race: Race,
    ) -> Result<RunResult, RunError> {
        let parties = std::iter::once(call).chain(&call.beside);
        let parties: Vec<Party<'_>> = parties.map(|call| self.party(call)).collect();
        self.run_parties(&parties, topology, parameters, race)
    }

    /// Runs one call, measured or beside, with nothing beside it, from the beginning.
    pub(super) fn run_alone(
        &mut self,
        call: &Call,
        topology: &Topology,
        parameters: &G5Parameters,
    ) -> Result<RunResult, RunError> {
        let party = Party {
            start: SimTime::ZERO,
            ..self.party(call)
        };
        self.run_parties(&[party], topology, parameters, Race::ALONE)
    }

    /// Runs the call of no bytes that goes with a call.
    pub(super) fn run_empty(
        &mut self,
        empty: &Launch,
        topology: &Topology,
        parameters: &G5Parameters,
    ) -> Result<RunResult, RunError> {
        let party = Party {
            launch: empty,
            beside: None,
            start: SimTime::ZERO,
            first_flow: 0,
        };
        self.run_parties(&[party], topology, parameters, Race::ALONE)
    }

    fn party<'l>(&self, call: &'l Call) -> Party<'l> {
        let start = call.of.map_or(SimTime::ZERO, |at| self.beside[at].start);
        Party {
            launch: &call.launch,
            beside: call.of,
            start,
            first_flow: call.first_flow,
        }
    }

    fn run_parties(
        &mut self,
        parties: &[Party<'_>],
        topology: &Topology,
        parameters: &G5Parameters,
        race: Race,
    ) -> Result<RunResult, RunError> {
        let mut fabric = Fabric::new(topology, parameters, &self.faults, self.request.seed)
            .map_err(SetupError::from)?;
        let mut options = RunOptions {
            faults: self.faults_of(parties),
            timeline: race.timeline,
            critical_path: Recording::Off,
            calls: self.calls_of(parties),
            ..RunOptions::new()
        };
        if let Some(events) = self.request.limit_events {
            options.limits.events = events;
        }
        // Calls beside may go on when the measured one has ended.
        if let (Some(to_beat), [_]) = (race.to_beat, parties) {
            options.limits.time = to_beat.saturating_sub(parameters.software);
        }
        let jobs: Vec<Job<'_>> = parties.iter().flat_map(Party::jobs).collect();
        let mut shown = Shown::new(&mut *self.progress);
        let mut watch = |headway: Headway| shown.tell(headway);
        let result = match race.fidelity.unwrap_or(self.request.fidelity) {
            Fidelity::Flow => {
                let network = &mut FlowNetwork::new();
                run_watched(
                    &jobs,
                    &mut fabric,
                    network,
                    parameters,
                    &options,
                    &mut watch,
                )
            }
            Fidelity::Packet => {
                let network = &mut PacketNetwork::new(parameters);
                run_watched(
                    &jobs,
                    &mut fabric,
                    network,
                    parameters,
                    &options,
                    &mut watch,
                )
            }
        };
        shown.finish();
        result
    }

    /// The faults of a run: ranks that are late are those of the measured call.
    fn faults_of(&self, parties: &[Party<'_>]) -> Vec<Fault> {
        let is_measured = parties.iter().any(|party| party.beside.is_none());
        let faults = self.faults.iter().copied();
        let faults = faults.filter(|fault| is_measured || !matches!(fault, Fault::LateRank { .. }));
        faults.collect()
    }

    /// The calls of a run by name, where there are several.
    fn calls_of(&self, parties: &[Party<'_>]) -> Vec<tier6_g5::Call> {
        if parties.len() < 2 {
            return Vec::new();
        }
        let name = |at: usize| self.beside[at].name.clone();
        let calls = parties.iter().map(|party| tier6_g5::Call {
            name: party.beside.map_or_else(|| MEASURED.to_owned(), name),
            jobs: party.launch.channels(),
        });
        calls.collect()
    }
}

impl<'l> Party<'l> {
    fn jobs(&self) -> Vec<Job<'l>> {
        let jobs = self.launch.jobs().into_iter().map(|job| Job {
            start: self.start,
            flow: self.first_flow + job.flow,
            ..job
        });
        jobs.collect()
    }
}

/// The headway of one run as progress; a short run shows none.
struct Shown<'p> {
    progress: &'p mut dyn Progress,
    done: Option<u64>,
}

impl<'p> Shown<'p> {
    fn new(progress: &'p mut dyn Progress) -> Self {
        Self {
            progress,
            done: None,
        }
    }

    fn tell(&mut self, headway: Headway) {
        if self.done.is_none() {
            self.progress.start("simulating", Some(headway.transfers));
        }
        let before = self.done.replace(headway.done).unwrap_or(0);
        self.progress.advance(headway.done - before);
    }

    fn finish(self) {
        if self.done.is_some() {
            self.progress.finish();
        }
    }
}
