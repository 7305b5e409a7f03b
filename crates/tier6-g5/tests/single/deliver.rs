//! A packet at its chip: what is taken, answered, and done about the answer at the sender.

use tier6_units::SimTime;

use tier6_g5::network::{Context, Notice};
use tier6_g5::rc_link::{Answer, QueuePairFatal, Reaction, Sequence, Urgency};

use super::packet::{Load, Mark, Packet, Way};
use super::{Control, LayeredEvent, LayeredNetwork};

impl LayeredNetwork {
    pub(super) fn on_tail<E: From<LayeredEvent>>(
        &mut self,
        packet: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let packet = self.packets.remove(packet);
        if let Some(entered) = packet.entered {
            self.free_credits(entered.link, entered.credits, now, context);
        }
        match packet.load {
            Load::Control(control) => self.on_control(packet.pair, control, now, context),
            Load::Frame {
                flight,
                sequence,
                urgency,
                ..
            } => {
                self.return_credits(&packet, now, context);
                if packet.mark == Mark::Congestion {
                    self.notify(packet.pair, now, context);
                }
                if let Some(sequence) = sequence {
                    self.receive(packet.pair, flight, sequence, urgency, now, context);
                    return;
                }
                self.take(flight, context);
                if self.parameters.paxi.is_some() {
                    self.send_back(packet.pair, Control::Response, now, context);
                }
            }
        }
    }

    /// Forgets a packet that does not arrive. Its credits between the chips are not lost: the
    /// counters of the next packet tell the receiver of them.
    pub(super) fn lose<E: From<LayeredEvent>>(
        &mut self,
        packet: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let packet = self.packets.remove(packet);
        match packet.load {
            Load::Frame { .. } => self.return_credits(&packet, now, context),
            // What is counted is told again by the next one.
            Load::Control(told @ (Control::Response | Control::Credits(_))) => {
                let time = now + self.pairs[packet.pair as usize].back_latency;
                let event = LayeredEvent::Control(packet.pair, told);
                context.agenda.at(time, event.into());
            }
            Load::Control(Control::Ack(_) | Control::Nak(_) | Control::Cnp) => {}
        }
    }

    /// Gives credits between chips back.
    fn return_credits<E: From<LayeredEvent>>(
        &mut self,
        packet: &Packet,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        if let Some(pool) = &self.pairs[packet.pair as usize].credits {
            let credits = pool.of(u32::try_from(packet.wire).unwrap_or(u32::MAX));
            self.send_back(packet.pair, Control::Credits(credits), now, context);
        }
    }

    /// Tells the sender of a congestion mark, unless it was told just now.
    fn notify<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let rate = self.pairs[pair as usize].rate.as_mut();
        if rate.is_some_and(|rate| rate.notices.on_marked(now)) {
            self.send_back(pair, Control::Cnp, now, context);
        }
    }

    fn receive<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        flight: u32,
        sequence: Sequence,
        urgency: Urgency,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let ends = &mut self.pairs[pair as usize];
        let chip = ends.to;
        let Some(reliable) = &mut ends.reliable else {
            return;
        };
        match reliable.receiver.on_frame(sequence, urgency) {
            Reaction::Take { answer, nak, .. } => {
                self.take(flight, context);
                match answer {
                    Answer::Now(expected) => {
                        self.send_back(pair, Control::Ack(expected), now, context);
                    }
                    Answer::Mark => {
                        let scanner = &mut self.chips[chip].scanner;
                        if let Some(time) = scanner.as_mut().and_then(|scan| scan.mark(pair, now)) {
                            let chip = super::packet::index(chip);
                            context.agenda.at(time, LayeredEvent::Scan(chip).into());
                        }
                    }
                    Answer::Merged => {}
                }
                if let Some(missing) = nak {
                    self.send_back(pair, Control::Nak(missing), now, context);
                }
            }
            Reaction::Again(expected) => {
                self.send_back(pair, Control::Ack(expected), now, context);
            }
            Reaction::Gap { nak } => {
                if let Some(missing) = nak {
                    self.send_back(pair, Control::Nak(missing), now, context);
                }
            }
        }
    }

    /// Counts a frame of a message that was not there yet.
    fn take<E>(&mut self, at: u32, context: &mut Context<'_, E>) {
        let flight = self.flights.get_mut(at);
        flight.missing -= 1;
        if flight.missing > 0 {
            return;
        }
        context.notices.push(Notice::Arrived(flight.message));
        if self.parameters.rc_link.is_none() {
            self.flights.remove(at);
        }
    }

    pub(super) fn on_scan<E: From<LayeredEvent>>(
        &mut self,
        chip: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let Some(scanner) = &mut self.chips[chip as usize].scanner else {
            return;
        };
        let (pair, next) = scanner.visit(now);
        if let Some(time) = next {
            context.agenda.at(time, LayeredEvent::Scan(chip).into());
        }
        let reliable = self.pairs[pair as usize].reliable.as_mut();
        if let Some(expected) = reliable.and_then(|ends| ends.receiver.acknowledge()) {
            self.send_back(pair, Control::Ack(expected), now, context);
        }
    }

    /// Sends a control frame to the sender of a queue pair: as a packet if it has bytes, else
    /// past all queues.
    fn send_back<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        control: Control,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let bytes = self.parameters.rc_link.map_or(0, |link| link.ack_bytes);
        let ends = &self.pairs[pair as usize];
        if bytes > 0 && ends.back.is_some() {
            let packet = self.packets.add(Packet {
                pair,
                way: Way::Back,
                hop: 0,
                load: Load::Control(control),
                payload: 0,
                wire: bytes.into(),
                ready: 0,
                entered: None,
                mark: Mark::Clear,
            });
            self.on_ready(packet, now, context);
            return;
        }
        let (latency, loss) = (ends.back_latency, ends.back_loss);
        let is_lost = match control {
            // What is counted is told again by the next one.
            Control::Response | Control::Credits(_) => false,
            Control::Ack(_) | Control::Nak(_) | Control::Cnp => {
                loss > 0.0 && self.draw() >> 11 < super::port::of_draws(loss)
            }
        };
        if !is_lost {
            let event = LayeredEvent::Control(pair, control);
            context.agenda.at(now + latency, event.into());
        }
    }

    /// A control frame is at the sender.
    pub(super) fn on_control<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        control: Control,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let ends = &mut self.pairs[pair as usize];
        match control {
            Control::Response => {
                let chip = ends.from;
                self.answer(chip, 1, now, context);
            }
            Control::Credits(credits) => {
                if let Some(pool) = &mut ends.credits {
                    pool.restore(credits);
                }
            }
            Control::Cnp => {
                if let Some(rate) = &mut ends.rate {
                    rate.sender.on_cnp(now);
                }
                self.arm_rate(pair, context);
            }
            Control::Ack(expected) => {
                let reliable = ends.reliable.as_mut();
                let freed = reliable.map_or(0, |ends| ends.sender.on_ack(expected, now));
                self.acknowledged(pair, freed, now, context);
            }
            Control::Nak(missing) => {
                let Some(reliable) = &mut ends.reliable else {
                    return;
                };
                match reliable.sender.on_nak(missing, now) {
                    Ok(freed) => self.acknowledged(pair, freed, now, context),
                    Err(fatal) => self.give_up(pair, fatal, context),
                }
            }
        }
        self.list(pair, now, context);
    }

    /// Frames are acknowledged: their responses are there, and messages may be complete.
    fn acknowledged<E: From<LayeredEvent>>(
        &mut self,
        pair: u32,
        freed: u64,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        self.arm_timeout(pair, context);
        if freed == 0 {
            return;
        }
        let ends = &mut self.pairs[pair as usize];
        let acknowledged = (ends.reliable.as_ref()).map_or(0, |ends| ends.sender.acknowledged());
        while let Some(&oldest) = ends.flights.front()
            && self.flights.get(oldest).end() <= acknowledged
        {
            ends.flights.pop_front();
            let flight = self.flights.remove(oldest);
            context.notices.push(Notice::Answered(flight.message));
        }
        let chip = ends.from;
        let freed = u32::try_from(freed).unwrap_or(u32::MAX);
        self.answer(chip, freed, now, context);
    }

    /// Requests of a chip are answered: queue pairs that waited for that go on.
    fn answer<E: From<LayeredEvent>>(
        &mut self,
        chip: usize,
        responses: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let Some(bound) = &mut self.chips[chip].outstanding else {
            return;
        };
        bound.answer(responses);
        let mut starved = std::mem::take(&mut self.chips[chip].starved);
        for pair in starved.drain(..) {
            self.list(pair, now, context);
        }
        // Those that starve again are in the new list; the old one's room is kept.
        let again = std::mem::replace(&mut self.chips[chip].starved, starved);
        self.chips[chip].starved.extend(again);
    }

    /// A queue pair gives up: the run ends.
    pub(super) fn give_up<E>(
        &mut self,
        pair: u32,
        fatal: QueuePairFatal,
        context: &mut Context<'_, E>,
    ) {
        let oldest = self.pairs[pair as usize].flights.front();
        if let Some(&oldest) = oldest {
            context.notices.push(Notice::Fatal {
                id: self.flights.get(oldest).message,
                retries: fatal.retries,
            });
        }
    }
}
