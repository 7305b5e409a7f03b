//! What is kept of a run: its row in the report, and the accounts of links and ranks.

use super::scene::{Call, Scene};
use super::sensitivity;
use crate::Error;
use tier6_g5::{LinkAccount, Recording, RunResult};
use tier6_math::Basis;
use tier6_report::{CallStatistics, LinkStatistics, RankStatistics, SimulatedCall, bandwidths};
use tier6_system::{Constant, Evidence, G5Spec};

/// Returns the row of a run; `basis` is what the closed form of the call rests on.
pub(super) fn row(
    scene: &mut Scene<'_>,
    call: &Call,
    basis: Basis,
    result: &RunResult,
) -> Result<SimulatedCall, Error> {
    let (request, site) = (scene.request, scene.site);
    let total = result.total;
    let (algbw, busbw) = bandwidths(scene.collective, site.ranks, call.bytes, total.to_micros());
    let sensitivities = match request.sensitivity {
        Recording::On => sensitivity::of(scene, call, total)?,
        Recording::Off => Vec::new(),
    };
    let basis = if rests_on_priors(site.topology.constants().g5.as_ref()) {
        Basis::Assumed
    } else {
        basis
    };
    Ok(SimulatedCall {
        algorithm: call.algorithm,
        protocol: call.protocol,
        in_nccl: call
            .algorithm
            .and_then(|algorithm| site.in_nccl(algorithm, scene.collective)),
        bytes: call.bytes,
        channels: call.launch.channels(),
        total,
        hardware: result.hardware,
        parts: result.parts,
        algbw,
        busbw,
        bottleneck: result.bottleneck.sentence.clone(),
        basis,
        events: result.events,
        messages: result.messages,
        packet_hops: result.packet_hops,
        sensitivities,
    })
}

/// Whether some constant of the engine is a prior: what a message costs at both ends is, unless
/// the system says it or turns the layer off. Where `sync` was fitted it stands for all of it:
/// measurements tell their sum alone.
fn rests_on_priors(g5: Option<&G5Spec>) -> bool {
    let Some(g5) = g5.filter(|g5| g5.state.is_on()) else {
        return g5.is_none();
    };
    let is_prior = |evidence: Option<Evidence>| evidence.is_none_or(|it| it == Evidence::Assumed);
    let sync = g5.cdma.as_ref().and_then(|cdma| cdma.sync.as_ref());
    if sync.is_some_and(|sync| sync.evidence() == Evidence::Fitted) {
        return false;
    }
    let engines = g5.cdma.as_ref().is_none_or(|cdma| {
        let times = [&cdma.start, &cdma.sync];
        let times = times.map(|time| time.as_ref().map(Constant::evidence));
        cdma.state.is_on() && times.into_iter().any(is_prior)
    });
    let transactions = g5.paxi.as_ref().is_none_or(|paxi| {
        let latency = paxi.latency.as_ref().map(Constant::evidence);
        paxi.state.is_on() && is_prior(latency)
    });
    engines || transactions
}

/// Returns the accounts of a run.
pub(super) fn statistics(scene: &Scene<'_>, call: &Call, result: RunResult) -> CallStatistics {
    let topology = &scene.site.topology;
    let in_use = |account: &LinkAccount| *account != LinkAccount::default();
    let links = result.links.into_iter();
    let links = links.filter(|(_, account)| in_use(account));
    let links = links.map(|(link, account)| LinkStatistics {
        name: scene.link_names[link.index()].clone(),
        class: topology.class_of(link).name.clone(),
        account,
    });
    let ranks = (0_u32..)
        .zip(result.chips)
        .map(|(at, account)| RankStatistics {
            rank: at % scene.site.ranks,
            channel: at / scene.site.ranks,
            account,
        });
    CallStatistics {
        algorithm: call.algorithm,
        bytes: call.bytes,
        hardware: result.hardware,
        links: links.collect(),
        ranks: ranks.collect(),
    }
}
