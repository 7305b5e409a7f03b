//! The constants that a calibration may set: where they stand, in which unit, and how one is
//! written into a system with its origin.

use super::{Fitted, Method, Observed};
use std::fmt;
use tier6_collective::Protocol;
use tier6_system::{
    ByProtocol, Constant, Efficiency, Evidence, LinkSpec, NvlsSpec, Provenance, SharpSpec,
    SystemSpec, Topology,
};
use tier6_units::{Bytes, GbPerSec, Micros};

/// α of NVLS where a system does not say: 8 x H200 (FACTS B.6).
const ALPHA_OF_NVLS_US: f64 = 63.0;

/// A constant of a system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// `T_sw`.
    Software,
    /// Share of the wire rate that a link class reaches.
    Efficiency(String),
    /// One traversal of a link.
    Latency(String),
    /// Time of a step by protocol.
    Step(String, Protocol),
    /// Share of the efficiency that a protocol leaves for data.
    Share(String, Protocol),
    /// `B_nvls`.
    NvlsRate,
    /// α of NVLS.
    NvlsAlpha,
    /// α of SHARP.
    SharpAlpha,
    /// Share of the NICs' payload rate that SHARP reaches.
    SharpEfficiency,
}

impl fmt::Display for Key {
    /// Prints the place in a system file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Software => f.write_str("software.call"),
            Self::Efficiency(link) => write!(f, "links.{link}.efficiency"),
            Self::Latency(link) => write!(f, "links.{link}.latency"),
            Self::Step(link, protocol) => write!(f, "links.{link}.step.{protocol}"),
            Self::Share(link, protocol) => write!(f, "links.{link}.share.{protocol}"),
            Self::NvlsRate => f.write_str("nvls.rate"),
            Self::NvlsAlpha => f.write_str("nvls.alpha"),
            Self::SharpAlpha => f.write_str("sharp.alpha"),
            Self::SharpEfficiency => f.write_str("sharp.efficiency"),
        }
    }
}

/// What a number is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Time,
    Share,
    Rate,
}

impl Key {
    pub(super) fn quantity(&self) -> Quantity {
        match self {
            Self::Software
            | Self::Latency(_)
            | Self::Step(..)
            | Self::NvlsAlpha
            | Self::SharpAlpha => Quantity::Time,
            Self::Efficiency(_) | Self::Share(..) | Self::SharpEfficiency => Quantity::Share,
            Self::NvlsRate => Quantity::Rate,
        }
    }

    /// Returns the unit of its numbers.
    pub(super) fn unit(&self) -> &'static str {
        match self.quantity() {
            Quantity::Time => "us",
            Quantity::Share => "",
            Quantity::Rate => "GB/s",
        }
    }

    /// Returns what the system says; `None` when it says nothing.
    pub(super) fn of(&self, topology: &Topology) -> Option<f64> {
        let constants = topology.constants();
        let class = |name: &str| {
            let classes = topology.link_classes();
            classes.iter().find(|class| class.name == name)
        };
        let us = |constant: &Constant<Micros>| constant.value.get();
        match self {
            Self::Software => Some(us(&constants.call)),
            Self::Efficiency(link) => Some(class(link)?.efficiency.value.get()),
            Self::Latency(link) => Some(us(&class(link)?.latency)),
            Self::Step(link, protocol) => {
                let steps = class(link)?.step.as_ref()?;
                pick(steps, *protocol).as_ref().map(us)
            }
            Self::Share(link, protocol) => Some(pick(&class(link)?.share, *protocol).value.get()),
            Self::NvlsRate => Some(constants.nvls.as_ref()?.rate.value.get()),
            Self::NvlsAlpha => {
                let alpha = constants.nvls.as_ref()?.alpha.as_ref();
                Some(alpha.map_or(ALPHA_OF_NVLS_US, us))
            }
            Self::SharpAlpha => constants.sharp.as_ref().map(|sharp| us(&sharp.alpha)),
            Self::SharpEfficiency => {
                let sharp = constants.sharp.as_ref()?;
                Some(sharp.efficiency.as_ref().map_or(1.0, |e| e.value.get()))
            }
        }
    }

    /// Writes a value into the system. A share is kept within (0, 1], a time at 0 or more; a class
    /// that neither the system nor the catalog has is left alone.
    fn write(&self, system: &mut SystemSpec, value: &Value, origin: &Provenance) {
        match self {
            Self::Software => system.software.call = Some(value.time(origin)),
            Self::Efficiency(link) => {
                in_class(system, link, |class| {
                    class.efficiency = Some(value.share(origin));
                });
            }
            Self::Latency(link) => {
                in_class(system, link, |class| {
                    class.latency = Some(value.time(origin));
                });
            }
            Self::Step(link, protocol) => in_class(system, link, |class| {
                let steps = class.step.get_or_insert_default();
                *pick_mut(steps, *protocol) = Some(value.time(origin));
            }),
            Self::Share(link, protocol) => in_class(system, link, |class| {
                let shares = class.share.get_or_insert_default();
                *pick_mut(shares, *protocol) = Some(value.share(origin));
            }),
            Self::NvlsRate => {
                let alpha = system.nvls.take().and_then(|nvls| nvls.alpha);
                let rate = value.constant(origin, GbPerSec::new);
                system.nvls = Some(NvlsSpec { rate, alpha });
            }
            Self::NvlsAlpha => {
                if let Some(nvls) = &mut system.nvls {
                    nvls.alpha = Some(value.time(origin));
                }
            }
            Self::SharpAlpha => {
                let before = system.sharp.take();
                let (efficiency, contexts) =
                    before.map_or((None, None), |sharp| (sharp.efficiency, sharp.contexts));
                system.sharp = Some(SharpSpec {
                    alpha: value.time(origin),
                    efficiency,
                    contexts,
                });
            }
            Self::SharpEfficiency => {
                if let Some(sharp) = &mut system.sharp {
                    sharp.efficiency = Some(value.share(origin));
                }
            }
        }
    }
}

fn in_class(system: &mut SystemSpec, link: &str, change: impl FnOnce(&mut LinkSpec)) {
    if let Some(class) = system.link_mut(link) {
        change(class);
    }
}

pub(super) fn pick<T>(all: &ByProtocol<T>, protocol: Protocol) -> &T {
    match protocol {
        Protocol::Ll => &all.ll,
        Protocol::Ll128 => &all.ll128,
        Protocol::Simple => &all.simple,
    }
}

pub(super) fn pick_mut<T>(all: &mut ByProtocol<T>, protocol: Protocol) -> &mut T {
    match protocol {
        Protocol::Ll => &mut all.ll,
        Protocol::Ll128 => &mut all.ll128,
        Protocol::Simple => &mut all.simple,
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
    /// A value without interval.
    pub(super) fn alone(key: Key, number: f64) -> Self {
        Self {
            key,
            number,
            interval: None,
        }
    }

    fn constant<T: Copy>(&self, origin: &Provenance, wrap: impl Fn(f64) -> T) -> Constant<T> {
        written(self.number, self.interval, origin, wrap)
    }

    fn time(&self, origin: &Provenance) -> Constant<Micros> {
        self.constant(origin, |us| Micros::new(us.max(0.0)))
    }

    fn share(&self, origin: &Provenance) -> Constant<Efficiency> {
        self.constant(origin, share)
    }

    /// Returns what a report says of it.
    pub(super) fn fitted(&self, before: &Topology) -> Fitted {
        Fitted {
            name: self.key.to_string(),
            unit: self.key.unit().to_owned(),
            value: self.number,
            interval: self.interval,
            prior: self.key.of(before),
        }
    }
}

/// Returns the system with values written into it, all from one calibration.
pub(super) fn write_all(
    system: &SystemSpec,
    values: &[Value],
    observed: &[&Observed],
    method: Method,
    error_pct: Option<f64>,
) -> SystemSpec {
    let origin = origin(observed, method, error_pct);
    let mut written = system.clone();
    for value in values {
        value.key.write(&mut written, value, &origin);
    }
    written
}

/// Returns the origin of what one calibration writes.
pub(super) fn origin(observed: &[&Observed], method: Method, error_pct: Option<f64>) -> Provenance {
    let mut datasets: Vec<String> = observed.iter().map(|set| set.label.clone()).collect();
    datasets.sort();
    datasets.dedup();
    let sizes = || {
        let points = observed.iter().flat_map(|set| &set.points);
        points.map(|point| point.bytes)
    };
    let range: Option<(Bytes, Bytes)> = sizes().min().zip(sizes().max());
    Provenance {
        datasets,
        bytes: range,
        method: Some(method.name().to_owned()),
        error_pct,
        ..Provenance::new(Evidence::Fitted)
    }
}

/// Returns a fitted number as a system writes it, in its unit.
pub(super) fn written<T: Copy>(
    number: f64,
    interval: Option<(f64, f64)>,
    origin: &Provenance,
    wrap: impl Fn(f64) -> T,
) -> Constant<T> {
    Constant {
        value: wrap(number),
        interval: interval.map(|(low, high)| (wrap(low), wrap(high))),
        provenance: Some(origin.clone()),
    }
}

/// Returns a fitted share, which may have gone past the ends of its range by rounding.
pub(super) fn share(share: f64) -> Efficiency {
    let share = share.clamp(f64::MIN_POSITIVE, 1.0);
    Efficiency::new(share).expect("Invariant: clamped to a share")
}
