//! The chart of predicted and of simulated calls: time and bus bandwidth over message size, a line
//! per algorithm.

use crate::axis::{Axis, Spacing, Tick};
use crate::chart::{Drawing, Embedding, LEFT, Labels, Panel, Shape, WIDTH, text_width};
use crate::number::fixed;
use tier6_units::{Bytes, GbPerSec, Micros};

/// Lines beyond these share their colours.
const COLOURS: usize = 6;

/// A call in the chart.
pub(crate) struct Mark {
    /// The line that it is on.
    pub(crate) line: String,
    /// What ran, for who points at it.
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
    pub(crate) time: Micros,
    pub(crate) busbw: Option<GbPerSec>,
}

/// A quantity of a call.
type Quantity<'a> = &'a dyn Fn(&Mark) -> Option<f64>;

/// Returns a stand-alone SVG file; calls that have no place on its axes, as those of no bytes, are
/// left out.
pub(crate) fn call_chart(title: &str, marks: &[Mark]) -> String {
    let mut drawing = Drawing::new(WIDTH);
    drawing.text(LEFT - 48.0, 30.0, "title", title);
    let sizes = marks.iter().map(|mark| mark.bytes.as_f64());
    let Some(x) = Axis::spanning(Spacing::Log, sizes) else {
        drawing.text(LEFT, 60.0, "remark", "no call to draw");
        return drawing.finish(80.0, title, Embedding::File);
    };
    let plot = Plot {
        marks,
        x: x.padded(0.02),
    };
    let top = plot.draw_legend(&mut drawing, 54.0);
    let time = |mark: &Mark| Some(mark.time.get());
    let top = plot.draw(
        &mut drawing,
        "time over message size",
        Spacing::Log,
        &time,
        top,
    );
    let busbw = |mark: &Mark| mark.busbw.map(GbPerSec::get);
    let end = plot.draw(&mut drawing, "busbw, GB/s", Spacing::Linear, &busbw, top);
    drawing.finish(end + 6.0, title, Embedding::File)
}

struct Plot<'a> {
    marks: &'a [Mark],
    x: Axis,
}

impl Plot<'_> {
    /// Names of the lines, in the order in which they first come.
    fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = Vec::new();
        for mark in self.marks {
            if !lines.contains(&mark.line.as_str()) {
                lines.push(&mark.line);
            }
        }
        lines
    }

    /// Draws the names of the lines, and returns where the panels may start.
    fn draw_legend(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let (mut x, mut y) = (LEFT, top);
        for (index, line) in self.lines().into_iter().enumerate() {
            let width = text_width(line) + 48.0;
            if x > LEFT && x + width > WIDTH {
                (x, y) = (LEFT, y + 18.0);
            }
            let class = colour(index);
            drawing.line((x, y), (x + 22.0, y), &format!("fit {class}"));
            let outline = Shape::nth(index).outline(x + 11.0, y);
            drawing.path(&outline, &format!("m {class}"));
            drawing.text(x + 28.0, y + 4.0, "label", line);
            x += width;
        }
        y + 22.0
    }

    /// Draws a panel of a quantity, and returns where the next may start.
    fn draw(
        &self,
        drawing: &mut Drawing,
        title: &str,
        spacing: Spacing,
        quantity: Quantity<'_>,
        top: f64,
    ) -> f64 {
        let zero = (spacing == Spacing::Linear).then_some(0.0);
        let values = self.marks.iter().filter_map(quantity);
        let Some(y) = Axis::spanning(spacing, values.chain(zero)) else {
            return top;
        };
        let panel = Panel::below(top, 230.0, self.x, y.padded(0.05));
        let y_ticks: Vec<Tick> = match spacing {
            Spacing::Log => panel.y.time_ticks(7),
            Spacing::Linear => panel.y.round_ticks(5),
        };
        let labels = Labels {
            title,
            x_ticks: &self.x.size_ticks(12),
            y_ticks: &y_ticks,
        };
        panel.draw_frame(drawing, &labels);
        for (index, line) in self.lines().into_iter().enumerate() {
            let of_line = self.marks.iter().filter(|mark| mark.line == line);
            let mut values: Vec<(&Mark, f64)> = of_line
                .filter_map(|mark| Some((mark, quantity(mark)?)))
                .collect();
            values.sort_by_key(|(mark, _)| mark.bytes);
            let spots = values.iter().filter_map(|(mark, value)| {
                Some((panel.x_of(mark.bytes.as_f64())?, panel.y_of(*value)?))
            });
            let class = colour(index);
            panel.draw_polyline(drawing, spots, &format!("fit {class}"));
            for (mark, value) in &values {
                let tooltip = format!("{}, {}: {}", mark.name, mark.bytes, fixed(*value, 3));
                let spot = (mark.bytes.as_f64(), *value);
                let class = format!("m {class}");
                panel.draw_marker(drawing, spot, Shape::nth(index), &class, &tooltip);
            }
        }
        panel.end()
    }
}

fn colour(index: usize) -> String {
    format!("s{}", index % COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(line: &str, bytes: u64, time: f64) -> Mark {
        Mark {
            line: line.to_owned(),
            name: line.to_owned(),
            bytes: Bytes::new(bytes),
            time: Micros::new(time),
            busbw: GbPerSec::from_transfer(Bytes::new(bytes), Micros::new(time)),
        }
    }

    #[test]
    fn every_call_has_its_place_in_both_panels() {
        let marks = [
            mark("ring", 1024, 20.0),
            mark("tree <2>", 1024, 15.0),
            mark("ring", 1 << 20, 60.0),
        ];
        let svg = call_chart("AllReduce & more", &marks);
        assert!(
            svg.starts_with("<svg") && svg.contains("AllReduce &amp; more"),
            "{svg}"
        );
        assert_eq!(svg.matches("<title>ring, 1 KiB: ").count(), 2);
        assert_eq!(svg.matches("<title>ring, 1 MiB: ").count(), 2);
        assert_eq!(svg.matches("<title>tree &lt;2&gt;, 1 KiB: ").count(), 2);
    }

    #[test]
    fn a_call_of_no_bytes_is_left_out() {
        let svg = call_chart("none", &[mark("ring", 0, 20.0)]);
        assert!(svg.contains("no call to draw"), "{svg}");
        let svg = call_chart("one", &[mark("ring", 0, 20.0), mark("ring", 8, 21.0)]);
        assert!(!svg.contains("0 B:") && svg.contains("8 B: 21"), "{svg}");
    }
}
