//! Lines of a source without copying them, in constant memory whatever their length.

use super::ReadError;
use super::decode::read_error;
use std::io::{BufRead, ErrorKind};

/// Longer lines are no benchmark output and are skipped.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;

/// A line, or what stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The text without its end.
    pub text: &'a [u8],
    /// Place in the input, from 1.
    pub number: u64,
    /// How it ends.
    pub end: LineEnd,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// With a newline.
    Newline,
    /// With the input: the line may be cut.
    InputEnd,
    /// The line was longer than [`LINE_BYTES_MAX`]; its text is not given.
    TooLong,
}

/// Hands every line of a source to `take`, until it or the source fails. Returns how many.
pub(super) fn for_each_line(
    mut input: impl BufRead,
    mut take: impl FnMut(Line<'_>) -> Result<(), ReadError>,
) -> Result<u64, ReadError> {
    let mut cutter = Cutter {
        carried: Vec::new(),
        carries: Carries::Start,
        number: 0,
    };
    loop {
        let block = match input.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(read_error(error)),
        };
        if block.is_empty() {
            break;
        }
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            cutter.end_line(&block[start..end], LineEnd::Newline, &mut take)?;
            start = end + 1;
        }
        cutter.carry(&block[start..]);
        let taken = block.len();
        input.consume(taken);
    }
    if cutter.carries == Carries::TooMuch || !cutter.carried.is_empty() {
        cutter.end_line(&[], LineEnd::InputEnd, &mut take)?;
    }
    Ok(cutter.number)
}

/// What is left of the blocks before this one.
struct Cutter {
    carried: Vec<u8>,
    carries: Carries,
    number: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Carries {
    /// The start of a line, possibly nothing.
    Start,
    /// A line that is too long already.
    TooMuch,
}

impl Cutter {
    fn carry(&mut self, piece: &[u8]) {
        if self.carried.len() + piece.len() > LINE_BYTES_MAX {
            self.carries = Carries::TooMuch;
            self.carried.clear();
        }
        if self.carries == Carries::Start {
            self.carried.extend_from_slice(piece);
        }
    }

    /// Hands out the line that ends with `piece`; without a copy when nothing was carried.
    fn end_line(
        &mut self,
        piece: &[u8],
        end: LineEnd,
        take: &mut impl FnMut(Line<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.number += 1;
        let number = self.number;
        if self.carried.is_empty()
            && self.carries == Carries::Start
            && piece.len() <= LINE_BYTES_MAX
        {
            let text = piece;
            return take(Line { text, number, end });
        }
        self.carry(piece);
        let result = match self.carries {
            Carries::Start => take(Line {
                text: &self.carried,
                number,
                end,
            }),
            Carries::TooMuch => take(Line {
                text: &[],
                number,
                end: LineEnd::TooLong,
            }),
        };
        self.carried.clear();
        self.carries = Carries::Start;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn lines(text: &[u8], block: usize) -> Vec<(u64, String, LineEnd)> {
        let mut lines = Vec::new();
        let input = BufReader::with_capacity(block, text);
        for_each_line(input, |line| {
            let text = String::from_utf8(line.text.to_vec()).unwrap();
            lines.push((line.number, text, line.end));
            Ok(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn blocks_of_any_size_give_the_same_lines() {
        let text = b"one\n\nthree\r\nfour";
        let expect = [
            (1, "one".to_owned(), LineEnd::Newline),
            (2, String::new(), LineEnd::Newline),
            (3, "three\r".to_owned(), LineEnd::Newline),
            (4, "four".to_owned(), LineEnd::InputEnd),
        ];
        for block in 1..30 {
            assert_eq!(lines(text, block), expect, "{block}");
        }
        assert!(lines(b"", 8).is_empty());
    }

    #[test]
    fn long_lines_are_named_and_not_given() {
        let mut text = vec![b'x'; LINE_BYTES_MAX + 1];
        text.extend_from_slice(b"\nshort\n");
        for block in [1000, 8 << 20] {
            let lines = lines(&text, block);
            assert_eq!(lines[0], (1, String::new(), LineEnd::TooLong));
            assert_eq!(lines[1], (2, "short".to_owned(), LineEnd::Newline));
        }
        text.truncate(LINE_BYTES_MAX + 1);
        assert_eq!(lines(&text, 1000), [(1, String::new(), LineEnd::TooLong)]);
    }
}
