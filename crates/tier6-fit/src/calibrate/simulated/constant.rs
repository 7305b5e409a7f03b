//! The constants of `[g5]` that a calibration sets.
//!
//! A message costs `start` before its first byte and `sync` after its last; only their sum shows,
//! so it is given whole to `sync`. Engines and links of the first tier are one bottleneck, so they
//! share one rate: that of the engines, of which the links' efficiency follows.

use crate::calibrate::constant::{share, written};
use std::fmt;
use tier6_collective::Protocol;
use tier6_g5::G5Parameters;
use tier6_system::{
    CdmaSpec, ChipId, Constant, Efficiency, G5Spec, MemorySpec, MessageSpec, NvlsSpec, Provenance,
    SplitSpec, SystemSpec, Topology,
};
use tier6_units::{ByteTime, GbPerSec, Micros};

/// Where the search for the payload share of a link starts at most: frames alone leave 1344 of 1402
/// bytes, and above that a little more or less changes no time, so that nothing could be told.
const EFFICIENCY_MOST: f64 = 0.9;

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// `T_sw`.
    Software,
    /// One traversal of a link of a class.
    Latency(String),
    /// Share of the wire rate of a link class beyond the first tier.
    Efficiency(String),
    /// `B_nvls`.
    NvlsRate,
    /// α of NVLS.
    NvlsAlpha,
    /// What a message costs beside its bytes, under Simple.
    Sync,
    /// Rate of the engines, and of the links that they feed.
    Rate,
    /// Rate of a reduction.
    Reduce,
    /// As [`Key::Sync`], under LL.
    LlSync,
    /// Share of the bytes moved that is data, under LL.
    LlShare,
    /// As [`Key::Sync`], under LL128.
    Ll128Sync,
    /// As [`Key::LlShare`], under LL128.
    Ll128Share,
}

impl fmt::Display for Key {
    /// Prints the place in a system file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Software => f.write_str("software.call"),
            Self::Latency(link) => write!(f, "links.{link}.latency"),
            Self::Efficiency(link) => write!(f, "links.{link}.efficiency"),
            Self::NvlsRate => f.write_str("nvls.rate"),
            Self::NvlsAlpha => f.write_str("nvls.alpha"),
            Self::Sync => f.write_str("g5.cdma.sync"),
            Self::Rate => f.write_str("g5.cdma.rate"),
            Self::Reduce => f.write_str("g5.memory.reduce"),
            Self::LlSync => f.write_str("g5.ll.sync"),
            Self::LlShare => f.write_str("g5.ll.share"),
            Self::Ll128Sync => f.write_str("g5.ll128.sync"),
            Self::Ll128Share => f.write_str("g5.ll128.share"),
        }
    }
}

/// NCCL's latencies of a ring's step over `NVLink` relative to Simple's 3.4 us (FACTS C.7): priors.
const LL_OF_SIMPLE: f64 = 0.6 / 3.4;
const LL128_OF_SIMPLE: f64 = 1.9 / 3.4;
/// α of NVLS where a system does not say: 8 x H200 (FACTS B.6).
const ALPHA_OF_NVLS_US: f64 = 63.0;

impl Key {
    /// Whether it is a time, in which a call's time is linear; a call's time is linear in the
    /// inverse of the others.
    pub(super) fn is_time(&self) -> bool {
        match self {
            Self::Software
            | Self::Latency(_)
            | Self::NvlsAlpha
            | Self::Sync
            | Self::LlSync
            | Self::Ll128Sync => true,
            Self::Efficiency(_)
            | Self::NvlsRate
            | Self::Rate
            | Self::Reduce
            | Self::LlShare
            | Self::Ll128Share => false,
        }
    }

    /// The completion of a message of a protocol.
    pub(super) fn sync_of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Ll => Self::LlSync,
            Protocol::Ll128 => Self::Ll128Sync,
            Protocol::Simple => Self::Sync,
        }
    }

    /// The share of the bytes moved that is data; `None` for Simple, where all are.
    pub(super) fn share_of(protocol: Protocol) -> Option<Self> {
        match protocol {
            Protocol::Ll => Some(Self::LlShare),
            Protocol::Ll128 => Some(Self::Ll128Share),
            Protocol::Simple => None,
        }
    }

    /// Whether the hardware of every protocol follows from it alike.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Latency(_) | Self::Efficiency(_) | Self::NvlsRate | Self::Rate | Self::Reduce => {
                true
            }
            Self::Software
            | Self::NvlsAlpha
            | Self::Sync
            | Self::LlSync
            | Self::LlShare
            | Self::Ll128Sync
            | Self::Ll128Share => false,
        }
    }

    /// Whether it tells how messages of LL or LL128 differ.
    pub(super) fn is_of_protocol(&self) -> bool {
        matches!(
            self,
            Self::LlSync | Self::LlShare | Self::Ll128Sync | Self::Ll128Share
        )
    }

    /// Whether it is a share, at most 1.
    fn is_share(&self) -> bool {
        matches!(self, Self::Efficiency(_) | Self::LlShare | Self::Ll128Share)
    }

    /// The largest value that means something.
    pub(super) fn most(&self) -> f64 {
        if self.is_share() { 1.0 } else { f64::INFINITY }
    }

    pub(super) fn unit(&self) -> &'static str {
        match (self.is_time(), self.is_share()) {
            (true, _) => "us",
            (false, true) => "",
            (false, false) => "GB/s",
        }
    }

    /// How far from its prior it is believed to be: a factor, as a logarithm.
    pub(super) fn belief(&self) -> f64 {
        match self {
            Self::Efficiency(_) | Self::NvlsRate | Self::Rate | Self::Reduce => 0.3,
            _ => 1.0,
        }
    }

    /// Bounds of the logarithm of constant / prior.
    pub(super) fn bounds(&self, prior: f64, topology: &Topology) -> (f64, f64) {
        let wide = 50.0_f64.ln();
        let top = match self {
            Self::Rate => wire_rate(topology) / prior,
            _ if self.is_share() => 1.0 / prior,
            _ => return (-wide, wide),
        };
        (-wide, top.max(1.0).ln())
    }

    /// Returns what the system says, else the prior of the engine.
    pub(super) fn prior(&self, topology: &Topology) -> Option<f64> {
        let constants = topology.constants();
        let parameters = G5Parameters::of(topology);
        let class = |link: &str| {
            let mut classes = topology.link_classes().iter();
            classes.find(|class| class.name == link)
        };
        let message = |parameters: &G5Parameters| {
            (parameters.cdma.start + parameters.cdma.sync)
                .to_micros()
                .get()
        };
        let of_protocol = |protocol, share: f64| {
            let g5 = constants.g5.as_ref();
            let given = match protocol {
                Protocol::Ll => g5.and_then(|g5| g5.ll.as_ref()),
                Protocol::Ll128 => g5.and_then(|g5| g5.ll128.as_ref()),
                Protocol::Simple => None,
            };
            let given = given.and_then(|given| given.sync.as_ref());
            given.map_or(share * message(&parameters), |sync| sync.value.get())
        };
        Some(match self {
            Self::Software => constants.call.value.get(),
            Self::Latency(link) => class(link)?.latency.value.get(),
            Self::Efficiency(link) => class(link)?.efficiency.value.get().min(EFFICIENCY_MOST),
            Self::NvlsRate => constants.nvls.as_ref()?.rate.value.get(),
            Self::NvlsAlpha => {
                let alpha = constants.nvls.as_ref()?.alpha.as_ref();
                alpha.map_or(ALPHA_OF_NVLS_US, |alpha| alpha.value.get())
            }
            Self::Sync => message(&parameters),
            Self::Rate => {
                let links = wire_rate(topology) * first_efficiency(topology);
                let rate = parameters.cdma.rate.map(|rate| rate.rate().get());
                rate.map_or(links, |rate| rate.min(links))
            }
            Self::Reduce => match parameters.memory.reduce {
                ByteTime::ZERO => constants.memory_rate.as_ref()?.value.get() / 3.0,
                reduce => reduce.rate().get(),
            },
            Self::LlSync => of_protocol(Protocol::Ll, LL_OF_SIMPLE),
            Self::Ll128Sync => of_protocol(Protocol::Ll128, LL128_OF_SIMPLE),
            Self::LlShare => G5Parameters::of_protocol(topology, Protocol::Ll)?.1.get(),
            Self::Ll128Share => G5Parameters::of_protocol(topology, Protocol::Ll128)?
                .1
                .get(),
        })
    }
}

/// A number to write, in the unit of its key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) key: Key,
    pub(super) number: f64,
    pub(super) interval: Option<(f64, f64)>,
}

impl Value {
    fn constant<T: Copy>(&self, origin: &Provenance, wrap: impl Fn(f64) -> T) -> Constant<T> {
        written(self.number, self.interval, origin, wrap)
    }

    fn time(&self, origin: &Provenance) -> Constant<Micros> {
        self.constant(origin, |us| Micros::new(us.max(0.0)))
    }

    fn share(&self, origin: &Provenance) -> Constant<Efficiency> {
        self.constant(origin, share)
    }

    fn rate(&self, origin: &Provenance) -> Constant<GbPerSec> {
        self.constant(origin, GbPerSec::new)
    }

    /// Writes the value into a system, whose topology tells the wire rate.
    pub(super) fn write(&self, system: &mut SystemSpec, topology: &Topology, origin: &Provenance) {
        match &self.key {
            Key::Software => system.software.call = Some(self.time(origin)),
            Key::Latency(link) => {
                if let Some(class) = system.link_mut(link) {
                    class.latency = Some(self.time(origin));
                }
            }
            Key::Efficiency(link) => {
                if let Some(class) = system.link_mut(link) {
                    class.efficiency = Some(self.share(origin));
                }
            }
            Key::NvlsRate => {
                let alpha = system.nvls.take().and_then(|nvls| nvls.alpha);
                system.nvls = Some(NvlsSpec {
                    rate: self.rate(origin),
                    alpha,
                });
            }
            Key::NvlsAlpha => {
                if let Some(nvls) = &mut system.nvls {
                    nvls.alpha = Some(self.time(origin));
                }
            }
            Key::Sync => {
                let cdma = cdma(system);
                let whole = "only the sum of start and sync shows: it stands in `sync`";
                cdma.start = Some(Constant::assumed(Micros::new(0.0), whole));
                cdma.sync = Some(self.time(origin));
            }
            Key::Rate => {
                let wire = wire_rate(topology);
                cdma(system).rate = Some(self.rate(origin));
                if let Some(class) = system.link_mut(first_link(topology)) {
                    class.efficiency = Some(self.constant(origin, |rate| share(rate / wire)));
                }
            }
            Key::Reduce => {
                let memory = g5(system).memory.get_or_insert_with(MemorySpec::default);
                memory.reduce = Some(self.rate(origin));
            }
            Key::LlSync => message(&mut g5(system).ll).sync = Some(self.time(origin)),
            Key::LlShare => message(&mut g5(system).ll).share = Some(self.share(origin)),
            Key::Ll128Sync => message(&mut g5(system).ll128).sync = Some(self.time(origin)),
            Key::Ll128Share => message(&mut g5(system).ll128).share = Some(self.share(origin)),
        }
    }
}

/// Writes over how many engines a message goes.
pub(super) fn write_split(system: &mut SystemSpec, split: SplitSpec) {
    cdma(system).split = Some(split);
}

fn g5(system: &mut SystemSpec) -> &mut G5Spec {
    system.g5.get_or_insert_with(G5Spec::default)
}

fn cdma(system: &mut SystemSpec) -> &mut CdmaSpec {
    g5(system).cdma.get_or_insert_with(CdmaSpec::default)
}

fn message(of: &mut Option<MessageSpec>) -> &mut MessageSpec {
    of.get_or_insert_with(MessageSpec::default)
}

/// The link class of the first tier.
pub(super) fn first_link(topology: &Topology) -> &str {
    let tier = &topology.tiers()[0];
    &topology.link_classes()[tier.link.index()].name
}

fn first_efficiency(topology: &Topology) -> f64 {
    let tier = &topology.tiers()[0];
    topology.link_classes()[tier.link.index()]
        .efficiency
        .value
        .get()
}

/// Wire rate of all links of the first tier that leave a chip.
fn wire_rate(topology: &Topology) -> f64 {
    let links = topology.links_from(topology.chip_vertex(ChipId::new(0)));
    let links = links.iter().map(|link| topology.link(*link));
    let first = links.filter(|link| link.tier == 0);
    first.map(|link| link.rate.get()).sum()
}
