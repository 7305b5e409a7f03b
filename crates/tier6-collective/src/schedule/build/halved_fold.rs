//! Halving-doubling for other N than powers of two, with halved folds.
//!
//! With p = 2^L ranks in the core, rank p + i pairs with rank i. A pair takes the place of one
//! rank of the core: rank i for the first half of the message, rank p + i for the second. The
//! other ranks of the core work for both halves. So the pairs exchange halves before and after,
//! M/2 each way both times: 2 steps and M/B more than a power of two, in place of 2M/B
//! (FACTS B.1). An AllGather needs the exchange after it only, a ReduceScatter that before it.
//!
//! A rank that works for both halves sends them in one message to one of its kind, and through
//! two ports to the two of a pair: a step stays a step.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, Slot};
use crate::schedule::transfer::Piece;

use super::halving_doubling::core_of;
use super::moves::{self, Move};
use super::{Distance, Job};

pub(super) fn build(job: &Job, distance: Distance) -> Schedule {
    let (ranks, core) = (job.ranks(), core_of(job.ranks()));
    let n_chunks = match job.collective {
        Collective::AllReduce => 2 * core,
        _ => 2 * ranks,
    };
    let mut draft = job.in_place(n_chunks);
    let shares = [0, 1].map(|half| {
        let share = |place| match job.collective {
            Collective::AllReduce => vec![half * core + place],
            _ => blocks(half, place, core, ranks),
        };
        (0..core).map(share).collect()
    });
    let halves = Halves {
        ranks,
        core,
        shares,
    };
    let list = halves.all_gather(&draft, distance);
    moves::add(&mut draft, job.collective, &list);
    draft.finish()
}

/// Returns the chunks that a place of the core starts an AllGather with: whole blocks of a pair,
/// one each, and half a block otherwise. Chunk 2b + h is half h of block b.
fn blocks(half: u32, place: u32, core: u32, ranks: u32) -> Vec<u32> {
    let paired = place + core;
    match (paired < ranks, half) {
        (false, _) => vec![2 * place + half],
        (true, 0) => vec![2 * place, 2 * place + 1],
        (true, _) => vec![2 * paired, 2 * paired + 1],
    }
}

struct Halves {
    ranks: u32,
    core: u32,
    /// For each half, the chunks of each place in the core.
    shares: [Vec<Vec<u32>>; 2],
}

impl Halves {
    fn is_paired(&self, place: u32) -> bool {
        place + self.core < self.ranks
    }

    /// Returns the rank that works for a half at a place of the core.
    fn rank(&self, half: u8, place: u32) -> u32 {
        if half == 1 && self.is_paired(place) {
            place + self.core
        } else {
            place
        }
    }

    /// Returns the port of a half at a place: the rank's second one if it works for both.
    fn port(&self, half: u8, place: u32) -> PortId {
        PortId(if self.is_paired(place) { 0 } else { half })
    }

    /// Returns the chunks of one half, or both, at the places that `holds` tells.
    fn pieces(&self, draft: &Draft, halves: &[u8], holds: impl Fn(u32) -> bool) -> Vec<Piece> {
        let mut slots: Vec<Slot> = Vec::new();
        for half in halves {
            let shares = (0..).zip(&self.shares[usize::from(*half)]);
            let held = shares.filter(|(place, _)| holds(*place));
            slots.extend(
                held.flat_map(|(_, share)| share)
                    .map(|chunk| draft.memory().recv(*chunk)),
            );
        }
        slots.sort_unstable();
        Piece::runs(slots)
    }

    fn all_gather(&self, draft: &Draft, distance: Distance) -> Vec<Move> {
        let mut list = Vec::new();
        for step in (0..self.core.ilog2()).rev() {
            let (bit, shared) = distance.step(self.core, step);
            for place in 0..self.core {
                let partner = place ^ bit;
                let message = |halves: &[u8]| Move {
                    src: self.rank(halves[0], place),
                    dst: self.rank(halves[0], partner),
                    port: self.port(halves[0], place),
                    back: self.port(halves[0], partner),
                    pieces: self.pieces(draft, halves, |owner| owner & shared == place & shared),
                };
                if self.is_paired(place) || self.is_paired(partner) {
                    list.extend([message(&[0]), message(&[1])]);
                } else {
                    list.push(message(&[0, 1]));
                }
            }
        }
        for place in 0..self.ranks - self.core {
            let (first, second) = (self.rank(0, place), self.rank(1, place));
            for (half, src, dst) in [(0, first, second), (1, second, first)] {
                list.push(Move {
                    src,
                    dst,
                    port: PortId(0),
                    back: PortId(0),
                    pieces: self.pieces(draft, &[half], |_| true),
                });
            }
        }
        list
    }
}
