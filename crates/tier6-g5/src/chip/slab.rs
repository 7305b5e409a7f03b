//! A vector whose places are used again: ids stay small and nothing is allocated for long.

#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Makes room for so many more at once.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.items[place as usize] = item;
            return place;
        }
        self.items.push(item);
        u32::try_from(self.items.len() - 1).expect("Invariant: what is in flight fits u32")
    }

    /// Gives a place back; what it held stays until the place is used again.
    pub(crate) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Returns the places in use, in order.
    pub(crate) fn used(&self) -> Vec<u32> {
        let mut is_free = vec![false; self.items.len()];
        for &place in &self.free {
            is_free[place as usize] = true;
        }
        let places = (0..).zip(is_free);
        places
            .filter_map(|(place, free)| (!free).then_some(place))
            .collect()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, place: u32) -> &T {
        &self.items[place as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.items[place as usize]
    }
}
