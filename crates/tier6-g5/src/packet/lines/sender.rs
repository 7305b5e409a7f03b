//! What a chip offers to its first link.

use super::{Hop, Lines};
use crate::packet::fine::Fine;
use crate::packet::pump::{Pump, Rivals};
use crate::packet::train::{Slot, Train};

impl Lines {
    /// Lets a flight take its turns at its first link.
    pub(super) fn join_pump(&mut self, number: u32) {
        let flight = &self.flights[number as usize];
        let order = flight.order();
        let Hop { server, slot, .. } = self.hops[flight.source as usize];
        self.withdraw(server, slot, order);
        self.pump(slot).join(number);
        if self.is_drained(server, slot) {
            self.offer(slot);
        }
    }

    /// Returns the pump that offers what an input of a chip's own holds.
    pub(super) fn pump(&mut self, slot: u32) -> &mut Pump {
        let Slot {
            server, channel, ..
        } = self.slots[slot as usize];
        &mut self.servers[server as usize].pumps[usize::from(channel)]
    }

    /// Returns whether a chip has nothing on offer that its link does not serve already.
    pub(super) fn is_drained(&self, server: u32, slot: u32) -> bool {
        let trains = &self.slots[slot as usize].trains;
        match (trains.len(), self.servers[server as usize].serving) {
            (0, _) => true,
            (1, Some(serving)) if serving.slot == slot => trains[0].count == serving.count,
            _ => false,
        }
    }

    /// Takes back what the pump would offer from an instant on: somebody else joins then.
    pub(super) fn withdraw(&mut self, server: u32, slot: u32, order: Fine) {
        let Some(&offer) = self.slots[slot as usize].trains.back() else {
            return;
        };
        // What is served has begun, though it may take no time.
        let is_only = self.slots[slot as usize].trains.len() == 1;
        let is_served = is_only && self.servers[server as usize].serves(slot);
        let keep = offer.before(order).max(u32::from(is_served));
        let excess = offer.count.saturating_sub(keep);
        if excess == 0 {
            return;
        }
        self.truncate(slot, offer.flight, excess);
        let byte = self.hops[offer.hop as usize].byte;
        let flight = &mut self.flights[offer.flight as usize];
        if flight.ends.is_none() {
            flight.next -= excess;
        }
        let service = Fine::of(byte, flight.full_wire());
        let pump = self.pump(slot);
        if keep == 0 {
            pump.withdraw();
        } else {
            pump.free = offer.ready_at(keep - 1) + service;
        }
    }

    /// Lets the pump offer its next train.
    pub(super) fn offer(&mut self, slot: u32) {
        if let Some(train) = self.next_offer(slot) {
            self.announce(slot, train);
        }
    }

    pub(super) fn next_offer(&mut self, slot: u32) -> Option<Train> {
        let Slot {
            server, channel, ..
        } = self.slots[slot as usize];
        let pump = &self.servers[server as usize].pumps[usize::from(channel)];
        let free = pump.free;
        let turn = pump.next(|number| self.next_packet(number))?;
        let (first, order, rivals) = (turn.packet, turn.order, pump.rivals());
        let flight = &mut self.flights[turn.flight as usize];
        let byte = self.hops[flight.source as usize].byte;
        let (available, head) = flight.available(first, byte);
        if flight.ends.is_some() {
            let train = flight.packet(turn.flight, first, order.max(free));
            let busy = Fine::of(byte, flight.wire(first));
            self.pump(slot).offered(turn, train.ready + busy);
            return Some(train);
        }
        let ready = available.max(free);
        let lead = ready.saturating_sub(head.max(free));
        let left = flight.packets - flight.next;
        let service = Fine::of(byte, flight.full_wire());
        let (gap, count) = match rivals {
            Rivals::None if flight.pace_gap() <= service => (service, left),
            // Evenly as the engines have them; the last packet is shorter and ready sooner.
            Rivals::None if ready == available && head >= free => {
                (flight.pace_gap(), (left - 1).max(1))
            }
            Rivals::Some | Rivals::None => (service, 1),
        };
        let count = count.min(self.longest);
        let train = Train {
            count,
            gap,
            lead,
            ..flight.packet(turn.flight, first, ready)
        };
        flight.next += count;
        let last = Fine::of(byte, flight.wire(flight.next - 1));
        self.pump(slot)
            .offered(turn, train.ready_at(count - 1) + last);
        Some(train)
    }
}
