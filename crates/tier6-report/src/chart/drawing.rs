//! SVG elements as text.

use crate::page::{CHART_CSS, escape};
use std::fmt::{Display, Write as _};

/// An SVG picture under construction.
pub(crate) struct Drawing {
    body: String,
    width: f64,
}

/// Where the picture will live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embedding {
    /// A file of its own: it carries its styles.
    File,
    /// Inside a page that has the styles.
    Page,
}

/// A length or place in pixels, printed with at most one decimal; what is not finite is 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = if self.0.is_finite() {
            (self.0 * 10.0).round() / 10.0
        } else {
            0.0
        };
        // Adding zero turns -0 into 0.
        write!(f, "{}", tenths + 0.0)
    }
}

impl Drawing {
    pub(crate) const fn new(width: f64) -> Self {
        Self {
            body: String::new(),
            width,
        }
    }

    pub(crate) const fn width(&self) -> f64 {
        self.width
    }

    /// Adds raw SVG that is known to be well formed.
    pub(crate) fn raw(&mut self, svg: &str) {
        self.body += svg;
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let (x, y) = (Px(x), Px(y));
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
            escape(text)
        );
    }

    pub(crate) fn rect(&mut self, corner: (f64, f64), size: (f64, f64), class: &str) {
        let (x, y, w, h) = (Px(corner.0), Px(corner.1), Px(size.0), Px(size.1));
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
        );
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let d = format!("M{},{}L{},{}", Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        self.path(&d, class);
    }

    pub(crate) fn path(&mut self, d: &str, class: &str) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    /// Returns the finished picture of the given height.
    pub(crate) fn finish(self, height: f64, title: &str, embedding: Embedding) -> String {
        let (w, h) = (Px(self.width), Px(height));
        let title = escape(title);
        let (head, ground) = match embedding {
            Embedding::File => (
                format!(" width=\"{w}\" height=\"{h}\" xmlns=\"http://www.w3.org/2000/svg\""),
                format!(
                    "<style>{CHART_CSS}</style>\n<rect class=\"ground\" width=\"{w}\" height=\"{h}\"/>\n"
                ),
            ),
            Embedding::Page => (String::new(), String::new()),
        };
        let class = match embedding {
            Embedding::File => "t6 chart",
            Embedding::Page => "chart",
        };
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {w} {h}\"{head} role=\"img\" aria-label=\"{title}\">\n{ground}{}</svg>\n",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_short_and_finite() {
        let text = |value: f64| Px(value).to_string();
        assert_eq!(text(12.0), "12");
        assert_eq!(text(12.34), "12.3");
        assert_eq!(text(-0.01), "0");
        assert_eq!(text(f64::NAN), "0");
    }
}
