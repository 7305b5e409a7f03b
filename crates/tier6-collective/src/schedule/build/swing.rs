//! Swing on one dimension: AllReduce, ReduceScatter, AllGather for powers of two.
//!
//! In step s an even rank talks to r + rho and an odd rank to r - rho, with
//! rho = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, ...; a rank sends the blocks that its partner and
//! the partner's later partners own, M/2^(s+1) (FACTS B.8). Nearer partners than
//! halving-doubling's make it kinder to rings.

use crate::schedule::Schedule;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::Piece;

use super::moves::{self, Move};
use super::{BuildError, Job};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    job.needs_power_of_two("use halving_doubling, which folds the other ranks, or ring")?;
    let ranks = job.ranks();
    let steps = ranks.ilog2();
    let mut draft = job.in_place(ranks);
    // What each rank and its partners from this step on own, from the last step back.
    let mut owned: Vec<Vec<u32>> = (0..ranks).map(|rank| vec![rank]).collect();
    let mut list = Vec::new();
    for step in (0..steps).rev() {
        for rank in 0..ranks {
            let blocks = &owned[rank as usize];
            list.push(Move {
                src: rank,
                dst: partner(rank, step, ranks),
                port: PortId(0),
                back: PortId(0),
                pieces: Piece::runs(blocks.iter().map(|block| draft.memory().recv(*block))),
            });
        }
        owned = (0..ranks)
            .map(|rank| {
                let other = partner(rank, step, ranks);
                let mut both = owned[rank as usize].clone();
                both.extend(&owned[other as usize]);
                both.sort_unstable();
                both
            })
            .collect();
    }
    moves::add(&mut draft, job.collective, &list);
    Ok(draft.finish())
}

fn partner(rank: u32, step: u32, ranks: u32) -> u32 {
    let rho = (1 - (-2_i64).pow(step + 1)) / 3;
    let signed = if rank.is_multiple_of(2) { rho } else { -rho };
    let partner = (i64::from(rank) + signed).rem_euclid(i64::from(ranks));
    u32::try_from(partner).expect("Invariant: a remainder is below N")
}
