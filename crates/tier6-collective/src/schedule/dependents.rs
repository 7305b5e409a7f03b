//! Who waits for a transfer: the dependencies turned round, for engines that go forward in time.
//!
//! An event-driven engine counts what a transfer still waits for, and when one is complete tells
//! those that wait for it. [`Dependents`] is made once per schedule; a look-up is a slice.

use super::Schedule;
use super::ids::{RankId, TransferId};

/// For each transfer, those that wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependents {
    /// Where each transfer's part of the list starts, and the end of the last.
    starts: Vec<u32>,
    list: Vec<Dependent>,
}

/// A transfer that waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dependent {
    /// The transfer that waits.
    pub id: TransferId,
    /// What it does with what the other delivers.
    pub follow: Follow,
}

/// How a transfer may follow one of its dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Follow {
    /// It starts when the other is complete.
    Complete,
    /// It [forwards](Schedule::forwards) the other: with [`Grain::Slices`](crate::Grain::Slices)
    /// each slice may start when the same slice of the other has arrived.
    Slices,
}

impl Schedule {
    /// Returns who waits for each transfer, and how. Takes time and space in proportion to the
    /// dependencies: 8 bytes for each, and 4 for each transfer.
    ///
    /// ```
    /// use tier6_collective::{Algorithm, BuildOptions, Collective, Follow, TransferId, build};
    /// use tier6_units::Bytes;
    ///
    /// let options = BuildOptions::new(8, Bytes::new(8 << 20));
    /// let ring = build(Collective::AllReduce, Algorithm::Ring, &options)?;
    /// let dependents = ring.dependents();
    /// // What rank 0 sends in step 0 rank 1 sends on in step 1.
    /// let [next] = dependents.of(TransferId(0)) else {
    ///     panic!("one transfer waits");
    /// };
    /// assert_eq!((next.id, next.follow), (TransferId(8 + 1), Follow::Slices));
    /// # Ok::<(), tier6_collective::BuildError>(())
    /// ```
    pub fn dependents(&self) -> Dependents {
        // Counts first, each one place further on; then places, moved on by each entry.
        let mut starts = vec![0_u32; self.transfers.len() + 1];
        for (id, _) in self.iter() {
            for before in self.dependencies(id) {
                starts[before.index() + 1] += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let nobody = Dependent {
            id: TransferId(0),
            follow: Follow::Complete,
        };
        let mut list = vec![nobody; starts.last().map_or(0, |end| *end as usize)];
        let mut next = starts.clone();
        for (id, _) in self.iter() {
            for before in self.dependencies(id) {
                let place = &mut next[before.index()];
                let follow = if self.forwards(id, *before) {
                    Follow::Slices
                } else {
                    Follow::Complete
                };
                list[*place as usize] = Dependent { id, follow };
                *place += 1;
            }
        }
        Dependents { starts, list }
    }

    /// Says whether transfer `id` passes on just what its dependency `before` delivers, so that
    /// slices may follow each other ([`Grain::Slices`](crate::Grain::Slices)): some rank reads
    /// for `id`, in the same order, the slots that `before` wrote there.
    ///
    /// [`Schedule::dependents`] has the answers for all dependencies.
    ///
    /// # Panics
    ///
    /// When an id is not one of this schedule.
    pub fn forwards(&self, id: TransferId, before: TransferId) -> bool {
        let (read, written) = (self.pieces(id), self.pieces(before));
        let is_same = read.len() == written.len()
            && (read.iter().zip(written)).all(|(r, w)| (r.from, r.count) == (w.to, w.count));
        if !is_same {
            return false;
        }
        let (readers, _) = self.readers_and_writers(&self.transfers[id.index()].route);
        let (_, writers) = self.readers_and_writers(&self.transfers[before.index()].route);
        share_a_rank(readers, writers)
    }
}

impl Dependents {
    /// Returns those that wait for a transfer, in order of their ids.
    ///
    /// # Panics
    ///
    /// When the id is not one of the schedule.
    pub fn of(&self, id: TransferId) -> &[Dependent] {
        let (start, end) = (self.starts[id.index()], self.starts[id.index() + 1]);
        &self.list[start as usize..end as usize]
    }
}

fn share_a_rank(some: &[RankId], others: &[RankId]) -> bool {
    // Members of a group are listed once; two routes of a group have the same list.
    std::ptr::eq(some, others) || some.iter().any(|rank| others.contains(rank))
}
