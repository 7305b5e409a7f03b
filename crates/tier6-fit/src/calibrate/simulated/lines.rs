//! Times of a scene as functions of its constants that cost nothing to evaluate.
//!
//! What runs have told ([`Survey`](super::survey::Survey)) is a [`Line`] per size and path; a fit
//! on these lines, and a few rounds that hold them to the simulation again, find the least squares
//! of the simulation itself.

use super::constant::{Key, Value, write_split};
use super::scene::Scene;
use super::surface::{Ladder, Place, Slope};
use crate::calibrate::site::Sites;
use crate::calibrate::{CalibrateError, Observed};
use std::rc::Rc;
use tier6_collective::{Path, Protocol};
use tier6_system::{Evidence, Provenance, SplitSpec, SystemSpec, Topology};
use tier6_units::Bytes;

/// The least that a line leaves of what its ladder says.
const HARDWARE_MIN: f64 = 0.01;

/// What is simulated: calls on a system whose constants move.
pub(super) struct Ground<'a> {
    pub(super) system: &'a SystemSpec,
    pub(super) observed: &'a [&'a Observed],
    pub(super) scene: Scene,
    /// What the system says before, for every number of nodes.
    pub(super) before: Sites,
    pub(super) keys: Vec<Key>,
    pub(super) priors: Vec<f64>,
}

/// What a time follows from: a constant, or a number that none moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Term {
    Constant(usize),
    Number(f64),
}

/// The time of a path at a size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) path: Path,
    /// Bytes of data.
    pub(super) bytes: f64,
    pub(super) ladder: Rc<Ladder>,
    /// The fixed time of the call, us.
    pub(super) fixed: Term,
    /// The completion of a message, us.
    pub(super) sync: Term,
    /// The share of the bytes moved that is data.
    pub(super) share: Term,
    /// What the hardware takes beside what the ladder says, us.
    pub(super) rest: f64,
}

/// All of them: by call, by size, by path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lines {
    pub(super) calls: Vec<Vec<Vec<Line>>>,
    /// By call: sizes, and what was measured there in us.
    pub(super) measured: Vec<Vec<(Bytes, f64)>>,
}

impl<'a> Ground<'a> {
    /// Lists the constants that the paths of the calls depend on.
    pub(super) fn new(
        system: &'a SystemSpec,
        observed: &'a [&'a Observed],
        is_reduce_told: bool,
    ) -> Result<Self, CalibrateError> {
        let before = Sites::of(system, observed)?;
        let scene = Scene::new(observed, &before)?;
        let topology = before.topology(&observed[0].call);
        let first = super::constant::first_link(topology);
        let mut keys = vec![Key::Software, Key::Latency(first.to_owned())];
        if before.is_multi_node() {
            for tier in &topology.tiers()[1..] {
                let class = &topology.link_classes()[tier.link.index()];
                keys.push(Key::Latency(class.name.clone()));
            }
            let outer = topology.link_classes().iter();
            let outer = outer.filter(|class| class.name != first);
            keys.extend(outer.map(|class| Key::Efficiency(class.name.clone())));
        }
        keys.extend([Key::NvlsRate, Key::NvlsAlpha, Key::Sync, Key::Rate]);
        keys.extend(is_reduce_told.then_some(Key::Reduce));
        keys.extend([Key::LlSync, Key::LlShare, Key::Ll128Sync, Key::Ll128Share]);
        let depends = |key: &Key| {
            let mut calls = scene.calls().iter();
            calls.any(|call| call.paths.iter().any(|path| call.depends(*path, key)))
        };
        let known: Vec<(Key, f64)> = keys
            .into_iter()
            .filter(depends)
            .filter_map(|key| Some((key.clone(), key.prior(topology)?)))
            .filter(|(_, prior)| *prior > 0.0)
            .collect();
        let (keys, priors) = known.into_iter().unzip();
        Ok(Self {
            system,
            observed,
            scene,
            before,
            keys,
            priors,
        })
    }

    pub(super) fn topology(&self) -> &Topology {
        self.before.topology(&self.observed[0].call)
    }

    /// Returns the constants at some logarithms of constant / prior.
    pub(super) fn constants(&self, logs: &[f64]) -> Vec<f64> {
        let pairs = self.priors.iter().zip(logs);
        pairs.map(|(prior, log)| prior * log.exp()).collect()
    }

    /// Returns where a constant stands among those that move.
    pub(super) fn term(&self, key: &Key) -> Option<Term> {
        let at = self.keys.iter().position(|known| known == key)?;
        Some(Term::Constant(at))
    }

    /// Returns the system at some constants.
    pub(super) fn written(&self, logs: &[f64], split: Option<SplitSpec>) -> SystemSpec {
        let mut system = self.system.clone();
        let origin = Provenance::new(Evidence::Fitted);
        for (key, number) in self.keys.iter().zip(self.constants(logs)) {
            let value = Value {
                key: key.clone(),
                number,
                interval: None,
            };
            value.write(&mut system, self.topology(), &origin);
        }
        if let Some(split) = split {
            write_split(&mut system, split);
        }
        system
    }

    pub(super) fn sites(&self, logs: &[f64], split: Option<SplitSpec>) -> Option<Sites> {
        Sites::of(&self.written(logs, split), self.observed).ok()
    }

    /// Returns the same with each constant a step larger.
    pub(super) fn near(
        &self,
        logs: &[f64],
        step: f64,
        split: Option<SplitSpec>,
    ) -> Vec<Option<Sites>> {
        let one = |at: usize| {
            let mut near = logs.to_vec();
            near[at] += step;
            self.sites(&near, split)
        };
        (0..self.keys.len()).map(one).collect()
    }
}

impl Term {
    fn at(self, constants: &[f64]) -> f64 {
        match self {
            Self::Constant(at) => constants[at],
            Self::Number(number) => number,
        }
    }
}

impl Line {
    pub(super) fn place<'a>(&self, constants: &'a [f64]) -> Place<'a> {
        Place {
            constants,
            sync: self.sync.at(constants),
            moved: 1.0 / self.share.at(constants),
        }
    }

    /// Returns the time at some constants, in us, with its derivatives by their logarithms.
    pub(super) fn slope(&self, constants: &[f64]) -> Slope {
        let of_hardware = self.ladder.slope(self.bytes, self.place(constants));
        let fixed = self.fixed.at(constants);
        let mut by: Vec<(usize, f64)> = of_hardware.by;
        for (term, slope) in [
            (self.sync, of_hardware.by_sync),
            (self.share, -of_hardware.by_moved),
        ] {
            if let Term::Constant(at) = term {
                by.push((at, slope));
            }
        }
        if let Term::Constant(at) = self.fixed {
            by.push((at, fixed));
        }
        by.retain(|(_, slope)| *slope != 0.0);
        Slope {
            // Lines may cross zero far from where they were taken; times do not.
            time: fixed + (of_hardware.time + self.rest).max(HARDWARE_MIN * of_hardware.time.abs()),
            by,
            ..Slope::default()
        }
    }

    /// Holds the line to what a run has told at some constants, in us.
    pub(super) fn hold_to(&mut self, time: f64, constants: &[f64]) {
        self.rest += time - self.slope(constants).time;
    }
}

impl Lines {
    pub(super) fn new(ground: &Ground<'_>, calls: Vec<Vec<Vec<Line>>>) -> Self {
        let of_set = |set: &&Observed| {
            let points = set.points.iter();
            points
                .map(|point| (point.bytes, point.time.get()))
                .collect()
        };
        Self {
            calls,
            measured: ground.observed.iter().map(of_set).collect(),
        }
    }

    /// Returns the lines of some protocols alone; `None` when a size would have none.
    pub(super) fn under(&self, protocols: &[Protocol]) -> Option<Self> {
        let of_point = |lines: &Vec<Line>| {
            let kept = lines
                .iter()
                .filter(|line| protocols.contains(&line.path.protocol));
            let kept: Vec<Line> = kept.cloned().collect();
            (!kept.is_empty()).then_some(kept)
        };
        let of_call = |points: &Vec<Vec<Line>>| points.iter().map(of_point).collect();
        Some(Self {
            calls: self.calls.iter().map(of_call).collect::<Option<_>>()?,
            measured: self.measured.clone(),
        })
    }

    /// Returns the same with the sizes of each call for which `keep` holds.
    pub(super) fn only(&self, keep: impl Fn(usize, usize) -> bool) -> Self {
        fn kept<T: Clone>(all: &[Vec<T>], keep: impl Fn(usize, usize) -> bool) -> Vec<Vec<T>> {
            let calls = all.iter().enumerate().map(|(call, points)| {
                let points = points.iter().enumerate().filter(|(at, _)| keep(call, *at));
                points.map(|(_, one)| one.clone()).collect()
            });
            calls.collect()
        }
        Self {
            calls: kept(&self.calls, &keep),
            measured: kept(&self.measured, &keep),
        }
    }
}
