//! One pair of axes and what is drawn between them.

use super::drawing::{Drawing, Px};
use super::{FOOT, HEAD, LEFT, RIGHT, WIDTH};
use crate::axis::{Axis, Tick};
use crate::page::escape;
use std::fmt::Write as _;

/// A rectangle of the picture with an axis each way. Sizes of type below in pixels.
pub(crate) struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// Pixels between the sampled places of a function.
const STRIDE: f64 = 8.0;

/// Form of a marker. Forms repeat after four, so that a print without colour can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

impl Shape {
    /// Returns the shape of the series with an index.
    pub(crate) const fn nth(index: usize) -> Self {
        match index % 4 {
            0 => Self::Circle,
            1 => Self::Square,
            2 => Self::Triangle,
            _ => Self::Diamond,
        }
    }

    /// Returns the outline around a centre, about 7 pixels wide.
    pub(crate) fn outline(self, x: f64, y: f64) -> String {
        match self {
            Self::Circle => format!(
                "M{},{}a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0z",
                Px(x - 3.2),
                Px(y)
            ),
            Self::Square => format!("M{},{}h5.8v5.8h-5.8z", Px(x - 2.9), Px(y - 2.9)),
            Self::Triangle => format!("M{},{}l3.8,6.6h-7.6z", Px(x), Px(y - 4.2)),
            Self::Diamond => format!("M{},{}l4,4l-4,4l-4,-4z", Px(x), Px(y - 4.0)),
        }
    }
}

/// Where the label of a band stands: away from the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Top,
    Bottom,
}

/// The writing around a panel.
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_ticks: &'a [Tick],
    pub(crate) y_ticks: &'a [Tick],
}

impl Panel {
    /// Returns a panel of the full width of a picture, its title below `top`.
    pub(crate) fn below(top: f64, height: f64, x: Axis, y: Axis) -> Self {
        Self {
            left: LEFT,
            top: top + HEAD,
            width: WIDTH - LEFT - RIGHT,
            height,
            x,
            y,
        }
    }

    /// Returns where the next panel may start.
    pub(crate) fn end(&self) -> f64 {
        self.bottom() + FOOT
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Returns the pixel column of a value on the lower axis.
    pub(crate) fn x_of(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.place(value)? * self.width)
    }

    /// Returns the pixel row of a value on the left axis.
    pub(crate) fn y_of(&self, value: f64) -> Option<f64> {
        Some(self.bottom() - self.y.place(value)? * self.height)
    }

    /// Draws grid lines, tick labels and the title.
    pub(crate) fn draw_frame(&self, drawing: &mut Drawing, labels: &Labels<'_>) {
        let mut grid = String::new();
        for tick in labels.x_ticks {
            let x = self.left + tick.place * self.width;
            let _ = write!(grid, "M{},{}v{}", Px(x), Px(self.top), Px(self.height));
            drawing.text(x, self.bottom() + 16.0, "tick mid", &tick.label);
        }
        for tick in labels.y_ticks {
            let y = self.bottom() - tick.place * self.height;
            let _ = write!(grid, "M{},{}h{}", Px(self.left), Px(y), Px(self.width));
            drawing.text(self.left - 8.0, y + 4.0, "tick end", &tick.label);
        }
        drawing.path(&grid, "grid");
        drawing.line(
            (self.left, self.bottom()),
            (self.right(), self.bottom()),
            "axis",
        );
        drawing.text(self.left, self.top - 10.0, "head", labels.title);
    }

    /// Tints a range of the lower axis, with a label inside when there is room.
    pub(crate) fn draw_band(
        &self,
        drawing: &mut Drawing,
        (from, to): (f64, f64),
        side: Side,
        label: &str,
    ) {
        let (Some(from), Some(to)) = (self.x_of(from), self.x_of(to)) else {
            return;
        };
        let (from, to) = ((from - 6.0).max(self.left), (to + 6.0).min(self.right()));
        drawing.rect((from, self.top), (to - from, self.height), "band");
        let y = match side {
            Side::Top => self.top + 17.0,
            Side::Bottom => self.bottom() - 9.0,
        };
        if to - from > text_width(label) + 10.0 {
            drawing.text(from + 7.0, y, "inside", label);
        }
    }

    /// Draws a vertical line at a value.
    pub(crate) fn draw_vertical(&self, drawing: &mut Drawing, at: f64) {
        if let Some(x) = self.x_of(at) {
            drawing.line((x, self.top), (x, self.bottom()), "switch");
        }
    }

    /// Draws a horizontal line at a value; outside the panel nothing.
    pub(crate) fn draw_horizontal(&self, drawing: &mut Drawing, at: f64, class: &str) {
        if let Some(y) = self
            .y_of(at)
            .filter(|y| (self.top..=self.bottom()).contains(y))
        {
            drawing.line((self.left, y), (self.right(), y), class);
        }
    }

    /// Draws a function between two values of the lower axis, clipped to the panel.
    pub(crate) fn draw_function(
        &self,
        drawing: &mut Drawing,
        (from, to): (f64, f64),
        class: &str,
        function: impl Fn(f64) -> f64,
    ) {
        let (Some(start), Some(end)) = (self.x.place(from), self.x.place(to)) else {
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 500"
        )]
        let steps = ((end - start) * self.width / STRIDE)
            .ceil()
            .clamp(1.0, 500.0) as usize;
        let spots = (0..=steps).filter_map(|step| {
            let place = start + (end - start) * step as f64 / steps as f64;
            let value = function(self.x.value_at(place));
            Some((self.left + place * self.width, self.y_of(value)?))
        });
        self.draw_polyline(drawing, spots, class);
    }

    /// Draws a polyline through pixel places, clipped to the panel.
    pub(crate) fn draw_polyline(
        &self,
        drawing: &mut Drawing,
        spots: impl IntoIterator<Item = (f64, f64)>,
        class: &str,
    ) {
        let mut d = String::new();
        for (x, y) in spots {
            // A place far outside would only lengthen the text.
            let y = y.clamp(self.top - self.height, self.bottom() + self.height);
            let _ = write!(
                d,
                "{}{},{}",
                if d.is_empty() { "M" } else { "L" },
                Px(x),
                Px(y)
            );
        }
        if d.is_empty() {
            return;
        }
        // A nested picture clips without ids, which would clash when pages hold many charts.
        let (x, y, w, h) = (Px(self.left), Px(self.top), Px(self.width), Px(self.height));
        drawing.raw(&format!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\"><path class=\"{class}\" d=\"{d}\"/></svg>\n"
        ));
    }

    /// Draws a marker, with a tooltip unless that is empty; without a place on the axes nothing.
    pub(crate) fn draw_marker(
        &self,
        drawing: &mut Drawing,
        (x, y): (f64, f64),
        shape: Shape,
        class: &str,
        tooltip: &str,
    ) {
        if let (Some(x), Some(y)) = (self.x_of(x), self.y_of(y)) {
            let d = shape.outline(x, y);
            if tooltip.is_empty() {
                drawing.path(&d, class);
                return;
            }
            let tooltip = escape(tooltip);
            drawing.raw(&format!(
                "<path class=\"{class}\" d=\"{d}\"><title>{tooltip}</title></path>\n"
            ));
        }
    }
}

/// Returns a cautious guess of the width of small type, in pixels.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.7
}
