//! A run that did not end by itself: why, and who waits for whom.

use std::collections::{BTreeMap, BTreeSet};

use super::{Run, RunError};
use crate::chip::Shape;
use crate::network::Network;
use crate::{RunStop, StopReason, Wait};

impl<N: Network> Run<'_, '_, '_, N> {
    /// Returns the report of a run that ends here. Without a reason nothing is left to happen:
    /// it is a deadlock when the waits go round in a circle, else a stall.
    pub(super) fn stop(&self, reason: Option<StopReason>) -> RunError {
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
        RunError::Stop(Box::new(RunStop {
            reason,
            at: self.agenda.now(),
            done: self.chips.totals.done,
            transfers: self.chips.totals.transfers,
            waits,
        }))
    }
}

/// Returns waits that go round in a circle, if some do: depth first, in order.
fn cycle(waits: &[Wait]) -> Option<Vec<Wait>> {
    let mut from: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, wait) in waits.iter().enumerate() {
        from.entry(&wait.who).or_default().push(index);
    }
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    for start in from.keys() {
        // The way as waits taken, and how many of each place's waits have been tried.
        let mut places = vec![(*start, 0_usize)];
        let mut taken: Vec<usize> = Vec::new();
        while let Some((place, tried)) = places.last_mut() {
            let next = from.get(place).and_then(|waits| waits.get(*tried)).copied();
            *tried += 1;
            let Some(next) = next else {
                finished.insert(place);
                places.pop();
                taken.pop();
                continue;
            };
            let to = waits[next].for_whom.as_str();
            if let Some(first) = places.iter().position(|(place, _)| *place == to) {
                taken.push(next);
                return Some(
                    taken[first..]
                        .iter()
                        .map(|&index| waits[index].clone())
                        .collect(),
                );
            }
            if !finished.contains(to) {
                places.push((to, 0));
                taken.push(next);
            }
        }
    }
    None
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
