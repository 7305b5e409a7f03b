//! A small chart writer: panels with axes, curves and markers as SVG text. No fonts are measured
//! and nothing is random, so that the same values give the same bytes.

mod drawing;
mod panel;

pub(crate) use drawing::{Drawing, Embedding, Px};
pub(crate) use panel::{Labels, Panel, Shape, Side, text_width};
