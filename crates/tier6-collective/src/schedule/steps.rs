//! Steps, derived from dependencies and ports.

use super::Schedule;
use super::ids::PortId;

/// In which step each transfer goes, when every step takes equally long and every transfer goes
/// as early as it may: after its dependencies, and after the transfer before it on its port.
/// Local copies and reductions take no step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// Step of each transfer, from 0; a local transfer has the number of steps before it.
    pub of: Vec<u32>,
    /// How many steps in all.
    pub count: u32,
}

impl Schedule {
    /// Returns the steps of the schedule: the latency terms of its cost.
    pub fn steps(&self) -> Steps {
        let mut of = Vec::with_capacity(self.transfers.len());
        let mut queues = vec![0_u32; self.ranks() as usize * PortId::COUNT];
        let mut count = 0;
        // The number of steps that are over when a transfer is complete.
        let mut over: Vec<u32> = Vec::with_capacity(self.transfers.len());
        for (id, transfer) in self.iter() {
            let ready = self.dependencies(id).iter().map(|d| over[d.index()]).max();
            let ready = ready.unwrap_or(0);
            if transfer.is_local() {
                of.push(ready);
                over.push(ready);
                continue;
            }
            let queue = transfer
                .queue()
                .map(|(rank, port)| &mut queues[rank.index() * PortId::COUNT + port.index()]);
            let step = ready.max(queue.as_deref().copied().unwrap_or(0));
            if let Some(queue) = queue {
                *queue = step + 1;
            }
            of.push(step);
            over.push(step + 1);
            count = count.max(step + 1);
        }
        Steps { of, count }
    }
}
