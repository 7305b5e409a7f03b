//! What a model can check by itself (FACTS E.7): times that no run of an algorithm can take.
//!
//! For the results of a simulator, a broken rule is a bug in its schedule or its links. For a
//! measurement it says that another algorithm ran, that the system is described wrongly, or that
//! the size changed its protocol. Rules on the noise of measurements are not here: they need the
//! samples.

use crate::Plan;
use std::fmt;
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec, Micros};

/// A time that cannot be, with what it was held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Oddity {
    /// Below what no algorithm undercuts (FACTS B.0).
    BelowBound {
        /// M.
        bytes: Bytes,
        /// The time.
        time: Micros,
        /// The bound, software included.
        bound: Micros,
    },
    /// Outside of what a ring takes, 2(N-1) max(C, h) to 2(N-1)(C + h) (FACTS B.2).
    OutsideRing {
        /// M.
        bytes: Bytes,
        /// The time.
        time: Micros,
        /// The least, with everything forwarded at once.
        least: Micros,
        /// The most, with whole messages forwarded.
        most: Micros,
    },
    /// A bus bandwidth above the wire without reduction in the switch.
    AboveWire {
        /// M.
        bytes: Bytes,
        /// The bus bandwidth.
        busbw: GbPerSec,
        /// The wire rate of a rank's links together.
        wire: GbPerSec,
    },
    /// A larger message takes less: a change of protocol, or noise.
    Falling {
        /// The smaller size and its time.
        smaller: (Bytes, Micros),
        /// The larger size and its time.
        larger: (Bytes, Micros),
    },
    /// An `AllReduce` that is not its two halves, but for one call and one hop.
    NotItsHalves {
        /// M.
        bytes: Bytes,
        /// The time of `AllReduce`.
        time: Micros,
        /// `ReduceScatter` and `AllGather` together, with one call's software.
        halves: Micros,
    },
    /// The same time for all N where the steps grow with N: chunks are too large.
    SameForAllRanks {
        /// M.
        bytes: Bytes,
        /// Largest time over smallest, less 1.
        spread: f64,
        /// What it should be.
        expected: f64,
    },
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BelowBound { bytes, time, bound } => {
                write!(f, "{bytes} in {time}: no algorithm takes less than {bound}")
            }
            Self::OutsideRing {
                bytes,
                time,
                least,
                most,
            } => write!(f, "{bytes} in {time}: a ring takes {least} to {most}"),
            Self::AboveWire { bytes, busbw, wire } => write!(
                f,
                "{bytes} at a bus bandwidth of {busbw}: the wire has {wire}, so a switch reduces or the \
                 factor is wrong"
            ),
            Self::Falling { smaller, larger } => write!(
                f,
                "{} in {}, {} in {}: a change of protocol, or noise",
                smaller.0, smaller.1, larger.0, larger.1
            ),
            Self::NotItsHalves {
                bytes,
                time,
                halves,
            } => write!(f, "{bytes}: AllReduce in {time}, its halves in {halves}"),
            Self::SameForAllRanks {
                bytes,
                spread,
                expected,
            } => write!(
                f,
                "{bytes}: {:.1} % between the numbers of ranks, not {:.1} %",
                100.0 * spread,
                100.0 * expected
            ),
        }
    }
}

/// Returns what is odd about a series of sizes, ascending, against a plan of the call that ran.
/// A rule is broken by more than the tolerance, a share of the time: rounding for simulators, noise
/// for measurements.
///
/// ```
/// use tier6_collective::{Algorithm, Collective};
/// use tier6_math::{Oddity, Parameters, Plan, oddities};
/// use tier6_units::{Bytes, Micros};
///
/// let h100 = tier6_system::preset("h100-x8").unwrap().resolve().unwrap();
/// let parameters = Parameters::of(&h100);
/// let ring = Plan::new(&h100, Collective::AllReduce, Algorithm::Ring, 8, &parameters)?;
/// // 483 GB/s of bus bandwidth are no ring's: NVLS ran.
/// let odd = oddities(&ring, &[(Bytes::new(1 << 30), Micros::new(3890.0))], 0.01);
/// assert!(odd.iter().any(|odd| matches!(odd, Oddity::OutsideRing { .. })));
/// # Ok::<(), tier6_math::PlanError>(())
/// ```
pub fn oddities(plan: &Plan, series: &[(Bytes, Micros)], tolerance: f64) -> Vec<Oddity> {
    let mut odd = Vec::new();
    let is_less = |a: f64, b: f64| a < b * (1.0 - tolerance);
    for (bytes, time) in series {
        let (bytes, us) = (*bytes, time.get());
        let software = plan.prices().software.get();
        let bound = Micros::new(plan.bound(bytes).time().get() + plan.parts(bytes).software.get());
        if is_less(us, bound.get()) {
            let time = *time;
            odd.push(Oddity::BelowBound { bytes, time, bound });
        }
        if let Some((least, most)) = plan.ring_bracket(bytes)
            && (is_less(us, least.get()) || is_less(most.get(), us))
        {
            odd.push(Oddity::OutsideRing {
                bytes,
                time: *time,
                least,
                most,
            });
        }
        if let Some(wire) = plan.wire()
            && let Some(algbw) = GbPerSec::from_transfer(bytes, Micros::new(us - software))
        {
            let busbw = algbw.scaled(plan.collective().bus_factor(plan.ranks()));
            if is_less(wire.get(), busbw.get()) {
                odd.push(Oddity::AboveWire { bytes, busbw, wire });
            }
        }
    }
    let falling = series.windows(2).filter(|pair| {
        let [smaller, larger] = [pair[0], pair[1]];
        smaller.0 < larger.0 && is_less(larger.1.get(), smaller.1.get())
    });
    odd.extend(falling.map(|pair| Oddity::Falling {
        smaller: pair[0],
        larger: pair[1],
    }));
    odd
}

/// Returns whether an `AllReduce` is odd against its halves on the same ranks: it takes as long as
/// both, less one call's software, give or take one hop.
///
/// # Panics
///
/// When the plan is not of an `AllReduce`.
pub fn against_its_halves(
    all_reduce: &Plan,
    bytes: Bytes,
    time: Micros,
    [reduce_scatter, all_gather]: [Micros; 2],
    tolerance: f64,
) -> Option<Oddity> {
    assert_eq!(all_reduce.collective(), Collective::AllReduce);
    let software = all_reduce.prices().software.get();
    let halves = reduce_scatter.get() + all_gather.get() - software;
    let hop = all_reduce.neighbour_steps().into_iter().map(Micros::get);
    let slack = hop.fold(0.0, f64::max) + tolerance * halves;
    ((time.get() - halves).abs() > slack).then_some(Oddity::NotItsHalves {
        bytes,
        time,
        halves: Micros::new(halves),
    })
}

/// Returns whether times of one size on several N are odd: alike within the tolerance, where the
/// plans differ by more than three times that.
pub fn over_ranks(bytes: Bytes, calls: &[(&Plan, Micros)], tolerance: f64) -> Option<Oddity> {
    let spread = |times: &mut dyn Iterator<Item = f64>| {
        let (least, most) = times.fold((f64::INFINITY, 0.0), |(least, most), us| {
            (f64::min(least, us), f64::max(most, us))
        });
        most / least - 1.0
    };
    let found = spread(&mut calls.iter().map(|(_, time)| time.get()));
    let expected = spread(&mut calls.iter().map(|(plan, _)| plan.time(bytes).get()));
    let is_odd = found <= tolerance && expected > 3.0 * tolerance;
    is_odd.then_some(Oddity::SameForAllRanks {
        bytes,
        spread: found,
        expected,
    })
}
