//! What leaves through each port, in order.

use super::Schedule;
use super::ids::{PortId, RankId, TransferId};

/// The transfers that leave one rank through one port, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The rank that issues them.
    pub rank: RankId,
    /// The port.
    pub port: PortId,
    /// The transfers, first to last.
    pub transfers: Vec<TransferId>,
}

impl Schedule {
    /// Returns the queues in order of ranks and ports; none is empty. A transfer is in the queue
    /// that [`Transfer::queue`](crate::Transfer::queue) names, if it names one.
    pub fn queues(&self) -> Vec<Queue> {
        let mut queues: Vec<Queue> = Vec::new();
        let mut places: Vec<Option<usize>> = vec![None; self.ranks() as usize * PortId::COUNT];
        for (id, transfer) in self.iter() {
            let Some((rank, port)) = transfer.queue() else {
                continue;
            };
            let place = &mut places[rank.index() * PortId::COUNT + port.index()];
            let place = *place.get_or_insert_with(|| {
                queues.push(Queue {
                    rank,
                    port,
                    transfers: Vec::new(),
                });
                queues.len() - 1
            });
            queues[place].transfers.push(id);
        }
        queues.sort_unstable_by_key(|queue| (queue.rank, queue.port));
        queues
    }
}
