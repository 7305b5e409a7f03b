//! What the lines tell when a run is over, or when nothing moves any more.

use super::Lines;
use crate::packet::server::Halt;
use crate::{Fabric, FabricLinkId, Wait};

impl Lines {
    /// Checks that nothing is left and that every link has carried what it owed.
    pub(crate) fn audit(&self) -> Result<(), String> {
        let left = self.flights.len() - self.spare.len();
        if left > 0 {
            return Err(format!("{left} messages are still on their way"));
        }
        for (number, (server, owed)) in self.servers.iter().zip(&self.owed).enumerate() {
            let carried = server.tally.payload_bytes;
            if carried != *owed {
                return Err(format!(
                    "link {number} carried {carried} bytes of {owed} that it owed"
                ));
            }
        }
        let queued = self.slots.iter().flat_map(|slot| {
            let served = self.servers[slot.server as usize].serving;
            let served = served.filter(|_| slot.trains.len() == 1);
            let train = slot.trains.front();
            train.filter(|train| served.is_none_or(|served| served.count != train.count))
        });
        match queued.count() {
            0 => Ok(()),
            queues => Err(format!("{queues} queues still hold packets")),
        }
    }

    /// Returns who waits for whom.
    pub(crate) fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        let mut waits = Vec::new();
        for slot in &self.slots {
            let server = &self.servers[slot.server as usize];
            let Some(train) = slot.trains.front() else {
                continue;
            };
            match server.halt {
                Halt::None => {}
                Halt::Failed => waits.push(Wait {
                    who: format!("message {}", self.flights[train.flight as usize].name.0),
                    for_whom: fabric.link_name(FabricLinkId(slot.server)),
                    why: "the link has failed".to_owned(),
                }),
            }
        }
        waits.dedup();
        waits
    }
}
