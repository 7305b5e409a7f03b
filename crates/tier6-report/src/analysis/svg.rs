//! The chart of a series: time, bandwidth and residuals over size, one above the other so that
//! a switch point can be followed down through all three.

use super::summary::{ShownFits, failure, identity, shown_fits};
use crate::axis::{Axis, Spacing, Tick};
use crate::chart::{
    Drawing, Embedding, LEFT, Labels, Panel, Px, RIGHT, Shape, Side, WIDTH, text_width,
};
use crate::curve::{algbw_gbs, is_drawable, marker_class, time_us};
use crate::naming;
use crate::number::{fixed, fixed_or_absent, signed};
use crate::report::AnalysisReport;
use tier6_fit::{Fit, Line, Loss, PointSummary, SeriesAnalysis};
use tier6_units::Bytes;

/// Above this many points tooltips stay in the first panel.
const TOOLTIPS_MAX: usize = 200;

/// Returns a stand-alone SVG file with the charts of all series, one below the other.
pub fn analysis_svg(report: &AnalysisReport) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let mut y = 0.0;
    if let Some(failure) = failure(report) {
        drawing.text(LEFT - 48.0, 26.0, "failure", &failure);
        y = 24.0;
    }
    for series in &report.series {
        let parts = identity(report, series);
        drawing.text(LEFT - 48.0, y + 30.0, "title", &parts[0]);
        drawing.text(LEFT - 48.0, y + 50.0, "sub", &parts[1..].join(" · "));
        y = draw_series(&mut drawing, &series.analysis, report.loss, y + 62.0);
    }
    if report.series.is_empty() {
        drawing.text(LEFT, y + 40.0, "title", "no series");
        y += 60.0;
    }
    drawing.finish(y, "tier6 analysis", Embedding::File)
}

/// Returns the chart of one series for a page.
pub(super) fn series_chart(analysis: &SeriesAnalysis, loss: Loss, title: &str) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let bottom = draw_series(&mut drawing, analysis, loss, 4.0);
    drawing.finish(bottom, title, Embedding::Page)
}

/// What the panels of a series share.
struct SeriesPlot<'a> {
    analysis: &'a SeriesAnalysis,
    shown: ShownFits<'a>,
    drawn: Vec<&'a PointSummary>,
    x: Axis,
    x_ticks: Vec<Tick>,
}

/// Draws all panels below `top` and returns where they end.
fn draw_series(drawing: &mut Drawing, analysis: &SeriesAnalysis, loss: Loss, top: f64) -> f64 {
    let drawn: Vec<&PointSummary> = analysis.points.iter().filter(|p| is_drawable(p)).collect();
    let sizes = drawn.iter().map(|point| point.bytes.as_f64());
    let Some(x) = Axis::spanning(Spacing::Log, sizes) else {
        drawing.text(LEFT, top + 20.0, "sub", "no sizes to draw");
        return top + 36.0;
    };
    let x = x.padded(0.015);
    let plot = SeriesPlot {
        analysis,
        shown: shown_fits(analysis, loss),
        drawn,
        x,
        x_ticks: x.size_ticks(12),
    };
    let y = plot.draw_legend(drawing, top + 14.0);
    let y = plot.draw_time(drawing, y + 14.0);
    let y = plot.draw_bandwidth(drawing, y);
    plot.draw_residuals(drawing, y) + 6.0
}

impl SeriesPlot<'_> {
    /// Returns the class and shape of a point: those of its segment.
    fn look(&self, point: &PointSummary) -> (String, Shape) {
        let segment = self.shown.segment_at(point.bytes).unwrap_or(0);
        (marker_class(&color(segment), point), Shape::nth(segment))
    }

    /// Draws the legend, in as many rows as it needs, and returns its lower end.
    fn draw_legend(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let (mut x, mut y) = (LEFT, top);
        let unstable = self.drawn.iter().any(|point| point.stable == Some(false));
        let mut entries: Vec<(String, String)> = Vec::new();
        for (index, fit) in self.shown.segments.iter().enumerate() {
            entries.push((color(index), naming::label(&fit.label)));
        }
        if self.shown.segments.is_empty() {
            entries.push((color(0), "measured".to_owned()));
        }
        if self.shown.one_line.is_some() {
            entries.push(("one".to_owned(), "one line".to_owned()));
        }
        if unstable {
            entries.push(("unstable".to_owned(), "hollow: unstable".to_owned()));
        }
        if self.drawn.iter().any(|point| point.p95.is_some()) {
            entries.push(("whisker".to_owned(), "whisker: P95".to_owned()));
        }
        for (index, (class, label)) in entries.iter().enumerate() {
            let room = text_width(label) + 44.0;
            if x + room > drawing.width() - RIGHT && x > LEFT {
                (x, y) = (LEFT, y + 20.0);
            }
            drawing.raw(&format!("<g class=\"key\" data-k=\"{class}\">"));
            draw_key(drawing, class, Shape::nth(index), x, y);
            drawing.text(x + 28.0, y + 4.0, "label", label);
            drawing.raw("</g>\n");
            x += room;
        }
        y + 8.0
    }

    fn draw_time(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let medians = self.drawn.iter().map(|point| point.median.get());
        let p95s = self.drawn.iter().filter_map(|point| Some(point.p95?.get()));
        let Some(y) = Axis::spanning(Spacing::Log, medians.chain(p95s)) else {
            return top;
        };
        let panel = Panel::below(top, 250.0, self.x, y.padded(0.05));
        if let Some(region) = self.analysis.regions.latency {
            let range = (region.first.as_f64().max(1.0), region.last.as_f64());
            panel.draw_band(drawing, range, Side::Top, "latency floor");
        }
        self.draw_base(drawing, &panel, "median time", &panel.y.time_ticks(7));
        self.draw_models(drawing, &panel, &time_us);
        self.draw_whiskers(drawing, &panel);
        // The script finds the row of the table of points by this index.
        let indexed = self.analysis.points.iter().enumerate();
        for (index, point) in indexed.filter(|(_, point)| is_drawable(point)) {
            let (class, shape) = self.look(point);
            drawing.raw(&format!(
                "<g data-i=\"{index}\" data-x=\"{}\">",
                Px(panel.x_of(point.bytes.as_f64()).unwrap_or(0.0))
            ));
            let spot = (point.bytes.as_f64(), point.median.get());
            panel.draw_marker(drawing, spot, shape, &class, &tooltip(point));
            drawing.raw("</g>\n");
        }
        panel.end()
    }

    fn draw_whiskers(&self, drawing: &mut Drawing, panel: &Panel) {
        for point in &self.drawn {
            let p95 = point.p95.and_then(|p95| panel.y_of(p95.get()));
            let (Some(high), Some(low), Some(x)) = (
                p95,
                panel.y_of(point.median.get()),
                panel.x_of(point.bytes.as_f64()),
            ) else {
                continue;
            };
            // Below a marker's own height nothing can be seen.
            if low - high > 4.0 {
                let segment = self.shown.segment_at(point.bytes).unwrap_or(0);
                let d = format!("M{},{}V{}m-3,0h6", Px(x), Px(low), Px(high));
                drawing.path(&d, &format!("whisker {}", color(segment)));
            }
        }
    }

    fn draw_bandwidth(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let rates = self.drawn.iter().map(|point| point.algbw.get());
        let Some(y) = Axis::spanning(Spacing::Linear, rates.chain([0.0])) else {
            return top;
        };
        let y = Axis::spanning(Spacing::Linear, [0.0, y.value_at(1.06)]).unwrap_or(y);
        let panel = Panel::below(top, 190.0, self.x, y);
        if let Some(saturation) = self.analysis.regions.saturation {
            let range = (saturation.entry.as_f64(), self.x.value_at(1.0));
            panel.draw_band(drawing, range, Side::Bottom, "saturated");
        }
        self.draw_base(drawing, &panel, "algbw, GB/s", &panel.y.round_ticks(5));
        if let Some(saturation) = self.analysis.regions.saturation {
            let threshold = saturation.peak_algbw.get() * saturation.threshold_pct / 100.0;
            let label = format!("{} % of the peak", fixed(saturation.threshold_pct, 0));
            panel.draw_horizontal(drawing, threshold, "threshold");
            if let Some(y) = panel.y_of(threshold) {
                drawing.text(LEFT + 6.0, y - 6.0, "remark", &label);
            }
        }
        self.draw_models(drawing, &panel, &algbw_gbs);
        for point in &self.drawn {
            let (class, shape) = self.look(point);
            let text = format!("{}: {} GB/s", point.bytes, fixed(point.algbw.get(), 2));
            panel.draw_marker(
                drawing,
                (point.bytes.as_f64(), point.algbw.get()),
                shape,
                &class,
                self.short(&text),
            );
        }
        panel.end()
    }

    fn draw_residuals(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let errors: Vec<(&PointSummary, f64)> = self
            .drawn
            .iter()
            .filter_map(|point| Some((*point, self.shown.error_at(point.bytes)?)))
            .filter(|(_, error)| error.is_finite())
            .collect();
        let one_line = self.shown.one_line.map_or(&[][..], |fit| &fit.residuals);
        let largest = |errors: &mut dyn Iterator<Item = f64>| {
            errors
                .filter(|error| error.is_finite())
                .map(f64::abs)
                .reduce(f64::max)
        };
        let own = largest(&mut errors.iter().map(|(_, error)| *error));
        let single = largest(&mut one_line.iter().map(|residual| residual.2));
        let Some(reach) = own.or(single).map(|reach| reach.max(2.0) * 1.2) else {
            return top;
        };
        let Some(y) = Axis::spanning(Spacing::Linear, [-reach, reach]) else {
            return top;
        };
        let title = match single {
            Some(single) if single > reach => {
                "model error, % (predicted / measured - 1); one line leaves the scale"
            }
            _ => "model error, % (predicted / measured - 1)",
        };
        let panel = Panel::below(top, 130.0, self.x, y);
        self.draw_base(drawing, &panel, title, &panel.y.round_ticks(4));
        panel.draw_horizontal(drawing, 0.0, "axis");
        let spots = one_line.iter().filter_map(|(bytes, _, error)| {
            Some((panel.x_of(bytes.as_f64())?, panel.y_of(*error)?))
        });
        panel.draw_polyline(drawing, spots, "one");
        for (point, error) in errors {
            self.draw_error(drawing, &panel, point, error);
        }
        panel.end()
    }

    /// Draws the error of one point on a stem from zero.
    fn draw_error(&self, drawing: &mut Drawing, panel: &Panel, point: &PointSummary, error: f64) {
        let bytes = point.bytes.as_f64();
        let segment = self.shown.segment_at(point.bytes).unwrap_or(0);
        let ends = (panel.x_of(bytes), panel.y_of(0.0), panel.y_of(error));
        if let (Some(x), Some(zero), Some(end)) = ends {
            drawing.line((x, zero), (x, end), &format!("stem {}", color(segment)));
        }
        let (class, shape) = self.look(point);
        let text = format!("{}: {} %", point.bytes, signed(error, 2));
        panel.draw_marker(drawing, (bytes, error), shape, &class, self.short(&text));
    }

    /// Draws the axes and the switch points.
    fn draw_base(&self, drawing: &mut Drawing, panel: &Panel, title: &str, y_ticks: &[Tick]) {
        let labels = Labels {
            title,
            x_ticks: &self.x_ticks,
            y_ticks,
        };
        panel.draw_frame(drawing, &labels);
        for switch in &self.analysis.switches {
            panel.draw_vertical(drawing, self.before(switch.bytes));
        }
    }

    /// Returns a size between a switch and the size measured before it.
    fn before(&self, bytes: Bytes) -> f64 {
        let smaller = self.drawn.iter().rev().find(|point| point.bytes < bytes);
        smaller.map_or(bytes.as_f64(), |point| {
            (point.bytes.as_f64() * bytes.as_f64()).sqrt()
        })
    }

    fn draw_models(&self, drawing: &mut Drawing, panel: &Panel, value: &dyn Fn(Line, f64) -> f64) {
        let draw = |drawing: &mut Drawing, fit: &Fit, class: &str| {
            if let Some(line) = fit.line {
                let range = (fit.first.as_f64().max(1.0), fit.last.as_f64());
                panel.draw_function(drawing, range, class, |bytes| value(line, bytes));
            }
        };
        if let Some(fit) = self.shown.one_line {
            draw(drawing, fit, "one");
        }
        for (index, fit) in self.shown.segments.iter().enumerate() {
            draw(drawing, fit, &format!("fit {}", color(index)));
        }
    }

    /// Returns a tooltip, or nothing when the picture has too many points for that.
    fn short<'t>(&self, text: &'t str) -> &'t str {
        if self.drawn.len() > TOOLTIPS_MAX {
            ""
        } else {
            text
        }
    }
}

/// Draws the sample of a legend entry.
fn draw_key(drawing: &mut Drawing, class: &str, shape: Shape, x: f64, y: f64) {
    match class {
        "one" => drawing.line((x, y), (x + 22.0, y), "one"),
        "unstable" => drawing.path(&Shape::Circle.outline(x + 11.0, y), "m s0 open"),
        "whisker" => {
            let d = format!("M{},{}V{}m-3,0h6", Px(x + 11.0), Px(y + 6.0), Px(y - 6.0));
            drawing.path(&d, "whisker s0");
        }
        class => {
            drawing.line((x, y), (x + 22.0, y), &format!("fit {class}"));
            drawing.path(&shape.outline(x + 11.0, y), &format!("m {class}"));
        }
    }
}

/// Returns the colour class of a segment.
fn color(index: usize) -> String {
    format!("s{}", index % 6)
}

fn tooltip(point: &PointSummary) -> String {
    let path = point
        .path
        .map_or(String::new(), |path| format!(", {}", naming::path(path)));
    format!(
        "{}: {} us, P95 {} us, CV {} %, algbw {} GB/s{path}",
        point.bytes,
        fixed(point.median.get(), 3),
        fixed_or_absent(point.p95.map(tier6_units::Micros::get), 3),
        fixed_or_absent(point.cv_pct, 2),
        fixed(point.algbw.get(), 2),
    )
}
