//! A plan: a collective, an algorithm and ranks on a topology, ready to price any message size.
//!
//! Everything that does not depend on the size is done once: traffic, routes, link loads. What
//! is left is a small [`Cost`], so that pricing a size allocates nothing.

mod basis;
mod compile;
mod cost;
mod peers;

use crate::bounds::{Adder, Bound, lower_bound};
use crate::law::{LawError, Wire};
use crate::{LinkLoads, NoSwitchError, Parts};
pub(crate) use basis::BasisRange;
use cost::Cost;
use thiserror::Error;
use tier6_collective::{Algorithm, BuildError, Collective};
use tier6_system::LinkId;
use tier6_units::{Bytes, Micros};

/// Prices messages of any size for one collective and algorithm on one system.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) collective: Collective,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) ranks: u32,
    software: Micros,
    cost: Cost,
    loads: LinkLoads,
    limit: Limit,
    pub(crate) basis: BasisRange,
}

/// What bounds the call from below, whatever the algorithm does.
#[derive(Debug, Clone, Copy)]
struct Limit {
    wire: Wire,
    ports: u32,
    adder: Adder,
}

/// What limits a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bottleneck {
    /// The fixed time of the call.
    Software,
    /// Steps and hops.
    Latency,
    /// The bytes on this link, or on the port that it stands for.
    Link(LinkId),
    /// Other ranks' bytes on this link.
    Contention(LinkId),
    /// The rate of in-switch reduction, below that of the links.
    InSwitch,
    /// Adding up.
    Reduction,
}

/// Why there is no prediction, and what to do instead.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// The algorithm, its options or N do not fit.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A parameter is outside the domain of the laws.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The topology lacks the switch.
    #[error(transparent)]
    NoSwitch(#[from] NoSwitchError),
    /// More ranks than places.
    #[error("{ranks} ranks on `{system}`, which has {places} places for them; hint: {hint}")]
    Places {
        /// N.
        ranks: u32,
        /// The system.
        system: String,
        /// What it can hold.
        places: u32,
        /// What would do.
        hint: &'static str,
    },
    /// The system does not do it.
    #[error("`{algorithm}` on `{system}`: {lacks}; hint: {hint}")]
    Lacks {
        /// The algorithm.
        algorithm: Algorithm,
        /// The system.
        system: String,
        /// What is missing.
        lacks: &'static str,
        /// What would do.
        hint: &'static str,
    },
}

impl Plan {
    /// Returns the predicted time of a message by its parts.
    pub fn parts(&self, bytes: Bytes) -> Parts {
        self.cost.parts(bytes.as_f64(), self.software.get())
    }

    /// Returns the predicted time of a message.
    pub fn time(&self, bytes: Bytes) -> Micros {
        self.parts(bytes).total()
    }

    /// Returns the loads, by which the bandwidth term was computed.
    pub fn loads(&self) -> &LinkLoads {
        &self.loads
    }

    /// Returns the bound that no prediction undercuts (FACTS B.0), for the ranks' payload rate
    /// over all their links and the shortest route in use.
    ///
    /// # Panics
    ///
    /// Never: a plan has at least 2 ranks.
    pub fn bound(&self, bytes: Bytes) -> Bound {
        let limit = &self.limit;
        lower_bound(
            self.collective,
            self.ranks,
            bytes,
            &limit.wire,
            limit.ports,
            limit.adder,
        )
        .expect("Invariant: a plan has at least 2 ranks")
    }

    /// Returns the pipelined floor: how long the link with the most to carry is busy.
    pub fn floor(&self, bytes: Bytes) -> Micros {
        Micros::new(bytes.as_f64() * self.loads.floor_us_per_byte)
    }

    /// Returns what limits a message: its largest part.
    pub fn bottleneck(&self, bytes: Bytes) -> Bottleneck {
        let parts = self.parts(bytes);
        let link = self.loads.busiest;
        let transfer = match link {
            Some(link) if !self.cost.is_in_switch(bytes.as_f64()) => Bottleneck::Link(link),
            _ => Bottleneck::InSwitch,
        };
        let stall = link.map_or(Bottleneck::Latency, Bottleneck::Contention);
        let candidates = [
            (parts.software, Bottleneck::Software),
            (parts.latency, Bottleneck::Latency),
            (parts.transfer, transfer),
            (parts.stall, stall),
            (parts.reduction, Bottleneck::Reduction),
        ];
        let mut largest = candidates[0];
        for candidate in candidates {
            if candidate.0.get() > largest.0.get() {
                largest = candidate;
            }
        }
        largest.1
    }
}
