//! The constants of a plan that measurements can tell, apart from the call that they price.
//!
//! Routes and loads of a call do not depend on them, so a plan can be priced again with others at
//! the cost of a few steps: protocol after protocol, or in the inner loop of a calibration.

use crate::law::{InSwitch, LawError};
use crate::parameters::{Parameters, Sharp};
use crate::{PlanError, StepCost};
use tier6_collective::Protocol;
use tier6_system::{ByProtocol, LinkClass, Ramp, Topology};
use tier6_units::{Bytes, Micros};

/// What steps, bytes and calls cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// The protocol that they are of; `None` when links alone say what a step costs.
    pub protocol: Option<Protocol>,
    /// `T_sw`, the fixed time of a call.
    pub software: Micros,
    /// What a step costs beside its bytes.
    pub steps: StepPrices,
    /// Share of the wire rate that payload reaches, by
    /// [`LinkClassId`](tier6_system::LinkClassId): the efficiency, times the protocol's share.
    pub payload: Vec<f64>,
    /// Bytes that a ring forwards at a time under the protocol; `None` for the grain of the
    /// parameters.
    pub grain: Option<Bytes>,
    /// Channels that a message of a ring or tree takes under the protocol; `None` when every
    /// message has all of them.
    pub ramp: Option<Ramp>,
    /// α and rate of reduction inside a node.
    pub nvls: Option<InSwitch>,
    /// α and efficiency of reduction in the network.
    pub sharp: Option<Sharp>,
}

/// What a step costs beside its bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum StepPrices {
    /// The latency of its route, and this.
    Routes(StepCost),
    /// By the outermost tier that the route crosses, the time between neighbours there, flight
    /// and all; a longer route adds what it is longer by. `None` where nobody knows.
    Neighbours(Vec<Option<Micros>>),
}

impl Prices {
    /// Returns the prices of a system, under the protocol of the parameters if they name one.
    pub fn of(topology: &Topology, parameters: &Parameters) -> Self {
        let classes = topology.link_classes().iter();
        let payload = classes.map(|class| match parameters.protocol {
            Some(protocol) => class.efficiency.value.get() * of(&class.share, protocol).value.get(),
            None => class.efficiency.value.get(),
        });
        let steps = match parameters.protocol {
            Some(protocol) => {
                let tiers = topology.tiers().iter();
                let class = |link| &topology.link_classes()[link];
                StepPrices::Neighbours(
                    tiers
                        .map(|tier| step(class(tier.link.index()), protocol))
                        .collect(),
                )
            }
            None => StepPrices::Routes(parameters.step),
        };
        Self {
            protocol: parameters.protocol,
            software: parameters.software,
            steps,
            payload: payload.collect(),
            grain: parameters
                .protocol
                .and_then(|protocol| *of(&topology.constants().grain, protocol)),
            ramp: parameters
                .protocol
                .and_then(|protocol| of(&topology.constants().ramp, protocol).as_ref())
                .map(|ramp| ramp.value),
            nvls: parameters.nvls,
            sharp: parameters.sharp,
        }
    }
}

/// Returns the step of a class under a protocol.
pub(super) fn step(class: &LinkClass, protocol: Protocol) -> Option<Micros> {
    let step = of(class.step.as_ref()?, protocol);
    step.as_ref().map(|step| step.value)
}

/// Returns the value of a protocol.
pub(super) fn of<T>(values: &ByProtocol<T>, protocol: Protocol) -> &T {
    match protocol {
        Protocol::Ll => &values.ll,
        Protocol::Ll128 => &values.ll128,
        Protocol::Simple => &values.simple,
    }
}

/// Prices that were checked against a call: finite, and there for every tier in use.
#[derive(Debug, Clone)]
pub(super) struct Tariff {
    pub(super) software: f64,
    pub(super) steps: StepTariff,
    /// How much longer a byte takes than at the topology's efficiency, by link class.
    pub(super) stretch: Vec<f64>,
    /// Channels that a message takes.
    pub(super) ramp: Option<Ramp>,
}

#[derive(Debug, Clone)]
pub(super) enum StepTariff {
    Routes {
        pipelined: f64,
        standalone: f64,
    },
    /// By tier; a tier that is not in use may have any value.
    Neighbours(Vec<f64>),
}

impl Tariff {
    /// Checks prices for a system whose classes have these efficiencies, and for tiers in use.
    pub(super) fn of(
        prices: &Prices,
        efficiencies: &[f64],
        tiers_in_use: &[u32],
        no_step: impl Fn(u32) -> PlanError,
    ) -> Result<Self, PlanError> {
        assert_eq!(
            prices.payload.len(),
            efficiencies.len(),
            "a payload share per link class"
        );
        let mut stretch = Vec::with_capacity(efficiencies.len());
        for (payload, efficiency) in prices.payload.iter().zip(efficiencies) {
            if !(*payload > 0.0 && payload.is_finite()) {
                return Err(LawError::Share(*payload).into());
            }
            stretch.push(efficiency / payload);
        }
        let time = crate::law::time;
        let steps = match &prices.steps {
            StepPrices::Routes(cost) => StepTariff::Routes {
                pipelined: time(cost.pipelined)?,
                standalone: time(cost.standalone)?,
            },
            StepPrices::Neighbours(steps) => {
                for tier in tiers_in_use {
                    let step = steps.get(*tier as usize).copied().flatten();
                    time(step.ok_or_else(|| no_step(*tier))?)?;
                }
                let steps = steps.iter().map(|step| step.map_or(0.0, Micros::get));
                StepTariff::Neighbours(steps.collect())
            }
        };
        Ok(Self {
            software: time(prices.software)?,
            steps,
            stretch,
            ramp: prices.ramp,
        })
    }

    /// Returns the bytes that all channels together carry in the time that a message takes.
    ///
    /// NCCL lets C channels go one by one while a message has fewer than W bytes for each
    /// (FACTS B.2). With c = M/W of them, between 1 and C, each has M/c bytes, as much as all have
    /// of C M/c: C times M below W, then C W, and M from C W on. Whole numbers of channels lie on
    /// this line at their thresholds, and above it between them.
    pub(super) fn carried(&self, bytes: f64) -> f64 {
        self.ramp.map_or(bytes, |ramp| {
            let all = f64::from(ramp.channels.get());
            bytes.max(bytes.min(ramp.bytes.as_f64()) * all)
        })
    }
}
