//! How a door learns how far a long read has come.

use std::io::{self, BufRead, BufReader, Read};

/// Receives the progress of reading.
pub trait Progress {
    /// A new input starts; its size is known for plain files.
    fn start(&mut self, path: &str, bytes: Option<u64>);
    /// So many more bytes were read.
    fn advance(&mut self, bytes: u64);
    /// The input is done.
    fn finish(&mut self);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&mut self, _path: &str, _bytes: Option<u64>) {}
    fn advance(&mut self, _bytes: u64) {}
    fn finish(&mut self) {}
}

/// Size of a read from the system; large enough that its cost does not show.
const BUFFER_BYTES: usize = 256 << 10;

/// A buffered source that reports what is read from it.
pub(crate) struct Watched<'a, R> {
    inner: BufReader<R>,
    progress: &'a mut dyn Progress,
}

impl<'a, R: Read> Watched<'a, R> {
    pub(crate) fn new(inner: R, progress: &'a mut dyn Progress) -> Self {
        Self {
            inner: BufReader::with_capacity(BUFFER_BYTES, inner),
            progress,
        }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

impl<R: Read> BufRead for Watched<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.progress.advance(bytes as u64);
    }
}
