//! The chart of an experiment: time, bus bandwidth, G5 over Math, and gain over the baseline,
//! one above the other over message size or ranks. G5 is a full line with markers, Math dashed.

use super::{line_name, place_name, subtitle};
use crate::axis::{Axis, Spacing, Tick};
use crate::chart::{Drawing, Embedding, LEFT, Labels, Panel, Shape, WIDTH, text_width};
use crate::number::fixed;
use tier6_study::{Cell, Engine, ExperimentLine, ExperimentView, Outcome};
use tier6_units::GbPerSec;

/// Lines beyond these share their colours.
const COLOURS: usize = 6;

/// Returns a stand-alone SVG file with all charts of an experiment.
pub fn experiment_svg(outcome: &Outcome) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let left = LEFT - 48.0;
    drawing.text(left, 30.0, "title", &outcome.experiment.title);
    drawing.text(left, 50.0, "sub", &subtitle(outcome));
    let views = outcome.experiment.views().into_iter();
    let bottom = views.fold(62.0, |top, view| {
        draw_view(&mut drawing, outcome, view, top)
    });
    drawing.finish(bottom, &outcome.experiment.title, Embedding::File)
}

/// Returns the chart of one view for a page.
pub(super) fn view_chart(outcome: &Outcome, view: ExperimentView) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let bottom = draw_view(&mut drawing, outcome, view, 4.0);
    drawing.finish(bottom, &outcome.experiment.title, Embedding::Page)
}

/// What the panels of a view share.
struct Plot<'a> {
    outcome: &'a Outcome,
    view: ExperimentView,
    x: Axis,
    x_ticks: Vec<Tick>,
}

/// A quantity of an answer.
type Quantity<'a> = &'a dyn Fn(&Cell) -> Option<f64>;

fn draw_view(drawing: &mut Drawing, outcome: &Outcome, view: ExperimentView, top: f64) -> f64 {
    let places = super::places(outcome, view);
    let Some(x) = Axis::spanning(Spacing::Log, places.iter().map(|at| *at as f64)) else {
        return top;
    };
    let x = x.padded(0.02);
    let x_ticks = match view {
        ExperimentView::Sizes { .. } => x.size_ticks(12),
        ExperimentView::Ranks { .. } => places
            .iter()
            .filter_map(|at| {
                let place = x.place(*at as f64)?;
                let label = at.to_string();
                Some(Tick { place, label })
            })
            .collect(),
    };
    let plot = Plot {
        outcome,
        view,
        x,
        x_ticks,
    };
    let y = plot.draw_legend(drawing, top + 14.0);
    let (over, of) = match view {
        ExperimentView::Sizes { ranks } => ("message size", format!("{ranks} ranks")),
        ExperimentView::Ranks { bytes } => ("number of ranks", bytes.to_string()),
    };
    let y = plot.draw_times(drawing, &format!("time over {over}, {of}"), y);
    let busbw = |cell: &Cell| cell.busbw.map(GbPerSec::get);
    let y = plot.draw_linear(drawing, "busbw, GB/s", &busbw, Some(0.0), y);
    let over_math = |cell: &Cell| outcome.over_math(cell);
    let y = plot.draw_linear(
        drawing,
        "time by g5 / time by math",
        &over_math,
        Some(1.0),
        y,
    );
    let title = outcome.experiment.baseline.map_or(String::new(), |name| {
        format!("time of {name} / time of the line (above 1: faster)")
    });
    let speedup = |cell: &Cell| outcome.speedup(cell);
    plot.draw_linear(drawing, &title, &speedup, Some(1.0), y) + 6.0
}

impl Plot<'_> {
    fn lines(&self) -> impl Iterator<Item = (usize, ExperimentLine)> {
        let lines = self.outcome.experiment.lines.iter();
        lines.copied().enumerate()
    }

    /// Draws the names of the lines, and returns where the panels may start.
    fn draw_legend(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let (mut x, mut y) = (LEFT, top);
        for (index, line) in self.lines() {
            let name = line_name(self.outcome, line);
            let width = text_width(&name) + 48.0;
            if x > LEFT && x + width > WIDTH {
                (x, y) = (LEFT, y + 18.0);
            }
            let class = colour(index);
            drawing.raw(&format!("<g class=\"key\" data-k=\"{class}\">"));
            drawing.line((x, y), (x + 22.0, y), &format!("fit {class}"));
            let outline = Shape::nth(index).outline(x + 11.0, y);
            drawing.path(&outline, &format!("m {class}"));
            drawing.text(x + 28.0, y + 4.0, "label", &name);
            drawing.raw("</g>\n");
            x += width;
        }
        let engines = &self.outcome.experiment.engines;
        if engines.contains(&Engine::Math) && engines.contains(&Engine::G5) {
            let remark = "full line: g5; dashed: math";
            if x + text_width(remark) > WIDTH {
                (x, y) = (LEFT, y + 18.0);
            }
            drawing.text(x, y + 4.0, "remark", remark);
        }
        y + 22.0
    }

    fn draw_times(&self, drawing: &mut Drawing, title: &str, top: f64) -> f64 {
        let time = |cell: &Cell| Some(cell.time.get());
        let Some(y) = Axis::spanning(Spacing::Log, self.values(&time)) else {
            return top;
        };
        let panel = Panel::below(top, 230.0, self.x, y.padded(0.05));
        let ticks = panel.y.time_ticks(7);
        self.draw(drawing, &panel, (title, &ticks), &time);
        panel.end()
    }

    /// Draws a quantity that some answers have, with a line at `mark`; without any nothing.
    fn draw_linear(
        &self,
        drawing: &mut Drawing,
        title: &str,
        quantity: Quantity<'_>,
        mark: Option<f64>,
        top: f64,
    ) -> f64 {
        let values: Vec<f64> = self.values(quantity).collect();
        if values.is_empty() {
            return top;
        }
        let Some(y) = Axis::spanning(Spacing::Linear, values.into_iter().chain(mark)) else {
            return top;
        };
        let panel = Panel::below(top, 150.0, self.x, y.padded(0.06));
        let ticks = panel.y.round_ticks(5);
        self.draw(drawing, &panel, (title, &ticks), quantity);
        if let Some(mark) = mark {
            panel.draw_horizontal(drawing, mark, "axis");
        }
        panel.end()
    }

    /// Returns every value of the view.
    fn values(&self, quantity: Quantity<'_>) -> impl Iterator<Item = f64> {
        let engines = self.outcome.experiment.engines.iter();
        let cells = engines.flat_map(move |engine| {
            let lines = self.lines();
            lines.flat_map(move |(_, line)| self.outcome.along(self.view, line, *engine))
        });
        cells.filter_map(move |(_, cell)| quantity(cell))
    }

    fn draw(
        &self,
        drawing: &mut Drawing,
        panel: &Panel,
        (title, y_ticks): (&str, &[Tick]),
        quantity: Quantity<'_>,
    ) {
        let labels = Labels {
            title,
            x_ticks: &self.x_ticks,
            y_ticks,
        };
        panel.draw_frame(drawing, &labels);
        let engines = &self.outcome.experiment.engines;
        let marked = engines.last().copied().unwrap_or(Engine::G5);
        for (index, line) in self.lines() {
            for &engine in engines {
                let along = self.outcome.along(self.view, line, engine);
                let values: Vec<(u64, f64)> = along
                    .filter_map(|(at, cell)| Some((at, quantity(cell)?)))
                    .collect();
                let class = colour(index);
                let spots = values
                    .iter()
                    .filter_map(|(at, value)| Some((panel.x_of(*at as f64)?, panel.y_of(*value)?)));
                let dash = if engine == marked { "" } else { " dash" };
                panel.draw_polyline(drawing, spots, &format!("fit {class}{dash}"));
                if engine != marked {
                    continue;
                }
                for (at, value) in &values {
                    let name = line_name(self.outcome, line);
                    let place = place_name(self.view, *at);
                    let tooltip = format!("{name}, {place}: {}", fixed(*value, 3));
                    let class = format!("m {class}");
                    let spot = (*at as f64, *value);
                    panel.draw_marker(drawing, spot, Shape::nth(index), &class, &tooltip);
                }
            }
        }
    }
}

fn colour(index: usize) -> String {
    format!("s{}", index % COLOURS)
}
