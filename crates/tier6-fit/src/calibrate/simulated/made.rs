//! A fit on the way to its report: what was found, what cannot be told, and the system that says
//! both.

use super::choose::{Choice, pooled};
use super::constant::{Key, Value, write_split};
use super::lines::Ground;
use super::solve::Solution;
use super::times;
use crate::calibrate::report::rmspe_of;
use crate::calibrate::{
    CalibrateError, CalibrateOptions, Calibration, Confounded, Fitted, Method, Miss, Refused,
    SetFit,
};
use crate::identify::{Design, Identifiability};
use std::collections::BTreeMap;
use tier6_collective::Protocol;
use tier6_stats::t_quantile;
use tier6_system::{Evidence, Provenance, SplitSpec, SystemSpec};
use tier6_units::Bytes;

/// Intervals wider than this factor to both sides say nothing.
const FACTOR_MAX: f64 = 100.0;

/// A fit.
pub(super) struct Made<'a> {
    pub(super) system: &'a SystemSpec,
    pub(super) ground: &'a Ground<'a>,
    pub(super) choice: Choice,
    pub(super) solution: Solution,
    /// By set, in percent.
    pub(super) held_out: Vec<Option<f64>>,
    pub(super) options: &'a CalibrateOptions,
}

/// What the times of a fit can tell.
struct Told {
    /// Constants that some fitted time depends on.
    busy: Vec<usize>,
    /// Those of the form that none depends on.
    idle: Vec<usize>,
    found: Option<Identifiability>,
}

impl Made<'_> {
    pub(super) fn report(self) -> Result<Calibration, CalibrateError> {
        let told = self.told();
        let refused = self.refused(&told)?;
        let sets = self.sets(&self.write(&told, &[], 0.0))?;
        let errors: Vec<f64> = sets
            .iter()
            .flat_map(|set| &set.residuals)
            .map(|(_, measured, predicted)| (predicted.get() / measured.get()).ln())
            .collect();
        let values = self.values(&told, &errors);
        let rmspe_pct = rmspe_of(&sets);
        let topology = self.ground.topology();
        let parameters = values.iter().map(|value| Fitted {
            name: value.key.to_string(),
            unit: value.key.unit().to_owned(),
            value: value.number,
            interval: value.interval,
            prior: value.key.prior(topology),
        });
        Ok(Calibration {
            system: self.write(&told, &values, rmspe_pct),
            method: Method::Fit,
            parameters: parameters.collect(),
            warnings: vec![self.said()],
            refused,
            miss: Miss::untested(&errors, values.len(), self.ground.observed),
            held_out_rmspe_pct: pooled(&sets),
            sets,
            rmspe_pct,
        })
    }

    fn told(&self) -> Told {
        let columns = self.ground.columns(&self.solution);
        let is_idle = |at: &usize| columns[*at].iter().all(|value| *value == 0.0);
        let (idle, busy): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_idle);
        let of_busy = busy.iter().map(|at| columns[*at].clone()).collect();
        let design = Design::new(busy.iter().map(|at| self.name(*at)).collect(), of_busy);
        let keeps = |at: &usize| self.keeps(&self.ground.keys[*at]);
        Told {
            busy,
            idle: idle.into_iter().filter(keeps).collect(),
            found: design.map(|design| design.identify()),
        }
    }

    fn name(&self, at: usize) -> String {
        self.ground.keys[at].to_string()
    }

    /// Names what cannot be told.
    fn refused(&self, told: &Told) -> Result<Vec<Refused>, CalibrateError> {
        let mut refused = Vec::new();
        let groups = told.found.iter().flat_map(|found| &found.groups);
        for group in groups {
            let names = group.iter().map(|at| self.name(told.busy[*at]));
            let mut names: Vec<String> = names.collect();
            names.sort();
            refused.push(Refused {
                names,
                why: "the measurements tell these only together".to_owned(),
                measure: vec!["the same sizes on other numbers of ranks".to_owned()],
            });
        }
        let rank = told.found.as_ref().map_or(0, |found| found.rank);
        if self.options.confounded == Confounded::Refuse && rank < told.busy.len() {
            return Err(CalibrateError::NotIdentifiable {
                rank,
                constants: told.busy.len(),
                groups: refused,
            });
        }
        if !told.idle.is_empty() {
            let mut names: Vec<String> = told.idle.iter().map(|at| self.name(*at)).collect();
            names.sort();
            refused.push(Refused {
                names,
                why: "no fitted time depends on it: its path is never the fastest".to_owned(),
                measure: vec!["a sweep with its algorithm and protocol forced".to_owned()],
            });
        }
        refused.sort_by(|a, b| a.names.cmp(&b.names));
        Ok(refused)
    }

    fn number(&self, at: usize) -> f64 {
        self.ground.priors[at] * self.solution.logs[at].exp()
    }

    /// Returns what was fitted, with intervals.
    fn values(&self, told: &Told, errors: &[f64]) -> Vec<Value> {
        let rank = told.found.as_ref().map_or(0, |found| found.rank);
        let freedom = errors.len().saturating_sub(rank) as f64;
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let half = |index: usize| {
            let sd = told.found.as_ref()?.relative_sd[index]?;
            let quantile = t_quantile(self.options.level, freedom)?;
            let half = quantile * sd * (squares / freedom).sqrt();
            (half < FACTOR_MAX.ln()).then_some(half)
        };
        let busy = told.busy.iter().enumerate();
        let mut values: Vec<Value> = busy
            .map(|(index, at)| {
                let number = self.number(*at);
                let most = self.ground.keys[*at].most();
                let ends = |half: f64| (number * (-half).exp(), (number * half.exp()).min(most));
                Value {
                    key: self.ground.keys[*at].clone(),
                    number,
                    interval: half(index).map(ends),
                }
            })
            .collect();
        values.sort_by(|a, b| a.key.cmp(&b.key));
        values
    }

    /// Whether a constant is one of the chosen form.
    fn keeps(&self, key: &Key) -> bool {
        match key {
            Key::LlSync | Key::LlShare => self.choice.protocols.contains(&Protocol::Ll),
            Key::Ll128Sync | Key::Ll128Share => self.choice.protocols.contains(&Protocol::Ll128),
            _ => true,
        }
    }

    /// Returns how well each set is met by a system.
    fn sets(&self, system: &SystemSpec) -> Result<Vec<SetFit>, CalibrateError> {
        let fit = |(set, held_out): (&&crate::Observed, &Option<f64>)| {
            let times: BTreeMap<Bytes, f64> = times(system, set)?
                .into_iter()
                .map(|(bytes, time, _)| (bytes, time))
                .collect();
            Ok(SetFit {
                held_out_rmspe_pct: *held_out,
                ..SetFit::new(set, |bytes| times[&bytes])
            })
        };
        let sets = self.ground.observed.iter().zip(&self.held_out);
        sets.map(fit).collect()
    }

    /// Writes all constants of the form: those told with their origin, the others as assumed.
    fn write(&self, told: &Told, values: &[Value], error_pct: f64) -> SystemSpec {
        let observed = self.ground.observed;
        let topology = self.ground.topology();
        let mut datasets: Vec<String> = observed.iter().map(|set| set.label.clone()).collect();
        datasets.sort();
        datasets.dedup();
        let sizes = || {
            let points = observed.iter().flat_map(|set| &set.points);
            points.map(|point| point.bytes)
        };
        let origin = Provenance {
            datasets,
            bytes: sizes().min().zip(sizes().max()),
            method: Some("g5 fit".to_owned()),
            error_pct: Some(error_pct),
            ..Provenance::new(Evidence::Fitted)
        };
        let untold = Provenance {
            source: Some("no measured time depends on it".to_owned()),
            ..Provenance::new(Evidence::Assumed)
        };
        let mut system = self.system.clone();
        for at in told.busy.iter().chain(&told.idle) {
            let is_told = told.busy.contains(at);
            let is_prior = self.solution.logs[*at] == 0.0;
            let key = &self.ground.keys[*at];
            // What was given back and is not of a protocol stands in the system already.
            if !is_told && is_prior && !key.is_of_protocol() {
                continue;
            }
            let value = Value {
                key: key.clone(),
                number: self.number(*at),
                interval: None,
            };
            let value = values
                .iter()
                .find(|told| told.key == *key)
                .unwrap_or(&value);
            value.write(
                &mut system,
                topology,
                if is_told { &origin } else { &untold },
            );
        }
        if let Some(split) = self.choice.split {
            write_split(&mut system, split);
        }
        if let Some(g5) = &mut system.g5 {
            // A protocol that is not of the form would run wherever the system is simulated.
            if !self.choice.protocols.contains(&Protocol::Ll) {
                g5.ll = None;
            }
            if !self.choice.protocols.contains(&Protocol::Ll128) {
                g5.ll128 = None;
            }
        }
        system
    }

    /// Says which form was chosen.
    fn said(&self) -> String {
        let split = match self.choice.split {
            Some(SplitSpec::All) => "messages go over all engines, whatever their size".to_owned(),
            Some(SplitSpec::Per(size)) => format!("messages go over one engine per {size}"),
            None => {
                return "over how many engines a message goes was not searched: the runs are \
                            too large"
                    .to_owned();
            }
        };
        let protocols: Vec<&str> = self.choice.protocols.iter().map(|it| it.name()).collect();
        format!(
            "{split}, under {}: the best of the forms searched",
            protocols.join(", ")
        )
    }
}
