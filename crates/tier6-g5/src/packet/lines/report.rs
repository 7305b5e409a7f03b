//! What the lines tell when a run is over, or when nothing moves any more.

use super::Lines;
use crate::network::MessageId;
use crate::packet::control::Stop;
use crate::packet::flight::{Care, Flight};
use crate::packet::server::Halt;
use crate::packet::train::Slot;
use crate::{Fabric, FabricLinkId, LinkAccount, Wait};

impl Lines {
    /// Checks that nothing is left and that every link has carried what it owed. Where a link has
    /// failed things stay where they are.
    pub(crate) fn audit(&self) -> Result<(), String> {
        if self
            .servers
            .iter()
            .any(|server| server.halt == Halt::Failed)
        {
            return Ok(());
        }
        let left = self.flights.len() - self.spare.len();
        if left > 0 {
            return Err(format!("{left} messages are still on their way"));
        }
        let is_closed = self.is_closed();
        for (number, (server, owed)) in self.servers.iter().zip(&self.owed).enumerate() {
            let carried = server.tally.payload_bytes;
            // What is sent again is carried again.
            if carried < *owed || carried > *owed && !is_closed {
                return Err(format!(
                    "link {number} carried {carried} bytes of {owed} that it owed"
                ));
            }
        }
        self.audit_loop()?;
        let queued = self.slots.iter().filter_map(|slot| {
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

    fn audit_loop(&self) -> Result<(), String> {
        let Some(control) = &self.control else {
            return Ok(());
        };
        let held = control.buffers.iter().filter(|buffer| !buffer.is_empty());
        let taken = control.sites.iter().filter_map(|site| site.pools);
        let taken = taken.flatten();
        // Credits of the last packets may still be on their way back.
        let pending: u32 = self.calendar.credits();
        let taken: u32 = taken.map(|pool| pool.taken()).sum();
        match (held.count(), taken) {
            (0, taken) if taken == pending => Ok(()),
            (0, taken) => Err(format!(
                "{taken} credits taken, {pending} on their way back"
            )),
            (buffers, _) => Err(format!("{buffers} switches still hold packets")),
        }
    }

    /// Returns what a link has carried.
    pub(crate) fn account(&self, server: u32) -> LinkAccount {
        let account = self.servers[server as usize].account(self.now);
        let Some(control) = &self.control else {
            return account;
        };
        let site = &control.sites[server as usize];
        LinkAccount {
            credit_stall: site.credit_stall.to_sim(),
            paused: site.paused.to_sim(),
            peak_queue: account.peak_queue.max(site.peak),
            marked: site.marked,
            lost: site.lost,
            resent: site.resent,
            ..account
        }
    }

    /// Returns who waits for whom.
    pub(crate) fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        let mut waits = Vec::new();
        for slot in self.slots.iter().filter(|slot| !slot.trains.is_empty()) {
            self.add_waits_in(slot, fabric, &mut waits);
        }
        let mut is_spare = vec![false; self.flights.len()];
        for number in &self.spare {
            is_spare[*number as usize] = true;
        }
        let flights = self.flights.iter().zip(&self.progress).zip(is_spare);
        let live = flights.filter(|(_, is_spare)| !is_spare);
        waits.extend(live.filter_map(|((flight, of), _)| waits_for_answer(flight, of.name)));
        waits.sort();
        waits.dedup();
        waits
    }

    /// Adds who waits in an input of a link: the message for the link, and the link before, which
    /// is kept waiting by what came by it.
    fn add_waits_in(&self, slot: &Slot, fabric: &Fabric<'_>, waits: &mut Vec<Wait>) {
        let name = |server: u32| fabric.link_name(FabricLinkId(server));
        let server = &self.servers[slot.server as usize];
        let channel = usize::from(slot.channel);
        let why = match (server.halt, server.paused[channel]) {
            (Halt::Failed, _) => Some("the link has failed"),
            (Halt::None, true) => Some("the link is paused"),
            (Halt::None, false) if server.serving.is_some() => None,
            (Halt::None, false) => Some("it holds no credits"),
        };
        if let (Some(why), Some(train)) = (why, slot.trains.front()) {
            let message = self.progress[train.flight as usize].name.0;
            waits.push(Wait {
                who: format!("message {message}"),
                for_whom: name(slot.server),
                why: why.to_owned(),
            });
        }
        let feeder = slot.tie.checked_sub(1);
        let Some(feeder) = feeder.filter(|feeder| (*feeder as usize) < self.servers.len()) else {
            return;
        };
        let control = self.control.as_ref();
        let stopped = control.and_then(|control| control.sites[feeder as usize].stopped);
        let before = &self.servers[feeder as usize];
        let why = match (before.halt, before.paused[channel], stopped) {
            (Halt::None, true, _) => "paused while its packets wait there",
            (Halt::None, false, Some((_, Stop::Credit))) => {
                "packets that wait there hold its credits"
            }
            (Halt::None | Halt::Failed, ..) => return,
        };
        waits.push(Wait {
            who: name(feeder),
            for_whom: name(slot.server),
            why: why.to_owned(),
        });
    }
}

/// What a message waits for that no link holds.
fn waits_for_answer(flight: &Flight, name: MessageId) -> Option<Wait> {
    let who = format!("message {}", name.0);
    let in_flight = flight
        .ends
        .as_ref()
        .map_or(0, |ends| ends.sender.in_flight());
    if flight.care == Care::Broken {
        return Some(Wait {
            who,
            for_whom: "a packet that was lost".to_owned(),
            why: "no link layer sends it again".to_owned(),
        });
    }
    (in_flight > 0).then(|| Wait {
        who,
        for_whom: format!("the answer to {in_flight} packets"),
        why: "they were sent and not acknowledged".to_owned(),
    })
}
