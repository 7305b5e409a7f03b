//! Torus bucket: AllReduce, ReduceScatter, AllGather by ring phases along the dimensions.
//!
//! The ReduceScatter runs along one dimension after the other, each on what is left; the
//! AllGather comes back. With all ports, the message is in 2D parts, part s + D w starting in
//! dimension s in direction w, so that every phase uses every port once: about
//! 2 sum(d - 1) steps and 2(N-1)/N M/(2D) per port (FACTS B.8); exactly when all dimensions are
//! equal. With P parts, chunk b P + q is part q of block b; an AllReduce has no blocks to keep
//! together, and chunk q N + b leaves runs longer.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::PortId;
use crate::schedule::transfer::Piece;

use super::moves::{self, Move};
use super::{BuildError, Job, TorusPorts};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let shape = job.options.torus.clone().unwrap_or_default();
    let product = shape.iter().try_fold(1_u32, |n, d| n.checked_mul(*d));
    if product != Some(job.ranks()) || shape.iter().any(|d| *d < 2) {
        return Err(BuildError::Torus {
            ranks: job.ranks(),
            dimensions: shape,
        });
    }
    let parts: Vec<Part> = match job.options.torus_ports {
        TorusPorts::One => vec![Part { first: 0, way: 0 }],
        TorusPorts::All => (0..2)
            .flat_map(|way| (0..shape.len()).map(move |first| Part { first, way }))
            .collect(),
    };
    let n_parts = u32::try_from(parts.len()).expect("Invariant: dimensions fit u32");
    let mut draft = job.in_place(job.ranks() * n_parts);
    let torus = Torus { shape };
    let mut list: Vec<(u32, Move)> = Vec::new();
    for (index, part) in (0..).zip(&parts) {
        let chunk = |block| match job.collective {
            Collective::AllReduce => index * job.ranks() + block,
            _ => block * n_parts + index,
        };
        torus.all_gather(part, &mut list, chunk, &draft);
    }
    // The parts go side by side: each port takes the steps in their order.
    list.sort_by_key(|(step, _)| *step);
    let list: Vec<Move> = list.into_iter().map(|(_, step)| step).collect();
    moves::add(&mut draft, job.collective, &list);
    Ok(draft.finish())
}

/// A part of the message: the dimension of its AllGather's first phase, and 0 for up, 1 for down.
struct Part {
    first: usize,
    way: u32,
}

struct Torus {
    shape: Vec<u32>,
}

impl Torus {
    fn coordinate(&self, rank: u32, dimension: usize) -> u32 {
        rank / self.stride(dimension) % self.shape[dimension]
    }

    fn stride(&self, dimension: usize) -> u32 {
        self.shape[dimension + 1..].iter().product()
    }

    /// Returns the rank `hops` away in a dimension, upwards for way 0.
    fn walk(&self, rank: u32, dimension: usize, way: u32, hops: u32) -> u32 {
        let (size, stride) = (self.shape[dimension], self.stride(dimension));
        let old = self.coordinate(rank, dimension);
        let new = match way {
            0 => (old + hops) % size,
            _ => (old + size - hops % size) % size,
        };
        rank - old * stride + new * stride
    }

    /// Adds the part's moves with their steps.
    fn all_gather(
        &self,
        part: &Part,
        list: &mut Vec<(u32, Move)>,
        chunk: impl Fn(u32) -> u32,
        draft: &Draft,
    ) {
        let n_ranks: u32 = self.shape.iter().product();
        let n_dimensions = self.shape.len();
        // What each rank holds when a phase starts.
        let mut held: Vec<Vec<u32>> = (0..n_ranks).map(|rank| vec![rank]).collect();
        let mut step = 0;
        for phase in 0..n_dimensions {
            let dimension = (part.first + phase) % n_dimensions;
            let port = |way: u32| {
                let port = 2 * dimension + way as usize;
                PortId(u8::try_from(port).expect("Invariant: a torus of 4096 has 12 dimensions"))
            };
            let mut gathered = held.clone();
            for hop in 0..self.shape[dimension] - 1 {
                for src in 0..n_ranks {
                    let from = self.walk(src, dimension, 1 - part.way, hop);
                    let dst = self.walk(src, dimension, part.way, 1);
                    let blocks = &held[from as usize];
                    gathered[dst as usize].extend(blocks);
                    let slots = blocks
                        .iter()
                        .map(|block| draft.memory().recv(chunk(*block)));
                    let step_move = Move {
                        src,
                        dst,
                        port: port(part.way),
                        back: port(1 - part.way),
                        pieces: Piece::runs(slots),
                    };
                    list.push((step, step_move));
                }
                step += 1;
            }
            for blocks in &mut gathered {
                blocks.sort_unstable();
            }
            held = gathered;
        }
    }
}
