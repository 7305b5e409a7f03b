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
    pub(crate) packet: u32,
    /// When it has the packet.
    pub(crate) order: Fine,
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

    /// Returns whose turn it is, and what `next` says of it: the packet that the flight has next
    /// and since when, `None` when it has none. Who has one by the time at which the pump is free
    /// goes in turn; if nobody has, the first to have one goes.
    pub(crate) fn next(&self, next: impl Fn(u32) -> Option<(u32, Fine)>) -> Option<Turn> {
        let n = self.flights.len();
        let in_turn = (self.turn..n).chain(0..self.turn.min(n));
        let mut soonest: Option<Turn> = None;
        for at in in_turn {
            let flight = self.flights[at];
            let Some((packet, order)) = next(flight) else {
                continue;
            };
            if soonest.is_none_or(|first| order < first.order) {
                soonest = Some(Turn {
                    at,
                    flight,
                    packet,
                    order,
                });
            }
            if order <= self.free {
                break;
            }
        }
        soonest
    }

    /// Returns whether other flights may want their turn as well.
    pub(crate) fn rivals(&self) -> Rivals {
        if self.flights.len() > 1 {
            Rivals::Some
        } else {
            Rivals::None
        }
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
