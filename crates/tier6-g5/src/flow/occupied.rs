//! Links as flows see them: who comes and who goes.

use super::FlowNetwork;
use super::fluid::{Ended, Going, bytes_per_ps};
use super::members::{Member, Members};
use crate::Fabric;
use crate::network::PathId;

/// A link as flows see it.
#[derive(Debug, Default, Clone)]
pub(super) struct Occupied {
    /// Flows on it, and 1 more when it has failed: nobody is alone there.
    pub(super) load: u32,
    /// Bytes per picosecond.
    pub(super) capacity: f64,
    /// Load of all flows on it per unit of their rate.
    pub(super) weight: f64,
    /// The last search that has met it.
    pub(super) search: u32,
    /// Number within that search.
    pub(super) place: u32,
    pub(super) members: Members,
}

/// Whether a flow has its links for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alone {
    Yes,
    No,
}

impl FlowNetwork {
    /// Occupies the links of a path; says whether they were all empty.
    pub(super) fn occupy(&mut self, slot: u32, fabric: &Fabric<'_>, path: PathId) -> Alone {
        let number = self.tenants[slot as usize].number;
        let mut alone = Alone::Yes;
        for one in fabric.uses(path) {
            let link = &mut self.links[one.link.index()];
            if link.load > 0 {
                alone = Alone::No;
            }
            link.load += 1;
            link.weight += one.weight;
            link.members.push(Member {
                slot,
                number,
                weight: one.weight,
            });
        }
        alone
    }

    /// A message that meets others stops them no earlier than where it would stop if it and they
    /// shared each of its links evenly.
    pub(super) fn meet(&mut self, slot: u32, fabric: &Fabric<'_>) {
        let flow = &self.flows[slot as usize];
        let uses = fabric.uses(flow.path);
        let mut lowest = bytes_per_ps(flow.pace);
        for one in uses {
            let link = &self.links[one.link.index()];
            lowest = lowest.min(link.capacity / link.weight);
        }
        // The search goes from any of its links to all of them.
        if let Some(first) = uses.first() {
            self.changed.push(first.link.0);
        }
        self.floor = self.floor.min(lowest);
    }

    /// Takes a flow off its links. Where others stay they are to be shared anew.
    pub(super) fn vacate(&mut self, slot: u32, fabric: &Fabric<'_>) -> Ended {
        let place = &mut self.flows[slot as usize];
        let ended = Ended {
            message: place.message,
            path: place.path,
            bytes: place.bytes,
            start: place.start,
        };
        let mut others = Alone::Yes;
        for one in fabric.uses(ended.path) {
            let link = &mut self.links[one.link.index()];
            link.load -= 1;
            link.weight -= one.weight;
            if link.load == 0 {
                link.weight = 0.0;
                link.members.clear();
            } else {
                others = Alone::No;
                self.changed.push(one.link.0);
            }
        }
        if others == Alone::No {
            self.floor = self.floor.min(place.rate(fabric));
        }
        if let (Going::Shared, Some(group)) = (place.going, self.shares[slot as usize].group) {
            self.groups.leave(group);
        }
        place.version = place.version.wrapping_add(1);
        place.going = Going::Over;
        self.tenants[slot as usize].number = self.next_number();
        self.free.push(slot);
        self.sent_bytes[ended.path.0 as usize] += ended.bytes;
        ended
    }
}
