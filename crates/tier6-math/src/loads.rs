//! Link loads: what a schedule puts on the links of a topology.
//!
//! Step-synchronous, a step lasts as long as its busiest link; pipelined, all steps together last
//! at least as long as the link with the most to carry. On a graph where flows share links the
//! two bracket the bandwidth term of any algorithm, so no formula needs a factor of its own per
//! topology (FACTS B.4).

mod router;
mod spray;
mod tally;

use crate::parameters::Spread;
use crate::traffic::Traffic;
pub(crate) use router::Router;
use router::groups;
pub(crate) use tally::slowest;
use tier6_collective::Schedule;
use tier6_system::{ChipId, LinkClassId, LinkId, Topology};
use tier6_units::Micros;

/// A link and its share of the message size M.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkLoad {
    /// The link.
    pub link: LinkId,
    /// Bytes on it per byte of M.
    pub share: f64,
}

/// What steps that are alike put on the links.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLoad {
    /// How many such steps follow each other.
    pub repeat: u32,
    /// Time of the busiest link, in microseconds per byte of M.
    pub us_per_byte: f64,
    /// The same for the rank with the most to send, were it alone.
    pub own_us_per_byte: f64,
    /// The busiest link.
    pub busiest: Option<LinkId>,
    /// Longest route.
    pub latency: Micros,
    /// Mean route, weighted by bytes: what the chunks of a ring meet on their way round.
    pub mean_latency: Micros,
    /// Largest message, per byte of M.
    pub message: f64,
    /// What the busiest rank reduces, per byte of M.
    pub reduced: f64,
    /// The busiest link of each class in use.
    pub classes: Vec<ClassLoad>,
    /// The routes by the outermost tier that they cross.
    pub tiers: Vec<TierFlight>,
    /// Loads by link; empty in a summary.
    pub links: Vec<LinkLoad>,
    pub(crate) stage: usize,
}

/// The links of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassLoad {
    /// The class.
    pub class: LinkClassId,
    /// Time of its busiest link, in microseconds per byte of M.
    pub us_per_byte: f64,
    /// The same for the rank with the most to send, were it alone.
    pub own_us_per_byte: f64,
    /// The busiest link.
    pub busiest: LinkId,
}

/// The routes of a step that reach as far as one tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierFlight {
    /// The tier.
    pub tier: u32,
    /// Part of the step's bytes.
    pub part: f64,
    /// Longest route.
    pub longest: Micros,
    /// Shortest route.
    pub least: Micros,
    /// Mean route, weighted by bytes.
    pub mean: Micros,
}

/// The loads of a whole schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkLoads {
    /// Step by step, in order.
    pub steps: Vec<StepLoad>,
    /// All steps together, by link.
    pub total: Vec<LinkLoad>,
    /// All steps together, by class.
    pub classes: Vec<ClassLoad>,
    /// Time of the link with the most to carry, in microseconds per byte of M: the pipelined
    /// floor.
    pub floor_us_per_byte: f64,
    /// That link.
    pub busiest: Option<LinkId>,
    /// Shortest route in use.
    pub least_latency: Micros,
    /// The most messages that a rank sends, or receives, at once.
    pub ports: u32,
}

/// No switch serves a group of the schedule: its ranks are joined by links alone, or the switch
/// cannot be reached in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no switch serves group {group}; hint: in-switch algorithms need one switch that all their ranks reach"
)]
pub struct NoSwitchError {
    /// The group.
    pub group: u32,
}

/// Whether each step keeps its loads by link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Summary,
    ByLink,
}

impl LinkLoads {
    /// Returns the loads of a schedule with rank r on `chips[r]`.
    ///
    /// Multicast and in-switch reduction load each link of the group's switch tree once.
    ///
    /// # Errors
    ///
    /// When a group has no switch.
    ///
    /// # Panics
    ///
    /// When there are fewer chips than ranks.
    pub fn of_schedule(
        schedule: &Schedule,
        topology: &Topology,
        chips: &[ChipId],
        spread: Spread,
    ) -> Result<Self, NoSwitchError> {
        let traffic = Traffic::of_schedule(schedule);
        let mut router = Router::new(topology);
        Self::of_traffic(&traffic, &mut router, chips, spread, Detail::ByLink)
    }

    pub(crate) fn of_traffic(
        traffic: &Traffic,
        router: &mut Router<'_>,
        chips: &[ChipId],
        spread: Spread,
        detail: Detail,
    ) -> Result<Self, NoSwitchError> {
        assert!(chips.len() >= traffic.ranks as usize, "a chip per rank");
        let chips = &chips[..traffic.ranks as usize];
        let groups = groups(traffic, router.topology(), chips)?;
        if spread == Spread::Even {
            router.prepare(traffic, chips);
        }
        let mut total = vec![0.0; router.topology().links().len()];
        let mut ports = 0;
        let mut steps: Vec<StepLoad> = Vec::with_capacity(traffic.steps.len());
        for (index, step) in traffic.steps.iter().enumerate() {
            // Phases repeat what earlier ones sent, whatever is reduced.
            let earlier = index.saturating_sub(STEPS_KEPT)..index;
            let alike = earlier
                .rev()
                .find(|at| traffic.steps[*at].sends == step.sends);
            let load = if let Some(at) = alike {
                StepLoad {
                    repeat: step.repeat,
                    message: step.message,
                    reduced: step.reduced,
                    stage: step.stage,
                    ..steps[at].clone()
                }
            } else {
                let (load, at_once) = router.step(step, chips, &groups, spread);
                ports = ports.max(at_once);
                load
            };
            for of_link in &load.links {
                total[of_link.link.index()] += f64::from(step.repeat) * of_link.share;
            }
            steps.push(load);
            if detail == Detail::Summary && index >= STEPS_KEPT {
                steps[index - STEPS_KEPT].links = Vec::new();
            }
        }
        if detail == Detail::Summary {
            for step in &mut steps {
                step.links = Vec::new();
            }
        }
        let total: Vec<LinkLoad> = total
            .into_iter()
            .zip(0_u32..)
            .filter(|(share, _)| *share > 0.0)
            .map(|(share, link)| LinkLoad {
                link: LinkId::new(link),
                share,
            })
            .collect();
        let classes = router.busiest(&total);
        let slowest = slowest(&classes, |class| class.us_per_byte);
        let flights = steps.iter().flat_map(|step| &step.tiers);
        let least = flights.map(|flight| flight.least.get());
        let least = least.fold(f64::INFINITY, f64::min);
        Ok(Self {
            floor_us_per_byte: slowest.map_or(0.0, |class| class.us_per_byte),
            busiest: slowest.map(|class| class.busiest),
            steps,
            total,
            classes,
            least_latency: Micros::new(if least.is_finite() { least } else { 0.0 }),
            ports,
        })
    }

    /// Returns the step-synchronous bandwidth term: the busiest links of all steps in turn, in
    /// microseconds per byte of M.
    pub fn step_us_per_byte(&self) -> f64 {
        let time = |step: &StepLoad| f64::from(step.repeat) * step.us_per_byte;
        self.steps.iter().map(time).sum()
    }
}

/// How many steps are kept by link, in case that a later one sends the same.
const STEPS_KEPT: usize = 32;
