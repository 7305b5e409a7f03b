//! Who touched a cell of memory last: the base of derived and of checked dependencies.

use std::num::NonZeroU32;

use super::ids::TransferId;

/// What an earlier transfer did to a cell.
pub(crate) enum Access {
    Read,
    Write,
}

/// The last write of each cell and the reads since.
pub(crate) struct History {
    cells: Vec<Cell>,
    /// Reads as linked lists, newest first.
    reads: Vec<Read>,
}

/// Counts from 1, so that an absent number takes no space of its own.
type Nth = Option<NonZeroU32>;

#[derive(Clone, Copy)]
struct Cell {
    write: Nth,
    newest_read: Nth,
}

#[derive(Clone, Copy)]
struct Read {
    reader: TransferId,
    older: Nth,
}

impl History {
    pub(crate) fn new(cells: usize) -> Self {
        let untouched = Cell {
            write: None,
            newest_read: None,
        };
        Self {
            cells: vec![untouched; cells],
            reads: Vec::new(),
        }
    }

    /// Notes a read and returns the transfer that must come before it.
    pub(crate) fn read(&mut self, cell: usize, reader: TransferId) -> Option<TransferId> {
        let cell = &mut self.cells[cell];
        let index = u32::try_from(self.reads.len()).expect("Invariant: accesses fit u32");
        self.reads.push(Read {
            reader,
            older: cell.newest_read,
        });
        cell.newest_read = nth(index);
        cell.write.map(|write| TransferId(index_of(write)))
    }

    /// Notes a write and hands the transfers that must come before it to `before`: the reads
    /// since the last write, or that write when nobody read it. A transfer never waits for
    /// itself.
    pub(crate) fn write(
        &mut self,
        cell: usize,
        writer: TransferId,
        mut before: impl FnMut(TransferId, Access),
    ) {
        let cell = &mut self.cells[cell];
        let last = std::mem::replace(&mut cell.write, nth(writer.0));
        let mut next = cell.newest_read.take();
        let mut was_read = false;
        while let Some(index) = next {
            let Read { reader, older } = self.reads[index_of(index) as usize];
            if reader != writer {
                was_read = true;
                before(reader, Access::Read);
            }
            next = older;
        }
        let last = last.map(|last| TransferId(index_of(last)));
        if let Some(last) = last.filter(|last| !was_read && *last != writer) {
            before(last, Access::Write);
        }
    }
}

const fn nth(index: u32) -> Nth {
    NonZeroU32::new(index + 1)
}

const fn index_of(nth: NonZeroU32) -> u32 {
    nth.get() - 1
}
