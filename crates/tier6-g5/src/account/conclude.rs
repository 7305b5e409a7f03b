//! The result of a run that ended.

use tier6_units::SimTime;

use crate::chip::Chips;
use crate::network::Network;
use crate::run::Rest;
use crate::{
    Bottleneck, Fabric, FabricLinkId, G5Parameters, LinkAccount, Parts, PathStep, Program,
    RunResult, RunStop, SoFar, StopReason, Timeline,
};
use tier6_collective::{RankId, Route};
use tier6_system::LinkId;

use super::bound::undercut;
use super::chain::Step;

/// What a run knows when all its transfers are complete.
pub(crate) struct Ended {
    pub(crate) events: u64,
    pub(crate) links: Vec<(LinkId, LinkAccount)>,
    pub(crate) rest: Rest,
    pub(crate) timeline: Option<Timeline>,
}

/// Sums up, and checks what must hold at the end.
pub(crate) fn conclude<N: Network>(
    mut chips: Chips<'_>,
    fabric: &Fabric<'_>,
    network: &N,
    parameters: &G5Parameters,
    ended: Ended,
) -> Result<RunResult, Box<RunStop>> {
    let earliest = |starts: &mut dyn Iterator<Item = SimTime>| starts.min().unwrap_or_default();
    let of_call = chips.jobs.iter().filter(|job| job.is_measured());
    let begin = earliest(&mut of_call.map(|job| job.start));
    let first = earliest(&mut chips.jobs.iter().map(|job| job.start));
    let over = chips.totals.over.max(first);
    let whole = over - first;
    let end = chips.totals.end.max(begin);
    let hardware = end - begin;
    let mut parts = chips.totals.last.parts;
    // What was before the first job began is nobody's time; it stands in the stall.
    parts.stall = parts.stall.saturating_sub(begin);
    parts.software = parameters.software;
    let total = parameters.software + hardware;
    let broken = audit(&chips, &ended.links, parts, whole, total);
    let broken = broken.or_else(|| undercut(&chips, fabric));
    let broken = broken.or_else(|| match ended.rest {
        Rest::Still => network.audit().err(),
        Rest::Moving => None,
    });
    let clocks = chips.seats.iter_mut().map(|seat| &mut seat.clock);
    if let Some(what) = broken {
        return Err(Box::new(RunStop {
            reason: StopReason::Broken(what),
            at: end,
            done: chips.totals.done,
            transfers: chips.totals.transfers,
            waits: Vec::new(),
            so_far: SoFar {
                links: ended.links,
                chips: clocks.map(|clock| clock.account(over)).collect(),
                timeline: ended.timeline,
            },
        }));
    }
    let bottleneck = bottleneck(&ended.links, (hardware, whole), parts, fabric);
    let critical_path = critical_path(&chips);
    let jobs = chips.jobs.iter().map(|job| (job.start, job.end)).collect();
    let clocks = chips.seats.iter_mut().map(|seat| &mut seat.clock);
    Ok(RunResult {
        total,
        hardware,
        whole,
        parts,
        critical_path,
        links: ended.links,
        chips: clocks.map(|clock| clock.account(over)).collect(),
        jobs,
        bottleneck,
        events: ended.events,
        messages: chips.totals.messages,
        packet_hops: network.packet_hops(),
        timeline: ended.timeline,
    })
}

/// Returns what does not hold, if something does not: the parts are the whole, what went in came
/// out, and (the lower bound that all of FACTS B.0 rest on) no link carried more than it can.
fn audit(
    chips: &Chips<'_>,
    links: &[(LinkId, LinkAccount)],
    parts: Parts,
    whole: SimTime,
    total: SimTime,
) -> Option<String> {
    if parts.total() != total {
        return Some(format!("parts sum to {} of {total}", parts.total()));
    }
    let (sent, arrived) = (chips.totals.bytes_sent, chips.totals.bytes_arrived);
    if sent != arrived {
        return Some(format!("{sent} bytes were sent and {arrived} arrived"));
    }
    let most = whole + rounding(chips);
    let over = links.iter().find(|(_, account)| account.busy > most);
    over.map(|(link, account)| format!("link {link} was busy for {} of {whole}", account.busy))
}

/// Returns how much earlier than its bytes take a run may end: messages come at whole picoseconds.
pub(super) fn rounding(chips: &Chips<'_>) -> SimTime {
    SimTime::from_ps(chips.totals.messages)
}

/// Returns the steps of the critical path, the slices of a transfer as one.
fn critical_path(chips: &Chips<'_>) -> Vec<PathStep> {
    let steps = chips.log.steps_to(chips.totals.last.step);
    let ends = steps.iter().skip(1).map(|step| step.ready);
    let ends = ends.chain(std::iter::once(chips.totals.end));
    let mut path: Vec<PathStep> = Vec::new();
    for (step, done) in steps.iter().zip(ends) {
        match path.last_mut() {
            Some(last) if (last.job, last.transfer) == (step.job, step.transfer) => {
                last.done = done;
            }
            _ => path.push(path_step(chips, *step, done)),
        }
    }
    path
}

fn path_step(chips: &Chips<'_>, step: Step, done: SimTime) -> PathStep {
    let program = chips.jobs[step.job as usize].program;
    let (from, to) = ends(program, program.transfer(step.transfer).route);
    PathStep {
        job: step.job,
        transfer: step.transfer,
        from: from.0,
        to: to.0,
        ready: step.ready,
        done,
    }
}

/// Returns who sends and who receives; of a group its first member.
fn ends(program: &dyn Program, route: Route) -> (RankId, RankId) {
    let first = |group| program.group(group).first().copied().unwrap_or(RankId(0));
    match route {
        Route::Send { src, dst } => (src, dst),
        Route::Multicast { src, group } => (src, first(group)),
        Route::LoadReduce { group, dst } => (first(group), dst),
        Route::Aggregate { group } => (first(group), first(group)),
    }
}

/// Says what limited a run.
fn bottleneck(
    links: &[(LinkId, LinkAccount)],
    (hardware, whole): (SimTime, SimTime),
    parts: Parts,
    fabric: &Fabric<'_>,
) -> Bottleneck {
    let busiest = links
        .iter()
        .filter(|(_, account)| account.busy > SimTime::ZERO)
        .max_by(|(a, x), (b, y)| x.busy.cmp(&y.busy).then(b.cmp(a)));
    let share = |part: SimTime, of: SimTime| {
        if of == SimTime::ZERO {
            return 0.0;
        }
        part.ps() as f64 / of.ps() as f64
    };
    let Some((link, account)) = busiest else {
        return Bottleneck {
            link: None,
            busy_share: 0.0,
            sentence: "No link carried anything.".to_owned(),
        };
    };
    let busy_share = share(account.busy, whole).min(1.0);
    let alike = links.iter().filter(|(_, other)| other.busy == account.busy);
    let alike = alike.count() - 1;
    let name = fabric.link_name(FabricLinkId(link.get()));
    let others = match alike {
        0 => String::new(),
        1 => " (like one other)".to_owned(),
        _ => format!(" (like {alike} others)"),
    };
    let time = if whole == hardware {
        "the hardware time"
    } else {
        "the time of all calls"
    };
    let carried = format!(
        "{name}{others} was busy {:.0} % of {time} with {} bytes",
        100.0 * busy_share,
        account.wire_bytes,
    );
    let largest = [
        ("latency of the steps", parts.latency),
        ("transfer of bytes", parts.transfer),
        ("reductions and copies", parts.reduce),
        (
            "waiting for shared links, queues, credits or late ranks",
            parts.stall,
        ),
    ]
    .into_iter()
    .rev()
    .max_by_key(|(_, part)| *part);
    let (what, part) = largest.expect("Invariant: one of four parts is the largest");
    let sentence = format!(
        "{carried}; of the critical path {:.0} % is {what}.",
        100.0 * share(part, hardware),
    );
    Bottleneck {
        link: Some(*link),
        busy_share,
        sentence,
    }
}
