//! What a collective costs on a described system, by the event-driven engine: every message on
//! every link, with queues, credits and faults; and where the time went.

mod fault;
mod names;
mod program;
mod sensitivity;

use crate::predict::{Site, plans};
use crate::systems::no_charts;
use crate::tuner::split_hint;
use crate::{Error, Exit, Form, PredictRequest};
use fault::read_faults;
use names::link_names;
use program::{Call, is_in_switch};
use tier6_collective::{Algorithm, Collective, Grain, Handshake, Protocol};
use tier6_g5::{
    Cdma, Fabric, Fault, Fidelity, FlowNetwork, G5Parameters, Job, LinkAccount, PacketNetwork,
    Recording, RunError, RunOptions, RunResult, SetupError, StopReason, run,
};
use tier6_math::{Basis, Plan};
use tier6_report::{
    AlgorithmChoice, CallStatistics, LinkStatistics, ProtocolChoice, RankStatistics, SimulatedCall,
    SimulationReport, StoppedCall, Trace, bandwidths, simulation_csv, simulation_json,
    simulation_markdown, simulation_table, statistics_csv, trace_json,
};
use tier6_system::{Constant, Evidence, G5Spec, Topology};
use tier6_units::{Bytes, SimTime, SizeRange};

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct SimulateRequest<'a> {
    /// A preset's name, or a file; `-` is standard input.
    pub system: &'a str,
    /// The collective.
    pub collective: Collective,
    /// Which algorithms.
    pub choice: AlgorithmChoice,
    /// N; `None` for every chip.
    pub ranks: Option<u32>,
    /// Nodes, over which the ranks are spread evenly; `None` fills one node after another.
    pub nodes: Option<u32>,
    /// The sizes.
    pub sizes: &'a SizeRange,
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

/// What was simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The results.
    pub report: SimulationReport,
    /// Accounts of every run that ended, if they were asked for.
    pub statistics: Vec<CallStatistics>,
    /// The timeline of the last size, of the fastest algorithm, if it was asked for and the run
    /// ended.
    pub trace: Option<Trace>,
}

/// Simulates calls of a collective.
///
/// # Errors
///
/// When the system cannot be loaded or does not do what is asked for, and when a fault names what
/// the system does not have. A run that stops is a result, not an error.
pub fn simulate(request: &SimulateRequest<'_>) -> Result<Simulated, Error> {
    let site = Site::of(request.system, request.ranks, request.nodes)?;
    let prediction = request.prediction();
    let (plans, refused) = plans(&prediction, &site)?;
    let scene = Scene::new(request, &site)?;
    let mut simulated = Simulated {
        report: SimulationReport {
            system: site.topology.name().to_owned(),
            collective: request.collective,
            ranks: site.ranks,
            nodes: site.nodes,
            choice: request.choice,
            fidelity: request.fidelity,
            seed: request.seed,
            grain: request.grain,
            faults: request.faults.to_vec(),
            rows: Vec::new(),
            stops: Vec::new(),
            refused,
        },
        statistics: Vec::new(),
        trace: None,
    };
    let plans: Vec<(Algorithm, &Plan)> = plans
        .iter()
        .filter_map(|(algorithm, plans)| Some((*algorithm, plans.first()?)))
        .collect();
    let sizes = request.sizes.sizes();
    for (at, &bytes) in sizes.iter().enumerate() {
        let is_last = at + 1 == sizes.len();
        let trace = if is_last {
            request.trace
        } else {
            Recording::Off
        };
        simulated.add_size(&scene, &plans, bytes, trace)?;
    }
    Ok(simulated)
}

impl<'a> SimulateRequest<'a> {
    /// The same call for the Math engine.
    fn prediction(&self) -> PredictRequest<'a> {
        PredictRequest {
            system: self.system,
            collective: self.collective,
            choice: self.choice,
            protocols: ProtocolChoice::Without,
            ranks: self.ranks,
            nodes: self.nodes,
            sizes: self.sizes,
        }
    }
}

/// What all runs share.
pub(crate) struct Scene<'a> {
    request: &'a SimulateRequest<'a>,
    site: &'a Site,
    parameters: G5Parameters,
    faults: Vec<Fault>,
    link_names: Vec<String>,
}

impl<'a> Scene<'a> {
    fn new(request: &'a SimulateRequest<'a>, site: &'a Site) -> Result<Self, Error> {
        let link_names = link_names(&site.topology);
        let faults = read_faults(request.faults, &link_names)?;
        let loses = |fault: &Fault| matches!(fault, Fault::Loss { .. });
        if request.fidelity == Fidelity::Flow && faults.iter().any(loses) {
            return Err(Error::Domain {
                message: "`flow` knows no frames that could be lost".to_owned(),
                hint: Some("`--fidelity packet`, or a slow link".to_owned()),
            });
        }
        let parameters = G5Parameters::of(&site.topology);
        parameters.check().map_err(|error| {
            let (message, hint) = split_hint(&error.to_string());
            let table = format!("`[g5]` of `{}`", site.topology.name());
            Error::Domain {
                message: format!("{table}: {message}"),
                hint,
            }
        })?;
        Ok(Self {
            request,
            site,
            parameters,
            faults,
            link_names,
        })
    }

    /// Returns the protocols under which an algorithm runs: Simple, and those whose messages the
    /// system describes. Switches reduce what lies in memory, whole.
    fn protocols(&self, algorithm: Algorithm) -> Vec<Protocol> {
        let topology = &self.site.topology;
        let runs = |protocol: &Protocol| match protocol {
            Protocol::Simple => true,
            Protocol::Ll | Protocol::Ll128 => {
                !is_in_switch(algorithm) && G5Parameters::of_protocol(topology, *protocol).is_some()
            }
        };
        let all = [Protocol::Simple, Protocol::Ll128, Protocol::Ll];
        all.into_iter().filter(runs).collect()
    }

    /// Returns the parameters of a call: how messages of its protocol end and split, and the fixed
    /// time of an in-switch call, which, where the system knows it, is what one of no bytes takes.
    fn parameters_for(
        &self,
        call: &Call,
        topology: &Topology,
        parameters: &G5Parameters,
    ) -> Result<G5Parameters, Error> {
        let algorithm = call.algorithm;
        let of_protocol = match call.protocol {
            Protocol::Simple => None,
            Protocol::Ll | Protocol::Ll128 => G5Parameters::of_protocol(topology, call.protocol),
        };
        if let Some((own, _)) = of_protocol {
            return Ok(G5Parameters {
                cdma: Cdma {
                    sync: own.cdma.sync,
                    split: own.cdma.split,
                    ..parameters.cdma
                },
                ..parameters.clone()
            });
        }
        let constants = topology.constants();
        let nvls = || constants.nvls.as_ref().and_then(|nvls| nvls.alpha.as_ref());
        let alpha = match algorithm {
            Algorithm::Nvls => nvls(),
            // Beside what the tree between nodes takes.
            Algorithm::NvlsTree => {
                let software = nvls().map_or(parameters.software, |alpha| alpha.value.into());
                return Ok(G5Parameters {
                    software,
                    ..parameters.clone()
                });
            }
            Algorithm::CollNetDirect | Algorithm::CollNetChain => {
                constants.sharp.as_ref().map(|sharp| &sharp.alpha)
            }
            _ => None,
        };
        let Some(alpha) = alpha else {
            return Ok(parameters.clone());
        };
        let path = (algorithm, call.protocol);
        let empty = Call::new(self.request, self.site, path, Bytes::new(0))?;
        let hardware = match self.run(&empty, topology, parameters, Recording::Off) {
            Ok(result) => result.hardware,
            // What stops here stops the call itself, which says so.
            Err(_) => SimTime::ZERO,
        };
        Ok(G5Parameters {
            software: SimTime::from(alpha.value).saturating_sub(hardware),
            ..parameters.clone()
        })
    }

    /// Runs one call.
    fn run(
        &self,
        call: &Call,
        topology: &Topology,
        parameters: &G5Parameters,
        timeline: Recording,
    ) -> Result<RunResult, RunError> {
        let mut fabric = Fabric::new(topology, parameters, &self.faults, self.request.seed)
            .map_err(SetupError::from)?;
        let mut options = RunOptions {
            faults: self.faults.clone(),
            timeline,
            critical_path: Recording::Off,
            ..RunOptions::new()
        };
        if let Some(events) = self.request.limit_events {
            options.limits.events = events;
        }
        let jobs: Vec<Job<'_>> = call.jobs();
        match self.request.fidelity {
            Fidelity::Flow => {
                let mut network = FlowNetwork::new();
                run(&jobs, &mut fabric, &mut network, parameters, &options)
            }
            Fidelity::Packet => {
                let mut network = PacketNetwork::new(parameters);
                run(&jobs, &mut fabric, &mut network, parameters, &options)
            }
        }
    }
}

impl Simulated {
    /// Simulates the algorithms of one size, and keeps what was asked for.
    fn add_size(
        &mut self,
        scene: &Scene<'_>,
        plans: &[(Algorithm, &Plan)],
        bytes: Bytes,
        timeline: Recording,
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        for (algorithm, plan) in chosen(scene.request.choice, plans, bytes) {
            match fastest(scene, algorithm, bytes, timeline)? {
                Ok((call, mut result)) => {
                    let timeline = result.timeline.take();
                    let row = row(scene, &call, plan, &result)?;
                    if scene.request.statistics == Recording::On {
                        self.statistics.push(statistics(scene, &call, result));
                    }
                    rows.push((row, timeline));
                }
                Err(RunError::Stop(stop)) => self.report.stops.push(StoppedCall {
                    algorithm,
                    bytes,
                    stop: *stop,
                }),
                Err(RunError::Setup(error)) => return Err(setup(&error)),
            }
        }
        // Stable: equal times stay in the order of the contract.
        rows.sort_by_key(|(row, _)| row.total);
        for (row, timeline) in rows {
            // The fastest comes first.
            if let Some(timeline) = timeline.filter(|_| self.trace.is_none()) {
                let title = format!(
                    "{} {} of {bytes} on {}",
                    row.algorithm, self.report.collective, self.report.system
                );
                self.trace = Some(Trace {
                    title,
                    timeline,
                    link_names: scene.link_names.clone(),
                });
            }
            self.report.rows.push(row);
        }
        Ok(())
    }
}

/// Runs an algorithm under each of its protocols and returns the fastest run; where Simple stops,
/// why it did.
fn fastest(
    scene: &Scene<'_>,
    algorithm: Algorithm,
    bytes: Bytes,
    timeline: Recording,
) -> Result<Result<(Call, RunResult), RunError>, Error> {
    let topology = &scene.site.topology;
    let mut best: Option<(Call, RunResult)> = None;
    for protocol in scene.protocols(algorithm) {
        let call = Call::new(scene.request, scene.site, (algorithm, protocol), bytes)?;
        let parameters = scene.parameters_for(&call, topology, &scene.parameters)?;
        match scene.run(&call, topology, &parameters, timeline) {
            Ok(result) => {
                let is_faster = |(_, best): &(Call, RunResult)| result.total < best.total;
                if best.as_ref().is_none_or(is_faster) {
                    best = Some((call, result));
                }
            }
            Err(error) if protocol == Protocol::Simple => return Ok(Err(error)),
            Err(_) => {}
        }
    }
    Ok(Ok(best.expect("Invariant: Simple ran")))
}

/// Returns the algorithms to run: all, or the one that the Math engine calls fastest.
fn chosen<'p>(
    choice: AlgorithmChoice,
    plans: &[(Algorithm, &'p Plan)],
    bytes: Bytes,
) -> Vec<(Algorithm, &'p Plan)> {
    let time = |(_, plan): &&(Algorithm, &Plan)| plan.time(bytes).get();
    match choice {
        AlgorithmChoice::All | AlgorithmChoice::One(_) => plans.to_vec(),
        AlgorithmChoice::Auto => {
            let fastest = plans.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
            fastest.copied().into_iter().collect()
        }
    }
}

fn row(
    scene: &Scene<'_>,
    call: &Call,
    plan: &Plan,
    result: &RunResult,
) -> Result<SimulatedCall, Error> {
    let (request, site) = (scene.request, scene.site);
    let total = result.total;
    let (algbw, busbw) = bandwidths(
        request.collective,
        site.ranks,
        call.bytes,
        total.to_micros(),
    );
    let sensitivities = match request.sensitivity {
        Recording::On => sensitivity::of(scene, call, total)?,
        Recording::Off => Vec::new(),
    };
    let basis = if rests_on_priors(site.topology.constants().g5.as_ref()) {
        Basis::Assumed
    } else {
        plan.predict(&site.topology, call.bytes).basis
    };
    Ok(SimulatedCall {
        algorithm: call.algorithm,
        bytes: call.bytes,
        channels: call.channels(),
        total,
        hardware: result.hardware,
        parts: result.parts,
        algbw,
        busbw,
        bottleneck: result.bottleneck.sentence.clone(),
        basis,
        events: result.events,
        messages: result.messages,
        packet_hops: result.packet_hops,
        sensitivities,
    })
}

/// Whether some constant of the engine is a prior: what a message costs at both ends is, unless
/// the system says it or turns the layer off.
fn rests_on_priors(g5: Option<&G5Spec>) -> bool {
    let Some(g5) = g5.filter(|g5| g5.state.is_on()) else {
        return g5.is_none();
    };
    let is_prior = |evidence: Option<Evidence>| evidence.is_none_or(|it| it == Evidence::Assumed);
    let engines = g5.cdma.as_ref().is_none_or(|cdma| {
        let times = [&cdma.start, &cdma.sync];
        let times = times.map(|time| time.as_ref().map(Constant::evidence));
        cdma.state.is_on() && times.into_iter().any(is_prior)
    });
    let transactions = g5.paxi.as_ref().is_none_or(|paxi| {
        let latency = paxi.latency.as_ref().map(Constant::evidence);
        paxi.state.is_on() && is_prior(latency)
    });
    engines || transactions
}

fn statistics(scene: &Scene<'_>, call: &Call, result: RunResult) -> CallStatistics {
    let topology = &scene.site.topology;
    let in_use = |account: &LinkAccount| *account != LinkAccount::default();
    let links = result.links.into_iter();
    let links = links.filter(|(_, account)| in_use(account));
    let links = links.map(|(link, account)| LinkStatistics {
        name: scene.link_names[link.index()].clone(),
        class: topology.class_of(link).name.clone(),
        account,
    });
    let ranks = (0_u32..)
        .zip(result.chips)
        .map(|(at, account)| RankStatistics {
            rank: at % scene.site.ranks,
            channel: at / scene.site.ranks,
            account,
        });
    CallStatistics {
        algorithm: call.algorithm,
        bytes: call.bytes,
        hardware: result.hardware,
        links: links.collect(),
        ranks: ranks.collect(),
    }
}

fn setup(error: &SetupError) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    match error {
        SetupError::LateRank { .. } => Error::Usage { message, hint },
        SetupError::NoJob | SetupError::Placement { .. } | SetupError::Path(_) => {
            Error::Domain { message, hint }
        }
    }
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
/// When the form is SVG or HTML: there are no charts.
pub fn render_simulation(report: &SimulationReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(simulation_table(report, style, detail)),
        Form::Json => Ok(simulation_json(report)),
        Form::Csv => Ok(simulation_csv(report)),
        Form::Markdown => Ok(simulation_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts("a simulation")),
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
