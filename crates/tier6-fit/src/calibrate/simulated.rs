//! Calibration of the event-driven engine: the constants of `[g5]` from the same measurements as
//! the closed forms'.
//!
//! The model is the engine itself, at `flow` fidelity: the time of a call is that of the fastest
//! path a library would choose from, each simulated. What moves: the fixed time of a call, what a
//! message costs beside its bytes, the rate of engines and links, over how many engines a message
//! goes, the rate and the fixed time of NVLS, and the protocols under which messages differ.
//!
//! Over how many engines a message goes, and which protocols there are, are choices, not numbers:
//! every second size is predicted from the others, and the plainest of the choices that do so, and
//! describe all of them, about as well as the best is taken.
//!
//! Deliberately absent: queues, loss and congestion, of which an undisturbed call says nothing.

mod choose;
mod constant;
mod lines;
mod made;
mod scene;
mod solve;
mod surface;
mod survey;

use self::lines::Ground;
use self::made::Made;
use self::scene::{Scene, SceneCall, Stage};
use super::site::Sites;
use super::{
    CalibrateError, CalibrateOptions, Calibration, Call, Forecast, HeldOut, Observed, ObservedPoint,
};
use std::collections::BTreeMap;
use tier6_collective::{Collective, Path};
use tier6_system::{G5Spec, MessageSpec, SystemSpec};
use tier6_units::{Bytes, Micros};

/// Calibrates the constants of `[g5]` of a system, and `[software]` and `[nvls]` with them, on
/// measurements, by simulating. The method is least squares whatever the options say.
///
/// The order of the measurements changes nothing.
///
/// # Errors
///
/// When nothing can be fitted, a measurement does not fit the system, its call is none that is
/// calibrated by simulating, or constants cannot be told apart and
/// [`Confounded::Refuse`](super::Confounded::Refuse) is asked for.
pub fn calibrate_simulated(
    system: &SystemSpec,
    observed: &[Observed],
    options: &CalibrateOptions,
) -> Result<Calibration, CalibrateError> {
    let sorted = super::sorted(observed)?;
    let described = with_protocols(system);
    let ground = Ground::new(&described, &sorted, is_reduce_told(system, &sorted))?;
    let (choice, mut survey) = choose::choose(&ground).ok_or(CalibrateError::NoPoints)?;
    let mut solution = ground
        .settle(&mut survey, &choice.logs, &choice.protocols)
        .ok_or(CalibrateError::NoPoints)?;
    ground.give_back(&mut solution);
    let held_out = match options.held_out {
        HeldOut::Tested => choose::held_out(&ground, &solution.lines, &solution.logs),
        HeldOut::Untested => vec![None; sorted.len()],
    };
    let made = Made {
        system,
        ground: &ground,
        choice,
        solution,
        held_out,
        options,
    };
    made.report()
}

/// Predicts a call on a system by simulating: the fastest of the paths that calibration simulates.
/// No band: the bands of a calibration are [`Calibration::miss`].
///
/// # Errors
///
/// When the call does not fit the system, or none of its paths is simulated.
pub fn forecast_simulated(
    system: &SystemSpec,
    call: &Call,
    sizes: &[Bytes],
) -> Result<Vec<Forecast>, CalibrateError> {
    let points: Vec<(Bytes, Micros)> = sizes.iter().map(|b| (*b, Micros::new(1.0))).collect();
    let asked = Observed::new("the call asked for", *call, &points);
    let mut by_size = BTreeMap::new();
    for (bytes, time, path) in times(system, &asked)? {
        let forecast = Forecast {
            bytes,
            time: Micros::new(time),
            path: (path.algorithm, Some(path.protocol)),
            band: None,
        };
        by_size.insert(bytes, forecast);
    }
    let one = |bytes: &Bytes| by_size.get(bytes).cloned();
    Ok(sizes.iter().filter_map(one).collect())
}

/// Simulates every size of a set on a system, on the fastest path of those that may have run there:
/// size, us, path.
fn times(system: &SystemSpec, set: &Observed) -> Result<Vec<(Bytes, f64, Path)>, CalibrateError> {
    let sites = Sites::of(system, &[set])?;
    let scene = Scene::new(&[set], &sites)?;
    let stage = Stage::new(&scene.calls()[0], &sites);
    let mut paths = stage.call.paths.clone();
    let time = |point: &ObservedPoint| {
        let mut fastest: Option<(usize, f64)> = None;
        for (at, path) in paths.iter().enumerate() {
            let limit = fastest.map_or(f64::INFINITY, |(_, time)| time);
            if SceneCall::may_run(*path, point, &stage.call.paths)
                && let Some(time) = stage.time(*path, point.bytes, limit)
                && time < limit
            {
                fastest = Some((at, time));
            }
        }
        let (at, time) = fastest.ok_or_else(|| CalibrateError::Misfit {
            label: set.label.clone(),
            why: format!("no path ends at {}", point.bytes),
        })?;
        // What was the fastest is likely to be so at the next size: the others then stop early.
        paths[..=at].rotate_right(1);
        Ok((point.bytes, time, paths[0]))
    };
    set.points.iter().map(time).collect()
}

/// The system with every protocol to choose from.
fn with_protocols(system: &SystemSpec) -> SystemSpec {
    let mut system = system.clone();
    let g5 = system.g5.get_or_insert_with(G5Spec::default);
    g5.ll.get_or_insert_with(MessageSpec::default);
    g5.ll128.get_or_insert_with(MessageSpec::default);
    system
}

/// Whether the rate of a reduction can be told: the system knows it, or calls that reduce stand
/// beside calls that do not.
fn is_reduce_told(system: &SystemSpec, observed: &[&Observed]) -> bool {
    let reduces = |set: &Observed| {
        matches!(
            set.call.collective,
            Collective::AllReduce | Collective::ReduceScatter
        )
    };
    let memory = system.g5.as_ref().and_then(|g5| g5.memory.as_ref());
    memory.is_some_and(|memory| memory.reduce.is_some())
        || system.chip.reduce_rate.is_some()
        || (observed.iter().any(|set| reduces(set)) && !observed.iter().all(|set| reduces(set)))
}
