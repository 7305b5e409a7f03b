//! Breaking text into lines: words flow until a line is full.

use crate::grid::terminal_text;
use crate::style::{Style, Tone};

/// Returns lines of `words` joined by `gap`, at most `room` characters each; a longer word
/// stays whole on a line of its own.
pub(crate) fn flow<'w>(
    words: impl IntoIterator<Item = &'w str>,
    gap: &str,
    room: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words {
        let length = line.chars().count();
        if length > 0 && length + gap.chars().count() + word.chars().count() > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line += gap;
        }
        line += word;
    }
    lines.push(line);
    lines
}

/// Columns of the heads of sentences.
const HEAD_WIDTH: usize = 18;

/// Writes a head and a sentence, broken at blanks to the width of the style.
pub(crate) fn push_sentence(
    out: &mut String,
    (head, tone): (&str, Tone),
    text: &str,
    style: Style,
) {
    let room = style.width.saturating_sub(HEAD_WIDTH + 3).max(40);
    let mut lead = format!(" {}  ", style.paint(tone, &format!("{head:<HEAD_WIDTH$}")));
    for line in flow(terminal_text(text).split(' '), " ", room) {
        *out += &lead;
        *out += &line;
        out.push('\n');
        lead = " ".repeat(HEAD_WIDTH + 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_words_stay_whole() {
        assert_eq!(flow("a bb ccc".split(' '), " ", 4), ["a bb", "ccc"]);
        assert_eq!(flow("longest x".split(' '), " ", 3), ["longest", "x"]);
        assert_eq!(flow("".split(' '), " ", 3), [""]);
        assert_eq!(flow(["one line", "two"], "   ", 14), ["one line   two"]);
    }
}
