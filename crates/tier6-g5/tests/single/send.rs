//! What a link sends next, and what becomes of it.

use tier6_units::{ByteTime, SimTime};

use tier6_g5::network::{Context, Message};
use tier6_g5::paxi::Segments;
use tier6_g5::rc_link::{Transmission, Urgency};
use tier6_g5::{Fabric, PathChoice};

use super::packet::{Flight, Load, Mark, Packet, Way};
use super::port::{Cause, State, Turn};
use super::transmit::{Departure, exactly, near, span};
use super::{LayeredEvent, LayeredNetwork, mix};

/// Payload of the pieces into which messages are cut that enter the links whole: links take
/// turns between them. They have no headers.
const PIECE: u32 = 16 << 10;

/// Whether a queue pair can send over a link now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readiness {
    Ready,
    /// Not before this time.
    At(SimTime),
    /// Its link has no credits for it.
    NoCredit,
    /// It waits for an acknowledgement, a response, or something to send.
    Waiting,
    /// Its next frame takes another link.
    Elsewhere,
}

/// What a link can send of the chip where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    Pair(u32),
    At(SimTime),
    NoCredit,
    Nothing,
}

impl LayeredNetwork {
    pub(super) fn offer<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let segment = self.parameters.paxi.map_or(PIECE, |paxi| paxi.segment);
        let segments = Segments::of(message.bytes, segment.into());
        let ends = &mut self.pairs[pair as usize];
        let flight = Flight {
            message: message.id,
            first: ends.offer(segments.count()),
            segments,
            start: now,
            pace: message.pace,
            missing: segments.count(),
        };
        ends.flights.push_back(self.flights.add(flight));
        self.list(pair, now, context);
    }

    /// Puts a queue pair in turn at the link of its next frame.
    pub(super) fn list<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        if let Some(link) = self.line_up(pair, context.fabric) {
            self.serve(link, now, context);
        }
    }

    /// Returns the link at which a queue pair has been put in turn.
    fn line_up(&mut self, pair: u32, fabric: &Fabric<'_>) -> Option<u32> {
        let ends = &self.pairs[pair as usize];
        if ends.listed.is_some() {
            return ends.listed;
        }
        let number = ends.peek()?;
        let link = self.link_of(pair, number, fabric);
        self.pairs[pair as usize].listed = Some(link);
        self.ports[link as usize].locals.push_back(pair);
        Some(link)
    }

    /// Returns the route of a frame.
    fn route_of(&self, pair: u32, number: u64) -> u32 {
        let n_routes = self.pairs[pair as usize].n_routes;
        match self.parameters.paths {
            PathChoice::Spray => {
                let draw = mix(self.seed ^ mix(u64::from(pair) ^ mix(number)));
                turn(draw, n_routes)
            }
            // Queue pairs begin at different routes, or all would be on the same one at a time.
            PathChoice::RoundRobin => turn(number + u64::from(pair), n_routes),
            PathChoice::PerFlow | PathChoice::SubFlows(_) | PathChoice::Preferred => {
                turn(number, n_routes)
            }
        }
    }

    /// Returns the first link of a frame.
    fn link_of(&self, pair: u32, number: u64, fabric: &Fabric<'_>) -> u32 {
        let route = self.route_of(pair, number) as usize;
        let path = self.pairs[pair as usize].path;
        fabric.path(path).route(route)[0].get()
    }

    /// Sends the next packet of a link, if it is free and something can go.
    pub(super) fn serve<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let port = &mut self.ports[link as usize];
        if port.serving.is_some() {
            return;
        }
        match port.state {
            State::Up => {}
            State::Failed => return,
            State::Paused => {
                if port.has_work() {
                    port.block(now, Cause::Pause);
                }
                return;
            }
        }
        let order = match port.turn {
            Turn::Transit => [Turn::Transit, Turn::Local],
            Turn::Local => [Turn::Local, Turn::Transit],
        };
        for turn in order {
            let is_sent = match turn {
                Turn::Transit => self.send_transit(link, now, context),
                Turn::Local => self.send_local(link, now, context),
            };
            if is_sent {
                self.ports[link as usize].turn = match turn {
                    Turn::Transit => Turn::Local,
                    Turn::Local => Turn::Transit,
                };
                return;
            }
        }
    }

    /// Sends a packet that passes through; returns whether one could go.
    fn send_transit<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) -> bool {
        let port = &mut self.ports[link as usize];
        let Some(packet) = port.queue.front().copied() else {
            return false;
        };
        let Packet { wire, ready, .. } = self.packets.get(packet);
        let Some(credits) = port.take_credits(wire) else {
            port.block(now, Cause::Credit);
            return false;
        };
        port.pop(wire);
        let start = exactly(port.free.max(ready), now);
        let departure = Departure {
            packet,
            credits,
            start,
            ends: None,
        };
        self.transmit(link, departure, now, context);
        true
    }

    /// Sends a frame of the chip where the link begins; returns whether one could go.
    fn send_local<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) -> bool {
        match self.pick(link, now, context) {
            Pick::Pair(pair) => {
                self.send_frame(link, pair, now, context);
                true
            }
            Pick::At(time) => {
                if self.ports[link as usize].wakes_at(time) {
                    context.agenda.at(time, LayeredEvent::Serve(link).into());
                }
                false
            }
            Pick::NoCredit => {
                self.ports[link as usize].block(now, Cause::Credit);
                false
            }
            Pick::Nothing => false,
        }
    }

    /// Takes the first queue pair in turn that can send.
    fn pick<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) -> Pick {
        let mut soonest = Pick::Nothing;
        for _ in 0..self.ports[link as usize].locals.len() {
            let Some(pair) = self.ports[link as usize].locals.pop_front() else {
                break;
            };
            let readiness = self.readiness(pair, link, now, context.fabric);
            match readiness {
                Readiness::Ready => {
                    self.pairs[pair as usize].listed = None;
                    return Pick::Pair(pair);
                }
                Readiness::Waiting => self.pairs[pair as usize].listed = None,
                Readiness::Elsewhere => {
                    self.pairs[pair as usize].listed = None;
                    if let Some(other) = self.line_up(pair, context.fabric) {
                        context.agenda.at(now, LayeredEvent::Serve(other).into());
                    }
                }
                Readiness::NoCredit => {
                    // It keeps its turn.
                    self.ports[link as usize].locals.push_front(pair);
                    return Pick::NoCredit;
                }
                Readiness::At(time) => {
                    self.ports[link as usize].locals.push_back(pair);
                    soonest = match soonest {
                        Pick::At(before) => Pick::At(before.min(time)),
                        Pick::Pair(_) | Pick::NoCredit | Pick::Nothing => Pick::At(time),
                    };
                }
            }
        }
        soonest
    }

    fn readiness(&mut self, pair: u32, link: u32, now: SimTime, fabric: &Fabric<'_>) -> Readiness {
        let Some(number) = self.pairs[pair as usize].peek() else {
            return Readiness::Waiting;
        };
        if self.link_of(pair, number, fabric) != link {
            return Readiness::Elsewhere;
        }
        let ends = &self.pairs[pair as usize];
        let flight = self.flights.get(ends.flight_of(number, &self.flights));
        let wire = self.wire_of(&flight, number);
        if !ends.was_sent(number) {
            let byte = self.ports[link as usize].byte;
            let there = available(&flight, number - flight.first, byte, wire);
            if there > now {
                return Readiness::At(there);
            }
            let chip = &mut self.chips[ends.from];
            if (chip.outstanding.as_ref()).is_some_and(|bound| bound.room() == 0) {
                chip.starved.push(pair);
                return Readiness::Waiting;
            }
        }
        let cut = u32::try_from(wire).unwrap_or(u32::MAX);
        if (ends.credits.as_ref()).is_some_and(|pool| pool.room_for(cut) == 0) {
            return Readiness::Waiting;
        }
        let port = &self.ports[link as usize];
        if (port.credits.as_ref()).is_some_and(|pool| pool.room_for(cut) == 0 && pool.taken() > 0) {
            return Readiness::NoCredit;
        }
        let ends = &mut self.pairs[pair as usize];
        if let Some(rate) = &mut ends.rate
            && !rate.sender.is_at_line_rate()
            && let Err(later) = rate.budget.grant(cut, rate.sender.pace(), now)
        {
            if let Some(reliable) = &mut ends.reliable {
                reliable.sender.hold(later);
            }
            return Readiness::At(later);
        }
        Readiness::Ready
    }

    fn wire_of(&self, flight: &Flight, number: u64) -> u64 {
        let overhead = match (self.parameters.paxi, self.parameters.rc_link) {
            (Some(_), Some(rc_link)) => rc_link.overhead,
            (None, _) | (_, None) => 0,
        };
        flight.segments.bytes(number - flight.first) + u64::from(overhead)
    }

    /// Sends the next frame of a queue pair that is ready.
    fn send_frame<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        pair: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let ends = &mut self.pairs[pair as usize];
        let (number, sequence, transmission) = if let Some(reliable) = &mut ends.reliable {
            let frame = (reliable.sender.send(now)).expect("Invariant: the pair is ready");
            (frame.number, Some(frame.sequence), frame.transmission)
        } else {
            ends.plain.1 += 1;
            (ends.plain.1 - 1, None, Transmission::First)
        };
        let ends = &self.pairs[pair as usize];
        let at = ends.flight_of(number, &self.flights);
        let flight = self.flights.get(at);
        let wire = self.wire_of(&flight, number);
        let payload = flight.segments.bytes(number - flight.first);
        let is_last = number + 1 == flight.end();
        let ends = &mut self.pairs[pair as usize];
        if is_last && ends.reliable.is_none() {
            ends.flights.pop_front();
        }
        let cut = u32::try_from(wire).unwrap_or(u32::MAX);
        if let Some(pool) = &mut ends.credits {
            pool.take(cut).expect("Invariant: the pair is ready");
        }
        if let Some(rate) = &mut ends.rate {
            rate.sender.on_sent(wire);
        }
        let chip = &mut self.chips[ends.from];
        match transmission {
            Transmission::First => {
                if let Some(bound) = &mut chip.outstanding {
                    bound.admit(1);
                }
            }
            Transmission::Again => self.ports[link as usize].account.resent += 1,
        }
        let port = &mut self.ports[link as usize];
        let credits = (port.take_credits(wire)).expect("Invariant: the pair is ready");
        let mut start = exactly(port.free, now);
        if let Some(engines) = chip.engines {
            // The engines hand over the head at once and the tail in time.
            let begin = chip.engines_free.max(start);
            chip.engines_free = begin + span(engines, payload);
            start = begin.max(chip.engines_free.saturating_sub(span(port.byte, wire)));
        }
        let packet = self.packets.add(Packet {
            pair,
            way: Way::Forth(self.route_of(pair, number)),
            hop: 0,
            load: Load::Frame {
                flight: at,
                sequence,
                urgency: if is_last {
                    Urgency::Force
                } else {
                    Urgency::Merge
                },
            },
            payload,
            wire,
            ready: 0,
            entered: None,
            mark: Mark::Clear,
        });
        let ends_message = is_last && transmission == Transmission::First;
        let departure = Departure {
            packet,
            credits,
            start,
            ends: ends_message.then_some(flight.message),
        };
        self.transmit(link, departure, now, context);
        self.line_up(pair, context.fabric);
        self.arm_timeout(pair, context);
    }
}

fn turn(number: u64, n_routes: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "below `n_routes`")]
    let route = (number % u64::from(n_routes)) as u32;
    route
}

/// Returns when the sender's engines have a segment ready for a link: its head, or later when its
/// tail would not be in time.
fn available(flight: &Flight, segment: u64, byte: ByteTime, wire: u64) -> SimTime {
    let before = segment * flight.segments.bytes(0);
    let head = span(flight.pace, before);
    let tail = span(flight.pace, before + flight.segments.bytes(segment));
    flight.start + near(head.max(tail.saturating_sub(span(byte, wire))))
}
