//! The method `fit`: which constants may move, in which grain rings forward, how many channels
//! small messages take, how strongly what is not told is held; then least squares, the rank check,
//! and intervals.
//!
//! Grain, channels and pull are chosen by cross-validation: every second size is predicted from the
//! others. The choice with the least held-out error is taken, the plainest of those that are about
//! as good. That error stands in the result beside the one in sample.

use super::constant::{Key, Value, origin, pick_mut, write_all};
use super::forecast::Miss;
use super::grain::Grains;
use super::model::Model;
use super::ramp::{self, Ramps};
use super::rank::{Told, check, confounded};
use super::report::{Calibration, Refused, SetFit, rmspe_of};
use super::site::Sites;
use super::solve::{Problem, Solution, Starts};
use super::{CalibrateError, CalibrateOptions, Confounded, Fitted, HeldOut, Method, Observed};
use tier6_system::SystemSpec;
use tier6_units::Bytes;

/// Pulls to choose from, the strongest first: it is the plainest.
const PULLS: [f64; 3] = [2.0, 0.5, 0.1];
/// The pull where too few points choose one: of 0.1, 0.2, 0.5, 2 and 8 that which predicts every
/// second size best over 26 published sweeps of 5 to 14 sizes. Stronger ones hold a machine to a
/// preset that it is not.
const PULL_UNCHOSEN: f64 = 0.2;
/// A choice must be this much better held out than a plainer one.
const GAIN_MIN: f64 = 0.05;
/// Fewest points, over all sets, of which every second one is predicted from the others.
const POINTS_MIN: usize = 8;
/// A size is latency-bound when its bytes flow at most at this share of the fastest.
const LATENCY_BOUND: f64 = 0.5;

pub(super) fn calibrate(
    system: &SystemSpec,
    observed: &[&Observed],
    sites: &Sites,
    options: &CalibrateOptions,
) -> Result<Calibration, CalibrateError> {
    let model = Model::new(observed, sites)?;
    let (free, refused) = free(&model, observed);
    let grains = if model.has_ring() {
        Grains::of(sites.topology(&observed[0].call))
    } else {
        Grains::stated(sites.topology(&observed[0].call))
    };
    let is_chosen = options.method == Method::Fit && options.held_out == HeldOut::Tested;
    let plain = Choice {
        grain: grains.plainest(),
        ramps: ramp::stated(sites.topology(&observed[0].call)),
        pull: PULL_UNCHOSEN,
        starts: Starts::All,
    };
    let (chosen, held_out) = if is_chosen {
        choose(&model, observed, &free, plain, &grains)
    } else {
        (plain, vec![None; observed.len()])
    };
    let model = model.with_form(&chosen.grain, &chosen.ramps);
    let problem = Problem {
        model: &model,
        observed,
        free,
        pull: chosen.pull,
        starts: chosen.starts.clone(),
    };
    let solution = match options.method {
        Method::Grid => {
            // A search takes long: what cannot be told is refused before it, by its derivatives at
            // what the system says.
            let before = problem.solution(vec![0.0; problem.free.len()], 0);
            let found = check(&problem, &before);
            refuse(&problem, &found, observed, sites, options)?;
            super::grid::solve(&problem)?
        }
        Method::Fit | Method::A | Method::B => problem.solve().ok_or(CalibrateError::NoPoints)?,
    };
    let mut made = Made {
        system,
        observed,
        sites,
        options,
        problem,
        solution,
        chosen,
        held_out,
        refused,
    };
    made.check_rank()?;
    made.report()
}

/// The form of the model and the pull, and where their fit starts.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    grain: super::grain::Grain,
    ramps: Ramps,
    pull: f64,
    starts: Starts,
}

/// Chooses grain, ramps and pull, and returns the held-out RMSPE of each set in percent.
///
/// Ramps are chosen for protocols that a call can have run under alone, one after the other: where
/// protocols compete, one giving way to the next bends a curve at the same sizes.
fn choose(
    model: &Model,
    observed: &[&Observed],
    free: &[usize],
    plain: Choice,
    grains: &Grains,
) -> (Choice, Vec<Option<f64>>) {
    let n: usize = observed.iter().map(|set| set.points.len()).sum();
    let unknown = vec![None; observed.len()];
    if n < POINTS_MIN {
        return (plain, unknown);
    }
    let mut search = Search {
        model,
        observed,
        free,
        grains,
        best: None,
    };
    search.consider(&plain.ramps);
    if plain.ramps == Ramps::default() {
        for protocol in model.protocols_known() {
            let mut ramps = match &search.best {
                Some(best) => best.choice.ramps.clone(),
                None => break,
            };
            for ramp in ramp::candidates(protocol) {
                *pick_mut(&mut ramps, protocol) = Some(ramp);
                search.consider(&ramps);
            }
        }
    }
    match search.best {
        Some(best) => (best.choice, best.held_out),
        None => (plain, unknown),
    }
}

/// A search for the form of the model that predicts held-out sizes best.
struct Search<'a> {
    model: &'a Model,
    observed: &'a [&'a Observed],
    free: &'a [usize],
    grains: &'a Grains,
    best: Option<Found>,
}

/// A form and its held-out RMSPE in percent: of all points, and of each set.
struct Found {
    total: f64,
    choice: Choice,
    held_out: Vec<Option<f64>>,
}

impl Search<'_> {
    /// Tries all grains and pulls with some ramps; a plainer form is kept unless another is much
    /// better.
    fn consider(&mut self, ramps: &Ramps) {
        let (observed, free) = (self.observed, self.free);
        for grain in self.grains.all() {
            let formed = self.model.with_form(grain, ramps);
            let mut starts = Starts::All;
            for pull in PULLS {
                starts = near(&formed, observed, free, pull, starts);
                let held_out = held_out(&formed, observed, free, pull, &starts);
                let Some(total) = pooled(observed, &held_out) else {
                    continue;
                };
                let limit = self.best.as_ref().map(|best| best.total * (1.0 - GAIN_MIN));
                if limit.is_none_or(|limit| total < limit) {
                    let choice = Choice {
                        grain: grain.clone(),
                        ramps: ramps.clone(),
                        pull,
                        starts: starts.clone(),
                    };
                    self.best = Some(Found {
                        total,
                        choice,
                        held_out,
                    });
                }
            }
        }
    }
}

/// Returns where fits on a part of the points start: with one path per call near that on all of
/// them, since they have one least each and a near start only saves steps. Where paths compete,
/// starts that know all points would choose among several: those of `before`, which do not.
fn near(
    model: &Model,
    observed: &[&Observed],
    free: &[usize],
    pull: f64,
    before: Starts,
) -> Starts {
    if !model.is_forced() {
        return before;
    }
    let problem = Problem {
        model,
        observed,
        free: free.to_vec(),
        pull,
        starts: before,
    };
    match problem.solve() {
        Some(all) => Starts::Near(all.logs),
        None => Starts::All,
    }
}

/// Predicts every second size from the others, both ways round, and returns the RMSPE per set in
/// percent. The ends of a sweep are never held out: that would ask for another question.
fn held_out(
    model: &Model,
    observed: &[&Observed],
    free: &[usize],
    pull: f64,
    starts: &Starts,
) -> Vec<Option<f64>> {
    let mut squares = vec![(0.0, 0_u32); observed.len()];
    for fold in 0..2 {
        let is_held = |set: &Observed, index: usize| {
            index % 2 == fold && index > 0 && index + 1 < set.points.len()
        };
        let train: Vec<Observed> = observed
            .iter()
            .map(|set| set.only(|index, _| !is_held(set, index)))
            .collect();
        let train: Vec<&Observed> = train.iter().collect();
        let problem = Problem {
            model,
            observed: &train,
            free: free.to_vec(),
            pull,
            starts: starts.few(),
        };
        let Some(priced) = problem
            .solve()
            .and_then(|solution| model.at(&solution.constants).ok())
        else {
            return vec![None; observed.len()];
        };
        for ((set, call), sum) in observed.iter().zip(&priced).zip(&mut squares) {
            for (index, point) in set.points.iter().enumerate() {
                if is_held(set, index) {
                    let error = call.time(point.bytes) / point.time.get() - 1.0;
                    sum.0 += error * error;
                    sum.1 += 1;
                }
            }
        }
    }
    let rmspe = |(sum, n): &(f64, u32)| (*n > 0).then(|| 100.0 * (sum / f64::from(*n)).sqrt());
    squares.iter().map(rmspe).collect()
}

/// Returns the root of the mean squared error over all held-out points.
fn pooled(observed: &[&Observed], errors: &[Option<f64>]) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0.0);
    for (set, error) in observed.iter().zip(errors) {
        if let Some(error) = error {
            let points = set.points.len() as f64;
            sum += points * error * error;
            n += points;
        }
    }
    (n > 0.0).then(|| (sum / n).sqrt())
}

/// Returns the constants that may move: those that some path depends on at some measured size,
/// and of software and steps only those that a latency-bound size depends on.
pub(super) fn free(model: &Model, observed: &[&Observed]) -> (Vec<usize>, Vec<Refused>) {
    let n = model.keys().len();
    let (mut at_any, mut at_small) = (vec![false; n], vec![false; n]);
    for (call, set) in model.calls().iter().zip(observed) {
        let rate = |point: &super::ObservedPoint| point.bytes.as_f64() / point.time.get();
        let peak = set.points.iter().map(rate).fold(0.0, f64::max);
        let sizes = |share: f64| -> Vec<Bytes> {
            let slow = set
                .points
                .iter()
                .filter(|point| rate(point) <= share * peak);
            slow.map(|point| point.bytes).collect()
        };
        for (found, share) in [(&mut at_any, 1.0), (&mut at_small, LATENCY_BOUND)] {
            let here = call.sensitive(&sizes(share), model.priors());
            found
                .iter_mut()
                .zip(here)
                .for_each(|(all, one)| *all |= one);
        }
    }
    let is_step = |at: &usize| matches!(model.keys()[*at], Key::Software | Key::Step(..));
    let is_told = |at: &usize| at_any[*at] && (!is_step(at) || at_small[*at]);
    let free: Vec<usize> = (0..n).filter(is_told).collect();
    let mut names: Vec<String> = (0..n)
        .filter(|at| at_any[*at] && !is_told(at))
        .map(|at| model.keys()[at].to_string())
        .collect();
    names.sort();
    let refused = (!names.is_empty()).then(|| Refused {
        names,
        why: "no point is latency-bound".to_owned(),
        measure: vec!["sizes from 8 B up".to_owned()],
    });
    (free, refused.into_iter().collect())
}

/// Returns what cannot be told; an error when that must not be.
fn refuse(
    problem: &Problem<'_>,
    found: &Told,
    observed: &[&Observed],
    sites: &Sites,
    options: &CalibrateOptions,
) -> Result<Vec<Refused>, CalibrateError> {
    let groups = confounded(problem, found, observed, sites);
    let is_apart = groups.iter().all(|group| group.names.len() < 2);
    if options.confounded == Confounded::Refuse && !is_apart {
        return Err(CalibrateError::NotIdentifiable {
            rank: found.rank,
            constants: problem.free.len(),
            groups,
        });
    }
    Ok(groups)
}

/// A fit on the way to its report.
struct Made<'a> {
    system: &'a SystemSpec,
    observed: &'a [&'a Observed],
    sites: &'a Sites,
    options: &'a CalibrateOptions,
    problem: Problem<'a>,
    solution: Solution,
    chosen: Choice,
    held_out: Vec<Option<f64>>,
    refused: Vec<Refused>,
}

impl Made<'_> {
    /// Names what the fitted times cannot tell; constants that no fitted time depends on go back
    /// to what the system says.
    fn check_rank(&mut self) -> Result<(), CalibrateError> {
        let mut found = check(&self.problem, &self.solution);
        found
            .idle
            .retain(|at| self.problem.give_back(&mut self.solution, *at));
        let groups = refuse(
            &self.problem,
            &found,
            self.observed,
            self.sites,
            self.options,
        )?;
        self.solution.relative_sd = found.relative_sd;
        self.problem.free.retain(|at| !found.idle.contains(at));
        self.refused.extend(groups);
        Ok(())
    }

    fn report(self) -> Result<Calibration, CalibrateError> {
        let model = self.problem.model;
        let constants = &self.solution.constants;
        let priced = model.at(constants)?;
        let sets: Vec<SetFit> = self
            .observed
            .iter()
            .zip(&priced)
            .zip(&self.held_out)
            .map(|((set, call), held_out)| SetFit {
                held_out_rmspe_pct: *held_out,
                ..SetFit::new(set, |bytes: Bytes| call.time(bytes))
            })
            .collect();
        let rmspe_pct = rmspe_of(&sets);
        let mut values: Vec<Value> = self
            .problem
            .free
            .iter()
            .map(|at| Value {
                key: model.keys()[*at].clone(),
                number: constants[*at],
                interval: self.solution.interval(*at, self.options.level),
            })
            .collect();
        values.sort_by(|a, b| a.key.cmp(&b.key));
        let before = self.sites.topology(&self.observed[0].call);
        let ramps = ramp::fitted(&self.chosen.ramps, &ramp::stated(before));
        let method = self.options.method;
        let errors: Vec<f64> = sets
            .iter()
            .flat_map(|set| &set.residuals)
            .map(|(_, measured, predicted)| (predicted.get() / measured.get()).ln())
            .collect();
        let mut miss = Miss::untested(&errors, values.len() + ramps.len(), self.observed);
        if self.options.held_out == HeldOut::Tested {
            miss = miss.tested(model, self.observed, self.chosen.pull);
        }
        let mut system = write_all(self.system, &values, self.observed, method, Some(rmspe_pct));
        system.software.grain = self.chosen.grain.clone();
        let origin = origin(self.observed, method, Some(rmspe_pct));
        ramp::write(&mut system, &self.chosen.ramps, &origin);
        let mut parameters: Vec<Fitted> = values.iter().map(|value| value.fitted(before)).collect();
        let is_call = |value: &Value| value.key == Key::Software;
        let after_call = values.iter().filter(|value| is_call(value)).count();
        parameters.splice(after_call..after_call, ramps);
        Ok(Calibration {
            system,
            method,
            parameters,
            warnings: warnings(&values),
            refused: self.refused,
            miss,
            held_out_rmspe_pct: pooled(self.observed, &self.held_out),
            sets,
            rmspe_pct,
        })
    }
}

/// Says what looks wrong in fitted values.
fn warnings(values: &[Value]) -> Vec<String> {
    let limit = super::component::RING_SHARE_MAX;
    let too_good = values.iter().filter(|value| match &value.key {
        Key::Efficiency(link) => link.starts_with("nvlink") && value.number > limit,
        _ => false,
    });
    too_good
        .map(|value| {
            format!(
                "`{}` is {:.2}: above {limit} it is no ring but NVLS; give the system `[nvls]`, or \
                 measure with `NCCL_NVLS_ENABLE=0`",
                value.key, value.number
            )
        })
        .collect()
}
