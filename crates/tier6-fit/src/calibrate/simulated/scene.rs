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
use std::num::NonZeroU32;
use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, Path, Protocol, build, offers};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, Fabric, FlowNetwork, G5Parameters, Job, Lowered, Program,
    Recording, Relabelled, RingPace, RingProgram, RunOptions, moved, run,
};
use tier6_math::ring_orders;
use tier6_system::{ChipId, SystemSpec, Topology};
use tier6_units::{Bytes, SimTime};

/// Slices of an in-switch call: both directions of a link are in use from the second on (FACTS
/// B.6). As `tier6 simulate` has it, but never more than [`SLICES_MAX`] per rank.
const IN_SWITCH_SLICE: u64 = 256 << 10;
/// With so many slices the first and the last are half a percent of the call.
const SLICES_MAX: u64 = 128;

/// The paths of all calls.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    calls: Vec<SceneCall>,
}

/// A call with its paths.
#[derive(Debug, Clone)]
pub(super) struct SceneCall {
    call: Call,
    pub(super) paths: Vec<Path>,
    /// In-switch schedules by size, and that of no bytes.
    in_switch: Vec<(Bytes, Lowered)>,
}

impl Scene {
    /// Lists the paths of every call.
    pub(super) fn new(
        system: &SystemSpec,
        observed: &[&Observed],
        sites: &Sites,
    ) -> Result<Self, CalibrateError> {
        let calls = observed.iter().map(|set| {
            let sizes: Vec<Bytes> = set.points.iter().map(|point| point.bytes).collect();
            SceneCall::new(system, &set.label, &set.call, &sizes, sites)
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
        system: &SystemSpec,
        label: &str,
        call: &Call,
        sizes: &[Bytes],
        sites: &Sites,
    ) -> Result<Self, CalibrateError> {
        let misfit = |why: String| CalibrateError::Misfit {
            label: label.to_owned(),
            why,
        };
        let protocols = protocols(system);
        let mut paths = Vec::new();
        for algorithm in algorithms(call, sites) {
            let of_algorithm = protocols.iter().filter(|protocol| {
                // The switches reduce what lies in memory, whole.
                algorithm != Algorithm::Nvls || **protocol == Protocol::Simple
            });
            paths.extend(of_algorithm.map(|protocol| Path {
                algorithm,
                protocol: *protocol,
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
        let has_nvls = paths.iter().any(|path| path.algorithm == Algorithm::Nvls);
        let sizes: Vec<Bytes> = [Bytes::new(0)]
            .into_iter()
            .chain(sizes.iter().copied())
            .collect();
        let in_switch = sizes.into_iter().filter(|_| has_nvls).map(|bytes| {
            let per_rank = bytes.get().div_ceil(call.ranks.into());
            let options = BuildOptions {
                ranks_per_node: Some(call.ranks / call.nodes),
                grain: Grain::Slices {
                    bytes: IN_SWITCH_SLICE.max(per_rank.div_ceil(SLICES_MAX)),
                },
                ..BuildOptions::new(call.ranks, bytes)
            };
            let schedule = build(call.collective, Algorithm::Nvls, &options);
            let schedule = schedule.map_err(|error| misfit(error.to_string()))?;
            Ok((bytes, Lowered::new(&schedule)))
        });
        Ok(Self {
            call: *call,
            in_switch: in_switch.collect::<Result<_, CalibrateError>>()?,
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
        let (parameters, share) = G5Parameters::of_protocol(topology, path.protocol)?;
        parameters.check().ok()?;
        let chips = chips(&self.call, topology);
        let hardware = |bytes: Bytes| {
            let programs = self.programs(path, bytes, topology, sites)?;
            let programs: Vec<&dyn Program> = match &programs {
                Programs::Kept(program) => vec![*program],
                Programs::Made(made) => made.iter().map(AsRef::as_ref).collect(),
            };
            hardware(&programs, &chips, topology, &parameters)
        };
        let software = parameters.software.to_micros().get();
        if path.algorithm == Algorithm::Nvls {
            let alpha = topology.constants().nvls.as_ref()?.alpha.as_ref();
            let floor = hardware(Bytes::new(0))?;
            let alpha = alpha.map_or(software + floor, |alpha| alpha.value.get());
            // The fixed time of an in-switch call is what a call of no bytes takes.
            return Some(alpha.max(floor) + (hardware(bytes)? - floor).max(0.0));
        }
        Some(software + hardware(moved(bytes, share))?)
    }

    /// Returns how many messages a run of each path has, at a size.
    pub(super) fn messages(&self) -> u64 {
        let ranks = u64::from(self.call.ranks);
        let channels = if self.call.nodes > 1 { 8 } else { 1 };
        self.paths.len() as u64 * ranks * 2 * ranks * channels
    }

    fn programs(
        &self,
        path: Path,
        bytes: Bytes,
        topology: &Topology,
        sites: &Sites,
    ) -> Option<Programs<'_>> {
        let call = &self.call;
        match path.algorithm {
            Algorithm::Nvls => {
                let kept = self.in_switch.iter().find(|(size, _)| *size == bytes);
                kept.map(|(_, program)| Programs::Kept(program))
            }
            Algorithm::Direct => {
                let order = ExchangeOrder::AllAtOnce;
                let all = ExchangeProgram::new(call.ranks, bytes, Grain::Message, order).ok()?;
                Some(Programs::Made(vec![Box::new(all)]))
            }
            _ => {
                let chips = chips(call, topology);
                let channels = sites.parameters(call).channels;
                let orders = ring_orders(topology, &chips, call.ranks / call.nodes, channels);
                let count = orders.len() as u64;
                let mut rings: Vec<Box<dyn Program>> = Vec::new();
                for (channel, order) in (0..count).zip(&orders) {
                    let end =
                        |at: u64| u128::from(bytes.get()) * u128::from(at) / u128::from(count);
                    let share = u64::try_from(end(channel + 1) - end(channel)).ok()?;
                    if share == 0 && channel > 0 {
                        continue;
                    }
                    let ring = RingProgram::new(
                        call.collective,
                        call.ranks,
                        Bytes::new(share.max(1)),
                        Grain::Message,
                        RingPace::Arrival,
                    );
                    rings.push(Box::new(Relabelled::new(ring.ok()?, order)?));
                }
                Some(Programs::Made(rings))
            }
        }
    }
}

/// Programs of a run.
enum Programs<'a> {
    Kept(&'a Lowered),
    Made(Vec<Box<dyn Program>>),
}

/// Runs programs, one per channel, and returns the time of the hardware in us.
fn hardware(
    programs: &[&dyn Program],
    chips: &[ChipId],
    topology: &Topology,
    parameters: &G5Parameters,
) -> Option<f64> {
    let mut fabric = Fabric::new(topology, parameters, &[], 0).ok()?;
    let jobs: Vec<Job<'_>> = (0..)
        .zip(programs)
        .map(|(flow, program)| Job {
            program: *program,
            chips,
            start: SimTime::ZERO,
            flow,
        })
        .collect();
    let options = RunOptions {
        critical_path: Recording::Off,
        ..RunOptions::new()
    };
    let mut network = FlowNetwork::new();
    let result = run(&jobs, &mut fabric, &mut network, parameters, &options).ok()?;
    Some(result.hardware.to_micros().get())
}

/// The chip of each rank.
fn chips(call: &Call, topology: &Topology) -> Vec<ChipId> {
    let per_node = NonZeroU32::new(call.ranks / call.nodes.max(1)).map_or(1, NonZeroU32::get);
    let nodes = topology.nodes().iter();
    let chips = nodes.flat_map(|node| node.chips.clone().take(per_node as usize));
    chips.take(call.ranks as usize).map(ChipId::new).collect()
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

/// The protocols that a system describes.
pub(super) fn protocols(system: &SystemSpec) -> Vec<Protocol> {
    let g5 = system.g5.as_ref();
    let mut protocols = vec![Protocol::Simple];
    if g5.is_some_and(|g5| g5.ll128.is_some()) {
        protocols.push(Protocol::Ll128);
    }
    if g5.is_some_and(|g5| g5.ll.is_some()) {
        protocols.push(Protocol::Ll);
    }
    protocols
}
