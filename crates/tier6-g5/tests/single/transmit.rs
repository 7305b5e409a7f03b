//! A packet on the wire, and the timers of those who sent it.

use tier6_units::{ByteTime, SimTime};

use tier6_g5::Fabric;
use tier6_g5::network::{Context, MessageId, Notice};

use super::packet::{Entered, Packet, Way};
use super::pair::Armed;
use super::port::Serving;
use super::{LayeredEvent, LayeredNetwork};

/// A packet that goes on a wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Departure {
    pub(super) packet: u32,
    /// Credits that it has taken there.
    pub(super) credits: u32,
    /// In units of 2^-32 ps.
    pub(super) start: u128,
    /// The message of which it is the last frame, sent for the first time.
    pub(super) ends: Option<MessageId>,
}

impl LayeredNetwork {
    /// Puts a packet on the wire.
    pub(super) fn transmit<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        departure: Departure,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let Departure {
            packet,
            credits,
            start,
            ends,
        } = departure;
        let Packet {
            wire,
            payload,
            entered,
            ..
        } = self.packets.get(packet);
        let port = &mut self.ports[link as usize];
        port.unblock(now);
        let end = start + span(port.byte, wire);
        port.free = end;
        port.serving = Some(Serving {
            wire,
            entered,
            ends,
        });
        port.account.wire_bytes += wire;
        port.account.payload_bytes += payload;
        self.packet_hops += 1;
        let latency = port.latency;
        let is_lost = port.losses > 0 && self.draw() >> 11 < self.ports[link as usize].losses;
        let agenda = &mut *context.agenda;
        agenda.at(up(end), LayeredEvent::Free(link).into());
        if is_lost {
            self.lose(packet, now, context);
            self.ports[link as usize].account.lost += 1;
            // The counters of the next packet tell the receiver of the credits.
            if credits > 0 {
                self.free_credits(link, credits, near(end) + latency, context);
            }
            return;
        }
        let next = self.next_link(packet, context.fabric);
        let onward = self.packets.get_mut(packet);
        onward.entered = Some(Entered { link, credits });
        onward.hop += 1;
        let (time, event) = if let Some(next) = next {
            let early = span(self.ports[next as usize].byte, wire);
            let ready = start.max(end.saturating_sub(early)) + fine(latency);
            self.packets.get_mut(packet).ready = ready;
            (near(ready), LayeredEvent::Ready(packet))
        } else {
            let through = (self.parameters.paxi).map_or(SimTime::ZERO, |paxi| paxi.latency);
            // Never before the wire is free, which the sender hears of first.
            let time = (near(end) + latency + through).max(up(end));
            (time, LayeredEvent::Tail(packet))
        };
        context.agenda.at(time.max(now), event.into());
    }

    /// Returns the link after the one that a packet goes over.
    fn next_link(&self, packet: u32, fabric: &Fabric<'_>) -> Option<u32> {
        let packet = self.packets.get(packet);
        self.link_at(&packet, packet.hop as usize + 1, fabric)
    }

    pub(super) fn link_at(&self, packet: &Packet, hop: usize, fabric: &Fabric<'_>) -> Option<u32> {
        let pair = &self.pairs[packet.pair as usize];
        match packet.way {
            Way::Forth(route) => {
                let route = fabric.path(pair.path).route(route as usize);
                route.get(hop).map(|link| link.get())
            }
            Way::Back => pair.back.as_ref().and_then(|links| links.get(hop).copied()),
        }
    }

    /// The wire is free: what was on it leaves the buffer before it.
    pub(super) fn on_free<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let serving = self.ports[link as usize].serving.take();
        let serving = serving.expect("Invariant: a link that gets free has sent something");
        if let Some(message) = serving.ends {
            context.notices.push(Notice::Sent(message));
        }
        if let Some(entered) = serving.entered {
            self.leave_buffer(entered, serving.wire, now, context);
        }
        self.serve(link, now, context);
    }

    /// Sets an event for the timeout of a queue pair, unless there is one.
    pub(super) fn arm_timeout<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        context: &mut Context<'_, E>,
    ) {
        if let Some(reliable) = &mut self.pairs[pair as usize].reliable
            && reliable.armed == Armed::No
            && let Some(deadline) = reliable.sender.deadline()
        {
            reliable.armed = Armed::Yes;
            context
                .agenda
                .at(deadline, LayeredEvent::Timeout(pair).into());
        }
    }

    pub(super) fn on_timeout<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let Some(reliable) = &mut self.pairs[pair as usize].reliable else {
            return;
        };
        reliable.armed = Armed::No;
        match reliable.sender.on_timer(now) {
            Ok(()) => {
                self.arm_timeout(pair, context);
                self.list(pair, now, context);
            }
            Err(fatal) => self.give_up(pair, fatal, context),
        }
    }

    /// Sets an event for the next rise of a rate, unless there is one.
    pub(super) fn arm_rate<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        context: &mut Context<'_, E>,
    ) {
        if let Some(rate) = &mut self.pairs[pair as usize].rate
            && rate.armed == Armed::No
            && let Some(due) = rate.sender.next_timer()
        {
            rate.armed = Armed::Yes;
            context.agenda.at(due, LayeredEvent::Rate(pair).into());
        }
    }

    pub(super) fn on_rate<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        if let Some(rate) = &mut self.pairs[pair as usize].rate {
            rate.armed = Armed::No;
            rate.sender.on_timer(now);
        }
        self.arm_rate(pair, context);
        self.list(pair, now, context);
    }
}

/// Returns what bytes take, in units of 2^-32 ps.
pub(super) fn span(byte: ByteTime, bytes: u64) -> u128 {
    u128::from(byte.fine()) * u128::from(bytes)
}

fn fine(time: SimTime) -> u128 {
    u128::from(time.ps()) << 32
}

/// Returns when something begins that could begin at an exact instant, of which somebody hears now:
/// at that instant, unless it has waited for something else.
pub(super) fn exactly(instant: u128, now: SimTime) -> u128 {
    if instant + (1 << 32) > fine(now) {
        instant
    } else {
        fine(now)
    }
}

/// Returns the nearest picosecond.
pub(super) fn near(fine: u128) -> SimTime {
    SimTime::from_ps(u64::try_from((fine + (1 << 31)) >> 32).unwrap_or(u64::MAX))
}

/// Returns the first picosecond that is not before.
fn up(fine: u128) -> SimTime {
    SimTime::from_ps(u64::try_from((fine + (1 << 32) - 1) >> 32).unwrap_or(u64::MAX))
}
