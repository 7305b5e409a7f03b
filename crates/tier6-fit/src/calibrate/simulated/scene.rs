//! Measured calls as runs of the event-driven engine.
//!
//! A call has a path per algorithm and protocol that a library would choose from and the engine
//! lays out: those that the closed forms price. They run at `flow` fidelity: no queue forms in one
//! undisturbed call, so packets would say the same and cost more.
//!
//! A pipeline repeats itself once it is full: where twice as many pieces add twice as much time, more
//! of them are on that straight line, and are not run.

use super::constant::Key;
use crate::calibrate::CalibrateError;
use crate::calibrate::model::candidates;
use crate::calibrate::observed::{Call, Observed, ObservedPoint};
use crate::calibrate::site::Sites;
use crate::launch::{CallSetup, FixedTime, Launch, is_in_switch, simulated_protocols};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, Recording, RunOptions, moved, run};
use tier6_math::{Parameters, Pieces};
use tier6_system::{Efficiency, Topology};
use tier6_units::{Bytes, Micros, SimTime};

/// The least pieces of a pipeline that may repeat itself from there on.
const PIECES_LEAST: u64 = 8;
/// The most messages of a run that looks for it.
const MESSAGES_MOST: u64 = 40_000;
/// How far what twice as many pieces add may be from twice as much.
const STEADY: f64 = 0.02;

/// The paths of all calls.
#[derive(Debug)]
pub(super) struct Scene {
    calls: Vec<SceneCall>,
}

/// A call with its paths.
pub(super) struct SceneCall {
    pub(super) call: Call,
    pub(super) paths: Vec<Path>,
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
        let calls = observed
            .iter()
            .map(|set| SceneCall::new(&set.label, &set.call, sites));
        Ok(Self {
            calls: calls.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn calls(&self) -> &[SceneCall] {
        &self.calls
    }
}

impl SceneCall {
    fn new(label: &str, call: &Call, sites: &Sites) -> Result<Self, CalibrateError> {
        let topology = sites.topology(call);
        let parameters = sites.parameters(call);
        let setup = setup(call, topology, &parameters);
        let (mut paths, mut refused) = (Vec::new(), None);
        for algorithm in candidates(call) {
            if is_in_switch(algorithm) && topology.constants().nvls.is_none() {
                refused = Some(format!("`{algorithm}` needs `[nvls]` in the system"));
                continue;
            }
            let protocols = simulated_protocols(topology, algorithm);
            let protocols = protocols.into_iter();
            let asked = protocols.filter(|it| call.protocol.is_none_or(|forced| forced == *it));
            for protocol in asked {
                let path = Path {
                    algorithm,
                    protocol,
                };
                match Launch::new(&setup, path, Bytes::new(1)) {
                    Ok(_) => paths.push(path),
                    Err(error) => refused = Some(error.to_string()),
                }
            }
        }
        if paths.is_empty() {
            return Err(CalibrateError::Misfit {
                label: label.to_owned(),
                why: unsimulated(call, refused),
            });
        }
        Ok(Self { call: *call, paths })
    }

    /// Says whether a path may have run at a point.
    pub(super) fn may_run(path: Path, point: &ObservedPoint, among: &[Path]) -> bool {
        match point.path {
            Some(known) if among.contains(&known) => known == path,
            Some(_) | None => true,
        }
    }

    /// Says whether the time of a path may follow from a constant at all.
    pub(super) fn depends(&self, path: Path, key: &Key) -> bool {
        match key {
            Key::Software => self.fixed(path) == Some(Key::Software),
            Key::NvlsRate | Key::NvlsAlpha => is_in_switch(path.algorithm),
            Key::LlSync | Key::LlShare => path.protocol == Protocol::Ll,
            Key::Ll128Sync | Key::Ll128Share => path.protocol == Protocol::Ll128,
            Key::Sync => path.protocol == Protocol::Simple,
            Key::Latency(_) | Key::Rate | Key::Reduce | Key::Efficiency(_) => true,
        }
    }

    /// The constant that is the fixed time of a call by a path; `None` where none is fitted.
    pub(super) fn fixed(&self, path: Path) -> Option<Key> {
        match path.algorithm {
            Algorithm::Nvls if self.call.nodes > 1 => None,
            Algorithm::CollNetDirect | Algorithm::CollNetChain => None,
            Algorithm::Nvls | Algorithm::NvlsTree => Some(Key::NvlsAlpha),
            _ => Some(Key::Software),
        }
    }

    /// The size of the pieces in which a message goes, where the number of pieces follows from it.
    pub(super) fn piece(&self, path: Path, sites: &Sites) -> Option<Bytes> {
        let is_chain = matches!(
            self.call.collective,
            Collective::Broadcast | Collective::Reduce
        );
        let is_piped = match path.algorithm {
            Algorithm::Tree | Algorithm::NvlsTree => true,
            Algorithm::Ring | Algorithm::BidirRing => is_chain,
            _ => false,
        };
        match sites.parameters(&self.call).pieces {
            Pieces::Of(piece) if is_piped => Some(piece),
            Pieces::Of(_) | Pieces::Count(_) | Pieces::Best => None,
        }
    }

    /// Returns how much data is so many pieces of a path.
    pub(super) fn data_of(&self, path: Path, pieces: u64, sites: &Sites) -> Option<Bytes> {
        let piece = self.piece(path, sites)?;
        let topology = sites.topology(&self.call);
        let (_, share) = G5Parameters::of_protocol(topology, path.protocol)?;
        Some(data_of(pieces * piece.get(), share))
    }

    /// Returns in how many pieces data goes by a path, fractions and all; `None` where the number of
    /// pieces does not follow from it.
    fn pieces(&self, path: Path, bytes: Bytes, sites: &Sites) -> Option<f64> {
        let piece = self.piece(path, sites)?;
        let topology = sites.topology(&self.call);
        let (_, share) = G5Parameters::of_protocol(topology, path.protocol)?;
        Some(moved(bytes, share).as_f64() / piece.as_f64())
    }

    /// Lays out what has to run for a size.
    pub(super) fn runs(&self, path: Path, bytes: Bytes, sites: &Sites) -> Option<Runs> {
        let topology = sites.topology(&self.call);
        let parameters = sites.parameters(&self.call);
        let setup = setup(&self.call, topology, &parameters);
        let laid = |bytes: Bytes| Launch::new(&setup, path, bytes).ok();
        let of_topology = G5Parameters::of(topology);
        let empty = match setup.fixed_time(&of_topology, path.algorithm) {
            FixedTime::Software(_) => None,
            FixedTime::WholeCall(_) => Some(laid(Bytes::new(0))?),
        };
        Some(Runs {
            whole: laid(bytes)?,
            empty,
        })
    }

    /// Returns the fixed time of a path in us: of no bytes, hardware and all, where its runs have
    /// an empty one.
    pub(super) fn fixed_us(&self, path: Path, sites: &Sites) -> f64 {
        let topology = sites.topology(&self.call);
        let of_call = sites.parameters(&self.call);
        let setup = setup(&self.call, topology, &of_call);
        let fixed = setup.fixed_time(&G5Parameters::of(topology), path.algorithm);
        let (FixedTime::Software(time) | FixedTime::WholeCall(time)) = fixed;
        time.to_micros().get()
    }

    /// Returns how many messages a run of each path has, at a size.
    pub(super) fn messages(&self) -> u64 {
        let ranks = u64::from(self.call.ranks);
        let channels = if self.call.nodes > 1 { 8 } else { 1 };
        self.paths.len() as u64 * ranks * 2 * ranks * channels
    }
}

/// A call on a system: what ran there is known.
pub(super) struct Stage<'a> {
    pub(super) call: &'a SceneCall,
    pub(super) sites: &'a Sites,
    /// Hardware times of pipelines of so many pieces, and of empty calls, in us.
    known: RefCell<BTreeMap<(Path, u64), f64>>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(call: &'a SceneCall, sites: &'a Sites) -> Self {
        Self {
            call,
            sites,
            known: RefCell::default(),
        }
    }

    /// Returns the time of a path in us; `None` when it does not end within a limit.
    pub(super) fn time(&self, path: Path, bytes: Bytes, limit_us: f64) -> Option<f64> {
        let fixed = self.call.fixed_us(path, self.sites);
        if let Some(pieces) = self.call.pieces(path, bytes, self.sites)
            && pieces > PIECES_LEAST as f64
            && let (half, full) = self.steady(path)?
            && pieces > full as f64
        {
            let (half_us, full_us) = (self.piped(path, half)?, self.piped(path, full)?);
            let slope = (full_us - half_us) / (full - half) as f64;
            return Some(fixed + full_us + slope * (pieces - full as f64));
        }
        let runs = self.call.runs(path, bytes, self.sites)?;
        let empty = match &runs.empty {
            Some(empty) => self.kept((path, 0), || self.hardware(path, empty, f64::INFINITY))?,
            None => 0.0,
        };
        let software = fixed.max(empty) - empty;
        let hardware = self.hardware(path, &runs.whole, limit_us - software)?;
        Some(software + hardware)
    }

    /// Returns numbers of pieces from which on a pipeline repeats itself: twice as many add twice as
    /// much time.
    pub(super) fn steady(&self, path: Path) -> Option<(u64, u64)> {
        let mut half = PIECES_LEAST;
        loop {
            let at = |pieces: u64| self.piped(path, pieces);
            let (first, second) = (at(half)? - at(half / 2)?, at(2 * half)? - at(half)?);
            let is_steady = (second / (2.0 * first) - 1.0).abs() < STEADY;
            let next = self.call.data_of(path, 4 * half, self.sites)?;
            if is_steady || self.call.runs(path, next, self.sites)?.messages() > MESSAGES_MOST {
                return Some((half, 2 * half));
            }
            half *= 2;
        }
    }

    fn piped(&self, path: Path, pieces: u64) -> Option<f64> {
        self.kept((path, pieces), || {
            let bytes = self.call.data_of(path, pieces, self.sites)?;
            let runs = self.call.runs(path, bytes, self.sites)?;
            self.hardware(path, &runs.whole, f64::INFINITY)
        })
    }

    fn kept(&self, key: (Path, u64), run: impl FnOnce() -> Option<f64>) -> Option<f64> {
        if let Some(known) = self.known.borrow().get(&key) {
            return Some(*known);
        }
        let time = run()?;
        self.known.borrow_mut().insert(key, time);
        Some(time)
    }

    /// Returns the hardware time of runs in us, without that of an empty one.
    pub(super) fn net(&self, path: Path, runs: &Runs) -> Option<f64> {
        let one = |launch: &Launch| self.hardware(path, launch, f64::INFINITY);
        let empty = runs.empty.as_ref().map_or(Some(0.0), one)?;
        Some(one(&runs.whole)? - empty)
    }

    fn hardware(&self, path: Path, launch: &Launch, limit_us: f64) -> Option<f64> {
        let topology = self.sites.topology(&self.call.call);
        let (parameters, _) = G5Parameters::of_protocol(topology, path.protocol)?;
        let mut fabric = Fabric::new(topology, &parameters, &[], 0).ok()?;
        let mut options = RunOptions {
            critical_path: Recording::Off,
            ..RunOptions::new()
        };
        if limit_us.is_finite() {
            options.limits.time = SimTime::from(Micros::new(limit_us.max(0.0)));
        }
        let mut network = FlowNetwork::new();
        let jobs = launch.jobs();
        let result = run(&jobs, &mut fabric, &mut network, &parameters, &options).ok()?;
        Some(result.hardware.to_micros().get())
    }
}

/// What has to run for a size: the hardware time of `empty` is part of the fixed time.
pub(super) struct Runs {
    whole: Launch,
    empty: Option<Launch>,
}

impl Runs {
    fn messages(&self) -> u64 {
        let jobs = self.whole.jobs();
        jobs.iter()
            .map(|job| u64::from(job.program.transfers()))
            .sum()
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

/// Returns the most data that moves no more than so many bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a size"
)]
fn data_of(moved: u64, share: Efficiency) -> Bytes {
    Bytes::new((moved as f64 * share.get()).floor() as u64)
}

/// Says why nothing of a call is simulated, and the way out.
fn unsimulated(call: &Call, refused: Option<String>) -> String {
    let under = call
        .protocol
        .map_or_else(String::new, |protocol| format!(" under {protocol}"));
    let by = call
        .algorithm
        .map_or_else(String::new, |algorithm| format!(" by {algorithm}"));
    let why = refused.map_or_else(String::new, |why| format!(": {why}"));
    format!(
        "no path of {}{by}{under} is calibrated by simulating{why}; hint: use `--engine math`",
        call.collective
    )
}
