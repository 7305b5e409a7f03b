//! From a system to the parameters of a run: what its `[g5]` says, over the priors of each layer.
//!
//! What a file does not say is a published value where there is one
//! ([`G5Parameters::defaults`]), fitted to the chip: engines share the rate of all links that
//! leave it, and the window of requests grows with that rate. A table that is absent is the prior;
//! one with `enabled = false` is the layer turned off.

mod protocol;
mod reliable;
#[cfg(test)]
mod tests;

use tier6_system::{
    ByteCounterSpec, CdmaSpec, ChipId, Constant, DcqcnPreset, DcqcnSpec, EcnSpec, G5Spec,
    MemorySpec, PathRule, PaxiSpec, PfcSpec, QueueSpec, SplitSpec, Topology,
};
use tier6_units::{ByteTime, Bytes, GbPerSec, Micros, SimTime};

use crate::{
    Cdma, CdmaSplit, Dcqcn, Ecn, EcnCurve, G5Parameters, Memory, PathChoice, Paxi, Pfc,
    RateControl, SwitchQueue,
};

pub use protocol::moved;
use reliable::rc_link;

/// Rate of the port for which 512 outstanding requests are published, in GB/s.
const PORT_RATE: f64 = 50.0;

impl G5Parameters {
    /// Returns the parameters of a system: what its `[g5]` says, and priors for the rest.
    ///
    /// ```
    /// use tier6_g5::{CdmaSplit, G5Parameters};
    /// use tier6_system::preset;
    /// use tier6_units::GbPerSec;
    ///
    /// let h200 = preset("doc003-h200-x8").unwrap().resolve().unwrap();
    /// let parameters = G5Parameters::of(&h200);
    /// assert_eq!(parameters.cdma.split, CdmaSplit::Per(64 << 10));
    /// let rate = parameters.cdma.rate.unwrap().rate();
    /// assert!((rate.get() - 441.0).abs() < 1e-6);
    /// ```
    pub fn of(topology: &Topology) -> Self {
        let constants = topology.constants();
        let software = SimTime::from(constants.call.value);
        let given = constants.g5.clone().unwrap_or_default();
        if !given.state.is_on() {
            return Self {
                software,
                ..Self::ideal()
            };
        }
        let paths = given.paths.map_or_else(|| paths_of(topology), path_choice);
        let rate_control = rate_control(given.dcqcn.as_ref());
        Self {
            software,
            cdma: cdma(&given, topology),
            memory: memory(&given, topology),
            paxi: paxi(&given, topology),
            rc_link: rc_link(&given, topology, paths),
            queue: queue(&given, topology, rate_control),
            paths,
            rate_control,
            contexts: constants.sharp.as_ref().and_then(|sharp| sharp.contexts),
        }
    }
}

/// Rate of all links that leave a chip.
fn chip_rate(topology: &Topology) -> GbPerSec {
    let links = topology.links_from(topology.chip_vertex(ChipId::new(0)));
    GbPerSec::new(
        links
            .iter()
            .map(|link| topology.link(*link).rate.get())
            .sum(),
    )
}

fn cdma(given: &G5Spec, topology: &Topology) -> Cdma {
    let given = given.cdma.clone().unwrap_or_default();
    let off = G5Parameters::ideal().cdma;
    if !given.state.is_on() {
        return off;
    }
    let prior = Cdma::defaults(chip_rate(topology));
    let CdmaSpec {
        state: _,
        units,
        threads,
        split,
        credits,
        start,
        sync,
        rate,
    } = given;
    Cdma {
        units: units.unwrap_or(prior.units),
        threads: threads.unwrap_or(prior.threads),
        split: split.map_or(prior.split, |split| match split {
            SplitSpec::All => CdmaSplit::All,
            SplitSpec::Per(size) => CdmaSplit::Per(size.get()),
        }),
        credits: credits.unwrap_or(prior.credits),
        start: time_or(start, prior.start),
        sync: time_or(sync, prior.sync),
        rate: rate.map_or(prior.rate, |rate| Some(ByteTime::at(rate.value))),
    }
}

/// A reduction costs what the chip says, else nothing; a local copy reads and writes, so it has
/// half the memory's rate.
fn memory(given: &G5Spec, topology: &Topology) -> Memory {
    let given = given.memory.clone().unwrap_or_default();
    if !given.state.is_on() {
        return G5Parameters::ideal().memory;
    }
    let constants = topology.constants();
    let MemorySpec {
        state: _,
        reduce,
        copy,
    } = given;
    let reduce = reduce.or_else(|| constants.reduce_rate.clone());
    let half_memory = || {
        let rate = constants.memory_rate.as_ref()?;
        Some(rate.value.scaled(0.5))
    };
    let copy = copy.map(|rate| rate.value).or_else(half_memory);
    Memory {
        reduce: reduce.map_or(ByteTime::ZERO, |rate| ByteTime::at(rate.value)),
        copy: copy.map_or(ByteTime::ZERO, ByteTime::at),
    }
}

fn paxi(given: &G5Spec, topology: &Topology) -> Option<Paxi> {
    let given = given.paxi.clone().unwrap_or_default();
    let ports = (chip_rate(topology).get() / PORT_RATE)
        .ceil()
        .clamp(1.0, 1e4);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and clamped"
    )]
    let prior = Paxi::defaults(ports as u32);
    let PaxiSpec {
        state,
        latency,
        segment,
        outstanding,
    } = given;
    state.is_on().then(|| Paxi {
        latency: time_or(latency, prior.latency),
        segment: size_or(segment, prior.segment),
        outstanding: outstanding.unwrap_or(prior.outstanding),
    })
}

fn queue(given: &G5Spec, topology: &Topology, rate_control: RateControl) -> SwitchQueue {
    let QueueSpec {
        state,
        buffer,
        threshold,
        pfc,
        ecn,
    } = given.switch.clone().unwrap_or_default();
    if !state.is_on() {
        return G5Parameters::ideal().queue;
    }
    let prior = SwitchQueue::lossless();
    let pfc = match pfc {
        None => prior.pfc,
        Some(pfc) => pfc_of(&pfc),
    };
    SwitchQueue {
        buffer: buffer.map_or(prior.buffer, |size| Some(size.get())),
        dynamic_threshold: threshold.unwrap_or(prior.dynamic_threshold),
        pfc,
        ecn: ecn_of(ecn, topology, rate_control),
    }
}

fn pfc_of(given: &PfcSpec) -> Option<Pfc> {
    let prior = Pfc::hpcc();
    let size = |size: Option<Bytes>, prior: u64| size.map_or(prior, Bytes::get);
    given.state.is_on().then(|| Pfc {
        reserve: size(given.reserve, prior.reserve),
        resume: size(given.resume, prior.resume),
        headroom: size(given.headroom, prior.headroom),
    })
}

/// Switches mark when the file says how, and when there is congestion control, which lives on
/// marks; then by HPCC's thresholds for the fastest link of the outermost tier.
fn ecn_of(given: Option<EcnSpec>, topology: &Topology, rate_control: RateControl) -> Option<Ecn> {
    let given = match (given, rate_control) {
        (Some(given), _) => given,
        (None, RateControl::Dcqcn(_)) => EcnSpec::default(),
        (None, RateControl::Off) => return None,
    };
    let outermost = topology.links().iter().map(|link| link.tier).max();
    let of_tier = topology
        .links()
        .iter()
        .filter(|link| Some(link.tier) == outermost);
    let fastest = of_tier.map(|link| link.rate.get()).fold(0.0, f64::max);
    let prior = EcnCurve::hpcc(GbPerSec::new(fastest));
    let k_min = given.k_min.map_or(prior.k_min, Bytes::get);
    given.state.is_on().then(|| Ecn {
        curve: EcnCurve {
            k_min,
            k_max: given.k_max.map_or(prior.k_max, Bytes::get).max(k_min),
            p_max: given.p_max.unwrap_or(prior.p_max),
        },
    })
}

/// Without a choice of the file: the topology's own, which spreads destinations and channels
/// without chance; packets in turn where a chip has several NICs, all of which it uses.
fn paths_of(topology: &Topology) -> PathChoice {
    let several = topology.chips().iter().any(|chip| chip.nics.len() > 1);
    if several {
        PathChoice::RoundRobin
    } else {
        PathChoice::Preferred
    }
}

const fn path_choice(rule: PathRule) -> PathChoice {
    match rule {
        PathRule::Preferred => PathChoice::Preferred,
        PathRule::PerFlow => PathChoice::PerFlow,
        PathRule::SubFlows(flows) => PathChoice::SubFlows(flows),
        PathRule::Spray => PathChoice::Spray,
        PathRule::RoundRobin => PathChoice::RoundRobin,
    }
}

fn rate_control(given: Option<&DcqcnSpec>) -> RateControl {
    let Some(given) = given.filter(|given| given.state.is_on()) else {
        return RateControl::Off;
    };
    let prior = match given.preset.unwrap_or(DcqcnPreset::Nvidia) {
        DcqcnPreset::Sigcomm15 => Dcqcn::sigcomm15(),
        DcqcnPreset::Nvidia => Dcqcn::nvidia(),
        DcqcnPreset::Hpcc => Dcqcn::hpcc(),
        DcqcnPreset::HpccCode => Dcqcn::hpcc_code(),
        DcqcnPreset::SimAi => Dcqcn::simai(),
    };
    let rate = |given: &Option<Constant<GbPerSec>>, prior: f64| {
        given.as_ref().map_or(prior, |rate| rate.value.get() * 1e9)
    };
    let time = |given: &Option<Constant<Micros>>, prior| time_or(given.clone(), prior);
    RateControl::Dcqcn(Dcqcn {
        g: given.g.unwrap_or(prior.g),
        alpha_period: time(&given.alpha_period, prior.alpha_period),
        initial_alpha: given.initial_alpha.unwrap_or(prior.initial_alpha),
        cut_interval: time(&given.cut_interval, prior.cut_interval),
        clamp: prior.clamp,
        cnp_interval: time(&given.cnp_interval, prior.cnp_interval),
        timer: time(&given.timer, prior.timer),
        byte_counter: given
            .byte_counter
            .map_or(prior.byte_counter, |counter| match counter {
                ByteCounterSpec::None => None,
                ByteCounterSpec::Every(size) => Some(size.get()),
            }),
        fast_recovery: given.fast_recovery.unwrap_or(prior.fast_recovery),
        additive: rate(&given.additive, prior.additive),
        hyper: rate(&given.hyper, prior.hyper),
        min_rate: rate(&given.min_rate, prior.min_rate),
        budget: time(&given.budget, prior.budget),
    })
}

fn time_or(given: Option<Constant<Micros>>, prior: SimTime) -> SimTime {
    given.map_or(prior, |time| time.value.into())
}

/// A size that a file has within 32 bits; a program's is cut there.
fn size_or(given: Option<Bytes>, prior: u32) -> u32 {
    given.map_or(prior, |size| u32::try_from(size.get()).unwrap_or(u32::MAX))
}
