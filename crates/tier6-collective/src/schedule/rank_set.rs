//! Sets of ranks, cheap for the sets that collectives make.
//!
//! A ring sums arcs of ranks, a tree intervals; those take two numbers. Any other set is a bitmap
//! that is kept once, and unions of bitmaps are remembered, so that 1,024 ranks need little.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU32;

use super::build::RANKS_MAX;
use super::ids::RankId;

/// A set of ranks that belongs to a [`RankSets`]; never empty. In four bytes, since the checker
/// keeps one per cell. One rank, and all of them, are arcs only; other sets may have two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RankSet(NonZeroU32);

/// What a set is.
#[derive(Clone, Copy)]
enum Shape {
    /// `len` ranks from `start` on, modulo N; all ranks start at 0.
    Arc { start: u32, len: u32 },
    /// An index in the bitmaps.
    Listed(u32),
}

/// An arc's start is in this many bits, its length above them, and the highest bit is of indices.
const START_BITS: u32 = 12;
const LISTED: u32 = 1 << 31;
const _: () = assert!(RANKS_MAX <= 1 << START_BITS);

impl RankSet {
    const fn new(shape: Shape) -> Self {
        let word = match shape {
            Shape::Arc { start, len } => len << START_BITS | start,
            Shape::Listed(index) => LISTED | index,
        };
        Self(NonZeroU32::new(word).expect("Invariant: an arc has a rank"))
    }

    const fn shape(self) -> Shape {
        let word = self.0.get();
        if word & LISTED == 0 {
            Shape::Arc {
                start: word & ((1 << START_BITS) - 1),
                len: word >> START_BITS,
            }
        } else {
            Shape::Listed(word & !LISTED)
        }
    }
}

/// The sets in use.
pub(crate) struct RankSets {
    ranks: u32,
    /// The bitmaps one after another, a bit per rank.
    bitmaps: Vec<u64>,
    n_bitmaps: u32,
    // Both are for lookup only; no order of theirs reaches a result.
    /// Indices of bitmaps by their hash, or the next number after it that was free.
    known: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    unions: HashMap<(RankSet, RankSet), RankSet, BuildHasherDefault<Mix>>,
    /// The union that is being made.
    words: Vec<u64>,
}

/// A hash of words by multiplication: millions of sets are looked up, and nobody chooses them to
/// do harm.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        // The odd number nearest to 2^64 over the golden ratio spreads the bits upwards; the
        // turn brings them back down.
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

impl RankSets {
    pub(crate) fn new(ranks: u32) -> Self {
        Self {
            ranks,
            bitmaps: Vec::new(),
            n_bitmaps: 0,
            known: HashMap::default(),
            unions: HashMap::default(),
            words: vec![0; ranks.div_ceil(u64::BITS) as usize],
        }
    }

    pub(crate) const fn one(rank: u32) -> RankSet {
        RankSet::new(Shape::Arc {
            start: rank,
            len: 1,
        })
    }

    pub(crate) const fn all(&self) -> RankSet {
        RankSet::new(Shape::Arc {
            start: 0,
            len: self.ranks,
        })
    }

    /// Returns the union of two disjoint sets, or a rank that is in both.
    pub(crate) fn disjoint_union(&mut self, a: RankSet, b: RankSet) -> Result<RankSet, RankId> {
        if let (Shape::Arc { start: s, len: l }, Shape::Arc { start: t, len: m }) =
            (a.shape(), b.shape())
            && l + m <= self.ranks
        {
            let len = l + m;
            let joins = |end: u32, start| end == start || end == start + self.ranks;
            let start = if joins(s + l, t) {
                Some(s)
            } else {
                joins(t + m, s).then_some(t)
            };
            if let Some(start) = start {
                let start = if len == self.ranks { 0 } else { start };
                return Ok(RankSet::new(Shape::Arc { start, len }));
            }
        }
        if let Some(union) = self.unions.get(&(a, b)) {
            return Ok(*union);
        }
        let mut words = std::mem::take(&mut self.words);
        words.fill(0);
        let union = self
            .add(a, &mut words)
            .and_then(|()| self.add(b, &mut words))
            .map(|()| self.intern(&words));
        self.words = words;
        self.unions.insert((a, b), union?);
        union
    }

    /// Returns the set in words: `ranks 0-2, 5`.
    pub(crate) fn describe(&self, set: RankSet) -> String {
        let mut bitmap = vec![0; self.words_per_set()];
        self.add(set, &mut bitmap)
            .expect("Invariant: nothing is in an empty bitmap");
        let inside = |rank: u32| bitmap[(rank / 64) as usize] >> (rank % 64) & 1 == 1;
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for rank in (0..self.ranks).filter(|rank| inside(*rank)) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == rank => *last = rank,
                _ => runs.push((rank, rank)),
            }
        }
        let runs: Vec<String> = runs
            .iter()
            .map(|(first, last)| match last - first {
                0 => first.to_string(),
                _ => format!("{first}-{last}"),
            })
            .collect();
        format!("ranks {}", runs.join(", "))
    }

    /// Adds a set to a bitmap, or returns a rank that is there already.
    fn add(&self, set: RankSet, words: &mut [u64]) -> Result<(), RankId> {
        let mut add = |word: usize, bits: u64| {
            let twice = words[word] & bits;
            words[word] |= bits;
            if twice == 0 {
                return Ok(());
            }
            let first = u32::try_from(word).expect("Invariant: ranks fit u32") * u64::BITS;
            Err(RankId(first + twice.trailing_zeros()))
        };
        match set.shape() {
            Shape::Listed(index) => {
                let mut bits = self.listed(index).iter().enumerate();
                bits.try_for_each(|(word, bits)| add(word, *bits))
            }
            Shape::Arc { start, len } => {
                let mut ranks = (start..start + len).map(|rank| rank % self.ranks);
                ranks.try_for_each(|rank| add((rank / u64::BITS) as usize, 1 << (rank % u64::BITS)))
            }
        }
    }

    fn listed(&self, index: u32) -> &[u64] {
        let n_words = self.words_per_set();
        &self.bitmaps[index as usize * n_words..][..n_words]
    }

    const fn words_per_set(&self) -> usize {
        self.ranks.div_ceil(u64::BITS) as usize
    }

    /// Returns the set of a bitmap, which is kept if it is new.
    fn intern(&mut self, bitmap: &[u64]) -> RankSet {
        if bitmap.iter().map(|word| word.count_ones()).sum::<u32>() == self.ranks {
            return self.all();
        }
        let mut hash = Mix::default();
        for word in bitmap {
            hash.write_u64(*word);
        }
        let mut key = hash.finish();
        while let Some(&index) = self.known.get(&key) {
            if self.listed(index) == bitmap {
                return RankSet::new(Shape::Listed(index));
            }
            key = key.wrapping_add(1);
        }
        let index = self.n_bitmaps;
        self.n_bitmaps += 1;
        self.bitmaps.extend_from_slice(bitmap);
        self.known.insert(key, index);
        RankSet::new(Shape::Listed(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_exact() {
        let mut sets = RankSets::new(70);
        let one = RankSets::one;
        let far = sets.disjoint_union(one(3), one(68)).unwrap();
        assert_eq!(sets.describe(far), "ranks 3, 68");
        assert_eq!(sets.disjoint_union(far, one(68)), Err(RankId(68)));
        let around = sets.disjoint_union(one(0), one(69)).unwrap();
        assert!(matches!(around.shape(), Shape::Arc { start: 69, len: 2 }));
        let both = sets.disjoint_union(far, around).unwrap();
        assert_eq!(sets.describe(both), "ranks 0, 3, 68-69");
        assert_eq!(sets.disjoint_union(around, both), Err(RankId(0)));
        let mut every = one(0);
        for rank in (1..70).step_by(2).chain((2..70).step_by(2)) {
            every = sets.disjoint_union(every, one(rank)).unwrap();
        }
        assert_eq!(every, sets.all());
    }
}
