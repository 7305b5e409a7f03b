//! How the time of a call follows each constant: the run repeated with the constant 10 % lower and
//! 10 % higher. An elasticity of -1 says that the time falls by a percent per percent.

use super::running::Race;
use super::scene::{Call, Scene, setup_error};
use crate::Error;
use tier6_g5::{G5Parameters, RunError};
use tier6_report::Sensitivity;
use tier6_system::{Constant, LinkClass, SwitchSpec, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

/// Part by which a constant is moved.
const STEP: f64 = 0.1;

/// A constant to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knob {
    Call,
    LinkRate(usize),
    LinkLatency(usize),
    SwitchLatency(usize),
    Nvls,
    Start,
    Sync,
    Engines,
    Transaction,
    Reduce,
}

/// Returns the elasticities of a call that takes `total`, by constant. A constant of zero has none,
/// nor has one whose change stops the run.
pub(super) fn of(
    scene: &mut Scene<'_>,
    call: &Call,
    total: SimTime,
) -> Result<Vec<Sensitivity>, Error> {
    let mut sensitivities = Vec::new();
    if total == SimTime::ZERO {
        return Ok(sensitivities);
    }
    for (knob, constant) in knobs(scene) {
        let mut times = Vec::new();
        for factor in [1.0 - STEP, 1.0 + STEP] {
            if let Some(time) = time(scene, call, knob, factor)? {
                times.push(time.to_micros().get());
            }
        }
        if let [low, high] = times[..] {
            let elasticity = (high - low) / (2.0 * STEP * total.to_micros().get());
            sensitivities.push(Sensitivity {
                constant,
                elasticity,
            });
        }
    }
    Ok(sensitivities)
}

/// The constants that are not zero, with their names.
fn knobs(scene: &Scene<'_>) -> Vec<(Knob, String)> {
    let (topology, parameters) = (&scene.site.topology, &scene.parameters);
    let mut knobs = Vec::new();
    let mut add = |is_something: bool, knob, name: String| {
        if is_something {
            knobs.push((knob, name));
        }
    };
    let named = str::to_owned;
    add(
        parameters.software > SimTime::ZERO,
        Knob::Call,
        named("software.call"),
    );
    for (at, class) in topology.link_classes().iter().enumerate() {
        let name = |field: &str| format!("links.{}.{field}", class.name);
        add(true, Knob::LinkRate(at), name("rate"));
        let latency = class.latency.value.get() > 0.0;
        add(latency, Knob::LinkLatency(at), name("latency"));
    }
    for (at, class) in topology.switch_classes().iter().enumerate() {
        let name = format!("switches.{}.latency", class.name);
        let latency = class.latency.value.get() > 0.0;
        add(latency, Knob::SwitchLatency(at), name);
    }
    let nvls = topology.constants().nvls.is_some();
    add(nvls, Knob::Nvls, named("nvls.rate"));
    let (cdma, memory) = (&parameters.cdma, &parameters.memory);
    add(
        cdma.start > SimTime::ZERO,
        Knob::Start,
        named("g5.cdma.start"),
    );
    add(cdma.sync > SimTime::ZERO, Knob::Sync, named("g5.cdma.sync"));
    add(cdma.rate.is_some(), Knob::Engines, named("g5.cdma.rate"));
    let latency = parameters.paxi.map_or(SimTime::ZERO, |paxi| paxi.latency);
    add(
        latency > SimTime::ZERO,
        Knob::Transaction,
        named("g5.paxi.latency"),
    );
    add(
        memory.reduce > ByteTime::ZERO,
        Knob::Reduce,
        named("g5.memory.reduce"),
    );
    knobs
}

/// The time with one constant moved; `None` when the run stops.
fn time(
    scene: &mut Scene<'_>,
    call: &Call,
    knob: Knob,
    factor: f64,
) -> Result<Option<SimTime>, Error> {
    let moved = moved_topology(scene, knob, factor)?;
    let site = scene.site;
    let topology = moved.as_ref().unwrap_or(&site.topology);
    let mut parameters = G5Parameters::of(topology);
    let scaled = |time: SimTime| SimTime::from(Micros::new(time.to_micros().get() * factor));
    let rate = |byte: ByteTime| ByteTime::at(byte.rate().scaled(factor));
    match knob {
        Knob::Call
        | Knob::LinkRate(_)
        | Knob::LinkLatency(_)
        | Knob::SwitchLatency(_)
        | Knob::Nvls => {}
        Knob::Start => parameters.cdma.start = scaled(parameters.cdma.start),
        Knob::Sync => parameters.cdma.sync = scaled(parameters.cdma.sync),
        Knob::Engines => parameters.cdma.rate = parameters.cdma.rate.map(rate),
        Knob::Transaction => {
            if let Some(paxi) = &mut parameters.paxi {
                paxi.latency = scaled(paxi.latency);
            }
        }
        Knob::Reduce => parameters.memory.reduce = rate(parameters.memory.reduce),
    }
    let parameters = scene.parameters_for(call, topology, &parameters);
    match scene.run(call, topology, &parameters, Race::ALONE) {
        Ok(result) => Ok(Some(result.total)),
        Err(RunError::Stop(_)) => Ok(None),
        Err(RunError::Setup(error)) => Err(setup_error(&error)),
    }
}

/// The system with a constant of its own moved; `None` for a constant of the engine.
fn moved_topology(scene: &Scene<'_>, knob: Knob, factor: f64) -> Result<Option<Topology>, Error> {
    let site = scene.site;
    let mut spec = site.system.spec.clone();
    let time = |time: Micros| Some(Constant::stated(Micros::new(time.get() * factor)));
    let rate = |rate: GbPerSec| Constant::stated(rate.scaled(factor));
    match knob {
        Knob::Call => spec.software.call = time(site.topology.constants().call.value),
        Knob::LinkRate(at) => {
            let class = &site.topology.link_classes()[at];
            link(&mut spec, class).rate = Some(rate(class.rate.value));
        }
        Knob::LinkLatency(at) => {
            let class = &site.topology.link_classes()[at];
            link(&mut spec, class).latency = time(class.latency.value);
        }
        Knob::SwitchLatency(at) => {
            let class = &site.topology.switch_classes()[at];
            let moved = SwitchSpec {
                name: class.name.as_str().into(),
                ports: class.ports,
                latency: Constant::stated(Micros::new(class.latency.value.get() * factor)),
                abilities: class.abilities.clone(),
            };
            spec.switches
                .retain(|switch| switch.name.value != class.name);
            spec.switches.push(moved);
        }
        Knob::Nvls => {
            if let Some(nvls) = &mut spec.nvls {
                nvls.rate = rate(nvls.rate.value);
            }
        }
        Knob::Start | Knob::Sync | Knob::Engines | Knob::Transaction | Knob::Reduce => {
            return Ok(None);
        }
    }
    let nodes = site.topology.n_nodes();
    let mut moved = site.system.clone();
    moved.spec = spec;
    moved.resolve(Some(nodes)).map(Some)
}

fn link<'s>(spec: &'s mut SystemSpec, class: &LinkClass) -> &'s mut tier6_system::LinkSpec {
    spec.link_mut(&class.name)
        .expect("Invariant: a class in use is the file's or the catalog's")
}
