//! The closed loop at the chips that receive, and what they answer: acknowledgements, credits,
//! notices of gaps and of congestion.

use tier6_units::ByteTime;

use super::{Hop, Lines};
use crate::AckMerge;
use crate::network::{Message, MessageId, Notice, PathId};
use crate::packet::calendar::Event;
use crate::packet::ends::{Answer, Stage, short};
use crate::packet::fine::Fine;
use crate::packet::progress::{Errand, Progress};
use crate::packet::train::Mark;
use crate::rc_link::{AckScanner, Answer as Acknowledge, Reaction, Urgency};

impl Lines {
    /// Handles a packet at its receiver; returns what the chips hear.
    pub(super) fn delivered(&mut self, number: u32, packet: u32, mark: Mark) -> Option<Notice> {
        let now = self.now.to_sim();
        let flight = &mut self.flights[number as usize];
        let wire = flight.wire(packet);
        let is_last = packet + 1 == flight.packets;
        let ends = flight.ends.as_mut()?;
        ends.pending -= 1;
        let mut answers = Vec::new();
        if let Some(pool) = &ends.credits {
            answers.push(Answer::Credits(pool.of(short(wire))));
        }
        if let Some(rate) = &mut ends.rate
            && mark == Mark::Congested
            && rate.notices.on_marked(now)
        {
            answers.push(Answer::Congestion);
        }
        let urgency = if is_last {
            Urgency::Force
        } else {
            Urgency::Merge
        };
        let sequence = ends.sender.sequence_of(packet.into());
        let mut marks = false;
        match ends.receiver.on_frame(sequence, urgency) {
            Reaction::Take { answer, nak, .. } => {
                match answer {
                    Acknowledge::Now(expected) => answers.push(Answer::Ack(expected)),
                    Acknowledge::Mark => marks = true,
                    Acknowledge::Merged => {}
                }
                answers.extend(nak.map(Answer::Nak));
            }
            Reaction::Again(expected) => answers.push(Answer::Ack(expected)),
            Reaction::Gap { nak } => answers.extend(nak.map(Answer::Nak)),
        }
        let is_whole = ends.receiver.expected() == u64::from(flight.packets);
        for answer in answers {
            self.answer(number, answer);
        }
        if marks {
            self.mark_for_scan(number);
        }
        let flight = &mut self.flights[number as usize];
        let ends = flight.ends.as_mut()?;
        if is_whole && ends.stage == Stage::Moving {
            ends.stage = Stage::Arrived;
            let leader = self.progress[number as usize].leader;
            let notice = self.whole(leader);
            self.retire_if_done(number);
            return notice;
        }
        self.retire_if_done(number);
        None
    }

    /// Sends an answer back.
    fn answer(&mut self, number: u32, answer: Answer) {
        let &Progress { back, way_back, .. } = &self.progress[number as usize];
        let mut time = self.now + back;
        if let Some(ends) = &mut self.flights[number as usize].ends {
            ends.pending += 1;
        }
        if let Answer::Credits(_) = answer {
            time = self.at_period(time);
        }
        let Some(control) = &mut self.control else {
            return;
        };
        let at = if let Some(at) = control.spare_answers.pop() {
            control.answers[at as usize] = (number, answer);
            at
        } else {
            control.answers.push((number, answer));
            super::index(control.answers.len() - 1)
        };
        let ack_bytes = control.link.map_or(0, |link| link.ack_bytes);
        match way_back {
            Some(way) if ack_bytes > 0 && !matches!(answer, Answer::Credits(_)) => {
                self.send_answer(at, way, ack_bytes);
            }
            _ => self.calendar.add(time, Event::Answer(at)),
        }
    }

    /// Sends an answer that takes bytes: a frame of its own on the way back.
    fn send_answer(&mut self, at: u32, way_back: u32, bytes: u32) {
        let message = Message {
            id: MessageId(0),
            path: PathId(0),
            bytes: 0,
            pace: ByteTime::ZERO,
        };
        let number = self.launch(message, self.now.to_sim());
        let flight = &mut self.flights[number as usize];
        flight.source = way_back;
        flight.packets = 1;
        flight.overhead = bytes;
        let progress = &mut self.progress[number as usize];
        progress.leader = number;
        progress.errand = Errand::Answer(at);
        (progress.unsent, progress.unarrived) = (1, 1);
        self.join_pump(number);
    }

    /// Forgets an answer that was lost on its way.
    pub(super) fn forget_answer(&mut self, at: u32) {
        let Some(control) = &mut self.control else {
            return;
        };
        let (number, _) = control.answers[at as usize];
        control.spare_answers.push(at);
        if let Some(ends) = &mut self.flights[number as usize].ends {
            ends.pending -= 1;
        }
        self.retire_if_done(number);
    }

    /// Lets the scanner of the receiving chip acknowledge in its turn.
    fn mark_for_scan(&mut self, number: u32) {
        let exit = self.progress[number as usize].exit;
        let Some(control) = &mut self.control else {
            return;
        };
        let merge = control.link.map(|link| link.ack);
        let Some(AckMerge::Every(visit)) = merge else {
            return;
        };
        if let Some(ends) = &mut self.flights[number as usize].ends {
            ends.pending += 1;
        }
        let scanner = control.scanners[exit as usize].get_or_insert_with(|| AckScanner::new(visit));
        if let Some(time) = scanner.mark(number, self.now.to_sim()) {
            self.calendar
                .add(Fine::from(time).max(self.now), Event::Visit(exit));
        }
    }

    pub(super) fn visit(&mut self, exit: u32) {
        let now = self.now.to_sim();
        let control = self.control.as_mut();
        let Some(scanner) = control.and_then(|control| control.scanners[exit as usize].as_mut())
        else {
            return;
        };
        let (number, next) = scanner.visit(now);
        if let Some(time) = next {
            self.calendar
                .add(Fine::from(time).max(self.now), Event::Visit(exit));
        }
        let Some(ends) = &mut self.flights[number as usize].ends else {
            return;
        };
        ends.pending -= 1;
        if let Some(expected) = ends.receiver.acknowledge() {
            self.answer(number, Answer::Ack(expected));
        }
        self.retire_if_done(number);
    }

    /// Handles an answer at the sender.
    pub(super) fn answered(&mut self, at: u32) -> Option<Notice> {
        let control = self.control.as_mut()?;
        let (number, answer) = control.answers[at as usize];
        control.spare_answers.push(at);
        let now = self.now.to_sim();
        let flight = &mut self.flights[number as usize];
        let Hop { server, .. } = self.hops[flight.source as usize];
        let ends = flight.ends.as_mut()?;
        ends.pending -= 1;
        let was_blocked = ends.sender.peek().is_none() || ends.credits.is_some();
        let (mut freed, mut fatal) = (0, None);
        match answer {
            Answer::Ack(expected) => freed = ends.sender.on_ack(expected, now),
            Answer::Nak(missing) => match ends.sender.on_nak(missing, now) {
                Ok(acknowledged) => freed = acknowledged,
                Err(gave_up) => fatal = Some(gave_up.retries),
            },
            Answer::Credits(credits) => {
                if let Some(pool) = &mut ends.credits {
                    pool.restore(credits);
                }
            }
            Answer::Congestion => {
                if let Some(rate) = &mut ends.rate {
                    rate.dcqcn.on_cnp(now);
                }
            }
        }
        if was_blocked {
            ends.held = ends.held.max(self.now);
        }
        if let Some(retries) = fatal {
            return self.give_up(number, retries);
        }
        self.free_requests(server, freed);
        self.set_deadline(number);
        self.set_raise(number);
        self.nudge(server);
        self.retire_if_done(number);
        None
    }

    pub(super) fn give_up(&mut self, number: u32, retries: u32) -> Option<Notice> {
        let leader = self.progress[number as usize].leader;
        let id = self.progress[leader as usize].name;
        let ends = self.flights[number as usize].ends.as_mut()?;
        ends.stage = Stage::Fatal;
        Some(Notice::Fatal { id, retries })
    }

    /// Counts answered requests, and lets other pumps of the chip go on if all waited for them.
    fn free_requests(&mut self, server: u32, freed: u64) {
        let Some(control) = &mut self.control else {
            return;
        };
        let Some(chip) = control.sites[server as usize].chip else {
            return;
        };
        let chip = &mut control.chips[chip as usize];
        let Some(open) = chip.outstanding.as_mut().filter(|_| freed > 0) else {
            return;
        };
        let was_full = open.room() == 0;
        open.answer(u32::try_from(freed).unwrap_or(u32::MAX));
        if was_full {
            chip.since = self.now;
            let servers = chip.servers.clone();
            for other in servers.into_iter().filter(|other| *other != server) {
                self.nudge(other);
            }
        }
    }
}
