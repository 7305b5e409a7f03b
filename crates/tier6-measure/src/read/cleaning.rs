//! What stands before a benchmark's own text: tags of launchers, timestamps of log collectors,
//! quotes of mail, bullets of Markdown, colours of terminals. Any of them, in any order.
//!
//! A number that starts a row is never taken for a tag: a tag ends with a bracket, a colon or a bar,
//! or stands before a whole row.

use std::borrow::Cow;

/// Removes colours, tags, quotes and blanks around a line; other blanks become spaces.
pub(super) fn clean(line: &str) -> Cow<'_, str> {
    if line.contains('\u{1b}') || !line.is_ascii() {
        let plain = plain_characters(line);
        return Cow::Owned(without_tags(&plain).to_owned());
    }
    Cow::Borrowed(without_tags(line))
}

fn without_tags(line: &str) -> &str {
    let mut text = line.trim();
    while let Some(rest) = strip_one(text) {
        text = rest.trim_start();
    }
    text
}

/// Splits a comment's `#` from its text.
pub(super) fn split_hashes(text: &str) -> (bool, &str) {
    match text.strip_prefix('#') {
        // `#wrong` is a word of a header whose `#` is lost, not a comment.
        Some(rest) if !rest.starts_with("wrong") => {
            (true, rest.trim_start_matches('#').trim_start())
        }
        _ => (false, text),
    }
}

/// Removes one tag; `None` when the text starts with none.
fn strip_one(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    match first {
        b'>' => Some(&text[1..]),
        b'[' => strip_brackets(text),
        b'-' | b'*' | b'+' => text[1..].starts_with(' ').then(|| &text[2..]),
        b'0'..=b'9' => strip_task_number(text)
            .or_else(|| strip_timestamp(text))
            .or_else(|| strip_line_number(text))
            .or_else(|| strip_label(text)),
        b'<' | b'A'..=b'Z' => strip_stream_tag(text)
            .or_else(|| strip_syslog(text))
            .or_else(|| strip_label(text)),
        b'a'..=b'z' => strip_container_stream(text).or_else(|| strip_label(text)),
        b'.' | b'/' => strip_label(text),
        _ => None,
    }
}

/// `[1,0]<stdout>:`, `[0] `, `[rank0]:`, `[pod/name/container] `, `[2024-07-18 15:41:05] `.
fn strip_brackets(text: &str) -> Option<&str> {
    let end = text.find(']')?;
    let (inside, rest) = (&text[1..end], &text[end + 1..]);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if inside.split(',').all(digits) {
        return Some(strip_stream_tag(rest).unwrap_or(rest));
    }
    let letters = inside.trim_end_matches(|c: char| c.is_ascii_digit());
    let worker = letters.len() < inside.len() && letters.bytes().all(|b| b.is_ascii_lowercase());
    if worker && let Some(rest) = rest.strip_prefix(':') {
        return Some(rest);
    }
    let stamped = strip_timestamp(inside).is_some_and(str::is_empty);
    (stamped || inside.starts_with("pod/")).then_some(rest)
}

/// `<stdout>:`, `Thu Jul 18 15:41:05 2024<stdout>:`.
fn strip_stream_tag(text: &str) -> Option<&str> {
    const DATE_BYTES: usize = 24;
    let open = text.find('<')?;
    let rest = &text[open..];
    let rest = ["<stdout>:", "<stderr>:", "<stddiag>:"]
        .iter()
        .find_map(|tag| rest.strip_prefix(tag))?;
    let date = &text[..open];
    let is_date = date.len() == DATE_BYTES && date.is_char_boundary(3) && is_weekday(&date[..3]);
    (open == 0 || is_date).then_some(rest)
}

fn is_weekday(text: &str) -> bool {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&text)
}

/// `0: `, as `srun --label` writes.
fn strip_task_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

/// `2024-07-18T15:41:05.123Z`, `2024-07-18 15:41:05,123`, with a zone or without.
fn strip_timestamp(text: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b' '),
        _ => byte == shape,
    };
    if bytes.len() < SHAPE.len() || !bytes.iter().zip(SHAPE).all(fits) {
        return None;
    }
    let rest = &text[SHAPE.len()..];
    let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let rest = match zone.as_bytes().first() {
        Some(b'Z') => &zone[1..],
        Some(b'+' | b'-') => zone[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'),
        _ => zone,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t', ':'])).then(|| rest.trim_start_matches(':'))
}

/// `stdout F `, as container runtimes write after their timestamp.
fn strip_container_stream(text: &str) -> Option<&str> {
    ["stdout F ", "stderr F ", "stdout P ", "stderr P "]
        .iter()
        .find_map(|tag| text.strip_prefix(tag))
}

/// `Jul  8 15:41:05 node1 `, as syslog and journals write before the name of the program.
fn strip_syslog(text: &str) -> Option<&str> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (month, rest) = text.split_once(' ')?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (_host, rest) = rest.split_once(' ')?;
    let is_two_digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    let is_date = MONTHS.contains(&month)
        && day.parse::<u8>().is_ok()
        && time.split(':').count() == 3
        && time.split(':').all(is_two_digits);
    is_date.then_some(rest)
}

/// The number and tab of `cat -n` in front of a comment or of a row.
fn strip_line_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix('\t')?.trim_start();
    is_ours(rest).then_some(rest)
}

/// `worker-3: `, `worker-3  | `, `slurmstepd[71]: `, `out.txt:`, `out.txt:12:` in front of a comment
/// or of a row; elsewhere a word and a colon are a message.
fn strip_label(text: &str) -> Option<&str> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
    let label = text.bytes().take_while(|b| is_name(b)).count();
    let (label, rest) = text.split_at(label);
    let rest = match rest.strip_prefix('[').and_then(|id| id.split_once(']')) {
        Some((_, rest)) => rest,
        None => rest,
    };
    let rest = match rest.strip_prefix(':') {
        // Numbers on both sides of a colon are a time of day.
        Some(rest) if is_number(label) => rest,
        Some(rest) => rest
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(':')
            .unwrap_or(rest),
        None => rest.trim_start().strip_prefix('|')?,
    };
    let rest = rest.trim_start();
    is_ours(rest).then_some(rest)
}

/// Says whether a comment or a row begins: a size, a count and a type.
fn is_ours(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let is_row = words.next().is_some_and(is_number)
        && words.next().is_some_and(is_number)
        && words
            .next()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
    text.starts_with('#') || is_row
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

/// Removes terminal control sequences (`ESC [ … letter`, `ESC ] … BEL`, `ESC` and one character)
/// and what web pages paste: blanks that do not break, characters without width.
fn plain_characters(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {}
            '\u{200b}' | '\u{feff}' => continue,
            blank if blank.is_whitespace() && blank != '\t' => {
                plain.push(' ');
                continue;
            }
            other => {
                plain.push(other);
                continue;
            }
        }
        match characters.next() {
            Some('[') => {
                characters.find(|c| ('@'..='~').contains(c));
            }
            Some(']') => {
                characters.find(|c| *c == '\u{7}');
            }
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        assert_eq!(clean(line), expect, "{line:?}");
    }

    #[test]
    fn tags_go_in_any_order() {
        let row = "2048  512  float  sum  -1  9.5";
        for tag in [
            "",
            "   ",
            "> ",
            ">> > ",
            "[1,0]<stdout>:",
            "[0] ",
            "0: ",
            "worker-3: ",
            "17: ",
            "\t",
            "- ",
            "* ",
            "Thu Jul 18 15:41:05 2024<stdout>:",
            "[1,0]<stdout>:> ",
            "> [1,12]<stderr>: ",
            "2024-07-18T15:41:05.123456Z ",
            "2024-07-18 15:41:05,123 ",
            "<stdout>: ",
            "2024-07-18T15:41:05.1+02:00 stdout F ",
            "[2024-07-18 15:41:05] 3: ",
            "[rank3]: ",
            "\u{1b}[0;32m",
            "[pod/launcher-x/main] ",
            "\u{1b}]0;title\u{7}0: \u{1b}[1m",
            "launcher-1  | ",
            "out.txt:",
            "out.txt:12:",
            "./logs/out.txt:7:    ",
            "    12\t",
            "Jul  8 15:41:05 node1 slurmstepd[71]: ",
            "Jul 18 15:41:05 node1 bash: ",
        ] {
            check(&format!("{tag}{row}\u{1b}[0m  "), row);
            check(&format!("{tag}{row}   \r"), row);
        }
    }

    #[test]
    fn numbers_of_rows_stay() {
        check("   64  16  float  sum  -1", "64  16  float  sum  -1");
        check("-1  61.5  0.1", "-1  61.5  0.1");
        check(
            "61.58    0.00    0.00      0",
            "61.58    0.00    0.00      0",
        );
        check("2024-07-18 and more", "2024-07-18 and more");
        check("node2: Test NCCL failure", "node2: Test NCCL failure");
        check("[a", "[a");
        check("warning: 2 of 3 failed", "warning: 2 of 3 failed");
        check("16\t4\tfloat\tsum", "16\t4\tfloat\tsum");
        check("1024 | 256 | float", "1024 | 256 | float");
        check("10:11:12 8 ranks", "10:11:12 8 ranks");
        check("NCCL [0]: 1 2", "NCCL [0]: 1 2");
    }

    #[test]
    fn blanks_of_web_pages_are_blanks() {
        check("\u{feff}64\u{a0}\u{a0}16\u{2003}float", "64  16 float");
        check("\u{200b}# size", "# size");
    }

    #[test]
    fn hashes_are_split_off() {
        assert_eq!(split_hashes("#  size"), (true, "size"));
        assert_eq!(split_hashes("size"), (false, "size"));
        assert_eq!(split_hashes("##"), (true, ""));
        assert_eq!(split_hashes("#wrong"), (false, "#wrong"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(line: String) {
            let _ = clean(&line);
        }
    }
}
