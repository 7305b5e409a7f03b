//! The link layer of a system: timeouts that outlast its queues, and windows and recovery that suit
//! its paths.

use tier6_system::{
    AckMergeSpec, ArbiterSpec, ChannelsSpec, CreditScopeSpec, CreditsSpec, G5Spec, HeadersSpec,
    RcLinkSpec, RecoverySpec, Topology,
};
use tier6_units::{Micros, SimTime};

use super::{paxi, size_or, time_or};
use crate::{
    AckMerge, Arbiter, Channels, CreditScope, Credits, Headers, PathChoice, RcLink, Recovery,
};

/// Returns a timeout that outlasts the longest queue: what all chips may have under way, on the
/// slowest link. A shorter one takes a long queue for a loss and sends all of it again.
fn timeout(given: &G5Spec, topology: &Topology) -> SimTime {
    let least = RcLink::defaults().timeout;
    let Some(paxi) = paxi(given, topology) else {
        return least;
    };
    let rates = topology.links().iter().map(|link| link.payload_rate.get());
    let slowest = rates.fold(f64::INFINITY, f64::min);
    let chip = f64::from(paxi.outstanding) * f64::from(paxi.segment);
    let queue = f64::from(topology.n_chips()) * chip;
    // Bytes over GB/s are nanoseconds.
    let longest = SimTime::from(Micros::new(queue / slowest / 1e3));
    least.max(longest)
}

/// Frames by which one may overtake another where paths do not keep order.
pub(super) const REORDER: u32 = 256;
/// Bits of a sequence number above which a window that nobody gave does not grow.
const WINDOW_BITS: u32 = 16;

/// Where packets of one flow overtake each other, a receiver that takes them in order only would
/// have all of them sent again. Selective recovery halves what sequence numbers can tell apart.
pub(super) fn rc_link(given: &G5Spec, topology: &Topology, paths: PathChoice) -> Option<RcLink> {
    let prior = RcLink {
        timeout: timeout(given, topology),
        ..RcLink::defaults()
    };
    let (recovery, overtaking) = if paths.reorders() {
        (RecoverySpec::Selective, REORDER)
    } else {
        (RecoverySpec::GoBackN, 0)
    };
    let RcLinkSpec {
        state,
        overhead,
        headers,
        sequence_bits,
        window,
        channels,
        recovery: said,
        reorder,
        credits,
        ack_merge,
        ack,
        timeout,
        retries,
        loss,
    } = given.rc_link.clone().unwrap_or_default();
    let recovery = said.unwrap_or(recovery);
    let sequence_bits = sequence_bits.unwrap_or(prior.sequence_bits);
    let bits = sequence_bits.clamp(2, WINDOW_BITS);
    let most = match recovery {
        RecoverySpec::GoBackN => (1 << bits) - 1,
        RecoverySpec::Selective => 1 << (bits - 1),
    };
    state.is_on().then(|| RcLink {
        channels: channels_of(channels, prior.channels),
        overhead: size_or(overhead, prior.overhead),
        headers: headers.map_or(prior.headers, |headers| match headers {
            HeadersSpec::Ip => Headers::Ip,
            HeadersSpec::Compressed => Headers::Compressed,
        }),
        sequence_bits,
        window: window.unwrap_or(most),
        recovery: match recovery {
            RecoverySpec::GoBackN => Recovery::GoBackN,
            RecoverySpec::Selective => Recovery::Selective {
                reorder: reorder.unwrap_or(overtaking),
            },
        },
        credits: credits_of(credits, prior.credits),
        ack: ack_merge.map_or(prior.ack, |merge| match merge {
            AckMergeSpec::Never => AckMerge::Never,
            AckMergeSpec::Every(period) => AckMerge::Every(period.value.into()),
        }),
        ack_bytes: size_or(ack, prior.ack_bytes),
        timeout: time_or(timeout, prior.timeout),
        retries: retries.unwrap_or(prior.retries),
        loss: loss.unwrap_or(prior.loss),
    })
}

fn channels_of(given: Option<ChannelsSpec>, prior: Channels) -> Channels {
    let given = given.unwrap_or_default();
    let weights = match prior.arbiter {
        Arbiter::Weighted(weights) => weights,
        Arbiter::Strict => [1; 3],
    };
    let said = [given.requests, given.responses, given.multicasts];
    Channels {
        count: given.count.unwrap_or(prior.count),
        arbiter: match given.arbiter {
            Some(ArbiterSpec::Strict) => Arbiter::Strict,
            Some(ArbiterSpec::Weighted) | None => {
                let weight = |at: usize| said[at].unwrap_or(weights[at]);
                Arbiter::Weighted([weight(0), weight(1), weight(2)])
            }
        },
    }
}

fn credits_of(given: Option<CreditsSpec>, prior: Option<Credits>) -> Option<Credits> {
    let (Some(given), Some(prior)) = (given, prior) else {
        return prior;
    };
    given.state.is_on().then(|| Credits {
        unit: size_or(given.unit, prior.unit),
        count: given.count.unwrap_or(prior.count),
        period: time_or(given.period, prior.period),
        scope: given.scope.map_or(prior.scope, |scope| match scope {
            CreditScopeSpec::PerLink => CreditScope::PerLink,
            CreditScopeSpec::EndToEnd => CreditScope::EndToEnd,
        }),
    })
}
