//! When flows that share links end: in groups that were given their rates together.
//!
//! A group knows its first end, for which one event of the run waits. A flow that gets another
//! rate goes to another group; what it leaves behind is dropped when it comes up, or when more
//! has been left behind than is of use.
//!
//! Most groups come no further than those that end first together: flows that are alike end at
//! once, and others get new rates when the first of them ends. So only those are put in order at
//! first; the rest waits until it is asked for, when less of it may be left.

use std::cmp::Reverse;

use tier6_units::SimTime;

use super::fluid::Flow;

/// What may be left behind before it is worth a look.
const LEFTOVERS_MIN: usize = 4096;

/// Groups of flows.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    free: Vec<u32>,
    /// Ends in all groups, and how many of them are still to come.
    kept: usize,
    valid: usize,
    /// Numbers of flows that end together, and where among the ends: what is put in order for
    /// them, since it is sorted several times as fast.
    together: Vec<u64>,
}

#[derive(Debug, Default)]
struct Group {
    /// The next ends, the first of them last.
    soon: Vec<End>,
    /// Ends after those, in no order.
    later: Vec<End>,
    /// Flows that are still of this group.
    valid: usize,
    /// How often the place has been used.
    use_count: u32,
}

/// The end of a flow, valid while its rate has changed as often.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) time: SimTime,
    pub(super) number: u32,
    pub(super) slot: u32,
    pub(super) version: u32,
}

/// Names a group, also to an event that may come after it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndGroup {
    at: u32,
    use_count: u32,
}

impl End {
    fn is_valid(&self, flows: &[Flow]) -> bool {
        flows[self.slot as usize].version == self.version
    }
}

impl Group {
    /// Puts the next ends in order.
    fn order(&mut self) {
        self.soon
            .sort_unstable_by_key(|end| Reverse((end.time, end.number)));
    }
}

impl Groups {
    /// Returns a group with nobody in it, to be filled by [`Groups::fill`].
    pub(super) fn open(&mut self) -> EndGroup {
        let at = self.free.pop().unwrap_or_else(|| {
            self.all.push(Group::default());
            u32::try_from(self.all.len() - 1).expect("Invariant: fewer groups than flows")
        });
        let use_count = self.all[at as usize].use_count;
        EndGroup { at, use_count }
    }

    /// Fills a group; returns its first end, or `None` when there is nothing to fill it with, and
    /// it is gone.
    pub(super) fn fill(&mut self, id: EndGroup, ends: &mut Vec<End>) -> Option<SimTime> {
        let Some(first) = ends.iter().map(|end| end.time).min() else {
            self.close(id.at);
            return None;
        };
        let group = &mut self.all[id.at as usize];
        group.valid = ends.len();
        self.kept += ends.len();
        self.valid += ends.len();
        self.together.clear();
        self.together.reserve(ends.len());
        for (at, end) in (0_u32..).zip(&*ends) {
            if end.time == first {
                self.together
                    .push(u64::from(end.number) << 32 | u64::from(at));
            } else {
                group.later.push(*end);
            }
        }
        self.together.sort_unstable();
        let soon = self.together.iter().rev();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let soon = soon.map(|key| ends[*key as u32 as usize]);
        group.soon.extend(soon);
        ends.clear();
        Some(first)
    }

    /// A flow has ended or got another rate.
    pub(super) fn leave(&mut self, id: EndGroup) {
        let group = &mut self.all[id.at as usize];
        group.valid -= 1;
        self.valid -= 1;
        if group.valid == 0 {
            self.close(id.at);
        }
    }

    /// Returns the first end of a group that is still to come.
    pub(super) fn first(&mut self, id: EndGroup, flows: &[Flow]) -> Option<End> {
        let group = &mut self.all[id.at as usize];
        if group.use_count != id.use_count {
            return None;
        }
        loop {
            while let Some(end) = group.soon.last() {
                if end.is_valid(flows) {
                    return Some(*end);
                }
                group.soon.pop();
                self.kept -= 1;
            }
            if group.later.is_empty() {
                return None;
            }
            std::mem::swap(&mut group.soon, &mut group.later);
            self.kept -= group.soon.len();
            group.soon.retain(|end| end.is_valid(flows));
            self.kept += group.soon.len();
            group.order();
        }
    }

    /// Drops what flows have left behind, if it is much.
    pub(super) fn tidy(&mut self, flows: &[Flow]) {
        if self.kept < 2 * self.valid + LEFTOVERS_MIN {
            return;
        }
        for group in &mut self.all {
            group.soon.retain(|end| end.is_valid(flows));
            group.later.retain(|end| end.is_valid(flows));
        }
        self.kept = self.valid;
    }

    fn close(&mut self, at: u32) {
        let group = &mut self.all[at as usize];
        self.kept -= group.soon.len() + group.later.len();
        group.soon.clear();
        group.later.clear();
        group.use_count = group.use_count.wrapping_add(1);
        self.free.push(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Message, MessageId, PathId};
    use tier6_units::ByteTime;

    fn flows(count: u32) -> Vec<Flow> {
        let message = Message {
            id: MessageId(0),
            path: PathId(0),
            bytes: 1,
            pace: ByteTime::ZERO,
        };
        vec![Flow::new(message, SimTime::ZERO); count as usize]
    }

    fn ends(times: &[u64]) -> Vec<End> {
        let end = |(slot, time): (u32, &u64)| End {
            time: SimTime::from_ps(*time),
            number: slot,
            slot,
            version: 0,
        };
        (0..).zip(times).map(end).collect()
    }

    #[test]
    fn a_group_ends_in_the_order_of_time_and_number() {
        let mut flows = flows(4);
        let mut groups = Groups::default();
        let group = groups.open();
        let first = groups.fill(group, &mut ends(&[30, 20, 20, 10]));
        assert_eq!(first, Some(SimTime::from_ps(10)));
        let mut order = Vec::new();
        while let Some(end) = groups.first(group, &flows) {
            order.push(end.slot);
            flows[end.slot as usize].version += 1;
            groups.leave(group);
        }
        assert_eq!(order, [3, 1, 2, 0]);
        assert_eq!((groups.kept, groups.valid), (0, 0));
    }

    #[test]
    fn a_group_is_gone_when_the_last_flow_has_left_it() {
        let mut flows = flows(2);
        let mut groups = Groups::default();
        let old = groups.open();
        groups.fill(old, &mut ends(&[10, 20]));
        flows[0].version += 1;
        groups.leave(old);
        flows[1].version += 1;
        groups.leave(old);
        let new = groups.open();
        assert_ne!(old, new);
        assert_eq!(old.at, new.at);
        assert_eq!(groups.fill(new, &mut Vec::new()), None);
        assert!(groups.first(old, &flows).is_none());
    }

    #[test]
    fn what_is_left_behind_is_dropped() {
        let n = 3 * u32::try_from(LEFTOVERS_MIN).unwrap();
        let mut flows = flows(n);
        let mut groups = Groups::default();
        let group = groups.open();
        groups.fill(group, &mut ends(&vec![10; n as usize]));
        for flow in &mut flows[1..] {
            flow.version += 1;
            groups.leave(group);
        }
        groups.tidy(&flows);
        assert_eq!(groups.kept, 1);
        assert_eq!(groups.first(group, &flows).unwrap().slot, 0);
    }
}
