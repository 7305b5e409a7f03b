//! Max-min fair rates: nobody can get more without taking from somebody who has less.
//!
//! Progressive filling (Bertsekas and Gallager 1992, 6.5.2): all rates rise together until a link
//! is full or a flow has what it can use; those stay, the others rise on. A flow may load a link
//! with more or less than a byte per byte; its rate is what is shared fairly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Levels closer than this are one level: rounding must not split flows that are alike.
const SAME: f64 = 1e-12;

/// Links, flows over them, and room to work in, all kept from one question to the next.
#[derive(Debug, Default)]
pub(super) struct MaxMin {
    links: Vec<Room>,
    flows: Vec<Demand>,
    /// Links of each flow in turn.
    uses: Vec<u32>,
    /// Loads on them per unit of its rate, as far as the last one that is not 1: most are.
    loads: Vec<f64>,
    /// Flows of each link in turn.
    members: Vec<u32>,
    rates: Vec<f64>,
    /// Full levels of links, as far as they were known; a level only rises.
    levels: BinaryHeap<Reverse<(Level, u32)>>,
    /// Flows by what they can use.
    by_limit: Vec<u32>,
}

/// What is left of a link.
#[derive(Debug)]
struct Room {
    capacity: f64,
    /// Load of the flows that still rise, per unit of rate.
    weight: f64,
    /// How many they are.
    rising: u32,
    /// Where its flows end in `members`.
    end: u32,
}

#[derive(Debug)]
struct Demand {
    /// The most it can use.
    limit: f64,
    /// Where its links end in `uses`.
    end: u32,
    rises: Rising,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rising {
    Yes,
    No,
}

/// A level that orders: never negative and always a number, so that its bits are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Level(u64);

impl Level {
    fn new(level: f64) -> Self {
        Self(level.max(0.0).to_bits())
    }

    fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl MaxMin {
    /// Makes room for flows, of four links each: more than most use.
    pub(super) fn reserve(&mut self, flows: usize) {
        self.clear();
        self.flows.reserve(flows);
        self.uses.reserve(4 * flows);
    }

    /// Forgets all links and flows.
    pub(super) fn clear(&mut self) {
        self.links.clear();
        self.flows.clear();
        self.uses.clear();
        self.loads.clear();
    }

    /// Adds a link of a capacity, 0 or more. Links are numbered from 0.
    pub(super) fn add_link(&mut self, capacity: f64) {
        self.links.push(Room {
            capacity,
            weight: 0.0,
            rising: 0,
            end: 0,
        });
    }

    /// Takes from the capacity of a link what flows have that are not part of the question.
    pub(super) fn take(&mut self, link: u32, load: f64) {
        self.links[link as usize].capacity -= load;
    }

    /// Adds a link to the flow that is added next, with a load above 0 per unit of its rate.
    pub(super) fn add_use(&mut self, link: u32, load: f64) {
        #[expect(clippy::float_cmp, reason = "what multiplies like nothing")]
        if load != 1.0 {
            self.loads.resize(self.uses.len(), 1.0);
            self.loads.push(load);
        }
        self.uses.push(link);
    }

    /// Adds a flow that can use `limit`, infinity for no limit, over the links since the flow
    /// before. Flows are numbered from 0.
    pub(super) fn add_flow(&mut self, limit: f64) {
        self.flows.push(Demand {
            limit,
            end: short(self.uses.len()),
            rises: Rising::Yes,
        });
    }

    /// Returns the rate of each flow. Flows with neither a link nor a limit get infinity.
    pub(super) fn solve(&mut self) -> &[f64] {
        self.gather();
        self.rates.clear();
        self.rates.resize(self.flows.len(), f64::INFINITY);
        let mut limited = 0;
        let mut level = 0.0_f64;
        while let Some((full, link)) = self.next_full() {
            // Levels rise, apart from rounding.
            let next = if full <= level * (1.0 + SAME) {
                level
            } else {
                full
            };
            while let Some(flow) = self.by_limit.get(limited).copied() {
                if self.flows[flow as usize].limit > next {
                    break;
                }
                limited += 1;
                self.settle(flow, self.flows[flow as usize].limit);
            }
            if self.links[link as usize].rising == 0 {
                continue;
            }
            if self.level(link) > next * (1.0 + SAME) {
                // Flows that can use less have left it room.
                self.levels
                    .push(Reverse((Level::new(self.level(link)), link)));
                continue;
            }
            level = next;
            for at in self.members_of(link) {
                self.settle(self.members[at], level);
            }
        }
        for flow in limited..self.by_limit.len() {
            let flow = self.by_limit[flow];
            self.settle(flow, self.flows[flow as usize].limit);
        }
        &self.rates
    }

    /// Gives a flow its rate, for good.
    fn settle(&mut self, flow: u32, rate: f64) {
        let demand = &mut self.flows[flow as usize];
        if demand.rises == Rising::No {
            return;
        }
        demand.rises = Rising::No;
        self.rates[flow as usize] = rate;
        for at in self.uses_of(flow) {
            let load = self.load(at);
            let room = &mut self.links[self.uses[at] as usize];
            room.rising -= 1;
            room.weight -= load;
            room.capacity -= load * rate;
        }
    }

    /// Returns the link that is full first and the level at which it is; the levels that are
    /// kept may be from before others settled.
    fn next_full(&mut self) -> Option<(f64, u32)> {
        while let Some(Reverse((known, link))) = self.levels.pop() {
            if self.links[link as usize].rising == 0 {
                continue;
            }
            let level = Level::new(self.level(link));
            let is_first = match self.levels.peek() {
                Some(Reverse((other, _))) => level <= *other,
                None => true,
            };
            if level <= known || is_first {
                return Some((level.get(), link));
            }
            self.levels.push(Reverse((level, link)));
        }
        None
    }

    /// The level at which a link with rising flows is full.
    fn level(&self, link: u32) -> f64 {
        let room = &self.links[link as usize];
        room.capacity.max(0.0) / room.weight
    }

    /// Sorts flows by link and by limit, and takes the first look at all levels.
    fn gather(&mut self) {
        for (at, link) in self.uses.iter().enumerate() {
            let load = self.load(at);
            let room = &mut self.links[*link as usize];
            room.rising += 1;
            room.weight += load;
        }
        let mut end = 0;
        for room in &mut self.links {
            // For now where its flows begin; every flow that is put there moves it on.
            room.end = end;
            end += room.rising;
        }
        self.members.clear();
        self.members.resize(self.uses.len(), 0);
        self.by_limit.clear();
        for flow in 0..short(self.flows.len()) {
            for at in self.uses_of(flow) {
                let room = &mut self.links[self.uses[at] as usize];
                self.members[room.end as usize] = flow;
                room.end += 1;
            }
            if self.flows[flow as usize].limit.is_finite() {
                self.by_limit.push(flow);
            }
        }
        let flows = &self.flows;
        self.by_limit.sort_by(|a, b| {
            let (a, b) = (flows[*a as usize].limit, flows[*b as usize].limit);
            a.total_cmp(&b)
        });
        let mut levels = std::mem::take(&mut self.levels).into_vec();
        levels.clear();
        for link in 0..short(self.links.len()) {
            if self.links[link as usize].rising > 0 {
                levels.push(Reverse((Level::new(self.level(link)), link)));
            }
        }
        self.levels = BinaryHeap::from(levels);
    }

    /// Load on a link per unit of the rate of the flow that uses it.
    fn load(&self, at: usize) -> f64 {
        self.loads.get(at).copied().unwrap_or(1.0)
    }

    fn uses_of(&self, flow: u32) -> std::ops::Range<usize> {
        let before = (flow as usize).checked_sub(1);
        let start = before.map_or(0, |before| self.flows[before].end);
        start as usize..self.flows[flow as usize].end as usize
    }

    fn members_of(&self, link: u32) -> std::ops::Range<usize> {
        let before = (link as usize).checked_sub(1);
        let start = before.map_or(0, |before| self.links[before].end);
        start as usize..self.links[link as usize].end as usize
    }
}

fn short(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: flows and their links have 32-bit numbers")
}

#[cfg(test)]
mod tests;
