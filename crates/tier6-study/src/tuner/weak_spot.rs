//! Where a plan is slower than something that was measured: the path was not known there, or
//! may not be written.
//!
//! A row reaches from its first size to its last whatever was measured between, so a plan from too
//! few runs can be far from the best without any of its own measurements showing it.

use super::attribution::tolerance;
use super::contender::Way;
use super::measured::Measured;
use tier6_units::Bytes;

/// Sizes in a row at which one thing is faster than the plan, beyond noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeakSpot {
    /// First measured size.
    pub first: Bytes,
    /// Last measured size.
    pub last: Bytes,
    /// What is faster; `None` for NCCL's own choice in runs without force.
    pub faster: Option<Way>,
    /// By how much the row is slower, the largest of these sizes, in percent; `None` when its
    /// path was not measured at any of them.
    pub pct: Option<f64>,
}

/// Returns the weak spots of a plan: `ln_us` returns ln of its time at a size.
pub(crate) fn weak_spots(measured: &Measured, ln_us: impl Fn(u64) -> Option<f64>) -> Vec<WeakSpot> {
    let mut spots: Vec<WeakSpot> = Vec::new();
    let mut before_is_weak = false;
    for bytes in measured.sizes() {
        let others = measured
            .contenders
            .iter()
            .filter_map(|c| Some((c.known.get(&bytes)?.ln_us, Some(c.way))));
        let own = measured.own.get(&bytes).map(|level| (level.ln_us, None));
        let best = others.chain(own).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((best, faster)) = best else {
            continue;
        };
        let behind = ln_us(bytes).map(|ln_us| ln_us - best);
        if behind.is_some_and(|behind| behind <= tolerance(&measured.noise, bytes)) {
            before_is_weak = false;
            continue;
        }
        let pct = behind.map(|behind| (behind.exp() - 1.0) * 100.0);
        match spots.last_mut() {
            Some(spot) if before_is_weak && spot.faster == faster => {
                spot.last = Bytes::new(bytes);
                spot.pct = match (spot.pct, pct) {
                    (Some(old), Some(new)) => Some(old.max(new)),
                    (old, new) => old.or(new),
                };
            }
            _ => spots.push(WeakSpot {
                first: Bytes::new(bytes),
                last: Bytes::new(bytes),
                faster,
                pct,
            }),
        }
        before_is_weak = true;
    }
    spots
}
