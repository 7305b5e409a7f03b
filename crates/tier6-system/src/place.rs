//! Where in a file something is written, carried along so that an error found late still names
//! the line.

use std::fmt;
use toml::de::{DeTable, DeValue};

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
        // Bytes are summed several at a time; pieces of a split are not.
        let is_end = |&byte: &u8| usize::from(byte == b'\n');
        let lines: usize = before.iter().map(is_end).sum();
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

/// Returns where a dotted key of a TOML text stands, `g5.rc_link.window`, or the innermost table
/// around it that is there; `None` when not even the first part is.
pub fn place_of_key(text: &str, key: &str) -> Option<Place> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for part in key.split('.') {
        let Some((name, value)) = table.get_key_value(part) else {
            break;
        };
        found = Some(Place::of(text, name.span().start));
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    found
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
    fn a_key_is_found_or_the_table_around_it() {
        let text = "name = \"x\"\n\n[g5.rc_link]\nwindow = 4\n[g5.switch]\npfc = { reserve = 1 }\n";
        let line = |key| place_of_key(text, key).map(|place| place.line);
        assert_eq!(line("g5.rc_link.window"), Some(4));
        assert_eq!(line("g5.switch.pfc.reserve"), Some(6));
        assert_eq!(line("g5.rc_link.credits.count"), Some(3));
        assert_eq!(line("links.wire"), None);
        assert_eq!(place_of_key("= no TOML", "name"), None);
    }

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
