//! Who waits for whom when nothing moves any more.
//!
//! Built once, when a run stops: nothing of it is kept while a run goes on.

use std::collections::{BTreeMap, BTreeSet};

use tier6_collective::{Route, TransferId};

use super::pending::Part;
use super::{Chips, Held, QueueId};
use crate::circle::circle;
use crate::network::Network;
use crate::program::queue_of;
use crate::{Fabric, Wait};

/// The most waits that are told, a cycle apart.
const TOLD_MAX: usize = 64;

/// Something that keeps a transfer from going on.
#[derive(Debug, Clone, Copy)]
struct Edge {
    by: TransferId,
    why: &'static str,
}

impl Chips<'_> {
    /// Returns who waits for whom: a cycle among transfers alone when there is one, else what the
    /// network says, which knows of links that failed, and what the heads of the queues wait for.
    pub(crate) fn waits<N: Network>(&self, fabric: &Fabric<'_>, network: &N) -> (Vec<Wait>, Shape) {
        let mut waits = Vec::new();
        for job in 0..self.jobs.len() {
            let job = u32::try_from(job).expect("Invariant: jobs fit u32");
            let open = self.incomplete(job);
            if let Some(cycle) = self.cycle(job, &open) {
                return (cycle, Shape::Cycle);
            }
            self.heads(job, &open, &mut waits);
        }
        let on_links = self.named(network.waits(fabric));
        self.under_way(&on_links, &mut waits);
        (on_links.into_iter().chain(waits).collect(), Shape::Open)
    }

    /// Tells the transfers on the network of which it does not say what they wait for.
    fn under_way(&self, on_links: &[Wait], waits: &mut Vec<Wait>) {
        let told: BTreeSet<&str> = on_links.iter().map(|wait| wait.who.as_str()).collect();
        let flights = self.flights.used().into_iter();
        let names = flights.map(|id| {
            let node = self.flights[id].node;
            self.name(node.job, node.transfer)
        });
        let silent = names.filter(|name| !told.contains(name.as_str()));
        waits.extend(silent.map(|who| Wait {
            who,
            for_whom: "the network".to_owned(),
            why: "is under way".to_owned(),
        }));
        waits.truncate(TOLD_MAX);
    }

    /// Says which transfers of a job are not complete.
    fn incomplete(&self, job: u32) -> Vec<bool> {
        let state = &self.jobs[job as usize];
        let program = state.program;
        let mut open = vec![false; program.transfers() as usize];
        for queue in self.queues_of(job) {
            let mut next = self.queues[queue].next.map(|node| node.transfer);
            while let Some(id) = next {
                open[id.index()] = true;
                next = program.next(id);
            }
        }
        for flight in self.flights.used() {
            let node = self.flights[flight].node;
            if node.job == job {
                open[node.transfer.index()] = true;
            }
        }
        for id in state.loose.keys() {
            open[id.index()] = true;
        }
        for (of, id) in self.held().chain(self.without_resource()) {
            if of == job {
                open[id.index()] = true;
            }
        }
        self.spread(job, &mut open);
        let found = open.iter().filter(|open| **open).count() as u64;
        if found + state.done < u64::from(program.transfers()) {
            for (open, never) in open.iter_mut().zip(self.never_begin(job)) {
                *open |= never;
            }
            self.spread(job, &mut open);
        }
        open
    }

    /// What waits for an open transfer is open too, whatever the order of the ids.
    fn spread(&self, job: u32, open: &mut [bool]) {
        let program = self.program(job);
        let ids = (0..program.transfers()).map(TransferId);
        let mut found: Vec<_> = ids.filter(|id| open[id.index()]).collect();
        let mut told = Vec::new();
        while let Some(id) = found.pop() {
            told.clear();
            program.dependents(id, &mut told);
            for waiting in told.iter().map(|dependent| dependent.transfer) {
                if !open[waiting.index()] {
                    open[waiting.index()] = true;
                    found.push(waiting);
                }
            }
        }
    }

    fn queues_of(&self, job: u32) -> std::ops::Range<QueueId> {
        let state = &self.jobs[job as usize];
        let count = state.program.ports() * state.program.ranks();
        state.first_queue..state.first_queue + count
    }

    /// Returns the transfers that wait for a rank to enter, or for switches to have room.
    fn held(&self) -> impl Iterator<Item = (u32, TransferId)> + '_ {
        let held = self.seats.iter().flat_map(|seat| &seat.held);
        held.chain(self.contexts.line())
            .filter_map(|held| match *held {
                Held::Queue(queue) => {
                    let next = self.queues[queue].next?;
                    Some((next.job, next.transfer))
                }
                Held::Loose(node) => Some((node.job, node.transfer)),
                Held::Receive(job, transfer) => Some((job, transfer)),
            })
    }

    /// Returns the transfers that wait for a thread or for the right to post a receive.
    fn without_resource(&self) -> impl Iterator<Item = (u32, TransferId)> + '_ {
        self.hardware.iter().flat_map(|hardware| {
            let loose = hardware.loose_waiting();
            let loose = loose.map(|node| (node.job, node.transfer));
            loose.chain(hardware.receives_waiting())
        })
    }

    /// Returns what keeps an incomplete transfer from going on.
    fn edges(
        &self,
        job: u32,
        id: TransferId,
        before: Option<TransferId>,
        open: &[bool],
    ) -> Vec<Edge> {
        let program = self.program(job);
        let mut asked = Vec::new();
        program.dependencies(id, &mut asked);
        let needed = asked.iter().filter(|ask| open[ask.transfer.index()]);
        let needed = needed.map(|ask| Edge {
            by: ask.transfer,
            why: "needs it to be complete",
        });
        let queued = before.map(|by| Edge {
            by,
            why: "is behind it in the queue of the port",
        });
        needed.chain(queued).collect()
    }

    /// Returns the incomplete transfer in front of each in its queue.
    fn predecessors(&self, job: u32, open: &[bool]) -> Vec<Option<TransferId>> {
        let program = self.program(job);
        let mut before = vec![None; open.len()];
        for queue in self.queues_of(job) {
            let mut next = self.queues[queue].next.map(|node| node.transfer);
            while let Some(id) = next {
                next = program.next(id);
                if let Some(later) = next {
                    before[later.index()] = Some(id);
                }
            }
        }
        before
    }

    /// Returns a cycle of waits, if there is one.
    fn cycle(&self, job: u32, open: &[bool]) -> Option<Vec<Wait>> {
        let before = self.predecessors(job, open);
        let id_of = |at| TransferId(u32::try_from(at).expect("Invariant: ids are u32"));
        let around = circle(open.len(), |at| {
            if !open[at] {
                return Vec::new();
            }
            // What it is behind comes first.
            let edges = self.edges(job, id_of(at), before[at], open);
            edges.iter().rev().map(|edge| edge.by.index()).collect()
        })?;
        let ids: Vec<_> = around.into_iter().map(id_of).collect();
        Some(self.tell_cycle(job, &ids, &before, open))
    }

    fn tell_cycle(
        &self,
        job: u32,
        ids: &[TransferId],
        before: &[Option<TransferId>],
        open: &[bool],
    ) -> Vec<Wait> {
        let around = ids.iter().zip(ids.iter().cycle().skip(1));
        around
            .map(|(&id, &by)| {
                let edges = self.edges(job, id, before[id.index()], open);
                let edge = edges.iter().find(|edge| edge.by == by);
                Wait {
                    who: self.name(job, id),
                    for_whom: self.name(job, by),
                    why: edge.map_or("waits for it", |edge| edge.why).to_owned(),
                }
            })
            .collect()
    }

    /// Tells what the heads of the queues, and the transfers without a queue, wait for.
    fn heads(&self, job: u32, open: &[bool], waits: &mut Vec<Wait>) {
        let program = self.program(job);
        let heads = self
            .queues_of(job)
            .filter_map(|queue| self.queues[queue].next);
        let heads = heads.map(|node| node.transfer);
        let loose = (0..program.transfers()).map(TransferId).filter(|id| {
            let transfer = program.transfer(*id);
            open[id.index()] && queue_of(&transfer, |group| program.group(group)).is_none()
        });
        for id in heads.chain(loose) {
            if waits.len() >= TOLD_MAX {
                return;
            }
            let who = self.name(job, id);
            for edge in self.edges(job, id, None, open) {
                waits.push(Wait {
                    who: who.clone(),
                    for_whom: self.name(job, edge.by),
                    why: edge.why.to_owned(),
                });
            }
            if let Some(from) = program.unsent(id) {
                waits.push(Wait {
                    who: who.clone(),
                    for_whom: format!("rank {from}"),
                    why: Wait::UNSENT.to_owned(),
                });
            }
            let transfer = program.transfer(id);
            let has_credit = self.jobs[job as usize].pending.count(id, Part::Credit) > 0;
            if let Route::Send { dst, .. } = transfer.route
                && self.is_rendezvous(job, &transfer)
                && !has_credit
            {
                waits.push(Wait {
                    who,
                    for_whom: format!("rank {dst}"),
                    why: "has no credit of the receiver".to_owned(),
                });
            }
        }
    }

    /// Calls the messages that a network speaks of by the names of their transfers.
    fn named(&self, mut waits: Vec<Wait>) -> Vec<Wait> {
        let flights = self.flights.used().into_iter();
        let names: BTreeMap<String, String> = flights
            .map(|id| {
                let node = self.flights[id].node;
                (format!("message {id}"), self.name(node.job, node.transfer))
            })
            .collect();
        for wait in &mut waits {
            for place in [&mut wait.who, &mut wait.for_whom] {
                if let Some(name) = names.get(place.as_str()) {
                    place.clone_from(name);
                }
            }
        }
        waits
    }

    fn name(&self, job: u32, id: TransferId) -> String {
        let transfer = self.program(job).transfer(id);
        let seat = self.issuer(job, &transfer);
        let state = &self.jobs[job as usize];
        let rank = seat - state.first_seat;
        let call = match self.calls.get(state.call as usize) {
            Some(call) if self.calls.len() > 1 => format!("{} ", call.name),
            _ => String::new(),
        };
        let channels = self.jobs.iter().filter(|other| other.call == state.call);
        let channel = match channels.count() {
            1 => String::new(),
            _ => format!("channel {} ", state.channel),
        };
        let name = match state.program.name(id) {
            Some(name) => format!("{name}, transfer {id}"),
            None => format!("transfer {id}"),
        };
        format!("{call}{channel}rank {rank} ({name})")
    }
}

/// What the waits look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// They go round in a circle.
    Cycle,
    /// They end at something that will never come.
    Open,
}
