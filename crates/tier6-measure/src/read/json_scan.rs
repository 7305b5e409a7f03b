//! JSON as it is found in practice: cut short, one object after another, between other lines.
//!
//! `serde_json` reads what is whole. Here is only what finds the whole parts: objects at the top
//! level of a noisy text, and the longest prefix of a cut document that can be closed.

use crate::{Warning, WarningCode};
use serde_json::Value;

/// How deep a top-level object may nest; a cut object swallows its successors until this is
/// passed, which bounds the work of going back.
const DEPTH_MAX: usize = 32;

/// An object at the top level of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// Line of its opening brace, from 1.
    pub line: u64,
    /// Its text; when cut, up to where it stops making sense.
    pub text: &'a str,
    /// Whether the closing brace was found.
    pub end: End,
}

/// How an object ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Cut,
}

/// Finds the objects at the top level, whatever stands between them: commas and brackets of an
/// array, line breaks, log lines.
pub(crate) fn objects(text: &str) -> Vec<Found<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'{' => {
                let (end, length) = object_at(&bytes[at..]);
                let object = &text[at..at + length];
                found.push(Found {
                    line,
                    text: object,
                    end,
                });
                line += newlines(object);
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads every object at the top level with `read`, and tells of those that are cut or no `what`.
pub(crate) fn measured<T>(
    text: &str,
    what: &str,
    read: impl Fn(&Value, u64) -> Option<T>,
) -> (Vec<T>, Vec<Warning>) {
    let mut found = Vec::new();
    let mut warnings = Vec::new();
    for object in objects(text) {
        let value: Option<Value> = serde_json::from_str(object.text).ok();
        let one = value.and_then(|value| read(&value, object.line));
        let (code, message) = match (one, object.end) {
            (Some(one), End::Closed) => {
                found.push(one);
                continue;
            }
            (_, End::Cut) => (
                WarningCode::CutRow,
                "the object is cut and not used".to_owned(),
            ),
            (None, End::Closed) => (
                WarningCode::BadRow,
                format!("the object is no {what}; not used"),
            ),
        };
        warnings.push(Warning {
            code,
            line: Some(object.line),
            message,
        });
    }
    (found, warnings)
}

pub(crate) fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// Measures the object that `bytes` start with.
///
/// A cut object ends before its first line break: what follows may be whole again. Both ends are
/// ASCII, so the cut falls between characters.
fn object_at(bytes: &[u8]) -> (End, usize) {
    let mut depth = 0;
    let mut scanner = Scanner::default();
    for (at, byte) in bytes.iter().enumerate() {
        match scanner.step(*byte) {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::BrokenString => break,
            Token::Other => {}
        }
        if depth == 0 {
            return (End::Closed, at + 1);
        }
        if depth > DEPTH_MAX {
            break;
        }
    }
    let first_line = bytes.iter().position(|byte| *byte == b'\n');
    (End::Cut, first_line.unwrap_or(bytes.len()))
}

/// Returns the longest prefix of a cut document, closed with the brackets that are missing.
///
/// The prefix ends after an object or array of which at most `depth_max` levels are still open,
/// so elements below that level are kept whole or not at all. `None` when nothing is whole.
pub(crate) fn close_cut(text: &str, depth_max: usize) -> Option<String> {
    let mut scanner = Scanner::default();
    let mut open: Vec<u8> = Vec::new();
    let mut whole: Option<(usize, Vec<u8>)> = None;
    for (at, byte) in text.bytes().enumerate() {
        match scanner.step(byte) {
            Token::Open => open.push(if byte == b'{' { b'}' } else { b']' }),
            Token::Close => {
                if open.pop() != Some(byte) {
                    break;
                }
                if open.is_empty() {
                    return Some(text[..=at].to_owned());
                }
                if open.len() <= depth_max {
                    whole = Some((at + 1, open.clone()));
                }
            }
            Token::BrokenString => break,
            Token::Other => {}
        }
    }
    let (end, open) = whole?;
    let mut closed = text[..end].to_owned();
    closed.extend(open.iter().rev().map(|byte| char::from(*byte)));
    Some(closed)
}

/// A JSON value read as far as it goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lenient {
    pub value: Value,
    /// Bytes of the text that belong to the value.
    pub length: usize,
    /// Why the value is not all that was meant, with the line from the start of the text.
    pub cut: Option<(u64, String)>,
}

/// Reads the value at the start of a text; what follows it is left alone.
///
/// `inf` and `nan`, which C programs print where JSON has no number, become null. A cut or broken
/// document is closed after its last whole element, as [`close_cut`] says. `None` when not even
/// that is possible.
pub(crate) fn read_lenient(text: &str, depth_max: usize) -> Option<Lenient> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter();
    if let Ok(value) = stream.next()? {
        return Some(Lenient {
            value,
            length: stream.byte_offset(),
            cut: None,
        });
    }
    let finite = without_non_finite(text);
    let mut stream = serde_json::Deserializer::from_str(&finite).into_iter();
    match stream.next()? {
        // Every replacement keeps the length.
        Ok(value) => Some(Lenient {
            value,
            length: stream.byte_offset(),
            cut: None,
        }),
        Err(error) => recover(&finite, &error, depth_max),
    }
}

fn recover(text: &str, error: &serde_json::Error, depth_max: usize) -> Option<Lenient> {
    let line_at = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let mut end = (line_at + error.column()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let closed = close_cut(&text[..end], depth_max)?;
    let value = serde_json::from_str(&closed).ok()?;
    Some(Lenient {
        value,
        length: text.len(),
        cut: Some((error.line() as u64, error.to_string())),
    })
}

/// Overwrites `inf` and `nan` outside of strings with a null of the same length.
fn without_non_finite(text: &str) -> String {
    let mut scanner = Scanner::default();
    let mut finite = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let word = ["-inf", "-nan", "inf", "nan"]
            .into_iter()
            .find(|word| rest.starts_with(word));
        let is_value = || finite.trim_end().ends_with([':', ',', '[']);
        match word {
            // A null is as long as `-inf`; `0` with blanks stands in for the short words, since a
            // bandwidth or time of zero is never used.
            Some(word) if !scanner.in_string && is_value() => {
                finite.push_str(if word.len() == 4 { "null" } else { "0  " });
                at += word.len();
            }
            _ => {
                let Some(c) = rest.chars().next() else { break };
                if c.is_ascii() {
                    scanner.step(c as u8);
                }
                finite.push(c);
                at += c.len_utf8();
            }
        }
    }
    finite
}

/// What a byte means outside of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    /// A line break inside a string, which JSON does not allow: the text was cut there.
    BrokenString,
    Other,
}

/// Follows strings and escapes.
#[derive(Debug, Default)]
struct Scanner {
    in_string: bool,
    escaped: bool,
}

impl Scanner {
    fn step(&mut self, byte: u8) -> Token {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                b'\n' => return Token::BrokenString,
                _ => {}
            }
            return Token::Other;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                Token::Other
            }
            b'{' | b'[' => Token::Open,
            b'}' | b']' => Token::Close,
            _ => Token::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_between_other_text() {
        let text = "noise\n[{\"a\":\"}\"},\n{\"b\":{\"c\":1}}]\ntail {\"d\":";
        let found = objects(text);
        let shape: Vec<_> = found.iter().map(|o| (o.line, o.text, o.end)).collect();
        assert_eq!(
            shape,
            [
                (2, "{\"a\":\"}\"}", End::Closed),
                (3, "{\"b\":{\"c\":1}}", End::Closed),
                (4, "{\"d\":", End::Cut),
            ]
        );
    }

    #[test]
    fn a_cut_object_does_not_swallow_the_next_line() {
        let in_string = objects("{\"a\":\"x\n{\"b\":1}\n");
        assert_eq!(in_string[0].end, End::Cut);
        assert_eq!(in_string[1].text, "{\"b\":1}");
        let in_value = objects("{\"a\":\n{\"b\":1}\n");
        assert_eq!(in_value[0].end, End::Cut);
        assert_eq!(in_value[1].text, "{\"b\":1}");
    }

    #[test]
    fn a_cut_document_is_closed_after_its_last_whole_element() {
        let cut = r#"{"v":1,"rows":[{"a":{"b":1}},{"a":{"b":2}},{"a":{"b":3},"c":"#;
        assert_eq!(
            close_cut(cut, 2).unwrap(),
            r#"{"v":1,"rows":[{"a":{"b":1}},{"a":{"b":2}}]}"#
        );
        assert_eq!(close_cut(r#"{"v":1"#, 2), None);
        assert_eq!(close_cut(r#"{"v":[1]} tail"#, 2).unwrap(), r#"{"v":[1]}"#);
    }

    #[test]
    fn values_are_read_as_far_as_they_go() {
        let read =
            |text| read_lenient(text, 2).map(|read| (read.value.to_string(), read.cut.is_some()));
        let whole = (r#"{"a":[1]}"#.to_owned(), false);
        assert_eq!(read(r#"{"a":[1]} tail"#), Some(whole));
        let cut = (r#"{"a":[[1]]}"#.to_owned(), true);
        assert_eq!(read(r#"{"a":[[1],[2,"#), Some(cut));
        let non_finite = (r#"{"a":"inf","b":0,"c":null}"#.to_owned(), false);
        assert_eq!(read(r#"{"a":"inf","b":inf,"c":-nan}"#), Some(non_finite));
        assert_eq!(read(r#"{"a":"#), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text in "[\\[\\]{}\",:\\\\a1ïinf \n]{0,200}") {
            let _ = (objects(&text), close_cut(&text, 2), read_lenient(&text, 2));
        }
    }
}
