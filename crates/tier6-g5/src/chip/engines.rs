//! The engines (CDMA) and the memory of a chip, which all jobs on it share.

use std::collections::VecDeque;

use tier6_collective::TransferId;
use tier6_units::SimTime;

use super::{Node, QueueId};
use crate::Cdma;

/// What a chip has one of.
#[derive(Debug)]
pub(crate) struct Hardware {
    /// Threads of all engines that hold no instruction; a message over k engines takes one of
    /// each of k.
    threads_free: u64,
    waiting: VecDeque<Waiting>,
    /// When the memory has done what it has been given.
    memory_free: SimTime,
    /// Receives that may still be posted.
    credits_free: u64,
    receives: VecDeque<(u32, TransferId)>,
}

/// Who waits for a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Waiting {
    Queue(QueueId),
    Loose(Node),
}

impl Hardware {
    pub(crate) fn new(cdma: &Cdma) -> Self {
        let per_engine = |count: u32| u64::from(count) * u64::from(cdma.units.max(1));
        Self {
            // Every message finds as many as it needs on an idle chip.
            threads_free: per_engine(cdma.threads.max(1)),
            waiting: VecDeque::new(),
            memory_free: SimTime::ZERO,
            credits_free: per_engine(cdma.credits.max(1)),
            receives: VecDeque::new(),
        }
    }

    /// Takes threads for a message over `engines` engines, if there are as many.
    pub(crate) fn take_threads(&mut self, engines: u32) -> bool {
        let engines = u64::from(engines);
        let enough = self.threads_free >= engines;
        if enough {
            self.threads_free -= engines;
        }
        enough
    }

    pub(crate) fn give_threads(&mut self, engines: u32) {
        self.threads_free += u64::from(engines);
    }

    pub(crate) fn wait(&mut self, who: Waiting) {
        self.waiting.push_back(who);
    }

    /// Returns how many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns who waits longest, to try again.
    pub(crate) fn next_waiting(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }

    /// Puts the one who came last first: it has only tried too early.
    pub(crate) fn last_to_front(&mut self) {
        if let Some(last) = self.waiting.pop_back() {
            self.waiting.push_front(last);
        }
    }

    /// Gives the memory work, from `now` on; returns when it is done.
    pub(crate) fn use_memory(&mut self, now: SimTime, work: SimTime) -> SimTime {
        let done = self.memory_free.max(now) + work;
        self.memory_free = done;
        done
    }

    /// Takes the right to post a receive, or queues the receive.
    pub(crate) fn take_credit(&mut self, job: u32, transfer: TransferId) -> bool {
        if self.credits_free == 0 {
            self.receives.push_back((job, transfer));
            return false;
        }
        self.credits_free -= 1;
        true
    }

    /// Gives the right back, or hands it to the receive that waits longest.
    pub(crate) fn give_credit(&mut self) -> Option<(u32, TransferId)> {
        let next = self.receives.pop_front();
        if next.is_none() {
            self.credits_free += 1;
        }
        next
    }

    /// Returns what has no port and waits for threads.
    pub(crate) fn loose_waiting(&self) -> impl Iterator<Item = Node> + '_ {
        self.waiting.iter().filter_map(|who| match *who {
            Waiting::Loose(node) => Some(node),
            Waiting::Queue(_) => None,
        })
    }

    /// Returns the receives that are not posted yet.
    pub(crate) fn receives_waiting(&self) -> impl Iterator<Item = (u32, TransferId)> + '_ {
        self.receives.iter().copied()
    }
}
