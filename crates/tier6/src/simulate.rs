//! What a collective costs on a described system, by the event-driven engine: every message on
//! every link, with queues, credits and faults; and where the time went.

mod beside;
mod chips;
mod custom;
mod fault;
mod names;
mod outcome;
mod running;
mod scene;
mod sensitivity;
mod stage;

use crate::predict::plans;
use crate::progress::Progress;
use crate::systems::no_page;
use crate::{Error, Exit, Form, PredictRequest, Variant};
use outcome::{rank_names, row, statistics, statistics_so_far};
use running::Race;
use scene::{Call, Outcome, Scene};
use stage::Stage;
use tier6_collective::{Algorithm, Collective, Grain, Handshake};
use tier6_g5::{Fidelity, Recording, RunStop, StopReason, Timeline};
use tier6_math::Plan;
use tier6_report::{
    AlgorithmChoice, BesideCall, CallStatistics, ProtocolChoice, Refusal, SimulationReport,
    StoppedCall, Trace, simulation_csv, simulation_json, simulation_markdown, simulation_svg,
    simulation_table, statistics_csv, trace_json,
};
use tier6_system::ChipId;
use tier6_units::{Bytes, SizeRange};

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct SimulateRequest<'a> {
    /// A preset's name, or a file; `-` is standard input.
    pub system: &'a str,
    /// What runs there.
    pub work: SimulatedWork<'a>,
    /// N; `None` for every chip, or as many as a schedule has.
    pub ranks: Option<u32>,
    /// Nodes, over which the ranks are spread evenly; `None` fills one node after another.
    pub nodes: Option<u32>,
    /// The chips of the ranks, in their order: `8-15`; `None` for the first of each node.
    pub chips: Option<&'a str>,
    /// Calls that run beside it: `all_to_all:16M:chips=8-15:start=10us`.
    pub beside: &'a [String],
    /// The sizes.
    pub sizes: &'a SizeRange,
    /// Which forms of the algorithms.
    pub variant: &'a Variant,
    /// How closely the network is looked at.
    pub fidelity: Fidelity,
    /// What chance follows from.
    pub seed: u64,
    /// The grain in which ranks forward.
    pub grain: Grain,
    /// How sender and receiver agree; `None` for the algorithm's own way.
    pub handshake: Option<Handshake>,
    /// Faults: `slow-link=chip0-chip1:50%`, `failed-link=..`, `late-rank=..`, `loss=..`.
    pub faults: &'a [String],
    /// Whether each run is repeated with every constant a little off.
    pub sensitivity: Recording,
    /// Whether a timeline of the last size is kept.
    pub trace: Recording,
    /// Whether accounts of links and ranks are kept.
    pub statistics: Recording,
    /// Events after which a run stops.
    pub limit_events: Option<u64>,
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub enum SimulatedWork<'a> {
    /// A collective, as algorithms do it.
    Collective {
        /// The collective.
        collective: Collective,
        /// Which algorithms.
        choice: AlgorithmChoice,
        /// Which of NCCL's protocols.
        protocols: ProtocolChoice,
    },
    /// A schedule from a file.
    Schedule {
        /// JSON of `tier6.schedule/1`, or MSCCL's XML.
        file: &'a str,
        /// The sizes that were asked for; without them JSON has its own, and XML those of every
        /// request.
        sizes: Option<&'a SizeRange>,
    },
}

/// What was simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The results.
    pub report: SimulationReport,
    /// Accounts of every run, of one that stopped up to then, if they were asked for.
    pub statistics: Vec<CallStatistics>,
    /// The timeline of the last size, of the fastest algorithm, if it was asked for; where none
    /// ended, up to the stop.
    pub trace: Option<Trace>,
}

/// Simulates calls of a collective.
///
/// # Errors
///
/// When the system cannot be loaded or does not do what is asked for, and when a fault names what
/// the system does not have. A run that stops is a result, not an error.
pub fn simulate(
    request: &SimulateRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<Simulated, Error> {
    let (collective, choice, protocols) = match request.work {
        SimulatedWork::Collective {
            collective,
            choice,
            protocols,
        } => (collective, choice, protocols),
        SimulatedWork::Schedule { file, sizes } => {
            return custom::simulate(request, (file, sizes), progress);
        }
    };
    let stage = Stage::new(request, request.ranks)?;
    let site = &stage.placed.site;
    // The plans say what can run, and which is likely the fastest.
    let prediction = PredictRequest {
        system: request.system,
        collective,
        choice,
        protocols: ProtocolChoice::Without,
        variant: request.variant,
        grain: request.grain,
        ranks: Some(site.ranks),
        nodes: request.nodes,
        sizes: request.sizes,
    };
    let (plans, refused) = plans(&prediction, site)?;
    let mut scene = Scene::new(request, &stage, (collective, protocols), progress)?;
    let mut simulated = Simulated::nothing(&scene, choice);
    simulated.report.refused = refused;
    let plans: Vec<(Algorithm, &Plan)> = plans
        .iter()
        .filter_map(|(algorithm, plans)| Some((*algorithm, plans.first()?)))
        .collect();
    let sizes = request.sizes.sizes();
    for (at, &bytes) in sizes.iter().enumerate() {
        let trace = match request.trace {
            Recording::On if at + 1 == sizes.len() => Recording::On,
            Recording::On | Recording::Off => Recording::Off,
        };
        simulated.add_size(&mut scene, &plans, bytes, trace)?;
    }
    Ok(simulated)
}

impl Simulated {
    fn nothing(scene: &Scene<'_>, choice: AlgorithmChoice) -> Self {
        let (request, site, collective) = (scene.request, scene.site, scene.collective);
        let numbers = |chips: &[ChipId]| chips.iter().map(|chip| chip.get()).collect();
        let beside = scene.beside.iter().map(|beside| BesideCall {
            name: beside.name.clone(),
            collective: beside.collective,
            bytes: beside.bytes,
            chips: numbers(&beside.chips),
            start: beside.start,
        });
        Self {
            report: SimulationReport {
                system: site.topology.name().to_owned(),
                collective,
                ranks: site.ranks,
                nodes: site.nodes,
                choice,
                fidelity: request.fidelity,
                seed: request.seed,
                grain: request.grain,
                variant: crate::predict::owned(request.variant.settings()),
                chips: request.chips.map(|_| numbers(scene.chips)),
                beside: beside.collect(),
                faults: request.faults.to_vec(),
                rows: Vec::new(),
                stops: Vec::new(),
                refused: Vec::new(),
                flaw: None,
            },
            statistics: Vec::new(),
            trace: None,
        }
    }

    /// Simulates the algorithms of one size, and keeps what was asked for.
    fn add_size(
        &mut self,
        scene: &mut Scene<'_>,
        plans: &[(Algorithm, &Plan)],
        bytes: Bytes,
        timeline: Recording,
    ) -> Result<(), Error> {
        let choice = self.report.choice;
        let mut race = Race::kept(timeline);
        let (mut fastest, mut others, mut refusal) = (None, Vec::new(), None);
        for (algorithm, plan) in in_order(scene, choice, plans, bytes)? {
            let basis = plan.predict(&scene.site.topology, bytes).basis;
            match (scene.fastest(algorithm, bytes, race)?, choice) {
                (Outcome::Refused(error), AlgorithmChoice::One(_)) => return Err(error),
                (Outcome::Refused(error), AlgorithmChoice::All | AlgorithmChoice::Auto) => {
                    self.refuse(algorithm, &error);
                    refusal.get_or_insert(error);
                }
                (Outcome::Ran(call, result), AlgorithmChoice::Auto) => {
                    race.to_beat = Some(result.total);
                    fastest = Some((Outcome::Ran(call, result), basis));
                }
                (Outcome::Slower, _) => {}
                (outcome, _) => others.push((outcome, basis)),
            }
        }
        others.extend(fastest);
        match refusal {
            Some(error) if others.is_empty() && choice == AlgorithmChoice::Auto => Err(error),
            _ => self.add(scene, others),
        }
    }

    /// Notes an algorithm that cannot be simulated here, once for all sizes.
    fn refuse(&mut self, algorithm: Algorithm, error: &Error) {
        let refused = &mut self.report.refused;
        if refused.iter().all(|known| known.algorithm != algorithm) {
            let why = error.to_string();
            refused.push(Refusal { algorithm, why });
        }
    }

    /// Keeps runs of one size, the fastest first.
    fn add(
        &mut self,
        scene: &mut Scene<'_>,
        outcomes: Vec<(Outcome, tier6_math::Basis)>,
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        for (outcome, basis) in outcomes {
            match outcome {
                Outcome::Ran(call, mut result) => {
                    let timeline = result.timeline.take();
                    let row = row(scene, &call, basis, &result)?;
                    let trace = timeline.map(|timeline| self.trace(scene, &call, timeline, None));
                    if scene.request.statistics == Recording::On {
                        self.statistics.push(statistics(scene, &call, *result));
                    }
                    rows.push((row, trace));
                }
                Outcome::Stopped(call, stop) => self.add_stop(scene, &call, *stop),
                Outcome::Slower => {}
                Outcome::Refused(error) => return Err(error),
            }
        }
        // Stable: equal times stay in the order of the contract.
        rows.sort_by_key(|(row, _)| row.total);
        let of_stop = self.trace.take();
        for (row, trace) in rows {
            // The fastest comes first.
            self.trace = self.trace.take().or(trace);
            self.report.rows.push(row);
        }
        self.trace = self.trace.take().or(of_stop);
        Ok(())
    }

    /// Keeps a run that stopped, with what there was until then.
    fn add_stop(&mut self, scene: &Scene<'_>, call: &Call, mut stop: RunStop) {
        if let Some(timeline) = stop.so_far.timeline.take() {
            let trace = self.trace(scene, call, timeline, Some(&stop));
            self.trace.get_or_insert(trace);
        }
        let so_far = statistics_so_far(scene, call, &mut stop);
        if scene.request.statistics == Recording::On {
            self.statistics.push(so_far);
        }
        self.report.stops.push(StoppedCall {
            algorithm: call.algorithm,
            bytes: call.bytes,
            stop,
        });
    }

    fn trace(
        &self,
        scene: &Scene<'_>,
        call: &Call,
        timeline: Timeline,
        stop: Option<&RunStop>,
    ) -> Trace {
        let until = match stop {
            Some(stop) => format!(", until it stopped at {}: {}", stop.at, stop.reason),
            None => String::new(),
        };
        let title = format!(
            "{} {} of {} on {}{until}",
            call.algorithm.map_or("custom", Algorithm::name),
            self.report.collective,
            call.bytes,
            self.report.system
        );
        Trace {
            title,
            timeline,
            link_names: scene.link_names.clone(),
            rank_names: rank_names(scene, call),
        }
    }
}

/// Returns the algorithms in the order in which they run: where the fastest is wanted, the one first
/// that the Math engine calls so, and all others against it. In packets it is the one alone that is
/// the fastest as flows, where some algorithm ends as flows.
fn in_order<'p>(
    scene: &mut Scene<'_>,
    choice: AlgorithmChoice,
    plans: &[(Algorithm, &'p Plan)],
    bytes: Bytes,
) -> Result<Vec<(Algorithm, &'p Plan)>, Error> {
    let time = |(_, plan): &(Algorithm, &Plan)| plan.time(bytes).get();
    let mut order = plans.to_vec();
    if choice != AlgorithmChoice::Auto {
        return Ok(order);
    }
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    if scene.request.fidelity == Fidelity::Flow || order.len() < 2 {
        return Ok(order);
    }
    let mut race = Race {
        fidelity: Some(Fidelity::Flow),
        ..Race::ALONE
    };
    let mut fastest = None;
    for one in &order {
        if let Outcome::Ran(_, result) = scene.fastest(one.0, bytes, race)? {
            race.to_beat = Some(result.total);
            fastest = Some(*one);
        }
    }
    Ok(fastest.map_or(order, |fastest| vec![fastest]))
}

/// Returns the exit code of a simulation: 12 when a run stopped, 1 when a law of the engine broke.
pub fn simulation_exit(report: &SimulationReport) -> Exit {
    let broken = |stop: &StoppedCall| matches!(stop.stop.reason, StopReason::Broken(_));
    match report.stops.as_slice() {
        [] => Exit::Done,
        stops if stops.iter().any(broken) => Exit::Internal,
        _ => Exit::Stopped,
    }
}

/// Renders a simulation.
///
/// # Errors
///
/// When the form is HTML: there is no page.
pub fn render_simulation(report: &SimulationReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(simulation_table(report, style, detail)),
        Form::Json => Ok(simulation_json(report)),
        Form::Csv => Ok(simulation_csv(report)),
        Form::Markdown => Ok(simulation_markdown(report)),
        Form::Svg => Ok(simulation_svg(report)),
        Form::Html => Err(no_page("a simulation")),
    }
}

/// Renders the accounts of links and ranks as CSV.
pub fn render_statistics(simulated: &Simulated) -> String {
    statistics_csv(&simulated.statistics)
}

/// Renders a timeline as JSON of the Trace Event format.
pub fn render_trace(trace: &Trace) -> String {
    trace_json(trace)
}
