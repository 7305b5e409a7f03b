//! A row of the table, or the pieces into which log lines broke it.

use super::columns::{Column, Layout, LayoutSource};
use crate::read::consistency::{Printed, is_speed};
use crate::{Placement, Wrong};
use tier6_collective::{Algorithm, DataType, Path, Protocol, RedOp};

/// Blanks in front of the first number that mean an empty out-of-place half: the half itself is
/// 32 wide (nccl-tests `writeBenchMarkLineNullBody`), a full row has at most 9.
const EMPTY_HALF_BLANKS: usize = 24;

/// No row of any version has more tokens.
const TOKENS_MAX: usize = 40;

/// A line's words with their places.
#[derive(Debug)]
pub(super) struct Tokens<'a>(Vec<Token<'a>>);

/// A word and the number of blanks in front of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    text: &'a str,
    blanks: usize,
}

impl<'a> Tokens<'a> {
    /// Splits a line; `None` when it is empty or has more words than a row can have.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let mut tokens = Vec::with_capacity(16);
        let mut end = 0;
        for text in line.split_ascii_whitespace() {
            if tokens.len() == TOKENS_MAX {
                return None;
            }
            let start = text.as_ptr() as usize - line.as_ptr() as usize;
            let blanks = start - end;
            end = start + text.len();
            tokens.push(Token { text, blanks });
        }
        (!tokens.is_empty()).then_some(Self(tokens))
    }

    pub(super) fn as_slice(&self) -> &[Token<'a>] {
        &self.0
    }

    pub(super) fn last_text(&self) -> Option<&'a str> {
        self.0.last().map(|token| token.text)
    }

    pub(super) fn starts_with_digits(&self) -> bool {
        self.0.first().is_some_and(|token| is_digits(token.text))
    }

    /// Says whether the line starts like a row: a size, a count, a data type.
    pub(super) fn starts_row(&self) -> bool {
        match self.0.as_slice() {
            [size, count, datatype, ..] => {
                is_digits(size.text)
                    && is_digits(count.text)
                    && (datatype.text.parse::<DataType>().is_ok() || is_word(datatype.text))
            }
            _ => false,
        }
    }

    /// Says whether the line starts like a row whose count or data type is left open.
    ///
    /// Beside a gap only a known data type counts: `8 - ranks` is a sentence.
    fn starts_gappy_row(&self) -> bool {
        match self.0.as_slice() {
            [size, count, datatype, ..] if is_digits(size.text) => {
                let is_type = datatype.text.parse::<DataType>().is_ok();
                match (is_gap(count.text), is_gap(datatype.text)) {
                    (true, is_open) => is_open || is_type,
                    (false, is_open) => is_open && is_digits(count.text),
                }
            }
            _ => false,
        }
    }

    /// Says whether the line starts like a row and its third word is a known data type.
    pub(super) fn names_datatype(&self) -> bool {
        let datatype = self
            .0
            .get(2)
            .and_then(|token| token.text.parse::<DataType>().ok());
        self.starts_row() && datatype.is_some()
    }
}

/// The start of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Preamble {
    pub bytes: u64,
    pub count: Option<u64>,
    pub datatype: Option<DataType>,
    pub redop: Option<RedOp>,
    /// Whether the redop column holds a word, `none` included; `None` without such a column.
    pub redop_word: Option<bool>,
    /// The root column as printed; -1 for none.
    pub root: Option<i64>,
}

/// The numbers of one placement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Half {
    /// `None` for `N/A` and for a CPU time.
    pub time: Option<Printed>,
    pub algbw: Option<Printed>,
    pub busbw: Option<Printed>,
    pub wrong: Wrong,
}

impl Half {
    /// Says whether the printed algbw is size / time within the printed digits.
    pub(super) fn is_consistent(&self, bytes: u64) -> bool {
        match (self.time, self.algbw) {
            (Some(time), Some(algbw)) if time.value > 0.0 => is_speed(algbw, bytes, time),
            _ => true,
        }
    }
}

/// What a line of the table holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A start and the numbers that follow it: none, one half or both.
    Row {
        preamble: Preamble,
        halves: Vec<Half>,
        path: Option<Path>,
        /// The first half is blank.
        first_is_blank: bool,
    },
    /// Numbers without a start.
    Numbers {
        halves: Vec<Half>,
        path: Option<Path>,
    },
    /// A start with too few numbers.
    Cut,
    /// A row whose columns are not those of the layout.
    Misfit,
    /// Not of the table.
    Foreign,
}

impl Piece {
    /// Reads a line's words in the order of `layout`.
    pub(super) fn read(layout: &Layout, tokens: &Tokens<'_>) -> Self {
        if !is_cell(tokens.as_slice()[0].text) {
            return Self::Foreign;
        }
        let typeless =
            layout.source == LayoutSource::Header && !layout.preamble.contains(&Column::Type);
        if tokens.starts_row() || (typeless && is_digits(tokens.as_slice()[0].text)) {
            return Self::read_row(layout, tokens);
        }
        match Self::read_numbers(layout, tokens) {
            Self::Foreign if layout.source == LayoutSource::Header && tokens.starts_gappy_row() => {
                Self::read_row(layout, tokens)
            }
            piece => piece,
        }
    }

    fn read_row(layout: &Layout, tokens: &Tokens<'_>) -> Self {
        let Some((preamble, used)) = read_preamble(layout, tokens.as_slice()) else {
            return Self::Cut;
        };
        let rest = &tokens.as_slice()[used..];
        let mut halves = Vec::with_capacity(2);
        let mut place = 0;
        let width = layout.group.len();
        while halves.len() < layout.placements.len() && rest.len() - place >= width {
            let Some(half) = read_half(&layout.group, &rest[place..place + width]) else {
                break;
            };
            halves.push(half);
            place += width;
        }
        let first_is_blank = rest
            .first()
            .is_some_and(|token| token.blanks >= EMPTY_HALF_BLANKS);
        let left = &rest[place..];
        match read_tail(&layout.tail, left) {
            Some(path) => Self::Row {
                preamble,
                halves,
                path,
                first_is_blank,
            },
            None if halves.len() < layout.placements.len() && left.len() < width => Self::Cut,
            None => Self::Misfit,
        }
    }

    /// Reads the numbers of one placement or of both, and what may follow them.
    fn read_numbers(layout: &Layout, tokens: &Tokens<'_>) -> Self {
        let tokens = tokens.as_slice();
        let width = layout.group.len();
        for groups in (1..=layout.placements.len()).rev() {
            let Some((numbers, rest)) = tokens.split_at_checked(groups * width) else {
                continue;
            };
            let halves: Option<Vec<Half>> = numbers
                .chunks(width)
                .map(|chunk| {
                    // Bandwidths are printed with decimals, other tables of integers are not.
                    let bandwidths = chunk
                        .get(1..3)?
                        .iter()
                        .all(|token| token.text.contains('.'));
                    read_half(&layout.group, chunk).filter(|_| bandwidths)
                })
                .collect();
            if let (Some(halves), Some(path)) = (halves, read_tail(&layout.tail, rest)) {
                return Self::Numbers { halves, path };
            }
        }
        Self::Foreign
    }
}

/// Reads the columns before the measurements, and returns how many words they are.
pub(super) fn read_preamble(layout: &Layout, tokens: &[Token<'_>]) -> Option<(Preamble, usize)> {
    let mut preamble = Preamble {
        bytes: 0,
        count: None,
        datatype: None,
        redop: None,
        redop_word: None,
        root: None,
    };
    let mut used = 0;
    for column in &layout.preamble {
        let text = tokens.get(used).map(|token| token.text);
        if text.is_some_and(is_gap) && *column != Column::Size {
            used += 1;
            continue;
        }
        match column {
            Column::Size => preamble.bytes = text?.parse().ok()?,
            Column::Count => preamble.count = Some(text?.parse().ok()?),
            Column::Type => preamble.datatype = text.filter(|text| is_word(text))?.parse().ok(),
            Column::RedOp => {
                // Old builds print nothing where there is no operator.
                let word = text.filter(|text| is_word(text));
                preamble.redop_word = Some(word.is_some());
                let Some(word) = word else {
                    continue;
                };
                preamble.redop = word.parse().ok();
            }
            Column::Root => preamble.root = Some(text?.parse().ok()?),
            _ => {
                text?;
            }
        }
        used += 1;
    }
    Some((preamble, used))
}

/// A word of digits that make no number, such as `1.2.3`.
struct NotANumber;

/// Reads the columns of one placement; `None` when a word is no number.
pub(super) fn read_half(group: &[Column], tokens: &[Token<'_>]) -> Option<Half> {
    let mut half = Half {
        time: None,
        algbw: None,
        busbw: None,
        wrong: Wrong::NotChecked,
    };
    let number = |text: &str| match Printed::parse(text) {
        None if text.as_bytes()[0].is_ascii_digit() => Err(NotANumber),
        number => Ok(number),
    };
    for (column, token) in group.iter().zip(tokens) {
        let text = token.text;
        if !is_cell(text) {
            return None;
        }
        match column {
            Column::Time => half.time = number(text).ok()?,
            Column::AlgBw => half.algbw = number(text).ok()?,
            Column::BusBw => half.busbw = number(text).ok()?,
            Column::Wrong => half.wrong = read_wrong(text),
            Column::Error => {
                half.wrong = text.parse().map_or(Wrong::NotChecked, Wrong::LargestError);
            }
            _ => {}
        }
    }
    let negative = |number: Option<Printed>| number.is_some_and(|number| number.value < 0.0);
    (!negative(half.time) && !negative(half.algbw) && !negative(half.busbw)).then_some(half)
}

/// Reads `#wrong`, which is printed with six digits: `1.04858e+06` is a count too.
fn read_wrong(text: &str) -> Wrong {
    match Printed::parse(text) {
        Some(count) if count.value >= 0.0 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative; saturates above 2^64; a fraction means the column is an error"
            )]
            Wrong::Elements(count.value.ceil() as u64)
        }
        Some(_) | None => Wrong::NotChecked,
    }
}

/// Reads the columns after the measurements; `None` when there are more or fewer words.
#[expect(
    clippy::option_option,
    reason = "outer: does the tail fit; inner: does it name a path"
)]
fn read_tail(tail: &[Column], tokens: &[Token<'_>]) -> Option<Option<Path>> {
    if tokens.is_empty() {
        return Some(None);
    }
    let (mut algorithm, mut protocol) = (None, None);
    let mut used = 0;
    for column in tail {
        let text = tokens.get(used)?.text;
        match column {
            Column::Algorithm => algorithm = text.parse::<Algorithm>().ok(),
            Column::Protocol => protocol = text.parse::<Protocol>().ok(),
            Column::Timestamp => used += 1,
            _ => {}
        }
        used += 1;
    }
    let path = algorithm.zip(protocol).map(|(algorithm, protocol)| Path {
        algorithm,
        protocol,
    });
    (used == tokens.len()).then_some(path)
}

/// The placements of a row's halves.
pub(super) fn placed(
    layout: &Layout,
    halves: &[Half],
    first_is_blank: bool,
) -> Vec<(Placement, Half)> {
    let skipped = usize::from(first_is_blank && halves.len() < layout.placements.len());
    let placements = layout.placements.iter().skip(skipped).copied();
    placements.zip(halves.iter().copied()).collect()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name such as `float` or `f8e4m3`, and not `N/A`.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !matches!(text, "nan" | "inf")
}

/// What stands where a value is not known.
fn is_gap(text: &str) -> bool {
    matches!(text, "-" | "N/A")
}

/// A number or what is printed in place of one.
fn is_cell(text: &str) -> bool {
    match text.as_bytes()[0] {
        b'0'..=b'9' | b'.' | b'-' | b'+' => {
            let numeric = |b: u8| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
            text.bytes().all(numeric) || matches!(text, "-nan" | "-inf")
        }
        _ => matches!(text, "N/A" | "nan" | "inf"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, row: &str) -> Piece {
        let layout = Layout::from_header(header, None).unwrap();
        Piece::read(&layout, &Tokens::of(row).unwrap())
    }

    fn times(piece: &Piece) -> Vec<Option<f64>> {
        let halves = match piece {
            Piece::Row { halves, .. } | Piece::Numbers { halves, .. } => halves,
            other => panic!("{other:?}"),
        };
        let time = |half: &Half| half.time.map(|time| time.value);
        halves.iter().map(time).collect()
    }

    const MODERN: &str =
        "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";

    #[test]
    fn numbers_of_any_form_are_read() {
        let row = "8589934592 2147483648 float sum -1 1.2e+06 7.16 13.4 0 N/A nan inf N/A";
        let piece = read(MODERN, row);
        assert_eq!(times(&piece), [Some(1.2e6), None]);
        let row = "64 16 float sum -1 10.1 0.01 0.01 1.04858e+06 10.2 0.01 0.01 3";
        let Piece::Row { halves, .. } = read(MODERN, row) else {
            panic!()
        };
        assert_eq!(halves[0].wrong, Wrong::Elements(1_048_580));
        assert_eq!(halves[1].wrong, Wrong::Elements(3));
    }

    #[test]
    fn timestamps_and_paths_follow_the_halves() {
        let header = format!("{MODERN} timestamp");
        let row = "64 16 float sum -1 10.1 0.01 0.01 0 10.2 0.01 0.01 0 2025-03-04 05:06:07";
        assert_eq!(times(&read(&header, row)), [Some(10.1), Some(10.2)]);
        let header = format!("{MODERN} algo proto nchannels");
        let row = "64 16 float sum -1 10.1 0.01 0.01 0 10.2 0.01 0.01 0 Tree LL128 8";
        let Piece::Row { path, .. } = read(&header, row) else {
            panic!()
        };
        assert_eq!(path.unwrap().to_string(), "tree+ll128");
    }

    #[test]
    fn an_absent_operator_shifts_nothing() {
        let header = "size count type redop time algbw busbw error time algbw busbw error";
        let row = "4096 128 float 21.5 0.19 0.17 0e+00 21.6 0.19 0.17 0e+00";
        assert_eq!(times(&read(header, row)), [Some(21.5), Some(21.6)]);
    }

    #[test]
    fn pieces_are_told_apart() {
        assert!(matches!(read(MODERN, "64 16 float sum"), Piece::Cut));
        assert!(matches!(
            read(MODERN, "64 16 float sum -1 9.1 0.1"),
            Piece::Cut
        ));
        let two = "64 16 float sum -1 9.1 0.01 0.01 0 9.2 0.0";
        assert!(matches!(read(MODERN, two), Piece::Cut));
        assert!(matches!(
            read(MODERN, "9.1 0.01 0.01 0"),
            Piece::Numbers { .. }
        ));
        assert!(matches!(
            read(MODERN, "9.1 0.01 0.01 0 9.1 0.01 0.02 0"),
            Piece::Numbers { .. }
        ));
        assert!(matches!(read(MODERN, "0 1 2 3"), Piece::Foreign));
        assert!(matches!(read(MODERN, "1 potato"), Piece::Foreign));
        let long = "64 16 float sum -1 9.1 0.01 0.01 0 9.2 0.01 0.01 0 77";
        assert!(matches!(read(MODERN, long), Piece::Misfit));
    }

    #[test]
    fn a_blank_first_half_leaves_the_second() {
        let row = format!("64 16 float sum -1{}9.2 0.01 0.01 0", " ".repeat(34));
        let Piece::Row {
            first_is_blank,
            halves,
            ..
        } = read(MODERN, &row)
        else {
            panic!()
        };
        let layout = Layout::from_header(MODERN, None).unwrap();
        assert_eq!(
            placed(&layout, &halves, first_is_blank)[0].0,
            Placement::InPlace
        );
        assert_eq!(placed(&layout, &halves, false)[0].0, Placement::OutOfPlace);
    }
}
