//! From a system to the parameters of a run: what its `[g5]` says, over the priors of each layer.
//!
//! What a file does not say is a published value where there is one
//! ([`G5Parameters::defaults`]), fitted to the chip: engines share the rate of all links that
//! leave it, and the window of requests grows with that rate. A table that is absent is the prior;
//! one with `enabled = false` is the layer turned off.

use tier6_collective::Protocol;
use tier6_system::{
    AckMergeSpec, ArbiterSpec, ByteCounterSpec, CdmaSpec, ChannelsSpec, ChipId, Constant,
    CreditScopeSpec, CreditsSpec, DcqcnPreset, DcqcnSpec, EcnSpec, Efficiency, G5Spec, HeadersSpec,
    MemorySpec, PathRule, PaxiSpec, PfcSpec, QueueSpec, RcLinkSpec, RecoverySpec, SplitSpec,
    Topology,
};
use tier6_units::{ByteTime, Bytes, GbPerSec, Micros, SimTime};

use crate::{
    AckMerge, Arbiter, Cdma, CdmaSplit, Channels, CreditScope, Credits, Dcqcn, Ecn, EcnCurve,
    G5Parameters, Headers, Memory, PathChoice, Paxi, Pfc, RateControl, RcLink, Recovery,
    SwitchQueue,
};

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
        }
    }
}

impl G5Parameters {
    /// Returns the parameters for messages of a protocol, and the share of the bytes moved that is
    /// data; `None` for LL and LL128 when the system does not describe them. Simple is what
    /// [`G5Parameters::of`] gives.
    ///
    /// The protocols differ in how a message is known to be complete (a flag with the data against
    /// a fence), which is the `sync` of the engines, and in the bytes that flags take.
    pub fn of_protocol(topology: &Topology, protocol: Protocol) -> Option<(Self, Efficiency)> {
        let base = Self::of(topology);
        let given = topology.constants().g5.as_ref();
        let message = match protocol {
            Protocol::Ll => given?.ll.as_ref()?,
            Protocol::Ll128 => given?.ll128.as_ref()?,
            Protocol::Simple => return Some((base, Efficiency::FULL)),
        };
        let share = match &message.share {
            Some(share) => share.value,
            None => share_prior(topology, protocol),
        };
        // An engine takes so much data; flags come on top.
        let split = match base.cdma.split {
            CdmaSplit::All => CdmaSplit::All,
            CdmaSplit::Per(size) => CdmaSplit::Per(moved(Bytes::new(size), share).get()),
        };
        let cdma = Cdma {
            sync: time_or(message.sync.clone(), base.cdma.sync),
            split,
            ..base.cdma
        };
        Some((Self { cdma, ..base }, share))
    }
}

/// Returns the bytes that move for so much data, of which it is a share; up to the next whole one.
pub fn moved(data: Bytes, share: Efficiency) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size, some times as large; saturates"
    )]
    let bytes = (data.as_f64() / share.get()).ceil() as u64;
    Bytes::new(bytes)
}

/// What the links of the first tier leave for data.
fn share_prior(topology: &Topology, protocol: Protocol) -> Efficiency {
    let first = topology.tiers().first();
    let class = first.map(|tier| &topology.link_classes()[tier.link.index()]);
    class.map_or(Efficiency::FULL, |class| {
        let share = match protocol {
            Protocol::Ll => &class.share.ll,
            Protocol::Ll128 => &class.share.ll128,
            Protocol::Simple => &class.share.simple,
        };
        share.value
    })
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

/// Returns a timeout that outlasts the longest queue: what all chips may have under way, on the
/// slowest link. A shorter one takes a long queue for a loss and sends all of it again.
fn timeout(given: &G5Spec, topology: &Topology) -> SimTime {
    let least = RcLink::defaults().timeout;
    let Some(paxi) = paxi(given, topology) else {
        return least;
    };
    let rates = topology.links().iter().map(|link| link.payload_rate.get());
    let slowest = rates.fold(f64::INFINITY, f64::min);
    let chip = f64::from(paxi.outstanding) * f64::from(paxi.segment);
    let queue = f64::from(topology.n_chips()) * chip;
    // Bytes over GB/s are nanoseconds.
    let longest = SimTime::from(Micros::new(queue / slowest / 1e3));
    least.max(longest)
}

/// Frames by which one may overtake another where paths do not keep order.
const REORDER: u32 = 256;
/// Bits of a sequence number above which a window that nobody gave does not grow.
const WINDOW_BITS: u32 = 16;

/// Where packets of one flow overtake each other, a receiver that takes them in order only would
/// have all of them sent again. Selective recovery halves what sequence numbers can tell apart.
fn rc_link(given: &G5Spec, topology: &Topology, paths: PathChoice) -> Option<RcLink> {
    let prior = RcLink {
        timeout: timeout(given, topology),
        ..RcLink::defaults()
    };
    let (recovery, overtaking) = if paths.reorders() {
        (RecoverySpec::Selective, REORDER)
    } else {
        (RecoverySpec::GoBackN, 0)
    };
    let RcLinkSpec {
        state,
        overhead,
        headers,
        sequence_bits,
        window,
        channels,
        recovery: said,
        reorder,
        credits,
        ack_merge,
        ack,
        timeout,
        retries,
        loss,
    } = given.rc_link.clone().unwrap_or_default();
    let recovery = said.unwrap_or(recovery);
    let sequence_bits = sequence_bits.unwrap_or(prior.sequence_bits);
    let bits = sequence_bits.clamp(2, WINDOW_BITS);
    let most = match recovery {
        RecoverySpec::GoBackN => (1 << bits) - 1,
        RecoverySpec::Selective => 1 << (bits - 1),
    };
    state.is_on().then(|| RcLink {
        channels: channels_of(channels, prior.channels),
        overhead: size_or(overhead, prior.overhead),
        headers: headers.map_or(prior.headers, |headers| match headers {
            HeadersSpec::Ip => Headers::Ip,
            HeadersSpec::Compressed => Headers::Compressed,
        }),
        sequence_bits,
        window: window.unwrap_or(most),
        recovery: match recovery {
            RecoverySpec::GoBackN => Recovery::GoBackN,
            RecoverySpec::Selective => Recovery::Selective {
                reorder: reorder.unwrap_or(overtaking),
            },
        },
        credits: credits_of(credits, prior.credits),
        ack: ack_merge.map_or(prior.ack, |merge| match merge {
            AckMergeSpec::Never => AckMerge::Never,
            AckMergeSpec::Every(period) => AckMerge::Every(period.value.into()),
        }),
        ack_bytes: size_or(ack, prior.ack_bytes),
        timeout: time_or(timeout, prior.timeout),
        retries: retries.unwrap_or(prior.retries),
        loss: loss.unwrap_or(prior.loss),
    })
}

fn channels_of(given: Option<ChannelsSpec>, prior: Channels) -> Channels {
    let given = given.unwrap_or_default();
    let weights = match prior.arbiter {
        Arbiter::Weighted(weights) => weights,
        Arbiter::Strict => [1; 3],
    };
    let said = [given.requests, given.responses, given.multicasts];
    Channels {
        count: given.count.unwrap_or(prior.count),
        arbiter: match given.arbiter {
            Some(ArbiterSpec::Strict) => Arbiter::Strict,
            Some(ArbiterSpec::Weighted) | None => {
                let weight = |at: usize| said[at].unwrap_or(weights[at]);
                Arbiter::Weighted([weight(0), weight(1), weight(2)])
            }
        },
    }
}

fn credits_of(given: Option<CreditsSpec>, prior: Option<Credits>) -> Option<Credits> {
    let (Some(given), Some(prior)) = (given, prior) else {
        return prior;
    };
    given.state.is_on().then(|| Credits {
        unit: size_or(given.unit, prior.unit),
        count: given.count.unwrap_or(prior.count),
        period: time_or(given.period, prior.period),
        scope: given.scope.map_or(prior.scope, |scope| match scope {
            CreditScopeSpec::PerLink => CreditScope::PerLink,
            CreditScopeSpec::EndToEnd => CreditScope::EndToEnd,
        }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_system::{SystemSpec, preset, presets};

    fn with(g5: &str) -> G5Parameters {
        let text = preset("h100-x8").unwrap().to_toml() + "\n" + g5;
        let spec = SystemSpec::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{g5}"));
        G5Parameters::of(&spec.resolve().unwrap())
    }

    #[test]
    fn every_bundled_system_has_parameters_that_can_run() {
        for bundled in presets() {
            let topology = bundled.spec().resolve().unwrap();
            let parameters = G5Parameters::of(&topology);
            assert_eq!(parameters.check(), Ok(()), "{}", bundled.name);
            let call = SimTime::from(topology.constants().call.value);
            assert_eq!(parameters.software, call, "{}", bundled.name);
        }
    }

    #[test]
    fn without_a_table_a_chip_has_the_published_values() {
        let parameters = with("");
        let published = G5Parameters::defaults();
        assert_eq!(parameters.cdma, published.cdma);
        assert_eq!(parameters.paxi, published.paxi);
        // 8 chips with 4,608 segments each on one of 18 x 25 GB/s x 0.82 of payload.
        let timeout = parameters.rc_link.unwrap().timeout;
        assert!(timeout > SimTime::from_ps(100_000_000), "{timeout}");
        let published_link = published.rc_link.map(|link| RcLink { timeout, ..link });
        assert_eq!(parameters.rc_link, published_link);
        assert_eq!(parameters.queue, published.queue);
        assert_eq!(parameters.rate_control, RateControl::Off);
        assert_eq!(parameters.paths, PathChoice::Preferred);
        // 3350 GB/s of memory, read and written.
        let copy = parameters.memory.copy.rate().get();
        assert!((copy - 1675.0).abs() < 1e-3, "{copy}");
        assert_eq!(parameters.memory.reduce, ByteTime::ZERO);
    }

    #[test]
    fn protocols_differ_in_completion_and_share() {
        let of = |g5: &str, protocol| {
            let text = preset("h100-x8").unwrap().to_toml() + "\n" + g5;
            let topology = SystemSpec::from_toml(&text).unwrap().resolve().unwrap();
            G5Parameters::of_protocol(&topology, protocol)
        };
        let given = "[g5.ll]\nsync = \"0.1 us\"\n[g5.ll128]\nshare = 0.9\n";
        assert_eq!(of("", Protocol::Ll), None);
        let (simple, whole) = of(given, Protocol::Simple).unwrap();
        assert_eq!((simple.clone(), whole), (with(given), Efficiency::FULL));
        let (ll, share) = of(given, Protocol::Ll).unwrap();
        assert_eq!(ll.cdma.sync, SimTime::from_ps(100_000));
        assert!((share.get() - 0.5).abs() < 1e-12, "{share:?}");
        let (ll128, share) = of(given, Protocol::Ll128).unwrap();
        assert_eq!(ll128.cdma.sync, simple.cdma.sync);
        assert!((share.get() - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_layer_is_turned_off() {
        let ideal = G5Parameters::ideal();
        let off = with("[g5]\nenabled = false\n[g5.cdma]\nunits = 3\n");
        assert_eq!(
            off,
            G5Parameters {
                software: off.software,
                ..ideal.clone()
            }
        );
        assert!(off.software > SimTime::ZERO);
        assert_eq!(
            with("[g5.cdma]\nenabled = false\nunits = 3\n").cdma,
            ideal.cdma
        );
        assert_eq!(with("[g5.memory]\nenabled = false\n").memory, ideal.memory);
        assert_eq!(with("[g5.paxi]\nenabled = false\n").paxi, None);
        assert_eq!(with("[g5.rc_link]\nenabled = false\n").rc_link, None);
        let boundless = with("[g5.rc_link]\ncredits = { enabled = false }\n");
        assert_eq!(boundless.rc_link.unwrap().credits, None);
        assert_eq!(with("[g5.switch]\nenabled = false\n").queue, ideal.queue);
        assert_eq!(
            with("[g5.switch]\npfc = { enabled = false }\n").queue.pfc,
            None
        );
        let no_control = with("[g5.dcqcn]\nenabled = false\npreset = \"simai\"\n");
        assert_eq!(no_control.rate_control, RateControl::Off);
    }

    #[test]
    fn what_is_given_replaces_the_prior() {
        let given = with(
            "[g5.cdma]\nunits = 4\nsplit = \"all\"\nsync = \"0.1us\"\nrate = \"400GB/s\"\n\
             [g5.paxi]\nsegment = \"4 KiB\"\noutstanding = 64\n\
             [g5.rc_link]\nack_merge = \"never\"\noverhead = \"62 B\"\nloss = 0.001\n\
             credits = { count = 1024 }\n\
             [g5.switch]\nbuffer = \"16 MiB\"\n[g5.paths]\nchoice = \"spray\"\n\
             [g5.dcqcn]\npreset = \"sigcomm15\"\nadditive = \"80 Mb/s\"\nbyte_counter = \"none\"\n",
        );
        assert_eq!(given.check(), Ok(()));
        assert_eq!((given.cdma.units, given.cdma.split), (4, CdmaSplit::All));
        assert_eq!(given.cdma.sync, SimTime::from_ps(100_000));
        assert_eq!(given.cdma.start, Cdma::defaults(GbPerSec::new(1.0)).start);
        let paxi = given.paxi.unwrap();
        assert_eq!((paxi.segment, paxi.outstanding), (4096, 64));
        let link = given.rc_link.unwrap();
        assert_eq!((link.ack, link.overhead), (AckMerge::Never, 62));
        assert_eq!(link.credits.unwrap().count, 1024);
        assert_eq!(
            link.recovery,
            Recovery::Selective { reorder: REORDER },
            "sprayed packets overtake each other"
        );
        assert_eq!(given.queue.buffer, Some(16 << 20));
        assert!(given.queue.ecn.is_some(), "DCQCN lives on marks");
        let RateControl::Dcqcn(dcqcn) = given.rate_control else {
            panic!("no rate control");
        };
        assert!((dcqcn.additive - 1e7).abs() < 1e-3);
        assert_eq!(dcqcn.byte_counter, None);
        assert_eq!(dcqcn.timer, Dcqcn::sigcomm15().timer);
    }

    #[test]
    fn a_chip_with_several_nics_uses_them_all() {
        let two_each = preset("h100-x8-efa").unwrap().to_toml();
        let two_each = two_each.replace("nics = 8", "nics = 16");
        let topology = Topology::from_toml(&two_each).unwrap();
        assert_eq!(topology.nics().len(), 32);
        assert_eq!(G5Parameters::of(&topology).paths, PathChoice::RoundRobin);
    }
}
