//! Buckets that follow each other, numbered without end, of which so many have room at a time.

/// Buckets that have room.
pub(super) const BUCKETS: u64 = 1024;

/// A wheel of buckets. Those in use are less than [`BUCKETS`] apart; the user sees to that.
#[derive(Debug)]
pub(super) struct Wheel<T> {
    buckets: Vec<Vec<T>>,
    /// A bit for each that holds something.
    held: [u64; (BUCKETS / 64) as usize],
    /// The room of buckets that were emptied. The latest is used first, while it is in the cache.
    spare: Vec<Vec<T>>,
}

impl<T> Wheel<T> {
    pub(super) fn new() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            held: [0; (BUCKETS / 64) as usize],
            spare: Vec::new(),
        }
    }

    pub(super) fn put(&mut self, bucket: u64, item: T) {
        let place = (bucket % BUCKETS) as usize;
        let items = &mut self.buckets[place];
        if items.capacity() == 0 {
            *items = self.spare.pop().unwrap_or_default();
        }
        items.push(item);
        self.held[place / 64] |= 1 << (place % 64);
    }

    /// Takes what a bucket holds.
    pub(super) fn take(&mut self, bucket: u64) -> Vec<T> {
        let place = (bucket % BUCKETS) as usize;
        self.held[place / 64] &= !(1 << (place % 64));
        std::mem::take(&mut self.buckets[place])
    }

    /// Takes the room of what has been used.
    pub(super) fn give_room(&mut self, room: Vec<T>) {
        debug_assert!(room.is_empty(), "nothing is lost");
        self.spare.push(room);
    }

    /// Returns the first bucket behind one that holds something.
    pub(super) fn next(&self, bucket: u64) -> Option<u64> {
        // Behind the last bucket of all there is none.
        let start = bucket.checked_add(1)?;
        let from = (start % BUCKETS) as usize;
        let words = self.held.len();
        // The first word twice: what of it is before the start comes last.
        (0..=words).find_map(|ahead| {
            let word = (from / 64 + ahead) % words;
            let mut bits = self.held[word];
            if ahead == 0 {
                bits &= u64::MAX << (from % 64);
            } else if ahead == words {
                bits &= !(u64::MAX << (from % 64));
            }
            if bits == 0 {
                return None;
            }
            let place = 64 * word as u64 + u64::from(bits.trailing_zeros());
            start.checked_add((place + BUCKETS - start % BUCKETS) % BUCKETS)
        })
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &T> {
        self.buckets.iter().flatten()
    }
}
