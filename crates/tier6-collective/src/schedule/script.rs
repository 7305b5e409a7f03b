//! A schedule as a file has it, also one that cannot end.
//!
//! A [`Schedule`] cannot deadlock: its transfers wait for earlier ones only. What people write can.
//! A script holds what a schedule has no place for, so that an engine can run it as far as it gets
//! and say who waits for whom.

use super::Schedule;
use super::ids::{RankId, TransferId};

/// A schedule of a file with what keeps it from ending, if something does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The transfers, with their waits for earlier ones.
    pub schedule: Schedule,
    /// Waits of a transfer for itself or for a later one. There are none in a script that ends.
    pub late_waits: Vec<(TransferId, TransferId)>,
    /// Transfers that wait for a message of a rank which that rank never sends.
    pub unsent: Vec<(TransferId, RankId)>,
    /// What the file calls each transfer; empty where it numbers them.
    pub names: Vec<String>,
}

impl Script {
    /// Returns a schedule that ends, as a script.
    pub(super) const fn sound(schedule: Schedule) -> Self {
        Self {
            schedule,
            late_waits: Vec::new(),
            unsent: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Says whether nothing keeps it from ending.
    pub fn can_end(&self) -> bool {
        self.late_waits.is_empty() && self.unsent.is_empty()
    }

    /// Says whether each transfer can begin some time: whether its waits, and the queues of the
    /// ports, do not go round in a circle.
    pub(super) fn has_order(&self) -> bool {
        let n = self.schedule.transfers().len();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut waits = vec![0_u32; n];
        let mut add = |before: TransferId, later: TransferId| {
            followers[before.index()].push(later.index());
            waits[later.index()] += 1;
        };
        for (id, _) in self.schedule.iter() {
            for &before in self.schedule.dependencies(id) {
                add(before, id);
            }
        }
        for &(id, on) in &self.late_waits {
            add(on, id);
        }
        for queue in self.schedule.queues() {
            for pair in queue.transfers.windows(2) {
                add(pair[0], pair[1]);
            }
        }
        let mut ready: Vec<usize> = (0..n).filter(|at| waits[*at] == 0).collect();
        let mut begun = 0;
        while let Some(at) = ready.pop() {
            begun += 1;
            for &later in &followers[at] {
                waits[later] -= 1;
                if waits[later] == 0 {
                    ready.push(later);
                }
            }
        }
        begun == n
    }
}
