//! A plan: a collective, an algorithm and ranks on a topology, ready to price any message size.
//!
//! Everything that does not depend on the size is done once: traffic, routes and link loads make an
//! [`Outline`], which with [`Prices`] makes a small [`Cost`], so that pricing a size allocates
//! nothing, and another protocol or another constant needs no routes.

mod basis;
mod compile;
mod cost;
mod neighbour;
mod outline;
mod peers;
mod prices;
mod terms;

use crate::bounds::{Adder, Bound, lower_bound};
use crate::law::{LawError, Wire};
use crate::{LinkLoads, NoSwitchError, Parameters, Parts};
pub(crate) use basis::BasisRange;
pub use compile::Planner;
use cost::Cost;
use outline::Outline;
use prices::Tariff;
pub use prices::{Prices, StepPrices};
use std::sync::Arc;
pub use terms::Terms;
use thiserror::Error;
use tier6_collective::{Algorithm, BuildError, Collective, Protocol};
use tier6_system::{LinkId, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Prices messages of any size for one collective and algorithm on one system.
#[derive(Debug, Clone)]
pub struct Plan {
    outline: Arc<Outline>,
    prices: Prices,
    tariff: Tariff,
    cost: Cost,
    limit: Limit,
    /// The pipelined floor, in microseconds per byte, and its link.
    floor: (f64, Option<LinkId>),
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
    /// Nobody knows what a step costs.
    #[error(
        "tier `{tier}` of `{system}` has no step time{}; hint: set `step` of its link class, or name no protocol",
        .protocol.map_or_else(String::new, |protocol| format!(" for `{protocol}`"))
    )]
    NoStep {
        /// The tier.
        tier: String,
        /// The system.
        system: String,
        /// The protocol.
        protocol: Option<Protocol>,
    },
    /// The protocol does not do it.
    #[error("`{algorithm}` runs `simple` alone, not `{protocol}`; hint: use simple")]
    Protocol {
        /// The algorithm.
        algorithm: Algorithm,
        /// The protocol.
        protocol: Protocol,
    },
}

impl Plan {
    fn of_outline(
        topology: &Topology,
        outline: Arc<Outline>,
        parameters: &Parameters,
    ) -> Result<Self, PlanError> {
        if let (Some(protocol), Some(algorithm)) = (parameters.protocol, outline.algorithm)
            && !outline.is_run_by(protocol)
        {
            return Err(PlanError::Protocol {
                algorithm,
                protocol,
            });
        }
        let protocol = parameters.protocol;
        let basis = BasisRange::of(topology, outline.shown_loads(), outline.algorithm, protocol);
        Self::priced(outline, Prices::of(topology, parameters), basis)
    }

    fn priced(outline: Arc<Outline>, prices: Prices, basis: BasisRange) -> Result<Self, PlanError> {
        let tariff = outline.tariff(&prices)?;
        Ok(Self {
            cost: outline.cost(&prices, &tariff)?,
            limit: outline.limit(&tariff)?,
            floor: outline.shown().floor(&tariff),
            outline,
            prices,
            tariff,
            basis,
        })
    }

    /// Returns the same call at other prices; no route is looked at again.
    ///
    /// What the prediction rests on stays that of the system: prices that a caller makes are the
    /// caller's.
    ///
    /// # Errors
    ///
    /// When a price is out of domain, or missing for a tier in use.
    ///
    /// # Panics
    ///
    /// When there are not as many payload shares as link classes.
    pub fn at(&self, prices: Prices) -> Result<Self, PlanError> {
        Self::priced(self.outline.clone(), prices, self.basis)
    }

    /// Returns the prices of the plan.
    pub const fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Returns the protocol that is priced, if any.
    pub const fn protocol(&self) -> Option<Protocol> {
        self.prices.protocol
    }

    /// Returns the collective.
    pub fn collective(&self) -> Collective {
        self.outline.collective
    }

    /// Returns the algorithm; `None` for a custom schedule.
    pub fn algorithm(&self) -> Option<Algorithm> {
        self.outline.algorithm
    }

    /// Returns N.
    pub fn ranks(&self) -> u32 {
        self.outline.ranks
    }

    /// Returns the time of a message as a sum over the prices, each times how much of it the
    /// message needs: what a calibration fits.
    ///
    /// The sum is exact at the plan's own prices, and at others as long as the same link, stage,
    /// tier or branch of the max law is the slowest; [`Plan::at`] is exact everywhere.
    ///
    /// ```
    /// use tier6_collective::{Algorithm, Collective, Protocol};
    /// use tier6_math::{Parameters, Plan};
    /// use tier6_units::Bytes;
    ///
    /// let h100 = tier6_system::preset("h100-x8").unwrap().resolve().unwrap();
    /// let parameters = Parameters {
    ///     protocol: Some(Protocol::Ll),
    ///     ..Parameters::of(&h100)
    /// };
    /// let ring = Plan::new(&h100, Collective::AllReduce, Algorithm::Ring, 8, &parameters)?;
    /// let terms = ring.terms(Bytes::new(1 << 20));
    /// assert_eq!(terms.software, 1.0);
    /// assert_eq!(terms.steps, [14.0]);
    /// // 1.75 MiB at the wire rate of 450 GB/s; LL has 0.82 x 0.5 of it.
    /// assert!((terms.wire_us[0] - 1.75 * 1048576.0 / 450e3).abs() < 1e-9);
    /// let difference = terms.time(ring.prices()).get() - ring.time(Bytes::new(1 << 20)).get();
    /// assert!(difference.abs() < 1e-9);
    /// # Ok::<(), tier6_math::PlanError>(())
    /// ```
    pub fn terms(&self, bytes: Bytes) -> Terms {
        let (prices, tariff) = (&self.prices, &self.tariff);
        self.outline
            .terms(prices, tariff, &self.cost, bytes.as_f64())
    }

    /// Returns between what times a ring takes, software included: by FACTS B.2 each step at least
    /// the longer of chunk and hop, at most both, and one hop at the end. `None` when no ring forwards.
    pub(crate) fn ring_bracket(&self, bytes: Bytes) -> Option<(Micros, Micros)> {
        let (least, most) = self.outline.ring_bracket(&self.tariff, bytes.as_f64())?;
        let software = self.tariff.software;
        Some((Micros::new(least + software), Micros::new(most + software)))
    }

    /// Returns the wire rate of the best-connected rank's links together; `None` where switches
    /// reduce, so that bus bandwidth may exceed it.
    pub(crate) fn wire(&self) -> Option<GbPerSec> {
        self.outline.wire()
    }

    /// Returns the rate that payload reaches on a link.
    pub(crate) fn payload_rate(&self, topology: &Topology, link: LinkId) -> GbPerSec {
        let link = topology.link(link);
        GbPerSec::new(link.payload_rate.get() / self.tariff.stretch[link.class.index()])
    }

    /// Returns the channels that a message takes and all that there are, when it takes fewer.
    pub(crate) fn few_channels(&self, bytes: Bytes) -> Option<(f64, f64)> {
        let all = f64::from(self.tariff.ramp?.channels.get());
        let taken = all * bytes.as_f64() / self.tariff.carried(bytes.as_f64());
        (taken < all).then_some((taken, all))
    }

    /// Returns the time of a step between neighbours of each tier at the plan's prices: the
    /// price of [`StepPrices::Neighbours`] that prices a route of neighbours alike.
    pub fn neighbour_steps(&self) -> Vec<Micros> {
        self.outline.neighbour_steps(&self.tariff)
    }

    /// Returns the predicted time of a message by its parts.
    pub fn parts(&self, bytes: Bytes) -> Parts {
        self.cost.parts(bytes.as_f64(), &self.tariff)
    }

    /// Returns the predicted time of a message.
    pub fn time(&self, bytes: Bytes) -> Micros {
        self.parts(bytes).total()
    }

    /// Returns in how many pieces, at most `most`, messages come closest to
    /// [`Overlap::Full`](crate::law::Overlap::Full): K* of FACTS B.1 for the stages of a hierarchy.
    /// `None` of other algorithms.
    pub fn stage_pieces(&self, bytes: Bytes, most: u32) -> Option<u32> {
        let pieces = self.cost.stage_pieces(bytes.as_f64(), &self.tariff)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates; there is at least 1"
        )]
        let pieces = pieces as u32;
        Some(pieces.min(most))
    }

    /// Returns the loads, by which the bandwidth term was computed.
    pub fn loads(&self) -> &LinkLoads {
        self.outline.shown_loads()
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
            self.outline.collective,
            self.outline.ranks,
            bytes,
            &limit.wire,
            limit.ports,
            limit.adder,
        )
        .expect("Invariant: a plan has at least 2 ranks")
    }

    /// Returns the pipelined floor: how long the link with the most to carry is busy, with all
    /// channels in use.
    pub fn floor(&self, bytes: Bytes) -> Micros {
        Micros::new(bytes.as_f64() * self.floor.0)
    }

    /// Returns what limits a message: its largest part.
    pub fn bottleneck(&self, bytes: Bytes) -> Bottleneck {
        let parts = self.parts(bytes);
        let link = self.floor.1;
        let transfer = match link {
            Some(link) if !self.cost.is_in_switch(bytes.as_f64(), &self.tariff) => {
                Bottleneck::Link(link)
            }
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
