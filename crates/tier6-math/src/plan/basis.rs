//! What a plan rests on: the weakest of the constants that it uses.

use super::prices::of;
use crate::LinkLoads;
use tier6_collective::{Algorithm, Protocol};
use tier6_system::{Evidence, Provenance, Topology};
use tier6_units::Bytes;

/// How far the constants behind a plan can be trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BasisRange {
    /// Some constant is a prior, or none was fitted.
    Assumed,
    /// Fitted on messages from the first to the last.
    Fitted(Bytes, Bytes),
}

impl BasisRange {
    /// Returns how far the system's constants in use can be trusted; parameters that a caller
    /// changed are the caller's. NVLS inside a node rests on its own line, not on the links'.
    pub(super) fn of(
        topology: &Topology,
        loads: &LinkLoads,
        algorithm: Option<Algorithm>,
        protocol: Option<Protocol>,
    ) -> Self {
        let constants = topology.constants();
        let mut origins: Vec<Option<&Provenance>> = vec![constants.call.provenance.as_ref()];
        let mut classes: Vec<_> = loads
            .total
            .iter()
            .filter(|_| algorithm != Some(Algorithm::Nvls))
            .map(|load| topology.link(load.link).class)
            .collect();
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            let class = &topology.link_classes()[class.index()];
            origins.push(class.rate.provenance.as_ref());
            origins.push(class.efficiency.provenance.as_ref());
            origins.push(match protocol {
                // A step's time has the latency in it.
                Some(protocol) => of(&class.share, protocol).provenance.as_ref(),
                None => class.latency.provenance.as_ref(),
            });
        }
        let has_ramp = matches!(algorithm, Some(Algorithm::Ring | Algorithm::Tree));
        if let Some(protocol) = protocol.filter(|_| has_ramp) {
            let ramp = of(&constants.ramp, protocol).as_ref();
            origins.push(ramp.and_then(|ramp| ramp.provenance.as_ref()));
        }
        // Reduction in switches has an α in place of steps.
        let has_steps = !matches!(
            algorithm,
            Some(Algorithm::Nvls | Algorithm::CollNetDirect | Algorithm::CollNetChain)
        );
        if let Some(protocol) = protocol.filter(|_| has_steps) {
            let flights = loads.steps.iter().flat_map(|step| &step.tiers);
            let mut tiers: Vec<u32> = flights.map(|flight| flight.tier).collect();
            tiers.sort_unstable();
            tiers.dedup();
            for tier in tiers {
                let class = topology.tiers()[tier as usize].link;
                let steps = topology.link_classes()[class.index()].step.as_ref();
                let step = steps.and_then(|steps| of(steps, protocol).as_ref());
                origins.push(step.and_then(|step| step.provenance.as_ref()));
            }
        }
        if let (Some(Algorithm::Nvls | Algorithm::NvlsTree), Some(nvls)) =
            (algorithm, &constants.nvls)
        {
            origins.push(nvls.rate.provenance.as_ref());
            origins.extend(nvls.alpha.as_ref().map(|alpha| alpha.provenance.as_ref()));
        }
        let mut range: Option<(Bytes, Bytes)> = None;
        for origin in origins.into_iter().flatten() {
            if origin.evidence == Evidence::Assumed {
                return Self::Assumed;
            }
            if let Some((first, last)) = origin.bytes {
                let (low, high) = range.unwrap_or((first, last));
                range = Some((low.min(first), high.max(last)));
            }
        }
        range.map_or(Self::Assumed, |(first, last)| Self::Fitted(first, last))
    }
}
