//! Measured calls as runs of the event-driven engine.
//!
//! A call has a path per algorithm and protocol that a library would choose from: rings of whole
//! messages under each protocol that the system describes, NVLS where the switches have it, and
//! direct exchange. They run at `flow` fidelity: no queue forms in one undisturbed call, so
//! packets would say the same and cost more.

use super::constant::Key;
use crate::calibrate::observed::{Call, Observed, ObservedPoint};
use crate::calibrate::site::Sites;
use crate::calibrate::{CalibrateError, site};
use crate::launch::{CallSetup, Launch, is_in_switch, simulated_protocols};
use std::fmt;
use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol, offers};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, Recording, RunOptions, run};
use tier6_math::Parameters;
use tier6_system::Topology;
use tier6_units::{Bytes, SimTime};

/// The paths of all calls.
#[derive(Debug)]
pub(super) struct Scene {
    calls: Vec<SceneCall>,
}

/// A call with its paths.
pub(super) struct SceneCall {
    call: Call,
    pub(super) paths: Vec<Path>,
    /// In-switch calls by size, and that of no bytes: unrolled once, as no constant changes them.
    in_switch: Vec<(Bytes, Launch)>,
}

impl fmt::Debug for SceneCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneCall")
            .field("call", &self.call)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

impl Scene {
    /// Lists the paths of every call.
    pub(super) fn new(observed: &[&Observed], sites: &Sites) -> Result<Self, CalibrateError> {
        let calls = observed.iter().map(|set| {
            let sizes: Vec<Bytes> = set.points.iter().map(|point| point.bytes).collect();
            SceneCall::new(&set.label, &set.call, &sizes, sites)
        });
        Ok(Self {
            calls: calls.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn calls(&self) -> &[SceneCall] {
        &self.calls
    }
}

impl SceneCall {
    fn new(
        label: &str,
        call: &Call,
        sizes: &[Bytes],
        sites: &Sites,
    ) -> Result<Self, CalibrateError> {
        let misfit = |why: String| CalibrateError::Misfit {
            label: label.to_owned(),
            why,
        };
        let topology = sites.topology(call);
        let mut paths = Vec::new();
        for algorithm in algorithms(call, sites) {
            let protocols = simulated_protocols(topology, algorithm).into_iter();
            paths.extend(protocols.map(|protocol| Path {
                algorithm,
                protocol,
            }));
        }
        paths.retain(|path| call.protocol.is_none_or(|forced| forced == path.protocol));
        if paths.is_empty() {
            let asked = call
                .algorithm
                .map_or_else(String::new, |it| format!("{it} "));
            return Err(misfit(format!(
                "no path of {asked}{} is calibrated by simulating",
                call.collective
            )));
        }
        let parameters = sites.parameters(call);
        let setup = setup(call, topology, &parameters);
        let mut in_switch = Vec::new();
        for path in paths.iter().filter(|path| is_in_switch(path.algorithm)) {
            for bytes in [Bytes::new(0)].iter().chain(sizes) {
                let launch = Launch::new(&setup, *path, *bytes);
                let launch = launch.map_err(|error| misfit(error.to_string()))?;
                in_switch.push((*bytes, launch));
            }
        }
        Ok(Self {
            call: *call,
            in_switch,
            paths,
        })
    }

    /// Says whether a path may have run at a point.
    pub(super) fn may_run(path: Path, point: &ObservedPoint, among: &[Path]) -> bool {
        match point.path {
            Some(known) if among.contains(&known) => known == path,
            Some(_) | None => true,
        }
    }

    /// Says whether the time of a path follows from a constant at all.
    pub(super) fn depends(path: Path, key: &Key) -> bool {
        let is_in_switch = path.algorithm == Algorithm::Nvls;
        match key {
            Key::Software => !is_in_switch,
            Key::NvlsRate | Key::NvlsAlpha => is_in_switch,
            Key::LlSync | Key::LlShare => path.protocol == Protocol::Ll,
            Key::Ll128Sync | Key::Ll128Share => path.protocol == Protocol::Ll128,
            Key::Sync => path.protocol == Protocol::Simple,
            Key::Latency(_) | Key::Rate | Key::Reduce | Key::Efficiency(_) => true,
        }
    }

    /// Returns the time of a path in us on a system; `None` when it does not run there.
    pub(super) fn time(&self, path: Path, bytes: Bytes, sites: &Sites) -> Option<f64> {
        let topology = sites.topology(&self.call);
        let (parameters, _) = G5Parameters::of_protocol(topology, path.protocol)?;
        let of_call = sites.parameters(&self.call);
        let setup = setup(&self.call, topology, &of_call);
        let run = |bytes: Bytes| {
            if is_in_switch(path.algorithm) {
                let mut kept = self.in_switch.iter();
                let (_, launch) = kept.find(|(size, _)| *size == bytes)?;
                return hardware(launch, topology, &parameters);
            }
            hardware(
                &Launch::new(&setup, path, bytes).ok()?,
                topology,
                &parameters,
            )
        };
        let fixed = setup.fixed_time(&parameters, path.algorithm);
        let software = fixed.software(|| run(Bytes::new(0)))?;
        Some((software + run(bytes)?).to_micros().get())
    }

    /// Returns how many messages a run of each path has, at a size.
    pub(super) fn messages(&self) -> u64 {
        let ranks = u64::from(self.call.ranks);
        let channels = if self.call.nodes > 1 { 8 } else { 1 };
        self.paths.len() as u64 * ranks * 2 * ranks * channels
    }
}

/// A call as calibration runs it: whole messages, each algorithm's own handshake.
fn setup<'a>(call: &Call, topology: &'a Topology, parameters: &'a Parameters) -> CallSetup<'a> {
    CallSetup {
        topology,
        parameters,
        collective: call.collective,
        ranks: call.ranks,
        grain: Grain::Message,
        handshake: None,
    }
}

/// Runs a call and returns the time of the hardware.
fn hardware(launch: &Launch, topology: &Topology, parameters: &G5Parameters) -> Option<SimTime> {
    let mut fabric = Fabric::new(topology, parameters, &[], 0).ok()?;
    let options = RunOptions {
        critical_path: Recording::Off,
        ..RunOptions::new()
    };
    let mut network = FlowNetwork::new();
    let result = run(
        &launch.jobs(),
        &mut fabric,
        &mut network,
        parameters,
        &options,
    )
    .ok()?;
    Some(result.hardware)
}

/// The algorithms that the library may have chosen from, as far as they are calibrated here.
fn algorithms(call: &Call, sites: &site::Sites) -> Vec<Algorithm> {
    let has_nvls = sites.topology(call).constants().nvls.is_some() && call.nodes == 1;
    let known: &[Algorithm] = match call.collective {
        Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter => {
            &[Algorithm::Ring, Algorithm::Nvls]
        }
        Collective::AllToAll => &[Algorithm::Direct],
        Collective::AllToAllV
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => &[],
    };
    let runs = |algorithm: &Algorithm| {
        offers(*algorithm, call.collective) && (*algorithm != Algorithm::Nvls || has_nvls)
    };
    let wanted = |algorithm: &Algorithm| call.algorithm.is_none_or(|forced| forced == *algorithm);
    let found = known.iter().copied();
    found.filter(|it| runs(it) && wanted(it)).collect()
}
