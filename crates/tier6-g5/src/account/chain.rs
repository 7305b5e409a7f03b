//! Chains of causes: why something happens now and not earlier.
//!
//! Whatever lets a transfer start or go on is the last of the things that it waited for, so the
//! event that lets it is its cause. A chain carries where the time went from the beginning of the
//! run until now, in parts that sum to the time exactly; the chain of the last completion is the
//! critical path. Steps are written to a log when the run keeps them.

use std::num::NonZeroU32;

use tier6_collective::TransferId;
use tier6_units::SimTime;

use crate::Parts;

/// Where the time went until an instant, and the last step on the way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Chain {
    pub(crate) parts: Parts,
    pub(crate) step: Option<StepId>,
}

/// A line of the log, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepId(NonZeroU32);

/// What a span would take on an empty network.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nominal {
    pub(crate) latency: SimTime,
    pub(crate) transfer: SimTime,
    pub(crate) reduce: SimTime,
}

/// One step: a transfer, and when what it waited for had happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) before: Option<StepId>,
    pub(crate) job: u32,
    pub(crate) transfer: TransferId,
    pub(crate) ready: SimTime,
}

/// The steps of a run.
#[derive(Debug, Default)]
pub(crate) struct PathLog {
    /// `None` when steps are not kept.
    steps: Option<Vec<Step>>,
}

impl Chain {
    /// Returns the chain `span` later, when that would have taken `nominal`; the rest is stall.
    pub(crate) fn after(self, span: SimTime, nominal: Nominal) -> Self {
        let mut left = span;
        let mut take = |most: SimTime| {
            let taken = left.min(most);
            left = left - taken;
            taken
        };
        let mut parts = self.parts;
        parts.latency += take(nominal.latency);
        parts.transfer += take(nominal.transfer);
        parts.reduce += take(nominal.reduce);
        parts.stall += left;
        Self { parts, ..self }
    }

    /// Returns the chain `span` later, all of it latency.
    pub(crate) fn after_latency(self, span: SimTime) -> Self {
        let nominal = Nominal {
            latency: span,
            ..Nominal::default()
        };
        self.after(span, nominal)
    }
}

impl PathLog {
    pub(crate) fn kept() -> Self {
        Self {
            steps: Some(Vec::new()),
        }
    }

    /// Writes a step down, behind the one that a chain ends with.
    pub(crate) fn add(&mut self, step: Step) -> Option<StepId> {
        let steps = self.steps.as_mut()?;
        let number = u32::try_from(steps.len() + 1).ok()?;
        steps.push(step);
        NonZeroU32::new(number).map(StepId)
    }

    /// Returns the steps that end with `last`, first step first.
    pub(crate) fn steps_to(&self, last: Option<StepId>) -> Vec<Step> {
        let Some(steps) = &self.steps else {
            return Vec::new();
        };
        let step = |id: StepId| steps[id.0.get() as usize - 1];
        let mut path: Vec<Step> =
            std::iter::successors(last.map(step), |later| later.before.map(step)).collect();
        path.reverse();
        path
    }
}

impl Parts {
    /// Returns the sum.
    pub fn total(&self) -> SimTime {
        [
            self.software,
            self.latency,
            self.transfer,
            self.reduce,
            self.stall,
        ]
        .into_iter()
        .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_span_whatever_was_expected() {
        let nominal = Nominal {
            latency: SimTime::from_ps(30),
            transfer: SimTime::from_ps(50),
            reduce: SimTime::from_ps(5),
        };
        for span in [0, 10, 30, 60, 80, 83, 85, 200] {
            let span = SimTime::from_ps(span);
            let chain = Chain::default().after(span, nominal);
            assert_eq!(chain.parts.total(), span);
        }
        let chain = Chain::default().after(SimTime::from_ps(100), nominal);
        assert_eq!(chain.parts.stall, SimTime::from_ps(15));
        assert_eq!(chain.parts.transfer, SimTime::from_ps(50));
    }
}
