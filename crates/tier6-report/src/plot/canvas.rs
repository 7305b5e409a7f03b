//! A grid of characters whose cells hold braille dots (2 x 4 each) or, in ASCII, one mark.

use crate::style::Charset;

/// How densely a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dots {
    /// Every dot.
    Full,
    /// One dot in three columns.
    Sparse,
}

/// The drawing area. Places run from 0 to 1, from the left and from the top.
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    charset: Charset,
    cells: Vec<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Empty,
    /// Braille dots as the low byte of their code point.
    Dots(u8),
    Glyph(char),
}

/// Dots per cell, across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;

/// Bit of each dot in a braille cell, by row and column. Source: Unicode block 2800.
const BITS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize, charset: Charset) -> Self {
        Self {
            columns,
            rows,
            charset,
            cells: vec![Mark::Empty; columns * rows],
        }
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns how many dots stand side by side.
    pub(super) const fn dots_across(&self) -> usize {
        self.columns * ACROSS
    }

    /// Draws one dot of a curve; outside the area nothing happens.
    pub(super) fn dot(&mut self, across: f64, down: f64, dots: Dots) {
        if !(0.0..=1.0).contains(&across) || !(0.0..=1.0).contains(&down) {
            return;
        }
        let x = cell(across, self.dots_across());
        let y = cell(down, self.rows * DOWN);
        if dots == Dots::Sparse && !x.is_multiple_of(3) {
            return;
        }
        let index = y / DOWN * self.columns + x / ACROSS;
        let bit = BITS[y % DOWN][x % ACROSS];
        self.cells[index] = match (self.charset, self.cells[index], dots) {
            (_, Mark::Glyph(glyph), Dots::Sparse) => Mark::Glyph(glyph),
            (Charset::Ascii, _, Dots::Full) => Mark::Glyph('-'),
            (Charset::Ascii, _, Dots::Sparse) => Mark::Glyph('.'),
            (Charset::Unicode, Mark::Dots(old), _) => Mark::Dots(old | bit),
            (Charset::Unicode, Mark::Empty | Mark::Glyph(_), _) => Mark::Dots(bit),
        };
    }

    /// Puts a glyph over whatever stands there.
    pub(super) fn put(&mut self, across: f64, down: f64, glyph: char) {
        let index = cell(down, self.rows) * self.columns + cell(across, self.columns);
        self.cells[index] = Mark::Glyph(glyph);
    }

    /// Returns the rows as text, from the top.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.cells
            .chunks(self.columns)
            .map(|row| row.iter().map(|mark| mark.glyph()).collect())
    }
}

impl Mark {
    fn glyph(self) -> char {
        match self {
            Self::Empty => ' ',
            Self::Dots(bits) => char::from_u32(0x2800 + u32::from(bits))
                .expect("Invariant: 2800 to 28FF are characters"),
            Self::Glyph(glyph) => glyph,
        }
    }
}

/// Returns which of `count` cells holds a place between 0 and 1; outside it the nearest.
pub(super) fn cell(place: f64, count: usize) -> usize {
    let scaled = (place.clamp(0.0, 1.0) * (count - 1) as f64).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and count - 1, which is a usize"
    )]
    let index = scaled as usize;
    index
}
