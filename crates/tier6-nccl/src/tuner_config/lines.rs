//! The lines of a file as a C plug-in sees them: through a buffer of 256 bytes.

use std::borrow::Cow;

/// Bytes of a line that fit the buffer of the plug-ins, newline included.
pub(super) const BUFFER: usize = 255;

/// A line, or a piece of one that was too long.
pub(super) struct Piece<'a> {
    /// The line of the file, from 1.
    pub(super) line: u64,
    /// The text without its newline.
    pub(super) text: Cow<'a, str>,
    /// Which piece of its line this is, from 0.
    pub(super) index: usize,
    /// The line did not fit.
    pub(super) is_cut: bool,
}

/// Returns the pieces that `fgets` hands to a plug-in, one after the other.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let lines = text.split_inclusive('\n').enumerate();
    lines.flat_map(|(number, line)| {
        let bytes = line.as_bytes();
        let is_cut = bytes.len() > BUFFER;
        bytes
            .chunks(BUFFER)
            .enumerate()
            .map(move |(index, chunk)| Piece {
                line: number as u64 + 1,
                text: String::from_utf8_lossy(chunk.strip_suffix(b"\n").unwrap_or(chunk)),
                index,
                is_cut,
            })
    })
}

/// Splits at commas as `strtok` does: fields without a character vanish. Blanks and tabs
/// around a field are trimmed.
pub(super) fn fields(line: &str) -> Vec<&str> {
    line.split(',')
        .filter(|field| !field.is_empty())
        .map(|field| field.trim_matches([' ', '\t']))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_comes_in_pieces() {
        let text = format!("a\n{}\nb", "x".repeat(300));
        let lengths: Vec<(u64, usize)> = pieces(&text)
            .map(|piece| (piece.line, piece.text.len()))
            .collect();
        assert_eq!(lengths, [(1, 1), (2, 255), (2, 45), (3, 1)]);
    }

    #[test]
    fn empty_fields_vanish() {
        assert_eq!(fields("a,, b\t,  ,c"), ["a", "b", "", "c"]);
    }
}
