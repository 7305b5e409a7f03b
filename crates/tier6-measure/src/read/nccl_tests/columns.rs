//! Which column means what: from the words of the header, or, when there is no header, from the
//! arithmetic of a row.
//!
//! Word orders as printed by nccl-tests 2.0 to 2.19 and rccl-tests: `size count type [redop]
//! [root]`, then per placement `time|cputime algbw busbw #wrong|error`, with `-I` also `i_min
//! i_max i_p99 i_cv%`, then `timestamp` (`-S`, two tokens) or `algo proto channels` (rccl `-A`).
//! Builds before 2.13 print `redop` and `root` only for collectives that have them, and leave
//! the word itself out where it is empty.

use super::row::{Tokens, read_half, read_preamble};
use crate::Placement;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Size,
    Count,
    Type,
    RedOp,
    Root,
    Time,
    /// `-C`: the time that the call took on the CPU, which is not the time of the operation.
    CpuTime,
    AlgBw,
    BusBw,
    /// A count of wrong elements.
    Wrong,
    /// Before 2.13: the largest deviation, a float.
    Error,
    Timestamp,
    Algorithm,
    Protocol,
    Channels,
    /// One token that is not used, such as `#iters`.
    Other,
}

impl Column {
    fn of_word(word: &str) -> Self {
        match word {
            "size" => Self::Size,
            "count" => Self::Count,
            "type" => Self::Type,
            "redop" => Self::RedOp,
            "root" => Self::Root,
            "time" => Self::Time,
            "cputime" => Self::CpuTime,
            "algbw" => Self::AlgBw,
            "busbw" => Self::BusBw,
            "#wrong" | "wrong" => Self::Wrong,
            "error" => Self::Error,
            "timestamp" => Self::Timestamp,
            "algo" | "algorithm" => Self::Algorithm,
            "proto" | "protocol" => Self::Protocol,
            "channels" | "nchannels" | "#channels" | "nch" => Self::Channels,
            _ => Self::Other,
        }
    }

    /// Says whether the column stands once at the end of a row, after both placements.
    fn ends_groups(word: &str) -> bool {
        word == "#iters"
            || matches!(
                Self::of_word(word),
                Self::Timestamp | Self::Algorithm | Self::Protocol | Self::Channels
            )
    }
}

/// Where a layout comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayoutSource {
    /// The header's words.
    Header,
    /// The arithmetic of the first row.
    Arithmetic,
    /// Nothing yet: the order of current versions, used for pieces of rows only.
    Assumed,
}

/// The order of a table's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Columns before the measurements.
    pub preamble: Vec<Column>,
    /// Columns of one placement.
    pub group: Vec<Column>,
    /// The placements in the order of the groups: one or two.
    pub placements: Vec<Placement>,
    /// Columns after the measurements.
    pub tail: Vec<Column>,
    /// Where this comes from.
    pub source: LayoutSource,
}

impl Layout {
    /// Reads the header's words; `None` when the text is not a header.
    ///
    /// `title` is the line above, which names the placements.
    pub(super) fn from_header(text: &str, title: Option<&str>) -> Option<Self> {
        if !text.contains("algbw") {
            return None;
        }
        // A lost `#` may leave `# wrong` as two words.
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|word| *word != "#")
            .collect();
        let is_time = |word: &&str| matches!(*word, "time" | "cputime");
        let first = words.iter().position(is_time)?;
        let is_header = words.contains(&"size")
            && words.contains(&"algbw")
            && !words
                .iter()
                .any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        if !is_header {
            return None;
        }
        let rest = &words[first..];
        let second = rest.iter().skip(1).position(is_time).map(|at| at + 1);
        let tail_start = |from: usize| {
            let tail = rest
                .iter()
                .skip(from)
                .position(|word| Column::ends_groups(word));
            tail.map_or(rest.len(), |at| from + at)
        };
        let group_end = second.unwrap_or_else(|| tail_start(0));
        let groups_end = second.map_or(group_end, |second| {
            (second + group_end).min(tail_start(second))
        });
        let columns = |words: &[&str]| words.iter().map(|word| Column::of_word(word)).collect();
        Some(Self {
            preamble: columns(&words[..first]),
            group: columns(&rest[..group_end]),
            placements: placements(title, if second.is_some() { 2 } else { 1 }),
            tail: columns(&rest[groups_end..]),
            source: LayoutSource::Header,
        })
    }

    /// Returns the order that versions since 2.13 print.
    pub(super) fn assumed() -> Self {
        Self {
            preamble: vec![
                Column::Size,
                Column::Count,
                Column::Type,
                Column::RedOp,
                Column::Root,
            ],
            group: vec![Column::Time, Column::AlgBw, Column::BusBw, Column::Wrong],
            placements: placements(None, 2),
            tail: Vec::new(),
            source: LayoutSource::Assumed,
        }
    }

    /// Finds the order in which size / time gives the printed algbw; `None` when there is none.
    pub(super) fn from_row(tokens: &Tokens<'_>) -> Option<Self> {
        let error = match tokens.last_text() {
            Some(text) if text.contains(['e', 'E']) => Column::Error,
            _ => Column::Wrong,
        };
        for has_root in [true, false] {
            let mut layout = Self::assumed();
            layout.source = LayoutSource::Arithmetic;
            layout.group[3] = error;
            if !has_root {
                layout.preamble.pop();
            }
            let Some((preamble, used)) = read_preamble(&layout, tokens.as_slice()) else {
                continue;
            };
            let rest = &tokens.as_slice()[used..];
            let width = match rest.len() {
                4 | 8 => 4,
                16 => 8,
                _ => continue,
            };
            layout.group.resize(width, Column::Other);
            let consistent = rest.chunks(width).all(|chunk| {
                read_half(&layout.group, chunk)
                    .is_some_and(|half| half.is_consistent(preamble.bytes))
            });
            if consistent {
                return Some(layout);
            }
        }
        None
    }
}

/// The placements in the order that the title names them.
fn placements(title: Option<&str>, groups: usize) -> Vec<Placement> {
    let both = [Placement::OutOfPlace, Placement::InPlace];
    let Some(title) = title else {
        return both[..groups].to_vec();
    };
    let (out, within) = (title.find("out-of-place"), title.find("in-place"));
    match (out, within, groups) {
        (Some(out), Some(within), 2) if within < out => {
            vec![Placement::InPlace, Placement::OutOfPlace]
        }
        (None, Some(_), 1) => vec![Placement::InPlace],
        _ => both[..groups].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str, title: Option<&str>) -> (String, String, usize, String) {
        let layout = Layout::from_header(text, title).unwrap();
        let words = |columns: &[Column]| {
            let words: Vec<String> = columns.iter().map(|c| format!("{c:?}")).collect();
            words.join(" ")
        };
        (
            words(&layout.preamble),
            words(&layout.group),
            layout.placements.len(),
            words(&layout.tail),
        )
    }

    fn check(text: &str, expect: (&str, &str, usize, &str)) {
        let (preamble, group, placements, tail) = layout(text, None);
        assert_eq!((&*preamble, &*group, placements, &*tail), expect, "{text}");
    }

    #[test]
    fn every_age_is_read_by_its_words() {
        let modern = "Size Count Type RedOp Root";
        let group = "Time AlgBw BusBw Wrong";
        check(
            "size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
            (modern, group, 2, ""),
        );
        check(
            "size count type time algbw busbw error time algbw busbw error",
            ("Size Count Type", "Time AlgBw BusBw Error", 2, ""),
        );
        check(
            "size count type root time algbw busbw error time algbw busbw error",
            ("Size Count Type Root", "Time AlgBw BusBw Error", 2, ""),
        );
        check(
            "size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong timestamp",
            (modern, "CpuTime AlgBw BusBw Wrong", 2, "Timestamp"),
        );
        check(
            "size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% \
             time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp",
            (
                modern,
                "Time AlgBw BusBw Wrong Other Other Other Other",
                2,
                "Timestamp",
            ),
        );
        check(
            "size count type redop root time algbw busbw #wrong time algbw busbw #wrong algo proto channels",
            (modern, group, 2, "Algorithm Protocol Channels"),
        );
        check(
            "size count type redop root time algbw busbw #wrong algo proto nchannels",
            (modern, group, 1, "Algorithm Protocol Channels"),
        );
        check(
            "size count type redop root time algbw busbw #wrong time algbw busbw #wrong #iters",
            (modern, group, 2, "Other"),
        );
        // Cut in the second group: the first one says what the second is.
        check(
            "size count type redop root time algbw busbw #wrong time algbw bu",
            (modern, group, 2, ""),
        );
    }

    #[test]
    fn other_lines_are_no_header() {
        for text in [
            "",
            "size",
            "1024 256 float sum time algbw",
            "the size of time",
            "time 12 size 3",
        ] {
            assert_eq!(Layout::from_header(text, None), None, "{text}");
        }
    }

    #[test]
    fn the_title_orders_the_placements() {
        let header = "size count time algbw busbw #wrong time algbw busbw #wrong";
        let order = |title| Layout::from_header(header, title).unwrap().placements;
        assert_eq!(
            order(Some("in-place   out-of-place"))[0],
            Placement::InPlace
        );
        assert_eq!(
            order(Some("out-of-place   in-place"))[0],
            Placement::OutOfPlace
        );
        assert_eq!(order(Some("in-place"))[0], Placement::OutOfPlace);
        let single = Layout::from_header("size count time algbw busbw", Some("in-place")).unwrap();
        assert_eq!(single.placements, [Placement::InPlace]);
    }
}
