//! Methods A and B of source document 001, for the ring of one node.
//!
//! The rate comes from the peak bus bandwidth: `u_r` = busbw / wire rate. The floor of small
//! messages is software and steps. A takes the step from the chip's components and leaves the
//! rest to software; B takes it from the hops of the route, and needs two numbers of ranks to
//! part steps from software, else software stays at what the system says.
//!
//! A `u_r` above 0.94 on `NVLink` is no ring (FACTS E.7): the rate then goes to NVLS, or nowhere.

use super::constant::{Key, Value, write_all};
use super::forecast::Miss;
use super::report::{Calibration, Refused, SetFit, rmspe_of};
use super::site::Sites;
use super::{CalibrateError, CalibrateOptions, Method, Observed};
use crate::rank_latency::ring_steps;
use tier6_collective::{Algorithm, Collective};
use tier6_math::law::nvls_rate;
use tier6_math::{Plan, method_a};
use tier6_stats::{Weighting, fit_line_non_negative, median};
use tier6_system::SystemSpec;
use tier6_units::{Bytes, GbPerSec, Micros};

/// The largest share of the wire rate that a ring on `NVLink` reaches (FACTS E.7).
pub(super) const RING_SHARE_MAX: f64 = 0.94;
/// A size counts as latency-bound when its bytes take at most this share of its time.
const LATENCY_BOUND: f64 = 0.2;

/// What one sweep says.
struct Reading {
    /// Dependent steps.
    steps: f64,
    /// The time of small messages; `None` when no size is latency-bound.
    floor: Option<f64>,
    /// Share of the wire rate that the peak reaches.
    share: f64,
    peak: GbPerSec,
    ranks: u32,
}

pub(super) fn calibrate(
    system: &SystemSpec,
    observed: &[&Observed],
    sites: &Sites,
    options: &CalibrateOptions,
) -> Result<Calibration, CalibrateError> {
    let readings: Vec<Reading> = observed
        .iter()
        .map(|set| read(set, sites, options.method))
        .collect::<Result<_, _>>()?;
    let mut made = Making {
        values: Vec::new(),
        refused: Vec::new(),
        warnings: Vec::new(),
    };
    let link = system.tiers[0].link.value.clone();
    made.rate(&link, &readings);
    match options.method {
        Method::A => made.floor_by_components(sites, observed, &readings),
        Method::B | Method::Fit | Method::Grid => {
            made.floor_by_hops(&link, system, sites, observed, &readings)?;
        }
    }
    made.finish(system, sites, observed, options.method)
}

fn read(set: &Observed, sites: &Sites, method: Method) -> Result<Reading, CalibrateError> {
    let call = &set.call;
    let Some(steps) = ring_steps(call.collective, call.ranks).filter(|_| call.nodes == 1) else {
        return Err(CalibrateError::Method {
            method,
            why: format!("is for rings in one node, and `{}` is not one", set.label),
            hint: "use `--method fit`",
        });
    };
    let topology = sites.topology(call);
    let wire = topology.injection_rate(tier6_system::ChipId::new(0));
    let factor = call.collective.bus_factor(call.ranks);
    let busbw = |bytes: Bytes, time: Micros| bytes.as_f64() / time.get() / 1e3 * factor;
    let rates = set
        .points
        .iter()
        .map(|point| busbw(point.bytes, point.time));
    let peak = rates.fold(0.0, f64::max);
    let floors: Vec<f64> = set
        .points
        .iter()
        .filter(|point| busbw(point.bytes, point.time) <= LATENCY_BOUND * peak)
        .map(|point| point.time.get())
        .collect();
    // Of latency-bound sizes, those on the floor: the lower half.
    let middle = median(&floors);
    let low: Vec<f64> = floors
        .iter()
        .copied()
        .filter(|time| middle.is_some_and(|middle| *time <= middle))
        .collect();
    Ok(Reading {
        steps: steps.into(),
        floor: median(&low),
        share: peak / wire.get(),
        peak: GbPerSec::new(peak),
        ranks: call.ranks,
    })
}

/// A calibration in the making.
struct Making {
    values: Vec<Value>,
    refused: Vec<Refused>,
    warnings: Vec<String>,
}

impl Making {
    /// Sets the efficiency of the link, or the rate of NVLS, from the highest peak.
    fn rate(&mut self, link: &str, readings: &[Reading]) {
        let best = readings.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        let best = best.expect("Invariant: there is a measurement");
        let is_in_switch = link.starts_with("nvlink") && best.share > RING_SHARE_MAX;
        if !is_in_switch {
            let share = best.share.min(1.0);
            let key = Key::Efficiency(link.to_owned());
            self.values.push(Value::alone(key, share));
            return;
        }
        self.warnings.push(format!(
            "peak busbw {} is {:.2} of the wire rate of `{link}`: above {RING_SHARE_MAX} it is no \
             ring but NVLS, so it says nothing of the link",
            best.peak, best.share
        ));
        self.refused.push(Refused {
            names: vec![format!("links.{link}.efficiency")],
            why: "the peak bandwidth is in-switch reduction, not a ring".to_owned(),
            measure: vec!["a sweep with `NCCL_NVLS_ENABLE=0`".to_owned()],
        });
        if let Ok(rate) = nvls_rate(best.ranks, best.peak) {
            self.values.push(Value::alone(Key::NvlsRate, rate.get()));
        }
    }

    /// Refuses what only small messages tell; says whether there is a floor.
    fn refuse_without_floor(&mut self, names: &[String], readings: &[Reading]) -> bool {
        let has_floor = readings.iter().any(|reading| reading.floor.is_some());
        if !has_floor {
            self.refused.push(Refused {
                names: names.to_vec(),
                why: "no point is latency-bound".to_owned(),
                measure: vec!["sizes from 8 B up".to_owned()],
            });
        }
        !has_floor
    }

    /// Method A: `T_sw` = floor - (N-1) `α_step`.
    fn floor_by_components(&mut self, sites: &Sites, observed: &[&Observed], readings: &[Reading]) {
        if self.refuse_without_floor(&["software.call".to_owned()], readings) {
            return;
        }
        let step = &sites.topology(&observed[0].call).constants().step;
        let rest: Vec<f64> = readings
            .iter()
            .filter_map(|reading| Some(reading.floor? - method_a(reading.ranks, step).get()))
            .collect();
        let software = median(&rest).expect("Invariant: there is a floor");
        if software < 0.0 {
            self.warnings.push(format!(
                "the steps of method A alone take {:.1} us longer than small messages do: a bound \
                 from above, as source document 001 found",
                -software
            ));
        }
        let software = Value::alone(Key::Software, software.max(0.0));
        self.values.push(software);
    }

    /// Method B: floor = `T_sw` + steps (hops ℓ + switch).
    fn floor_by_hops(
        &mut self,
        link: &str,
        system: &SystemSpec,
        sites: &Sites,
        observed: &[&Observed],
        readings: &[Reading],
    ) -> Result<(), CalibrateError> {
        let latency = format!("links.{link}.latency");
        let names = ["software.call".to_owned(), latency.clone()];
        if self.refuse_without_floor(&names, readings) {
            return Ok(());
        }
        let floors: Vec<(f64, f64)> = readings
            .iter()
            .filter_map(|reading| Some((reading.steps, reading.floor?)))
            .collect();
        let topology = sites.topology(&observed[0].call);
        let prior = topology.constants().call.value.get();
        let (steps, times): (Vec<f64>, Vec<f64>) = floors.iter().copied().unzip();
        let line = fit_line_non_negative(&steps, &times, Weighting::Relative);
        let (software, per_step) = if let Some(line) = line {
            (Some(line.intercept), line.slope)
        } else {
            self.refused.push(Refused {
                names: names.to_vec(),
                why: "one number of steps has one floor, for software and steps together"
                    .to_owned(),
                measure: vec!["the same sweep with another number of ranks".to_owned()],
            });
            let floor = median(&times).expect("Invariant: there is a floor");
            (None, (floor - prior) / steps[0])
        };
        let (hops, fixed) = hops(system, link, observed[0])?;
        let us = (per_step - fixed) / hops;
        if us >= 0.0 {
            let key = Key::Latency(link.to_owned());
            self.values.push(Value::alone(key, us));
        } else {
            self.warnings.push(format!(
                "a step takes {per_step:.2} us, less than the {fixed:.2} us of switch and chip \
                 that the system says: `{latency}` stays"
            ));
        }
        if let Some(software) = software {
            self.values.push(Value::alone(Key::Software, software));
        }
        Ok(())
    }

    fn finish(
        self,
        system: &SystemSpec,
        before: &Sites,
        observed: &[&Observed],
        method: Method,
    ) -> Result<Calibration, CalibrateError> {
        let written = write_all(system, &self.values, observed, method, None);
        let sites = Sites::of(&written, observed)?;
        let sets: Vec<SetFit> = observed
            .iter()
            .map(|set| {
                let plans = plans(set, &sites)?;
                let time = |bytes| {
                    let times = plans.iter().map(|plan| plan.time(bytes).get());
                    times.fold(f64::INFINITY, f64::min)
                };
                Ok(SetFit::new(set, time))
            })
            .collect::<Result<_, CalibrateError>>()?;
        let rmspe_pct = rmspe_of(&sets);
        let errors = sets.iter().flat_map(|set| &set.residuals);
        let errors: Vec<f64> = errors
            .map(|(_, measured, predicted)| (predicted.get() / measured.get()).ln())
            .collect();
        let topology = before.topology(&observed[0].call);
        Ok(Calibration {
            system: write_all(system, &self.values, observed, method, Some(rmspe_pct)),
            method,
            parameters: self
                .values
                .iter()
                .map(|value| value.fitted(topology))
                .collect(),
            refused: self.refused,
            miss: Miss::untested(&errors, self.values.len(), observed),
            held_out_rmspe_pct: None,
            sets,
            rmspe_pct,
            warnings: self.warnings,
        })
    }
}

/// Returns how many links a step of the ring crosses, and what it takes beside them.
fn hops(system: &SystemSpec, link: &str, set: &Observed) -> Result<(f64, f64), CalibrateError> {
    let step_with = |us: f64| -> Result<f64, CalibrateError> {
        let mut system = system.clone();
        if let Some(class) = system.link_mut(link) {
            class.latency = Some(tier6_system::Constant::stated(Micros::new(us)));
        }
        let sites = Sites::of(&system, &[set])?;
        let plan = ring(set, &sites)?;
        let steps = ring_steps(set.call.collective, set.call.ranks);
        let steps = f64::from(steps.expect("Invariant: rings only"));
        Ok(plan.parts(Bytes::new(1)).latency.get() / steps)
    };
    let fixed = step_with(0.0)?;
    Ok((step_with(1.0)? - fixed, fixed))
}

fn ring(set: &Observed, sites: &Sites) -> Result<Plan, CalibrateError> {
    plan(set, sites, Algorithm::Ring)
}

fn plan(set: &Observed, sites: &Sites, algorithm: Algorithm) -> Result<Plan, CalibrateError> {
    let (topology, call) = (sites.topology(&set.call), &set.call);
    let parameters = sites.parameters(call);
    Plan::new(
        topology,
        call.collective,
        algorithm,
        call.ranks,
        &parameters,
    )
    .map_err(|error| CalibrateError::NoPath {
        label: set.label.clone(),
        error: Box::new(error),
    })
}

/// Returns the ring, and NVLS where the system has it.
fn plans(set: &Observed, sites: &Sites) -> Result<Vec<Plan>, CalibrateError> {
    let mut plans = vec![ring(set, sites)?];
    if set.call.collective == Collective::AllReduce && set.call.algorithm.is_none() {
        plans.extend(plan(set, sites, Algorithm::Nvls).ok());
    }
    Ok(plans)
}
