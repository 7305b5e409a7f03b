//! Swing on one dimension: AllReduce, ReduceScatter, AllGather for even N.
//!
//! In step s an even rank talks to r + rho and an odd rank to r - rho, with
//! rho = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, ...; a rank sends the blocks that its partner and
//! the partner's later partners own, M/2^(s+1) (FACTS B.8). Nearer partners than
//! halving-doubling's make it kinder to rings.
//!
//! When N is not a power of two, two ways lead to some blocks. An AllGather takes the first: a
//! rank sends what it holds and its partner does not. So every block arrives once, (N-1)/N M in
//! ceil(lg N) steps, and the ReduceScatter is that backwards. With odd N the last rank would have
//! no partner of the other parity; that is refused.

use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::Piece;

use super::moves::{self, Move};
use super::{BuildError, Job};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let (algorithm, ranks) = (job.algorithm, job.ranks());
    if !ranks.is_multiple_of(2) {
        return Err(BuildError::NeedsEven { algorithm, ranks });
    }
    let mut draft = job.in_place(ranks);
    let list = all_gather(&draft, ranks);
    moves::add(&mut draft, job.collective, &list);
    Ok(draft.finish())
}

fn all_gather(draft: &Draft, ranks: u32) -> Vec<Move> {
    let mut list = Vec::new();
    // For each rank, whether it holds each block.
    let mut held: Vec<Vec<bool>> = (0..ranks)
        .map(|rank| (0..ranks).map(|block| block == rank).collect())
        .collect();
    for step in (0..ranks.next_power_of_two().ilog2()).rev() {
        let before = held.clone();
        for rank in 0..ranks {
            let partner = partner(rank, step, ranks);
            let (own, other) = (&before[rank as usize], &before[partner as usize]);
            let lacking = (0..).zip(own.iter().zip(other));
            let lacking = lacking.filter(|(_, (own, other))| **own && !**other);
            let pieces = Piece::runs(lacking.map(|(block, _)| draft.memory().recv(block)));
            for (block, own) in held[partner as usize].iter_mut().zip(own) {
                *block |= own;
            }
            list.push(Move {
                src: rank,
                dst: partner,
                port: PortId(0),
                back: PortId(0),
                pieces,
            });
        }
    }
    list
}

fn partner(rank: u32, step: u32, ranks: u32) -> u32 {
    let rho = (1 - (-2_i64).pow(step + 1)) / 3;
    let signed = if rank.is_multiple_of(2) { rho } else { -rho };
    let partner = (i64::from(rank) + signed).rem_euclid(i64::from(ranks));
    u32::try_from(partner).expect("Invariant: a remainder is below N")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::build::RANKS_MAX;

    /// All even ranks do the same, and all odd ones: that rank 0 and rank 1 reach all is enough.
    #[test]
    fn blocks_reach_every_rank_for_every_even_number() {
        for ranks in (2..=RANKS_MAX).step_by(2) {
            for owner in 0..2_usize {
                let mut reached = vec![false; ranks as usize];
                reached[owner] = true;
                for step in (0..ranks.next_power_of_two().ilog2()).rev() {
                    let before = reached.clone();
                    for (rank, _) in (0..).zip(&before).filter(|(_, holds)| **holds) {
                        reached[partner(rank, step, ranks) as usize] = true;
                    }
                    assert_ne!(before, reached, "{ranks} ranks: no step is in vain");
                }
                assert!(reached.iter().all(|holds| *holds), "{ranks} ranks");
            }
        }
    }
}
