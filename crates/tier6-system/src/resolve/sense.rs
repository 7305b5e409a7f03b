//! Numbers that a file cannot give but a program can: zeros, rates that are no rates. Builders
//! divide by counts, so these are refused before they run.

use crate::constant::Constant;
use crate::place::Place;
use crate::spec::{FabricSpec, TierSpec};
use crate::topology::{LinkClass, SwitchClass};
use crate::{SystemError, SystemProblem};
use tier6_units::Micros;

/// Refuses a tier with a count of zero or an impossible ratio.
pub(super) fn check_tier(tier: &TierSpec) -> Result<(), SystemError> {
    let mut counts = vec![("count", tier.count.value), ("lanes", tier.lanes)];
    if let Some(nics) = &tier.nics {
        counts.push(("nics", nics.count.value));
    }
    match &tier.fabric {
        FabricSpec::Ring { .. } | FabricSpec::FullMesh | FabricSpec::Torus { .. } => {}
        FabricSpec::Crossbar { planes, .. } => counts.push(("planes", *planes)),
        FabricSpec::FatTree(tree) => {
            counts.extend(tree.down.map(|down| ("down", down)));
            counts.extend(tree.spines.map(|spines| ("spines", spines)));
            let ratio = tree.oversubscription;
            if !(ratio.is_finite() && ratio >= 1.0) {
                let reason = format!("expected bandwidth down over up, 1 or more, found {ratio}");
                return Err(bad(tier.place(), "oversubscription", reason));
            }
        }
        FabricSpec::Dragonfly(dragonfly) => counts.extend([
            ("routers", dragonfly.routers),
            ("endpoints", dragonfly.endpoints),
            ("global", dragonfly.global),
        ]),
        FabricSpec::PcieTree(tree) => {
            counts.extend([("per_switch", tree.per_switch), ("sockets", tree.sockets)]);
        }
        FabricSpec::Graph { edges, .. } => {
            let lanes = edges.iter().filter_map(|edge| edge.lanes);
            counts.extend(lanes.map(|lanes| ("edges", lanes)));
        }
    }
    match counts.into_iter().find(|(_, count)| *count == 0) {
        Some((key, _)) => Err(bad(tier.place(), key, "a count of zero".to_owned())),
        None => Ok(()),
    }
}

/// Refuses a link class that moves nothing, or before it starts.
pub(super) fn check_link(class: &LinkClass, place: Option<Place>) -> Result<(), SystemError> {
    let rate = class.rate.value.get();
    if !(rate.is_finite() && rate > 0.0) {
        let reason = format!("a rate of {rate} GB/s moves nothing");
        return Err(bad(place, &format!("links.{}.rate", class.name), reason));
    }
    check_latency(
        &class.latency,
        &format!("links.{}.latency", class.name),
        place,
    )?;
    let steps = class.step.iter().flat_map(|step| {
        [
            ("ll", &step.ll),
            ("ll128", &step.ll128),
            ("simple", &step.simple),
        ]
    });
    for (protocol, time) in steps {
        if let Some(time) = time {
            let key = format!("links.{}.step.{protocol}", class.name);
            check_latency(time, &key, place)?;
        }
    }
    Ok(())
}

/// Refuses a switch class with a latency that is none.
pub(super) fn check_switch(class: &SwitchClass, place: Option<Place>) -> Result<(), SystemError> {
    let key = format!("switches.{}.latency", class.name);
    check_latency(&class.latency, &key, place)
}

fn check_latency(
    latency: &Constant<Micros>,
    key: &str,
    place: Option<Place>,
) -> Result<(), SystemError> {
    let us = latency.value.get();
    if us.is_finite() && us >= 0.0 {
        Ok(())
    } else {
        Err(bad(place, key, format!("{us} us is no latency")))
    }
}

fn bad(place: Option<Place>, key: &str, reason: String) -> SystemError {
    let key = key.to_owned();
    SystemError::new(place, SystemProblem::BadValue { key, reason })
}
