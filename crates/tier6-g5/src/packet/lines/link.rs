//! What a link serves.

use tier6_units::ByteTime;

use super::closed::{Fate, lane};
use super::{Lines, Served};
use crate::packet::calendar::Event;
use crate::packet::control::Stop;
use crate::packet::fine::Fine;
use crate::packet::flight::{Care, Flight};
use crate::packet::route::{Hop, Intake};
use crate::packet::server::{Halt, Head, Serving};
use crate::packet::train::{Mark, Room, Slot, Train};
use crate::paxi::CLASSES;
use crate::rc_link::Transmission;
use crate::{Arbiter, Channels};

/// What a channel has for a link.
enum Offered {
    Nothing,
    /// What is first in this input.
    Now(u32),
    At(Fine),
    Stopped(Stop),
}

impl Lines {
    /// Adds a train to an input, of whose packets none is ready yet.
    #[inline]
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
        if self.is_closed() {
            if tie > 0 && self.guards(server) {
                let time = train.ready.max(self.now);
                self.calendar.add(time, Event::Admit(number));
            }
        } else if self.control.is_some() {
            self.watch(number, &train);
        }
        if was_empty {
            if let Some(ready) = self.expose(number) {
                self.cut(server, tie, ready);
                self.schedule(server, ready);
            }
        } else if self.servers[server as usize].serves(number) {
            self.schedule(server, train.ready);
        }
    }

    /// Makes the front of an input known to its server; returns when it takes its place there.
    pub(super) fn expose(&mut self, slot: u32) -> Option<Fine> {
        let at = &self.slots[slot as usize];
        let ready = time_of(&self.flights, at.tie, at.trains.front()?);
        self.servers[at.server as usize].add_head(ready, slot, at);
        Some(ready)
    }

    /// Sees to it that a server chooses at an instant, or as soon as it is free after it.
    pub(super) fn schedule(&mut self, server: u32, time: Fine) {
        let number = server;
        let server = &mut self.servers[server as usize];
        let time = time.max(server.free).max(self.now);
        if server.due.is_none_or(|due| time < due) {
            server.due = Some(time);
            self.calendar.add(time, Event::Decide(number));
        }
    }

    /// Ends what was served and chooses what is next, if it is ready.
    pub(super) fn decide(&mut self, server: u32) {
        self.finish(server);
        let Channels { count, arbiter } = self.channels();
        while let Some(number) = self.choose(server, count, arbiter) {
            let slot = &self.slots[number as usize];
            let (channel, train) = (usize::from(slot.channel), slot.trains[0]);
            self.servers[server as usize].drop_head(channel);
            if slot.tie > 0 || self.may_go(&train) {
                self.servers[server as usize].turns.took(arbiter, channel);
                // Channels meet only where packets go one by one.
                let rival = self.first_head(server, channel);
                return self.serve(server, number, rival);
            }
            // Something else has its turn by now.
            self.slots[number as usize].trains.pop_front();
            self.pump(number).withdraw();
            self.offer(number);
        }
    }

    /// Returns the input that a server serves next, if anything can go now; else sees to it that it
    /// chooses again, and notes why what is ready does not go.
    fn choose(&mut self, server: u32, channels: u32, arbiter: Arbiter) -> Option<u32> {
        let (mut soonest, mut why) = (None, None);
        let mut slots = [None; CLASSES];
        for (channel, place) in slots.iter_mut().enumerate().take(channels as usize) {
            match self.offered(server, channel) {
                // Nobody else could have the turn.
                Offered::Now(slot) if channels == 1 => return Some(slot),
                Offered::Now(slot) => *place = Some(slot),
                Offered::At(time) => {
                    soonest = Some(soonest.map_or(time, |other: Fine| other.min(time)));
                }
                Offered::Stopped(stop) => why = Some(stop),
                Offered::Nothing => {}
            }
        }
        let turns = self.servers[server as usize].turns;
        let has_frame = slots.map(|slot| slot.is_some());
        if let Some(channel) = turns.next(arbiter, has_frame) {
            return slots[channel];
        }
        if let Some(why) = why {
            self.stop(server, why);
        }
        if let Some(time) = soonest {
            self.schedule(server, time);
        }
        None
    }

    fn offered(&mut self, server: u32, channel: usize) -> Offered {
        let Some(head) = self.first_head(server, channel) else {
            return Offered::Nothing;
        };
        let at = &self.servers[server as usize];
        if at.halt == Halt::Failed || at.paused[channel] {
            Offered::Stopped(Stop::Pause)
        } else if head.ready > self.now {
            Offered::At(head.ready)
        } else if self.has_credit(server, channel, &self.slots[head.slot as usize].trains[0]) {
            Offered::Now(head.slot)
        } else {
            Offered::Stopped(Stop::Credit)
        }
    }

    fn first_head(&mut self, server: u32, channel: usize) -> Option<Head> {
        let (slots, flights) = (&self.slots, &self.flights);
        self.servers[server as usize].first_head(channel, |head| {
            let train = slots[head.slot as usize].trains.front();
            train.is_some_and(|train| time_of(flights, head.tie, train) == head.ready)
        })
    }

    /// Lets a link fail after the packet that it serves.
    pub(super) fn fail_now(&mut self, server: u32) {
        self.servers[server as usize].halt = Halt::Failed;
        self.keep_what_has_begun(server);
    }

    /// Takes what was served out of its input.
    pub(super) fn finish(&mut self, server: u32) {
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
        if let (Some(spans), Some(message)) = (&mut self.spans, serving.message) {
            spans.push(Served {
                server: number,
                message,
                packets: serving.count,
                start: serving.start,
                end: server.free,
            });
        }
        train.advance(serving.count);
        slot.admitted = slot.admitted.saturating_sub(serving.count);
        if train.count == 0 {
            slot.trains.pop_front();
            if slot.trains.is_empty() {
                // The next one comes to the first place, which the cache still has.
                slot.trains.clear();
            }
        }
        if slot.trains.is_empty()
            && slot.tie == 0
            && let Some(train) = self.next_offer(serving.slot)
        {
            self.slots[serving.slot as usize].trains.push_back(train);
        }
        self.expose(serving.slot);
    }

    /// Serves packets of the first train of an input: all that are ready before a rival, in one
    /// even row.
    fn serve(&mut self, server: u32, slot: u32, rival: Option<Head>) {
        let train = self.slots[slot as usize].trains[0];
        let hop = self.hops[train.hop as usize];
        let row = self.row(server, slot, rival);
        let number = server;
        let flight = &self.flights[train.flight as usize];
        let wire = flight.wire(row.first);
        self.servers[server as usize].serve(row, flight);
        let credits = match self.depart_if_closed(number, &train, &row) {
            Fate::Goes(credits) => credits,
            Fate::Lost => return self.follow_up(slot, row),
        };
        let server = &self.servers[server as usize];
        let head = row.start + server.latency - row.lead;
        let end = server.free + server.latency;
        if hop.next.0 == hop.next.1 {
            self.reach_end(&row, end, train.mark);
        }
        let credits = self.hand_credits(number, &hop, credits, end);
        for branch in hop.next.0..hop.next.1 {
            let next = self.branches[branch as usize];
            let lead = lead_at(self.hops[next as usize].byte, row.byte, wire, row.lead);
            let train = Train {
                hop: next,
                first: row.first,
                count: row.count,
                ready: head + lead,
                gap: row.gap,
                flight: train.flight,
                lead,
                mark: train.mark,
                room: Room::None,
                credits,
            };
            self.hand_on(row.hop, train);
        }
        self.follow_up(slot, row);
    }

    /// Notes that a row leaves its sender, and what it leaves behind where the loop is closed.
    fn depart_if_closed(&mut self, server: u32, train: &Train, row: &Serving) -> Fate {
        let flight = &self.flights[row.flight as usize];
        let is_source = row.hop == flight.source;
        let (wire, ends) = (flight.wire(row.first), flight.ends(row.first, row.count));
        let is_closed = self.is_closed();
        let transmission = if is_source && is_closed {
            self.leaves_sender(row)
        } else {
            Transmission::First
        };
        if is_source && ends && transmission == Transmission::First {
            let time = self.servers[server as usize].free;
            self.progress[row.flight as usize].sent = Some(time);
            self.calendar.add(time, Event::Sent(row.flight));
        }
        if is_closed {
            self.depart(server, train, wire)
        } else {
            Fate::Goes(0)
        }
    }

    /// Returns the credits that a packet holds at its next hop; where it comes into a memory they
    /// go back when it is there.
    fn hand_credits(&mut self, server: u32, hop: &Hop, credits: u32, end: Fine) -> u32 {
        let mut next = (hop.next.0..hop.next.1).map(|branch| self.branches[branch as usize]);
        let next = next.next().map(|next| self.hops[next as usize].server);
        if next.is_some_and(|next| self.holds_credits(next)) {
            return credits;
        }
        let back = self.servers[server as usize].latency;
        let lane = lane(server, self.slots[hop.slot as usize].channel);
        self.give_credits(lane, credits, end + back);
        0
    }

    /// Notes when packets are at an end of their way.
    fn reach_end(&mut self, row: &Serving, time: Fine, mark: Mark) {
        let time = time + self.end;
        let leaf = self.hops[row.hop as usize].leaf;
        let flight = &mut self.flights[row.flight as usize];
        flight.reached += row.count;
        if flight.ends.is_some() {
            let event = Event::Delivered(row.flight, row.first, mark);
            self.calendar.add(time, event);
        } else if flight.ends(row.first, row.count) && flight.care != Care::Broken {
            *self.progress[row.flight as usize].arrivals.at(leaf) = Some(time);
            self.calendar.add(time, Event::Arrived(row.flight, leaf));
        }
    }

    /// Hands a train to its hop.
    #[inline]
    fn hand_on(&mut self, from: u32, train: Train) {
        let Hop { slot, intake, .. } = self.hops[train.hop as usize];
        let join = match intake {
            Intake::Single => return self.announce(slot, train),
            Intake::Join(join) => join,
        };
        let leader = self.progress[train.flight as usize].leader;
        self.joins[join as usize].announce(leader, from, train);
        while let Some(sum) = self.joins[join as usize].next(leader) {
            self.announce(slot, sum);
        }
    }

    /// Sees to it that a server chooses again when something waits behind what it serves.
    fn follow_up(&mut self, slot: u32, row: Serving) {
        let Slot {
            server,
            trains,
            tie,
            channel,
            ..
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
            let pump = &self.servers[server as usize].pumps[usize::from(*channel)];
            (own && pump.flights().any(has_more)).then_some(row.start)
        };
        if let Some(ready) = next_in_slot {
            self.schedule(server, ready);
        }
        if self.servers[server as usize].has_heads() {
            self.schedule(server, Fine::ZERO);
        }
    }

    /// Returns which packets of the first train of an input a server can serve in one even row.
    fn row(&self, server: u32, slot: u32, rival: Option<Head>) -> Serving {
        let server = &self.servers[server as usize];
        let Slot { trains, tie, .. } = &self.slots[slot as usize];
        let train = &trains[0];
        let byte = self.hops[train.hop as usize].byte;
        let start = train.ready.max(server.free);
        // The head of a packet goes through as soon as the wire is free of the one before; the
        // next link must hear of it in time.
        let lead = start.saturating_sub(server.free.max(train.ready - train.lead));
        let lead = lead.min(server.latency);
        let (count, gap) = if train.count.min(self.longest) > 1 {
            let most = rival.map_or(u32::MAX, |rival| {
                let before = train.before(rival.ready);
                let wins_tie = *tie < rival.tie && train.ready_at(before) == rival.ready;
                (before + u32::from(wins_tie)).max(1)
            });
            self.evenly(train, most.min(self.longest), (start, lead), server.latency)
        } else {
            (1, Fine::ZERO)
        };
        let progress = &self.progress[train.flight as usize];
        Serving {
            slot,
            message: self.spans.as_ref().map(|_| progress.name),
            flight: train.flight,
            hop: train.hop,
            first: train.first,
            count,
            start,
            gap,
            byte,
            lead,
        }
    }

    /// Returns how many packets of a train, `most` at most, are served alike if the first one is
    /// from `start` on with its head `lead` before it, and the time between them.
    fn evenly(
        &self,
        train: &Train,
        most: u32,
        (start, lead): (Fine, Fine),
        latency: Fine,
    ) -> (u32, Fine) {
        let flight = &self.flights[train.flight as usize];
        let hop = self.hops[train.hop as usize];
        let service = Fine::of(hop.byte, flight.full_wire());
        let mut count = train.count.min(most);
        let (gap, leads) = if start > train.ready && train.gap > service {
            // It catches up: packets that waited go one after the other.
            let waited = (start - train.ready).count_up(train.gap - service);
            count = count.min(waited.max(1));
            (service, Fine::ZERO)
        } else {
            let gap = train.gap.max(service);
            (gap, train.lead.min(gap - service).min(latency))
        };
        if lead != leads {
            count = 1;
        }
        if count > 1 && flight.ends(train.first, count) {
            let [full, last] = [flight.full_wire(), flight.wire(flight.packets - 1)];
            let next = (hop.next.0..hop.next.1).map(|branch| self.branches[branch as usize]);
            let differs = next.map(|next| self.hops[next as usize].byte).any(|next| {
                lead_at(next, hop.byte, full, lead) != lead_at(next, hop.byte, last, lead)
            });
            // A shorter packet that is not held back as long goes apart.
            count -= u32::from(differs);
        }
        (count, gap)
    }
}

/// Returns how long a packet is held back at the next link after its head, so that its tail is
/// there when it is due: not at all unless that link is faster, or this one held it back.
fn lead_at(next: ByteTime, byte: ByteTime, wire: u64, lead: Fine) -> Fine {
    (lead + Fine::of(byte, wire)).saturating_sub(Fine::of(next, wire))
}

/// What a chip hands over has its place after everything else of that picosecond.
fn time_of(flights: &[Flight], tie: u32, train: &Train) -> Fine {
    match tie {
        0 => train.ready.max(flights[train.flight as usize].order()),
        _ => train.ready,
    }
}
