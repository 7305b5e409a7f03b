//! The chart of a comparison: both curves over size, and below them how much longer or shorter
//! the new one takes.

use super::summary::cause;
use super::{ComparedSeries, ComparisonReport};
use crate::analysis::{configuration, shown_fits};
use crate::axis::{Axis, Spacing, Tick};
use crate::chart::{Drawing, Embedding, LEFT, Labels, Panel, Px, Shape, Side, WIDTH, text_width};
use crate::curve::{algbw_gbs, is_drawable, marker_class, time_us};
use crate::number::{fixed, signed};
use tier6_fit::{ComparisonVerdict, Line, Loss, PointSummary, SeriesAnalysis, SizeVerdict};

/// Colour classes of the two sides, and their markers.
const SIDES: [(&str, &str, Shape); 2] = [
    ("s0", "baseline", Shape::Circle),
    ("s1", "new", Shape::Triangle),
];

/// Returns a stand-alone SVG file with the charts of all compared series.
pub fn comparison_svg(report: &ComparisonReport) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let mut y = 0.0;
    for series in &report.series {
        drawing.text(
            LEFT - 48.0,
            y + 30.0,
            "title",
            &configuration(&series.new.analysis).join(" · "),
        );
        drawing.text(LEFT - 48.0, y + 50.0, "sub", &report.sides_of(series));
        y = draw_series(&mut drawing, series, report.loss, y + 62.0);
    }
    if report.series.is_empty() {
        drawing.text(LEFT, 40.0, "title", "no series in common");
        y = 60.0;
    }
    drawing.finish(y, "tier6 comparison", Embedding::File)
}

/// Returns the chart of one series for a page.
pub(super) fn series_chart(series: &ComparedSeries, loss: Loss, title: &str) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let bottom = draw_series(&mut drawing, series, loss, 4.0);
    drawing.finish(bottom, title, Embedding::Page)
}

/// What the panels share.
struct Overlay<'a> {
    sides: [&'a SeriesAnalysis; 2],
    loss: Loss,
    x: Axis,
    x_ticks: Vec<Tick>,
}

fn draw_series(drawing: &mut Drawing, series: &ComparedSeries, loss: Loss, top: f64) -> f64 {
    let sides = [&series.baseline.analysis, &series.new.analysis];
    let points = sides.iter().flat_map(|side| &side.points);
    let sizes = points
        .filter(|point| is_drawable(point))
        .map(|point| point.bytes.as_f64());
    let Some(x) = Axis::spanning(Spacing::Log, sizes) else {
        drawing.text(LEFT, top + 20.0, "sub", "no sizes to draw");
        return top + 36.0;
    };
    let x = x.padded(0.015);
    let overlay = Overlay {
        sides,
        loss,
        x,
        x_ticks: x.size_ticks(12),
    };
    overlay.draw_legend(drawing, top + 14.0);
    let y = overlay.draw_time(drawing, top + 36.0);
    let y = overlay.draw_bandwidth(drawing, y);
    overlay.draw_changes(drawing, series, y) + 6.0
}

impl Overlay<'_> {
    fn points(&self, side: usize) -> impl Iterator<Item = &PointSummary> {
        self.sides[side]
            .points
            .iter()
            .filter(|point| is_drawable(point))
    }

    fn draw_legend(&self, drawing: &mut Drawing, y: f64) {
        let mut x = LEFT;
        for (class, name, shape) in SIDES {
            drawing.raw(&format!("<g class=\"key\" data-k=\"{class}\">"));
            drawing.line((x, y), (x + 22.0, y), &format!("fit {class}"));
            drawing.path(&shape.outline(x + 11.0, y), &format!("m {class}"));
            drawing.text(x + 28.0, y + 4.0, "label", name);
            drawing.raw("</g>\n");
            x += text_width(name) + 48.0;
        }
        let unstable = (0..2).any(|side| self.points(side).any(|p| p.stable == Some(false)));
        if unstable {
            drawing.raw("<g class=\"key\" data-k=\"unstable\">");
            drawing.path(&Shape::Circle.outline(x + 11.0, y), "m s0 open");
            drawing.text(x + 22.0, y + 4.0, "label", "hollow: unstable");
            drawing.raw("</g>\n");
        }
    }

    fn draw_time(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let times = (0..2)
            .flat_map(|side| self.points(side))
            .map(|point| point.median.get());
        let Some(y) = Axis::spanning(Spacing::Log, times) else {
            return top;
        };
        let panel = Panel::below(top, 230.0, self.x, y.padded(0.05));
        self.draw_frame(drawing, &panel, "median time", &panel.y.time_ticks(7));
        self.draw_models(drawing, &panel, &time_us);
        self.draw_points(drawing, &panel, &|point| (point.median.get(), "us"));
        panel.end()
    }

    fn draw_bandwidth(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let rates = (0..2)
            .flat_map(|side| self.points(side))
            .map(|point| point.algbw.get());
        let Some(y) = Axis::spanning(Spacing::Linear, rates.chain([0.0])) else {
            return top;
        };
        let y = Axis::spanning(Spacing::Linear, [0.0, y.value_at(1.06)]).unwrap_or(y);
        let panel = Panel::below(top, 180.0, self.x, y);
        self.draw_frame(drawing, &panel, "algbw, GB/s", &panel.y.round_ticks(5));
        self.draw_models(drawing, &panel, &algbw_gbs);
        self.draw_points(drawing, &panel, &|point| (point.algbw.get(), "GB/s"));
        panel.end()
    }

    fn draw_frame(&self, drawing: &mut Drawing, panel: &Panel, title: &str, y_ticks: &[Tick]) {
        let labels = Labels {
            title,
            x_ticks: &self.x_ticks,
            y_ticks,
        };
        panel.draw_frame(drawing, &labels);
    }

    fn draw_models(&self, drawing: &mut Drawing, panel: &Panel, value: &dyn Fn(Line, f64) -> f64) {
        for (analysis, (class, ..)) in self.sides.iter().zip(SIDES) {
            for fit in shown_fits(analysis, self.loss).segments {
                if let Some(line) = fit.line {
                    let range = (fit.first.as_f64().max(1.0), fit.last.as_f64());
                    let class = format!("fit {class}");
                    panel.draw_function(drawing, range, &class, |bytes| value(line, bytes));
                }
            }
        }
    }

    fn draw_points(
        &self,
        drawing: &mut Drawing,
        panel: &Panel,
        value: &dyn Fn(&PointSummary) -> (f64, &'static str),
    ) {
        for (side, (class, name, shape)) in SIDES.into_iter().enumerate() {
            for point in self.points(side) {
                let (value, unit) = value(point);
                let class = marker_class(class, point);
                let text = format!("{name}, {}: {} {unit}", point.bytes, fixed(value, 3));
                panel.draw_marker(drawing, (point.bytes.as_f64(), value), shape, &class, &text);
            }
        }
    }

    /// Draws how much longer the new side takes at each size; hollow where that is not shown.
    fn draw_changes(&self, drawing: &mut Drawing, series: &ComparedSeries, top: f64) -> f64 {
        let sizes = &series.comparison.sizes;
        let changes = sizes.iter().map(|size| size.change_pct.abs());
        let largest = changes
            .filter(|change| change.is_finite())
            .fold(4.0, f64::max);
        let Some(y) = Axis::spanning(Spacing::Linear, [-largest * 1.2, largest * 1.2]) else {
            return top;
        };
        let panel = Panel::below(top, 130.0, self.x, y);
        for segment in &series.comparison.segments {
            let range = (segment.first.as_f64().max(1.0), segment.last.as_f64());
            // The stems of a slower run stand above zero, so that the room is below.
            let side = match segment.verdict {
                ComparisonVerdict::Regressed => Side::Bottom,
                ComparisonVerdict::Improved => Side::Top,
                ComparisonVerdict::Failed
                | ComparisonVerdict::Undecided
                | ComparisonVerdict::Unchanged => continue,
            };
            let label = match cause(segment.cause) {
                "" => segment.verdict.to_string(),
                cause => format!("{}: {cause}", segment.verdict),
            };
            panel.draw_band(drawing, range, side, &label);
        }
        let title = "time of new / baseline - 1, % (above zero: slower; hollow: within the noise)";
        self.draw_frame(drawing, &panel, title, &panel.y.round_ticks(4));
        panel.draw_horizontal(drawing, 0.0, "axis");
        for (index, size) in sizes.iter().enumerate() {
            let bytes = size.bytes.as_f64();
            let ends = (
                panel.x_of(bytes),
                panel.y_of(0.0),
                panel.y_of(size.change_pct),
            );
            let (Some(x), Some(zero), Some(end)) = ends else {
                continue;
            };
            let class = match size.verdict {
                SizeVerdict::Slower => "m s1",
                SizeVerdict::Faster => "m s2",
                SizeVerdict::NotShown => "m s1 open",
            };
            let text = format!("{}: {} %", size.bytes, signed(size.change_pct, 2));
            drawing.line((x, zero), (x, end), "stem s1");
            drawing.raw(&format!("<g data-i=\"{index}\" data-x=\"{}\">", Px(x)));
            panel.draw_marker(
                drawing,
                (bytes, size.change_pct),
                Shape::Triangle,
                class,
                &text,
            );
            drawing.raw("</g>\n");
        }
        panel.end()
    }
}
