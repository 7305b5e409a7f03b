//! What bounds a call from below, and a ring from both sides.

use super::{Form, Outline, Route};
use crate::bounds::Adder;
use crate::law::Wire;
use crate::plan::prices::{StepTariff, Tariff};
use crate::plan::{Limit, PlanError};
use tier6_collective::Algorithm;
use tier6_system::LinkClassId;
use tier6_units::{GbPerSec, Micros};

impl Outline {
    /// Returns what bounds the call from below.
    pub(in crate::plan) fn limit(&self, tariff: &Tariff) -> Result<Limit, PlanError> {
        let is_in_switch = match self.form {
            Form::Nvls { .. } | Form::NvlsTree | Form::Sharp { .. } => true,
            Form::Sum { .. } | Form::Stream { .. } | Form::Pieces { .. } | Form::Stages { .. } => {
                false
            }
        };
        let loads = self.shown_loads();
        let least = loads.least_latency.get();
        let alpha = match &tariff.steps {
            StepTariff::Routes { .. } if is_in_switch => least,
            StepTariff::Routes {
                pipelined,
                standalone,
            } => least + pipelined.min(*standalone),
            StepTariff::Neighbours(steps) => {
                let flights = loads.steps.iter().flat_map(|step| &step.tiers);
                let hop = flights.map(|flight| {
                    let at = flight.tier as usize;
                    steps[at] + self.longer(at, flight.least.get())
                });
                let hop = hop.fold(f64::INFINITY, f64::min);
                // A law of its own, whose α is no step's.
                let hop = if is_in_switch { hop.min(least) } else { hop };
                if hop.is_finite() { hop } else { 0.0 }
            }
        };
        let rate = |links: &Vec<(LinkClassId, f64)>| {
            let rates = links.iter();
            let rates = rates.map(|(class, rate)| rate / tariff.stretch[class.index()]);
            rates.sum::<f64>()
        };
        let fastest = self.injection.iter().map(rate).fold(0.0, f64::max);
        let mut wire = Wire::new(Micros::new(alpha), GbPerSec::new(fastest))?;
        wire.reduce_us_per_byte = self.gamma;
        Ok(Limit {
            wire,
            ports: loads.ports,
            adder: if is_in_switch {
                Adder::Network
            } else {
                Adder::Ranks
            },
        })
    }

    /// Returns the least and the most that the steps of a ring take.
    pub(in crate::plan) fn ring_bracket(&self, tariff: &Tariff, bytes: f64) -> Option<(f64, f64)> {
        let is_ring = matches!(self.algorithm, Some(Algorithm::Ring | Algorithm::BidirRing));
        let is_stepwise = matches!(self.form, Form::Sum { .. } | Form::Stream { .. });
        if !is_ring || !is_stepwise {
            return None;
        }
        let bytes = tariff.carried(bytes);
        let (mut least, mut most, mut last) = (0.0, 0.0, 0.0_f64);
        for step in &self.loads.steps {
            let run = self.run(step, tariff);
            let whole = self.hop(step, Route::Mean, 0.0, |_, standalone| standalone, tariff);
            let (chunk, added) = (run.chunk * bytes, run.reduction * bytes);
            let hops = [run.hop.min(whole), run.hop.max(whole)];
            least += run.repeat * chunk.max(hops[0]).max(added);
            most += run.repeat * (chunk + hops[1] + added);
            last = last.max(hops[1]);
        }
        Some((least, most + last))
    }

    /// Returns the wire rate of the best-connected rank; `None` where switches reduce.
    pub(in crate::plan) fn wire(&self) -> Option<GbPerSec> {
        if matches!(
            self.form,
            Form::Nvls { .. } | Form::NvlsTree | Form::Sharp { .. }
        ) {
            return None;
        }
        let wire = |links: &Vec<(LinkClassId, f64)>| {
            let rates = links.iter();
            let rates = rates.map(|(class, rate)| rate / self.efficiency[class.index()]);
            rates.sum::<f64>()
        };
        let fastest = self.injection.iter().map(wire).fold(0.0, f64::max);
        Some(GbPerSec::new(fastest))
    }
}
