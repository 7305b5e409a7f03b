//! Where packets go: hops over servers, one after the other, with forks where a switch copies
//! and joins where it adds.

use tier6_units::ByteTime;

use super::fine::Fine;
use super::train::Train;

/// A step of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    pub(crate) server: u32,
    /// By which input of the server.
    pub(crate) slot: u32,
    /// What a byte takes here; more than the server's own time where a switch serves slower than
    /// its links could carry.
    pub(crate) byte: ByteTime,
    /// Hops after it: a run of `branches`.
    pub(crate) next: (u32, u32),
    /// Where it ends, if it is a last hop: 0 on a route, the number of the member on a tree.
    pub(crate) leaf: u32,
    /// Whether it takes packets one by one as they come, or waits for all that are to be added.
    pub(crate) intake: Intake,
}

/// What a hop waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intake {
    Single,
    /// The join of this number.
    Join(u32),
}

/// A way from one chip, or several at once, to one or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// First hops: one, or that of every chip whose data a switch adds.
    pub(crate) sources: Vec<u32>,
    pub(crate) leaves: u32,
    /// Every server on the way.
    pub(crate) servers: Vec<u32>,
    /// Latencies of all links on a route.
    pub(crate) latency: Fine,
    /// What a byte takes on the slowest.
    pub(crate) byte: ByteTime,
    /// The first hop of the way back, where answers take bytes.
    pub(crate) way_back: Option<u32>,
}

impl Route {
    /// Returns the last link.
    pub(crate) fn exit(&self) -> u32 {
        self.servers.last().copied().unwrap_or(0)
    }

    /// Returns whether switches copy or add on the way.
    pub(crate) fn is_tree(&self) -> bool {
        self.sources.len() > 1 || self.leaves > 1
    }
}

/// A hop to be laid: the server, what a byte takes there, and which earlier hops feed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HopPlan {
    pub(crate) server: u32,
    pub(crate) byte: ByteTime,
    pub(crate) fed_by: Vec<usize>,
}

/// A place where a switch adds packets of several inputs: packet k goes on when all have it.
#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) hop: u32,
    pub(crate) feeders: Vec<u32>,
    /// Messages that are being added, first come first.
    pub(crate) sums: Vec<Sum>,
}

/// One message that is being added.
#[derive(Debug)]
pub(crate) struct Sum {
    pub(crate) leader: u32,
    /// Trains that each input has announced.
    inputs: Vec<Vec<Train>>,
    /// Packets that have been handed on.
    emitted: u32,
}

impl Join {
    fn sum(&mut self, leader: u32) -> &mut Sum {
        let at = self.sums.iter().position(|sum| sum.leader == leader);
        let at = at.unwrap_or_else(|| {
            self.sums.push(Sum::new(leader, self.feeders.len()));
            self.sums.len() - 1
        });
        &mut self.sums[at]
    }

    fn input(&self, feeder: u32) -> usize {
        let at = self.feeders.iter().position(|other| *other == feeder);
        at.expect("Invariant: who hands on to a join feeds it")
    }

    /// Takes a train of one input.
    pub(crate) fn announce(&mut self, leader: u32, feeder: u32, train: Train) {
        let input = self.input(feeder);
        self.sum(leader).announce(input, train);
    }

    /// Takes the last packets of an input back; returns how many of them had been handed on.
    pub(crate) fn truncate(&mut self, leader: u32, feeder: u32, excess: u32) -> u32 {
        let input = self.input(feeder);
        self.sum(leader).truncate(input, excess)
    }

    /// Returns the next packets that all inputs have.
    pub(crate) fn next(&mut self, leader: u32) -> Option<Train> {
        let hop = self.hop;
        self.sum(leader).next(hop)
    }

    /// Forgets a message that has been added.
    pub(crate) fn forget(&mut self, leader: u32) {
        self.sums.retain(|sum| sum.leader != leader);
    }
}

impl Sum {
    pub(crate) fn new(leader: u32, inputs: usize) -> Self {
        Self {
            leader,
            inputs: vec![Vec::new(); inputs],
            emitted: 0,
        }
    }

    pub(crate) fn announce(&mut self, input: usize, train: Train) {
        let trains = &mut self.inputs[input];
        if !trains.last_mut().is_some_and(|last| last.couple(&train)) {
            trains.push(train);
        }
    }

    /// Takes the last packets of an input back; returns how many of them had been handed on.
    pub(crate) fn truncate(&mut self, input: usize, mut excess: u32) -> u32 {
        let trains = &mut self.inputs[input];
        while excess > 0 {
            let last = trains.last_mut().expect("Invariant: it was announced");
            let taken = excess.min(last.count);
            last.count -= taken;
            excess -= taken;
            if last.count == 0 {
                trains.pop();
            }
        }
        let left = trains.last().map_or(0, |last| last.first + last.count);
        let taken = self.emitted.saturating_sub(left);
        self.emitted -= taken;
        taken
    }

    /// Returns the next packets that all inputs have, as a train of the hop.
    pub(crate) fn next(&mut self, hop: u32) -> Option<Train> {
        let at = self.emitted;
        let mut sum: Option<Train> = None;
        for trains in &self.inputs {
            let train = trains
                .iter()
                .rev()
                .find(|train| train.first <= at && at < train.first + train.count)?;
            let mut part = *train;
            part.advance(at - train.first);
            sum = Some(match sum {
                None => part,
                Some(sum) => {
                    let is_even = sum.gap == part.gap || sum.count == 1 || part.count == 1;
                    Train {
                        ready: sum.ready.max(part.ready),
                        count: if is_even {
                            sum.count.min(part.count)
                        } else {
                            1
                        },
                        ..sum
                    }
                }
            });
        }
        let sum = sum?;
        self.emitted += sum.count;
        Some(Train {
            flight: self.leader,
            hop,
            lead: Fine::ZERO,
            ..sum
        })
    }
}
