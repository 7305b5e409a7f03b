//! The closed loop at links and switches: admission, marks, pauses, credits, loss.

use super::{Halt, Lines};
use crate::EcnCurve;
use crate::packet::calendar::Event;
use crate::packet::control::{Loop, Stop, Trust};
use crate::packet::ends::short;
use crate::packet::fine::Fine;
use crate::packet::flight::Care;
use crate::packet::progress::Errand;
use crate::packet::train::{Mark, Room, Slot, Train};
use crate::paxi::CLASSES;
use crate::switch::{Arrival, PauseSignal};

/// What becomes of a packet on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives, with so many credits of the buffer there.
    Goes(u32),
    Lost,
}

/// The number of a channel of a link.
pub(super) fn lane(server: u32, channel: u8) -> u32 {
    server * LANES + u32::from(channel)
}

/// The link and the channel of such a number.
fn of_lane(lane: u32) -> (u32, usize) {
    (lane / LANES, (lane % LANES) as usize)
}

#[expect(clippy::cast_possible_truncation, reason = "three")]
const LANES: u32 = CLASSES as u32;

impl Lines {
    pub(in crate::packet) fn is_closed(&self) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| control.stage == Loop::Closed)
    }

    /// Closes the loop if it was asked for: from now on every packet is handled by itself.
    pub(in crate::packet) fn close_if_asked(&mut self) {
        let control = self.control.as_ref();
        if control.is_some_and(|control| control.stage == Loop::Closing) {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(control) = &mut self.control else {
            return;
        };
        control.stage = Loop::Closed;
        if self.calendar.happened() > 0 || self.flights.len() > self.spare.len() {
            control.trust = Trust::Half;
        }
        self.longest = 1;
        for server in 0..super::index(self.servers.len()) {
            self.keep_what_has_begun(server);
        }
        for slot in 0..super::index(self.slots.len()) {
            self.uncouple(slot);
        }
        let mut is_live = vec![true; self.flights.len()];
        for number in &self.spare {
            is_live[*number as usize] = false;
        }
        for (number, _) in (0..).zip(is_live).filter(|(_, is_live)| *is_live) {
            self.adopt(number);
        }
    }

    /// Takes trains apart, and lets what is on its way ask for room when it comes.
    fn uncouple(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let server = slot.server;
        if slot.tie == 0 {
            return self.nudge(server);
        }
        let trains = std::mem::take(&mut slot.trains).into_iter();
        slot.trains = trains.flat_map(Train::packets).collect();
        // Of what is served only the last packet is still there.
        let serving = &mut self.servers[server as usize].serving;
        if let Some(serving) = serving.as_mut().filter(|serving| serving.slot == number) {
            let past = serving.count - 1;
            slot.trains.drain(..past as usize);
            serving.start += serving.gap.times(past);
            serving.first += past;
            serving.count = 1;
            slot.admitted = 1;
        }
        if self.guards(server) {
            let slot = &self.slots[number as usize];
            for train in slot.trains.iter().skip(slot.admitted as usize) {
                let time = train.ready.max(self.now);
                self.calendar.add(time, Event::Admit(number));
            }
        }
    }

    /// Returns whether packets ask for room before a server.
    pub(super) fn guards(&self, server: u32) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| control.sites[server as usize].buffer.is_some())
    }

    /// Notes that a train is coming to a server while the loop is open: it may be about to meet
    /// another where packets need room.
    pub(super) fn watch(&mut self, slot: u32, train: &Train) {
        let Slot {
            server,
            tie,
            channel,
            ..
        } = self.slots[slot as usize];
        if self.channels().count > 1 && self.meets_another_channel(server, channel, train) {
            self.ask_to_close();
        }
        let flight = &self.flights[train.flight as usize];
        // What waits in a chip for its own link is not in a window yet.
        let may_hold_back = self.control.as_ref().is_some_and(|control| {
            control.sites[server as usize].chip.is_none()
                && control.may_hold_back(flight.full_wire(), flight.packets)
        });
        let is_watched = self.guards(server) || self.holds_credits(server) || may_hold_back;
        if !is_watched || flight.is_sheltered() {
            return;
        }
        let service = Fine::of(self.hops[train.hop as usize].byte, flight.full_wire());
        let at = &self.servers[server as usize];
        let is_busy = at.free > train.ready && (tie > 0 || !at.serves(slot));
        let crowds = tie > 0 && train.count > 1 && train.gap < service;
        if is_busy || crowds || at.has_heads() {
            self.ask_to_close();
        }
    }

    /// Returns whether a train comes to a server while another channel is busy there: they take
    /// turns packet by packet.
    fn meets_another_channel(&self, server: u32, channel: u8, train: &Train) -> bool {
        let at = &self.servers[server as usize];
        let serving = at.serving.filter(|_| at.free > train.ready);
        let serves_another =
            serving.is_some_and(|serving| self.slots[serving.slot as usize].channel != channel);
        serves_another || at.has_heads_beside(channel)
    }

    /// Returns whether packets that wait for a server hold credits of the link before. A chip that
    /// relays has taken them into its memory.
    pub(super) fn holds_credits(&self, server: u32) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| {
            control.has_link_credits && control.sites[server as usize].chip.is_none()
        })
    }

    /// Notes that a sender has used half of what it may: a loop that does not know of all that is
    /// under way might let it go too far.
    pub(super) fn come_near_a_limit(&mut self) {
        if let Some(control) = &mut self.control
            && control.trust == Trust::Half
        {
            control.trust = Trust::None;
        }
    }

    pub(in crate::packet) fn is_in_doubt(&self) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| control.trust == Trust::None)
    }

    pub(in crate::packet) fn ask_to_close(&mut self) {
        if let Some(control) = &mut self.control
            && control.stage == Loop::Open
        {
            control.stage = Loop::Closing;
        }
    }

    /// Lets the next packet that has come to an input ask for room.
    pub(super) fn admit(&mut self, slot: u32) {
        let number = slot;
        let Some(control) = &mut self.control else {
            return;
        };
        let slot = &mut self.slots[slot as usize];
        let at = slot.admitted as usize;
        let Some(train) = slot.trains.get_mut(at) else {
            return;
        };
        let flight = &self.flights[train.flight as usize];
        let bytes = flight.wire(train.first);
        let server = slot.server;
        let site = &mut control.sites[server as usize];
        let (Some(buffer), false) = (site.buffer, flight.is_sheltered()) else {
            slot.admitted += 1;
            return;
        };
        // Inputs of links are numbered from one.
        let (from, channel) = (slot.tie - 1, usize::from(slot.channel));
        let queue = site.queued[channel];
        let input = control.sites[from as usize].input + channel;
        match control.buffers[buffer as usize].arrive(input, queue, bytes) {
            Arrival::Taken(signal) => {
                let site = &mut control.sites[server as usize];
                site.queued[channel] += bytes;
                site.peak = site.peak.max(site.waiting());
                if let Some(queues) = &mut self.queues {
                    queues.push((server, self.now, site.waiting()));
                }
                let lane = lane(from, slot.channel);
                slot.admitted += 1;
                train.room = Room::Held;
                let marks = &mut control.marks;
                let is_marked = |curve: EcnCurve| curve.marks(queue, marks.next_u64());
                if control.curve.is_some_and(is_marked) {
                    train.mark = Mark::Congested;
                    site.marked += 1;
                }
                if let Some(signal) = signal {
                    self.signal(lane, signal);
                }
            }
            Arrival::Dropped => {
                control.sites[server as usize].lost += 1;
                let train = *train;
                slot.trains.remove(at);
                let lane = lane(from, slot.channel);
                if at == 0
                    && let Some(ready) = self.expose(number)
                {
                    self.schedule(server, ready);
                }
                let time = self.now + self.servers[from as usize].latency;
                self.give_credits(lane, train.credits, time);
                self.lose(train.flight);
            }
        }
    }

    /// Tells the link before an input to stop or to go on; the signal takes the way back.
    fn signal(&mut self, lane: u32, signal: PauseSignal) {
        let (server, _) = of_lane(lane);
        let time = self.now + self.servers[server as usize].latency;
        let event = match signal {
            PauseSignal::Pause => Event::Pause(lane),
            PauseSignal::Resume => Event::Resume(lane),
        };
        self.calendar.add(time, event);
    }

    pub(super) fn pause(&mut self, lane: u32) {
        let (server, channel) = of_lane(lane);
        self.servers[server as usize].paused[channel] = true;
        self.keep_what_has_begun(server);
    }

    pub(super) fn resume(&mut self, lane: u32) {
        let (server, channel) = of_lane(lane);
        let at = &mut self.servers[server as usize];
        let was_paused = std::mem::replace(&mut at.paused[channel], false);
        if was_paused && at.halt == Halt::None {
            at.free = at.free.max(self.now);
            self.schedule(server, Fine::ZERO);
        }
    }

    /// Notes that a server has something to send and does not.
    pub(super) fn stop(&mut self, server: u32, why: Stop) {
        if let Some(control) = &mut self.control {
            let now = self.now;
            control.sites[server as usize]
                .stopped
                .get_or_insert((now, why));
        }
    }

    /// Returns whether a channel of a server holds the credits for a packet.
    pub(super) fn has_credit(&self, server: u32, channel: usize, train: &Train) -> bool {
        let control = self.control.as_ref();
        let pools = control.and_then(|control| control.sites[server as usize].pools.as_ref());
        pools.is_none_or(|pools| {
            let flight = &self.flights[train.flight as usize];
            let is_free = !self.is_closed() || flight.is_sheltered();
            is_free || pools[channel].room_for(short(flight.wire(train.first))) > 0
        })
    }

    /// Takes credits back at a channel of a link.
    pub(super) fn credit(&mut self, lane: u32, credits: u32) {
        let (server, channel) = of_lane(lane);
        let Some(control) = &mut self.control else {
            return;
        };
        if let Some(pools) = &mut control.sites[server as usize].pools {
            pools[channel].restore(credits);
        }
        if control.sites[server as usize].stopped.is_some() {
            let at = &mut self.servers[server as usize];
            at.free = at.free.max(self.now);
            self.schedule(server, Fine::ZERO);
        }
    }

    /// Lets credits arrive at the channel that they are of.
    pub(super) fn give_credits(&mut self, lane: u32, credits: u32, time: Fine) {
        if credits > 0 {
            let time = self.at_period(time);
            self.calendar.add(time, Event::Credit(lane, credits));
        }
    }

    /// Returns the instant at which credits are next returned.
    pub(super) fn at_period(&self, time: Fine) -> Fine {
        let credits = self
            .control
            .as_ref()
            .and_then(|control| control.link?.credits);
        let period = credits.map_or(Fine::ZERO, |credits| credits.period.into());
        if period == Fine::ZERO {
            return time;
        }
        let periods = time.count_up(period);
        // Where they are too many to count, at once.
        period.times(periods).max(time)
    }

    /// Does what a packet that begins to be served means for buffers and credits, and says whether
    /// it arrives.
    pub(super) fn depart(&mut self, server: u32, train: &Train, wire: u64) -> Fate {
        let is_sheltered = self.flights[train.flight as usize].is_sheltered();
        let Some(control) = &mut self.control else {
            return Fate::Goes(0);
        };
        let site = &mut control.sites[server as usize];
        if let Some((since, why)) = site.stopped.take() {
            let span = self.now.saturating_sub(since);
            match why {
                Stop::Credit => site.credit_stall += span,
                Stop::Pause => site.paused += span,
            }
        }
        let is_lost = !is_sheltered && site.loss > 0.0 && site.luck.chance(site.loss);
        site.lost += u64::from(is_lost);
        let feeder = self.slot_feeder(train);
        let own = self.slots[self.hops[train.hop as usize].slot as usize].channel;
        let channel = usize::from(own);
        let Some(control) = &mut self.control else {
            return Fate::Goes(0);
        };
        let site = &mut control.sites[server as usize];
        if let (Room::Held, Some(buffer), Some(feeder)) = (train.room, site.buffer, feeder) {
            site.queued[channel] -= wire;
            if let Some(queues) = &mut self.queues {
                queues.push((server, self.now, site.waiting()));
            }
            let input = control.sites[feeder as usize].input + channel;
            if let Some(signal) = control.buffers[buffer as usize].leave(input, wire) {
                self.signal(lane(feeder, own), signal);
            }
        }
        if let Some(feeder) = feeder {
            let time = self.now + self.servers[feeder as usize].latency;
            self.give_credits(lane(feeder, own), train.credits, time);
        }
        let credits = if is_sheltered {
            0
        } else {
            self.take_credits(server, channel, wire)
        };
        if is_lost {
            let server_latency = self.servers[server as usize].latency;
            let time = self.servers[server as usize].free + server_latency.times(2);
            self.give_credits(lane(server, own), credits, time);
            self.lose(train.flight);
            return Fate::Lost;
        }
        Fate::Goes(credits)
    }

    /// Returns the link by which a packet came to its hop; none for a chip's own, and for sums.
    fn slot_feeder(&self, train: &Train) -> Option<u32> {
        let hop = self.hops[train.hop as usize];
        let tie = self.slots[hop.slot as usize].tie;
        let link = tie.checked_sub(1)?;
        ((link as usize) < self.servers.len()).then_some(link)
    }

    /// Takes the credits that a packet needs at the end of a link; returns how many.
    fn take_credits(&mut self, server: u32, channel: usize, wire: u64) -> u32 {
        let control = self.control.as_mut();
        let pools = control.and_then(|control| control.sites[server as usize].pools.as_mut());
        let Some(pool) = pools.map(|pools| &mut pools[channel]) else {
            return 0;
        };
        let credits = pool.take(short(wire)).unwrap_or(0);
        if pool.left() < pool.taken() {
            self.come_near_a_limit();
        }
        credits
    }

    /// Notes that a packet is gone.
    pub(super) fn lose(&mut self, number: u32) {
        let flight = &mut self.flights[number as usize];
        let progress = &mut self.progress[number as usize];
        match (&mut flight.ends, progress.errand) {
            (Some(ends), _) => {
                ends.pending -= 1;
                self.retire_if_done(number);
            }
            (None, Errand::Message) => flight.care = Care::Broken,
            (None, Errand::Answer(at)) => {
                progress.unarrived = 0;
                self.forget_if_done(number);
                self.forget_answer(at);
            }
        }
    }
}
