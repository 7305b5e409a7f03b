//! The time of a message as a sum of prices, each times how much of it the message needs.
//!
//! T = software x `T_sw` + sum over tiers of steps x step + sum over link classes of wire time over
//! payload share + what in-switch reduction needs + what no price changes. Every law of a plan is of this
//! form between the points where another link, tier, stage or branch becomes the slowest, so the
//! derivatives of T are these numbers: a calibration needs no differences and no routes.

use super::cost::{Cost, Linear, cut};
use super::outline::{Form, Outline, Route};
use super::prices::{Prices, StepTariff, Tariff};
use crate::law::Overlap;
use crate::loads::{ClassLoad, StepLoad};
use tier6_system::LinkClassId;
use tier6_units::Micros;

/// How much of each price a message needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Times `T_sw`: 1, or 0 where α of in-switch reduction contains it.
    pub software: f64,
    /// Times the step between neighbours, by tier. Zero where routes set the price of a step
    /// ([`StepPrices::Routes`](crate::StepPrices)): those are in `fixed_us`.
    pub steps: Vec<f64>,
    /// Microseconds at the wire rate, by [`LinkClassId`]: divided by the payload share they are
    /// time.
    pub wire_us: Vec<f64>,
    /// Times α of NVLS.
    pub nvls_alpha: f64,
    /// Bytes at the rate of NVLS.
    pub nvls_bytes: f64,
    /// Times α of SHARP.
    pub sharp_alpha: f64,
    /// Class of a node's NICs and microseconds at their wire rate: divided by the payload share
    /// and the efficiency of SHARP they are time.
    pub sharp_wire_us: Option<(LinkClassId, f64)>,
    /// Microseconds that depend on no price: reduction, and what routes are longer than those of
    /// neighbours.
    pub fixed_us: f64,
}

impl Terms {
    fn none(n_tiers: usize, n_classes: usize) -> Self {
        Self {
            software: 0.0,
            steps: vec![0.0; n_tiers],
            wire_us: vec![0.0; n_classes],
            nvls_alpha: 0.0,
            nvls_bytes: 0.0,
            sharp_alpha: 0.0,
            sharp_wire_us: None,
            fixed_us: 0.0,
        }
    }

    /// Returns the sum at some prices. A price that is needed and not there counts nothing.
    pub fn time(&self, prices: &Prices) -> Micros {
        let mut time = self.fixed_us + self.software * prices.software.get();
        if let crate::StepPrices::Neighbours(steps) = &prices.steps {
            let steps = self.steps.iter().zip(steps);
            time += steps
                .map(|(count, step)| count * step.map_or(0.0, Micros::get))
                .sum::<f64>();
        }
        let wires = self.wire_us.iter().zip(&prices.payload);
        time += wires.map(|(us, payload)| us / payload).sum::<f64>();
        if let Some(nvls) = prices.nvls {
            time += self.nvls_alpha * nvls.alpha.get();
            time += self.nvls_bytes / (nvls.rate.get() * 1e3);
        }
        if let Some(sharp) = prices.sharp {
            time += self.sharp_alpha * sharp.alpha.get();
            if let Some((class, us)) = self.sharp_wire_us {
                time += us / (prices.payload[class.index()] * sharp.efficiency);
            }
        }
        Micros::new(time)
    }
}

/// Terms under construction, with all that says which branch is taken.
struct Sum<'a> {
    outline: &'a Outline,
    tariff: &'a Tariff,
    terms: Terms,
}

impl Outline {
    /// Returns the terms of a message, by the branches that its cost takes.
    pub(super) fn terms(
        &self,
        prices: &Prices,
        tariff: &Tariff,
        cost: &Cost,
        message: f64,
    ) -> Terms {
        let bytes = tariff.carried(message);
        let mut sum = Sum {
            outline: self,
            tariff,
            terms: Terms::none(self.neighbours.len(), self.efficiency.len()),
        };
        sum.terms.software = 1.0;
        match (cost, self.form) {
            (Cost::Faster(both), _) => {
                let [nvls, ring] = [&both[0], &both[1]];
                let time = |cost: &Cost| cost.parts(message, tariff).total().get();
                match &self.ring {
                    Some(outline) if time(ring) < time(nvls) => {
                        return outline.terms(prices, tariff, ring, message);
                    }
                    _ => return self.terms(prices, tariff, nvls, message),
                }
            }
            (Cost::Sum(_), Form::Sum { route, flights }) => {
                for step in &self.loads.steps {
                    sum.step(step, route, flights, bytes);
                }
            }
            (Cost::Stream { slice, .. }, _) => sum.stream(*slice, bytes),
            (
                Cost::Pieces {
                    first,
                    next,
                    pieces,
                },
                Form::Pieces { route, .. },
            ) => {
                let (piece, k) = cut(bytes, *pieces, first, next);
                for step in &self.loads.steps {
                    sum.step(step, route, 0.0, piece);
                }
                sum.floor(bytes - piece);
                sum.terms.fixed_us += (k - 1.0) * next.latency;
            }
            (
                Cost::Stages {
                    stages,
                    floor,
                    overlap,
                },
                _,
            ) => sum.stages(stages, floor, *overlap, bytes),
            (Cost::InSwitch { .. }, form) => sum.in_switch(form, cost, prices, message),
            (Cost::Sum(_) | Cost::Pieces { .. }, _) => {
                unreachable!("Invariant: sums and pieces come from forms of their own")
            }
        }
        sum.terms
    }
}

impl Sum<'_> {
    /// Adds `times` the latency of a step.
    fn hop(&mut self, step: &StepLoad, route: Route, flights: f64, times: f64, is_piped: Own) {
        let own = |pipelined: f64, standalone: f64| match is_piped {
            Own::Pipelined => pipelined,
            Own::Standalone => standalone,
        };
        let hop = self.outline.hop(step, route, flights, own, self.tariff);
        let mut priced = 0.0;
        if let StepTariff::Neighbours(steps) = &self.tariff.steps {
            for (tier, part, _) in self.outline.neighbour_parts(step, route, steps) {
                self.terms.steps[tier as usize] += times * part;
                priced += part * steps[tier as usize];
            }
        }
        self.terms.fixed_us += times * (hop - priced);
    }

    /// Adds the transfer of a message of so many bytes in all over the slowest of the links.
    fn wire(&mut self, classes: &[ClassLoad], bytes: f64) {
        let (outline, stretch) = (self.outline, &self.tariff.stretch);
        let classes = classes.iter();
        let classes = classes.map(|class| (class.class, class.us_per_byte));
        let mut slowest: Option<(LinkClassId, f64)> = None;
        for (class, us_per_byte) in classes.chain(outline.inside) {
            let time = |(class, us): (LinkClassId, f64)| stretch[class.index()] * us;
            if slowest.is_none_or(|known| time((class, us_per_byte)) > time(known)) {
                slowest = Some((class, us_per_byte));
            }
        }
        if let Some((class, us_per_byte)) = slowest {
            self.on_wire(class, us_per_byte * bytes);
        }
    }

    /// Adds microseconds at a class's own payload rate.
    fn on_wire(&mut self, class: LinkClassId, us: f64) {
        let efficiency = self.outline.efficiency[class.index()];
        self.terms.wire_us[class.index()] += us * efficiency;
    }

    /// Adds all steps that are alike.
    fn step(&mut self, step: &StepLoad, route: Route, flights: f64, bytes: f64) {
        let repeat = f64::from(step.repeat);
        self.hop(step, route, flights, repeat, Own::Standalone);
        self.bytes_of(step, repeat * bytes);
    }

    /// Adds transfer and reduction of a step.
    fn bytes_of(&mut self, step: &StepLoad, bytes: f64) {
        self.wire(&step.classes, bytes);
        self.terms.fixed_us += step.reduced * self.outline.gamma * bytes;
    }

    /// Adds what the busiest link and the busiest rank need for so many bytes.
    fn floor(&mut self, bytes: f64) {
        let outline = self.outline;
        self.wire(&outline.loads.classes, bytes);
        self.terms.fixed_us += outline.reduced * outline.gamma * bytes;
    }

    fn stream(&mut self, slice: f64, bytes: f64) {
        let steps = &self.outline.loads.steps;
        for (index, step) in steps.iter().enumerate() {
            let pace = self.outline.run(step, self.tariff).at(bytes, slice);
            let part = if pace.chunk > 0.0 {
                pace.slice / pace.chunk
            } else {
                0.0
            };
            let is_hidden = pace.chunk >= pace.hop + pace.slice;
            let is_reducing = pace.reduction > pace.chunk.max(pace.hop + pace.slice);
            match (is_reducing, is_hidden) {
                (true, _) => self.terms.fixed_us += pace.repeat * pace.reduction,
                (false, true) => self.wire(&step.classes, pace.repeat * bytes),
                (false, false) => {
                    self.hop(step, Route::Mean, 0.0, pace.repeat, Own::Pipelined);
                    self.wire(&step.classes, pace.repeat * bytes * part);
                }
            }
            if index + 1 == steps.len() {
                if is_hidden {
                    self.hop(step, Route::Mean, 0.0, 1.0, Own::Pipelined);
                } else {
                    self.wire(&step.classes, bytes * (1.0 - part));
                }
            }
        }
    }

    fn stages(&mut self, stages: &[Linear; 3], floor: &Linear, overlap: Overlap, bytes: f64) {
        let total = |line: &Linear, bytes: f64| line.at(bytes).total().get();
        let loads = &self.outline.loads;
        match overlap {
            Overlap::Serial => {
                for step in &loads.steps {
                    self.step(step, Route::Mean, 0.0, bytes);
                }
            }
            Overlap::Full => {
                for step in &loads.steps {
                    let repeat = f64::from(step.repeat);
                    self.hop(step, Route::Mean, 0.0, repeat, Own::Standalone);
                }
                let bytes_alone = |line: &Linear| Linear {
                    latency: 0.0,
                    ..*line
                };
                let alone = stages.map(|stage| total(&bytes_alone(&stage), bytes));
                self.longest(&alone, total(floor, bytes), 1.0, 0.0, bytes);
            }
            Overlap::Chunked(pieces) => {
                let k = f64::from(pieces.get());
                for step in &loads.steps {
                    self.step(step, Route::Mean, 0.0, bytes / k);
                }
                let piece = stages.map(|stage| total(&stage, bytes / k));
                let floor = total(floor, bytes / k);
                self.longest(&piece, floor, k - 1.0, k - 1.0, bytes / k);
            }
        }
    }

    /// Adds the longest of the stages, or the floor if that is longer: its bytes so many times and
    /// its latency so many.
    fn longest(&mut self, stages: &[f64; 3], floor: f64, times: f64, hops: f64, bytes: f64) {
        let mut longest = (0.0, None);
        for (stage, time) in stages.iter().enumerate() {
            if *time > longest.0 {
                longest = (*time, Some(stage));
            }
        }
        if floor > longest.0 {
            self.floor(times * bytes);
            return;
        }
        let steps = self.outline.loads.steps.iter();
        for step in steps.filter(|step| Some(step.stage) == longest.1) {
            let repeat = f64::from(step.repeat);
            self.hop(step, Route::Mean, 0.0, hops * repeat, Own::Standalone);
            self.bytes_of(step, times * repeat * bytes);
        }
    }

    fn in_switch(&mut self, form: Form, cost: &Cost, prices: &Prices, bytes: f64) {
        let outline = self.outline;
        let Cost::InSwitch {
            alpha,
            latency,
            us_per_byte,
            floor_us_per_byte,
        } = cost
        else {
            return;
        };
        // T = s + max(α - s, latency) with s the lesser of software and α, and trees in both.
        let is_call_longer = self.tariff.software > *alpha;
        let is_flight_longer = alpha - self.tariff.software.min(*alpha) < *latency;
        let is_alpha = is_call_longer || !is_flight_longer;
        if is_flight_longer {
            self.terms.fixed_us += outline.loads.least_latency.get();
        }
        if matches!(form, Form::NvlsTree) {
            let trees = f64::from(1 + u8::from(is_call_longer && is_flight_longer));
            let levels = trees * outline.tree_levels();
            if let (Some(step), _) = outline.across(self.tariff) {
                self.hop(step, Route::Longest, 0.0, levels, Own::Standalone);
            }
        }
        let is_sharp = matches!(form, Form::Sharp { .. });
        self.terms.software = f64::from(u8::from(!is_alpha));
        let alphas = f64::from(u8::from(is_alpha));
        let nvls_inside = match form {
            Form::Sharp { nvls, .. } => nvls.zip(prices.nvls),
            _ => None,
        };
        if is_sharp {
            self.terms.sharp_alpha = alphas;
            // One call's software for both.
            if let Some((_, nvls)) = nvls_inside
                && nvls.alpha.get() > self.tariff.software
            {
                self.terms.nvls_alpha = alphas;
                self.terms.software -= alphas;
            }
        } else {
            self.terms.nvls_alpha = alphas;
        }
        let inside = nvls_inside.map_or(0.0, |(share, nvls)| share / (nvls.rate.get() * 1e3));
        if us_per_byte < floor_us_per_byte {
            let reduced = self.terms.fixed_us;
            self.floor(bytes);
            // What switches add costs ranks nothing.
            self.terms.fixed_us = reduced;
        } else if let (Form::Sharp { class, rate, .. }, true) = (form, inside < *us_per_byte) {
            let efficiency = outline.efficiency[class.index()];
            self.terms.sharp_wire_us = Some((class, bytes / (rate * 1e3) * efficiency));
        } else if let Some(nvls) = prices.nvls {
            self.terms.nvls_bytes = bytes * us_per_byte * (nvls.rate.get() * 1e3);
        }
    }
}

/// Which of a rank's own costs a step has where routes set the price.
#[derive(Debug, Clone, Copy)]
enum Own {
    Pipelined,
    Standalone,
}
