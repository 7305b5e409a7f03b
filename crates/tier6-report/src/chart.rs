//! A small chart writer: panels with axes, curves and markers as SVG text. No fonts are measured
//! and nothing is random, so that the same values give the same bytes.

mod drawing;
mod panel;

pub(crate) use drawing::{Drawing, Embedding, Px};
pub(crate) use panel::{Labels, Panel, Shape, Side, text_width};

/// Width of our pictures.
pub(crate) const WIDTH: f64 = 960.0;

/// Room for the labels left of a panel, and at its right.
pub(crate) const LEFT: f64 = 66.0;
pub(crate) const RIGHT: f64 = 18.0;

/// Room above a panel for its title, and below it for tick labels.
pub(crate) const HEAD: f64 = 34.0;
pub(crate) const FOOT: f64 = 24.0;
