//! The text of nccl-tests and rccl-tests, and NCCL's log, which usually come as one stream.
//!
//! Lines are read once, in order. Log lines go to [`LogReader`]; all others are cleaned of what
//! launchers and mailers put before them, then are a row, a piece of a row, a line of the header
//! or the footer, or somebody else's. A row that log lines broke is joined when its pieces are
//! adjacent and agree; pieces that do not are reported.

mod columns;
mod findings;
mod header;
mod row;
mod run_builder;
mod runs;
mod signature;
mod sweep;

use super::cleaning::{clean, split_hashes};
use super::decode::Decoded;
use super::lines::{LINE_BYTES_MAX, Line, LineEnd, for_each_line};
use super::nccl_log::{Level, LogReader, Told};
use super::{ReadError, ReadOptions};
use crate::warning::WarningList;
use crate::{Dataset, Dialect, Parsed, WarningCode};
use columns::{Layout, LayoutSource};
use header::{HeaderLine, recognise};
use row::{Half, Piece, Preamble, Tokens, placed};
use run_builder::TableRow;
use runs::Runs;
use std::borrow::Cow;
use std::rc::Rc;
use tier6_collective::Path;

/// Says whether a text's beginning is that of a benchmark table or an NCCL log.
pub(super) fn looks_like(head: &str) -> bool {
    head.lines().any(|line| {
        if line.contains("NCCL INFO ") || line.contains("NCCL WARN ") {
            return true;
        }
        let cleaned = clean(line);
        let (_, text) = split_hashes(&cleaned);
        if text.starts_with("nThread ") || Layout::from_header(text, None).is_some() {
            return true;
        }
        Tokens::of(text)
            .is_some_and(|tokens| tokens.names_datatype() && Layout::from_row(&tokens).is_some())
    })
}

/// Reads a stream of lines.
pub(super) fn read(
    decoded: Decoded<'_>,
    options: &ReadOptions,
) -> Result<Parsed<Dataset>, ReadError> {
    let mut reader = TextReader::new(options);
    if let Some(encoding) = decoded.repaired {
        let text = format!("the text was {encoding} and was converted");
        reader.warnings.push(WarningCode::Repaired, None, text);
    }
    let lines = for_each_line(decoded.text, |line| reader.line(line))?;
    reader.finish(lines)
}

/// How the text of a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextEnd {
    /// With its line.
    Line,
    /// A log line is glued to it: more of the row may follow.
    Glued,
    /// With the input: it may be cut.
    Input,
}

/// A row whose numbers are still to come.
#[derive(Debug, Clone)]
struct OpenRow {
    preamble: Preamble,
    halves: Vec<Half>,
    path: Option<Path>,
    line: u64,
    end: TextEnd,
}

struct TextReader<'o> {
    options: &'o ReadOptions,
    warnings: WarningList,
    log: LogReader,
    runs: Runs,
    open: Option<OpenRow>,
    /// The line above a header, which names the placements.
    title: Option<String>,
    /// Pieces of a table were seen, even if no row.
    saw_pieces: bool,
    saw_text: bool,
}

impl<'o> TextReader<'o> {
    fn new(options: &'o ReadOptions) -> Self {
        Self {
            options,
            warnings: WarningList::default(),
            log: LogReader::new(),
            runs: Runs::default(),
            open: None,
            title: None,
            saw_pieces: false,
            saw_text: false,
        }
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let number = line.number;
        if line.end == LineEnd::TooLong {
            self.saw_text = true;
            let text = format!(
                "a line of more than {} KiB was skipped",
                LINE_BYTES_MAX >> 10
            );
            self.warnings.push(WarningCode::Unknown, number, text);
            return Ok(());
        }
        let text = line.text.strip_suffix(b"\r").unwrap_or(line.text);
        if let Some(log) = self.log.split(text) {
            if !log.before.is_empty() {
                self.text(without_glued_tag(log.before), number, TextEnd::Glued);
            }
            let told = self.log.read(log.message, number)?;
            self.told(&told, log.message, number);
            if log.level == Level::Warn {
                let text = format!("NCCL WARN {}", shorten(log.message));
                self.warnings.push(WarningCode::Foreign, number, text);
            }
            return Ok(());
        }
        let end = match line.end {
            LineEnd::InputEnd => TextEnd::Input,
            LineEnd::Newline | LineEnd::TooLong => TextEnd::Line,
        };
        // Progress meters rewrite their line with a lone carriage return.
        let mut parts = text.split(|byte| *byte == b'\r').peekable();
        while let Some(part) = parts.next() {
            let end = if parts.peek().is_some() {
                TextEnd::Line
            } else {
                end
            };
            self.text(part, number, end);
        }
        Ok(())
    }

    fn told(&mut self, told: &Told, message: &[u8], line: u64) {
        match told {
            Told::Nothing => {}
            Told::Choice { bytes } => self.check_open(*bytes),
            Told::Version(version) => self.runs.version(*version),
            Told::UnknownChoice => {
                let text = format!("a choice that cannot be decoded: {}", shorten(message));
                self.warnings.push(WarningCode::Unknown, line, text);
            }
        }
    }

    /// Gives up the open row when NCCL has moved on to another size.
    fn check_open(&mut self, bytes: u64) {
        let Some(open) = &self.open else { return };
        let preamble = &open.preamble;
        let part = preamble
            .count
            .zip(preamble.datatype)
            .and_then(|(count, datatype)| count.checked_mul(datatype.bytes()));
        // The tuner sees one rank's part of AllGather and ReduceScatter, and the sum of a group.
        let grouped = |size: u64| size.checked_mul(self.runs.aggregated()) == Some(bytes);
        if !grouped(preamble.bytes) && !part.is_some_and(grouped) && bytes != preamble.bytes {
            self.drop_open();
        }
    }

    /// Reports the open row as one whose numbers did not come.
    fn drop_open(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.runs.lose_row();
        let bytes = open.preamble.bytes;
        if open.end == TextEnd::Glued {
            let what = if open.halves.is_empty() {
                "numbers"
            } else {
                "second half"
            };
            let text = format!("the row of {bytes} B has no {what} nearby and is not used");
            self.warnings.push(WarningCode::Unattached, open.line, text);
        } else {
            let text = format!("the row of {bytes} B is cut and is not used");
            self.warnings.push(WarningCode::CutRow, open.line, text);
        }
    }

    /// Takes in a text that is not a log line.
    fn text(&mut self, bytes: &[u8], line: u64, end: TextEnd) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        let cleaned = clean(&text);
        let (hashed, body) = split_hashes(&cleaned);
        if body.is_empty() {
            return;
        }
        self.saw_text = true;
        let may_be_row = matches!(
            body.as_bytes()[0],
            b'0'..=b'9' | b'.' | b'-' | b'N' | b'n' | b'i'
        );
        if !hashed
            && may_be_row
            && let Some(tokens) = Tokens::of(body)
            && self.row_text(&tokens, line, end)
        {
            return;
        }
        // Of a line that a log line cut only a comment is known to be ours.
        if end != TextEnd::Glued || hashed {
            self.header_text(body, hashed, line, end);
        }
    }

    /// Takes in a row or a piece of one; false when the text is neither.
    fn row_text(&mut self, tokens: &Tokens<'_>, line: u64, end: TextEnd) -> bool {
        let known = self.runs.layout().cloned();
        let has_header = known
            .as_ref()
            .is_some_and(|layout| layout.source == LayoutSource::Header);
        // Without a header only a known data type tells a row from a sentence.
        if !has_header && tokens.starts_row() && !tokens.names_datatype() {
            return self.is_cut_start(tokens, line, end);
        }
        let mut layout = known.unwrap_or_else(|| {
            let found = Layout::from_row(tokens);
            Rc::new(found.unwrap_or_else(Layout::assumed))
        });
        let mut piece = Piece::read(&layout, tokens);
        if piece == Piece::Misfit
            && let Some(fits) = Layout::from_row(tokens)
        {
            piece = Piece::read(&fits, tokens);
            layout = Rc::new(fits);
        }
        match piece {
            Piece::Foreign => return self.is_cut_start(tokens, line, end),
            Piece::Row {
                preamble,
                halves,
                path,
                first_is_blank,
            } => {
                self.drop_open();
                let open = OpenRow {
                    preamble,
                    halves,
                    path,
                    line,
                    end,
                };
                self.start_row(open, &layout, first_is_blank);
            }
            Piece::Numbers { halves, path } => self.join(halves, path, (line, end), &layout),
            Piece::Cut => {
                let text = "the row has too few columns and is not used";
                self.not_used(WarningCode::CutRow, line, text);
            }
            Piece::Misfit => {
                let text = "the row's columns are not those of the header; it is not used";
                self.not_used(WarningCode::BadRow, line, text);
            }
        }
        self.saw_pieces = true;
        true
    }

    /// Reports digits at the end of an input that breaks off in a table.
    fn is_cut_start(&mut self, tokens: &Tokens<'_>, line: u64, end: TextEnd) -> bool {
        let is_cut =
            end == TextEnd::Input && tokens.starts_with_digits() && self.runs.is_in_table();
        if is_cut {
            let text = "the last row is cut and is not used";
            self.not_used(WarningCode::CutRow, line, text);
        }
        is_cut
    }

    fn not_used(&mut self, code: WarningCode, line: u64, text: &str) {
        self.runs.lose_row();
        self.warnings.push(code, line, text.to_owned());
    }

    /// Takes in a row that starts on this line.
    fn start_row(&mut self, open: OpenRow, layout: &Rc<Layout>, first_is_blank: bool) {
        if open.end == TextEnd::Input {
            let text = "the last row has no newline: it may be cut and is not used";
            return self.not_used(WarningCode::CutRow, open.line, text);
        }
        let whole = open.halves.len() == layout.placements.len();
        let ended = open.end == TextEnd::Line && !open.halves.is_empty();
        if whole || ended {
            let halves = placed(layout, &open.halves, first_is_blank);
            self.accept(&open, halves, layout);
        } else {
            self.open = Some(open);
        }
    }

    /// Adds numbers to the open row, when they fit it.
    fn join(
        &mut self,
        halves: Vec<Half>,
        path: Option<Path>,
        (line, end): (u64, TextEnd),
        layout: &Rc<Layout>,
    ) {
        let groups = layout.placements.len();
        let fits = self.open.as_ref().is_some_and(|open| {
            open.halves.len() + halves.len() <= groups
                && halves
                    .iter()
                    .all(|half| half.is_consistent(open.preamble.bytes))
        });
        if !fits || end == TextEnd::Input {
            let (code, text) = if end == TextEnd::Input {
                (
                    WarningCode::CutRow,
                    "the last numbers have no newline: they may be cut and are not used",
                )
            } else {
                (
                    WarningCode::Unattached,
                    "numbers without the start of their row are not used",
                )
            };
            self.warnings.push(code, line, text.to_owned());
            return self.drop_open();
        }
        let Some(mut open) = self.open.take() else {
            return;
        };
        open.halves.extend(halves);
        open.path = open.path.or(path);
        open.end = end;
        if open.halves.len() == groups || end == TextEnd::Line {
            let halves = placed(layout, &open.halves, false);
            self.accept(&open, halves, layout);
        } else {
            self.open = Some(open);
        }
    }

    fn accept(
        &mut self,
        open: &OpenRow,
        halves: Vec<(crate::Placement, Half)>,
        layout: &Rc<Layout>,
    ) {
        if open.preamble.datatype.is_none() && layout.preamble.contains(&columns::Column::Type) {
            let text = "the row's data type is unknown";
            self.warnings
                .push(WarningCode::Unknown, open.line, text.to_owned());
        }
        let row = TableRow {
            preamble: open.preamble,
            halves,
            path: open.path,
            line: open.line,
        };
        self.runs.row(row, layout, &mut self.warnings);
    }

    /// Takes in a line of the header, the footer or another program.
    fn header_text(&mut self, body: &str, hashed: bool, line: u64, end: TextEnd) {
        let title = self.title.take();
        if let Some(layout) = Layout::from_header(body, title.as_deref()) {
            self.drop_open();
            self.runs.header(layout, hashed, line);
            return;
        }
        match recognise(body) {
            HeaderLine::Title => self.title = Some(body.to_owned()),
            HeaderLine::Units | HeaderLine::Known | HeaderLine::Other => {}
            HeaderLine::Complaint => {
                let text = shorten(body.as_bytes());
                self.warnings.push(WarningCode::Foreign, line, text);
            }
            HeaderLine::Average { .. } if end == TextEnd::Input => {
                let text = "the average has no newline: it may be cut and is not used";
                self.warnings
                    .push(WarningCode::CutRow, line, text.to_owned());
            }
            HeaderLine::Version(version) => {
                if let Some(version) = version {
                    self.log.set_version(version);
                    self.runs.version(version);
                }
            }
            ours => {
                if matches!(
                    ours,
                    HeaderLine::Failure { .. } | HeaderLine::OutOfBounds { .. }
                ) {
                    self.drop_open();
                }
                self.runs.header_line(ours, body, hashed, line);
            }
        }
    }

    fn finish(mut self, lines: u64) -> Result<Parsed<Dataset>, ReadError> {
        self.drop_open();
        let log_lines = self.log.lines();
        if self.log.other_choices > 0 {
            let text = format!(
                "{} calls ran symmetric kernels or copy engines, which have no algorithm",
                self.log.other_choices
            );
            self.warnings.push(WarningCode::Note, None, text);
        }
        if self.log.dropped_choices > 0 {
            let text = format!(
                "{} choices beyond the first were dropped",
                self.log.dropped_choices
            );
            self.warnings.push(WarningCode::Unknown, None, text);
        }
        let trace = self.log.finish();
        let runs = self.runs.finish(self.options, &trace, &mut self.warnings);
        if runs.is_empty() && log_lines == 0 && !self.saw_pieces {
            return Err(if self.saw_text {
                ReadError::NotRecognised { line: Some(lines) }
            } else {
                ReadError::Empty
            });
        }
        let dialect = if runs.is_empty() && log_lines > 0 {
            Dialect::NcclLog
        } else {
            Dialect::NcclTestsText
        };
        Ok(Parsed {
            value: Dataset {
                dialect,
                runs,
                trace,
            },
            warnings: self.warnings.finish(),
        })
    }
}

/// Cuts the tag that a launcher put before the log line: `… -1[0] `, `… 0[1,0]<stdout>:`.
fn without_glued_tag(before: &[u8]) -> &[u8] {
    let text = before.trim_ascii_end();
    let tag = [b"<stdout>:", b"<stderr>:"]
        .iter()
        .find_map(|tag| text.strip_suffix(*tag));
    let text = tag.unwrap_or(text);
    let Some(inside) = text.strip_suffix(b"]") else {
        return text;
    };
    match memchr::memrchr(b'[', inside) {
        Some(open) => &text[..open],
        None => text,
    }
}

/// The beginning of somebody's message, for a warning.
fn shorten(message: &[u8]) -> String {
    const CHARS_MAX: usize = 160;
    let text = String::from_utf8_lossy(&message[..message.len().min(4 * CHARS_MAX)]);
    text.trim().chars().take(CHARS_MAX).collect()
}
