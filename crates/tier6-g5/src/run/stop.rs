//! A run that did not end by itself: why, and who waits for whom.

use std::collections::BTreeMap;

use super::{Run, RunError};
use crate::chip::Shape;
use crate::circle::circle;
use crate::network::Network;
use crate::{RunStop, SoFar, StopReason, Wait};

impl<N: Network> Run<'_, '_, '_, N> {
    /// Returns the report of a run that ends here. Without a reason nothing is left to happen:
    /// it is a deadlock when the waits go round in a circle, else a stall.
    pub(super) fn stop(&mut self, reason: Option<StopReason>) -> RunError {
        let (mut waits, mut shape) = self.chips.waits(self.fabric, self.network);
        if shape == Shape::Open
            && let Some(cycle) = cycle(&waits)
        {
            shape = Shape::Cycle;
            let rest = std::mem::take(&mut waits);
            let rest = rest.into_iter().filter(|wait| !cycle.contains(wait));
            waits = cycle.iter().cloned().chain(rest).collect();
        }
        let reason = reason.unwrap_or(match shape {
            Shape::Cycle => StopReason::Deadlock,
            Shape::Open => StopReason::Stalled,
        });
        let now = self.agenda.now();
        if let Some(timeline) = &mut self.timeline {
            timeline.spans.extend(self.chips.unfinished(now));
        }
        let clocks = self.chips.seats.iter_mut().map(|seat| &mut seat.clock);
        RunError::Stop(Box::new(RunStop {
            reason,
            at: now,
            so_far: SoFar {
                links: self.network.accounts(self.fabric),
                chips: clocks.map(|clock| clock.account(now)).collect(),
                timeline: self.timeline.take(),
            },
            done: self.chips.totals.done,
            transfers: self.chips.totals.transfers,
            waits,
        }))
    }
}

/// Returns waits that go round in a circle, if some do.
fn cycle(waits: &[Wait]) -> Option<Vec<Wait>> {
    let mut from: BTreeMap<&str, Vec<&Wait>> = BTreeMap::new();
    for wait in waits {
        from.entry(&wait.who).or_default().push(wait);
    }
    let places: Vec<_> = from.into_iter().collect();
    let place_of = |name: &str| places.binary_search_by_key(&name, |(name, _)| name).ok();
    let around = circle(places.len(), |at| {
        let waits = places[at].1.iter();
        waits.filter_map(|wait| place_of(&wait.for_whom)).collect()
    })?;
    let next = around.iter().cycle().skip(1);
    let taken = around.iter().zip(next).filter_map(|(&at, &next)| {
        let mut waits = places[at].1.iter();
        waits.find(|wait| wait.for_whom == places[next].0)
    });
    Some(taken.map(|wait| (*wait).clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(who: &str, for_whom: &str) -> Wait {
        Wait {
            who: who.to_owned(),
            for_whom: for_whom.to_owned(),
            why: "test".to_owned(),
        }
    }

    #[test]
    fn a_circle_is_found_behind_a_tail() {
        let waits = [
            wait("a", "b"),
            wait("b", "c"),
            wait("b", "d"),
            wait("d", "b"),
        ];
        let found = cycle(&waits).unwrap();
        assert_eq!(found, [wait("b", "d"), wait("d", "b")]);
        assert_eq!(cycle(&waits[..3]), None);
        assert_eq!(cycle(&[wait("a", "a")]), Some(vec![wait("a", "a")]));
    }
}
