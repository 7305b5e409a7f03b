//! What all runs of a request share, and how one run is set up.

use super::SimulateRequest;
use super::beside::Beside;
use super::fault::read_faults;
use super::names::link_names;
use super::running::Race;
use super::stage::Stage;
use crate::Error;
use crate::predict::Site;
use crate::progress::Progress;
use crate::tuner::split_hint;
use std::collections::BTreeMap;
use tier6_collective::{Algorithm, Collective, Path, Protocol, Schedule};
use tier6_fit::{CallSetup, Launch, LaunchError, is_in_switch, simulated_protocols};
use tier6_g5::{Cdma, Fault, Fidelity, G5Parameters, RunError, RunResult, RunStop, SetupError};
use tier6_math::Parameters;
use tier6_report::ProtocolChoice;
use tier6_system::{ChipId, Topology};
use tier6_units::{Bytes, SimTime};

/// What all runs share.
pub(super) struct Scene<'a> {
    pub(super) request: &'a SimulateRequest<'a>,
    pub(super) site: &'a Site,
    pub(super) collective: Collective,
    protocols: ProtocolChoice,
    /// What calls assume beside the system, as Math has it.
    assumed: Parameters,
    pub(super) parameters: G5Parameters,
    pub(super) faults: Vec<Fault>,
    pub(super) link_names: Vec<String>,
    /// The chips of the measured call.
    pub(super) chips: &'a [ChipId],
    pub(super) beside: &'a [Beside],
    /// What calls beside take alone.
    pub(super) alone: BTreeMap<Alone, Option<SimTime>>,
    pub(super) progress: &'a mut dyn Progress,
}

/// A call, ready to run.
pub(super) struct Call {
    /// `None` for a schedule from a file that is none of ours.
    pub(super) algorithm: Option<Algorithm>,
    pub(super) protocol: Option<Protocol>,
    /// Of data; a protocol's flags come on top.
    pub(super) bytes: Bytes,
    pub(super) launch: Launch,
    /// The fixed time of in-switch calls follows from one of no bytes.
    empty: Option<Launch>,
    /// Which of the calls beside it is; `None` for the measured one.
    pub(super) of: Option<usize>,
    /// The first of the equal paths that its channels prefer.
    pub(super) first_flow: u32,
    /// The calls that run beside it.
    pub(super) beside: Vec<Self>,
}

impl Call {
    /// A schedule as it is: no protocol, and the fixed time of every call.
    pub(super) fn of_schedule(schedule: &Schedule, launch: Launch, beside: Vec<Self>) -> Self {
        Self {
            algorithm: schedule.algorithm(),
            protocol: None,
            bytes: schedule.bytes(),
            launch,
            empty: None,
            of: None,
            first_flow: 0,
            beside,
        }
    }
}

/// A call beside without the measured one: which, how many bytes, how its messages are sent, and
/// the first of its paths.
pub(super) type Alone = (usize, Bytes, Option<&'static str>, u32);

/// What came of a call.
pub(super) enum Outcome {
    Ran(Call, Box<RunResult>),
    Stopped(Call, Box<RunStop>),
    /// It takes as long as the run that it was held against, or longer.
    Slower,
    /// It cannot be run here.
    Refused(Error),
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        request: &'a SimulateRequest<'a>,
        stage: &'a Stage,
        (collective, protocols): (Collective, ProtocolChoice),
        progress: &'a mut dyn Progress,
    ) -> Result<Self, Error> {
        let site = &stage.placed.site;
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
            let key = format!("g5.{}", error.key());
            Error::Domain {
                message: format!("{}: `[g5]`: {message}", site.system.place_of(&key)),
                hint,
            }
        })?;
        only_of_math(request)?;
        let mut assumed = Parameters {
            placement: stage.placed.laid,
            ..Parameters::of(&site.topology)
        };
        request.variant.apply(&mut assumed);
        Ok(Self {
            request,
            site,
            collective,
            protocols,
            assumed,
            parameters,
            faults,
            link_names,
            chips: &stage.placed.chips,
            beside: &stage.beside,
            alone: BTreeMap::new(),
            progress,
        })
    }

    /// The call as it is asked for.
    pub(super) fn setup(&self) -> CallSetup<'_> {
        CallSetup {
            topology: &self.site.topology,
            parameters: &self.assumed,
            collective: self.collective,
            ranks: self.site.ranks,
            grain: self.request.grain,
            handshake: self.request.handshake,
        }
    }

    /// The same of a call beside.
    fn setup_of(&self, beside: Option<usize>) -> CallSetup<'_> {
        let Some(beside) = beside.map(|at| &self.beside[at]) else {
            return self.setup();
        };
        CallSetup {
            parameters: &beside.assumed,
            collective: beside.collective,
            ranks: beside.ranks,
            ..self.setup()
        }
    }

    /// Runs an algorithm under each of its protocols and returns the fastest run; where the first
    /// one stops, why it did.
    pub(super) fn fastest(
        &mut self,
        algorithm: Algorithm,
        bytes: Bytes,
        mut race: Race,
    ) -> Result<Outcome, Error> {
        let protocols = match self.protocols_of(algorithm) {
            Ok(protocols) => protocols,
            Err(error) => return Ok(Outcome::Refused(error)),
        };
        let mut best = None;
        for (at, protocol) in protocols.into_iter().enumerate() {
            let call = match self.call(algorithm, protocol, bytes) {
                Ok(call) => call,
                Err(error) => return Ok(Outcome::Refused(error)),
            };
            match self.outcome(call, race)? {
                Outcome::Ran(call, result) => {
                    race.to_beat = Some(result.total);
                    best = Some(Outcome::Ran(call, result));
                }
                Outcome::Slower => {}
                outcome if at == 0 => return Ok(outcome),
                Outcome::Stopped(..) | Outcome::Refused(_) => {}
            }
        }
        Ok(best.unwrap_or(Outcome::Slower))
    }

    /// Returns the protocols to run an algorithm under; `None` is no protocol in particular.
    fn protocols_of(&self, algorithm: Algorithm) -> Result<Vec<Option<Protocol>>, Error> {
        let topology = &self.site.topology;
        let simulated = simulated_protocols(topology, algorithm);
        let protocol = match self.protocols {
            ProtocolChoice::Without => return Ok(vec![None]),
            ProtocolChoice::Auto => return Ok(simulated.into_iter().map(Some).collect()),
            ProtocolChoice::One(protocol) => protocol,
        };
        if simulated.contains(&protocol) {
            return Ok(vec![Some(protocol)]);
        }
        if is_in_switch(algorithm) {
            return Err(Error::Domain {
                message: format!("`{algorithm}` runs `simple` alone, not `{protocol}`"),
                hint: Some("use simple".to_owned()),
            });
        }
        Err(Error::Domain {
            message: format!(
                "`{}` does not say what messages of `{protocol}` cost in the g5 engine",
                topology.name()
            ),
            hint: Some(format!(
                "`[g5.{protocol}]` in the system file does, and `tier6 calibrate --engine g5` finds it"
            )),
        })
    }

    fn call(
        &self,
        algorithm: Algorithm,
        protocol: Option<Protocol>,
        bytes: Bytes,
    ) -> Result<Call, Error> {
        let call = lay(&self.setup(), (algorithm, protocol), bytes, self.chips);
        let call = call.map_err(|error| domain(&error))?;
        let beside = self.calls_beside(bytes, protocol, call.launch.channels())?;
        Ok(Call {
            protocol,
            beside,
            ..call
        })
    }

    /// Lays out the calls beside one of `bytes`, whose messages are of one protocol with it.
    pub(super) fn calls_beside(
        &self,
        bytes: Bytes,
        protocol: Option<Protocol>,
        mut flows: u32,
    ) -> Result<Vec<Call>, Error> {
        let mut calls = Vec::new();
        for (at, beside) in self.beside.iter().enumerate() {
            let bytes = beside.bytes.unwrap_or(bytes);
            let algorithm = beside.algorithm(bytes);
            let setup = self.setup_of(Some(at));
            let call = lay(&setup, (algorithm, protocol), bytes, &beside.chips);
            let call = call.map_err(|error| beside.refused(&error))?;
            let first_flow = flows;
            flows += call.launch.channels();
            calls.push(Call {
                of: Some(at),
                first_flow,
                ..call
            });
        }
        Ok(calls)
    }

    /// Runs a call, all of it as the system says.
    pub(super) fn outcome(&mut self, call: Call, race: Race) -> Result<Outcome, Error> {
        let site = self.site;
        let base = self.parameters.clone();
        let parameters = self.parameters_for(&call, &site.topology, &base);
        Ok(match self.run(&call, &site.topology, &parameters, race) {
            Ok(result) if race.to_beat.is_some_and(|best| result.total >= best) => Outcome::Slower,
            Ok(result) => Outcome::Ran(call, Box::new(result)),
            Err(RunError::Stop(stop)) if race.is_lost(&stop) => Outcome::Slower,
            Err(RunError::Stop(stop)) => Outcome::Stopped(call, stop),
            Err(RunError::Setup(error @ SetupError::LateRank { .. })) => {
                return Err(setup_error(&error));
            }
            Err(RunError::Setup(error)) => Outcome::Refused(setup_error(&error)),
        })
    }

    /// Returns the parameters of a call: how messages of its protocol end and split, and the fixed
    /// time of an in-switch call, which, where the system knows it, is what one of no bytes takes.
    pub(super) fn parameters_for(
        &mut self,
        call: &Call,
        topology: &Topology,
        parameters: &G5Parameters,
    ) -> G5Parameters {
        let of_protocol = match call.protocol {
            None | Some(Protocol::Simple) => None,
            Some(protocol @ (Protocol::Ll | Protocol::Ll128)) => {
                G5Parameters::of_protocol(topology, protocol)
            }
        };
        if let Some((own, _)) = of_protocol {
            return G5Parameters {
                cdma: Cdma {
                    sync: own.cdma.sync,
                    split: own.cdma.split,
                    ..parameters.cdma
                },
                ..parameters.clone()
            };
        }
        let (Some(algorithm), Some(empty)) = (call.algorithm, &call.empty) else {
            return parameters.clone();
        };
        let setup = CallSetup {
            topology,
            ..self.setup_of(call.of)
        };
        let fixed = setup.fixed_time(parameters, algorithm);
        let hardware = || {
            let run = self.run_empty(empty, topology, parameters);
            // What stops here stops the call itself, which says so.
            Some(run.map_or(SimTime::ZERO, |result| result.hardware))
        };
        G5Parameters {
            software: fixed.software(hardware).unwrap_or(parameters.software),
            ..parameters.clone()
        }
    }
}

/// Lays out a call on chips, alone. What switches do is always Simple.
fn lay(
    setup: &CallSetup<'_>,
    (algorithm, protocol): (Algorithm, Option<Protocol>),
    bytes: Bytes,
    chips: &[ChipId],
) -> Result<Call, LaunchError> {
    let protocol = protocol.filter(|_| !is_in_switch(algorithm));
    let path = Path {
        algorithm,
        protocol: protocol.unwrap_or(Protocol::Simple),
    };
    let launch = |bytes| Launch::on(setup, path, bytes, chips.to_vec());
    Ok(Call {
        algorithm: Some(algorithm),
        protocol,
        bytes,
        launch: launch(bytes)?,
        empty: is_in_switch(algorithm)
            .then(|| launch(Bytes::new(0)))
            .transpose()?,
        of: None,
        first_flow: 0,
        beside: Vec::new(),
    })
}

/// Refuses forms that only closed forms have.
fn only_of_math(request: &SimulateRequest<'_>) -> Result<(), Error> {
    let hint = |key, value| match (key, value) {
        ("spread", _) => Some("`choice` of `[g5.paths]` says how messages use equal routes"),
        ("pieces", "best") => Some("a number or a size of pieces, as `pieces=16`"),
        _ => None,
    };
    for (key, value) in request.variant.settings() {
        if let Some(hint) = hint(key, value) {
            return Err(Error::Usage {
                message: format!("`{key}={value}` is of closed forms, not of the g5 engine"),
                hint: Some(hint.to_owned()),
            });
        }
    }
    Ok(())
}

pub(super) fn domain(error: &dyn std::error::Error) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    Error::Domain { message, hint }
}

/// Returns why a run could not begin.
pub(super) fn setup_error(error: &SetupError) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    match error {
        SetupError::LateRank { .. } => Error::Usage { message, hint },
        SetupError::NoJob
        | SetupError::Placement { .. }
        | SetupError::Parameter(_)
        | SetupError::Path(_) => Error::Domain { message, hint },
    }
}
