//! The sender's side of its first link: messages of one chip take turns, packet by packet.
//!
//! The pump is a server in front of the link, of the link's rate and without a queue: it offers
//! one train at a time, and what it offers is decided when the link comes to it, from what was
//! known at the time of the offer. A message that has the pump for itself is offered whole.

use super::fine::Fine;

#[derive(Debug, Default)]
pub(crate) struct Pump {
    /// Flights with packets to offer, and those whose last packet has not left yet, in the order
    /// in which the chip handed them over.
    flights: Vec<u32>,
    /// Whose turn it is.
    turn: usize,
    /// When the pump is done with what it has offered.
    pub(crate) free: Fine,
    /// `turn` and `free` before the latest offer.
    before: (usize, Fine),
}

/// A flight whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    at: usize,
    pub(crate) flight: u32,
    /// Whether another flight wants its turn as well.
    pub(crate) rivals: Rivals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rivals {
    None,
    Some,
}

impl Pump {
    pub(crate) fn join(&mut self, flight: u32) {
        self.flights.push(flight);
    }

    pub(crate) fn flights(&self) -> std::slice::Iter<'_, u32> {
        self.flights.iter()
    }

    pub(crate) fn leave(&mut self, flight: u32) {
        let Some(at) = self.flights.iter().position(|other| *other == flight) else {
            return;
        };
        self.flights.remove(at);
        for turn in [&mut self.turn, &mut self.before.0] {
            if *turn > at {
                *turn -= 1;
            }
        }
    }

    /// Returns whose turn it is. `order` tells when a flight has its next packet, `None` when it
    /// has none. Who has one by the time at which the pump is free goes in turn; if nobody has,
    /// the first to have one goes.
    pub(crate) fn next(&self, order: impl Fn(u32) -> Option<Fine>) -> Option<Turn> {
        let n = self.flights.len();
        let in_turn = (self.turn..n).chain(0..self.turn.min(n));
        let mut soonest: Option<(Fine, usize)> = None;
        let mut waiting = 0;
        for at in in_turn {
            let Some(order) = order(self.flights[at]) else {
                continue;
            };
            waiting += 1;
            let is_ready = soonest.is_some_and(|(first, _)| first <= self.free);
            if soonest.is_none_or(|(first, _)| order < first) && !is_ready {
                soonest = Some((order, at));
            }
            // Enough is known: who goes, and that somebody else waits.
            if waiting > 1 && soonest.is_some_and(|(first, _)| first <= self.free) {
                break;
            }
        }
        soonest.map(|(_, at)| Turn {
            at,
            flight: self.flights[at],
            rivals: if waiting > 1 {
                Rivals::Some
            } else {
                Rivals::None
            },
        })
    }

    /// Notes an offer that keeps the pump busy until `free`.
    pub(crate) fn offered(&mut self, turn: Turn, free: Fine) {
        self.before = (self.turn, self.free);
        self.turn = turn.at + 1;
        self.free = free;
    }

    /// Takes the latest offer back, whole.
    pub(crate) fn withdraw(&mut self) {
        (self.turn, self.free) = self.before;
    }
}
