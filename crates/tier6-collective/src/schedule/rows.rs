//! A list of lists in two vectors.

/// Rows of different lengths, one after another: no allocation per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Rows<T> {
    pub(crate) fn with_capacity(rows: usize, items: usize) -> Self {
        Self {
            ends: Vec::with_capacity(rows),
            items: Vec::with_capacity(items),
        }
    }

    pub(crate) fn push(&mut self, row: &[T]) {
        self.items.extend_from_slice(row);
        let end = u32::try_from(self.items.len());
        self.ends
            .push(end.expect("Invariant: the size limits of a schedule keep its parts below 2^32"));
    }

    pub(crate) fn row(&self, index: usize) -> &[T] {
        let start = match index.checked_sub(1) {
            Some(before) => self.ends[before] as usize,
            None => 0,
        };
        &self.items[start..self.ends[index] as usize]
    }
}
