//! The line of a value in a document that was read: run only when an error needs it.

/// Returns the line of a key of the outermost object, or 1.
pub(super) fn line_of_key(text: &str, key: &str) -> usize {
    let mut previous = "";
    for token in tokens(text) {
        if token.depth == 1 && token.text == ":" && previous.trim_matches('"') == key {
            return line_at(text, token.start);
        }
        previous = token.text;
    }
    1
}

/// Returns the line on which an element of `transfers` starts, or 1.
pub(super) fn line_of_transfer(text: &str, index: usize) -> usize {
    let (mut previous, mut is_inside) = ("", false);
    let mut elements = 0;
    for token in tokens(text) {
        if token.depth == 1 && token.text == ":" {
            is_inside = previous == "\"transfers\"";
        }
        if is_inside && token.depth == 3 && token.text == "{" {
            if elements == index {
                return line_at(text, token.start);
            }
            elements += 1;
        }
        previous = token.text;
    }
    1
}

struct Token<'a> {
    text: &'a str,
    start: usize,
    /// Brackets that are open, this one included.
    depth: usize,
}

/// Returns the strings and punctuation of valid JSON.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0_usize, 0_usize);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let token_depth = match bytes[at] {
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += 1 + usize::from(bytes[at] == b'\\');
                    }
                    depth
                }
                b'{' | b'[' => {
                    depth += 1;
                    depth
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    depth
                }
                b':' | b',' => depth,
                _ => {
                    at += 1;
                    continue;
                }
            };
            at += 1;
            return Some(Token {
                text: text.get(start..at).unwrap_or_default(),
                start,
                depth: token_depth,
            });
        }
        None
    })
}

fn line_at(text: &str, position: usize) -> usize {
    1 + text[..position].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_value() {
        let text = "{\n \"a\": \"x\\\": {\",\n \"transfers\": [\n  {\"p\": [{}]},\n\n  {}\n ],\n \"b\"\n: 1}";
        assert_eq!(line_of_key(text, "a"), 2);
        assert_eq!(line_of_key(text, "b"), 9);
        assert_eq!(line_of_key(text, "p"), 1);
        assert_eq!(line_of_transfer(text, 0), 4);
        assert_eq!(line_of_transfer(text, 1), 6);
        assert_eq!(line_of_transfer(text, 2), 1);
    }
}
