//! The formats of an analysis. Tables are built once in `grids.rs`; text, Markdown and HTML
//! write the same ones.

pub(crate) mod csv;
mod grids;
mod html;
pub(crate) mod json;
mod markdown;
mod summary;
mod svg;
mod table;
mod warning_group;

pub(crate) use json::{ends, pretty};
pub(crate) use summary::{ShownFits, configuration, shown_fits};
pub use {
    csv::analysis_csv, html::analysis_html, json::analysis_json, markdown::analysis_markdown,
    svg::analysis_svg, table::analysis_table,
};
