//! The memory of a rank as a schedule sees it: slots, their meaning and their sizes.
//!
//! A message of M bytes is a vector of C chunks; chunk i covers the bytes from floor(i M / C) to
//! floor((i + 1) M / C), so sizes that do not divide differ by one byte at most and the sum is
//! exactly M. A collective with a block per rank has C = N k, and the chunks from b k to
//! (b + 1) k are block b, which covers floor(b M / N) to floor((b + 1) M / N). Elements are not
//! considered: a boundary may fall inside one, which changes no byte count that matters.
//!
//! A rank's slots are the receive vector (C slots), then, when the call is out of place, the send
//! vector (C slots), then scratch. Both vectors are addressed by chunk whichever the collective:
//! in an out-of-place AllGather, rank r's contribution is in the send slots of block r.

use std::fmt;

use crate::Collective;

use super::ids::{RankId, Slot};

/// Whether the contribution is in the vector that gets the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// One vector: the receive slots hold the contribution first and the result at the end.
    InPlace,
    /// Two vectors: the send slots hold the contribution and are only read.
    OutOfPlace,
}

/// How chunk sizes depend on the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The same vector at each rank.
    Vector,
    /// AllToAll: the block from rank s to rank d has the size of block (d - s) mod N, so that
    /// each rank sends and receives M bytes in all, for any M, its own block counted.
    Exchange,
}

/// The part of a rank's memory that a slot belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// The vector that holds the result.
    Recv,
    /// The vector that holds the contribution, when it is another one.
    Send,
    /// Space for values on their way.
    Scratch,
}

/// A slot in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The buffer.
    pub buffer: Buffer,
    /// The chunk of a vector, or the index in scratch.
    pub index: u32,
}

/// The slots of every rank and their sizes. All ranks have the same slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    ranks: u32,
    placement: Placement,
    layout: Layout,
    chunks: u32,
    n_scratch: u32,
    /// Chunk boundaries: C + 1 of them.
    bounds: Vec<u64>,
    /// Capacity of each scratch slot.
    scratch: Vec<u64>,
}

impl Memory {
    /// Returns the memory for `bytes` in `chunks` chunks; `chunks` is a multiple of `ranks` for
    /// a collective with blocks.
    pub(crate) fn new(
        collective: Collective,
        ranks: u32,
        bytes: u64,
        chunks: u32,
        placement: Placement,
    ) -> Self {
        let bound = |i: u32| {
            let exact = u128::from(bytes) * u128::from(i) / u128::from(chunks);
            u64::try_from(exact).expect("Invariant: a share of a u64 is a u64")
        };
        Self {
            ranks,
            placement,
            layout: match collective {
                Collective::AllToAll | Collective::AllToAllV => Layout::Exchange,
                _ => Layout::Vector,
            },
            chunks,
            n_scratch: 0,
            bounds: (0..=chunks).map(bound).collect(),
            scratch: Vec::new(),
        }
    }

    /// Adds scratch slots of these capacities in bytes.
    pub(crate) fn with_scratch(mut self, capacities: Vec<u64>) -> Self {
        let n_slots = u32::try_from(capacities.len());
        self.n_scratch = n_slots.expect("Invariant: slots fit u32");
        self.scratch = capacities;
        self
    }

    /// Returns N.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns M.
    pub fn bytes(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// Returns C, the number of chunks of a vector.
    pub const fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Says whether contribution and result share a vector.
    pub const fn placement(&self) -> Placement {
        self.placement
    }

    /// Says how chunk sizes depend on the rank.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the capacities of the scratch slots in bytes.
    pub fn scratch_bytes(&self) -> &[u64] {
        &self.scratch
    }

    /// Returns how many slots each rank has.
    pub const fn slots(&self) -> u32 {
        self.vectors() * self.chunks + self.n_scratch
    }

    /// Returns the slot of the result's chunk.
    pub const fn recv(&self, chunk: u32) -> Slot {
        Slot(chunk)
    }

    /// Returns the slot of the contribution's chunk; the result's when the call is in place.
    pub fn send(&self, chunk: u32) -> Slot {
        Slot((self.vectors() - 1) * self.chunks() + chunk)
    }

    /// Returns a scratch slot.
    pub fn scratch(&self, index: u32) -> Slot {
        Slot(self.vectors() * self.chunks() + index)
    }

    /// Returns what a slot is.
    pub fn place(&self, slot: Slot) -> Place {
        let chunks = self.chunks();
        let (buffer, index) = if slot.0 < chunks {
            (Buffer::Recv, slot.0)
        } else if slot.0 < self.vectors() * chunks {
            (Buffer::Send, slot.0 - chunks)
        } else {
            (Buffer::Scratch, slot.0 - self.vectors() * chunks)
        };
        Place { buffer, index }
    }

    /// Returns the slot at a place, if there is one.
    pub fn slot(&self, place: Place) -> Option<Slot> {
        let Place { buffer, index } = place;
        match buffer {
            Buffer::Recv => (index < self.chunks()).then(|| self.recv(index)),
            Buffer::Send => (self.placement == Placement::OutOfPlace && index < self.chunks())
                .then(|| self.send(index)),
            Buffer::Scratch => ((index as usize) < self.scratch.len()).then(|| self.scratch(index)),
        }
    }

    /// Returns the size of a chunk in [`Layout::Vector`].
    pub fn chunk_bytes(&self, chunk: u32) -> u64 {
        self.bounds[chunk as usize + 1] - self.bounds[chunk as usize]
    }

    /// Returns the size of the largest chunk: that of M / C, rounded up.
    pub fn chunk_bytes_max(&self) -> u64 {
        self.bytes().div_ceil(u64::from(self.chunks().max(1)))
    }

    /// Returns the size of `rank`'s slot in bytes: exact for a vector, the capacity for scratch.
    pub fn slot_bytes(&self, rank: RankId, slot: Slot) -> u64 {
        let Place { buffer, index } = self.place(slot);
        let blocks = |far: u32, near: u32| {
            // The block's distance from its source to its destination, in chunks.
            let per_block = self.chunks() / self.ranks;
            let distance = (far + self.ranks - near) % self.ranks;
            self.chunk_bytes(distance * per_block + index % per_block)
        };
        match (buffer, self.layout) {
            (Buffer::Scratch, _) => self.scratch[index as usize],
            (_, Layout::Vector) => self.chunk_bytes(index),
            (Buffer::Send, Layout::Exchange) => blocks(self.block_of(index), rank.0),
            (Buffer::Recv, Layout::Exchange) => blocks(rank.0, self.block_of(index)),
        }
    }

    /// Returns the size of `count` slots from `slot` on.
    pub(crate) fn run_bytes(&self, rank: RankId, slot: Slot, count: u32) -> u64 {
        let Place { buffer, index } = self.place(slot);
        match (buffer, self.layout) {
            (Buffer::Recv | Buffer::Send, Layout::Vector) => {
                self.bounds[(index + count) as usize] - self.bounds[index as usize]
            }
            _ => (0..count)
                .map(|i| self.slot_bytes(rank, slot.plus(i)))
                .sum(),
        }
    }

    /// Returns the block that a chunk belongs to, for collectives with a block per rank.
    pub fn block_of(&self, chunk: u32) -> u32 {
        chunk / (self.chunks() / self.ranks)
    }

    const fn vectors(&self) -> u32 {
        match self.placement {
            Placement::InPlace => 1,
            Placement::OutOfPlace => 2,
        }
    }
}

impl fmt::Display for Place {
    /// Prints `recv:3`, as JSON has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = match self.buffer {
            Buffer::Recv => "recv",
            Buffer::Send => "send",
            Buffer::Scratch => "scratch",
        };
        write!(f, "{buffer}:{}", self.index)
    }
}

impl std::str::FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (buffer, index) = text.split_once(':').ok_or(())?;
        let buffer = match buffer {
            "recv" => Buffer::Recv,
            "send" => Buffer::Send,
            "scratch" => Buffer::Scratch,
            _ => return Err(()),
        };
        let index = index.parse().map_err(|_| ())?;
        Ok(Self { buffer, index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_message_and_differ_by_a_byte_at_most() {
        for (bytes, chunks) in [(1000, 7), (3, 8), (0, 4), (u64::MAX, 64)] {
            let memory = Memory::new(
                Collective::AllReduce,
                chunks,
                bytes,
                chunks,
                Placement::InPlace,
            );
            let sizes: Vec<u64> = (0..chunks).map(|i| memory.chunk_bytes(i)).collect();
            assert_eq!(sizes.iter().sum::<u64>(), bytes);
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 1, "{bytes} bytes in {chunks} chunks");
            assert_eq!(*most, memory.chunk_bytes_max());
        }
    }

    #[test]
    fn an_exchange_gives_each_rank_the_whole_message_both_ways() {
        let memory = Memory::new(Collective::AllToAll, 5, 1003, 10, Placement::OutOfPlace);
        for rank in 0..5 {
            let total = |first: Slot| memory.run_bytes(RankId(rank), first, 10);
            assert_eq!(total(memory.send(0)), 1003);
            assert_eq!(total(memory.recv(0)), 1003);
            for peer in 0..5 {
                assert_eq!(
                    memory.slot_bytes(RankId(rank), memory.send(peer * 2 + 1)),
                    memory.slot_bytes(RankId(peer), memory.recv(rank * 2 + 1)),
                );
            }
        }
    }

    #[test]
    fn places_read_back() {
        let memory = Memory::new(Collective::AllReduce, 2, 8, 4, Placement::OutOfPlace)
            .with_scratch(vec![4; 3]);
        for slot in (0..memory.slots()).map(Slot) {
            let place = memory.place(slot);
            assert_eq!(memory.slot(place), Some(slot));
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        let beyond = Place {
            buffer: Buffer::Scratch,
            index: 3,
        };
        assert_eq!(memory.slot(beyond), None);
        assert_eq!("recv".parse::<Place>(), Err(()));
    }
}
