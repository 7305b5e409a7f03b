//! What is kept of a run: its row in the report, and the accounts of links and ranks.

use super::scene::{Alone, Call, Scene};
use super::sensitivity;
use crate::Error;
use tier6_collective::Protocol;
use tier6_fit::FixedTime;
use tier6_g5::{ChipAccount, LinkAccount, Recording, RunResult, RunStop};
use tier6_math::Basis;
use tier6_report::{
    BesideTime, CallStatistics, LinkStatistics, RankStatistics, SimulatedCall, bandwidths,
};
use tier6_system::{Constant, Evidence, G5Spec, LinkId};
use tier6_units::SimTime;

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
    let alone = match call.beside.as_slice() {
        [] => None,
        _ => scene.time_alone(call),
    };
    let beside = beside_times(scene, call, result);
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
        parts: FixedTime::split(result.parts, scene.parameters.software),
        algbw,
        busbw,
        bottleneck: result.bottleneck.sentence.clone(),
        basis,
        events: result.events,
        messages: result.messages,
        packet_hops: result.packet_hops,
        sensitivities,
        alone,
        beside,
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

/// Returns what the calls beside took in a run, and what they take without the measured one.
fn beside_times(scene: &mut Scene<'_>, call: &Call, result: &RunResult) -> Vec<BesideTime> {
    let mut jobs = result.jobs.iter().skip(call.launch.channels() as usize);
    let mut times = Vec::new();
    for beside in &call.beside {
        let channels = jobs.by_ref().take(beside.launch.channels() as usize);
        let ends = channels.map(|(start, end)| *end - *start);
        let hardware = ends.max().unwrap_or(SimTime::ZERO);
        times.push(BesideTime {
            algorithm: beside.algorithm,
            bytes: beside.bytes,
            total: scene.software_of(beside) + hardware,
            alone: scene.time_beside_alone(beside),
        });
    }
    times
}

impl Scene<'_> {
    /// Returns the time of the measured call with nothing beside it; `None` when it stops.
    fn time_alone(&mut self, call: &Call) -> Option<SimTime> {
        let (topology, base) = (&self.site.topology, self.parameters.clone());
        let parameters = self.parameters_for(call, topology, &base);
        let result = self.run_alone(call, topology, &parameters).ok()?;
        Some(result.total)
    }

    /// The same of a call beside, which runs once for all calls that it is beside of.
    fn time_beside_alone(&mut self, beside: &Call) -> Option<SimTime> {
        let at = beside.of.expect("Invariant: a call beside has a number");
        let protocol = beside.protocol.map(Protocol::name);
        let key: Alone = (at, beside.bytes, protocol, beside.first_flow);
        if let Some(known) = self.alone.get(&key) {
            return *known;
        }
        let time = self.time_alone(beside);
        self.alone.insert(key, time);
        time
    }

    fn software_of(&mut self, call: &Call) -> SimTime {
        let (topology, base) = (&self.site.topology, self.parameters.clone());
        self.parameters_for(call, topology, &base).software
    }
}

/// Returns the accounts of a run that ended.
pub(super) fn statistics(scene: &Scene<'_>, call: &Call, result: RunResult) -> CallStatistics {
    let parts = (result.links, result.chips);
    accounts(scene, call, (result.whole, None), parts)
}

/// Returns the accounts of a run that stopped, up to then.
pub(super) fn statistics_so_far(
    scene: &Scene<'_>,
    call: &Call,
    stop: &mut RunStop,
) -> CallStatistics {
    let so_far = &mut stop.so_far;
    let parts = (
        std::mem::take(&mut so_far.links),
        std::mem::take(&mut so_far.chips),
    );
    accounts(scene, call, (stop.at, Some(stop.at)), parts)
}

fn accounts(
    scene: &Scene<'_>,
    call: &Call,
    (hardware, stopped): (SimTime, Option<SimTime>),
    (links, chips): (Vec<(LinkId, LinkAccount)>, Vec<ChipAccount>),
) -> CallStatistics {
    let topology = &scene.site.topology;
    let in_use = |account: &LinkAccount| *account != LinkAccount::default();
    let links = links.into_iter().filter(|(_, account)| in_use(account));
    let links = links.map(|(link, account)| LinkStatistics {
        name: scene.link_names[link.index()].clone(),
        class: topology.class_of(link).name.clone(),
        account,
    });
    CallStatistics {
        algorithm: call.algorithm,
        bytes: call.bytes,
        hardware,
        stopped,
        links: links.collect(),
        ranks: ranks(scene, call, chips),
    }
}

/// Accounts of the ranks: the measured call's channel by channel, then those of calls beside.
fn ranks(scene: &Scene<'_>, call: &Call, chips: Vec<ChipAccount>) -> Vec<RankStatistics> {
    let mut accounts = chips.into_iter();
    let mut ranks = Vec::new();
    for one in std::iter::once(call).chain(&call.beside) {
        let beside = one.of.map(|at| &scene.beside[at]);
        let of_each = beside.map_or(scene.site.ranks, |beside| beside.ranks);
        for channel in 0..one.launch.channels() {
            let of_channel = (0..of_each).zip(accounts.by_ref());
            ranks.extend(of_channel.map(|(rank, account)| RankStatistics {
                job: beside.map(|beside| beside.name.clone()),
                rank,
                channel,
                account,
            }));
        }
    }
    ranks
}

/// What the ranks of a run are called, in the order in which a timeline numbers them.
pub(super) fn rank_names(scene: &Scene<'_>, call: &Call) -> Vec<String> {
    let own = (0..scene.site.ranks).map(|rank| format!("rank {rank}"));
    let beside = call.beside.iter().filter_map(|one| one.of);
    let beside = beside.map(|at| &scene.beside[at]).flat_map(|beside| {
        let name = |rank| format!("{} rank {rank}", beside.name);
        (0..beside.ranks).map(name)
    });
    own.chain(beside).collect()
}
