//! Where in a file something is written, carried along so that an error found late still names
//! the line.

use std::fmt;

/// A line and a column, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Place {
    /// Returns the place of a byte of `text`; past its end, the end.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let lines = before.split(|&byte| byte == b'\n').count() - 1;
        let column = String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
        Self {
            line: count(lines),
            column: count(column),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A value with the place where it is written; `None` when it was made by a program.
///
/// Two spellings are equal when their values are: a file and its rewritten form mean the same.
#[derive(Debug, Clone, Copy)]
pub struct Spelled<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Option<Place>,
}

impl<T: PartialEq> PartialEq for Spelled<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> From<T> for Spelled<T> {
    fn from(value: T) -> Self {
        Self { value, place: None }
    }
}

impl From<&str> for Spelled<String> {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a\n µs=\n";
        let place = |byte| {
            let place = Place::of(text, byte);
            (place.line, place.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (2, 1));
        assert_eq!(place(5), (2, 3));
        assert_eq!(place(99), (3, 1));
    }
}
