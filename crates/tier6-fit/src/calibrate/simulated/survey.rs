//! What runs have told of the paths of a scene: a ladder of faces per call and algorithm.
//!
//! The first runs stand at the ends of what was measured; between two sizes more are taken until
//! the faces leave no gap. Later, each time a fit has moved the constants, every size is run on
//! the paths that are about the fastest: where the faces miss, one more is found, and what is left
//! is a rest that holds the lines to the simulation.

use super::constant::Key;
use super::lines::{Ground, Line, Lines, Term};
use super::scene::{SceneCall, Stage};
use super::surface::{Above, Face, Ladder, Measure, Place, Rung};
use crate::calibrate::Observed;
use crate::calibrate::site::Sites;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use tier6_collective::{Algorithm, Path, Protocol};
use tier6_g5::{CdmaSplit, G5Parameters};
use tier6_system::SplitSpec;
use tier6_units::Bytes;

/// By how much a constant is moved, as a logarithm.
const STEP: f64 = 0.01;
/// By which part of a size the bytes are.
const BYTES_STEP: u64 = 100;
/// Below, bytes are not worth a run of their own.
const BYTES_MIN: u64 = 64 << 10;
/// The largest gap that faces leave between two sizes.
const GAP_MAX: f64 = 0.02;
/// The most faces of a structure.
const FACES_MAX: usize = 12;
/// Paths are run where lines say that they take at most so many times as long as the fastest run.
const LOOKED_AT: f64 = 1.5;
/// So many times as long as the fastest they are given.
const CONTENDS: f64 = 1.15;

/// What is known of the paths, under a split.
#[derive(Debug, Clone)]
pub(super) struct Survey {
    pub(super) split: Option<SplitSpec>,
    /// By call.
    ladders: Vec<BTreeMap<Algorithm, Rc<Ladder>>>,
}

/// The systems of a call at some constants, and with each of them a little larger.
struct Bench<'a> {
    ground: &'a Ground<'a>,
    constants: Vec<f64>,
    stage: Stage<'a>,
    near: &'a [Option<Sites>],
}

impl Survey {
    /// Runs what tells the faces of every path around some constants.
    pub(super) fn start(
        ground: &Ground<'_>,
        logs: &[f64],
        split: Option<SplitSpec>,
    ) -> Option<Self> {
        let here = ground.sites(logs, split)?;
        let near = ground.near(logs, STEP, split);
        let sets = ground.observed.iter().zip(ground.scene.calls());
        let of_call = |(set, call): (&&Observed, &'_ SceneCall)| {
            let bench = Bench::new(ground, logs, call, &here, &near);
            let mut ladders = BTreeMap::new();
            for path in &call.paths {
                if let Entry::Vacant(place) = ladders.entry(path.algorithm)
                    && let Some(ladder) = bench.ladder(set, *path)
                {
                    place.insert(Rc::new(ladder));
                }
            }
            ladders
        };
        Some(Self {
            split,
            ladders: sets.map(of_call).collect(),
        })
    }

    /// Runs every size on the paths that are about the fastest at some constants, and returns the
    /// lines around them.
    pub(super) fn lines(
        &mut self,
        ground: &Ground<'_>,
        logs: &[f64],
        protocols: &[Protocol],
    ) -> Option<Lines> {
        let here = ground.sites(logs, self.split)?;
        let near = ground.near(logs, STEP, self.split);
        let mut calls = Vec::new();
        let sets = ground.observed.iter().zip(ground.scene.calls());
        for (at, (set, call)) in sets.enumerate() {
            let bench = Bench::new(ground, logs, call, &here, &near);
            let truths = self.learn(&bench, at, set, protocols);
            let points = set.points.iter().zip(truths).map(|(point, truth)| {
                let lines = self.lines_of(&bench, at, protocols, point);
                let held = lines.into_iter().filter_map(|mut line| {
                    let run = truth.iter().find(|(path, _)| *path == line.path);
                    if let Some((_, time)) = run {
                        line.hold_to((*time)?, &bench.constants);
                    }
                    Some(line)
                });
                let held: Vec<Line> = held.collect();
                (!held.is_empty()).then_some(held)
            });
            calls.push(points.collect::<Option<_>>()?);
        }
        Some(Lines::new(ground, calls))
    }

    fn lines_of(
        &self,
        bench: &Bench<'_>,
        at: usize,
        protocols: &[Protocol],
        point: &crate::calibrate::ObservedPoint,
    ) -> Vec<Line> {
        let call = bench.stage.call;
        let paths = call.paths.iter().filter(|path| {
            protocols.contains(&path.protocol) && SceneCall::may_run(**path, point, &call.paths)
        });
        let line = |path: &Path| {
            let ladder = self.ladders[at].get(&path.algorithm)?.clone();
            Some(bench.line(*path, point.bytes, ladder))
        };
        paths.filter_map(line).collect()
    }

    /// Runs every size of a call, adds faces where they miss, and returns what was run: us by path,
    /// `None` where the run did not end.
    fn learn(
        &mut self,
        bench: &Bench<'_>,
        at: usize,
        set: &Observed,
        protocols: &[Protocol],
    ) -> Vec<Vec<(Path, Option<f64>)>> {
        let mut truths = Vec::new();
        for point in &set.points {
            let lines = self.lines_of(bench, at, protocols, point);
            let timed = lines.into_iter();
            let mut timed: Vec<(f64, Line)> = timed
                .map(|line| (line.slope(&bench.constants).time, line))
                .collect();
            timed.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut of_point, mut best) = (Vec::new(), f64::INFINITY);
            for (said, line) in timed {
                if said > LOOKED_AT * best {
                    break;
                }
                let limit = CONTENDS * best;
                let time = bench.stage.time(line.path, point.bytes, limit);
                if time.is_some_and(|time| (time / said).ln().abs() > GAP_MAX) {
                    self.add(bench, at, line.path, point.bytes);
                }
                best = best.min(time.unwrap_or(f64::INFINITY));
                // What has not ended takes at least as long as it was given.
                let least = limit.is_finite().then(|| said.max(limit));
                of_point.push((line.path, time.or(least)));
            }
            truths.push(of_point);
        }
        truths
    }

    /// Adds the face of a size to the structure that it has.
    fn add(&mut self, bench: &Bench<'_>, at: usize, path: Path, bytes: Bytes) {
        let place = bench.place(path);
        let ladder = self.ladders[at].get_mut(&path.algorithm);
        let Some(ladder) = ladder else { return };
        let Some(rung) = ladder.rung_of(bytes.as_f64(), place.moved) else {
            return;
        };
        if ladder.rungs[rung].faces.len() < FACES_MAX
            && let Some(face) = bench.face(path, bytes)
        {
            Rc::make_mut(ladder).rungs[rung].faces.push(face);
        }
    }
}

impl<'a> Bench<'a> {
    fn new(
        ground: &'a Ground<'a>,
        logs: &[f64],
        call: &'a SceneCall,
        here: &'a Sites,
        near: &'a [Option<Sites>],
    ) -> Self {
        Self {
            ground,
            constants: ground.constants(logs),
            stage: Stage::new(call, here),
            near,
        }
    }

    fn line(&self, path: Path, bytes: Bytes, ladder: Rc<Ladder>) -> Line {
        let fixed = self.stage.call.fixed(path);
        let fixed_us = self.stage.call.fixed_us(path, self.stage.sites);
        let term = |key: Option<Key>, else_: f64| match key {
            Some(key) => self.ground.term(&key).unwrap_or(Term::Number(else_)),
            None => Term::Number(else_),
        };
        Line {
            path,
            bytes: bytes.as_f64(),
            ladder,
            fixed: term(fixed, fixed_us),
            sync: term(Some(Key::sync_of(path.protocol)), 0.0),
            share: term(Key::share_of(path.protocol), 1.0),
            rest: 0.0,
        }
    }

    fn place(&self, path: Path) -> Place<'_> {
        let ladder = Ladder {
            rungs: Vec::new(),
            measure: Measure::Data,
            above: Above::Scaled,
        };
        let line = self.line(path, Bytes::new(0), Rc::new(ladder));
        line.place(&self.constants)
    }

    /// Finds the faces of an algorithm over the sizes of a set.
    fn ladder(&self, set: &Observed, path: Path) -> Option<Ladder> {
        let sizes: Vec<f64> = set
            .points
            .iter()
            .map(|point| point.bytes.as_f64())
            .collect();
        let (low, high) = (*sizes.first()?, *sizes.last()?);
        let (bytes, measure, above) = self.structures(path, &sizes)?;
        let place = self.place(path);
        let data = |bytes: f64| match measure {
            Measure::Data => bytes,
            Measure::Moved => bytes / place.moved,
        };
        let mut rungs = Vec::new();
        for bytes in bytes {
            let face = self.face(path, whole(data(bytes)))?;
            rungs.push(Rung {
                bytes,
                faces: vec![face],
            });
        }
        let first = data(rungs.first()?.bytes);
        let last = data(rungs.last()?.bytes);
        if low < first {
            self.fill(path, rungs.first_mut()?, low, first)?;
        }
        if above == Above::Scaled && high > last {
            self.fill(path, rungs.last_mut()?, last, high)?;
        }
        Some(Ladder {
            rungs,
            measure,
            above,
        })
    }

    /// Returns the sizes whose structures differ.
    fn structures(&self, path: Path, sizes: &[f64]) -> Option<(Vec<f64>, Measure, Above)> {
        let (call, sites) = (self.stage.call, self.stage.sites);
        let high = sizes.last().copied().unwrap_or(0.0);
        if let Some(piece) = call.piece(path, sites) {
            let (half, full) = self.stage.steady(path)?;
            let rungs = [1, 4, half, full].map(|count| (count * piece.get()) as f64);
            // In a switch a message below a piece is one of its own size.
            let is_in_switch = crate::launch::is_in_switch(path.algorithm);
            let small = sizes.iter().copied();
            let small = small.filter(|bytes| is_in_switch && *bytes < rungs[0]);
            // Flags of LL and LL128 come on top of the largest size.
            let needed = 1 + rungs.partition_point(|bytes| *bytes < 4.0 * high);
            let rungs = small.chain(rungs.into_iter().take(needed)).collect();
            return Some((rungs, Measure::Moved, Above::Straight));
        }
        let split = G5Parameters::of(sites.topology(&call.call)).cdma.split;
        if split != CdmaSplit::All || crate::launch::is_in_switch(path.algorithm) {
            return Some((sizes.to_vec(), Measure::Data, Above::Scaled));
        }
        Some((vec![high], Measure::Data, Above::Scaled))
    }

    /// Adds faces between two sizes of data until they leave no gap.
    fn fill(&self, path: Path, rung: &mut Rung, low: f64, high: f64) -> Option<()> {
        let place = self.place(path);
        let at_low = self.face(path, whole(low))?;
        let at_high = self.face(path, whole(high))?;
        let mut open = vec![(low, at_low.clone(), high, at_high.clone())];
        rung.faces.extend([at_low, at_high]);
        while let Some((low, at_low, high, at_high)) = open.pop() {
            let (from, to) = (low * place.moved, high * place.moved);
            let (time_low, time_high) = (at_low.time(from, place), at_high.time(to, place));
            let (pace_low, pace_high) = (at_low.pace(place), at_high.pace(place));
            // Where the two faces cross, a line between their times is furthest from both.
            let crossing =
                (time_low - pace_low * from - time_high + pace_high * to) / (pace_high - pace_low);
            if !(crossing > 1.001 * from && crossing < 0.999 * to) {
                continue;
            }
            let chord = time_low + (time_high - time_low) * (crossing - from) / (to - from);
            let (known, _) = rung.longest(crossing, place)?;
            if chord - known <= GAP_MAX * chord || rung.faces.len() >= FACES_MAX {
                continue;
            }
            let middle = crossing / place.moved;
            let face = self.face(path, whole(middle))?;
            rung.faces.push(face.clone());
            open.push((middle, face.clone(), high, at_high));
            open.push((low, at_low, middle, face));
        }
        Some(())
    }

    /// Finds the face of the chain that is longest at a size.
    fn face(&self, path: Path, bytes: Bytes) -> Option<Face> {
        let stage = &self.stage;
        let runs = stage.call.runs(path, bytes, stage.sites)?;
        let here = stage.net(path, &runs)?;
        let place = self.place(path);
        let moved = bytes.as_f64() * place.moved;
        let mut face = Face::default();
        for (at, key) in self.ground.keys.iter().enumerate() {
            let is_sync = *key == Key::sync_of(path.protocol);
            if !(is_sync || key.is_shared()) || !stage.call.depends(path, key) {
                continue;
            }
            let near = Stage::new(stage.call, self.near[at].as_ref()?);
            let change = near.net(path, &runs)? - here;
            let constant = self.constants[at];
            if is_sync {
                face.syncs = change / (constant * STEP.exp_m1());
            } else if key.is_time() {
                face.times.push((at, change / (constant * STEP.exp_m1())));
            } else {
                let pace = change * constant / (moved * (-STEP).exp_m1());
                face.rates.push((at, pace));
            }
        }
        if bytes.get() >= BYTES_MIN {
            let less = Bytes::new(bytes.get() - bytes.get() / BYTES_STEP);
            let runs = stage.call.runs(path, less, stage.sites)?;
            let less = less.as_f64() * place.moved;
            let pace = (here - stage.net(path, &runs)?) / (moved - less);
            face.per_byte = (pace - face.pace(place)).max(0.0);
        }
        face.fixed = here - face.time(moved, place);
        Some(face)
    }
}

/// The next whole number of bytes, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size"
)]
fn whole(bytes: f64) -> Bytes {
    Bytes::new((bytes.round() as u64).max(1))
}
