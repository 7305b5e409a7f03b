//! What a link serves, and what it takes back.

use super::{Hop, Lines};
use crate::packet::calendar::Event;
use crate::packet::fine::Fine;
use crate::packet::server::{Head, Server, Serving};
use crate::packet::train::{Slot, Train};

impl Lines {
    /// Adds a train to an input, of whose packets none is ready yet.
    pub(super) fn announce(&mut self, slot: u32, train: Train) {
        let number = slot;
        let slot = &mut self.slots[slot as usize];
        let was_empty = slot.trains.is_empty();
        let is_coupled = self.longest > 1
            && slot.tie > 0
            && slot
                .trains
                .back_mut()
                .is_some_and(|last| last.couple(&train));
        if !is_coupled {
            slot.trains.push_back(train);
        }
        let (server, tie) = (slot.server, slot.tie);
        if was_empty {
            let ready = train.ready.max(self.flights[train.flight as usize].order);
            let head = Head {
                ready,
                tie,
                slot: number,
            };
            self.servers[server as usize].add_head(head);
            self.cut(server, head);
            self.schedule(server, ready);
        } else if self.servers[server as usize].serves(number) {
            self.schedule(server, train.ready);
        }
    }

    /// Sees to it that a server chooses at an instant, or as soon as it is free after it.
    fn schedule(&mut self, server: u32, time: Fine) {
        let number = server;
        let server = &mut self.servers[server as usize];
        let time = time.max(server.free).max(self.now);
        if server.due.is_none_or(|due| time < due) {
            server.due = Some(time);
            self.calendar.add(time, Event::Decide(number));
        }
    }

    /// Takes back what a server would serve after a packet that it has learnt of.
    fn cut(&mut self, server: u32, head: Head) {
        let Server { serving, free, .. } = self.servers[server as usize];
        let Some(serving) = serving.filter(|serving| serving.count > 1 && free > head.ready) else {
            return;
        };
        let slot = &self.slots[serving.slot as usize];
        let train = &slot.trains[0];
        let mut keep = train.before(head.ready);
        if slot.tie < head.tie && keep < serving.count && train.ready_at(keep) == head.ready {
            keep += 1;
        }
        if keep < serving.count {
            self.shorten(server, keep.max(1));
        }
    }

    /// Lets a server serve only so many packets of those it has chosen; one at least.
    fn shorten(&mut self, server: u32, keep: u32) {
        let number = server;
        let server = &mut self.servers[server as usize];
        let serving = server
            .serving
            .as_mut()
            .expect("Invariant: it serves what is cut");
        let excess = serving.count - keep;
        let flight = &mut self.flights[serving.flight as usize];
        let (payload, wire) = flight.bytes(serving.first + keep, excess);
        server.tally.packets -= u64::from(excess);
        server.tally.payload_bytes -= payload;
        server.tally.wire_bytes -= wire;
        let last = Fine::of(server.byte, flight.full_wire());
        server.free = serving.start + serving.gap.times(keep - 1) + last;
        let ends = flight.ends(serving.first, serving.count);
        serving.count = keep;
        let hop = serving.hop;
        let (is_first, is_last) = (hop == flight.first_hop, hop == flight.last_hop);
        if ends && is_first {
            flight.sent = None;
        }
        if ends && is_last {
            flight.arrived = None;
        }
        if server.has_heads() {
            self.schedule(number, Fine::ZERO);
        }
        if !is_last {
            self.truncate(self.hops[hop as usize + 1].slot, excess);
        }
    }

    /// Takes the last packets of an input back, of which none has arrived.
    pub(super) fn truncate(&mut self, slot: u32, excess: u32) {
        let number = slot;
        let slot = &mut self.slots[slot as usize];
        let server = slot.server;
        let train = slot
            .trains
            .back_mut()
            .expect("Invariant: what is taken back was announced");
        assert!(
            train.count >= excess,
            "Invariant: what is taken back was announced"
        );
        train.count -= excess;
        let count = train.count;
        if count == 0 {
            slot.trains.pop_back();
        }
        let is_front = slot.trains.len() == 1;
        let serving = self.servers[server as usize].serving;
        if let Some(serving) = serving.filter(|serving| serving.slot == number && is_front)
            && serving.count > count
            && count > 0
        {
            self.shorten(server, count);
        }
    }

    /// Ends what was served and chooses what is next, if it is ready.
    pub(super) fn decide(&mut self, server: u32) {
        self.finish(server);
        let Some(head) = self.first_head(server) else {
            return;
        };
        if head.ready > self.now {
            self.schedule(server, head.ready);
            return;
        }
        self.servers[server as usize].drop_head();
        let rival = self.first_head(server);
        self.serve(server, head.slot, rival);
    }

    fn first_head(&mut self, server: u32) -> Option<Head> {
        let (slots, flights) = (&self.slots, &self.flights);
        self.servers[server as usize].first_head(|head| {
            slots[head.slot as usize]
                .trains
                .front()
                .is_some_and(|train| {
                    train.ready.max(flights[train.flight as usize].order) == head.ready
                })
        })
    }

    /// Takes what was served out of its input.
    fn finish(&mut self, server: u32) {
        let number = server;
        let server = &mut self.servers[server as usize];
        let Some(serving) = server.serving.take() else {
            return;
        };
        let slot = &mut self.slots[serving.slot as usize];
        let train = slot
            .trains
            .front_mut()
            .expect("Invariant: what is served waits in front");
        let at = serving.count - 1;
        let wait = (serving.start + serving.gap.times(at)).saturating_sub(train.ready_at(at));
        server.tally.longest_wait = server.tally.longest_wait.max(wait);
        train.advance(serving.count);
        if train.count == 0 {
            slot.trains.pop_front();
        }
        if slot.trains.is_empty() && slot.tie == 0 {
            if let Some(train) = self.next_offer(number) {
                self.slots[serving.slot as usize].trains.push_back(train);
            }
        }
        let slot = &self.slots[serving.slot as usize];
        if let Some(train) = slot.trains.front() {
            let ready = train.ready.max(self.flights[train.flight as usize].order);
            let head = Head {
                ready,
                tie: slot.tie,
                slot: serving.slot,
            };
            self.servers[number as usize].add_head(head);
        }
    }

    /// Serves packets of the first train of an input: all that are ready before a rival, in one
    /// even row.
    fn serve(&mut self, server: u32, slot: u32, rival: Option<Head>) {
        let train = self.slots[slot as usize].trains[0];
        let flight = &self.flights[train.flight as usize];
        let is_last = train.hop == flight.last_hop;
        let next = (!is_last).then(|| self.hops[train.hop as usize + 1]);
        let row = self.row(server, slot, rival, next);
        let flight = &mut self.flights[train.flight as usize];
        let server = &mut self.servers[server as usize];
        server.serve(row, flight);
        let ends = flight.ends(row.first, row.count);
        if ends && train.hop == flight.first_hop {
            flight.sent = Some(server.free);
            self.calendar.add(server.free, Event::Sent(train.flight));
        }
        let Some(next) = next else {
            if ends {
                let time = server.free + server.latency;
                flight.arrived = Some(time);
                self.calendar.add(time, Event::Arrived(train.flight));
            }
            return self.follow_up(slot, row);
        };
        let head = row.start + server.latency;
        let wire = flight.wire(row.first);
        let (byte, next_byte) = (server.byte, self.servers[next.server as usize].byte);
        // A faster link begins later, so that the tail is there when it is due.
        let late = Fine::of(byte, wire).saturating_sub(Fine::of(next_byte, wire));
        let announced = Train {
            hop: train.hop + 1,
            first: row.first,
            count: row.count,
            ready: head + late,
            gap: row.gap,
            flight: train.flight,
        };
        self.announce(next.slot, announced);
        self.follow_up(slot, row);
    }

    /// Sees to it that a server chooses again when something waits behind what it serves.
    fn follow_up(&mut self, slot: u32, row: Serving) {
        let Slot {
            server,
            trains,
            tie,
        } = &self.slots[slot as usize];
        let server = *server;
        let next_in_slot = if trains[0].count > row.count {
            Some(trains[0].ready_at(row.count))
        } else if let Some(train) = trains.get(1) {
            Some(train.ready)
        } else {
            let flights = &self.flights;
            let has_more = |flight: &u32| flights[*flight as usize].has_more();
            let own = *tie == 0;
            (own && self.servers[server as usize].pump.flights().any(has_more)).then_some(row.start)
        };
        if let Some(ready) = next_in_slot {
            self.schedule(server, ready);
        }
        if self.servers[server as usize].has_heads() {
            self.schedule(server, Fine::ZERO);
        }
    }

    /// Returns which packets of the first train of an input a server can serve in one even row.
    fn row(&self, server: u32, slot: u32, rival: Option<Head>, next: Option<Hop>) -> Serving {
        let server = &self.servers[server as usize];
        let Slot { trains, tie, .. } = &self.slots[slot as usize];
        let train = &trains[0];
        let flight = &self.flights[train.flight as usize];
        let service = Fine::of(server.byte, flight.full_wire());
        let start = train.ready.max(server.free);
        let mut count = train.count.min(self.longest);
        if let Some(rival) = rival {
            let before = train.before(rival.ready);
            let wins_tie = *tie < rival.tie && train.ready_at(before) == rival.ready;
            count = count.min((before + u32::from(wins_tie)).max(1));
        }
        let gap = if train.gap <= service {
            service
        } else if start == train.ready {
            train.gap
        } else {
            // It catches up: packets that waited go one after the other.
            let waited = (start - train.ready).count_up(train.gap - service);
            count = count.min(waited.max(1));
            service
        };
        let speeds_up = next.is_some_and(|next| {
            self.servers[next.server as usize].byte < server.byte && flight.last < flight.full
        });
        if speeds_up && count > 1 && flight.ends(train.first, count) {
            // A shorter packet is not held back as long: it goes apart.
            count -= 1;
        }
        Serving {
            slot,
            flight: train.flight,
            hop: train.hop,
            first: train.first,
            count,
            start,
            gap,
        }
    }
}
