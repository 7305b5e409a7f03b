//! Times of a scene as lines in its constants.
//!
//! A simulated time is linear in times and inverse rates until another chain of messages becomes
//! the longest. So a run at some constants and one more per constant, each moved a little, say
//! what the time is around them; a fit on these lines costs nothing, and a few rounds of it find
//! the least squares of the simulation itself.

use super::constant::{Key, Value, write_split};
use super::scene::{Scene, SceneCall};
use crate::calibrate::site::Sites;
use crate::calibrate::{CalibrateError, Observed};
use tier6_collective::{Path, Protocol};
use tier6_system::{Evidence, Provenance, SplitSpec, SystemSpec, Topology};
use tier6_units::Bytes;

/// By how much a constant is moved, as a logarithm.
const STEP: f64 = 0.01;

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

/// The time of a path at a size around some constants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) path: Path,
    /// us, at the constants.
    time: f64,
    /// (constant, derivative by its coordinate, us).
    by: Vec<(usize, f64)>,
}

/// All of them: by call, by size, by path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lines {
    /// Logarithms of constant / prior that the lines are around.
    at: Vec<f64>,
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
        let outer = topology.link_classes().iter();
        let outer = outer.filter(|class| class.name != first && before.is_multi_node());
        let mut keys = vec![Key::Software, Key::Latency(first.to_owned())];
        keys.extend(outer.map(|class| Key::Efficiency(class.name.clone())));
        keys.extend([Key::NvlsRate, Key::NvlsAlpha, Key::Sync, Key::Rate]);
        keys.extend(is_reduce_told.then_some(Key::Reduce));
        keys.extend([Key::LlSync, Key::LlShare, Key::Ll128Sync, Key::Ll128Share]);
        let paths: Vec<&Path> = scene.calls().iter().flat_map(|call| &call.paths).collect();
        keys.retain(|key| paths.iter().any(|path| SceneCall::depends(**path, key)));
        let known: Vec<(Key, f64)> = keys
            .into_iter()
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

    /// Returns the system at some constants.
    pub(super) fn written(&self, logs: &[f64], split: Option<SplitSpec>) -> SystemSpec {
        let mut system = self.system.clone();
        let origin = Provenance::new(Evidence::Fitted);
        for ((key, prior), log) in self.keys.iter().zip(&self.priors).zip(logs) {
            let value = Value {
                key: key.clone(),
                number: prior * log.exp(),
                interval: None,
            };
            value.write(&mut system, self.topology(), &origin);
        }
        if let Some(split) = split {
            write_split(&mut system, split);
        }
        system
    }

    fn sites(&self, logs: &[f64], split: Option<SplitSpec>) -> Option<Sites> {
        Sites::of(&self.written(logs, split), self.observed).ok()
    }

    /// Returns the coordinate in which times are linear: constant / prior of a time, prior /
    /// constant of a rate.
    pub(super) fn coordinate(&self, at: usize, log: f64) -> f64 {
        if self.keys[at].is_time() {
            log.exp()
        } else {
            (-log).exp()
        }
    }

    /// Simulates every path at every size, around some constants.
    pub(super) fn lines(&self, logs: &[f64], split: Option<SplitSpec>) -> Option<Lines> {
        let here = self.sites(logs, split)?;
        let moved: Vec<Option<Sites>> = (0..self.keys.len())
            .map(|at| {
                let mut near = logs.to_vec();
                near[at] += STEP;
                self.sites(&near, split)
            })
            .collect();
        let mut calls = Vec::new();
        for (set, call) in self.observed.iter().zip(self.scene.calls()) {
            let points = set.points.iter().map(|point| {
                let may_run = |path: &&Path| SceneCall::may_run(**path, point, &call.paths);
                let paths = call.paths.iter().filter(may_run);
                let lines: Vec<Line> = paths
                    .filter_map(|path| self.line(call, *path, point.bytes, logs, &here, &moved))
                    .collect();
                (!lines.is_empty()).then_some(lines)
            });
            calls.push(points.collect::<Option<Vec<_>>>()?);
        }
        let of_set = |set: &&Observed| {
            let points = set.points.iter();
            points
                .map(|point| (point.bytes, point.time.get()))
                .collect()
        };
        Some(Lines {
            at: logs.to_vec(),
            calls,
            measured: self.observed.iter().map(of_set).collect(),
        })
    }

    fn line(
        &self,
        call: &SceneCall,
        path: Path,
        bytes: Bytes,
        logs: &[f64],
        here: &Sites,
        moved: &[Option<Sites>],
    ) -> Option<Line> {
        let time = call.time(path, bytes, here)?;
        let mut by = Vec::new();
        for (at, key) in self.keys.iter().enumerate() {
            if !SceneCall::depends(path, key) {
                continue;
            }
            let slope = if *key == Key::Software {
                // A call's time has it once.
                self.priors[at]
            } else {
                let near = call.time(path, bytes, moved[at].as_ref()?)?;
                let from = self.coordinate(at, logs[at]);
                let to = self.coordinate(at, logs[at] + STEP);
                (near - time) / (to - from)
            };
            if slope != 0.0 {
                by.push((at, slope));
            }
        }
        Some(Line { path, time, by })
    }
}

impl Lines {
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
            at: self.at.clone(),
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
            at: self.at.clone(),
            calls: kept(&self.calls, &keep),
            measured: kept(&self.measured, &keep),
        }
    }

    /// Returns the coordinates that the lines are around.
    pub(super) fn origin(&self, ground: &Ground<'_>) -> Vec<f64> {
        let logs = self.at.iter().enumerate();
        logs.map(|(at, log)| ground.coordinate(at, *log)).collect()
    }
}

impl Line {
    /// Returns the time at some coordinates, in us.
    pub(super) fn time(&self, coordinates: &[f64], origin: &[f64]) -> f64 {
        let moved = self
            .by
            .iter()
            .map(|(at, slope)| slope * (coordinates[*at] - origin[*at]));
        // Lines may cross zero far from where they were taken; times do not.
        (self.time + moved.sum::<f64>()).max(1e-3 * self.time)
    }

    pub(super) fn by(&self) -> &[(usize, f64)] {
        &self.by
    }
}
