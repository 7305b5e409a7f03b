//! What the engine answers: a time by its parts, what limits it, and what it rests on.

use crate::plan::BasisRange;
use crate::{Bottleneck, Bound, Parts, Plan};
use std::fmt;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_system::{LinkId, Topology, Vertex, VertexId};
use tier6_units::{Bytes, GbPerSec, Micros};

/// The predicted time of one call. Predictions and measurements have different types on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The collective.
    pub collective: Collective,
    /// The algorithm; `None` for a custom schedule.
    pub algorithm: Option<Algorithm>,
    /// The protocol, when one is priced.
    pub protocol: Option<Protocol>,
    /// N.
    pub ranks: u32,
    /// M, in nccl-tests' meaning.
    pub bytes: Bytes,
    /// What the time is spent on.
    pub parts: Parts,
    /// What limits it.
    pub bottleneck: Bottleneck,
    /// The same as a sentence.
    pub sentence: String,
    /// Bytes on each link in use, by link.
    pub links: Vec<LinkBytes>,
    /// How long the link with the most to carry is busy: what perfect pipelining would leave.
    pub floor: Micros,
    /// What no algorithm undercuts.
    pub bound: Bound,
    /// What the prediction rests on.
    pub basis: Basis,
}

/// Bytes on a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkBytes {
    /// The link.
    pub link: LinkId,
    /// Payload bytes, a share of M and so not always whole.
    pub bytes: f64,
}

/// What a prediction rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// Constants fitted on sizes around this one.
    Interpolated,
    /// Constants fitted on other sizes.
    Extrapolated,
    /// Some constant is a prior, or none was fitted.
    Assumed,
}

impl Basis {
    /// Returns the word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interpolated => "interpolated",
            Self::Extrapolated => "extrapolated",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Prediction {
    /// Returns the predicted time.
    pub fn time(&self) -> Micros {
        self.parts.total()
    }

    /// Returns M over the time; `None` for a time of zero.
    pub fn algbw(&self) -> Option<GbPerSec> {
        GbPerSec::from_transfer(self.bytes, self.time())
    }

    /// Returns the bus bandwidth in nccl-tests' definition.
    pub fn busbw(&self) -> Option<GbPerSec> {
        let factor = self.collective.bus_factor(self.ranks);
        self.algbw().map(|rate| rate.scaled(factor))
    }
}

impl Plan {
    /// Returns the prediction for a message.
    pub fn predict(&self, topology: &Topology, bytes: Bytes) -> Prediction {
        let parts = self.parts(bytes);
        let bottleneck = self.bottleneck(bytes);
        let links = self.loads().total.iter().map(|load| LinkBytes {
            link: load.link,
            bytes: load.share * bytes.as_f64(),
        });
        Prediction {
            collective: self.collective(),
            algorithm: self.algorithm(),
            protocol: self.protocol(),
            ranks: self.ranks(),
            bytes,
            parts,
            bottleneck,
            sentence: sentence(topology, self, bottleneck, &parts, bytes),
            links: links.collect(),
            floor: self.floor(bytes),
            bound: self.bound(bytes),
            basis: match self.basis {
                BasisRange::Assumed => Basis::Assumed,
                BasisRange::Fitted(first, last) if first <= bytes && bytes <= last => {
                    Basis::Interpolated
                }
                BasisRange::Fitted(..) => Basis::Extrapolated,
            },
        }
    }
}

fn sentence(
    topology: &Topology,
    plan: &Plan,
    bottleneck: Bottleneck,
    parts: &Parts,
    bytes: Bytes,
) -> String {
    let of = |part: Micros| format!("{:.1} of {:.1} us", part.get(), parts.total().get());
    let load = |link: LinkId| {
        let share = plan.loads().total.iter().find(|load| load.link == link);
        let carried = share.map_or(0.0, |load| load.share) * bytes.as_f64();
        let there = topology.link(link);
        let rate = plan.payload_rate(topology, link);
        let pace = match plan.few_channels(bytes) {
            Some((taken, all)) => {
                format!(
                    "{} by {taken:.1} of {all} channels",
                    rate.scaled(taken / all)
                )
            }
            None => rate.to_string(),
        };
        format!(
            "{} to {} ({}) carries {:.3} MB at {pace}",
            vertex(topology, there.from),
            vertex(topology, there.to),
            topology.class_of(link).name,
            carried / 1e6,
        )
    };
    match bottleneck {
        Bottleneck::Software => format!("software: the call itself is {}", of(parts.software)),
        Bottleneck::Latency => format!("latency: steps and hops are {}", of(parts.latency)),
        Bottleneck::Link(link) => format!("{}: {}", load(link), of(parts.transfer)),
        Bottleneck::Contention(link) => {
            format!("contention: {}, waiting is {}", load(link), of(parts.stall))
        }
        Bottleneck::InSwitch => {
            format!("in-switch reduction: its rate takes {}", of(parts.transfer))
        }
        Bottleneck::Reduction => format!("reduction at the ranks is {}", of(parts.reduction)),
    }
}

fn vertex(topology: &Topology, id: VertexId) -> String {
    match topology.vertices()[id.index()] {
        Vertex::Chip(chip) => chip.to_string(),
        Vertex::Switch(switch) => topology.switches()[switch.index()].name.clone(),
        Vertex::NicSend(nic) | Vertex::NicReceive(nic) => nic.to_string(),
    }
}
