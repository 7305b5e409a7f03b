//! A log-log plot of time against size for the terminal: the measured points, the segments and
//! the single line told apart by their glyphs, not by colour.

mod canvas;

use crate::analysis::{ShownFits, shown_fits};
use crate::axis::{Axis, Spacing};
use crate::curve::{is_drawable, time_us};
use crate::flow::flow;
use crate::style::{Charset, Style, Tone};
use canvas::{Canvas, Dots};
use std::fmt::Write as _;
use tier6_fit::{Fit, FitLabel, Loss, PointSummary, SeriesAnalysis};
use tier6_units::Bytes;

/// Rows of the plot without its axis.
const ROWS: usize = 14;

/// Columns left of the plot, for the labels of time.
const MARGIN: usize = 10;

/// Returns the plot of a series, each line ended; empty when there are fewer than two points.
pub fn terminal_plot(analysis: &SeriesAnalysis, loss: Loss, style: Style) -> String {
    let drawn: Vec<&PointSummary> = analysis.points.iter().filter(|p| is_drawable(p)).collect();
    let sizes = drawn.iter().map(|point| point.bytes.as_f64());
    let times = drawn.iter().map(|point| point.median.get());
    let (Some(x), Some(y)) = (
        Axis::spanning(Spacing::Log, sizes),
        Axis::spanning(Spacing::Log, times),
    ) else {
        return String::new();
    };
    if drawn.len() < 2 {
        return String::new();
    }
    let columns = style.width.clamp(40, 120) - MARGIN - 2;
    let mut canvas = Canvas::new(columns, ROWS, style.charset);
    let plane = Plane {
        x,
        y: y.padded(0.03),
    };
    let shown = shown_fits(analysis, loss);
    if let Some(fit) = shown.one_line {
        plane.draw_line(&mut canvas, fit, Dots::Sparse);
    }
    for fit in &shown.segments {
        plane.draw_line(&mut canvas, fit, Dots::Full);
    }
    for point in &drawn {
        let glyph = point_glyph(point, style.charset);
        if let Some((column, row)) = plane.spot(point.bytes, point.median.get()) {
            canvas.put(column, row, glyph);
        }
    }
    framed(&plane, &canvas, style) + &legend(&drawn, &shown, columns, style)
}

fn point_glyph(point: &PointSummary, charset: Charset) -> char {
    let unstable = point.stable == Some(false);
    match (point.excluded.is_some(), unstable, charset) {
        (true, _, Charset::Unicode) => '×',
        (true, _, Charset::Ascii) => '!',
        (false, true, Charset::Unicode) => '○',
        (false, true, Charset::Ascii) => 'x',
        (false, false, Charset::Unicode) => '●',
        (false, false, Charset::Ascii) => 'o',
    }
}

/// The two axes of the plot.
struct Plane {
    x: Axis,
    y: Axis,
}

impl Plane {
    /// Returns where a point stands, from the left and from the top, both 0 to 1.
    fn spot(&self, bytes: Bytes, us: f64) -> Option<(f64, f64)> {
        Some((self.x.place(bytes.as_f64())?, 1.0 - self.y.place(us)?))
    }

    fn draw_line(&self, canvas: &mut Canvas, fit: &Fit, dots: Dots) {
        let (Some(line), Some(from), Some(to)) = (
            fit.line,
            self.x.place(fit.first.as_f64().max(1.0)),
            self.x.place(fit.last.as_f64()),
        ) else {
            return;
        };
        let steps = canvas.dots_across() * 2;
        for step in 0..=steps {
            let across = from + (to - from) * step as f64 / steps as f64;
            let us = time_us(line, self.x.value_at(across));
            if let Some(up) = self.y.place(us) {
                canvas.dot(across, 1.0 - up, dots);
            }
        }
    }
}

/// Puts labels and axis lines around the canvas.
fn framed(plane: &Plane, canvas: &Canvas, style: Style) -> String {
    let mut labels = vec![String::new(); ROWS];
    for tick in plane.y.time_ticks(6) {
        let row = canvas::cell(1.0 - tick.place, ROWS);
        labels[row] = tick.label;
    }
    let mut out = format!(" {:>MARGIN$}\n", "time");
    for (label, line) in labels.iter().zip(canvas.lines()) {
        let edge = if label.is_empty() {
            style.charset.pick("│", "|")
        } else {
            style.charset.pick("┤", "+")
        };
        let margin = style.paint(Tone::Dim, &format!("{label:>MARGIN$} {edge}"));
        let _ = write!(out, "{margin}{line}");
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out + &bottom(plane, canvas.columns(), style)
}

/// Returns the lower axis with its ticks and the line of size labels.
fn bottom(plane: &Plane, columns: usize, style: Style) -> String {
    let (dash, mark) = match style.charset {
        Charset::Unicode => ('─', '┬'),
        Charset::Ascii => ('-', '+'),
    };
    let mut rule = vec![dash; columns];
    let mut labels = String::new();
    for tick in plane.x.size_ticks(columns / 10) {
        let column = canvas::cell(tick.place, columns);
        let start = (column + 1)
            .saturating_sub(tick.label.len().div_ceil(2))
            .min(columns.saturating_sub(tick.label.len()));
        if labels.is_empty() || start > labels.len() {
            rule[column] = mark;
            labels += &" ".repeat(start - labels.len());
            labels += &tick.label;
        }
    }
    let corner = style.charset.pick("└", "+");
    let rule: String = rule.into_iter().collect();
    let blanks = " ".repeat(MARGIN + 1);
    let rule = style.paint(Tone::Dim, &format!("{blanks}{corner}{rule}"));
    format!("{rule}\n{blanks} {}\n", style.paint(Tone::Dim, &labels))
}

/// Returns the meaning of the glyphs in use, in as many lines as the columns ask for.
fn legend(drawn: &[&PointSummary], shown: &ShownFits<'_>, columns: usize, style: Style) -> String {
    let pick = |unicode, ascii| style.charset.pick(unicode, ascii);
    let unused = |point: &&PointSummary| point.excluded.is_some();
    let unstable = |point: &&PointSummary| !unused(point) && point.stable == Some(false);
    let has = |is: &dyn Fn(&&PointSummary) -> bool| drawn.iter().any(is);
    let entries = [
        Some(pick("● measured", "o measured")),
        has(&unstable).then_some(pick("○ unstable", "x unstable")),
        has(&unused).then_some(pick("× not used", "! not used")),
        match shown.segments.as_slice() {
            [] => None,
            [only] if only.label == FitLabel::Global => Some(pick("⠤⠤ one line", "-- one line")),
            _ => Some(pick("⠤⠤ segments", "-- segments")),
        },
        shown
            .one_line
            .is_some()
            .then_some(pick("⠄⠠ one line", ".. one line")),
    ];
    let mut out = String::new();
    for line in flow(entries.into_iter().flatten(), "   ", columns) {
        let blanks = " ".repeat(MARGIN + 2);
        let _ = writeln!(out, "{blanks}{}", style.paint(Tone::Dim, &line));
    }
    out
}
