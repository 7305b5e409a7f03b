//! Closed forms on a network where every rank has one port of rate B and nobody shares a link.
//!
//! Each function is one law: its documentation names the source, the units are those of its
//! types (bytes, microseconds, decimal GB/s), and its domain is what it does not refuse. What
//! shares links on a real graph is the business of [`LinkLoads`](crate::LinkLoads); the engine's
//! plans equal these laws on a crossbar, which a test holds.

mod bidir_ring;
mod doubling;
mod exchange;
mod hierarchy;
mod in_switch;
mod point_to_point;
mod ring;
mod torus;
mod tree;

pub use bidir_ring::{Egress, bidir_ring};
pub use doubling::{halving_doubling, recursive_doubling};
pub use exchange::{bruck, direct, one_shot, pairwise, pat, ring_contention, two_shot};
pub use hierarchy::{Hierarchy, Overlap, all_to_all_across, flat_ring_rate, hierarchical};
pub use in_switch::{InSwitch, nvls, nvls_rate, nvls_sharp, nvls_tree, sharp};
pub use point_to_point::point_to_point;
pub use ring::{ring, send_recv_ring};
pub use torus::{swing, torus_bucket};
pub use tree::{best_pieces, binomial, chain, double_binary_tree, scatter_all_gather};

pub(crate) use hierarchy::overlapped;

use crate::Parts;
use thiserror::Error;
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec, Micros};

/// α, B and γ: what one dependent message costs on one port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    pub(crate) alpha_us: f64,
    pub(crate) us_per_byte: f64,
    pub(crate) reduce_us_per_byte: f64,
}

/// Why a law does not apply, and what to use instead.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LawError {
    /// Nobody to talk to.
    #[error("{ranks} ranks; hint: a collective starts at 2 ranks")]
    Ranks {
        /// N.
        ranks: u32,
    },
    /// The law holds for powers of two.
    #[error("{law} holds for powers of two, not {ranks} ranks; hint: {hint}")]
    NeedsPowerOfTwo {
        /// The law.
        law: &'static str,
        /// N.
        ranks: u32,
        /// What else would do.
        hint: &'static str,
    },
    /// The law holds for even numbers.
    #[error("{law} holds for even numbers, not {ranks} ranks; hint: {hint}")]
    NeedsEven {
        /// The law.
        law: &'static str,
        /// N.
        ranks: u32,
        /// What else would do.
        hint: &'static str,
    },
    /// The law does not compute the collective.
    #[error("{law} has no form for `{collective}`; hint: {hint}")]
    NotOffered {
        /// The law.
        law: &'static str,
        /// The collective.
        collective: Collective,
        /// What else would do.
        hint: &'static str,
    },
    /// A rate that moves nothing, or not a number.
    #[error("a rate of {0} GB/s; hint: rates are finite and above 0")]
    Rate(f64),
    /// A share of a rate that is none.
    #[error("a payload share of {0}; hint: shares are finite and above 0")]
    Share(f64),
    /// A negative time, or not a number.
    #[error("a time of {0} us; hint: times are finite and 0 or more")]
    Time(f64),
    /// No piece.
    #[error("0 pieces; hint: a message is at least one piece")]
    Pieces,
    /// The ranks do not make whole nodes, or there is one node.
    #[error("{nodes} nodes of {per_node} ranks; hint: {hint}")]
    Nodes {
        /// n.
        nodes: u32,
        /// g.
        per_node: u32,
        /// What else would do.
        hint: &'static str,
    },
    /// A torus without extent.
    #[error("torus {0:?}; hint: give at least one dimension, each 2 or more")]
    Torus(Vec<u32>),
    /// Slices of no byte.
    #[error("slices of 0 bytes; hint: use whole messages or a slice of at least 1 byte")]
    EmptySlice,
}

impl Wire {
    /// Wraps α and B; reductions cost nothing.
    ///
    /// # Errors
    ///
    /// When α is negative, B is not above 0, or either is not finite.
    pub fn new(alpha: Micros, rate: GbPerSec) -> Result<Self, LawError> {
        Ok(Self {
            alpha_us: time(alpha)?,
            us_per_byte: us_per_byte(rate)?,
            reduce_us_per_byte: 0.0,
        })
    }

    /// Returns the same with reductions at a rate, 1/γ.
    ///
    /// # Errors
    ///
    /// When the rate is not above 0.
    pub fn with_reduction(self, rate: GbPerSec) -> Result<Self, LawError> {
        Ok(Self {
            reduce_us_per_byte: us_per_byte(rate)?,
            ..self
        })
    }

    /// Returns `steps` messages in a row that carry `sent` bytes and leave `reduced` bytes to
    /// add, all in all.
    fn sum(&self, steps: f64, sent: f64, reduced: f64) -> Parts {
        Parts {
            latency: Micros::new(steps * self.alpha_us),
            transfer: Micros::new(sent * self.us_per_byte),
            reduction: Micros::new(reduced * self.reduce_us_per_byte),
            ..Parts::ZERO
        }
    }
}

/// Returns microseconds per byte.
pub(crate) fn us_per_byte(rate: GbPerSec) -> Result<f64, LawError> {
    let gb_per_s = rate.get();
    if gb_per_s > 0.0 && gb_per_s.is_finite() {
        Ok(1.0 / (gb_per_s * 1e3))
    } else {
        Err(LawError::Rate(gb_per_s))
    }
}

pub(crate) fn time(time: Micros) -> Result<f64, LawError> {
    let us = time.get();
    if us >= 0.0 && us.is_finite() {
        Ok(us)
    } else {
        Err(LawError::Time(us))
    }
}

/// Returns N as a float.
fn at_least_two(ranks: u32) -> Result<f64, LawError> {
    if ranks < 2 {
        return Err(LawError::Ranks { ranks });
    }
    Ok(f64::from(ranks))
}

/// Returns ceil(lg N), N at least 1.
pub(crate) fn levels(ranks: u32) -> f64 {
    f64::from(ranks.max(1).next_power_of_two().ilog2())
}

/// Returns (N-1)/N M: what one phase of a reduction or a gather must move.
fn phase(ranks: f64, bytes: Bytes) -> f64 {
    (ranks - 1.0) / ranks * bytes.as_f64()
}

/// Returns the phases of a collective that is ReduceScatter, AllGather or both: how many, and
/// how many of them reduce.
fn phases(law: &'static str, collective: Collective) -> Result<(f64, f64), LawError> {
    match collective {
        Collective::AllReduce => Ok((2.0, 1.0)),
        Collective::ReduceScatter => Ok((1.0, 1.0)),
        Collective::AllGather => Ok((1.0, 0.0)),
        Collective::AllToAll
        | Collective::AllToAllV
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => Err(LawError::NotOffered {
            law,
            collective,
            hint: "it is for all_reduce, reduce_scatter and all_gather",
        }),
    }
}
