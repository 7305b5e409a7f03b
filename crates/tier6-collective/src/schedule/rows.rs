//! A list of lists in few vectors.
//!
//! Most rows of a schedule are as long as their neighbours: one piece, one dependency. Rows come
//! in blocks of 64, and a block whose rows are of one length stores that length in place of the
//! ends of its rows.

/// Rows of different lengths, one after another: no allocation per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows<T> {
    items: Vec<T>,
    count: usize,
    blocks: Vec<Block>,
    /// The ends of the rows in blocks of different lengths.
    ends: Vec<u32>,
}

const BLOCK: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    /// Where its first row starts.
    start: u32,
    lengths: Lengths,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lengths {
    All(u32),
    /// The index of the first row's end.
    Listed(u32),
}

impl<T: Copy> Rows<T> {
    pub(crate) fn with_capacity(rows: usize, items: usize) -> Self {
        Self {
            items: Vec::with_capacity(items),
            count: 0,
            blocks: Vec::with_capacity(rows.div_ceil(BLOCK)),
            ends: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: &[T]) {
        let (start, length) = (narrow(self.items.len()), narrow(row.len()));
        self.items.extend_from_slice(row);
        if self.count.is_multiple_of(BLOCK) {
            let lengths = Lengths::All(length);
            self.blocks.push(Block { start, lengths });
        } else if let Some(block) = self.blocks.last_mut() {
            if let Lengths::All(others) = block.lengths
                && others != length
            {
                block.lengths = Lengths::Listed(narrow(self.ends.len()));
                let before = narrow(self.count % BLOCK);
                let ends = (1..=before).map(|rows| block.start + rows * others);
                self.ends.extend(ends);
            }
            if let Lengths::Listed(_) = block.lengths {
                self.ends.push(start + length);
            }
        }
        self.count += 1;
    }

    pub(crate) fn row(&self, index: usize) -> &[T] {
        assert!(index < self.count, "row {index} of {}", self.count);
        let (block, nth) = (self.blocks[index / BLOCK], index % BLOCK);
        let (start, end) = match block.lengths {
            Lengths::All(length) => {
                let start = block.start as usize + nth * length as usize;
                (start, start + length as usize)
            }
            Lengths::Listed(first) => {
                let ends = &self.ends[first as usize..];
                let start = nth
                    .checked_sub(1)
                    .map_or(block.start, |before| ends[before]);
                (start as usize, ends[nth] as usize)
            }
        };
        &self.items[start..end]
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count)
        .expect("Invariant: the size limits of a schedule keep its parts below 2^32")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_whatever_their_lengths() {
        let lengths = |row: usize| match row {
            0..100 => 1,
            100..300 => row % 3,
            _ => 2,
        };
        let mut rows = Rows::with_capacity(0, 0);
        let list: Vec<Vec<usize>> = (0..1000)
            .map(|row| (0..lengths(row)).map(|item| row * 10 + item).collect())
            .collect();
        for row in &list {
            rows.push(row);
        }
        for (index, row) in list.iter().enumerate() {
            assert_eq!(rows.row(index), row.as_slice(), "row {index}");
        }
        // Blocks 1 to 4 are mixed; the last one, from row 256 on, is to its end.
        assert_eq!(rows.ends.len(), 4 * BLOCK);
    }

    #[test]
    #[should_panic(expected = "row 1 of 1")]
    fn a_row_beyond_the_last_does_not_exist() {
        let mut rows = Rows::with_capacity(1, 0);
        rows.push(&[0_u8; 0]);
        rows.row(1);
    }
}
