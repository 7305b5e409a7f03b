//! A table once, written as aligned text, as Markdown or as HTML.

use crate::number::{ABSENT, fixed_or_absent, signed};
use crate::page::escape;
use crate::style::{Style, Tone};
use std::fmt::Write as _;

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        let text = text.into();
        Self { text, tone }
    }
}

/// Columns with their heads, and rows of as many cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// A [`Grid`] under construction: one row per value, column by column.
pub(crate) struct Columns<'r, T> {
    values: &'r [T],
    grid: Grid,
}

impl<'r, T> Columns<'r, T> {
    pub(crate) fn of(values: &'r [T]) -> Self {
        let grid = Grid {
            columns: Vec::new(),
            rows: vec![Vec::new(); values.len()],
        };
        Self { values, grid }
    }

    /// Adds a column of cells with a tone of their own.
    pub(crate) fn cells(mut self, head: &str, align: Align, cell: impl Fn(&'r T) -> Cell) -> Self {
        self.grid.columns.push((head.to_owned(), align));
        for (row, value) in self.grid.rows.iter_mut().zip(self.values) {
            row.push(cell(value));
        }
        self
    }

    /// Adds a column of text.
    pub(crate) fn left(self, head: &str, text: impl Fn(&'r T) -> String) -> Self {
        self.cells(head, Align::Left, |value| Cell::new(text(value)))
    }

    /// Adds a column of text that stands at the right, as numbers do.
    pub(crate) fn right(self, head: &str, text: impl Fn(&'r T) -> String) -> Self {
        self.cells(head, Align::Right, |value| Cell::new(text(value)))
    }

    /// Adds a column of numbers.
    pub(crate) fn numbers(
        self,
        head: &str,
        decimals: usize,
        number: impl Fn(&'r T) -> Option<f64>,
    ) -> Self {
        self.right(head, |value| fixed_or_absent(number(value), decimals))
    }

    /// Adds a column of numbers that always show their sign.
    pub(crate) fn signed(
        self,
        head: &str,
        decimals: usize,
        number: impl Fn(&'r T) -> Option<f64>,
    ) -> Self {
        self.right(head, |value| match number(value) {
            Some(number) => signed(number, decimals),
            None => ABSENT.to_owned(),
        })
    }

    pub(crate) fn grid(self) -> Grid {
        self.grid
    }
}

impl Grid {
    /// Returns aligned text, two blanks between columns, each line ended and indented by one.
    pub(crate) fn text(&self, style: Style) -> String {
        let heads = self
            .columns
            .iter()
            .map(|(head, _)| Cell::toned(head, Tone::Dim));
        let safe = |cell: &Cell| Cell::toned(terminal_text(&cell.text), cell.tone);
        let body = self.rows.iter().map(|row| row.iter().map(safe).collect());
        let rows: Vec<Vec<Cell>> = std::iter::once(heads.collect()).chain(body).collect();
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].text.chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut out = String::new();
        for row in &rows {
            self.text_row(&mut out, row, &widths, style);
        }
        out
    }

    fn text_row(&self, out: &mut String, row: &[Cell], widths: &[usize], style: Style) {
        let mut line = String::new();
        for ((cell, (_, align)), width) in row.iter().zip(&self.columns).zip(widths) {
            let blanks = " ".repeat(width - cell.text.chars().count());
            let painted = style.paint(cell.tone, &cell.text);
            line += if line.is_empty() { " " } else { "  " };
            line += &match align {
                Align::Left => painted + &blanks,
                Align::Right => blanks + &painted,
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }

    /// Returns a table in GitHub's Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        let line = |cells: &mut dyn Iterator<Item = String>| {
            cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |") + "\n"
        };
        out += &line(&mut self.columns.iter().map(|(head, _)| markdown_text(head)));
        out += &line(&mut self.columns.iter().map(|(_, align)| match align {
            Align::Left => ":---".to_owned(),
            Align::Right => "---:".to_owned(),
        }));
        for row in &self.rows {
            out += &line(&mut row.iter().map(|cell| markdown_text(&cell.text)));
        }
        out
    }

    /// Returns an HTML table in a box that scrolls sideways when it must, with the keyboard too.
    pub(crate) fn html(&self, id: &str, caption: &str) -> String {
        let caption = escape(caption);
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\
             <table id=\"{id}\"><caption>{caption}</caption><thead><tr>"
        );
        let class_of = |align: Align, tone: Tone| {
            let side = match align {
                Align::Left => "l",
                Align::Right => "",
            };
            match format!("{side} {}", tone.class()).trim() {
                "" => String::new(),
                classes => format!(" class=\"{classes}\""),
            }
        };
        for (head, align) in &self.columns {
            let _ = write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                class_of(*align, Tone::Plain),
                escape(head)
            );
        }
        out += "</tr></thead><tbody>";
        for row in &self.rows {
            out += "\n<tr>";
            for (cell, (_, align)) in row.iter().zip(&self.columns) {
                let _ = write!(
                    out,
                    "<td{}>{}</td>",
                    class_of(*align, cell.tone),
                    escape(&cell.text)
                );
            }
            out += "</tr>";
        }
        out + "\n</tbody></table></div>\n"
    }
}

/// Returns text that Markdown shows as it is, on one line.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns text that cannot steer a terminal: control characters become visible.
pub(crate) fn terminal_text(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let shown = if c.is_control() {
                c.escape_default().collect()
            } else {
                vec![c]
            };
            shown.into_iter()
        })
        .collect()
}
