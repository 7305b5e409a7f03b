//! Links as a run uses them: rates with framing and faults, latency with the switch.

use tier6_system::{ChipId, Link, LinkId, Topology};
use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::FabricError;
use crate::{Fault, G5Parameters};

/// Names a link of a fabric. The links of the topology keep their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FabricLinkId(pub u32);

/// A link as a run uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FabricLink {
    /// What it stands for.
    pub of: LinkOf,
    /// What a byte of payload takes, the framing of large transfers included.
    pub payload: ByteTime,
    /// What a byte on the wire takes, when frames are modelled; that of the payload otherwise.
    pub frame: ByteTime,
    /// One traversal, and the crossing of the switch that it leads to.
    pub latency: SimTime,
    /// From when on it carries nothing.
    pub fails: Option<SimTime>,
    /// Probability that a frame is lost on it.
    pub loss: f64,
}

/// What a link stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOf {
    /// One direction of a cable.
    Wire(LinkId),
    /// The engines of a chip together, which every message that it sends goes through first.
    Engines(ChipId),
}

impl FabricLinkId {
    /// Returns the id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<LinkId> for FabricLinkId {
    fn from(link: LinkId) -> Self {
        Self(link.get())
    }
}

/// What faults do to a link.
#[derive(Debug, Clone, Copy)]
struct Damage {
    share: f64,
    fails: Option<SimTime>,
    /// Probability that a frame survives.
    survives: f64,
}

/// Returns the links of a topology, then the engines of its chips if they have a rate.
pub(super) fn resolve(
    topology: &Topology,
    parameters: &G5Parameters,
    faults: &[Fault],
) -> Result<Vec<FabricLink>, FabricError> {
    let damages = damages(topology, parameters, faults)?;
    let wires = (0..).map(LinkId::new).zip(topology.links()).zip(damages);
    let mut links: Vec<FabricLink> = wires
        .map(|((id, link), damage)| wire(topology, parameters, (id, link), damage))
        .collect();
    if let Some(rate) = parameters.cdma.rate {
        links.extend((0..topology.n_chips()).map(|chip| FabricLink {
            of: LinkOf::Engines(ChipId::new(chip)),
            payload: rate,
            frame: rate,
            latency: SimTime::ZERO,
            fails: None,
            loss: 0.0,
        }));
    }
    Ok(links)
}

/// A link with framing: the payload share that the topology states is framing included, and a
/// link whose stated share leaves no room for the frames is slower by them (source document 004
/// measures 1.0438 for frames of 1344 + 58 bytes).
fn wire(
    topology: &Topology,
    parameters: &G5Parameters,
    (id, link): (LinkId, &Link),
    damage: Damage,
) -> FabricLink {
    let framing = framing(parameters);
    let (wire, payload) = (link.rate.get(), link.payload_rate.get());
    let frame = match framing {
        1.0 => payload,
        factor => wire.min(payload * factor),
    };
    let rate = |rate: f64| ByteTime::at(GbPerSec::new(rate * damage.share));
    FabricLink {
        of: LinkOf::Wire(id),
        payload: rate(frame / framing),
        frame: rate(frame),
        latency: SimTime::from(link.latency) + SimTime::from(topology.vertex_latency(link.to)),
        fails: damage.fails,
        loss: 1.0 - damage.survives,
    }
}

/// Returns bytes on the wire per byte of payload: (segment + overhead)/segment. Messages that
/// enter the link whole have one frame, whose overhead is nothing to a large transfer.
fn framing(parameters: &G5Parameters) -> f64 {
    match (parameters.rc_link, parameters.paxi) {
        (Some(rc_link), Some(paxi)) => {
            let segment = f64::from(paxi.segment.max(1));
            (segment + f64::from(rc_link.overhead)) / segment
        }
        _ => 1.0,
    }
}

fn damages(
    topology: &Topology,
    parameters: &G5Parameters,
    faults: &[Fault],
) -> Result<Vec<Damage>, FabricError> {
    let loss = parameters.rc_link.map_or(0.0, |rc_link| rc_link.loss);
    let sound = Damage {
        share: 1.0,
        fails: None,
        survives: survives(loss)?,
    };
    let mut damages = vec![sound; topology.links().len()];
    for fault in faults {
        match *fault {
            Fault::SlowLink { link, share } => {
                let damage = find(&mut damages, link)?;
                if !(share > 0.0 && share <= 1.0) {
                    let link = link.get();
                    return Err(FabricError::Share { link, share });
                }
                damage.share *= share;
            }
            Fault::FailedLink { link, at } => {
                let damage = find(&mut damages, link)?;
                damage.fails = Some(damage.fails.map_or(at, |before| before.min(at)));
            }
            Fault::Loss { link, probability } => {
                let survives = survives(probability)?;
                match link {
                    Some(link) => find(&mut damages, link)?.survives *= survives,
                    None => damages.iter_mut().for_each(|one| one.survives *= survives),
                }
            }
            // Not of the fabric: the chips' business.
            Fault::LateRank { .. } => {}
        }
    }
    Ok(damages)
}

fn find(damages: &mut [Damage], link: LinkId) -> Result<&mut Damage, FabricError> {
    let damage = damages.get_mut(link.index());
    damage.ok_or(FabricError::NoLink(link.get()))
}

fn survives(loss: f64) -> Result<f64, FabricError> {
    if (0.0..=1.0).contains(&loss) {
        Ok(1.0 - loss)
    } else {
        Err(FabricError::Loss(loss))
    }
}
