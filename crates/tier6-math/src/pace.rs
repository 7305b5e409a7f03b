//! The pace of a pipeline: FACTS B.2's max law, for steps that need not be alike.
//!
//! A rank sends slice j of step k + 1 when slice j of step k has arrived and its previous send is
//! over. With C the time of a chunk, s/B that of a slice and l + o that of a hop, a step takes
//! max(C, h), h = l + o + s/B, and after the last one the tail is l + o when C >= h, else
//! C - s/B. A reduction that keeps up is hidden; one that does not sets the pace.

use crate::Parts;
use tier6_units::Micros;

/// Steps that are alike; times in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) repeat: f64,
    /// C, with all that shares the links.
    pub(crate) chunk: f64,
    /// C with nothing else on the links.
    pub(crate) own: f64,
    /// s/B; the whole chunk makes the law a sum.
    pub(crate) slice: f64,
    /// l + o.
    pub(crate) hop: f64,
    /// The reduction of a chunk.
    pub(crate) reduction: f64,
}

/// Returns the time of steps one after the other.
pub(crate) fn stream(steps: impl Iterator<Item = Pace>) -> Parts {
    let mut tail = 0.0;
    let [mut latency, mut transfer, mut reduction, mut stall] = [0.0; 4];
    for step in steps {
        let hop = step.hop + step.slice;
        let moving = step.chunk.max(hop);
        transfer += step.repeat * step.own;
        stall += step.repeat * (step.chunk - step.own);
        latency += step.repeat * (moving - step.chunk);
        reduction += step.repeat * (step.reduction - moving).max(0.0);
        tail = if step.chunk >= hop {
            step.hop
        } else {
            step.chunk - step.slice
        };
    }
    Parts {
        software: Micros::new(0.0),
        latency: Micros::new(latency + tail),
        transfer: Micros::new(transfer),
        reduction: Micros::new(reduction),
        stall: Micros::new(stall),
    }
}
