//! What links take back of what they have chosen, here and behind: nothing of it has begun.

use super::{Hop, Lines};
use crate::packet::fine::Fine;
use crate::packet::route::Intake;
use crate::packet::server::{Server, Serving};
use crate::packet::train::Slot;

impl Lines {
    /// Takes back what a server would serve after a packet that it has learnt of.
    pub(super) fn cut(&mut self, server: u32, tie: u32, ready: Fine) {
        let Server { serving, free, .. } = self.servers[server as usize];
        let Some(serving) = serving.filter(|serving| serving.count > 1 && free > ready) else {
            return;
        };
        let slot = &self.slots[serving.slot as usize];
        let train = &slot.trains[0];
        let mut keep = train.before(ready);
        if slot.tie < tie && keep < serving.count && train.ready_at(keep) == ready {
            keep += 1;
        }
        if keep < serving.count {
            self.shorten(server, keep.max(1));
        }
    }

    /// Lets a server serve only so many packets of those it has chosen; one at least.
    fn shorten(&mut self, server: u32, keep: u32) {
        let number = server;
        let server = &mut self.servers[server as usize];
        let serving = server
            .serving
            .as_mut()
            .expect("Invariant: it serves what is cut");
        let excess = serving.count - keep;
        let flight = &mut self.flights[serving.flight as usize];
        let (payload, wire) = flight.bytes(serving.first + keep, excess);
        server.tally.packets -= u64::from(excess);
        server.tally.payload_bytes -= payload;
        server.tally.wire_bytes -= wire;
        server.tally.busy = server.tally.busy - Fine::of(serving.byte, wire);
        let last = Fine::of(serving.byte, flight.full_wire());
        server.free = serving.start + serving.gap.times(keep - 1) + last;
        let hop = self.hops[serving.hop as usize];
        if hop.next.0 == hop.next.1 {
            flight.reached -= excess;
        }
        if flight.ends(serving.first, serving.count) {
            let progress = &mut self.progress[serving.flight as usize];
            if serving.hop == flight.source {
                progress.sent = None;
            }
            if hop.next.0 == hop.next.1 {
                *progress.arrivals.at(hop.leaf) = None;
            }
        }
        serving.count = keep;
        let serving = *serving;
        if server.has_heads() {
            self.schedule(number, Fine::ZERO);
        }
        for branch in hop.next.0..hop.next.1 {
            let next = self.branches[branch as usize];
            self.take_back(serving, next, excess);
        }
    }

    /// Takes the last packets back that were handed to a hop, of which none has arrived.
    fn take_back(&mut self, serving: Serving, hop: u32, excess: u32) {
        let Hop { slot, intake, .. } = self.hops[hop as usize];
        let leader = self.progress[serving.flight as usize].leader;
        match intake {
            Intake::Single => self.truncate(slot, serving.flight, excess),
            Intake::Join(join) => {
                let join = &mut self.joins[join as usize];
                let taken = join.truncate(leader, serving.hop, excess);
                if taken > 0 {
                    self.truncate(slot, leader, taken);
                }
            }
        }
    }

    /// Takes the last packets of a flight in an input back, of which none has arrived.
    pub(super) fn truncate(&mut self, slot: u32, flight: u32, mut excess: u32) {
        let number = slot;
        let mut at = self.slots[slot as usize].trains.len();
        while excess > 0 {
            let Slot { server, trains, .. } = &mut self.slots[slot as usize];
            let server = *server;
            at = (0..at)
                .rev()
                .find(|at| trains[*at].flight == flight)
                .expect("Invariant: what is taken back was announced");
            let taken = excess.min(trains[at].count);
            trains[at].count -= taken;
            excess -= taken;
            let count = trains[at].count;
            if count == 0 {
                trains.remove(at);
            } else if at == 0
                && let Some(serving) = self.servers[server as usize].serving
                && serving.slot == number
                && serving.count > count
            {
                self.shorten(server, count);
            }
        }
    }

    /// Takes back what a server has chosen and not begun.
    pub(super) fn keep_what_has_begun(&mut self, server: u32) {
        let Server { serving, free, .. } = self.servers[server as usize];
        if let Some(serving) = serving.filter(|serving| serving.count > 1 && free > self.now) {
            let begun = self.now.saturating_sub(serving.start).count_up(serving.gap);
            let begun = begun.clamp(1, serving.count);
            if begun < serving.count {
                self.shorten(server, begun);
                // The rest waits in its input again, where nobody else may make the link look.
                self.schedule(server, Fine::ZERO);
            }
        }
    }
}
