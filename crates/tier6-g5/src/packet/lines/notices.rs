//! What the chips hear: that a message has left, or has arrived.

use super::Lines;
use crate::network::Notice;
use crate::packet::calendar::Event;
use crate::packet::ends::Answer;
use crate::packet::fine::Fine;
use crate::packet::progress::Errand;

impl Lines {
    pub(super) fn sent(&mut self, number: u32, time: Fine) -> Option<Notice> {
        let progress = &mut self.progress[number as usize];
        if progress.sent != Some(time) {
            return None;
        }
        progress.sent = None;
        let leader = progress.leader;
        let flight = &self.flights[number as usize];
        if flight.ends.is_none() {
            let slot = self.hops[flight.source as usize].slot;
            self.pump(slot).leave(number);
        }
        let number = leader;
        let leader = &mut self.progress[number as usize];
        leader.unsent -= 1;
        if leader.errand == Errand::Message {
            return (leader.unsent == 0).then_some(Notice::Sent(leader.name));
        }
        self.forget_if_done(number);
        None
    }

    pub(super) fn arrived(&mut self, number: u32, leaf: u32, time: Fine) -> Option<Notice> {
        let progress = &mut self.progress[number as usize];
        let arrival = progress.arrivals.at(leaf);
        if *arrival != Some(time) {
            return None;
        }
        *arrival = None;
        let leader = progress.leader;
        self.whole(leader)
    }

    /// Notes that one end has a message whole; tells the chips when all have.
    pub(super) fn whole(&mut self, number: u32) -> Option<Notice> {
        let leader = &mut self.progress[number as usize];
        leader.unarrived -= 1;
        let (left, name, errand) = (leader.unarrived, leader.name, leader.errand);
        self.forget_if_done(number);
        if let Errand::Answer(at) = errand {
            return self.answered(at);
        }
        (left == 0).then_some(Notice::Arrived(name))
    }

    /// Forgets a message that has arrived and of which nothing is under way.
    pub(super) fn forget_if_done(&mut self, number: u32) {
        let leader = &mut self.progress[number as usize];
        if leader.unarrived > 0 || leader.unretired > 0 || leader.unsent > 0 {
            return;
        }
        let others = std::mem::take(&mut leader.others);
        if !others.is_empty() {
            self.joins.iter_mut().for_each(|join| join.forget(number));
        }
        self.spare.push(number);
        self.spare.extend(others);
    }

    /// Returns whether the next event is a notice that still holds.
    pub(in crate::packet) fn next_is_notice(&mut self) -> bool {
        match self.calendar.peek() {
            Some((time, Event::Sent(flight))) => self.progress[flight as usize].sent == Some(time),
            Some((time, Event::Arrived(flight, leaf))) => {
                *self.progress[flight as usize].arrivals.at(leaf) == Some(time)
            }
            Some((_, Event::Delivered(flight, packet, _))) => self.may_be_whole(flight, packet),
            Some((_, Event::Answer(at))) => self.may_give_up(at),
            Some((_, Event::Deadline(_))) => true,
            None
            | Some((
                _,
                Event::Decide(_)
                | Event::Admit(_)
                | Event::Credit(..)
                | Event::Pause(_)
                | Event::Resume(_)
                | Event::Visit(_)
                | Event::Raise(_)
                | Event::Fail(_),
            )) => false,
        }
    }

    /// Returns whether a message may be whole with a packet.
    fn may_be_whole(&self, number: u32, packet: u32) -> bool {
        let flight = &self.flights[number as usize];
        let receiver = flight.ends.as_ref().map(|ends| &ends.receiver);
        receiver.is_none_or(|receiver| receiver.would_end(packet.into(), flight.packets.into()))
    }

    /// Returns whether a sender may give up with an answer.
    fn may_give_up(&self, at: u32) -> bool {
        let answers = self.control.as_ref().map(|control| &control.answers);
        answers.is_none_or(|answers| match answers[at as usize].1 {
            Answer::Nak(_) => true,
            Answer::Ack(_) | Answer::Credits(_) | Answer::Congestion => false,
        })
    }
}
