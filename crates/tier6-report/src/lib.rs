//! Results as tables, plots, SVG, HTML, JSON, CSV and Markdown: values in, text out.
