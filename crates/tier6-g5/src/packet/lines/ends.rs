//! The closed loop at the chips that send: windows, retransmission, rates.
//!
//! What comes back to them is in [`super::answers`].

use tier6_units::SimTime;

use super::{Hop, Lines};
use crate::network::Notice;
use crate::packet::calendar::Event;
use crate::packet::control::{ChipState, Control};
use crate::packet::ends::{Ends, Stage, short};
use crate::packet::fine::Fine;
use crate::packet::progress::{Errand, Progress};
use crate::packet::server::Serving;
use crate::packet::train::Train;
use crate::paxi::CLASSES;
use crate::rc_link::{CreditPool, Transmission, Urgency};

impl Lines {
    /// Gives a flight a queue pair, if the loop is closed.
    pub(super) fn open_ends(&mut self, number: u32) {
        if !self.is_closed() {
            return;
        }
        let flight = &mut self.flights[number as usize];
        let Some(Control {
            link: Some(link),
            dcqcn,
            credits,
            ..
        }) = self.control.as_deref()
        else {
            return;
        };
        if flight.is_sheltered() {
            return;
        }
        let pool = credits.map(|credits| CreditPool::new(&credits));
        let mut ends = Ends::new(link, flight.packets, pool);
        if let Some(dcqcn) = dcqcn {
            let byte = self.hops[flight.source as usize].byte;
            ends.control_rate(dcqcn, byte.rate());
        }
        flight.ends = Some(Box::new(ends));
        let leader = self.progress[number as usize].leader;
        self.progress[leader as usize].unretired += 1;
    }

    /// Gives a flight that is on its way a queue pair, as if it had had one: what the last link
    /// has served counts as acknowledged. One that has been served whole needs none, and neither
    /// does one that has more in flight than its window.
    pub(super) fn adopt(&mut self, number: u32) {
        let flight = &self.flights[number as usize];
        let (reached, sent) = (flight.reached, flight.next - self.on_offer(number));
        let is_under_way = flight.packets > 0 && reached < flight.packets;
        let &Progress { errand, back, .. } = &self.progress[number as usize];
        if flight.ends.is_some() || errand != Errand::Message || !is_under_way {
            return;
        }
        let Hop { server, .. } = self.hops[flight.source as usize];
        let in_flight = sent - reached;
        let (wire, byte) = (flight.full_wire(), self.hops[flight.source as usize].byte);
        if self
            .control
            .as_ref()
            .is_some_and(|control| control.window_binds(wire, flight.packets, byte, back, 2))
        {
            self.come_near_a_limit();
        }
        let room = self.chip(server).and_then(|chip| chip.outstanding);
        if room.is_some_and(|open| open.room() < in_flight) {
            return self.come_near_a_limit();
        }
        self.open_ends(number);
        let now = self.now.to_sim();
        let flight = &mut self.flights[number as usize];
        let wire = short(flight.full_wire());
        let Some(ends) = &mut flight.ends else {
            return;
        };
        for packet in 0..sent {
            let is_sent = ends.sender.send(now).is_some();
            let next = ends.sender.sequence_of(u64::from(packet) + 1);
            if packet < reached {
                let sequence = ends.sender.sequence_of(packet.into());
                ends.receiver.on_frame(sequence, Urgency::Force);
                ends.sender.on_ack(next, now);
            } else if !is_sent
                || ends
                    .credits
                    .as_mut()
                    .is_some_and(|pool| pool.take(wire).is_none())
            {
                flight.ends = None;
                let leader = self.progress[number as usize].leader;
                self.progress[leader as usize].unretired -= 1;
                return self.come_near_a_limit();
            }
        }
        ends.pending += in_flight;
        let control = self.control.as_mut();
        if let Some(control) = control
            && let Some(chip) = control.sites[server as usize].chip
            && let Some(open) = &mut control.chips[chip as usize].outstanding
        {
            open.admit(in_flight);
        }
        self.set_deadline(number);
    }

    /// Returns how many packets of a flight its first link has been offered and has not chosen.
    fn on_offer(&self, number: u32) -> u32 {
        let Hop { server, slot, .. } = self.hops[self.flights[number as usize].source as usize];
        let trains = self.slots[slot as usize].trains.iter();
        let offered = trains.filter(|train| train.flight == number);
        let offered: u32 = offered.map(|train| train.count).sum();
        let served = self.servers[server as usize].serving;
        let served = served.filter(|serving| serving.slot == slot && serving.flight == number);
        offered - served.map_or(0, |serving| serving.count)
    }

    /// Returns which packet a flight sends next and when it is there, if anything lets it go.
    pub(super) fn next_packet(&self, number: u32) -> Option<(u32, Fine)> {
        let flight = &self.flights[number as usize];
        let hop = self.hops[flight.source as usize];
        let Some(ends) = &flight.ends else {
            let has_more = flight.next < flight.packets;
            let (ready, _) = flight.available(flight.next, hop.byte);
            return has_more.then(|| (flight.next, ready.max(flight.order())));
        };
        let chip = self.chip(hop.server);
        let open = chip.and_then(|chip| chip.outstanding);
        let since = chip.map_or(Fine::ZERO, |chip| chip.since).max(ends.held);
        let packet = ends.next(|packet| flight.wire(packet))?;
        // What is sent again is outstanding already.
        let is_new = !ends.sender.was_sent(packet.into());
        if is_new && open.is_some_and(|open| open.room() == 0) {
            return None;
        }
        let (ready, _) = flight.available(packet, hop.byte);
        Some((packet, ready.max(flight.order()).max(since)))
    }

    /// Returns the chip that sends into a server.
    fn chip(&self, server: u32) -> Option<&ChipState> {
        let control = self.control.as_ref()?;
        let chip = control.sites[server as usize].chip?;
        Some(&control.chips[chip as usize])
    }

    /// Lets a pump think again about what it offers.
    pub(super) fn nudge(&mut self, server: u32) {
        for at in 0..CLASSES {
            let own = self.servers[server as usize].inputs.get(at);
            let Some(((0, _), slot)) = own.copied() else {
                return;
            };
            self.withdraw(server, slot, self.now);
            if self.is_drained(server, slot) {
                self.offer(slot);
            }
        }
    }

    /// Returns whether an offered packet still is the one to go; if its rate holds it, notes until
    /// when.
    pub(super) fn may_go(&mut self, train: &Train) -> bool {
        let next = self.next_packet(train.flight);
        let flight = &mut self.flights[train.flight as usize];
        let wire = flight.wire(train.first);
        let Some(ends) = &mut flight.ends else {
            return true;
        };
        if next.is_none_or(|(packet, time)| packet != train.first || time > self.now) {
            return false;
        }
        let Some(rate) = ends
            .rate
            .as_mut()
            .filter(|rate| !rate.dcqcn.is_at_line_rate())
        else {
            return true;
        };
        let pace = rate.dcqcn.pace();
        match rate.budget.grant(short(wire), pace, self.now.to_sim()) {
            Ok(()) => true,
            Err(until) => {
                ends.held = Fine::from(until).max(self.now + Fine::LEAST);
                false
            }
        }
    }

    /// Notes that a packet leaves its sender; returns whether it does for the first time.
    pub(super) fn leaves_sender(&mut self, row: &Serving) -> Transmission {
        let now = self.now.to_sim();
        let flight = &mut self.flights[row.flight as usize];
        let wire = flight.wire(row.first);
        let Some(ends) = &mut flight.ends else {
            return Transmission::First;
        };
        let frame = ends.sender.send(now);
        let frame = frame.expect("Invariant: asked just before");
        ends.pending += 1;
        let mut is_near = ends.sender.has_half_in_flight();
        if let Some(pool) = &mut ends.credits {
            pool.take(short(wire));
            is_near |= pool.left() < pool.taken();
        }
        if let Some(rate) = &mut ends.rate {
            rate.dcqcn.on_sent(wire);
        }
        let Hop { server, .. } = self.hops[row.hop as usize];
        if let Some(control) = &mut self.control {
            let site = &mut control.sites[server as usize];
            site.resent += u64::from(frame.transmission == Transmission::Again);
            if let Some(chip) = site.chip
                && let Some(open) = &mut control.chips[chip as usize].outstanding
                && frame.transmission == Transmission::First
            {
                open.admit(1);
                is_near |= open.room() < open.open();
            }
        }
        if is_near {
            self.come_near_a_limit();
        }
        self.set_deadline(row.flight);
        frame.transmission
    }

    /// Sees to it that the sender looks at its deadline.
    pub(super) fn set_deadline(&mut self, number: u32) {
        let ends = self.flights[number as usize].ends.as_mut();
        let Some(ends) = ends else {
            return;
        };
        let Some(deadline) = ends.sender.deadline().filter(|time| *time < SimTime::NEVER) else {
            return;
        };
        if ends.timer.is_none_or(|timer| deadline < timer) {
            ends.timer = Some(deadline);
            ends.pending += 1;
            let time = Fine::from(deadline).max(self.now);
            self.calendar.add(time, Event::Deadline(number));
        }
    }

    /// Looks at a sender's deadline.
    pub(super) fn deadline(&mut self, number: u32) -> Option<Notice> {
        let now = self.now.to_sim();
        let flight = &mut self.flights[number as usize];
        let Hop { server, .. } = self.hops[flight.source as usize];
        let ends = flight.ends.as_mut()?;
        ends.pending -= 1;
        ends.timer = None;
        if ends.stage == Stage::Moving || ends.stage == Stage::Arrived {
            ends.held = ends.held.max(self.now);
            let is_overdue = ends
                .sender
                .deadline()
                .is_some_and(|deadline| deadline <= now);
            if let Err(gave_up) = ends.sender.on_timer(now) {
                return self.give_up(number, gave_up.retries);
            }
            if is_overdue {
                self.come_near_a_limit();
            }
            self.set_deadline(number);
            self.nudge(server);
        }
        self.retire_if_done(number);
        None
    }

    /// Sees to it that a sender below line rate raises its rate.
    pub(super) fn set_raise(&mut self, number: u32) {
        let Some(ends) = &mut self.flights[number as usize].ends else {
            return;
        };
        let next = ends.rate.as_ref().and_then(|rate| rate.dcqcn.next_timer());
        if let Some(time) = next
            && ends.raise.is_none()
            && ends.stage == Stage::Moving
        {
            ends.raise = Some(time);
            ends.pending += 1;
            self.calendar
                .add(Fine::from(time).max(self.now), Event::Raise(number));
        }
    }

    pub(super) fn raise(&mut self, number: u32) {
        let now = self.now.to_sim();
        let flight = &mut self.flights[number as usize];
        let Hop { server, .. } = self.hops[flight.source as usize];
        let Some(ends) = &mut flight.ends else {
            return;
        };
        ends.pending -= 1;
        ends.raise = None;
        if let Some(rate) = &mut ends.rate {
            rate.dcqcn.on_timer(now);
            if rate.dcqcn.is_at_line_rate() {
                ends.held = Fine::ZERO;
            }
        }
        self.set_raise(number);
        self.nudge(server);
        self.retire_if_done(number);
    }

    /// Takes back what a flight offers to send again and nobody needs any more.
    fn drop_offer(&mut self, number: u32) {
        let Hop { server, slot, .. } = self.hops[self.flights[number as usize].source as usize];
        let begun = usize::from(self.servers[server as usize].serves(slot));
        let trains = &mut self.slots[slot as usize].trains;
        let offer = trains
            .iter()
            .skip(begun)
            .position(|train| train.flight == number);
        if let Some(at) = offer {
            trains.remove(begun + at);
            self.pump(slot).withdraw();
            self.offer(slot);
        }
    }

    /// Forgets a flight of which nothing is under way any more.
    pub(super) fn retire_if_done(&mut self, number: u32) {
        let flight = &mut self.flights[number as usize];
        let Hop { slot, .. } = self.hops[flight.source as usize];
        let Some(ends) = &mut flight.ends else {
            return;
        };
        if ends.stage == Stage::Arrived && ends.sender.acknowledged() == u64::from(flight.packets) {
            ends.stage = Stage::Acknowledged;
            self.pump(slot).leave(number);
            self.drop_offer(number);
        }
        let flight = &mut self.flights[number as usize];
        if let Some(ends) = &flight.ends
            && ends.stage == Stage::Acknowledged
            && ends.pending == 0
            && self.progress[number as usize].sent.is_none()
        {
            flight.ends = None;
            let leader = self.progress[number as usize].leader;
            self.progress[leader as usize].unretired -= 1;
            self.forget_if_done(leader);
        }
    }
}
